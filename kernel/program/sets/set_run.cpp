// SPDX-License-Identifier: Apache-2.0
#include "program/sets/set_run.hpp"

#include <utility>
#include <vector>

#include "program/project/project.hpp"
#include "program/sets/joint_test.hpp"
#include "program/sets/part_program.hpp"
#include "program/sets/part_tasks.hpp"
#include "program/sets/set_branches.hpp"
#include "program/sets/set_preflight.hpp"
#include "program/sets/set_report.hpp"
#include "program/sets/set_specification.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

Result<void> SetRun::check() const {
    AF_TRY(const auto plans, check_parts_ready(open_));
    static_cast<void>(plans);
    return {};
}

Result<int> SetRun::plan(const std::string& given) const {
    AF_TRY(const auto plans, check_parts_ready(open_));
    if (!given.empty()) { AF_CHECK(divide_specification(open_, given)); }
    print_set_plan(open_, plans, given);
    return 0;
}

Result<int> SetRun::run() {
    if (open_.set.phase == SetPhase::undoing) { return undo(); }
    if (open_.set.phase == SetPhase::undone) {
        return Error{"AF-SET-009", "set " + open_.set.id + " was undone: " + open_.set.reason, open_.file().string(),
                     "start it again", ErrorKind::conflict};
    }
    AF_CHECK(find_repositories(open_));
    if (open_.set.phase == SetPhase::specifying) {
        AF_TRY(const auto waits, specify(open_));
        if (waits) { return *waits; }
    }
    if (open_.set.phase == SetPhase::specified) {
        AF_TRY(const auto waits, prepare_parts(open_));
        if (waits) { return *waits; }
        AF_CHECK(run_joint_tests(open_));
        AF_CHECK(intend_branches(open_));
    }
    if (open_.set.phase == SetPhase::branching) { AF_CHECK(make_branches(open_)); }
    if (open_.set.phase == SetPhase::delivering) {
        AF_TRY(const auto waits, deliver_parts(open_));
        if (waits) { return *waits; }
    }
    print_set_result(open_);
    return 0;
}

Result<int> SetRun::resume() {
    if (open_.set.phase == SetPhase::specifying) {
        AF_CHECK(find_repositories(open_));
        AF_CHECK(check());
    }
    return run();
}

Result<int> SetRun::abort(const std::string& reason) {
    if (open_.set.phase == SetPhase::undone) {
        return Error{"AF-SET-009", "set " + open_.set.id + " was already undone: " + open_.set.reason, open_.file().string(),
                     "nothing to do", ErrorKind::conflict};
    }
    if (open_.set.phase == SetPhase::delivering || open_.set.phase == SetPhase::done) {
        return Error{"AF-SET-009", "all branches of set " + open_.set.id + " exist", open_.file().string(),
                     open_.set.phase == SetPhase::done ? "nothing to do" : "agentforge resume " + open_.set.id,
                     ErrorKind::conflict};
    }
    if (open_.set.phase != SetPhase::undoing) {
        AF_CHECK(find_repositories(open_));
        open_.set.phase = SetPhase::undoing;
        open_.set.reason = reason;
        AF_CHECK(open_.save());
    }
    return undo();
}

bool SetRun::has_begun() const noexcept {
    return open_.set.phase != SetPhase::specifying || !open_.set.specification_task.empty();
}

/// Undoes an aborted set, including what a killed process left.
Result<int> SetRun::undo() {
    AF_CHECK(find_repositories(open_));
    AF_TRY(open_.kept, remove_branches(open_));
    AF_CHECK(remove_checkouts(open_));
    AF_CHECK(abort_tasks());
    open_.set.phase = SetPhase::undone;
    AF_CHECK(open_.save());
    print_set_result(open_);
    return 0;
}

/// Aborts the tasks of the parts and of the specification, unless they have ended.
Result<void> SetRun::abort_tasks() {
    std::vector<std::pair<SetPart, std::string>> tasks;
    for (const SetPart& part : open_.set.parts) { tasks.emplace_back(part, part.task); }
    if (!open_.set.parts.empty()) { tasks.emplace_back(open_.set.parts.front(), open_.set.specification_task); }
    for (const auto& [part, task] : tasks) {
        AF_TRY(const auto state, state_if_created(tasks_of(part), task));
        if (!state || state->status == TaskStatus::completed || state->status == TaskStatus::aborted) { continue; }
        PartProgram in_part(open_, part);
        const auto progress = make_progress(in_part.program());
        AF_TRY(const auto project, Project::open(in_part.program(), *progress, task));
        AF_TRY(const auto done, project->controller().abort(task, "set " + open_.set.id + " was undone: " + open_.set.reason));
        static_cast<void>(done);
    }
    return {};
}

}  // namespace agentforge::kernel
