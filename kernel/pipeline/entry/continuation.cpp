// SPDX-License-Identifier: Apache-2.0
#include "pipeline/entry/continuation.hpp"

#include <algorithm>

#include "base/ids.hpp"
#include "base/text.hpp"
#include "config/template_checks.hpp"
#include "pipeline/pipeline_controller.hpp"
#include "pipeline/task_run.hpp"
#include "task/artifact_files.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_reason_bytes = 2000;

std::string named_stages(const PipelineTemplate& pipeline, std::size_t from) {
    std::string names;
    for (std::size_t index = from; index < pipeline.stages.size(); ++index) {
        names += (names.empty() ? "" : ", ") + pipeline.stages[index].name;
    }
    return names;
}

/// Appends the stages of `next` from `first` on to the task's template, after its current stage.
PipelineTemplate joined_templates(const TaskState& state, const PipelineTemplate& next, std::size_t first) {
    PipelineTemplate longer = next;
    longer.stages.assign(state.pipeline.stages.begin(),
                         state.pipeline.stages.begin() + static_cast<std::ptrdiff_t>(state.stage_index) + 1);
    for (std::size_t index = first; index < next.stages.size(); ++index) {
        if (!longer.index_of(next.stages[index].name)) { longer.stages.push_back(next.stages[index]); }
    }
    longer.provided_as.insert(state.pipeline.provided_as.begin(), state.pipeline.provided_as.end());
    longer.accepts_external = state.pipeline.accepts_external;
    longer.requires_external = state.pipeline.requires_external;
    longer.supervised = state.pipeline.supervised;
    longer.timeout = state.pipeline.timeout + next.timeout;  // Each counts what the whole task has used.
    return longer;
}

}  // namespace

Result<records::Extension> extension_of(const TaskState& state,
                                        const std::function<Result<PipelineTemplate>(std::string_view name)>& pipelines,
                                        const std::string& extend_to) {
    PipelineTemplate longer = state.pipeline;
    std::string next_pipeline = state.pipeline.name;
    const std::size_t behind = state.stage_index + 1;
    const bool ended_early = behind < state.pipeline.stages.size();
    if (!ended_early) {
        next_pipeline = state.pipeline.continuation.next_pipeline;
        if (next_pipeline.empty()) {
            return Error{
                "AF-ORCH-052",
                "nothing follows stage `" + state.stage().name + "` of pipeline " + state.pipeline.name +
                    ", and its template names no pipeline that continues it",
                "task " + state.task_id,
                "start a new task; to continue tasks like it, name a pipeline in the template (continuation: {next_pipeline: …})",
                ErrorKind::invalid};
        }
        AF_TRY(const PipelineTemplate next, pipelines(next_pipeline));
        const auto joint = joint_of(state.pipeline, state.stage_index, next,
                                    [&state](std::size_t stage) { return state.stages[stage].status == StageStatus::completed; });
        if (!joint || *joint + 1 == next.stages.size()) {
            return Error{"AF-ORCH-052", "pipeline " + next_pipeline + " has no stage that can use the task's artifacts",
                         next.source, "start a new task with that pipeline", ErrorKind::invalid};
        }
        longer = joined_templates(state, next, *joint + 1);
    }
    std::string exit = extend_to.empty() ? longer.exit_stage : extend_to;
    const auto index = longer.index_of(exit);
    // The template's own end lies before the new stages, so the new end is the last stage.
    if (extend_to.empty() && (!index || *index < behind)) { exit = longer.stages.back().name; }
    if (!extend_to.empty() && (!index || *index < behind)) {
        std::vector<std::string> names;
        for (std::size_t at = behind; at < longer.stages.size(); ++at) { names.push_back(longer.stages[at].name); }
        const std::string near = nearest(extend_to, names);
        return Error{"AF-ORCH-053",
                     "`" + ellipsis(sanitize_utf8(extend_to), 80) + "` is not a stage that follows `" + state.stage().name + "`",
                     "pipeline " + next_pipeline,
                     (near.empty() ? "" : "did you mean `" + near + "`? ") + "these follow: " + named_stages(longer, behind),
                     ErrorKind::not_found};
    }
    if (!extend_to.empty()) { AF_CHECK(check_exit_point(longer, exit)); }
    return records::Extension{longer.to_json(), exit, next_pipeline};
}

Beginning rest_of(const TaskState& state, const PipelineTemplate& pipeline, std::size_t first, std::string_view exit) {
    Beginning rest;
    for (const auto& [contract, input] : state.external_inputs) {
        rest.names.insert(input.name);
        rest.contracts.insert(contract);
    }
    for (std::size_t index = 0; index <= state.stage_index; ++index) {
        if (state.stages[index].artifact_hash.empty()) { continue; }
        const StageTemplate& stage = state.pipeline.stages[index];
        rest.made.insert({stage.contract, stage.also_makes});
    }
    rest.left_out = state.left_out;
    rest.first = first;
    rest.last = pipeline.index_of(exit).value_or(rest.last);
    return rest;
}

