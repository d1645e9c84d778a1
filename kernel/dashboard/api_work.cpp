// SPDX-License-Identifier: Apache-2.0
// The operations that read the work of a task: phases, steps, records, differences, artifacts, cost.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "aggregate/figures.hpp"
#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "cost/ledger.hpp"
#include "dashboard/dashboard.hpp"
#include "dashboard/problem.hpp"
#include "git/repository.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_of_a_page = 500;
constexpr std::uint64_t usual_of_a_page = 50;
constexpr std::size_t most_file_bytes = 2UL << 20U;
constexpr std::size_t most_patch_bytes = 4UL << 20U;
constexpr double micro = 1e-6;

std::string time_of(const Record& record) { return records::envelope_in(record).timestamp; }

/// Returns a body that is in the record itself or in a blob.
std::optional<json::value> kept(const FollowedTask& task, const records::Kept& value) {
    if (value.value) { return *value.value; }
    const auto text = value.blob.empty() ? Result<std::string>(Error{}) : task.blobs().get(value.blob);
    const auto parsed = text.ok() ? parse_json(*text, "blob") : Result<json::value>(Error{});
    return parsed.ok() ? std::optional(*parsed) : std::nullopt;
}

json::object step_line(const FollowedTask& task, const Record& record) {
    const auto step = records::as<records::Step>(record);
    json::array files;
    for (const records::FileChange& change : step->changes.value_or(std::vector<records::FileChange>())) {
        files.emplace_back(*change.path);
    }
    return {{"step", records::envelope_in(record).step},
            {"phase", step->phase},
            {"timestamp", time_of(record)},
            {"action", *step->action->type},
            {"target", text_or_null(task.target_of(record))},
            {"result", *step->result->status},
            {"summary", *step->result->summary},
            {"files", std::move(files)},
            {"tokens", *step->input_tokens + *step->output_tokens}};
}

// --------------------------------------------------------------------------------------------------------- phases --

const StageTemplate* template_of(const TaskState& state, const std::string& stage) {
    const auto index = state.pipeline.index_of(stage);
    return index ? &state.pipeline.stages[*index] : nullptr;
}

json::array failures_of(const json::object& report) {
    json::array failures;
    for (const json::value& test : list_of(report, "tests")) {
        if (!test.is_object()) { continue; }
        const std::string status = text_of(test.get_object(), "status");
        if (status == "passed" || status == "skipped") { continue; }
        failures.push_back({{"test", text_of(test.get_object(), "id")},
                            {"status", status},
                            {"file", text_of(test.get_object(), "file")},
                            {"error", text_of(test.get_object(), "message")}});
    }
    return failures;
}

/// Adds the gate's findings: a criterion for each yes or no, and failing tests with their messages.
void add_gate_criteria(json::array& criteria, const Record& record, const json::object& report) {
    const auto gate = records::as<records::Gate>(record);
    const json::value* facts = report.if_contains("facts");
    for (const auto& fact : facts != nullptr && facts->is_object() ? facts->get_object() : json::object()) {
        if (!fact.value().is_bool()) { continue; }
        std::string details;
        if (fact.key() == "all_tests_pass" && gate->tests) {
            details = std::to_string(gate->tests_passed.value_or(0)) + "/" + std::to_string(*gate->tests) + " tests passing";
        }
        if (fact.key() == "conformance_passing" && facts->get_object().contains("checks_total")) {
            details = std::to_string(agentforge::number_of(facts->get_object(), "checks_passing")) + "/" +
                      std::to_string(agentforge::number_of(facts->get_object(), "checks_total")) + " checks passing";
        }
        criteria.push_back({{"name", fact.key()},
                            {"status", fact.value().get_bool() ? "passed" : "failing"},
                            {"details", details},
                            {"blocking", !fact.value().get_bool() && !gate->passed}});
    }
    json::array issues = list_of(report, "blocking_issues");
    criteria.push_back({{"name", "gate " + gate->gate},
                        {"status", gate->passed ? "passed" : "failing"},
                        {"details", gate->summary},
                        {"blocking", !gate->passed},
                        {"issues", std::move(issues)},
                        {"failures", failures_of(report)},
                        {"violations", list_of(report, "violations")}});
}

