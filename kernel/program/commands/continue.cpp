// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/ids.hpp"
#include "base/text.hpp"
#include "program/command_line.hpp"
#include "program/commands/detach.hpp"
#include "program/project/chosen_task.hpp"
#include "program/start/start_checks.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

struct ContinueArguments {
    std::string task;
    ContinueOptions options;
    std::optional<std::string> hash;
    bool no_resume = false;
    bool detach = false;
};

/// Returns how to continue a task that has not completed.
std::string how_to_continue(const TaskState& state) {
    const std::string& id = state.task_id;
    if (state.waiting_for() == "approval") { return "say what to change: agentforge feedback " + short_id(id) + " \"…\""; }
    if (!state.waiting_for().empty()) { return "answer its question: `agentforge status " + short_id(id) + "` shows it"; }
    return "`agentforge resume " + short_id(id) + "` continues it";
}

Error not_ended_yet(const TaskState& state, const std::string& flag) {
    const std::string id = state.task_id;
    const bool shown = state.waiting_for() == "approval";
    return Error{"AF-CLI-163",
                 flag + " needs a task that has ended, but " + short_id(id) + " is " +
                     (shown ? "waiting for your decision" : std::string(to_string(state.status))),
                 "task " + id, how_to_continue(state), ErrorKind::conflict};
}

/// Checks that the next stages can run, before anything is recorded.
Result<void> check_can_continue(Program& program, Project& project, const TaskState& state, const ContinueOptions& options) {
    const auto check = [&](const PipelineTemplate& pipeline, std::size_t first, const std::string& exit) -> Result<void> {
        const Beginning rest = rest_of(state, pipeline, first, exit);
        AF_CHECK(check_stages_ready(program, project, pipeline, exit, state.request, &rest));
        return {};
    };
    if (options.revise) { return check(state.pipeline, state.stage_index, state.stage().name); }
    AF_TRY(const records::Extension extension,
           extension_of(
               state, [&project](std::string_view name) { return project.pipelines().get(name); }, options.extend_to));
    AF_TRY(const PipelineTemplate longer, PipelineTemplate::from_json(extension.pipeline));
    return check(longer, state.stage_index + 1, extension.exit_stage);
}

int extend_shown(Program& program, Project& project, const TaskState& state, const ContinueArguments& arguments) {
    if (const auto ready = check_can_continue(program, project, state, arguments.options); !ready.ok()) {
        return program.fail(ready.error());
    }
    const auto decided = project.controller().decide(
        state.task_id,
        PersonDecision{.approved = true, .hash = arguments.hash, .decision = "extend", .extension = arguments.options});
    if (!decided.ok()) { return program.fail(decided.error()); }
    return resume_with_answer(program, project, state.task_id, *decided, arguments.no_resume);
}

/// Returns the task to continue: if none is named, the newest one that ended and has delivered nothing, or that shows an artifact
/// while stages are left for --extend-to.
Result<std::string> task_to_continue(Program& program, const ContinueArguments& arguments) {
    AF_TRY(const ProjectPlace place, ProjectPlace::find(program));
    const TaskStore tasks(place.agentforge);
    return task_or_newest_that(program, tasks, arguments.task, "can be continued", [&](const TaskOverview& task) {
        const bool shows = task.summary.status == "awaiting_approval" && !arguments.options.extend_to.empty();
        if (!shows && task.summary.status != "completed") { return false; }
        const auto state = read_task_state(tasks, task.summary.task_id);
        return state.ok() && (shows ? can_be_extended(*state) : !has_delivered(*state));
    });
}

int continue_with(Program& program, const ContinueArguments& arguments) {
    const auto named = task_to_continue(program, arguments);
    if (!named.ok()) { return program.fail(named.error()); }
    bool resumes = false;
    const int code = with_task(program, *named, [&](Project& project, const std::string& id) {
        const auto state = read_task_state(project.tasks(), id);
        if (!state.ok()) { return program.fail(state.error()); }
        const ContinueOptions& options = arguments.options;
        if ((arguments.hash || arguments.no_resume) && state->waiting_for() != "approval") {
            return program.fail(Error{
                "AF-CLI-202", "task " + short_id(id) + " has nothing to approve: it is " + std::string(to_string(state->status)),
                "task " + id, "leave out --hash and --no-resume", ErrorKind::conflict});
        }
        if (state->status != TaskStatus::completed && state->status != TaskStatus::aborted) {
            if (options.revise) { return program.fail(not_ended_yet(*state, "--revise")); }
            if (state->waiting_for() == "approval" && !options.extend_to.empty()) {
                return extend_shown(program, project, *state, arguments);
            }
            if (!options.extend_to.empty()) { return program.fail(not_ended_yet(*state, "--extend-to")); }
            resumes = true;
            return 0;
        }
        if (state->status == TaskStatus::completed && !has_delivered(*state)) {
            if (const auto ready = check_can_continue(program, project, *state, options); !ready.ok()) {
                return program.fail(ready.error());
            }
        }
        const auto result = project.controller().continue_ended(id, options);
        if (!result.ok()) { return program.fail(result.error()); }
        return print_outcome(program, project, *result);
    });
    return resumes ? resume_and_report(program, *named) : code;
}

int run_continue(Program& program, const ContinueArguments& arguments) {
    const auto work = [&] { return continue_with(program, arguments); };
    return arguments.detach ? detach(program, work) : work();
}

}  // namespace

void add_continue(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<ContinueArguments>();
    const Command command =
        add_subcommand(app, "continue", "Continue a task that has ended: with more stages, or by revising its last artifact");
    add_option(*command, "task", arguments->task,
               "The task's id, or a unique part (default: the newest task that has ended before its last stage)")
        ->type_name("TASK");
    const Option extend_to = *add_option(*command, "--extend-to", arguments->options.extend_to,
                                         "Continue up to this stage (default: to the end); also approves a pending artifact")
                                  ->type_name("STAGE");
    add_flag(*command, "--revise", arguments->options.revise, "Reopen the last artifact for revision")->excludes(extend_to);
    add_option(*command, "--accept-stale", arguments->options.accept_stale,
               "Continue even if files that the artifacts name have changed; the journal keeps the reason")
        ->type_name("REASON");
    add_option_function(
        *command, "--hash", [arguments](const std::string& hash) { arguments->hash = hash; },
        "Act only if the hash of the pending item begins with this (at least 6 characters)")
        ->type_name("HASH")
        ->needs("--extend-to");
    const Option no_resume = add_flag(*command, "--no-resume", arguments->no_resume,
                                      "Only approve and add the stages; continue later with `agentforge resume`");
    no_resume->needs("--extend-to");
    add_flag(*command, "--detach", arguments->detach, "Continue in the background; follow it with `agentforge attach`")
        ->excludes(no_resume);
    add_flag_callback(
        *command, "--wait", [&program] { program.settings.emplace_back("escalation.wait_seconds", "604800"); },
        "If a person is needed, wait for the answer");
    add_run_output(command, program);
    command->footer(
        "Examples:\n"
        "  agentforge continue 1f2e3d4c\n"
        "  agentforge continue 1f2e3d4c --extend-to deliver\n"
        "  agentforge continue 1f2e3d4c --extend-to deliver --detach\n"
        "  agentforge continue 1f2e3d4c --revise\n"
        "  agentforge continue 1f2e3d4c --accept-stale \"Only comments were changed\"");
    command->callback(
        [&program, arguments] { program.command = [&program, arguments] { return run_continue(program, *arguments); }; });
}

}  // namespace agentforge::kernel
