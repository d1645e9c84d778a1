// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/model_calls.hpp"

#include <algorithm>

#include "agent/memory.hpp"
#include "pipeline/budget.hpp"
#include "pipeline/codec.hpp"

namespace agentforge::kernel {

std::optional<Completion> ModelCalls::pending_answer(unsigned step) const {
    const RunState* const journaled = run_.journaled();
    if (journaled == nullptr) { return std::nullopt; }
    const auto answer = journaled->answers.find(step);
    if (answer == journaled->answers.end()) { return std::nullopt; }
    const auto body = run_.session.kept(answer->second);
    if (!body.ok() || !body->is_object()) { return std::nullopt; }
    return completion_from_json(body->get_object());
}

Result<void> ModelCalls::before_call(unsigned step, const CompletionRequest& request) {
    const NextCall call = at_most_for(request);
    // The previous process died during this call. Counts the most that the unrecorded call may have used.
    if (run_.state().ended_while_running) {
        AF_CHECK(lose(step, call, request, "the process ended while the call may have been under way"));
    }
    if (auto reached = limit_reached(limits_in_force(run_.state(), run_.services),
                                     budget_status(run_.state(), run_.services.clock.now()), &call)) {
        return std::move(*reached);
    }
    asked_ = most_of(call, request);
    attempts_recorded_ = false;
    return {};
}

Error ModelCalls::call_failed(unsigned step, const CompletionRequest& request, Error error) {
    // A failed attempt that may be retried is counted by its own record.
    if (may_have_been_charged(error) && !(attempts_recorded_ && error.kind == ErrorKind::transient)) {
        const auto lost = lose(step, at_most_for(request), request, error.code);
        if (!lost.ok()) { return lost.error(); }
    }
    // The task's time limit ended the call, not the stage's.
    if (error.kind == ErrorKind::timeout) {
        if (auto reached = wall_time_exceeded(run_.state(), run_.services)) { return std::move(*reached); }
    }
    return error;
}

std::optional<std::chrono::steady_clock::time_point> ModelCalls::call_deadline() const {
    return wall_time_deadline(run_.state(), run_.services);
}

Result<void> ModelCalls::answer_received(unsigned step, const CompletionRequest& request, const Completion& completion) {
    AF_TRY(const records::Kept answer, run_.session.keep(to_json(completion)));
    return run_.session.record(records::Answer{.phase = run_.stage_name(),
                                               .visit = run_.visit,
                                               .run = run_.number,
                                               .run_step = step,
                                               .frame_hash = request.frame_hash,
                                               .context_hash = request.context_hash,
                                               .usage = usage_of(completion, run_.model, run_.services.prices),
                                               .answer = answer},
                               &run_.who);
}

SpentAttempts ModelCalls::spent_attempts(unsigned step) const {
    SpentAttempts spent;
    spent.of_task = static_cast<unsigned>(run_.state().resumption.failed_attempts_halves / 2);
    const RunState* const journaled = run_.journaled();
    if (journaled == nullptr) { return spent; }
    const auto here = journaled->attempts.find(step);
    if (here == journaled->attempts.end()) { return spent; }
    const RunState::Attempts& failed = here->second;
    spent.here = failed.count;
    spent.last =
        Error{failed.code, failed.message, failed.where, "It was tried before the process died; resume.", ErrorKind::transient};
    return spent;
}

Result<void> ModelCalls::attempt_failed(unsigned step, unsigned attempt, const Error& error) {
    records::AttemptFailed failed{.phase = run_.stage_name(),
                                  .visit = run_.visit,
                                  .run = run_.number,
                                  .run_step = step,
                                  .attempt = attempt,
                                  .code = error.code,
                                  .message = error.message,
                                  .where = error.where};
    // If the model may have begun, the call may have cost money.
    if (may_have_been_charged(error)) { failed.usage = asked_; }
    attempts_recorded_ = true;
    return run_.session.record(failed, &run_.who);
}

unsigned ModelCalls::calibration(const ModelClient* model) const {
    const Resumption& resumption = run_.state().resumption;
    unsigned most = 1000;
    const auto consider = [&](const std::string& role, const TokenEstimate& tokens) {
        const auto other = run_.services.agents.get(role);
        const auto answers = other.ok() ? run_.services.model(*other) : Result<ModelClient*>(other.error());
        if (answers.ok() && *answers == model) { most = std::max(most, calibration_of(tokens.reported, tokens.estimated)); }
    };
    for (const auto& [role, tokens] : resumption.calibration) { consider(role, tokens); }
    for (const auto& [place, run] : resumption.runs) {
        if (&run != run_.journaled()) { consider(place.role, run.tokens); }
    }
    return most;
}

NextCall ModelCalls::at_most_for(const CompletionRequest& request) const {
    return worst_case_call(run_.state(), run_.services, run_.model, request, run_.offline);
}

records::CallUsage ModelCalls::most_of(const NextCall& call, const CompletionRequest& request) const {
    return usage_of(call, answering_model(run_.state(), run_.agent.role, run_.model), request, run_.services.prices);
}

Result<void> ModelCalls::lose(unsigned step, const NextCall& call, const CompletionRequest& request, std::string_view reason) {
    return run_.session.record(records::CallLost{.phase = run_.stage_name(),
                                                 .visit = run_.visit,
                                                 .run = run_.number,
                                                 .run_step = step,
                                                 .reason = std::string(reason),
                                                 .usage = most_of(call, request)},
                               &run_.who);
}

}  // namespace agentforge::kernel