Result<json::array> exit_criteria_of(const FollowedTask& task, const StageTemplate& stage, const StageState& state) {
    json::array criteria;
    const std::string gate = closing_gate(stage);
    AF_TRY(const std::optional<Record> record, task.newest_gate(gate));
    if (record) {
        const auto read = records::as<records::Gate>(*record);
        const auto report = kept(task, *read->report);
        add_gate_criteria(criteria, *record, report && report->is_object() ? report->get_object() : json::object());
    } else if (!gate.empty()) {
        criteria.push_back(
            {{"name", "gate " + gate}, {"status", "pending"}, {"details", "not measured yet"}, {"blocking", false}});
    }
    const bool accepted = !state.artifact.empty();
    criteria.push_back({{"name", "artifact " + stage.contract},
                        {"status", accepted ? "passed" : "pending"},
                        {"details", state.artifact},
                        {"blocking", false}});
    return criteria;
}

json::array touched_json(const FollowedTask& task, const std::string& stage) {
    json::array files;
    for (const auto& [path, file] : task.touched(stage)) {
        files.push_back({{"path", path},
                         {"changes", file.lines_added + file.lines_removed},
                         {"lines_added", file.lines_added},
                         {"lines_removed", file.lines_removed},
                         {"created", file.created},
                         {"last_modified", file.last_modified}});
    }
    return files;
}

/// Returns the newest steps of a stage, the last first.
Result<json::array> recent_steps(const FollowedTask& task, const std::string& stage, std::size_t most) {
    json::array recent;
    for (auto range = task.ranges().rbegin(); range != task.ranges().rend() && recent.size() < most; ++range) {
        if (range->stage != stage) { continue; }
        const std::uint64_t length = range->last - range->first + 1;
        const std::uint64_t count = std::min<std::uint64_t>(length, most - recent.size());
        AF_TRY(const std::vector<Record> steps, task.steps(range->last - count + 1, count));
        for (auto step = steps.rbegin(); step != steps.rend(); ++step) { recent.emplace_back(step_line(task, *step)); }
    }
    return recent;
}

Result<json::object> phase_of(const FollowedTask& task, const std::string& phase) {
    const TaskState& state = task.state();
    const auto found = std::ranges::find(state.stages, phase, &StageState::name);
    const StageTemplate* stage = template_of(state, phase);
    if (found == state.stages.end() || stage == nullptr) {
        return Error{"AF-DASH-016", "the task has no stage `" + ellipsis(sanitize_utf8(phase), 80) + "`", "task " + state.task_id,
                     "the task's `pipeline` lists its stages", ErrorKind::not_found};
    }
    AF_TRY(json::array criteria, exit_criteria_of(task, *stage, *found));
    constexpr std::size_t most_recent = 20;
    AF_TRY(json::array recent, recent_steps(task, phase, most_recent));
    const StageFigures figures = figures_of(state, *found);
    return json::object{{"task_id", state.task_id},
                        {"phase", phase},
                        {"status", figures.status},
                        {"started_at", text_or_null(found->started_at)},
                        {"completed_at", text_or_null(found->completed_at)},
                        {"objective", stage->purpose},
                        {"agent", stage->agent},
                        {"error", text_or_null(figures.error)},
                        {"attempts", figures.attempts},
                        {"visits", found->visits},
                        {"cycles", found->cycles},
                        {"tokens", figures.tokens},
                        {"duration_ms", figures.duration_ms},
                        {"artifact", text_or_null(figures.artifact)},
                        {"exit_criteria", std::move(criteria)},
                        {"files_touched", touched_json(task, phase)},
                        {"steps", {{"total", figures.steps}, {"recent", std::move(recent)}}}};
}

// ---------------------------------------------------------------------------------------------------------- steps --

std::string blob_text(const FollowedTask& task, const std::string& hash) {
    const auto text = hash.empty() ? Result<std::string>(Error{}) : task.blobs().get(hash);
    return text.ok() ? sanitize_utf8(*text) : std::string();
}

