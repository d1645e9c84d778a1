// SPDX-License-Identifier: Apache-2.0
#include "program/sets/set_specification.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/yaml.hpp"
#include "contracts/contract.hpp"
#include "pipeline/entry/imports.hpp"
#include "program/project/project.hpp"
#include "program/sets/part_program.hpp"
#include "program/sets/part_tasks.hpp"
#include "program/sets/set_report.hpp"
#include "program/start/task_start.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

/// Starts or continues the task that writes the specification.
Result<void> run_specification(OpenSet& open, Program& program, const SetPart& first) {
    AF_TRY(const auto state, state_if_created(tasks_of(first), open.set.specification_task));
    if (state) {
        if (state->status != TaskStatus::completed) { resume_and_report(program, open.set.specification_task); }
        return {};
    }
    std::string names;
    for (const SetPart& part : open.set.parts) { names += (names.empty() ? "" : ", ") + part.repo; }
    StartArguments arguments;
    arguments.goal = "design";
    arguments.set_file = open.file().string();
    arguments.no_iterate = true;
    arguments.named = [&open](const std::string& task) {
        open.set.specification_task = task;
        return open.save();
    };
    open.report("the specification");
    start_task(
        program, arguments,
        open.set.request + "\n\nThis request is for several repositories: " + names +
            ". You see only the first one. Write one specification with `parts`: for each repository its requirements, components, interfaces and files.");
    return {};
}

}  // namespace

Result<EarlyExit> specify(OpenSet& open) {
    SetPart& first = open.set.parts.front();
    const fs::path given = open.folder / "specification.yaml";
    std::error_code error;
    PartProgram in_part(open, first);
    if (!fs::exists(given, error)) {
        AF_CHECK(run_specification(open, in_part.program(), first));
        AF_TRY(const auto state, state_if_created(tasks_of(first), open.set.specification_task));
        if (!state) { return EarlyExit(1); }  // The command has already printed the reason.
        if (state->status != TaskStatus::completed) {
            const int code = state->waiting_for().empty() ? 1 : static_cast<int>(ExitCode::person_needed);
            return print_waiting_parts(open, {"the specification " + waiting_reason(first, *state)}, code);
        }
    }
    AF_TRY(const std::vector<PartSpecification> divided,
           divide_specification(open, fs::exists(given, error) ? given : fs::path()));
    std::vector<SetPart> ordered;
    for (const PartSpecification& each : divided) {
        SetPart part = *std::ranges::find(open.set.parts, each.repo, &SetPart::repo);
        part.depends_on = each.depends_on;
        AF_CHECK(write_file_atomic(open.specification_of(part), to_yaml(each.specification), Durability::synced, 0600));
        ordered.push_back(std::move(part));
    }
    open.set.parts = std::move(ordered);
    open.set.phase = SetPhase::specified;
    AF_CHECK(open.save());
    return EarlyExit();
}

Result<std::vector<PartSpecification>> divide_specification(const OpenSet& open, const std::filesystem::path& given) {
    PartProgram in_part(open, open.set.parts.front());
    const auto progress = make_progress(in_part.program());
    AF_TRY(const auto project, Project::open(in_part.program(), *progress));
    AF_TRY(const ContractSet contracts,
           ContractSet::load({project->product().config + "/contracts", (project->place().agentforge / "contracts").string()}));
    AF_TRY(const Import whole,
           given.empty()
               ? import_from_task(contracts, "specification", "specification", project->tasks(), open.set.specification_task)
               : import_file(contracts, "specification", "specification", given.string(), given.string()));
    std::vector<std::string> names;
    for (const SetPart& part : open.set.parts) { names.push_back(part.repo); }
    return parts_of(whole.artifact, names);
}

}  // namespace agentforge::kernel
