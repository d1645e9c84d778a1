// SPDX-License-Identifier: Apache-2.0
// `agentforge fix`: starts a task to fix a violation that `agentforge check` found. The task is done when the violation is gone.
#include <algorithm>
#include <ostream>

#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "pipeline/check.hpp"
#include "program/command_line.hpp"
#include "program/commands/detach.hpp"
#include "program/project/project.hpp"
#include "program/project/violations.hpp"
#include "program/start/start_options.hpp"
#include "program/start/task_start.hpp"

namespace agentforge::kernel {

namespace {

struct FixArguments {
    std::string id;
    std::shared_ptr<StartArguments> task = std::make_shared<StartArguments>();
};

std::string request_for(const NamedViolation& named) {
    const Violation& violation = named.violation;
    return "Fix violation " + named.id + ": " + violation.file + ":" + std::to_string(violation.line) + ": " + violation.message +
           " (" + violation.check_id + ", " + violation.severity + ")" +
           (violation.fix_hint.empty() ? "" : " " + violation.fix_hint) + " Do not change any other behavior.";
}

/// Finds the violation in the files that the task starts from.
Result<NamedViolation> find_current(Project& project, const Program& program, const NamedViolation& record, bool uncommitted) {
    const std::string& file = record.violation.file;
    AF_TRY(const FileCheck checked,
           check_file(project.task_workspace_options(), project.processes(), file, uncommitted,
                      read_records(records_folder(project.place())), Stop{program.cancel, std::nullopt}));
    const auto found = std::ranges::find(checked.violations, record.id, &NamedViolation::id);
    if (found == checked.violations.end()) {
        return Error{
            "AF-CLI-143",
            "the violation " + record.id + " is not in " + (uncommitted ? "your checkout" : "the last commit") + ": " + file,
            records_folder(project.place()).string(),
            uncommitted
                ? "It is gone; `agentforge check` lists the others"
                : "Commit the file, or include uncommitted changes: --include-uncommitted. `agentforge check` lists all violations",
            ErrorKind::not_found};
    }
    if (checked.in_tests) {
        return Error{"AF-CLI-144", "the violation " + record.id + " is in a test, and `fix` may not change tests: " + file, "",
                     "Change the test yourself; `agentforge check " + file + "` says whether it is gone", ErrorKind::invalid};
    }
    return *found;
}

/// Writes the violation into each stage whose gate checks it.
Result<void> put_into(PipelineTemplate& pipeline, const NamedViolation& named) {
    bool judged = false;
    for (StageTemplate& stage : pipeline.stages) {
        if (exit_gate(stage) != gate_name::fix) { continue; }
        stage.config["violation"] = to_json(named);
        judged = true;
    }
    if (judged) { return {}; }
    return Error{"AF-CLI-145",
                 "no stage of the pipeline `" + pipeline.name +
                     "` ends at the gate `fix`, so nothing would check that the violation is gone",
                 pipeline.source, "Give its last stage `exit_gate: fix`, or remove the file to use the shipped `fix`",
                 ErrorKind::invalid};
}

int run_fix(Program& program, const FixArguments& arguments) {
    StartArguments task = *arguments.task;
    task.pipeline = "fix";
    task.prepare = [&program, id = arguments.id, uncommitted = task.include_uncommitted](
                       Project& project, PipelineTemplate& pipeline) -> Result<std::string> {
        AF_TRY(const NamedViolation record, read_record(records_folder(project.place()), id));
        AF_TRY(const NamedViolation named, find_current(project, program, record, uncommitted));
        AF_CHECK(put_into(pipeline, named));
        return request_for(named);
    };
    if (task.wait) { program.settings.emplace_back("escalation.wait_seconds", "604800"); }
    const auto work = [&] { return start_task(program, task, "Fix violation " + arguments.id); };
    return task.detach ? detach(program, work) : work();
}

}  // namespace

void add_fix(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<FixArguments>();
    const Command command =
        add_subcommand(app, "fix", "Fix one violation, and verify that it is gone and nothing else got worse");
    add_option(*command, "violation", arguments->id, "Its id, as `agentforge check` shows it")
        ->type_name("VIOLATION")
        ->required();
    add_task_options(command, program, arguments->task);
    command->footer(
        "Examples:\n"
        "  agentforge check\n"
        "  agentforge fix V-04b31cde217a\n"
        "  agentforge diff TASK");
    command->callback(
        [&program, arguments] { program.command = [&program, arguments] { return run_fix(program, *arguments); }; });
}

}  // namespace agentforge::kernel