/// Reads a file that the kernel has written in the task's folder. A record cannot refer to a file outside it.
Result<std::string> task_file(const FollowedTask& task, const std::string& name) {
    const fs::path relative = fs::path(name).lexically_normal();
    const bool inside = !name.empty() && relative.is_relative() && *relative.begin() == "artifacts";
    std::error_code none;
    const fs::path folder = fs::canonical(task.paths().artifacts(), none);
    const fs::path file = fs::weakly_canonical(task.paths().root / relative, none);
    const auto [end, unused] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    if (!inside || folder.empty() || end != folder.end()) {
        return Error{"AF-DASH-012", "The task has no such file", ellipsis(sanitize_utf8(name), 200),
                     "`artifacts` lists the files", ErrorKind::not_found};
    }
    return read_file(file, most_file_bytes);
}

/// Returns how long a step took: its model call, gates, and questions to a person. It begins with the record before its answer.
double seconds_of_step(const FollowedTask& task, const Record& step) {
    constexpr Sequence most_between =
        24;  // Records from before a step's answer to the step: gates, and a decision on the action.
    const auto found = task.records(step.seq > most_between ? step.seq - most_between - 1 : 0, most_between);
    if (!found.ok()) { return 0; }
    const auto is_answer = [&](std::size_t index) {
        return (*found)[index].seq < step.seq && (*found)[index].type() == records::Answer::type;
    };
    for (std::size_t index = found->size(); index-- > 1;) {
        if (!is_answer(index)) { continue; }
        const auto begin = parse_time(time_of((*found)[index - 1]));
        const auto end = parse_time(time_of(step));
        return begin.ok() && end.ok() && *end > *begin ? std::chrono::duration<double>(*end - *begin).count() : 0;
    }
    return 0;
}

json::value verification_after(const FollowedTask& task, std::uint64_t step) {
    const auto checks = task.checks_after(step);
    if (!checks) { return nullptr; }
    json::object object;
    if (checks->tests > 0) {
        object["tests"] = {{"passing", checks->tests_passed}, {"failing", checks->tests - checks->tests_passed}};
    }
    if (checks->conformance) {
        const bool counted = checks->checks && checks->checks_passed;
        object["conformance"] = {
            {"passed", *checks->conformance},
            {"passing", value_or_null(checks->checks_passed)},
            {"failing", counted ? json::value(*checks->checks - *checks->checks_passed) : json::value(nullptr)}};
    }
    return object;
}

/// Returns the token limit of a step, from the settings that the task was started with. The kernel itself wrote the file
/// (to_yaml), so its lines are searched: parsing all of it takes longer than the rest of a step.
json::value context_limit(const FollowedTask& task) {
    const auto text = read_file(task.paths().task(), most_file_bytes);
    if (!text.ok()) { return nullptr; }
    constexpr std::string_view key = "\n    max_tokens: ";
    const std::size_t configuration = text->find("\nconfiguration:\n");
    const std::size_t context = configuration == std::string::npos ? configuration : text->find("\n  context:\n", configuration);
    const std::size_t at = context == std::string::npos ? context : text->find(key, context);
    if (at == std::string::npos) { return nullptr; }
    // Still in this section: no line before it has less indentation.
    for (std::size_t line = text->find('\n', context + 1); line < at; line = text->find('\n', line + 1)) {
        if (!std::string_view(*text).substr(line + 1).starts_with("    ")) { return nullptr; }
    }
    std::int64_t most = 0;
    const char* const begin = text->data() + at + key.size();
    return std::from_chars(begin, text->data() + text->size(), most).ec == std::errc() ? json::value(most) : json::value(nullptr);
}