Result<void> check_artifacts_again(const TaskSession& session, const ContractSet& contracts) {
    const TaskState& state = session.state();
    AF_CHECK(check_artifact_files(session.paths(), state));
    AF_TRY(const auto artifacts, session.artifacts_by_contract());
    RuleContext rules;
    rules.artifacts = &artifacts;
    for (std::size_t index = 0; index < state.stages.size(); ++index) {
        const StageState& stage = state.stages[index];
        if (stage.status != StageStatus::completed || stage.artifact_hash.empty()) { continue; }
        AF_TRY(const Contract contract, contracts.get(state.pipeline.stages[index].contract));
        AF_TRY(const auto artifact, session.artifact(stage.name));
        if (!artifact) { continue; }
        const ContractVerdict verdict = contract.validate(*artifact, rules);
        if (verdict.valid()) { continue; }
        return Error{"AF-ORCH-054",
                     "the artifact of stage `" + stage.name + "` no longer satisfies its contract " + contract.name() + ": " +
                         verdict.messages().front(),
                     stage.artifact,
                     "the contract has changed: restore its earlier text (" + contract.source() + "), or start a new task",
                     ErrorKind::conflict};
    }
    return {};
}

Result<records::Freshness> check_freshness(const Staleness& staleness, const std::string& task_id, const std::string& accepted) {
    if (!accepted.empty() && (accepted.size() > most_reason_bytes || !is_valid_utf8(accepted) ||
                              accepted.find_first_not_of(" \t\r\n") == std::string::npos)) {
        return Error{"AF-ORCH-056",
                     "the reason for accepting stale artifacts is empty, longer than " + std::to_string(most_reason_bytes) +
                         " bytes, or not UTF-8 text",
                     "--accept-stale", "give the reason in one sentence", ErrorKind::invalid};
    }
    const std::string remedy =
        "start a new task on the current code; or, if the artifacts are still right, say why: --accept-stale \"REASON\"";
    if (staleness.base_is_gone && accepted.empty()) {
        return Error{
            "AF-ORCH-055",
            "the commit " + staleness.base.substr(0, 8) +
                " that the task's artifacts were made on is gone from the repository, so AgentForge cannot tell which of the files "
                "that they name were changed since",
            "task " + task_id, remedy, ErrorKind::conflict};
    }
    if (staleness.stale() && accepted.empty()) {
        std::string lines;
        for (const std::string& line : describe(staleness.files)) { lines += "\n  " + line; }
        return Error{"AF-ORCH-055",
                     "files that the task's artifacts name have changed (" + staleness.base.substr(0, 8) + " to " +
                         staleness.head.substr(0, 8) + "):" + lines,
                     "task " + task_id, remedy, ErrorKind::conflict};
    }
    return records::Freshness{staleness.head, recorded(staleness.files), accepted};
}

Result<PipelineResult> PipelineController::continue_ended(std::string_view task_id, const ContinueOptions& options) {
    AF_TRY(auto session,
           TaskSession::open(setup_.store, task_id, setup_.services.clock, setup_.command, setup_.services.redactor));
    const TaskState& state = session->state();
    const std::string id = state.task_id;
    if (state.status != TaskStatus::completed) {
        return Error{"AF-ORCH-050", "task " + id + " has not completed (it is " + std::string(to_string(state.status)) + ")", "",
                     state.status == TaskStatus::aborted ? "start a new task: an aborted one cannot continue"
                                                         : "`agentforge resume " + short_id(id) + "` continues it",
                     ErrorKind::conflict};
    }
    if (has_delivered(state)) {
        return Error{
            "AF-ORCH-050", "task " + id + " has delivered its change", "",
            "start a new task for further changes; `agentforge rebase " + short_id(id) + "` puts the change on a newer base",
            ErrorKind::conflict};
    }
    AF_CHECK(check_files_are_own(session->paths(), state));
    AF_CHECK(session->write_missing_artifacts());
    AF_CHECK(check_artifacts_again(*session, setup_.services.contracts));
    records::TaskContinued continued{.revise = options.revise, .freshness = {}};
    if (!options.revise) {
        AF_TRY(continued.extension, setup_.extend(state, options.extend_to));
    } else if (state.stage().status != StageStatus::completed) {
        return Error{
            "AF-ORCH-050",
            "the last stage of task " + id + ", `" + state.stage().name + "`, was left out and has no artifact to revise", "",
            "`agentforge continue " + short_id(id) + "` continues it", ErrorKind::conflict};
    }
    AF_TRY(const auto artifacts, session->artifacts());
    AF_TRY(const Staleness measured, setup_.task_workspaces.staleness(state, artifacts));
    AF_TRY(continued.freshness, check_freshness(measured, id, setup_.services.redactor.redact(options.accept_stale)));
    // Nothing has changed yet, so the next stages start from the current code.
    if (state.tree == state.base_tree && state.red_tree.empty() && measured.head != state.base_commit &&
        !measured.uncommitted_base) {
        continued.base_commit = measured.head;
        continued.base_tree = measured.head_tree;
    }
    if (options.revise) { remove_final_file(session->paths(), state.stage()); }
    AF_CHECK(session->record(continued));
    return TaskRun(setup_, std::move(session)).drive();
}

}  // namespace agentforge::kernel
