// SPDX-License-Identifier: Apache-2.0
// `GET /api/stats`: sums over the tasks of all repositories, or of one, from the same functions as `agentforge stats`.
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "aggregate/statistics.hpp"
#include "base/text.hpp"
#include "dashboard/dashboard.hpp"
#include "dashboard/problem.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

namespace {

/// Finds how delivered commits were reworked. Comparing trees takes time, so results are kept while HEAD stays the same, at most
/// 10,000. One thread at a time compares; others wait.
class KeptRework {
public:
    std::optional<Rework> find(const std::filesystem::path& root, const std::string& head, const TaskSample& task) {
        const std::lock_guard lock(mutex_);
        const auto known = kept_.find({root, task.commit});
        if (known != kept_.end() && known->second.head == head) { return known->second.rework; }
        const auto found = rework_of(root, task.base_tree, task.commit, std::chrono::hours(24 * default_rework_days));
        const std::optional<Rework> rework = found.ok() ? *found : std::nullopt;
        if (kept_.size() >= most_kept) { kept_.clear(); }
        kept_.insert_or_assign({root, task.commit}, Kept{head, rework});
        return rework;
    }

private:
    struct Kept {
        std::string head;
        std::optional<Rework> rework;
    };
    static constexpr std::size_t most_kept = 10'000;
    std::mutex mutex_;
    std::map<std::pair<std::filesystem::path, std::string>, Kept> kept_;
};

/// A repository whose tasks count.
struct Counted {
    std::filesystem::path root;
    std::string head;
    bool active = false;
};

Result<std::map<std::string, Counted>> counted_repositories(const DashboardParts& parts, const std::string& only,
                                                            TaskStatistics& found) {
    std::map<std::string, Counted> repositories;
    if (!only.empty()) { AF_CHECK(repository_of(parts, only)); }
    for (const KnownRepository& each : parts.tasks.repositories()) {
        if (!only.empty() && each.name != only) { continue; }
        if (problem_of(each)) {
            found.left_out += 1;
            continue;
        }
        const auto repository = found.has_rework ? Repository::open(each.path) : Result<Repository>(Error{});
        const auto head = repository.ok() ? repository->head_commit() : Result<std::string>(Error{});
        repositories[each.name] = {each.path, head.ok() ? *head : std::string()};
        found.repositories += 1;
    }
    return repositories;
}

Result<HttpResponse> show_stats(const DashboardParts& parts, KeptRework& kept, const ApiCall& call) {
    const auto now = std::chrono::system_clock::now();
    TaskStatistics found;
    found.has_rework = call.request.parameter("rework").empty();
    const std::string since = call.request.parameter("since");
    found.since = parse_since(since, now);
    if (!since.empty() && !found.since) {
        return Error{"AF-DASH-005", "`since` cannot be `" + ellipsis(sanitize_utf8(since), 60) + "`", "/api/stats",
                     "write a date (2026-11-01) or a time span (30d)", ErrorKind::invalid};
    }
    AF_TRY(auto repositories, counted_repositories(parts, call.request.parameter("repo"), found));
    TaskCounts states;
    for (const Aggregator::Figures& task : parts.tasks.tasks()) {
        const auto place = repositories.find(task->repo);
        if (place == repositories.end() || !found.includes(task->overview.summary.created_at)) { continue; }
        if (const auto& problem = task->overview.problem) { found.unreadable.push_back(*problem); }
        if (!task->statistics) { continue; }  // Its journal cannot be read, or it never began.
        Counted& repository = place->second;
        states.take(task->overview);
        found.add(*task->statistics,
                  [&](const TaskSample& delivered) { return kept.find(repository.root, repository.head, delivered); });
        repository.active = repository.active || !task->statistics->ended;
    }
    for (const auto& [name, repository] : repositories) { found.active += repository.active ? 1 : 0; }
    json::object object = to_json(found, now);
    object["states"] = to_json(states);
    object["steps"] = found.all.tasks.all_steps;
    object["tokens_used"] = found.all.tasks.spend.tokens();
    HttpResponse response = json_response(object);
    for (const char* each : {"since", "tasks_per_week", "completed_per_week"}) { object.erase(each); }
    response.timeless = to_json_line(object);
    return response;
}

}  // namespace

void add_stats_routes(std::vector<Route>& routes, const DashboardParts& parts) {
    const auto kept = std::make_shared<KeptRework>();
    routes.push_back({"GET", "/api/stats", [parts, kept](const ApiCall& call) { return show_stats(parts, *kept, call); }});
}

}  // namespace agentforge::kernel