Result<json::object> step_of(const FollowedTask& task, std::uint64_t number) {
    AF_TRY(const std::vector<Record> found, task.steps(number, 1));
    const Record& record = found.front();
    const auto step = records::as<records::Step>(record);
    const auto arguments = parse_json(blob_text(task, *step->action->arguments_blob), "arguments");
    const auto whole = parse_json(blob_text(task, *step->record_blob), "step");
    const json::object detail = whole.ok() && whole->is_object() ? whole->get_object() : json::object();
    const json::value* completion = detail.if_contains("completion");
    const json::object answered = completion != nullptr && completion->is_object() ? completion->get_object() : json::object();
    std::string patch;
    if (step->patch) {
        if (const auto text = task_file(task, *step->patch); text.ok()) { patch = sanitize_utf8(*text); }
    }
    json::object object = step_line(task, record);
    const json::value target = object["target"];
    object["task_id"] = task.state().task_id;
    object["duration_seconds"] = seconds_of_step(task, record);
    const auto agent = records::envelope_in(record).agent;
    object["agent"] = agent ? json::value(records::to_fields(*agent)) : json::value(nullptr);
    object["action"] = {{"type", *step->action->type},
                        {"target", target},
                        {"parameters", arguments.ok() ? *arguments : json::value(json::object())}};
    object["llm_call"] = records::to_fields(*step->llm_call);
    json::object sections = *step->section_tokens;
    json::array truncated = list_of(sections, "truncated");
    sections.erase("truncated");
    object["context_sent"] = {{"text", blob_text(task, *step->context_blob)},
                              {"system", blob_text(task, *step->system_blob)},
                              {"sha256", *step->context_blob},
                              {"section_tokens", std::move(sections)},
                              {"truncated", std::move(truncated)},
                              {"max_tokens", context_limit(task)}};
    object["llm_response"] = {{"reasoning", text_of(answered, "text")},
                              {"action_chosen", *step->action->type},
                              {"tool_calls", list_of(answered, "tool_calls")}};
    object["result"] = {{"success", *step->result->status == "success"},
                        {"summary", *step->result->summary},
                        {"output", text_of(detail, "output")},
                        {"error", step->result->error.value_or("")}};
    object["state_after"] = {{"tree", *step->tree}, {"verification_status", verification_after(task, number)}};
    const json::array files = object["files"].as_array();
    object["diff"] = {{"file", files.empty() ? json::value(nullptr) : files.front()}, {"patch", patch}};
    object["steps_total"] = task.step_count();
    return object;
}

/// Newest first. `before`: the page ends before this number.
Result<json::object> steps_page(const FollowedTask& task, std::uint64_t before, std::uint64_t limit) {
    const std::uint64_t end = std::min<std::uint64_t>(before - 1, task.step_count());
    const std::uint64_t count = std::min(limit, end);
    json::array lines;
    if (count > 0) {
        AF_TRY(const std::vector<Record> steps, task.steps(end - count + 1, count));
        for (auto step = steps.rbegin(); step != steps.rend(); ++step) { lines.emplace_back(step_line(task, *step)); }
    }
    const std::uint64_t first = end - count + 1;
    return json::object{{"steps", std::move(lines)},
                        {"total", task.step_count()},
                        {"next_before", count > 0 && first > 1 ? json::value(first) : json::value(nullptr)}};
}

Result<json::object> records_page(const FollowedTask& task, std::uint64_t after, std::uint64_t limit) {
    AF_TRY(const std::vector<Record> found, task.records(after, limit));
    json::array records;
    for (const Record& record : found) { records.emplace_back(record.body); }
    const Sequence last = found.empty() ? after : found.back().seq;
    return json::object{{"records", std::move(records)},
                        {"total", task.state().seq},
                        {"next_after", last < task.state().seq ? json::value(last) : json::value(nullptr)}};
}

// ------------------------------------------------------------------------------------------------------ artifacts --

std::string kind_of_version(const std::string& stem, const std::string& name) {
    if (stem == name) { return "current"; }
    return stem.starts_with(name + "_") ? stem.substr(name.size() + 1) : "other";
}

Result<json::object> artifacts_of(const FollowedTask& task) {
    json::array artifacts;
    const fs::path phases = task.paths().artifacts() / "phases";
    for (const StageState& stage : task.state().stages) {
        const StageTemplate* definition = template_of(task.state(), stage.name);
        std::vector<std::string> names;
        std::error_code error;
        for (fs::directory_iterator at(phases / stage.name, error), end; !error && at != end; at.increment(error)) {
            std::error_code none;
            if (at->is_regular_file(none) && !at->is_symlink(none) && at->path().extension() == ".yaml") {
                names.push_back(at->path().filename().string());
            }
        }
        std::ranges::sort(names);
        for (const std::string& name : names) {
            const std::string stem = fs::path(name).stem().string();
            const std::string artifact = definition != nullptr ? definition->artifact : std::string();
            artifacts.push_back({{"phase", stage.name},
                                 {"name", name},
                                 {"version", kind_of_version(stem, artifact)},
                                 {"hash", stem == artifact ? text_or_null(stage.artifact_hash) : json::value(nullptr)}});
        }
    }
    return json::object{{"artifacts", std::move(artifacts)}};
}

