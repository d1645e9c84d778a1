// SPDX-License-Identifier: Apache-2.0
#include "program/start/entry.hpp"

#include <algorithm>
#include <set>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/skip_condition.hpp"
#include "contracts/names.hpp"
#include "git/repository.hpp"
#include "pipeline/entry/continuation.hpp"
#include "pipeline/staleness.hpp"
#include "program/project/chosen_task.hpp"
#include "program/project/project.hpp"
#include "program/start/start_arguments.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

const ExternalArtifact& external_of(const PipelineTemplate& pipeline, const std::string& name) {
    const auto found = pipeline.accepts_external.find(name);
    return found != pipeline.accepts_external.end() ? found->second : pipeline.requires_external.find(name)->second;
}

/// Returns the contracts of the artifacts to import from an earlier task: those that its template provides and this pipeline
/// accepts, and those that they require. Adds its specification if there are no others, or if this pipeline requires one. Leaves
/// out its tests if the user gives tests.
std::set<std::string> contracts_to_import(const PipelineTemplate& pipeline, const TaskState& state, const EntryArguments& given) {
    std::set<std::string> taken;
    for (const std::string& contract : state.pipeline.continuation.provides) {
        const auto name = external_name(pipeline, contract);
        if (!name.ok() || (contract == contract_name::test_suite && !given.tests.empty())) { continue; }
        taken.insert(contract);
        for (const std::string& other : external_of(pipeline, *name).required) {
            taken.insert(external_of(pipeline, other).contract);
        }
    }
    const auto is_specification = [](const auto& each) { return each.second.contract == contract_name::specification; };
    if (taken.empty() || std::ranges::any_of(pipeline.requires_external, is_specification)) {
        taken.insert(std::string(contract_name::specification));
    }
    return taken;
}

/// Returns the artifacts of an earlier task.
Result<std::vector<Import>> imports_from_task(Project& project, const PipelineTemplate& pipeline,
                                              const StartArguments& arguments) {
    const EntryArguments& given = arguments.entry;
    AF_TRY(const std::string id, resolve_task(project.tasks(), given.task));
    AF_TRY(const TaskState state, read_task_state(project.tasks(), id));
    AF_TRY(const Repository repository, Repository::open(project.place().root.string()));
    std::vector<Import> imports;
    std::map<std::string, json::object, std::less<>> artifacts;
    for (const std::string& contract : contracts_to_import(pipeline, state, given)) {
        AF_TRY(const std::string name, external_name(pipeline, contract));
        AF_TRY(Import import, contract == contract_name::test_suite
                                  ? import_tests_from_task(name, contract, project.tasks(), id, repository)
                                  : import_from_task(project.services().contracts, name, contract, project.tasks(), id));
        artifacts.emplace(contract, import.artifact);
        imports.push_back(std::move(import));
    }
    // The new task starts from the current commit or the checkout, whatever branch the other task was on.
    AF_TRY(const std::string head, repository.head_commit());
    AF_TRY(const Staleness staleness,
           measure_staleness(repository, artifacts, state.base_commit, head, arguments.include_uncommitted));
    AF_TRY(const records::Freshness freshness,
           check_freshness(staleness, id, project.services().redactor.redact(given.accept_stale)));
    for (Import& import : imports) { import.freshness = freshness; }
    return imports;
}

/// Refuses a specification for several repositories: this task has one.
Result<void> check_is_for_one_repository(const TaskStore& tasks, const Import& import) {
    const json::value* parts = import.artifact.if_contains("parts");
    if (parts == nullptr || !parts->is_array() || parts->get_array().empty()) { return {}; }
    std::string names;
    for (const json::value& each : parts->get_array()) {
        if (each.is_object()) { names += (names.empty() ? "" : ",") + text_of(each.get_object(), "repo"); }
    }
    const std::string file = import.task.empty() ? import.path : (tasks.paths(import.task).root / import.path).string();
    return Error{"AF-EXT-013", "the specification is for several repositories: it has `parts` of " + printable(names, 200), file,
                 "Start it in all of them (agentforge start --repos " + printable(names, 200) + " --from-spec " +
                     printable(file, 200) + " REQUEST), or give one without `parts`",
                 ErrorKind::invalid};
}

Result<Import> import_named(const Program& program, Project& project, const PipelineTemplate& pipeline, const std::string& wanted,
                            const std::string& file) {
    AF_TRY(const std::string name, external_name(pipeline, wanted));
    return import_file(project.services().contracts, name, external_of(pipeline, name).contract,
                       (program.directory / file).lexically_normal().string(), file);
}

}  // namespace

