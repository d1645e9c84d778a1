// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <sstream>

#include "aggregate/aggregator.hpp"
#include "aggregate/change_watch.hpp"
#include "aggregate/figures.hpp"
#include "aggregate/followed_task.hpp"
#include "aggregate/set_figures.hpp"
#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/ids.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_words.hpp"
#include "escalation/escalation_store.hpp"
#include "git/checkout_change.hpp"
#include "program/command_line.hpp"
#include "program/commands/inspect.hpp"
#include "program/project/chosen_task.hpp"
#include "program/project/known_repositories.hpp"
#include "program/project/project.hpp"
#include "program/sets/find_set.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/next_commands.hpp"
#include "program/terminal/outcome.hpp"
#include "program/terminal/pager.hpp"
#include "program/terminal/task_box.hpp"
#include "program/terminal/task_list.hpp"
#include "program/terminal/terminal.hpp"
#include "task/artifact_files.hpp"

namespace agentforge::kernel {

namespace {

struct StatusArguments {
    std::string task;
    TaskListOptions list;
    std::string phase;
    std::uint64_t step = 0;
    bool limit_given = false;
    bool detail = false;
    bool watch = false;
};

/// A task's state at the last refresh. `--watch` then reads only newer records.
struct SeenTask {
    std::unique_ptr<FollowedTask> followed;  ///< Null: the journal cannot be read.
    ProjectedTask projected;                 ///< Then from `state.yaml`.
    std::vector<Record> records;
    [[nodiscard]] const TaskState& state() const { return followed ? followed->state() : projected.state; }
    [[nodiscard]] TaskOverview overview() const {
        return followed ? overview_of(followed->state(), followed->activity(), followed->paths()) : projected.overview;
    }
    [[nodiscard]] TaskFigures figures(const std::string& repo) const {
        return followed ? figures_of(*followed, repo) : figures_of(projected, repo);
    }
};

/// Reads the journal, because the projection may be some records behind. Falls back to the projection if the journal cannot be
/// read, unless the caller needs records.
Result<void> read_task(Program& program, const TaskStore& store, const std::string& id, bool wants_records,
                       std::optional<SeenTask>& seen) {
    if (!seen) { seen.emplace(SeenTask{std::make_unique<FollowedTask>(store.paths(id), id), {}, {}}); }
    const auto keep =
        wants_records ? FollowedTask::Seen([&](const Record& record) { seen->records.push_back(record); }) : FollowedTask::Seen();
    const Result<void> read = seen->followed ? seen->followed->refresh(keep) : Result<void>();
    if (read.ok() && !seen->state().task_id.empty()) { return {}; }
    const auto state = read_task_state(store, id);  // Its error is the best explanation.
    if (state.ok()) { return read.ok() ? seen->followed->refresh(keep) : read; }
    if (state.error().code == "AF-TASK-015") { return state.error(); }  // The projection would be another task's.
    seen->projected = projected_task(store, id, store.damage(id, read));
    if ((wants_records && seen->records.empty()) || seen->projected.overview.summary.status == "unknown") {
        return state.error();
    }
    program.err << "agentforge: " << printable_lines(state.error().to_string()) << "\nThe output below is from state.yaml.\n";
    seen->followed.reset();
    return {};
}

/// Prints gates, the last actions, the places of artifacts, and the base commit.
std::vector<BoxPart> detail_of(const TaskStore& store, const TaskState& state, const std::vector<Record>& records) {
    constexpr std::size_t last_actions = 10;
    BoxPart steps;
    for (const Record& record : records) {
        if (record.type() == records::Step::type) { steps.push_back({.text = "  " + printable(record_line(record), 200)}); }
    }
    if (steps.size() > last_actions) { steps.erase(steps.begin(), steps.end() - last_actions); }
    if (!steps.empty()) { steps.insert(steps.begin(), {.text = "last actions"}); }
    BoxPart artifacts;
    for (const StageState& stage : state.stages) {
        if (!stage.artifact.empty()) { artifacts.push_back({.text = "  " + stage.artifact, .whole = true}); }
    }
    if (!artifacts.empty()) {
        artifacts.insert(artifacts.begin(), {.text = "artifacts in " + store.paths(state.task_id).root.string(), .whole = true});
    }
    return {
        std::move(steps),
        std::move(artifacts),
        {{.text = std::to_string(records.size()) + " records in its journal; base commit " + state.base_commit, .whole = true}}};
}

BoxPart gates_part(const TaskState& state) {
    BoxPart part;
    for (const auto& [name, gate] : state.gates) {
        if (gate.passed && had_no_file(name, gate.summary)) { continue; }
        if (gate.passed && was_skipped(name, gate.summary)) {
            part.push_back(
                {.text = fmt::format("- gate {:<12} skipped: {}", name, printable(std::string(why_skipped(gate.summary)), 200)),
                 .colours = "2"});
            continue;
        }
        part.push_back({.text = fmt::format("{} gate {:<12} {}", gate.passed ? "✓" : "✗", name, printable(gate.summary, 200)),
                        .colours = gate.passed ? "32" : "31"});
    }
    return part;
}

Error no_such_stage(const TaskState& state, const std::string& phase) {
    std::vector<std::string> names;
    std::string known;
    for (const StageState& stage : state.stages) {
        names.push_back(stage.name);
        known += (known.empty() ? "" : ", ") + stage.name;
    }
    const std::string near = nearest(phase, names);
    return {"AF-CLI-075", "the task has no stage `" + printable(phase, 80) + "`", "task " + state.task_id,
            (near.empty() ? "" : "did you mean `" + near + "`? ") + "its stages are " + known, ErrorKind::not_found};
}

/// A record without a stage belongs to the stage entered last.
std::vector<const Record*> records_of_stage(const std::vector<Record>& records, const std::string& phase) {
    std::vector<const Record*> own;
    std::string at;
    for (const Record& record : records) {
        if (const auto typed = records::read_record(record.body); typed.ok()) {
            if (const std::string_view stage = records::stage_of(typed->body); !stage.empty()) { at = stage; }
        }
        if (at == phase) { own.push_back(&record); }
    }
    return own;
}

json::object phase_json(const TaskState& state, const std::string& phase, const StageFigures& figures,
                        const std::vector<const Record*>& records) {
    const Spend spend = state.ledger.of_stage(phase);
    json::array list;
    for (const Record* record : records) { list.push_back(record->body); }
    return {{"task_id", state.task_id},           {"stage", phase},
            {"status", figures.status},           {"steps", figures.steps},
            {"input_tokens", spend.input_tokens}, {"output_tokens", spend.output_tokens},
            {"duration_ms", figures.duration_ms}, {"error", figures.error},
            {"artifact", figures.artifact},       {"records", std::move(list)}};
}

/// Prints one stage: its result, steps and artifact.
int show_phase(Program& program, std::ostream& out, const TaskStore& store, const SeenTask& seen, const std::string& phase,
               bool watch) {
    const TaskState& state = seen.state();
    const auto found =
        std::find_if(state.stages.begin(), state.stages.end(), [&](const StageState& stage) { return stage.name == phase; });
    if (found == state.stages.end()) { return program.fail(no_such_stage(state, phase)); }
    const std::vector<const Record*> own = records_of_stage(seen.records, phase);
    std::string artifact;
    if (!found->artifact.empty()) {
        const auto text = read_file(store.paths(state.task_id).root / found->artifact);
        if (!text.ok()) { return program.fail(text.error()); }
        artifact = *text;
    }
    const StageFigures figures = figures_of(state, *found);
    if (program.json_output) {
        print_answer(out, phase_json(state, phase, figures, own), watch);
        return 0;
    }
    out << short_id(state.task_id) << "  stage " << phase << "  " << figures.status << "\n  " << figures.steps
        << (figures.steps == 1 ? " step, " : " steps, ") << figures.tokens << " tokens, "
        << human_duration(std::chrono::milliseconds(figures.duration_ms))
        << (figures.error.empty() ? "" : "\n  " + printable(figures.error, 1000)) << "\n\n";
    for (const Record* record : own) {
        if (record->type() == records::Answer::type || record->type() == records::CallStarted::type ||
            record->type() == records::CallFinished::type) {
            continue;
        }
        out << "  " << printable(record_line(*record), 220) << "\n";
    }
    if (!artifact.empty()) { out << "\n--- " << found->artifact << "\n" << printable_lines(artifact); }
    return 0;
}

/// Returns the repository's name in your list, as the dashboard has it.
std::string shown_name(const Program& program, const std::filesystem::path& root) {
    const auto all = all_repositories(program);
    if (!all.ok()) { return root.filename().string(); }
    const auto found = std::ranges::find(*all, root, &KnownRepository::path);
    return found == all->end() ? root.filename().string() : found->name;
}

json::object task_json(const Program& program, const ProjectPlace& place, const TaskPaths& paths, const SeenTask& seen) {
    const TaskState& state = seen.state();
    json::object object = to_json(state);
    object["total_tokens"] = cost_figures(state).tokens;  // Includes lost calls, which belong to no step.
    object["figures"] = to_json(seen.figures(shown_name(program, place.root)), SystemClock().now());
    object.erase("pipeline_template");
    const std::vector<std::string> changed = changed_artifact_files(paths, state);
    object["changed_artifacts"] = json::array(changed.begin(), changed.end());
    return object;
}

void print_stages(std::ostream& out, const TaskState& state, const TaskOverview& overview) {
    for (const StageState& stage : state.stages) {
        const bool at_it = stage.plan_step && stage.status != StageStatus::completed;
        const StageFigures figures = figures_of(state, stage);
        out << fmt::format("  {:<10} {:<10} {:>3} steps {:>8} tokens {:>8}{}{}\n", figures.name, figures.status, figures.steps,
                           figures.tokens, human_duration(std::chrono::milliseconds(figures.duration_ms)),
                           at_it ? "  " + printable(plan_step_text(*stage.plan_step), 200) : "",
                           figures.error.empty() ? "" : "  " + printable(figures.error, 200));
        for (const std::string& line : remarks_on(state, stage, overview)) {
            out << "             " << printable(line, 300) << "\n";
        }
    }
}

void print_gates(std::ostream& out, const TaskState& state) {
    if (!state.gates.empty()) { out << "\n"; }
    for (const auto& [name, gate] : state.gates) {
        if (gate.passed && had_no_file(name, gate.summary)) { continue; }
        if (gate.passed && was_skipped(name, gate.summary)) {
            out << fmt::format("  gate {:<12} skipped, {}\n", name, printable(std::string(why_skipped(gate.summary)), 200));
            continue;
        }
        out << fmt::format("  gate {:<12} {} {}\n", name, gate.passed ? "passed" : "FAILED", printable(gate.summary, 200));
    }
}

/// Prints what the task waits for: an answer, an approval, or a decision on an action.
void print_waits(std::ostream& out, const TaskPaths& paths, const TaskState& state, const TaskOverview& overview) {
    if (overview.answered) {
        out << "\n  answered: " << overview.waiting_id << "; no process has read the answer yet\n";
    } else if (state.escalation) {
        out << "\n  waits for an answer to " << state.escalation->id << ": " << printable(state.escalation->question, 1000)
            << "\n";
    }
    if (state.approval && !overview.answered) {
        out << "\n  waits for approval " << state.approval->id << " of " << state.stage().artifact << "\n";
        for (const std::string& line : state.resumption.shown_by_content) {
            out << "    you approve: " << printable(line, 1500) << "\n";
        }
    }
    if (!overview.answer_problem.empty()) {
        out << "\n  the answer cannot be used: " << printable_lines(overview.answer_problem) << "\n";
    }
    for (const std::string& file : changed_artifact_files(paths, state)) {
        out << "\n  CHANGED on disk since it was accepted: " << printable(file, 300) << "\n";
    }
    if (state.action && !state.action->id.empty() && !overview.answered) {
        out << "\n  waits for a decision on the action " << state.action->id << " (" << printable(state.action->tool, 80)
            << ")\n";
    }
}

/// Prints how the task ended, and which process runs it.
void print_outcome_so_far(std::ostream& out, const TaskPaths& paths, const TaskState& state) {
    if (!state.pause_reason.empty() && state.error.empty()) {
        out << "\n  paused: " << printable(first_line(state.pause_reason), 1000) << "\n";
    }
    if (!state.error.empty()) { out << "\n  " << printable(state.error, 1000) << "\n"; }
    if (!state.commit.empty()) { out << "\n  commit " << state.commit << " on " << state.branch << "\n"; }
    for (const auto& [label, value] : delivery_lines(state)) { out << fmt::format("  {:<6} {}\n", label, printable(value, 300)); }
    if (const auto holder = TaskLock::holder(paths)) {
        out << "\n  running now: process " << holder->pid << " on " << holder->host << " since " << holder->since << "\n";
    }
}

void print_task(const Program& program, std::ostream& out, const TaskPaths& paths, const TaskState& state,
                const TaskOverview& overview, const std::string& cost, const std::vector<BoxPart>& detail) {
    out << short_id(state.task_id) << "  " << (is_interrupted(overview) ? "INTERRUPTED" : state_name(overview)) << "\n  "
        << quoted_request(state.request, 400) << "\n"
        << "  pipeline " << state.pipeline.name << ", started " << state.created_at << ", last activity " << state.updated_at
        << "\n\n";
    print_stages(out, state, overview);
    if (!cost.empty()) { out << "\n  cost " << cost << "\n"; }
    print_gates(out, state);
    print_waits(out, paths, state, overview);
    print_outcome_so_far(out, paths, state);
    constexpr std::size_t any_width = 1'000;
    const auto next = lines_of(program, next_commands(state, overview), any_width);
    for (const std::string& line : next) { out << (&line == &next.front() ? "\n  " : "  ") << line << "\n"; }
    for (const BoxPart& part : detail) {
        if (!part.empty()) { out << "\n"; }
        for (const BoxLine& line : part) { out << "  " << line.text << "\n"; }
    }
}

/// Writes the task's text to `out`, or sets `box`, whose text changes as time passes.
int show_task(Program& program, std::ostream& out, const ProjectPlace& place, const StatusArguments& arguments,
              std::optional<SeenTask>& seen, std::function<void(std::ostream&)>& box) {
    const TaskStore store(place.agentforge);
    const auto id = resolve_task(store, arguments.task);
    if (!id.ok()) { return program.fail(id.error()); }
    const bool detailed = arguments.detail && !program.json_output;
    if (const auto read = read_task(program, store, *id, detailed || !arguments.phase.empty(), seen); !read.ok()) {
        return program.fail(read.error());
    }
    if (!arguments.phase.empty()) { return show_phase(program, out, store, *seen, arguments.phase, arguments.watch); }
    const TaskState* const state = &seen->state();
    const TaskPaths paths = store.paths(*id);
    if (program.json_output) {
        print_answer(out, task_json(program, place, paths, *seen), arguments.watch);
        return 0;
    }
    std::vector<BoxPart> detail;
    if (detailed) { detail = detail_of(store, *state, seen->records); }
    const Spend spend = state->ledger.total();
    const std::string cost =
        spend.calls + spend.lost == 0 ? "" : printable(cost_of_task(paths, spend, state->ledger.unpriced_models()), 500);
    TaskOverview overview = seen->overview();
    if (!shows_boxes(program)) {
        print_task(program, out, paths, *state, overview, cost, detail);
        return 0;
    }
    if (arguments.detail) { detail.insert(detail.begin(), gates_part(*state)); }
    box = [&program, state, overview = std::move(overview), cost = cost.empty() ? "" : "cost: " + cost,
           detail = std::move(detail)](std::ostream& terminal) {
        auto parts = box_of_task(program, *state, overview, cost, box_style_of(program), SystemClock().now());
        parts.insert(parts.end(), detail.begin(), detail.end());
        print_box(program, terminal, parts);
    };
    return 0;
}

Answer show_one(Program& program, const ProjectPlace& place, const StatusArguments& arguments, std::optional<SeenTask>& seen) {
    std::ostringstream text;
    std::function<void(std::ostream&)> box;
    int code = show_task(program, text, place, arguments, seen, box);
    if (seen && !seen->followed) { code = 1; }  // A script must see that the journal cannot be read.
    return [text = text.str(), box = std::move(box), code](std::ostream& out) {
        out << text;
        if (box) { box(out); }
        return code;
    };
}

/// Returns the text with codes that overwrite the last output without flicker. Cuts lines at the bottom that do not fit.
std::string redrawn(const std::string& text, std::size_t rows) {
    std::string drawn = "\x1b[H";
    std::size_t at = 0;
    for (std::size_t row = 1; at < text.size() && row < rows; ++row) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        drawn += text.substr(at, end - at) + "\x1b[K\n";
        at = end + 1;
    }
    return drawn + "\x1b[J";
}

/// Waits for `--watch`: for a change, or for the next refresh without one.
class Changes {
public:
    Changes(std::vector<std::filesystem::path> tasks, ExtraWatches also)
        : tasks_(std::move(tasks)), also_(std::move(also)), refreshed_(clock_.steady()) {
        watch_.emplace(tasks_, also_);
    }