Result<json::object> artifact_of(const FollowedTask& task, const std::string& phase, const std::string& name) {
    const bool plain =
        name.ends_with(".yaml") &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == std::string::npos &&
        name.front() != '.';
    const bool known = std::ranges::find(task.state().stages, phase, &StageState::name) != task.state().stages.end();
    if (!plain || !known) {
        return Error{"AF-DASH-012", "The task has no such file", ellipsis(sanitize_utf8(phase + "/" + name), 200),
                     "`artifacts` lists the files", ErrorKind::not_found};
    }
    AF_TRY(const std::string text, task_file(task, "artifacts/phases/" + phase + "/" + name));
    return json::object{{"phase", phase}, {"name", name}, {"sha256", sha256(text)}, {"text", sanitize_utf8(text)}};
}

// ----------------------------------------------------------------------------------------------------------- cost --

json::array groups(const std::vector<std::pair<std::string, Spend>>& sums) {
    json::array out;
    for (const auto& [name, spend] : sums) {
        json::object group{{"name", name},
                           {"calls", spend.calls},
                           {"tokens_used", spend.tokens()},
                           {"estimated_cost_usd", static_cast<double>(spend.cost_microusd) * micro},
                           {"cost_known", spend.cost_known()}};
        out.emplace_back(std::move(group));
    }
    return out;
}

json::object cost_of(const FollowedTask& task) {
    const TaskState& state = task.state();
    const CostFigures cost = cost_figures(state);
    json::array points;
    for (const UsagePoint& point : task.usage()) {
        points.push_back({{"at", point.at},
                          {"step", point.step},
                          {"tokens_used", point.tokens},
                          {"estimated_cost_usd", static_cast<double>(point.cost_microusd) * micro}});
    }
    const auto& limits = state.costing.limits;
    return {{"task_id", state.task_id},
            {"tokens_used", cost.tokens},
            {"estimated_cost_usd", cost.usd ? json::value(*cost.usd) : json::value(nullptr)},
            {"cost_known", cost.known},
            {"in_words", cost_of_task(task.paths(), state.ledger.total(), state.ledger.unpriced_models())},
            {"from_transcript", task.from_transcript()},
            {"by_phase", groups(state.ledger.by(&LedgerEntry::stage))},
            {"by_agent", groups(state.ledger.by(&LedgerEntry::agent))},
            {"by_model", groups(state.ledger.by(&LedgerEntry::model))},
            {"over_time", std::move(points)},
            {"limits", limits ? json::value(records::to_fields(*limits)) : json::value(nullptr)}};
}

// --------------------------------------------------------------------------------------------------------- report --

/// Answers with everything about a task except its steps and texts, to keep or to share. `journal` says which records it was made
/// from.
Result<HttpResponse> show_report(const DashboardParts& parts, const ApiCall& call) {
    AF_TRY(const Aggregator::Place place, place_of(parts, call));
    AF_TRY(const Aggregator::Figures figures, parts.tasks.figures(place));
    json::object report{{"task", json::parse(figures->text)}};
    std::string task_id;
    AF_CHECK(parts.tasks.with_task(place, [&](const FollowedTask& task) -> Result<void> {
        task_id = task.state().task_id;
        json::array phases;
        for (const StageState& stage : task.state().stages) {
            AF_TRY(json::object phase, phase_of(task, stage.name));
            phases.emplace_back(std::move(phase));
        }
        json::array decisions;
        for (const IterationDecision& each : task.decisions()) {
            decisions.push_back({{"phase", each.stage},
                                 {"iteration", each.iteration},
                                 {"decision", each.decision},
                                 {"at", each.at},
                                 {"by", each.by},
                                 {"feedback", each.feedback}});
        }
        AF_TRY(json::object artifacts, artifacts_of(task));
        report["phases"] = std::move(phases);
        report["decisions"] = std::move(decisions);
        report["artifacts"] = std::move(artifacts["artifacts"]);
        report["cost"] = cost_of(task);
        report["journal"] = {{"records", task.state().seq}, {"hash", task.state().hash}};
        return {};
    }));
    std::string timeless = has_ended(figures->overview.summary) ? std::string() : to_json_line(report);
    report["task"] = to_json(*figures, std::chrono::system_clock::now());
    HttpResponse response = json_response(report);
    response.timeless = std::move(timeless);
    response.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + task_id + ".json\"");
    return response;
}

