// SPDX-License-Identifier: Apache-2.0
// The operations that read tasks: the list, one task, and the items that wait for a person.
#include <algorithm>
#include <chrono>
#include <sstream>

#include "aggregate/set_figures.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "cost/ledger.hpp"
#include "dashboard/dashboard.hpp"
#include "dashboard/page.hpp"
#include "dashboard/problem.hpp"
#include "escalation/escalation_store.hpp"
#include "git/repository.hpp"
#include "task/dependencies.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::uint64_t most_tasks_of_a_page = 500;
constexpr std::uint64_t usual_tasks_of_a_page = 50;

/// The filters of `GET /api/tasks`. An empty filter matches everything.
struct Filter {
    std::string state;
    std::string repo;
    std::string pipeline;
    std::vector<std::string> words;  ///< In lower case. Each must occur in request, id, repository or phase, in any order.

    [[nodiscard]] bool lets_through(const TaskFigures& task) const {
        return (state.empty() || state_name(task.overview) == state) && lets_through_in_any_state(task);
    }
    [[nodiscard]] bool lets_through_in_any_state(const TaskFigures& task) const {
        const TaskSummary& summary = task.overview.summary;
        if (!repo.empty() && task.repo != repo) { return false; }
        if (!pipeline.empty() && summary.pipeline != pipeline) { return false; }
        if (words.empty()) { return true; }
        const std::string text =
            lower_case(summary.request + "\n" + summary.task_id + "\n" + task.repo + "\n" + summary.current_stage);
        return std::ranges::all_of(words, [&](const std::string& word) { return text.find(word) != std::string::npos; });
    }
};

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(lower_case(text));
    std::vector<std::string> words;
    for (std::string word; in >> word;) { words.push_back(word); }
    return words;
}

/// `root`: only those of this repository; empty: all.
json::array problems_of(const DashboardParts& parts, const std::string& root = {}) {
    json::array problems;
    for (const Error& problem : parts.tasks.problems()) {
        const bool is_its = root.empty() || problem.where == root || problem.where.starts_with(root + "/");
        if (is_its) { problems.emplace_back(problem_json(problem)); }
    }
    return problems;
}

Result<HttpResponse> list_tasks(const DashboardParts& parts, const ApiCall& call) {
    AF_TRY(const std::uint64_t limit, number_of(call, "limit", usual_tasks_of_a_page, 1, most_tasks_of_a_page));
    AF_TRY(const std::uint64_t offset, number_of(call, "offset", 0, 0, most_number));
    const HttpRequest& request = call.request;
    std::string root;
    if (const std::string repo = request.parameter("repo"); !repo.empty()) {
        AF_TRY(const KnownRepository repository, repository_of(parts, repo));
        root = repository.path.string();
    }
    const Filter filter{request.parameter("state"), request.parameter("repo"), request.parameter("pipeline"),
                        words_of(request.parameter("q"))};
    const auto all = parts.tasks.tasks();
    std::vector<Aggregator::Figures> found;
    TaskCounts counts;
    for (const Aggregator::Figures& task : all) {
        if (!filter.lets_through_in_any_state(*task)) { continue; }
        counts.take(task->overview);
        if (filter.lets_through(*task)) { found.push_back(task); }
    }
    const std::size_t first = std::min<std::size_t>(offset, found.size());
    const std::size_t last = first + std::min<std::size_t>(limit, found.size() - first);
    const json::value next = last < found.size() ? json::value(last) : json::value(nullptr);
    HttpResponse response = json_response(
        {{"total", found.size()}, {"next_offset", next}, {"counts", to_json(counts)}, {"problems", problems_of(parts, root)}});
    const std::string rest = response.body.substr(1);
    std::size_t size = rest.size();
    for (std::size_t index = first; index < last; ++index) { size += found[index]->text.size() + 2; }
    const auto now = std::chrono::system_clock::now();
    std::string& body = response.body;  // The figures are text already, so thousands of them are copied only once.
    body = "{\"tasks\": [";
    body.reserve(body.size() + size + 3);
    response.timeless.reserve(size);
    for (std::size_t index = first; index < last; ++index) {
        body.append(index == first ? "" : ", ").append(text_at(*found[index], now));
        response.timeless.append(found[index]->text);
    }
    body.append("], ").append(rest);
    response.timeless.append(rest);
    return response;
}

