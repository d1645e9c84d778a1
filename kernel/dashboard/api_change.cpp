// SPDX-License-Identifier: Apache-2.0
// The operations of a person: start, pause, resume, abort, fork, answer, approve, reject, request changes. Each runs the command
// of that name.
#include <algorithm>
#include <chrono>

#include "base/clock.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "dashboard/dashboard.hpp"
#include "dashboard/problem.hpp"
#include "escalation/escalation_store.hpp"
#include "escalation/question.hpp"
#include "task/failures.hpp"

namespace agentforge::kernel {

namespace {

Error wrong_field(const std::string& what) {
    return {"AF-DASH-013", "The request cannot be used: " + what, "",
            "docs/dashboard.md and /api/openapi.json describe this request", ErrorKind::invalid};
}

/// Refuses unknown fields, and text fields that are not strings.
Result<void> only(const json::object& body, std::initializer_list<std::string_view> texts,
                  std::initializer_list<std::string_view> flags = {}) {
    for (const auto& field : body) {
        const std::string key(field.key());
        const bool text = std::ranges::find(texts, std::string_view(key)) != texts.end();
        const bool flag = std::ranges::find(flags, std::string_view(key)) != flags.end();
        if (!text && !flag) { return wrong_field("unknown field `" + ellipsis(key, 60) + "`"); }
        if (text && !field.value().is_string()) { return wrong_field("`" + key + "` must be a string"); }
        if (flag && !field.value().is_bool()) { return wrong_field("`" + key + "` must be true or false"); }
        if (text && field.value().get_string().find('\0') != json::string::npos) {
            return wrong_field("`" + key + "` contains a NUL");
        }
    }
    return {};
}

Result<std::string> required(const json::object& body, const char* key) {
    std::string text = text_of(body, key);
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
        return wrong_field(std::string("`") + key + "` is missing or empty");
    }
    return text;
}

bool flag_of(const json::object& body, std::string_view key) {
    const json::value* value = body.if_contains(key);
    return value != nullptr && value->is_bool() && value->get_bool();
}

Error has_ended_already(const std::string& status) {
    return {"AF-DASH-022", "The task has ended", status, "start another task, or fork this one from one of its steps",
            ErrorKind::conflict};
}

/// Returns the hash of the item that the client was shown, or its beginning.
Result<std::string> required_hash(const json::object& body) {
    constexpr std::size_t fewest_digits = 6;
    constexpr std::size_t most_digits = 64;
    AF_TRY(std::string hash, required(body, "hash"));
    const bool is_hash = hash.size() >= fewest_digits && hash.size() <= most_digits &&
                         hash.find_first_not_of("0123456789abcdef") == std::string::npos;
    return is_hash ? Result<std::string>(std::move(hash)) : wrong_field("`hash` must be 6 to 64 lower-case hexadecimal digits");
}

/// Runs the commands of one task, in its repository.
class TaskCommands {
public:
    TaskCommands(const DashboardParts& parts, const Aggregator::Place& place) : parts_(parts), place_(place) {}

