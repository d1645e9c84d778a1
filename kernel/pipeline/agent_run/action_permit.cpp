// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/action_permit.hpp"

#include "base/hash.hpp"

namespace agentforge::kernel {

namespace {

ActionVerdict::Kind kind_of_verdict(const Resumption::Decision& decided) {
    if (decided.decision == "approved") { return ActionVerdict::Kind::approved; }
    return decided.edited ? ActionVerdict::Kind::edited : ActionVerdict::Kind::rejected;
}

Result<ActionVerdict> verdict_of(const TaskSession& session, const Resumption::Decision& decided) {
    ActionVerdict verdict;
    verdict.kind = kind_of_verdict(decided);
    verdict.feedback = decided.feedback;
    if (verdict.kind == ActionVerdict::Kind::edited) {
        AF_TRY(const json::value edited, session.kept(*decided.edited));
        verdict.edited = ToolCall{std::string(edited.at("tool").as_string()), edited.at("arguments").as_object()};
    }
    return verdict;
}

}  // namespace

Result<ActionVerdict> permit_action(OpenRun& run, unsigned step, const ToolCall& action) {
    if (!run.state().interactive) { return ActionVerdict(); }
    json::object shown{{"task_id", run.state().task_id},
                       {"stage", run.stage_name()},
                       {"role", run.who.role},
                       {"mode", run.who.mode},
                       {"visit", run.visit},
                       {"run", run.number},
                       {"step", step},
                       {"tool", action.name},
                       {"arguments", action.arguments}};
    run.services.redactor.redact(shown);  // As in the journal, so the text is the same before and after a crash.
    const std::string hash = hash_of(shown);
    const auto& decisions = run.state().resumption.decisions;
    if (const auto decided = decisions.find(hash); decided != decisions.end()) {
        return verdict_of(run.session, decided->second);
    }
    AF_TRY(const std::string blob, run.session.put(shown));
    AF_CHECK(run.session.record(records::ActionProposed{.phase = run.stage_name(),
                                                        .visit = run.visit,
                                                        .run = run.number,
                                                        .run_step = step,
                                                        .tool = action.name,
                                                        .action_hash = hash,
                                                        .action_blob = blob,
                                                        .duration_ms = static_cast<std::uint64_t>(run.clock.elapsed().count())},
                                &run.who));
    return Error{"AF-ESC-031", "the action `" + action.name + "` waits for a person",
                 "stage " + run.stage_name() + ", step " + std::to_string(step),
                 "decide on it with `agentforge approve` or `agentforge reject`", ErrorKind::unavailable};
}

}  // namespace agentforge::kernel
