// SPDX-License-Identifier: Apache-2.0
#include "program/sets/part_tasks.hpp"

#include <algorithm>

#include "pipeline/pipeline_controller.hpp"
#include "program/sets/part_program.hpp"
#include "program/sets/set_report.hpp"
#include "program/start/task_start.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

void start_part(OpenSet& open, Program& program, SetPart& part) {
    StartArguments arguments = arguments_of_parts(open.set);
    arguments.entry.spec = open.specification_of(part).string();
    arguments.set_file = open.file().string();
    arguments.named = [&open, &part](const std::string& task) {
        part.task = task;
        return open.save();
    };
    start_task(program, arguments, open.set.request);
}

}  // namespace

TaskStore tasks_of(const SetPart& part) { return TaskStore(part.path / ".agentforge"); }

Result<std::optional<TaskState>> state_if_created(const TaskStore& store, const std::string& task) {
    std::error_code error;
    if (task.empty() || !fs::exists(store.paths(task).task(), error) || store.never_began(task)) {
        return std::optional<TaskState>();
    }
    AF_TRY(TaskState state, read_task_state(store, task));
    return std::optional(std::move(state));
}

bool is_prepared(const TaskState& state) {
    return state.prepared && state.prepared->workspace_tree == state.tree && state.status == TaskStatus::paused &&
           state.waiting_for().empty();
}

std::string waiting_reason(const SetPart& part, const TaskState& state) {
    const std::string command = "agentforge --repo " + part.repo + " ";
    if (!state.waiting_for().empty()) { return "waits for a person: " + command + "status " + state.task_id; }
    if (state.status == TaskStatus::failed) { return "failed: " + state.error; }
    if (state.status == TaskStatus::paused) {
        return "paused: " + (state.pause_reason.empty() ? std::string("for an unknown reason") : state.pause_reason);
    }
    return std::string(to_string(state.status)) + " at stage " + state.stage().name;
}

Result<PreparedCommit> prepared_commit(const SetPart& part) {
    AF_TRY(const auto state, state_if_created(tasks_of(part), part.task));
    return state ? state->prepared.value_or(PreparedCommit()) : PreparedCommit();
}

StartArguments arguments_of_parts(const TaskSet& set) {
    StartArguments arguments;
    arguments.goal = set.pipeline.empty() ? "implement" : "";
    arguments.pipeline = set.pipeline;
    arguments.no_iterate = true;
    return arguments;
}

Result<EarlyExit> prepare_parts(OpenSet& open) {
    std::vector<std::string> waiting;
    int code = 0;
    for (SetPart& part : open.set.parts) {
        if (open.program.cancel->requested() || open.program.cancel->finishing()) {
            return EarlyExit(static_cast<int>(ExitCode::cancelled));
        }
        AF_TRY(auto state, state_if_created(tasks_of(part), part.task));
        if (state && (state->status == TaskStatus::aborted || state->status == TaskStatus::completed)) {
            return Error{"AF-SET-004",
                         "task " + part.task + " of repository `" + part.repo + "` is " + std::string(to_string(state->status)) +
                             ", so the set cannot be finished: no branch was created",
                         open.file().string(), "agentforge abort " + open.set.id + " ends the others", ErrorKind::conflict};
        }
        if (state && is_prepared(*state)) { continue; }
        PartProgram in_part(open, part);
        open.report(part.repo +
                    (state || part.task.empty() ? "" : ": task " + part.task + " does not exist, so a new one starts"));
        if (state) {
            resume_and_report(in_part.program(), part.task);
        } else {
            AF_CHECK(tasks_of(part).remove_if_never_began(part.task));  // It starts again as another task.
            start_part(open, in_part.program(), part);
        }
        AF_TRY(state, state_if_created(tasks_of(part), part.task));
        if (state && is_prepared(*state)) { continue; }
        waiting.push_back(part.repo + ": " + (state ? waiting_reason(part, *state) : "not started"));
        code = std::max(code, state && !state->waiting_for().empty() ? static_cast<int>(ExitCode::person_needed) : 1);
    }
    if (waiting.empty()) { return EarlyExit(); }
    return print_waiting_parts(open, waiting, code);
}

Result<EarlyExit> deliver_parts(OpenSet& open) {
    std::vector<std::string> waiting;
    int code = 0;
    for (const SetPart& part : open.set.parts) {
        AF_TRY(auto state, state_if_created(tasks_of(part), part.task));
        // The branch exists, and the task has nothing left to do.
        if (!state || state->status == TaskStatus::aborted) {
            open.kept.push_back(part.repo + ": its task " + (state ? "was aborted" : "is gone") + "; its branch remains");
            continue;
        }
        PartProgram in_part(open, part);
        // Also runs for a completed task: a killed process may not have written its last files or archive, or removed its
        // worktrees.
        const bool had_ended = state->status == TaskStatus::completed;
        const int ended = resume_and_report(in_part.program(), part.task);
        code = std::max(code, had_ended ? 0 : ended);
        AF_TRY(state, state_if_created(tasks_of(part), part.task));
        if (state && state->status == TaskStatus::completed) { continue; }
        waiting.push_back(part.repo + ": " + (state ? waiting_reason(part, *state) : "its task is gone"));
    }
    if (waiting.empty()) {
        open.set.phase = SetPhase::done;
        AF_CHECK(open.save());
        return EarlyExit();
    }
    print_undelivered(open, waiting);
    return EarlyExit(code == 0 ? 1 : code);
}

}  // namespace agentforge::kernel