    Result<json::object> run(std::vector<std::string> arguments) const {
        auto answer = parts_.commands.run(parts_.tasks.repository(place_.repository).path, std::move(arguments));
        parts_.events.publish(parts_.tasks.refresh(place_.repository, place_.task_id));
        return answer;
    }
    /// Continues the task in a new process, unless a process already runs it.
    Result<json::object> resume(const std::string& guidance = {}) const {
        std::vector<std::string> arguments{"resume", place_.task_id, "--detach", "--json"};
        if (!guidance.empty()) { arguments.push_back("--say=" + guidance); }
        return run(std::move(arguments));
    }
    /// Answers with the task's outcome too. The answer stays recorded even if the task cannot continue. `ends`: the answer ends
    /// the task, so a process only records the end.
    HttpResponse answered(const std::string& id, bool ends = false) const {
        json::object object{
            {"task_id", place_.task_id}, {"id", id}, {"answered", true}, {"resumed", !ends}, {"problem", nullptr}};
        const auto resumed = resume();
        if (!resumed.ok() && !is_in_use(resumed.error())) {  // In use: the process that waited for the answer continues with it.
            object["resumed"] = false;
            object["problem"] = {
                {"code", resumed.error().code}, {"title", resumed.error().message}, {"detail", resumed.error().remedy}};
        }
        return json_response(object);
    }
    [[nodiscard]] const std::string& task_id() const { return place_.task_id; }
    /// Errors: `conflict` AF-DASH-022.
    Result<void> require_open() const {
        AF_TRY(const Aggregator::Figures figures, parts_.tasks.figures(place_));
        const std::string& status = figures->overview.summary.status;
        if (status != "completed" && status != "aborted") { return {}; }
        return has_ended_already(status);
    }
    /// Errors: `conflict` AF-DASH-022; AF-DASH-023 the task waits for an answer, so a new process would only end again.
    Result<void> require_resumable() const {
        parts_.events.publish(parts_.tasks.refresh(place_.repository, place_.task_id));
        AF_CHECK(require_open());
        AF_TRY(const Aggregator::Figures figures, parts_.tasks.figures(place_));
        const TaskOverview& task = figures->overview;
        if (!waits_for_person(task) || goes_on_unanswered(task.waiting_id)) { return {}; }
        return Error{
            "AF-DASH-023",
            "The task waits for a person: " + ellipsis(first_line(task.question), 300) +
                (task.answer_problem.empty() ? "" : "; the answer cannot be used: " + ellipsis(task.answer_problem, 500)),
            task.waiting_id, "answer it (/api/attention shows it); the task continues with the answer", ErrorKind::conflict};
    }
    /// Errors: `conflict` AF-DASH-062.
    Result<void> require_extendable() const {
        AF_TRY(const Aggregator::Figures figures, parts_.tasks.figures(place_));
        const auto actions = available_actions(figures->overview);
        if (std::ranges::find(actions, "extend") != actions.end()) { return {}; }
        return Error{
            "AF-DASH-062", "The task cannot be extended now", state_name(figures->overview),
            "a task can be extended if it has ended or shows its last artifact, has delivered nothing and has stages left",
            ErrorKind::conflict};
    }

private:
    /// True if a process will write the question again because its file is missing, or act on its deadline.
    [[nodiscard]] bool goes_on_unanswered(const std::string& id) const {
        const EscalationStore store(Aggregator::agentforge_of(parts_.tasks.repository(place_.repository)));
        const auto deadline = store.answer_deadline(id);
        if (!deadline.ok()) { return deadline.error().kind == ErrorKind::not_found; }
        const auto time = parse_time(deadline->time);
        return time.ok() && *time <= std::chrono::system_clock::now();
    }

