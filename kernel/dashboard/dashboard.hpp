// SPDX-License-Identifier: Apache-2.0
// The dashboard: turns each request into a response, without a socket. It reads the journals through the aggregator, makes
// changes by the program's own commands, and stores nothing but the aggregator's caches.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "aggregate/aggregator.hpp"
#include "dashboard/command_runner.hpp"
#include "dashboard/event_hub.hpp"
#include "dashboard/guard.hpp"
#include "dashboard/http.hpp"

namespace agentforge::kernel {

struct TreeChange;

struct DashboardParts {
    Aggregator& tasks;
    EventHub& events;
    Guard& guard;
    CommandRunner& commands;
    std::filesystem::path sets = {};  ///< The folder of the user's sets. May be missing: then there are none.
};

/// The input of a handler: the request, and the values of the `{…}` placeholders in its route's path.
struct ApiCall {
    const HttpRequest& request;
    std::map<std::string, std::string> places;
    json::object body;  ///< Body of a POST.
    [[nodiscard]] const std::string& place(const std::string& name) const { return places.at(name); }
};

/// One operation of the API, as kernel/dashboard/openapi.yaml describes it.
struct Route {
    std::string method;
    std::string path;  ///< `/api/tasks/{task_id}`: a `{name}` matches one path segment.
    std::function<Result<HttpResponse>(const ApiCall& call)> handle;
    /// The query parameters that the document declares, and the values allowed for each (empty: any).
    std::map<std::string, std::vector<std::string>> query = {};
};

class Dashboard final : public HttpApplication {
public:
    explicit Dashboard(DashboardParts parts);

    [[nodiscard]] HttpResponse answer(const HttpRequest& request) override;
    [[nodiscard]] HttpResponse refuse(int status, const Error& problem) override;
    [[nodiscard]] const std::vector<Route>& routes() const noexcept { return routes_; }

private:
    [[nodiscard]] HttpResponse answer_unguarded(const HttpRequest& request);
    [[nodiscard]] Result<HttpResponse> dispatch(const HttpRequest& request);
    [[nodiscard]] Result<HttpResponse> listen(const HttpRequest& request, bool web_socket);

    DashboardParts parts_;
    std::vector<Route> routes_;
};

/// The operations that read (api_tasks.cpp, api_stats.cpp, api_work.cpp, api_metrics.cpp), and those that change
/// (api_change.cpp).
void add_task_routes(std::vector<Route>& routes, const DashboardParts& parts);
void add_stats_routes(std::vector<Route>& routes, const DashboardParts& parts);
void add_work_routes(std::vector<Route>& routes, const DashboardParts& parts);
void add_metric_routes(std::vector<Route>& routes, const DashboardParts& parts);
void add_change_routes(std::vector<Route>& routes, const DashboardParts& parts);

/// Finds the task of a call. If two repositories have a task of this id, `?repo=` names one. Errors: AF-CONF-073 there is no
/// such repository; AF-DASH-014; `conflict` AF-DASH-018 `?repo=` is missing.
[[nodiscard]] Result<Aggregator::Place> place_of(const DashboardParts& parts, const ApiCall& call);
/// Returns the repository that `?repo=` names, or the first if `name` is empty. Errors: AF-CONF-073.
[[nodiscard]] Result<KnownRepository> repository_of(const DashboardParts& parts, const std::string& name);
[[nodiscard]] json::object to_json(const TreeChange& change);
inline constexpr std::uint64_t most_number = 1'000'000'000;
/// Returns a number of the query, or `otherwise` if it is missing. Errors: `invalid` AF-DASH-005.
[[nodiscard]] Result<std::uint64_t> number_of(const ApiCall& call, const std::string& name, std::uint64_t otherwise,
                                              std::uint64_t least, std::uint64_t most);

}  // namespace agentforge::kernel