    /// Returns true if something may have changed. False after at most `most` without a change.
    bool wait(std::chrono::milliseconds most, const CancelToken& cancel) {
        constexpr std::chrono::milliseconds refresh_interval{100};  // A busy task writes more often than a person can read.
        constexpr std::chrono::milliseconds wait_without_events{500};
        constexpr std::chrono::seconds full_refresh_interval{60};
        constexpr std::chrono::seconds between_watches{10};
        const bool misses = watch_->misses_events();
        const bool changed = !watch_->wait(misses ? std::min(most, wait_without_events) : most, -1).empty();
        if (changed && !cancel.requested()) { ::poll(nullptr, 0, refresh_interval.count()); }
        const auto passed = clock_.steady() - refreshed_;
        if (passed < (misses ? between_watches : full_refresh_interval)) { return changed || misses; }
        refreshed_ = clock_.steady();
        if (misses) { watch_.emplace(tasks_, also_); }  // A folder may be new.
        return true;
    }

private:
    std::vector<std::filesystem::path> tasks_;
    ExtraWatches also_;
    SystemClock clock_;
    std::chrono::steady_clock::time_point refreshed_;
    std::optional<ChangeWatch> watch_;
};

/// Prints the status again on every change, until Ctrl-C or until no process runs the task. Also redraws a box as time passes or
/// the window is resized, without reading anything.
int show_repeatedly(Program& program, Changes changes, const std::function<Answer()>& read_answer,
                    const std::function<bool()>& continues) {
    constexpr std::chrono::milliseconds between_boxes{1000};
    constexpr std::chrono::milliseconds usual_wait{2000};
    std::string shown;
    bool running = continues();
    Answer answer = read_answer();
    while (true) {
        std::ostringstream now;
        const int code = answer(now);
        if (now.str() != shown) {
            const bool in_place = shows_boxes(program) && moves_cursor(program.environment);
            if (!in_place && !shown.empty() && !program.json_output) { program.out << "\n"; }
            if (in_place && shown.empty()) { program.out << "\x1b[2J"; }
            shown = now.str();
            program.out << (in_place ? redrawn(shown, terminal_rows()) : shown) << std::flush;
        }
        if (code != 0 || !running || !program.out) { return code; }
        const bool changed = changes.wait(shows_boxes(program) ? between_boxes : usual_wait, *program.cancel);
        if (program.cancel->requested()) { return static_cast<int>(ExitCode::cancelled); }
        if (!changed) { continue; }
        running = continues();
        answer = read_answer();
    }
}

std::filesystem::path answers_of(const std::filesystem::path& agentforge) { return EscalationStore(agentforge).directory(); }

/// Watches the list of tasks, as the dashboard does.
Changes changes_of(const Program& program, const std::vector<std::filesystem::path>& agentforge_folders) {
    std::vector<std::filesystem::path> tasks;
    ExtraWatches also{.locks = true};
    for (const std::filesystem::path& agentforge : agentforge_folders) {
        tasks.push_back(TaskStore(agentforge).root());
        also.folders.push_back(answers_of(agentforge));
    }
    if (const auto sets = sets_folder(program); sets.ok()) { also.folders.push_back(*sets); }
    return {std::move(tasks), std::move(also)};
}

int status_of_all(Program& program, const StatusArguments& arguments) {
    const auto repositories = all_repositories(program);
    if (!repositories.ok()) { return program.fail(repositories.error()); }
    for (const std::string& line : unfinished_sets(program, {})) { program.err << "agentforge: " << line << "\n"; }
    SeenRepositories seen;
    const auto read_answer = [&] { return list_tasks_of_all(program, seen, *repositories, arguments.list); };
    if (!arguments.watch) { return read_answer()(program.out); }
    std::vector<std::filesystem::path> folders;
    for (const KnownRepository& each : *repositories) { folders.push_back(Aggregator::agentforge_of(each)); }
    return show_repeatedly(program, changes_of(program, folders), read_answer, [] { return true; });
}

int status_here(Program& program, const StatusArguments& arguments) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    if (const auto begun = CheckoutChange::unfinished(apply_folder(place->agentforge))) {
        program.err << "agentforge: " << printable(begun->description() + "; " + begun->remedy()) << "\n";
    }
    for (const std::string& line : unfinished_sets(program, place->root)) { program.err << "agentforge: " << line << "\n"; }
    std::optional<SeenTask> seen;
    SeenRepositories listed;
    const auto read_answer = [&] {
        return arguments.task.empty() ? list_tasks(program, listed, *place, arguments.list)
                                      : show_one(program, *place, arguments, seen);
    };
    if (!arguments.watch) { return read_answer()(program.out); }
    if (arguments.task.empty()) {
        return show_repeatedly(program, changes_of(program, {place->agentforge}), read_answer, [] { return true; });
    }
    const TaskStore store(place->agentforge);
    const auto id = resolve_task(store, arguments.task);
    if (!id.ok()) { return program.fail(id.error()); }
    Changes changes({}, {.folders = {store.paths(*id).root, answers_of(place->agentforge)}});
    return show_repeatedly(program, std::move(changes), read_answer,
                           [&] { return TaskLock::holder(store.paths(*id)).has_value(); });
}