// ----------------------------------------------------------------------------------------------------------- diff --

bool is_object_id(const std::string& text) {
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Answers with the task's changes so far, compared as in `agentforge diff`.
Result<HttpResponse> show_diff(const DashboardParts& parts, const ApiCall& call) {
    AF_TRY(const Aggregator::Place place, place_of(parts, call));
    std::string base;
    std::string tree;
    AF_CHECK(parts.tasks.with_task(place, [&](const FollowedTask& task) -> Result<void> {
        base = delivery_base(task.state()).tree;
        tree = delivered_tree(task.state());
        return {};
    }));
    if (!is_object_id(base) || !is_object_id(tree)) {
        return Error{"AF-DASH-012", "The task has recorded no tree yet", call.place("task_id"),
                     "wait until its first step is done", ErrorKind::not_found};
    }
    AF_TRY(const Repository repository, Repository::open(parts.tasks.repository(place.repository).path));
    AF_TRY(const std::vector<TreeChange> changes, repository.diff(base, tree));
    AF_TRY(const std::string patch, repository.patch(base, tree, most_patch_bytes));
    json::array files;
    for (const TreeChange& change : changes) { files.emplace_back(to_json(change)); }
    return json_response({{"task_id", call.place("task_id")},
                          {"base_tree", base},
                          {"tree", tree},
                          {"files", std::move(files)},
                          {"patch", sanitize_utf8(patch)}});
}

/// Makes a handler that reads one task.
template <class ReadPart>
std::function<Result<HttpResponse>(const ApiCall&)> task_handler(const DashboardParts& parts, ReadPart read_part) {
    return [parts, read_part](const ApiCall& call) -> Result<HttpResponse> {
        AF_TRY(const Aggregator::Place place, place_of(parts, call));
        json::object object;
        AF_CHECK(parts.tasks.with_task(place, [&](const FollowedTask& task) -> Result<void> {
            AF_TRY(object, read_part(task, call));
            return {};
        }));
        return json_response(object);
    };
}

}  // namespace

void add_work_routes(std::vector<Route>& routes, const DashboardParts& parts) {
    using TaskPart = Result<json::object>;
    const auto add = [&](const char* path, auto read_part) {
        routes.push_back({"GET", std::string("/api/tasks/{task_id}/") + path, task_handler(parts, read_part)});
    };
    add("phases/{phase}", [](const FollowedTask& task, const ApiCall& call) { return phase_of(task, call.place("phase")); });
    add("steps", [](const FollowedTask& task, const ApiCall& call) -> TaskPart {
        AF_TRY(const std::uint64_t limit, number_of(call, "limit", usual_of_a_page, 1, most_of_a_page));
        AF_TRY(const std::uint64_t before, number_of(call, "before", most_number, 1, most_number));
        return steps_page(task, before, limit);
    });
    add("steps/{step}", [](const FollowedTask& task, const ApiCall& call) -> TaskPart {
        const std::string& text = call.place("step");
        std::uint64_t number = 0;
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (problem != std::errc() || end != text.data() + text.size() || text.front() == '0') { return task.no_step(text); }
        return step_of(task, number);
    });
    add("records", [](const FollowedTask& task, const ApiCall& call) -> TaskPart {
        AF_TRY(const std::uint64_t limit, number_of(call, "limit", usual_of_a_page, 1, most_of_a_page));
        AF_TRY(const std::uint64_t after, number_of(call, "after", 0, 0, most_number));
        return records_page(task, after, limit);
    });
    add("artifacts", [](const FollowedTask& task, const ApiCall&) { return artifacts_of(task); });
    add("artifacts/{phase}/{name}",
        [](const FollowedTask& task, const ApiCall& call) { return artifact_of(task, call.place("phase"), call.place("name")); });
    add("cost", [](const FollowedTask& task, const ApiCall&) -> TaskPart { return cost_of(task); });
    routes.push_back({"GET", "/api/tasks/{task_id}/report", [parts](const ApiCall& call) { return show_report(parts, call); }});
    routes.push_back({"GET", "/api/tasks/{task_id}/diff", [parts](const ApiCall& call) { return show_diff(parts, call); }});
}

}  // namespace agentforge::kernel
