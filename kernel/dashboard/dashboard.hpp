// SPDX-License-Identifier: Apache-2.0
// The dashboard: every request becomes a response here, without a socket (North Star 11). It reads the journals through the
// aggregator, changes things by the program's own commands, and stores nothing.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "aggregate/aggregator.hpp"
#include "dashboard/commands.hpp"
#include "dashboard/guard.hpp"
#include "dashboard/http.hpp"
#include "dashboard/hub.hpp"

namespace agentforge::kernel {

struct DashboardParts {
    Aggregator& tasks;
    EventHub& events;
    Guard& guard;
    CommandRunner& commands;
    std::filesystem::path sets = {};  ///< The folder of the user's sets; a folder that is not there has none.
};

/// What a handler is given: the request, and what `{…}` in its route's path stood for.
struct ApiCall {
    const HttpRequest& request;
    std::map<std::string, std::string> places;
    json::object body;  ///< Of a POST.
    [[nodiscard]] const std::string& place(const std::string& name) const { return places.at(name); }
};

/// One operation of the API, as kernel/dashboard/openapi.yaml describes it.
struct Route {
    std::string method;
    std::string path;  ///< `/api/tasks/{task_id}`: a `{name}` stands for one part.
    std::function<Result<HttpResponse>(const ApiCall& call)> handle;
    /// The parameters that it takes in its query, and the values that one may have (empty: any), as the document says.
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

/// The operations that tell (api_tasks.cpp, api_work.cpp, api_metrics.cpp), and those that change (api_change.cpp).
void add_task_routes(std::vector<Route>& routes, const DashboardParts& parts);
void add_work_routes(std::vector<Route>& routes, const DashboardParts& parts);
void add_metric_routes(std::vector<Route>& routes, const DashboardParts& parts);
void add_change_routes(std::vector<Route>& routes, const DashboardParts& parts);

/// Where the task of a call lies; `?repo=` says which where two repositories have one of this id. Errors: AF-DASH-014; `conflict`
/// AF-DASH-018 it does not say so.
[[nodiscard]] Result<Aggregator::Place> place_of(const DashboardParts& parts, const ApiCall& call);
inline constexpr std::uint64_t most_number = 1'000'000'000;
/// A number of the query, `otherwise` where there is none. Errors: `invalid` AF-DASH-005.
[[nodiscard]] Result<std::uint64_t> number_of(const ApiCall& call, const std::string& name, std::uint64_t otherwise,
                                              std::uint64_t least, std::uint64_t most);

}  // namespace agentforge::kernel
