// SPDX-License-Identifier: Apache-2.0
#include "pipeline/durable_calls.hpp"

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "pipeline/agent_run/role_rights.hpp"
#include "pipeline/codec.hpp"
#include "pipeline/stage_input.hpp"

namespace agentforge::kernel {

DurableCalls::DurableCalls(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services)
    : session_(session),
      task_workspace_(task_workspace),
      services_(services),
      stage_(session.state().stage().name),
      visit_(session.state().stage().visits),
      clock_(services.clock, session.state().stage_template().timeout) {}

Result<void> DurableCalls::open() {
    AF_TRY(const auto recorded, parse_time(session_.state().stage().started_at));
    context_ = std::make_unique<KernelCallContext>(services_, clock_, stage_, recorded);
    known_ = session_.state().resumption.calls;  // The calls before the interruption. This visit adds its own.
    AF_TRY(input_, stage_input(session_));
    if (input_.agent.empty()) { return {}; }
    AF_TRY(const AgentDefinition agent, services_.agents.get(input_.agent));
    AF_TRY(RolePaths rules, role_paths(session_, task_workspace_, agent));
    AF_TRY(files_, RoleWorkspace::open(task_workspace_.root(), std::move(rules), services_.redactor));
    files_->pin(task_workspace_.submodules());
    return {};
}

Result<json::value> DurableCalls::durable(std::string_view name, const json::object& input,
                                          const std::function<Result<json::value>()>& run,
                                          const std::optional<records::PlanStep>& plan_step) {
    if (fatal_) { return *fatal_; }
    if (abandoned_ || services_.cancel.step_ended()) { return remember(cancelled_error(name)); }
    if (clock_.expired()) { return remember(expired_error()); }
    const unsigned call = ++count_;
    const std::string hash = hash_of(input);
    if (const auto known = known_.find(call); known != known_.end()) {
        if (known->second.name != name || known->second.input_hash != hash) {
            return remember(mismatch(call, name, hash, known->second));
        }
        if (known->second.finished) { return answer(known->second); }
    } else {
        records::CallStarted started{stage_, visit_, call, std::string(name), hash};
        if (plan_step) {
            started.plan_step = plan_step;
            started.plan_step->title = session_.redactor().redact(plan_step->title);
        }
        AF_CHECK(keep(session_.record(started)));
    }
    written_.reset();
    Result<json::value> result = run();
    // The stage gets exactly the result in the journal, so it does the same after a crash.
    if (result.ok()) {
        services_.redactor.redact(*result);
    } else {
        result = services_.redactor.redact(std::move(result).error());
    }
    if (abandoned_) { return cancelled_error(name); }
    if (!result.ok() && result.error().kind == ErrorKind::timeout && clock_.expired()) { return remember(expired_error()); }
    if (!result.ok() && ends_the_visit(result.error())) { return remember(result.error()); }
    AF_TRY(const records::Kept kept, keep(session_.keep(result.ok() ? *result : json::value(to_json(result.error())))));
    records::CallFinished finished{.stage = stage_,
                                   .visit = visit_,
                                   .call = call,
                                   .name = std::string(name),
                                   .input_hash = hash,
                                   .outcome = result.ok() ? "ok" : "error",
                                   .result = kept};
    if (written_) {
        finished.tree = written_->first;
        finished.changes = std::move(written_->second);
    }
    AF_CHECK(keep(session_.record(finished)));
    if (!result.ok()) { return remember(result.error()); }
    return result;
}

Result<void> DurableCalls::snapshot(const std::vector<Change>& changes) {
    if (changes.empty()) { return {}; }
    std::vector<std::string> paths;
    for (const Change& change : changes) { paths.push_back(change.path); }
    AF_TRY(const std::string tree, task_workspace_.snapshot(paths));
    AF_CHECK(task_workspace_.keep("seq-" + std::to_string(session_.state().seq + 1), tree));
    written_.emplace(tree, recorded(changes));
    return {};
}

void DurableCalls::revert_unrecorded() {
    const std::string tree = session_.state().tree;
    const auto done = [&]() -> Result<void> {
        AF_TRY(const std::string now, task_workspace_.snapshot({}));
        std::vector<std::string> paths;
        for (std::string& path : task_workspace_.unrecordable()) { paths.emplace_back(std::move(path)); }
        if (now == tree && paths.empty()) { return {}; }
        AF_TRY(const auto changes, task_workspace_.diff(tree, now));
        for (const TreeChange& change : changes) { paths.emplace_back(change.path); }
        AF_CHECK(task_workspace_.restore(tree));
        return session_.record(records::Violation{stage_, std::move(paths)});
    }();
    static_cast<void>(keep(done));
}

Result<void> DurableCalls::outside(Result<void> done) {
    if (done.ok()) { return done; }
    return remember(done.error());
}

std::optional<Error> DurableCalls::missing_call() const {
    const auto known = known_.upper_bound(count_);
    if (known == known_.end()) { return std::nullopt; }
    return not_repeated("its host call " + std::to_string(known->first) + " was `" + known->second.name + "` (input " +
                        known->second.input_hash.substr(0, 12) +
                        ") before the interruption, but this time the stage ended without that call");
}

Result<json::value> DurableCalls::answer(const Known& known) {
    AF_TRY(json::value value, keep(session_.kept(known.result)));
    if (known.ok) { return value; }
    return remember(error_from_json(value.as_object()));
}

Error DurableCalls::cancelled_error(std::string_view name) const {
    return Error{"AF-ORCH-007", "the task was asked to stop before `" + std::string(name) + "`", "stage " + stage_,
                 "resume it with `agentforge resume " + short_id(session_.state().task_id) + "`", ErrorKind::cancelled};
}

Error DurableCalls::expired_error() const {
    return Error{
        "AF-ORCH-002", "stage `" + stage_ + "` used up its " + std::to_string(clock_.limit().count() / 1000) + " s",
        "stage " + stage_,
        "`agentforge resume` gives it the same time again; for future tasks, raise the stage's timeout_seconds in the pipeline template",
        ErrorKind::timeout};
}

Error DurableCalls::mismatch(unsigned call, std::string_view name, const std::string& hash, const Known& known) const {
    return not_repeated("its host call " + std::to_string(call) + " was `" + known.name + "` (input " +
                        known.input_hash.substr(0, 12) + ") before the interruption and is `" + std::string(name) + "` (input " +
                        hash.substr(0, 12) + ") now");
}

Error DurableCalls::not_repeated(const std::string& how) const {
    return Error{
        "AF-ORCH-029", "stage `" + stage_ + "` is not deterministic: " + how,
        "stage " + stage_ + ", visit " + std::to_string(visit_),
        "a stage must be deterministic between host calls; if its plugin was updated meanwhile, abort the task and start it again",
        ErrorKind::corrupt};
}

Error no_role_for(std::string_view what) {
    return Error{"AF-ORCH-028", "this stage has no role, so " + std::string(what) + " has no permissions", "",
                 "name an agent for the stage in the pipeline template", ErrorKind::denied};
}

}  // namespace agentforge::kernel