/// Returns the files that the task has created and changed, with their lines, from its recorded trees, or null if these cannot be
/// compared.
json::value files_of(const std::filesystem::path& root, const TaskState& state) {
    const std::string base = delivery_base(state).tree;
    const std::string tree = delivered_tree(state);
    if (base.empty() || tree.empty()) { return nullptr; }
    const auto repository = Repository::open(root);
    const auto changes = repository.ok() ? repository->diff(base, tree) : Result<std::vector<TreeChange>>(repository.error());
    if (!changes.ok()) { return nullptr; }
    json::array created;
    json::array modified;
    json::array removed;
    json::array all;
    for (const TreeChange& change : *changes) {
        all.push_back(to_json(change));
        if (change.status == 'A') {
            created.emplace_back(change.path);
        } else if (change.status == 'D') {
            removed.emplace_back(change.path);
        } else {
            modified.emplace_back(change.path);
        }
    }
    return json::object{{"created", std::move(created)},
                        {"modified", std::move(modified)},
                        {"deleted", std::move(removed)},
                        {"changes", std::move(all)}};
}

/// Returns the target of the newest action, even if its record is an old one.
json::value target_of_last_step(const FollowedTask& task) {
    const auto steps = task.steps(task.step_count(), 1);
    return steps.ok() ? text_or_null(task.target_of(steps->front())) : json::value(nullptr);
}

/// Returns the current state of the dependencies of the task's specification, or null. `state`: the task's.
json::value dependencies_json(const DashboardParts& parts, const std::string& repo, const TaskState& state,
                              const Dependencies& dependencies) {
    if (dependencies.empty()) { return nullptr; }
    json::array tasks;
    for (const TaskDependency& each : dependencies.tasks) {
        json::object object{{"task_id", each.task_id},
                            {"repo", each.repo.empty() ? repo : each.repo},
                            {"required_stage", each.required_stage},
                            {"reason", text_or_null(each.reason)},
                            {"state", nullptr},
                            {"phase", nullptr},
                            {"reached", false}};
        const auto place = parts.tasks.find(each.task_id, each.repo.empty() ? repo : each.repo);
        const auto figures = place.ok() ? parts.tasks.figures(*place) : Result<Aggregator::Figures>(place.error());
        if (figures.ok()) {
            object["state"] = state_name((*figures)->overview);
            object["phase"] = text_or_null((*figures)->overview.summary.current_stage);
            const auto other_read = parts.tasks.with_task(*place, [&](const FollowedTask& other) -> Result<void> {
                object["reached"] = has_reached(other.state(), each.required_stage);
                return {};
            });
            if (!other_read.ok()) { object["state"] = "unknown"; }
        }
        tasks.push_back(std::move(object));
    }
    json::array external;
    for (const ExternalDependency& each : dependencies.external) {
        json::object object{{"repo", each.repo},       {"artifact", each.artifact},
                            {"version", each.version}, {"reason", text_or_null(each.reason)},
                            {"tag", nullptr},          {"commit", nullptr}};
        for (const records::ExternalMet& found : state.dependencies.value_or(MetDependencies()).external) {
            if (found.repo != each.repo || found.artifact != each.artifact) { continue; }
            object["tag"] = text_or_null(found.tag);
            object["commit"] = text_or_null(found.commit);
        }
        external.push_back(std::move(object));
    }
    return json::object{{"met", state.dependencies.has_value()}, {"tasks", std::move(tasks)}, {"external", std::move(external)}};
}