/// Shows a set and the state of each part.
int show_set(Program& program, const std::string& id) {
    const auto set = find_set(program, id);
    if (!set.ok()) { return program.fail(set.error()); }
    const json::object figures = figures_of(
        *set, [](const SetPart& part) { return state_name(TaskOverviews(part.path / ".agentforge").find(part.task)); });
    if (program.json_output) {
        program.print_json(figures);
        return 0;
    }
    program.out << set->id << "  " << to_string(set->phase) << (set->running ? ", a process works on it" : "") << "\n  \""
                << printable(set->request, 400) << "\"\n\n";
    for (const json::value& part : figures.at("parts").as_array()) {
        const std::string task = text_of(part.as_object(), "task_id");
        program.out << fmt::format("  {:<16} {:<18} {}\n", printable(text_of(part.as_object(), "repo"), 64),
                                   task.empty() ? "not started" : text_of(part.as_object(), "state"), printable(task, 120));
    }
    if (!set->test_result.empty()) { program.out << "  tested together: " << printable(set->test_result, 300) << "\n"; }
    if (!set->reason.empty()) { program.out << "  " << printable(set->reason, 300) << "\n"; }
    for (const json::value& action : figures.at("available_actions").as_array()) {
        program.out << "  agentforge " << std::string_view(action.as_string()) << " " << set->id << "\n";
    }
    return 0;
}