    const DashboardParts& parts_;
    const Aggregator::Place& place_;
};

/// Writes a flag and its value as one argument, so a value that begins with `-` is not taken for a flag.
std::string with_value(const char* flag, const std::string& value) { return std::string(flag) + "=" + value; }

Result<HttpResponse> start(const DashboardParts& parts, const ApiCall& call) {
    AF_CHECK(only(call.body, {"request", "repo", "pipeline", "exit_after"}, {"supervised", "interactive"}));
    AF_TRY(const std::string request, required(call.body, "request"));
    const std::string repo = text_of(call.body, "repo");
    const auto known = parts.tasks.repositories();
    const auto found = repo.empty() ? known.begin() : std::ranges::find(known, repo, &KnownRepository::name);
    if (found == known.end()) { return unknown_repository(repo, known, ""); }
    if (auto problem = problem_of(*found)) { return std::move(*problem); }
    std::vector<std::string> arguments{"start", "--detach", "--json"};
    for (const auto& [key, flag] : {std::pair{"pipeline", "--pipeline"}, {"exit_after", "--exit-after"}}) {
        if (const std::string value = text_of(call.body, key); !value.empty()) { arguments.push_back(with_value(flag, value)); }
    }
    for (const auto& [key, flag] : {std::pair{"supervised", "--supervised"}, {"interactive", "--interactive"}}) {
        if (flag_of(call.body, key)) { arguments.emplace_back(flag); }
    }
    arguments.emplace_back("-");
    AF_TRY(const json::object answer, parts.commands.run(found->path, std::move(arguments), request));
    parts.events.publish(parts.tasks.refresh());
    HttpResponse response = json_response({{"task_id", text_of(answer, "task_id")}, {"repo", found->name}}, 201);
    response.headers.emplace_back("Location", "/api/tasks/" + text_of(answer, "task_id"));
    return response;
}

Result<HttpResponse> pause(const TaskCommands& task, const ApiCall& call) {
    AF_CHECK(only(call.body, {"reason"}, {"after_step"}));
    std::vector<std::string> arguments{"pause", task.task_id(), "--json"};
    if (const std::string reason = text_of(call.body, "reason"); !reason.empty()) {
        arguments.push_back(with_value("--reason", reason));
    }
    if (flag_of(call.body, "after_step")) { arguments.emplace_back("--after-step"); }
    AF_TRY(const json::object answer, task.run(std::move(arguments)));
    return json_response(answer, 202);
}

Result<HttpResponse> resume(const TaskCommands& task, const ApiCall& call) {
    AF_CHECK(only(call.body, {"guidance"}));
    AF_CHECK(task.require_resumable());
    AF_TRY(const json::object answer, task.resume(text_of(call.body, "guidance")));
    return json_response({{"task_id", task.task_id()}, {"detached", true}}, 202);
}

/// Starts a new task that continues after a step of this one. The new task remains even if it cannot continue.
Result<HttpResponse> fork(const DashboardParts& parts, const ApiCall& call) {
    json::object texts = call.body;
    texts.erase("step");
    AF_CHECK(only(texts, {"feedback"}));
    const json::value* step = call.body.if_contains("step");
    if (step == nullptr || !step->is_int64() || step->get_int64() < 1) {
        return wrong_field("`step` must be the number of a step");
    }
    AF_TRY(const Aggregator::Place place, place_of(parts, call));
    AF_TRY(const json::object made, TaskCommands(parts, place)
                                        .run({"fork", place.task_id, with_value("--from-step", std::to_string(step->get_int64())),
                                              "--no-resume", "--json"}));
    const Aggregator::Place forked{place.repository, text_of(made, "task_id")};
    const auto resumed = TaskCommands(parts, forked).resume(text_of(call.body, "feedback"));
    json::object object{{"task_id", forked.task_id}, {"parent", place.task_id}, {"resumed", resumed.ok()}, {"problem", nullptr}};
    if (!resumed.ok()) {
        object["problem"] = {
            {"code", resumed.error().code}, {"title", resumed.error().message}, {"detail", resumed.error().remedy}};
    }
    HttpResponse response = json_response(object, 201);
    response.headers.emplace_back("Location", "/api/tasks/" + forked.task_id);
    return response;
}

Result<HttpResponse> abort(const TaskCommands& task, const ApiCall& call) {
    AF_CHECK(only(call.body, {"reason"}));
    if (auto open = task.require_open(); !open.ok()) {
        Error problem = std::move(open).error();
        if (problem.kind == ErrorKind::conflict) { problem.remedy = "nothing to do"; }
        return problem;
    }
    std::vector<std::string> arguments{"abort", task.task_id(), "--json"};
    if (const std::string reason = text_of(call.body, "reason"); !reason.empty()) {
        arguments.push_back(with_value("--reason", reason));
    }
    AF_TRY(const json::object answer, task.run(std::move(arguments)));
    const std::string outcome = text_of(answer, "outcome");
    if (outcome == "already_asked") {
        return Error{"AF-DASH-024", "Another request has already asked to abort the task", task.task_id(),
                     "wait until its process has ended", ErrorKind::conflict};
    }
    if (outcome == "finished") { return has_ended_already("aborted"); }
    return json_response(answer);
}

Result<HttpResponse> resolve(const TaskCommands& task, const ApiCall& call) {
    AF_CHECK(only(call.body, {"answer"}, {"abort"}));
    const std::string& id = call.place("escalation_id");
    if (kind_in_task(id, task.task_id()) != QuestionKind::escalation) {
        return Error{"AF-DASH-017", "The task has no question with this id", ellipsis(sanitize_utf8(id), 200),
                     "/api/attention lists what waits for you", ErrorKind::not_found};
    }
    std::vector<std::string> arguments{"resolve", "--no-resume", "--json"};
    if (flag_of(call.body, "abort")) {
        if (call.body.contains("answer")) { return wrong_field("`abort` ends the task, so it has no `answer`"); }
        arguments.insert(arguments.end(), {"--abort", "--", id});
    } else {
        AF_TRY(const std::string answer, required(call.body, "answer"));
        arguments.insert(arguments.end(), {"--", id, answer});
    }
    AF_TRY(const json::object answer, task.run(std::move(arguments)));
    return task.answered(id, flag_of(call.body, "abort"));
}

/// The client names the item by its id and by the hash that it was shown. If the item has changed since, decides nothing (409).
Result<HttpResponse> decide(const TaskCommands& task, const ApiCall& call, const char* command) {
    AF_CHECK(only(call.body, {"id", "hash", "feedback"}, {"exit"}));
    const bool exits = flag_of(call.body, "exit");
    if (exits && command != std::string_view("approve")) { return wrong_field("only who approves has `exit`"); }
    if (command == std::string_view("approve") && call.body.contains("feedback")) {
        return wrong_field("who approves has no `feedback`");
    }
    AF_TRY(const std::string id, required(call.body, "id"));
    AF_TRY(const std::string hash, required_hash(call.body));
    if (const auto kind = kind_in_task(id, task.task_id()); !kind || kind == QuestionKind::escalation) {
        return Error{"AF-DASH-017", "The task has no approval or action with this id", ellipsis(sanitize_utf8(id), 200),
                     "/api/attention lists what waits for you", ErrorKind::not_found};
    }
    std::vector<std::string> arguments{command, "--no-resume", "--json", with_value("--hash", hash)};
    const std::string feedback = text_of(call.body, "feedback");
    if (command == std::string_view("reject") && !feedback.empty()) { arguments.push_back(with_value("--feedback", feedback)); }
    if (exits) { arguments.emplace_back("--exit"); }
    arguments.insert(arguments.end(), {"--", id});
    if (command == std::string_view("feedback")) {
        AF_TRY(std::string text, required(call.body, "feedback"));
        arguments.push_back(std::move(text));
    }
    AF_TRY(const json::object answer, task.run(std::move(arguments)));
    return task.answered(id);
}

/// Adds stages after the end, or after the artifact that is shown. If the artifact is unchanged since it was shown, this also
/// approves it.
Result<HttpResponse> extend(const TaskCommands& task, const ApiCall& call) {
    AF_CHECK(only(call.body, {"stage", "accept_stale", "id", "hash"}));
    AF_CHECK(task.require_extendable());
    std::vector<std::string> arguments{"continue", task.task_id(), "--json"};
    if (const std::string stage = text_of(call.body, "stage"); !stage.empty()) {
        arguments.push_back(with_value("--extend-to", stage));
    }
    if (const std::string reason = text_of(call.body, "accept_stale"); !reason.empty()) {
        arguments.push_back(with_value("--accept-stale", reason));
    }
    if (!call.body.contains("id") && !call.body.contains("hash")) {
        arguments.emplace_back("--detach");
        AF_TRY(const json::object answer, task.run(std::move(arguments)));
        return json_response({{"task_id", task.task_id()}, {"detached", true}}, 202);
    }
    AF_TRY(const std::string id, required(call.body, "id"));
    AF_TRY(const std::string hash, required_hash(call.body));
    AF_TRY(const std::string stage, required(call.body, "stage"));
    if (kind_in_task(id, task.task_id()) != QuestionKind::approval) {
        return Error{"AF-DASH-017", "The task has no approval or action with this id", ellipsis(sanitize_utf8(id), 200),
                     "/api/attention lists what waits for you", ErrorKind::not_found};
    }
    arguments.insert(arguments.end(), {"--no-resume", with_value("--hash", hash)});
    AF_TRY(const json::object answer, task.run(std::move(arguments)));
    return task.answered(id);
}

template <class Act>
std::function<Result<HttpResponse>(const ApiCall&)> acting(const DashboardParts& parts, Act act) {
    return [parts, act](const ApiCall& call) -> Result<HttpResponse> {
        AF_TRY(const Aggregator::Place place, place_of(parts, call));
        return act(TaskCommands(parts, place), call);
    };
}

}  // namespace

void add_change_routes(std::vector<Route>& routes, const DashboardParts& parts) {
    const auto add = [&](const char* path, auto act) {
        routes.push_back({"POST", std::string("/api/tasks/{task_id}/") + path, acting(parts, act)});
    };
    routes.push_back({"POST", "/api/tasks", [parts](const ApiCall& call) { return start(parts, call); }});
    add("pause", pause);
    add("resume", resume);
    add("abort", abort);
    add("extend", extend);
    routes.push_back({"POST", "/api/tasks/{task_id}/fork", [parts](const ApiCall& call) { return fork(parts, call); }});
    add("escalations/{escalation_id}/resolve", resolve);
    for (const char* command : {"approve", "reject", "feedback"}) {
        add(command, [command](const TaskCommands& task, const ApiCall& call) { return decide(task, call, command); });
    }
}

}  // namespace agentforge::kernel