void add_entry_options(const Command& command, EntryArguments& arguments) {
    const Option from_spec =
        *add_option(*command, "--from-spec", arguments.spec, "Begin with this specification, and skip the stages that write it")
             ->type_name("FILE");
    const Option spec =
        *add_option(*command, "--spec", arguments.spec, "The same as --from-spec")->type_name("FILE")->excludes(from_spec);
    add_option(*command, "--from-tests", arguments.tests,
               "Begin with the tests in this file or folder; they must fail, and are locked; needs a specification")
        ->type_name("PATH");
    add_option(*command, "--from-task", arguments.task,
               "Begin with the artifacts that this task hands over (default: its accepted specification)")
        ->type_name("TASK")
        ->excludes(from_spec)
        ->excludes(spec);
    add_option(*command, "--accept-stale", arguments.accept_stale,
               "Allow --from-task even if files that its artifacts name have changed; the journal keeps the reason")
        ->type_name("REASON")
        ->needs("--from-task");
    add_option(*command, "--external", arguments.others, "Begin with another artifact that the pipeline accepts; may be repeated")
        ->type_name("NAME=FILE")
        ->repeatable();
    add_option(*command, "--skip-to", arguments.skip_to,
               "Begin at this stage: the first one, an entry point of the pipeline, or one whose inputs you provide")
        ->type_name("STAGE");
    add_option(*command, "--without", arguments.without, "Leave out a stage that the pipeline does not require; may be repeated")
        ->type_name("STAGE")
        ->repeatable();
}

Result<Entry> entry_of_arguments(const Program& program, Project& project, const PipelineTemplate& pipeline,
                                 const StartArguments& arguments) {
    const EntryArguments& given = arguments.entry;
    std::vector<Import> imports;
    if (!given.spec.empty()) {
        AF_TRY(Import import, import_named(program, project, pipeline, std::string(contract_name::specification), given.spec));
        imports.push_back(std::move(import));
    }
    if (!given.task.empty()) { AF_TRY(imports, imports_from_task(project, pipeline, arguments)); }
    if (!given.tests.empty()) {
        AF_TRY(const std::string name, external_name(pipeline, contract_name::test_suite));
        AF_TRY(Import import, import_tests(name, external_of(pipeline, name).contract, program.directory / given.tests,
                                           project.place().root, given.tests));
        imports.push_back(std::move(import));
    }
    for (const std::string& other : given.others) {
        const auto equals = other.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == other.size()) {
            return Error{"AF-EXT-011", "`" + printable(other, 120) + "` does not name an artifact and its file", "--external",
                         "Write NAME=FILE; `agentforge pipelines show " + pipeline.name + "` lists the names",
                         ErrorKind::invalid};
        }
        AF_TRY(Import import, import_named(program, project, pipeline, other.substr(0, equals), other.substr(equals + 1)));
        imports.push_back(std::move(import));
    }
    for (const Import& import : imports) {
        if (arguments.set_file.empty()) { AF_CHECK(check_is_for_one_repository(project.tasks(), import)); }
    }
    return resolve_entry(pipeline, std::move(imports), {given.skip_to, given.without, arguments.exit_after});
}

std::string title_of(const Entry& entry) {
    const auto found = std::ranges::find(entry.imports, contract_name::specification, &Import::contract);
    return found == entry.imports.end() ? std::string() : text_of(found->artifact, "title");
}

std::string why_skipped(const PipelineTemplate& pipeline, const Entry& entry, std::size_t stage) {
    TaskState state;
    state.pipeline = pipeline;
    for (const StageTemplate& each : pipeline.stages) {
        StageState one;
        one.name = each.name;
        state.stages.push_back(std::move(one));
    }
    state.entry_stage = entry.stage;
    state.left_out = {entry.left_out.begin(), entry.left_out.end()};
    for (const Import& each : entry.imports) { state.external_inputs[each.contract].name = each.name; }
    state.stage_index = stage;
    return skip_reason(state);
}

Result<void> check_some_stage_runs(const PipelineTemplate& pipeline, const Entry& entry, const std::string& exit) {
    const std::size_t first = entry.stage.empty() ? 0 : pipeline.index_of(entry.stage).value_or(0);
    const std::size_t last = pipeline.index_of(exit).value_or(pipeline.stages.size() - 1);
    std::string reason;
    for (std::size_t stage = first; stage <= last; ++stage) {
        reason = why_skipped(pipeline, entry, stage);
        if (reason.empty()) { return {}; }
    }
    return Error{"AF-CLI-204",
                 "no stage would run: the task would end with stage `" + pipeline.stages[last].name + "`, which is skipped (" +
                     reason + ")",
                 pipeline.source,
                 last + 1 < pipeline.stages.size() ? "End with a later stage"
                                                   : "Start without that artifact, or with a pipeline that has a later stage",
                 ErrorKind::invalid};
}

std::string why_not_run(const PipelineTemplate& pipeline, const Entry& entry, const std::string& exit, std::size_t stage) {
    if (stage > pipeline.index_of(exit).value_or(pipeline.stages.size() - 1)) {
        return "the task ends at stage `" + exit + "`, before it";
    }
    const auto given = std::ranges::find(entry.imports, pipeline.stages[stage].contract, &Import::contract);
    if (given != entry.imports.end() && !given->files.empty()) { return {}; }
    const std::string skipped = why_skipped(pipeline, entry, stage);
    return skipped.empty() ? skipped : "the stage is skipped (" + skipped + ")";
}

}  // namespace agentforge::kernel
