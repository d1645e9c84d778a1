// SPDX-License-Identifier: Apache-2.0
// Shows a task that another process runs, in the form that this process would show on its own terminal.
#include <optional>
#include <ostream>

#include "base/ids.hpp"
#include "journal/journal_tail.hpp"
#include "pipeline/task_session.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/project/journal_watch.hpp"
#include "program/terminal/next_commands.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

/// Folds the appended records, and passes them to `progress` as the writing process does.
class Follower {
public:
    Follower(const TaskPaths& paths, Progress& progress) : tail_(paths.journal()), progress_(progress) {}

    [[nodiscard]] const TaskState& state() const noexcept { return state_; }

    /// `prints`: passes the records to `progress`. False for records from before this command.
    Result<void> read(bool prints) {
        const auto read = tail_.read([&](const Record& record, JournalOffset) -> Result<void> {
            const std::optional<StageState> left = state_.stages.empty() ? std::nullopt : std::optional(state_.stage());
            AF_TRY(const records::AnyRecord typed, fold_and_read(state_, record.body));
            state_.seq = record.seq;
            state_.hash = record.hash;
            if (prints) { progress_.recorded(state_, left ? &*left : nullptr, typed); }
            return {};
        });
        return read.ok() ? Result<void>() : Result<void>(read.error());
    }

private:
    JournalTail tail_;
    Progress& progress_;
    TaskState state_;
};

void print_attached(Program& program, const TaskState& state, const LockHolder& holder) {
    if (program.json_output || program.stream_output || program.quiet) { return; }
    program.err << "Attached to " << short_id(state.task_id) << ", which process " << holder.pid << " runs: stage "
                << state.stage().name << ", " << state.steps << (state.steps == 1 ? " step" : " steps")
                << " so far. Ctrl-C leaves it running." << std::endl;
}

int leave(Program& program, const std::string& task) {
    if (program.json_output) {
        program.print_json({{"task_id", task}, {"attached", false}, {"running", true}});
    } else if (!program.stream_output) {
        program.out << "Left: " << short_id(task)
                    << " continues\n  come back: " << program.with_place("agentforge attach " + short_id(task)) << "\n";
    }
    return static_cast<int>(ExitCode::cancelled);
}

int attach(Program& program, const std::string& name) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const auto id = task_or_newest_that(program, TaskStore(place->agentforge), name, "is running",
                                        [](const TaskOverview& each) { return each.running; });
    if (!id.ok()) { return program.fail(id.error()); }
    const auto progress = make_progress(program);
    auto project = Project::open(program, *progress, *id);
    if (!project.ok()) { return program.fail(project.error()); }
    const TaskPaths paths = (*project)->tasks().paths(*id);
    Follower follower(paths, *progress);
    const JournalWatch change(paths.journal());
    auto holder = TaskLock::holder(paths);  // Read before the journal, so that no record of the process is missed.
    if (const auto read = follower.read(false); !read.ok()) { return program.fail(read.error()); }
    bool announced = false;
    while (holder) {
        // A task that is being created has no record yet.
        if (!announced && !follower.state().task_id.empty()) { print_attached(program, follower.state(), *holder); }
        announced = !follower.state().task_id.empty();
        if (program.cancel->requested()) { return leave(program, *id); }
        change.wait();
        holder = TaskLock::holder(paths);
        if (const auto read = follower.read(true); !read.ok()) { return program.fail(read.error()); }
    }
    const TaskState& state = follower.state();
    if (state.task_id.empty()) { return program.fail(no_records(*id, paths)); }
    const TaskOverview overview = overview_of(state, {}, paths);
    if (overview.answered || is_interrupted(overview)) {
        return program.fail(Error{"AF-CLI-146", "no process runs the task, and it has not ended", "task " + short_id(*id),
                                  status_and_command(state, overview), ErrorKind::conflict});
    }
    return print_outcome(program, **project, result_of(state));
}

}  // namespace

void add_attach(CLI::App& app, Program& program) {
    auto task = std::make_shared<std::string>();
    const Command command = add_subcommand(app, "attach", "Follow a task that another process runs, until it waits or ends");
    add_option(*command, "task", *task, newest_running_help)->type_name("TASK");
    add_run_output(command, program);
    command->footer("Examples:\n  agentforge start \"Add a cache\" --detach\n  agentforge attach 1f2e3d4c");
    command->callback([&program, task] { program.command = [&program, task] { return attach(program, *task); }; });
}

}  // namespace agentforge::kernel
