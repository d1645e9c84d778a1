// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/closing_card.hpp"

#include <unistd.h>

#include <algorithm>
#include <ostream>

#include "aggregate/figures.hpp"
#include "aggregate/overview.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "git/repository.hpp"
#include "pipeline/people/iteration.hpp"
#include "program/terminal/next_commands.hpp"
#include "program/terminal/outcome.hpp"
#include "program/terminal/terminal.hpp"
#include "records/delivery_type.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_files = 8;
constexpr std::size_t no_limit = 1'000;

std::string field(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string counted(std::uint64_t number, std::string_view one) {
    return std::to_string(number) + " " + std::string(one) + (number == 1 ? "" : "s");
}

/// Prints `Done: Add a slugify function`: the outcome, and the first line of the request.
void print_head(Program& program, const std::string& outcome, const std::optional<TaskState>& state,
                const PipelineResult& result) {
    const std::string asked = state ? printable(first_line(state->request), 200) : result.task_id;
    program.out << fitted_line(program, outcome + ": " + asked) << "\n";
}

/// Folds the line on a terminal.
void print_line(Program& program, const std::string& line) {
    program.out << (program.out_is_terminal ? folded_lines(line + "\n", terminal_columns(STDOUT_FILENO)) : line + "\n");
}

void print_field(Program& program, std::string_view name, const std::string& text) {
    print_line(program, "  " + std::string(name) + std::string(name.size() < 8 ? 9 - name.size() : 1, ' ') + text);
}

/// Returns what the person can run next; this process is about to end.
std::vector<NextCommand> commands_for(Project& project, const std::optional<TaskState>& state) {
    if (!state) { return {}; }
    TaskOverview overview = overview_of(*state, {}, project.tasks().paths(state->task_id));
    overview.running = false;
    return next_commands(*state, overview);
}

void print_next(Program& program, const std::vector<NextCommand>& commands) {
    const std::size_t columns = program.out_is_terminal ? terminal_columns(STDOUT_FILENO) : no_limit;
    for (const std::string& line : lines_of(program, commands, columns - std::min<std::size_t>(columns, 2))) {
        program.out << "  " << line << "\n";
    }
}

void print_files(Program& program, Project& project, const TaskState& state) {
    const auto repository = Repository::open(project.place().root);
    if (!repository.ok()) { return; }
    const auto changes = repository->diff(delivery_base(state).tree, delivered_tree(state));
    if (!changes.ok() || changes->empty()) { return; }
    std::uint64_t added = 0;
    std::uint64_t removed = 0;
    std::size_t width = 0;
    const std::size_t shown = changes->size() > most_files ? most_files - 1 : changes->size();
    for (std::size_t index = 0; index < changes->size(); ++index) {
        added += (*changes)[index].lines_added;
        removed += (*changes)[index].lines_removed;
        if (index < shown) { width = std::max(width, cells_of(printable((*changes)[index].path))); }
    }
    print_field(program, "changed",
                counted(changes->size(), "file") + ", +" + std::to_string(added) + " -" + std::to_string(removed));
    for (std::size_t index = 0; index < shown; ++index) {
        const TreeChange& change = (*changes)[index];
        const std::string path = printable(change.path);
        program.out << "           " << path << std::string(width - cells_of(path), ' ') << "  +" << change.lines_added << " -"
                    << change.lines_removed << "\n";
    }
    if (shown < changes->size()) {
        program.out << "           and " << changes->size() - shown
                    << " more: " << program.with_place("agentforge diff --stat " + short_id(state.task_id)) << "\n";
    }
}

/// Prints the result of the last run of the whole suite, and how many tests the suite had before.
void print_tests(Program& program, const GateFigures& gates) {
    if (!gates.tests) { return; }
    const std::uint64_t all = *gates.tests;
    std::string text = gates.tests_passed == all ? std::to_string(all) + (all == 1 ? " passes" : " pass")
                                                 : std::to_string(gates.tests_passed) + " of " + std::to_string(all) + " pass";
    if (gates.tests_before && all > *gates.tests_before) { text += ", " + std::to_string(all - *gates.tests_before) + " new"; }
    print_field(program, "tests", text);
}

void print_cost(Program& program, Project& project, const PipelineResult& result, const std::optional<TaskState>& state) {
    const std::uint64_t calls = result.spend.calls + result.spend.lost;
    if (calls == 0) { return; }
    // The time of all processes that worked on the task, to match its calls and tokens.
    const std::chrono::milliseconds worked = state ? std::chrono::milliseconds(state->wall_ms()) : result.duration;
    print_field(program, "cost",
                printable(cost_of_task(project.tasks().paths(result.task_id), result.spend, result.unpriced_models), 500) +
                    "  (" + counted(calls, "call") + ", " + std::to_string(result.spend.tokens()) + " tokens, " +
                    human_duration(worked) + ")");
}

/// Prints the commit or the patch, the hooks, the pull request, and a base that has moved.
void print_delivery(Program& program, const std::string& task_id, const json::object& deliverable) {
    const std::string commit = field(deliverable, "commit_sha");
    const std::string patch = field(deliverable, "patch_file");
    if (!commit.empty()) {
        const json::value* is_signed = deliverable.if_contains("signed");
        const bool shown_signed = is_signed != nullptr && *is_signed == json::value(true);
        print_field(program, "commit",
                    commit.substr(0, 12) + " on branch " + field(deliverable, "branch") + (shown_signed ? ", signed" : ""));
    } else {
        print_field(program, "patch", ".agentforge/tasks/" + task_id + "/" + patch);
    }
    const auto type = parse_delivery_type(field(deliverable, "deliverable_type"));
    const std::string hooks = field(deliverable, "commit_hooks");
    if (!hooks.empty() && hooks != "none" && type != DeliveryType::files) {
        print_field(program, "hooks", printable(hooks, 300));
    }
    if (type == DeliveryType::pr) {
        const std::string url = field(deliverable, "pr_url");
        print_field(program, "request", url.empty() ? "pushed; open the pull request on your git server" : printable(url, 500));
    }
    const json::value* drift = deliverable.if_contains("drift");
    if (drift == nullptr || !drift->is_object()) { return; }
    print_field(program, "base", printable(describe(drift_from_json(drift->get_object())), 400));
    if (type != DeliveryType::files) {
        program.out << "           " << program.with_place("agentforge rebase " + short_id(task_id)) << "\n";
    }
}

void print_success(Program& program, Project& project, const PipelineResult& result, const std::optional<TaskState>& state,
                   const Closing& closing) {
    print_head(program, "Done", state, result);
    const std::string id = short_id(result.task_id);
    const bool delivered = result.deliverable && (!field(*result.deliverable, "commit_sha").empty() ||
                                                  !field(*result.deliverable, "patch_file").empty());
    if (delivered) {
        if (state) {
            print_files(program, project, *state);
            print_tests(program, state->gate_figures);
        }
        print_cost(program, project, result, state);
        print_delivery(program, result.task_id, *result.deliverable);
    } else {
        print_cost(program, project, result, state);
        if (result.deliverable) {
            print_field(program, "ended",
                        "after stage " + result.current_stage + "; its artifact is in .agentforge/tasks/" + result.task_id +
                            "/artifacts");
        }
    }
    std::vector<NextCommand> next = commands_for(project, state);
    next.push_back({"agentforge inspect " + id, "shows every step, verified"});
    print_closing(program, closing);
    print_next(program, next);
    if (project.settings().text("llm.backend") == "replay") {
        print_line(program, "  The answers came from a recorded transcript; everything else was real. `" +
                                program.with_place("agentforge doctor") + "` shows your models.");
    }
}

/// Shows the action in full, so that the person approves exactly what they saw.
void print_action(Program& program, Project& project, const PipelineResult& result, const std::optional<TaskState>& state) {
    const auto asked = project.escalations().approval(result.waiting_id);
    if (!asked.ok()) {
        program.err << "agentforge: " << asked.error().to_string() << "\n";
        return;
    }
    print_head(program, "An action waits for you at stage " + result.current_stage, state, result);
    print_quoted(program.out, action_text(asked->artifact));
    print_cost(program, project, result, state);
    print_next(program,
               {{"agentforge approve " + result.waiting_id, ""},
                {"agentforge approve " + result.waiting_id + " --edit", "change it first, in your editor; or --edited FILE"},
                {"agentforge reject " + result.waiting_id + " --feedback \"what to do instead\"", ""}});
}

void print_waiting(Program& program, Project& project, const PipelineResult& result, const std::optional<TaskState>& state) {
    if (result.waiting_for == "action") { return print_action(program, project, result, state); }
    const std::string id = short_id(result.task_id);
    const bool approval = result.waiting_for == "approval" && state;
    print_head(program,
               std::string("Waiting for your ") + (approval ? "approval" : "answer") + " at stage " + result.current_stage, state,
               result);
    std::vector<NextCommand> next;
    if (approval) {
        print_field(program, "artifact", ".agentforge/tasks/" + result.task_id + "/" + printable(state->stage().artifact, 300));
        for (const std::string& line : iterates(*state) ? words_before_decision(*state) : std::vector<std::string>()) {
            program.out << "  " << printable(line, 1000) << "\n";
        }
        next = commands_for(project, state);
    } else {
        if (state && state->escalation) {
            print_field(program, "question", printable(state->escalation->question, 1000));
            for (const std::string& option : state->escalation->options) {
                program.out << "           - " << printable(option, 400) << "\n";
            }
        }
        next.push_back({"agentforge resolve " + id + " \"your answer\"", "or --abort, which ends the task"});
    }
    print_cost(program, project, result, state);
    print_next(program, next);
}

void print_not_done(Program& program, Project& project, const PipelineResult& result, const std::optional<TaskState>& state) {
    const bool paused = result.status == TaskStatus::paused;
    std::string outcome = paused && !result.error ? "Paused" : "Not done, " + std::string(to_string(result.status));
    print_head(program, outcome + " at stage " + result.current_stage, state, result);
    if (result.error) {
        program.err << "agentforge: " << printable_lines(program.with_place(result.error->to_string())) << "\n";
    } else if (paused && state && !state->pause_reason.empty()) {
        print_field(program, "why", printable(state->pause_reason, 300));
    }
    print_cost(program, project, result, state);
    const std::string id = short_id(result.task_id);
    const bool names_resume = result.error && result.error->remedy.find("agentforge resume") != std::string::npos &&
                              result.error->remedy.find("agentforge resume TASK") == std::string::npos;
    std::vector<NextCommand> next;
    if (!names_resume) { next = commands_for(project, state); }
    if (!result.error || result.error->remedy.find("agentforge inspect") == std::string::npos) {
        next.push_back({"agentforge inspect " + id, "shows every step"});
    }
    print_next(program, next);
}

}  // namespace

void print_card(Program& program, Project& project, const PipelineResult& result, const Closing& closing) {
    std::optional<TaskState> state;
    if (auto read = read_task_state(project.tasks(), result.task_id); read.ok()) { state = std::move(*read); }
    if (result.success) {
        print_success(program, project, result, state, closing);
    } else if (!result.waiting_for.empty()) {
        print_waiting(program, project, result, state);
    } else {
        print_not_done(program, project, result, state);
    }
}

}  // namespace agentforge::kernel