Result<HttpResponse> show_task(const DashboardParts& parts, const ApiCall& call) {
    AF_TRY(const Aggregator::Place place, place_of(parts, call));
    TaskState state;
    Dependencies dependencies;
    json::value target;
    const auto read = parts.tasks.with_task(place, [&](const FollowedTask& task) -> Result<void> {
        state = task.state();
        target = target_of_last_step(task);
        const std::string specification = specification_in_force(state);
        const auto found =
            specification.empty() ? Result<Dependencies>(Dependencies()) : dependencies_in(task.blobs(), specification);
        if (found.ok()) { dependencies = *found; }
        return {};
    });
    AF_TRY(const Aggregator::Figures figures, parts.tasks.figures(place));
    if (!read.ok() && !figures->overview.problem && figures->overview.began) { return read.error(); }
    json::object object = json::parse(figures->text).as_object();
    if (object["current_action"].is_object()) { object["current_action"].as_object()["target"] = target; }
    object["dependencies"] = dependencies_json(parts, figures->repo, state, dependencies);
    object["files"] = files_of(parts.tasks.repository(place.repository).path, state);
    std::string timeless = to_json_line(object);
    object["timing"] = to_json(*figures, std::chrono::system_clock::now()).at("timing");
    HttpResponse response = json_response(object);
    if (!has_ended(figures->overview.summary)) { response.timeless = std::move(timeless); }
    return response;
}

/// Adds everything that a person needs to decide. An approval is bound to `hash`, the hash of the content shown here.
void add_detail(const EscalationStore& store, const PendingItem& item, json::object& object) {
    if (const auto deadline = store.answer_deadline(item.id); deadline.ok() && !deadline->time.empty()) {
        object["deadline"] = deadline->time;
        object["at_deadline"] = deadline->then;
    }
    if (item.kind == QuestionKind::escalation) {
        const auto asked = store.escalation(item.id);
        if (!asked.ok()) { return; }
        object["issue"] = asked->issue;
        object["question"] = asked->question;
        object["options"] = json::array(asked->options.begin(), asked->options.end());
        object["context"] = asked->context;
        return;
    }
    const auto asked = store.approval(item.id);
    if (!asked.ok()) { return; }
    object["hash"] = asked->artifact_hash;
    object["shown"] = item.kind == QuestionKind::action ? action_text(asked->artifact) : to_yaml(asked->artifact);
}

Result<HttpResponse> show_attention(const DashboardParts& parts, const ApiCall& call) {
    json::array items;
    const std::string only = call.request.parameter("task_id");
    json::array problems = only.empty() ? problems_of(parts) : json::array();  // A damaged task waits for a person, too.
    if (!only.empty()) { AF_CHECK(parts.tasks.find_any(only)); }
    for (const KnownRepository& repository : parts.tasks.repositories()) {
        if (problem_of(repository)) { continue; }  // Left out; `/api/repositories` says why.
        const EscalationStore store(Aggregator::agentforge_of(repository));
        std::error_code none;
        if (!std::filesystem::is_directory(store.directory(), none)) { continue; }
        const auto pending = store.pending(only.empty() ? std::optional<std::string>() : only);
        if (!pending.ok()) {
            problems.emplace_back(problem_json(pending.error()));
            continue;
        }
        for (const Error& problem : pending->problems) { problems.emplace_back(problem_json(problem)); }
        for (const PendingItem& item : pending->items) {
            const auto place = parts.tasks.find(item.task_id, repository.name);
            const auto figures = place.ok() ? parts.tasks.figures(*place) : Result<Aggregator::Figures>(Error{});
            // The task has ended and no longer waits.
            if (!figures.ok() || available_actions((*figures)->overview).empty()) { continue; }
            json::object task = to_json(**figures, std::chrono::system_clock::now());
            const bool approval = item.kind == QuestionKind::approval && task["current_stage"].is_object();
            json::object object{{"id", item.id},
                                {"kind", to_string(item.kind)},
                                {"repo", repository.name},
                                {"task_id", item.task_id},
                                {"request", (*figures)->overview.summary.request},
                                {"phase", item.stage},
                                {"artifact", approval ? task["current_stage"].at("artifact") : json::value(nullptr)},
                                {"version", approval ? task["current_stage"].at("version") : json::value(nullptr)},
                                {"question", item.question},
                                {"created_at", item.created_at},
                                {"hash", nullptr},
                                {"shown", nullptr},
                                {"options", json::array()},
                                {"issue", ""},
                                {"context", json::object()},
                                {"deadline", nullptr},
                                {"at_deadline", nullptr},
                                {"available_actions", std::move(task["available_actions"])}};
            add_detail(store, item, object);
            items.emplace_back(std::move(object));
        }
    }
    std::ranges::sort(items, [](const json::value& one, const json::value& other) {
        return one.at("created_at").as_string() < other.at("created_at").as_string();
    });
    return json_response({{"items", std::move(items)}, {"problems", std::move(problems)}});
}