/// Reports a flag that has no effect with the other arguments (AF-CLI-076).
std::optional<Error> flag_without_effect(const StatusArguments& arguments) {
    const auto wrong = [](const std::string& what, const std::string& remedy) {
        return Error{"AF-CLI-076", what, "", remedy, ErrorKind::invalid};
    };
    if (arguments.task.empty()) {
        for (const auto& [given, name] :
             {std::pair{arguments.detail, "--detail"}, {!arguments.phase.empty(), "--phase"}, {arguments.step != 0, "--step"}}) {
            if (given) {
                return wrong(std::string(name) + " needs a task", "name the task: agentforge status TASK " + std::string(name));
            }
        }
        return std::nullopt;
    }
    if (is_set_id(arguments.task)) {
        for (const auto& [given, name] : {std::pair{arguments.detail, "--detail"},
                                          {!arguments.phase.empty(), "--phase"},
                                          {arguments.step != 0, "--step"},
                                          {arguments.watch, "--watch"}}) {
            if (given) {
                return wrong(std::string(name) + " works for a task, but a set is given",
                             "name one of its tasks: `agentforge status " + arguments.task + "` lists them");
            }
        }
    }
    for (const auto& [given, name] : {std::pair{arguments.list.all, "--all"},
                                      {arguments.list.ended, "--ended"},
                                      {!arguments.list.state.empty(), "--state"},
                                      {arguments.limit_given, "--limit"}}) {
        if (given) {
            return wrong(std::string(name) + " works for the list of tasks, but a task is given", "leave one of them out");
        }
    }
    return std::nullopt;
}

}  // namespace