Result<HttpResponse> show_sets(const DashboardParts& parts) {
    const auto condition = [&parts](const SetPart& part) -> std::string {
        const auto place = parts.tasks.find(part.task, part.repo);
        const auto figures = place.ok() ? parts.tasks.figures(*place) : Result<Aggregator::Figures>(place.error());
        return figures.ok() ? state_name((*figures)->overview) : "unknown";
    };
    const SetListing listing = list_sets(parts.sets);
    json::array sets;
    for (const TaskSet& set : listing.sets) { sets.push_back(figures_of(set, condition)); }
    json::array problems;
    for (const Error& problem : listing.problems) { problems.push_back(problem_json(problem)); }
    return json_response({{"sets", std::move(sets)}, {"problems", std::move(problems)}});
}

Result<HttpResponse> show_repositories(const DashboardParts& parts) {
    json::array repositories;
    for (const KnownRepository& each : parts.tasks.repositories()) {
        repositories.push_back({{"name", each.name}, {"path", each.path.string()}});
    }
    return json_response(
        {{"repositories", std::move(repositories)}, {"read_only", parts.guard.read_only()}, {"problems", problems_of(parts)}});
}

Result<HttpResponse> show_by_command(const DashboardParts& parts, const ApiCall& call, const char* group) {
    AF_TRY(const KnownRepository repository, repository_of(parts, call.request.parameter("repo")));
    if (auto problem = problem_of(repository)) { return std::move(*problem); }
    AF_TRY(const json::object answer, parts.commands.run(repository.path, {group, "list", "--json"}));
    return json_response(answer);
}

Result<HttpResponse> show_openapi() {
    static const auto document = parse_yaml(openapi_text(), "openapi.yaml");
    if (!document.ok()) { return document.error(); }
    return json_response(document->value);
}

}  // namespace

void add_task_routes(std::vector<Route>& routes, const DashboardParts& parts) {
    routes.push_back({"GET", "/api/tasks", [parts](const ApiCall& call) { return list_tasks(parts, call); }});
    routes.push_back({"GET", "/api/tasks/{task_id}", [parts](const ApiCall& call) { return show_task(parts, call); }});
    routes.push_back({"GET", "/api/attention", [parts](const ApiCall& call) { return show_attention(parts, call); }});
    routes.push_back({"GET", "/api/sets", [parts](const ApiCall&) { return show_sets(parts); }});
    routes.push_back({"GET", "/api/repositories", [parts](const ApiCall&) { return show_repositories(parts); }});
    routes.push_back({"GET", "/api/plugins", [parts](const ApiCall& call) { return show_by_command(parts, call, "plugins"); }});
    routes.push_back(
        {"GET", "/api/pipelines", [parts](const ApiCall& call) { return show_by_command(parts, call, "pipelines"); }});
    routes.push_back({"GET", "/api/agents", [parts](const ApiCall& call) { return show_by_command(parts, call, "agents"); }});
    routes.push_back({"GET", "/api/openapi.json", [](const ApiCall&) { return show_openapi(); }});
}

}  // namespace agentforge::kernel