void add_status(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<StatusArguments>();
    const Command command = add_subcommand(app, "status", "Show all tasks, or one");
    command->aliases({"list", "ps"});
    add_option(*command, "task", arguments->task, "A task's id, or a unique part, or a set's id (default: all tasks)")
        ->type_name("TASK");
    const Option state = *add_option(*command, "--state", arguments->list.state, "Only tasks in this state, as the list shows it")
                              ->one_of({"pending", "running", "in_progress", "paused", "awaiting_approval", "escalated",
                                        "interrupted", "completed", "failed", "aborted", "unknown"});
    add_flag(*command, "--all", arguments->list.all, "Open tasks of every known repository");
    add_flag(*command, "--ended", arguments->list.ended, "Only ended tasks; with --all: ended tasks, too")->excludes(state);
    add_option_function(
        *command, "--limit",
        [arguments](const std::string& number) {
            arguments->limit_given = true;
            arguments->list.limit = std::stoull(number);
        },
        "At most N tasks per repository, newest first (default: 20; 0: all)")
        ->type_name("N")
        ->between(0, 1'000'000);
    const Option detail =
        add_flag(*command, "--detail", arguments->detail, "Also show the last actions and where the artifacts are");
    const Option phase =
        *add_option(*command, "--phase", arguments->phase, "One stage of the task: how it went, its steps, its artifact")
             ->type_name("STAGE")
             ->excludes(detail);
    const Option step = *add_option(*command, "--step", arguments->step, "One step, with everything sent and received")
                             ->type_name("N")
                             ->positive()
                             ->excludes(phase);
    add_flag(*command, "--watch", arguments->watch, "Refresh on every change, until the task stops or you press Ctrl-C")
        ->excludes(step);
    add_flag(*command, "--json", program.json_output, "Print JSON; with --watch one object a line");
    command->footer(
        "Examples:\n  agentforge status\n  agentforge status 1f2e3d4c --json\n  agentforge status 1f2e3d4c --phase red\n  agentforge status --watch\n  agentforge status --all");
    command->callback([&program, arguments] {
        program.pages = !arguments->watch;
        program.command = [&program, arguments] {
            if (const auto useless = flag_without_effect(*arguments)) {
                program.fail(*useless);
                return static_cast<int>(ExitCode::usage);
            }
            arguments->list.watch = arguments->watch;
            if (is_set_id(arguments->task)) { return show_set(program, arguments->task); }
            if (arguments->step != 0) { return inspect_step(program, arguments->task, arguments->step); }
            return arguments->list.all ? status_of_all(program, *arguments) : status_here(program, *arguments);
        };
    });
}

}  // namespace agentforge::kernel
