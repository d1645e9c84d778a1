// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent/agent_session.hpp"

#include <algorithm>
#include <set>

#include "agent/context.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/machine.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "config/verification.hpp"
#include "contracts/names.hpp"
#include "pipeline/agent/agent_tools.hpp"
#include "pipeline/agent/agentic.hpp"
#include "pipeline/agent/agentic_recording.hpp"
#include "pipeline/budget.hpp"
#include "pipeline/codec.hpp"
#include "pipeline/people/acting_changes.hpp"
#include "pipeline/people/iteration.hpp"
#include "pipeline/task_history.hpp"
#include "pipeline/tests/hand_back.hpp"
#include "pipeline/tests/held_out.hpp"
#include "secrets/restore.hpp"

namespace agentforge::kernel {

namespace {

std::string text_field(const json::object& body, std::string_view key) {
    const json::value* value = body.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

template <class Map, class Key>
const typename Map::mapped_type* find(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}

std::vector<std::string> paths_of(const std::vector<Change>& changes) {
    std::vector<std::string> paths;
    for (const Change& change : changes) {
        if (std::find(paths.begin(), paths.end(), change.path) == paths.end()) { paths.push_back(change.path); }
    }
    return paths;
}
/// Returns the top-level entries of the workspace that the role may write, for confinement: Landlock knows folders, not globs.
/// Writes that a pattern forbids inside them are found afterwards, by comparing the trees.
std::vector<std::string> writable_entries(RoleWorkspace& workspace, const std::string& root) {
    if (workspace.check_write("agentforge-probe").ok()) { return {root}; }
    std::vector<std::string> writable;
    ListOptions top;
    top.recursive = false;
    const auto listing = workspace.list(".", top);
    if (!listing.ok()) { return writable; }
    for (const ListEntry& entry : listing->entries) {
        const std::string probe = entry.directory ? entry.path + "/agentforge-probe" : entry.path;
        if (workspace.check_write(probe).ok()) { writable.push_back(root + "/" + entry.path); }
    }
    return writable;
}

/// Returns the first file that contains a secret's placeholder that it did not contain at `tree`, or empty. A program that was
/// shown the placeholder wrote it, and the file would hold it in place of the secret.
Result<std::string> file_with_new_placeholder(TaskWorkspace& task_workspace, const std::string& tree, const std::string& after) {
    AF_TRY(const std::string patch, task_workspace.patch(tree, after));
    if (!may_hold_placeholder(patch)) { return std::string(); }
    std::string file;
    std::set<std::string, std::less<>> had;
    std::vector<std::pair<std::string, std::string>> got;  // Pairs of file and placeholder.
    for (std::size_t begin = 0; begin < patch.size();) {
        const std::size_t end = std::min(patch.find('\n', begin), patch.size());
        const std::string_view line = std::string_view(patch).substr(begin, end - begin);
        begin = end + 1;
        if (line.starts_with("+++ ")) { file = line.starts_with("+++ b/") ? line.substr(6) : line.substr(4); }
        for (PlaceholderAt at = find_placeholder(line); at.size > 0; at = find_placeholder(line, at.begin + at.size)) {
            std::string found(line.substr(at.begin, at.size));
            if (line.starts_with('+')) {
                got.emplace_back(file, std::move(found));
            } else {
                had.insert(std::move(found));
            }
        }
    }
    for (const auto& [where, placeholder] : got) {
        if (!had.contains(placeholder)) { return where; }
    }
    return std::string();
}

/// Checks everything written since `tree`, by any program. Takes back and records writes that the role may not make. Returns the
/// allowed ones. `now`: set to the tree after them.
Result<std::vector<Change>> settle_writes(TaskSession& session, TaskWorkspace& task_workspace, RoleWorkspace& workspace,
                                          const RecordAgent& who, const std::string& tree, std::string* now = nullptr) {
    AF_TRY(const std::string after, task_workspace.snapshot({}));
    AF_TRY(const auto changes, task_workspace.diff(tree, after));
    if (now != nullptr) { *now = after; }
    std::vector<std::string> forbidden;
    for (std::string& path : task_workspace.unrecordable()) { forbidden.emplace_back(std::move(path)); }
    std::vector<Change> kept;
    for (const TreeChange& change : changes) {
        // A rename removes the file from its old path, which the role must be allowed to write too.
        if (!change.old_path.empty() && !workspace.check_write(change.old_path).ok()) {
            forbidden.emplace_back(change.old_path);
        } else if (workspace.check_write(change.path).ok()) {
            kept.push_back(Change{change.path, "", "", change.lines_added, change.lines_removed, change.status == 'A'});
        } else {
            forbidden.emplace_back(change.path);
        }
    }
    if (forbidden.empty() && !kept.empty()) {
        AF_TRY(const std::string file, file_with_new_placeholder(task_workspace, tree, after));
        if (!file.empty()) {
            AF_CHECK(task_workspace.restore(tree));
            AF_CHECK(session.record(records::Violation{session.state().stage().name, std::vector<std::string>{file}}, &who));
            return Error{
                "AF-SEC-007",
                "the program wrote the placeholder of a secret into '" + file + "'; it does not know the secret behind it", file,
                "all its writes were undone; edit such lines with AgentForge's own tools, which restore secrets",
                ErrorKind::denied};
        }
    }
    if (!forbidden.empty()) {
        AF_CHECK(task_workspace.restore(tree));
        AF_CHECK(session.record(records::Violation{session.state().stage().name, forbidden}, &who));
        return Error{"AF-ORCH-026",
                     "the program wrote where role `" + who.role +
                         "` may not: " + json::serialize(json::array(forbidden.begin(), forbidden.end())),
                     "", "all its writes were undone; let it write only where the role may", ErrorKind::denied};
    }
    return kept;
}

ProcessResult result_of(const ProcessOutcome& outcome, const Redactor& redactor) {
    ProcessResult result;
    result.exit_code = outcome.exit_code;
    result.timed_out = outcome.timed_out;
    result.output_truncated = outcome.out_truncated || outcome.err_truncated;
    result.out = redactor.redact_cut(sanitize_utf8(outcome.out));
    result.err = redactor.redact_cut(sanitize_utf8(outcome.err));
    result.duration = outcome.duration;
    result.confinement = outcome.confinement;
    return result;
}

/// Runs a program with the role's rights. Takes back and records writes that the role may not make: path rules bind every tool.
/// Returns the allowed writes.
Result<std::pair<ProcessResult, std::vector<Change>>> run_confined(TaskSession& session, TaskWorkspace& task_workspace,
                                                                   TaskServices& services, RoleWorkspace& workspace,
                                                                   const RecordAgent& who, const std::string& tree,
                                                                   const ProcessSpec& spec) {
    ProcessRequest request;
    request.argv = spec.argv;
    request.directory = spec.directory.empty() ? task_workspace.root() : task_workspace.root() + "/" + spec.directory;
    request.environment = base_environment(services.environment);
    request.environment["TMPDIR"] = task_workspace.scratch();
    for (const auto& [name, value] : spec.environment) { request.environment[name] = value; }
    request.input = spec.input;
    request.timeout = spec.timeout;
    request.max_output_bytes = spec.max_output_bytes;
    request.confinement.readable = program_folders(services.environment);
    request.confinement.readable.push_back(task_workspace.root());
    request.confinement.writable = writable_entries(workspace, task_workspace.root());
    request.confinement.writable.push_back(task_workspace.scratch());
    AF_TRY(const ProcessOutcome outcome, task_workspace.run(std::move(request), Stop{&services.cancel, std::nullopt}));
    AF_TRY(std::vector<Change> kept, settle_writes(session, task_workspace, workspace, who, tree));
    return std::pair{result_of(outcome, services.redactor), std::move(kept)};
}

constexpr unsigned most_same_refusals = 4;  ///< Artifacts handed in while the same tests fail.
constexpr unsigned most_refusals = 8;       ///< Artifacts handed in without fewer failures.
constexpr unsigned most_edits = 24;         ///< Edits without fewer failures.
constexpr std::uint64_t most_steps = 60;    ///< Steps without any of these; more in a stage whose runs may have more than 40.

class AgentSession final : public StepHost, public AgenticPlace {
public:
    AgentSession(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services, StageClock& clock,
                 KernelCallContext& context, AgentDefinition agent, std::optional<Contract> contract, std::string gate,
                 unsigned number, bool review, bool writes)
        : session_(session),
          task_workspace_(task_workspace),
          services_(services),
          clock_(clock),
          context_(context),
          agent_(std::move(agent)),
          contract_(std::move(contract)),
          exit_gate_(std::move(gate)),
          number_(number),
          visit_(session.state().stage().visits),
          writes_(writes),
          agentic_scratch_(task_workspace.scratch() + "/agentic"),
          who_{agent_.role, agent_.version, review ? "review" : ""} {}

    Result<void> open() {
        AF_TRY(const auto locked, locked_tests(session_));
        // A reviewer changes nothing, whatever its role may write elsewhere: the measured tree must stay.
        AF_TRY(auto symbols, task_workspace_.path_symbols(session_.state().base_tree));
        AF_TRY(auto specified, specified_files(session_));
        AF_TRY(RolePaths rules, !writes_ ? RolePaths::make(agent_.role, {{"review", "!*"}})
                                         : RolePaths::make(agent_.role, agent_.path_constraints, locked, std::move(symbols),
                                                           std::move(specified)));
        AF_CHECK(open_workspace(std::move(rules)));
        AF_TRY(auto artifacts, session_.artifacts());
        AF_TRY(auto by_contract, session_.artifacts_by_contract());
        by_contract_ = as_shown(session_.state(), std::move(by_contract));
        artifacts_ = as_shown(session_.state(), std::move(artifacts));
        for (const auto& [contract, artifact] : by_contract_) { artifacts_.try_emplace(contract, artifact); }
        tree_ = session_.state().tree;
        return {};
    }

    /// Forbids all writes, for a role none of whose tools writes: a program that one of them starts may not write either. Call
    /// before the workspace is used.
    [[nodiscard]] Result<void> forbid_writes() {
        AF_TRY(RolePaths rules, RolePaths::make(agent_.role, {{"reading", "!*"}}));
        return open_workspace(std::move(rules));
    }

    void set_model(std::string name, bool offline) {
        model_ = std::move(name);
        offline_ = offline;
    }
    [[nodiscard]] RoleWorkspace& workspace() noexcept { return *workspace_; }
    [[nodiscard]] const AgentDefinition& agent() const noexcept { return agent_; }
    [[nodiscard]] unsigned visit() const noexcept { return visit_; }
    [[nodiscard]] const std::map<std::string, json::object, std::less<>>& artifacts() const noexcept { return artifacts_; }
    [[nodiscard]] const std::map<std::string, json::object, std::less<>>& artifacts_by_contract() const noexcept {
        return by_contract_;
    }

    // ------------------------------------------------------------------------------- StepHost --

    [[nodiscard]] std::vector<StepRecord> finished_steps() override {
        std::vector<StepRecord> steps;
        const RunState* const mine = my_run();
        for (const std::string& blob : mine == nullptr ? std::vector<std::string>() : mine->steps) {
            const auto body = session_.get(blob);
            auto step = body.ok() ? recorded_step(*body) : Result<StepRecord>(body.error());
            if (!step.ok()) {
                broken_ = step.error();
                return {};
            }
            steps.push_back(std::move(*step));
        }
        return steps;
    }

    [[nodiscard]] std::optional<Completion> pending_answer(unsigned step) override {
        const RunState* const mine = my_run();
        const auto answer = mine == nullptr ? nullptr : find(mine->answers, step);
        if (answer == nullptr) { return std::nullopt; }
        const auto body = session_.kept(*answer);
        if (!body.ok() || !body->is_object()) { return std::nullopt; }
        Completion completion = completion_from_json(body->get_object());
        // The answer of an agentic call includes the changes that its command made to files.
        if (const std::string tree = text_field(completion.diagnostics, "workspace_tree"); !tree.empty()) {
            if (auto adopted = adopt(tree); !adopted.ok()) { broken_ = adopted.error(); }
        }
        return completion;
    }

    [[nodiscard]] Result<void> before_call(unsigned step, const CompletionRequest& request) override {
        const NextCall call = at_most(session_.state(), services_, model_, request, offline_);
        // The previous process died during this call. Counts the most that the unrecorded call may have used.
        if (session_.state().died_running) {
            AF_CHECK(lose(step, call, request, "the process ended while the call may have been under way"));
        }
        if (auto reached = limit_reached(limits_in_force(session_.state(), services_),
                                         standing_of(session_.state(), services_.clock.now()), &call)) {
            return std::move(*reached);
        }
        asked_ = usage_of(call, answering_model(session_.state(), agent_.role, model_), request, services_.prices);
        attempts_recorded_ = false;
        return {};
    }

    [[nodiscard]] Error call_failed(unsigned step, const CompletionRequest& request, Error error) override {
        // A failed attempt that may be retried is counted by its own record.
        if (may_have_cost(error) && !(attempts_recorded_ && error.kind == ErrorKind::transient)) {
            const auto lost = lose(step, at_most(session_.state(), services_, model_, request, offline_), request, error.code);
            if (!lost.ok()) { return lost.error(); }
        }
        // The task's time limit ended the call, not the stage's.
        if (error.kind == ErrorKind::timeout) {
            if (auto reached = out_of_time(session_.state(), services_)) { return std::move(*reached); }
        }
        return error;
    }

    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> call_deadline() override {
        return end_of_time(session_.state(), services_);
    }

    [[nodiscard]] Result<void> answer_received(unsigned step, const CompletionRequest& request,
                                               const Completion& completion) override {
        AF_TRY(const records::Kept answer, session_.keep(to_json(completion)));
        return session_.record(records::Answer{.phase = session_.state().stage().name,
                                               .visit = visit_,
                                               .run = number_,
                                               .run_step = step,
                                               .frame_hash = request.frame_hash,
                                               .context_hash = request.context_hash,
                                               .usage = usage_of(completion, model_, services_.prices),
                                               .answer = answer},
                               &who_);
    }

    void step_ended() override { static_cast<void>(services_.cancel.step_ended()); }

    [[nodiscard]] SpentAttempts spent_attempts(unsigned step) override {
        SpentAttempts spent;
        spent.of_task = static_cast<unsigned>(session_.state().resumption.failed_attempts_halves / 2);
        const RunState* const mine = my_run();
        const auto here = mine == nullptr ? nullptr : find(mine->attempts, step);
        if (here == nullptr) { return spent; }
        spent.here = here->count;
        spent.last =
            Error{here->code, here->message, here->where, "It was tried before the process died; resume.", ErrorKind::transient};
        return spent;
    }

    [[nodiscard]] Result<void> attempt_failed(unsigned step, unsigned attempt, const Error& error) override {
        records::AttemptFailed failed{.phase = session_.state().stage().name,
                                      .visit = visit_,
                                      .run = number_,
                                      .run_step = step,
                                      .attempt = attempt,
                                      .code = error.code,
                                      .message = error.message,
                                      .where = error.where};
        // The model may have begun; its work must be paid for.
        if (may_have_cost(error)) { failed.usage = asked_; }
        attempts_recorded_ = true;
        return session_.record(failed, &who_);
    }

    /// The decision is found by the hash of what the person was shown, so it holds for this action at this step only.
    [[nodiscard]] Result<ActionVerdict> permit(unsigned step, const ToolCall& action) override {
        ActionVerdict verdict;
        if (!session_.state().interactive) { return verdict; }
        json::object shown{{"task_id", session_.state().task_id},
                           {"stage", session_.state().stage().name},
                           {"role", who_.role},
                           {"mode", who_.mode},
                           {"visit", visit_},
                           {"run", number_},
                           {"step", step},
                           {"tool", action.name},
                           {"arguments", action.arguments}};
        services_.redactor.redact(shown);  // As in the journal, so the text is the same before and after a crash.
        const std::string hash = hash_of(shown);
        if (const Resumption::Decision* const decided = find(session_.state().resumption.decisions, hash)) {
            verdict.kind = decided->decision == "approved" ? ActionVerdict::Kind::go
                           : decided->edited               ? ActionVerdict::Kind::edited
                                                           : ActionVerdict::Kind::rejected;
            verdict.feedback = decided->feedback;
            if (verdict.kind == ActionVerdict::Kind::edited) {
                AF_TRY(const json::value edited, session_.kept(*decided->edited));
                verdict.edited = ToolCall{std::string(edited.at("tool").as_string()), edited.at("arguments").as_object()};
            }
            return verdict;
        }
        AF_TRY(const std::string blob, session_.put(shown));
        AF_CHECK(session_.record(records::ActionProposed{.phase = session_.state().stage().name,
                                                         .visit = visit_,
                                                         .run = number_,
                                                         .run_step = step,
                                                         .tool = action.name,
                                                         .action_hash = hash,
                                                         .action_blob = blob,
                                                         .duration_ms = static_cast<std::uint64_t>(clock_.elapsed().count())},
                                 &who_));
        return Error{"AF-ESC-031", "the action `" + action.name + "` waits for a person",
                     "stage " + session_.state().stage().name + ", step " + std::to_string(step),
                     "decide on it with `agentforge approve` or `agentforge reject`", ErrorKind::unavailable};
    }

    [[nodiscard]] std::vector<Change> take_changes() override {
        std::vector<Change> changes = workspace_->take_changes();
        changes.insert(changes.end(), process_changes_.begin(), process_changes_.end());
        process_changes_.clear();
        return changes;
    }

    void after_edit(const std::vector<std::string>& paths) override {
        if (broken_) { return; }
        const auto checks = edit_checks(session_.state().stage_template().config);
        if (!checks.ok()) {
            broken_ = checks.error();
            return;
        }
        if (checks->empty()) { return; }
        if (auto snapshot = task_workspace_.snapshot(paths); snapshot.ok()) {
            tree_ = *snapshot;
        } else {
            broken_ = snapshot.error();
            return;
        }
        for (const EditCheck& check : *checks) {
            GateRequest request;
            request.gate = check.gate;
            if (check.gate != gate_name::tests || check.affected) { request.paths = paths; }
            if (check.affected) { request.parameters["scope"] = "affected"; }
            const auto report = measured(request, nullptr);
            if (!report.ok()) {
                if (is_the_machines(report.error())) { unmeasurable_ = report.error(); }
                if (report.error().kind != ErrorKind::cancelled) {
                    context_.log(LogLevel::warning, report.error().to_string(), {});
                }
                return;
            }
            if (!report->passed && check.must_pass) { return; }  // The checks after it would be meaningless.
        }
    }

    [[nodiscard]] Result<void> step_finished(StepRecord& record) override {
        if (broken_) { return *broken_; }
        if (unmeasurable_ && record.changes.empty()) { return *unmeasurable_; }
        std::string patch_file;
        const std::uint64_t step = session_.state().steps + 1;
        const std::string before = session_.state().tree;
        if (!record.changes.empty()) {
            AF_TRY(record.tree, task_workspace_.snapshot(paths_of(record.changes)));
            if (record.tree != before) {
                AF_CHECK(task_workspace_.keep("step-" + std::to_string(step), record.tree));
                AF_TRY(patch_file, save_patch(step, before, record.tree));
            }
        } else {
            record.tree = before;
        }
        AF_TRY(const std::string context_blob, session_.put_text(record.context));
        AF_TRY(const std::string system_blob, session_.put_text(record.system));
        AF_TRY(const std::string record_blob, session_.put(to_json(record)));
        AF_TRY(const std::string arguments_blob, session_.put(record.arguments));
        records::ActionTaken action{record.tool, arguments_blob};
        if (const std::string target = records::target_in(record.arguments); !target.empty()) { action.target = target; }
        records::ActionResult result{record.success ? "success" : "failure", record.summary};
        if (!record.error.empty()) { result.error = record.error; }
        records::ModelCall call{.model = record.completion.model,
                                .prompt_tokens = record.completion.usage.input_tokens,
                                .completion_tokens = record.completion.usage.output_tokens};
        if (const records::CallUsage usage = usage_of(record.completion, model_, services_.prices);
            usage.input_tokens + usage.output_tokens > 0) {
            call.cost_microusd = usage.cost_microusd;
        }
        records::Step taken{.phase = session_.state().stage().name,
                            .visit = visit_,
                            .run = number_,
                            .run_step = record.step,
                            .action = action,
                            .result = result,
                            .llm_call = call,
                            .input_tokens = record.completion.usage.input_tokens,
                            .output_tokens = record.completion.usage.output_tokens,
                            .section_tokens = record.section_tokens,
                            .context_blob = context_blob,
                            .system_blob = system_blob,
                            .record_blob = record_blob,
                            .tree = record.tree};
        if (!record.changes.empty()) { taken.changes = recorded(record.changes); }
        if (!patch_file.empty()) { taken.patch = patch_file; }
        // The action of an agentic command does not name the files that it changed.
        const bool agentic = services_.agentic && services_.agentic(agent_);
        if (agentic && !record.changes.empty()) { taken.files = paths_of(record.changes); }
        AF_CHECK(session_.record(taken, &who_));
        AF_TRY(const bool shown, show_failed(session_, task_workspace_));
        tree_ = shown ? session_.state().tree : record.tree;
        accepted_.reset();
        if (unmeasurable_) { return *unmeasurable_; }
        return {};
    }

    /// Detects loops: the model keeps handing in or changing files, and no gate finds fewer failures than the fewest so far.
    /// Earlier attempts count too.
    [[nodiscard]] Result<void> makes_progress() override {
        const StageState& stage = session_.state().stage();
        const Effort& effort = stage.effort;
        for (const auto& [failing, times] : effort.same_refusals) {
            if (times >= most_same_refusals) {
                return no_progress("the " + exit_gate_ + " gate has found the same " + std::to_string(times) + " times");
            }
        }
        if (effort.refusals >= most_refusals) {
            return no_progress("the " + exit_gate_ + " gate refused " + std::to_string(effort.refusals) +
                               " artifacts and found no fewer failures");
        }
        if (effort.edits >= most_edits) { return no_progress(std::to_string(effort.edits) + " edits left no fewer failures"); }
        const std::uint64_t steps = stage.steps - std::min(stage.steps, effort.steps_before);
        if (steps < std::max<std::uint64_t>(most_steps, session_.state().stage_template().max_steps * 3 / 2)) { return {}; }
        return no_progress("in " + std::to_string(steps) + " steps nothing came to pass and nothing was accepted");
    }

    [[nodiscard]] std::optional<json::object> accepted_artifact() override { return accepted_; }
    [[nodiscard]] std::optional<EscalationRequest> requested_escalation() override { return escalation_; }

    [[nodiscard]] json::object verification_status() override {
        const auto inputs = task_workspace_.gate_inputs();
        if (!inputs.ok()) {
            broken_ = inputs.error();
            return {};
        }
        auto status = current_verification(session_, *inputs);
        if (status.ok()) { return std::move(*status); }
        broken_ = status.error();
        return {};
    }

    // --------------------------------------------------------------------------- ToolServices --

    [[nodiscard]] Result<ProcessResult> run_process(const ProcessSpec& spec) override {
        AF_TRY(auto done, run_confined(session_, task_workspace_, services_, *workspace_, who_, tree_, spec));
        process_changes_.insert(process_changes_.end(), done.second.begin(), done.second.end());
        return std::move(done.first);
    }

    [[nodiscard]] Result<GateReport> run_gate(const GateRequest& request) override {
        return measured_for_action(request, nullptr);
    }

    [[nodiscard]] Result<void> complete(const json::object& artifact) override {
        if (!contract_) {
            return Error{"AF-ORCH-023", "this run expects a text, not an artifact", "", "answer with the text alone",
                         ErrorKind::invalid};
        }
        RuleContext rules;
        rules.artifacts = &by_contract_;
        const ContractVerdict verdict = contract_->validate_answer(artifact, rules);
        if (!verdict.valid()) {
            return Error{"AF-ORCH-024",
                         "the artifact does not satisfy contract `" + contract_->name() + "`: " + joined(verdict.messages()), "",
                         "fix it and call complete again", ErrorKind::invalid};
        }
        const bool of_the_stage = who_.mode.empty();
        AF_TRY(const std::vector<std::string> faults, of_the_stage
                                                          ? faults_of_correction(session_, artifact)
                                                          : Result<std::vector<std::string>>(std::vector<std::string>()));
        if (!faults.empty()) {
            return Error{"AF-ORCH-034", "only what was handed back may change: " + joined(faults), "",
                         "fix it and call complete again", ErrorKind::invalid};
        }
        if (contract_->name() == contract_name::specification || contract_->extends() == contract_name::specification) {
            AF_CHECK(try_interfaces(artifact));
        }
        if (const json::object* claim = hand_back_of(artifact)) {
            AF_CHECK(hand_back(*claim));
        } else if (!exit_gate_.empty()) {
            AF_CHECK(pass_exit_gate(artifact));
        }
        accepted_ = artifact;
        return {};
    }

    [[nodiscard]] Result<void> escalate(const EscalationRequest& request) override {
        escalation_ = request;
        return {};
    }

    // ---------------------------------------------------------------------------- tool servers --

    /// Returns the sandbox of a server: the role's rights, as for run_process.
    [[nodiscard]] ServerPlace server_place() {
        ServerPlace place = stage_process_place(task_workspace_, services_);
        place.writable = writable_entries(*workspace_, task_workspace_.root());
        return place;
    }

    /// Checks and records what a server's call wrote.
    [[nodiscard]] Result<void> settle_server() {
        AF_TRY(const auto kept, settle_writes(session_, task_workspace_, *workspace_, who_, tree_));
        process_changes_.insert(process_changes_.end(), kept.begin(), kept.end());
        return {};
    }

    // -------------------------------------------------------------------------------- agentic --

    [[nodiscard]] const std::string& workspace() const noexcept override { return task_workspace_.root(); }
    [[nodiscard]] const std::string& scratch() const noexcept override { return agentic_scratch_; }

    [[nodiscard]] Result<void> begin() override {
        AF_CHECK(task_workspace_.restore(tree_));
        std::error_code left;
        std::filesystem::remove_all(agentic_scratch_, left);
        if (left) {
            return Error{"AF-LLM-310", "cannot empty the scratch folder of the call: " + left.message(), agentic_scratch_,
                         "Remove it, then resume.", ErrorKind::unavailable};
        }
        AF_CHECK(make_directories(agentic_scratch_ + "/home"));
        return {};
    }

    [[nodiscard]] Result<ProcessResult> run(const AgenticCommand& command) override {
        ProcessRequest request;
        request.argv = command.argv;
        request.directory = task_workspace_.root();
        request.environment = command.environment;
        request.environment.emplace("HOME", agentic_scratch_ + "/home");
        request.environment["TMPDIR"] = agentic_scratch_;
        request.environment["AGENTFORGE_ARTIFACT"] = artifact_file(agentic_scratch_);
        request.input = command.input;
        request.timeout = command.timeout;
        request.max_output_bytes = command.max_output_bytes;
        request.confinement.network = Network::full;  // To reach its model's server.
        request.confinement.readable = program_folders(services_.environment);
        request.confinement.readable.push_back(task_workspace_.root());
        request.confinement.readable.push_back(task_workspace_.scratch() + "/inputs");
        request.confinement.readable.insert(request.confinement.readable.end(), command.readable.begin(), command.readable.end());
        request.confinement.writable = writable_entries(*workspace_, task_workspace_.root());
        request.confinement.writable.push_back(agentic_scratch_);
        request.confinement.writable.insert(request.confinement.writable.end(), command.writable.begin(), command.writable.end());
        AF_TRY(const ProcessOutcome outcome, task_workspace_.run(std::move(request), stop()));
        if (outcome.cancelled) {
            return Error{"AF-LLM-104", "the command was cancelled", "", "Resume the task to continue.", ErrorKind::cancelled};
        }
        return result_of(outcome, services_.redactor);
    }

    [[nodiscard]] Result<json::object> work() override {
        AF_TRY(const std::string after, task_workspace_.snapshot({}));
        AF_TRY(const auto changes, task_workspace_.diff(tree_, after));
        std::set<std::string> paths;
        for (const TreeChange& change : changes) {
            paths.insert(change.path);
            if (!change.old_path.empty()) { paths.insert(change.old_path); }
        }
        for (std::string& path : task_workspace_.unrecordable()) { paths.insert(std::move(path)); }
        return recorded_work(task_workspace_.root(), paths, artifact_file(agentic_scratch_), services_.redactor);
    }

    [[nodiscard]] Result<std::string> settle() override {
        std::string now;
        AF_TRY(const auto kept, settle_writes(session_, task_workspace_, *workspace_, who_, tree_, &now));
        process_changes_.insert(process_changes_.end(), kept.begin(), kept.end());
        if (now != tree_) { AF_CHECK(task_workspace_.keep("answer-" + std::to_string(session_.state().steps + 1), now)); }
        tree_ = now;
        return now;
    }

    [[nodiscard]] Result<void> take_back() override { return task_workspace_.restore(tree_); }

    // -------------------------------------------------------------------------- pinned tools --

    /// Records the description and schema of a tool when the task first sees it. From then on they must not change.
    [[nodiscard]] Result<std::optional<std::string>> pin(const std::string& name, const ListedTool& tool) {
        if (const std::string* const pinned = find(session_.state().resumption.pinned_tools, name)) {
            return *pinned == tool.hash ? std::optional<std::string>() : std::optional(*pinned);
        }
        AF_TRY(const std::string blob, session_.put(tool.as_listed));
        AF_CHECK(session_.record(records::ServerTool{name, session_.state().stage().name, tool.hash, blob}, &who_));
        return std::optional<std::string>();
    }

    /// Returns the token calibration that this task's finished runs found for the same model. A run then need not find it again
    /// by exceeding the budget. The records before this run's own do not change, so a resumed run begins with the same value.
    [[nodiscard]] unsigned calibration(const ModelClient* model) {
        const Resumption& resumption = session_.state().resumption;
        unsigned most = 1000;
        const auto consider = [&](const std::string& role, const TokenEstimate& tokens) {
            const auto other = services_.agents.get(role);
            const auto answers = other.ok() ? services_.model(*other) : Result<ModelClient*>(other.error());
            if (answers.ok() && *answers == model) { most = std::max(most, calibration_of(tokens.reported, tokens.estimated)); }
        };
        for (const auto& [role, tokens] : resumption.calibration) { consider(role, tokens); }
        for (const auto& [place, run] : resumption.runs) {
            if (&run != my_run()) { consider(place.role, run.tokens); }
        }
        return most;
    }

    void log(LogLevel level, std::string_view message, const json::object& fields) override {
        context_.log(level, message, fields);
    }
    void progress(std::string_view text) override { context_.progress(text); }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return context_.now(); }
    [[nodiscard]] const Redactor& redactor() const noexcept override { return services_.redactor; }
    [[nodiscard]] bool cancelled() const noexcept override { return context_.cancelled(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        return context_.deadline();
    }

private:
    Result<void> open_workspace(RolePaths rules) {
        AF_TRY(workspace_, RoleWorkspace::open(task_workspace_.root(), std::move(rules), services_.redactor));
        workspace_->pin(task_workspace_.submodules());
        return {};
    }

    /// Includes the newest gate that did not pass.
    [[nodiscard]] Error no_progress(const std::string& how) const {
        const GateState* newest = nullptr;
        for (const auto& [name, gate] : session_.state().gates) {
            if (!gate.passed && (newest == nullptr || gate.seq > newest->seq)) { newest = &gate; }
        }
        return Error{"AF-AGENT-018",
                     "agent '" + agent_.role + "' makes no progress: " + how +
                         (newest == nullptr ? std::string() : ": " + newest->summary),
                     "", "Say what the agent should do differently.", ErrorKind::invalid};
    }

    /// After a crash, restores the files as the journaled answer left them.
    Result<void> adopt(const std::string& tree) {
        AF_CHECK(task_workspace_.restore(tree));
        AF_TRY(const auto changes, task_workspace_.diff(session_.state().tree, tree));
        for (const TreeChange& change : changes) {
            process_changes_.push_back(
                Change{change.path, "", "", change.lines_added, change.lines_removed, change.status == 'A'});
        }
        tree_ = tree;
        return {};
    }

    [[nodiscard]] Stop stop() const { return Stop{&services_.cancel, std::nullopt}; }

    Result<void> lose(unsigned step, const NextCall& call, const CompletionRequest& request, std::string_view reason) {
        return session_.record(records::CallLost{.phase = session_.state().stage().name,
                                                 .visit = visit_,
                                                 .run = number_,
                                                 .run_step = step,
                                                 .reason = std::string(reason),
                                                 .usage = usage_of(call, answering_model(session_.state(), agent_.role, model_),
                                                                   request, services_.prices)},
                               &who_);
    }

    /// Returns the journal's state of this run, or null before its first record.
    [[nodiscard]] const RunState* my_run() const {
        if (visit_ != session_.state().stage().visits) { return nullptr; }
        return find(session_.state().resumption.runs, RunPlace{number_, who_.role, who_.mode});
    }

    static std::string joined(const std::vector<std::string>& messages) {
        std::string text;
        for (const std::string& message : messages) { text += (text.empty() ? "" : "; ") + message; }
        return text;
    }

    Result<GateReport> measured(const GateRequest& request, const json::object* candidate) {
        const StageClock::Pause measuring(clock_);
        return measure(session_, task_workspace_, services_.events, request, tree_, candidate, stop());
    }

    /// If no action of a model can fix the cause, the task waits for a person. A missing first source file is not such a cause:
    /// the model can write it.
    Result<GateReport> measured_for_action(const GateRequest& request, const json::object* candidate) {
        auto report = measured(request, candidate);
        if (!report.ok() && ends_the_visit(report.error()) && report.error().code != "AF-GATE-002") {
            unmeasurable_ = report.error();
        }
        return report;
    }

    /// A wrong declaration is the model's to fix, now. A missing toolchain or dependency is reported later, when tests need it.
    Result<void> try_interfaces(const json::object& specification) {
        const StageClock::Pause measuring(clock_);
        auto tried = task_workspace_.try_specification(tree_, specification, stop());
        if (tried.ok() || tried.error().code != "AF-GATE-030") { return {}; }
        return std::move(tried).error();
    }

    /// The model's claim about a test counts only if the gate's run on this exact tree confirms it.
    Result<void> hand_back(const json::object& claim) {
        GateRequest request;
        request.gate = hand_back_gate(session_.state().stage_template());
        if (!request.gate.empty()) { AF_CHECK(measured_for_action(request, nullptr)); }
        AF_CHECK(hand_back_evidence(session_, task_workspace_, claim, tree_));
        return {};
    }

    Result<void> pass_exit_gate(const json::object& artifact) {
        GateRequest request;
        request.gate = exit_gate_;
        AF_TRY(const GateReport report, measured_for_action(request, &artifact));
        if (report.passed) { return {}; }
        std::string shown;
        for (const std::string& file : failed_too_often(session_.state())) {
            shown += "; " + file + " has failed too often and is in the workspace from now on";
        }
        return Error{"AF-ORCH-025", "the " + exit_gate_ + " gate does not pass: " + joined(report.blocking_issues) + shown, "",
                     "fix these and call complete again; the kernel measured them itself", ErrorKind::invalid};
    }

    Result<std::string> save_patch(std::uint64_t step, const std::string& before, const std::string& after) {
        AF_TRY(const std::string raw, task_workspace_.patch(before, after));
        const std::string patch = services_.redactor.redact(raw);
        std::string number = std::to_string(step);
        number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
        const std::filesystem::path file = session_.paths().snapshots() / ("step_" + number + ".patch");
        AF_CHECK(make_directories(file.parent_path()));
        AF_CHECK(write_file_atomic(file, patch, Durability::synced));  // Before the record that names it.
        return "artifacts/snapshots/" + file.filename().string();
    }

    TaskSession& session_;
    TaskWorkspace& task_workspace_;
    TaskServices& services_;
    StageClock& clock_;
    KernelCallContext& context_;
    AgentDefinition agent_;
    std::optional<Contract> contract_;
    std::string exit_gate_;
    unsigned number_;
    unsigned visit_;
    bool writes_;
    std::string agentic_scratch_;
    RecordAgent who_;
    std::string model_;  ///< The configured name. The answer may name another.
    bool offline_ = false;
    records::CallUsage asked_{};      ///< The most that the current call may use.
    bool attempts_recorded_ = false;  ///< Whether that call's attempts have records.
    std::unique_ptr<RoleWorkspace> workspace_;
    std::map<std::string, json::object, std::less<>> artifacts_;  ///< In the form that a stage receives.
    std::map<std::string, json::object, std::less<>> by_contract_;
    std::string tree_;
    std::vector<Change> process_changes_;  ///< Changes by subprocesses, within the role's rights.
    std::optional<json::object> accepted_;
    std::optional<EscalationRequest> escalation_;
    /// Why the step's action could not be measured. The step is not recorded; its action is repeated on resume, without asking
    /// the model. An action that changed files is recorded first, because a person may have to look at them (a lockfile, for
    /// `agentforge setup TASK`).
    std::optional<Error> unmeasurable_;
    std::optional<Error> broken_;  ///< An error in a function that cannot return one. The next step_finished returns it.
};

/// Returns the specification's criteria, requirement by requirement. Empty if there is no specification yet, or if the stage
/// writes it.
std::vector<std::string> specified_criteria(const std::map<std::string, json::object, std::less<>>& artifacts,
                                            const StageTemplate& stage) {
    std::vector<std::string> criteria;
    const auto found = artifacts.find(contract_name::specification);
    if (found == artifacts.end() || makes(stage, contract_name::specification)) { return criteria; }
    const auto list = [](const json::object& object, std::string_view key) {
        const json::value* value = object.if_contains(key);
        return value != nullptr && value->is_array() ? value->get_array() : json::array();
    };
    const auto text = [](const json::object& object, std::string_view key) {
        const json::value* value = object.if_contains(key);
        return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
    };
    for (const json::value& requirement : list(found->second, "requirements")) {
        if (!requirement.is_object()) { continue; }
        const std::string id = text(requirement.get_object(), "id");
        const json::array own = list(requirement.get_object(), "acceptance_criteria");
        if (own.empty()) { criteria.push_back(id + ": " + text(requirement.get_object(), "description")); }
        for (const json::value& criterion : own) {
            if (criterion.is_string()) { criteria.push_back(id + ": " + std::string(criterion.get_string())); }
        }
    }
    for (const json::value& criterion : list(found->second, "acceptance_criteria")) {
        if (criterion.is_string()) { criteria.emplace_back(criterion.get_string()); }
    }
    return criteria;
}

/// Returns the parts of the prompt that are the same for every task.
RunSpec frame_of(const TaskServices& services, const AgentDefinition& agent, const std::string& stage,
                 const std::optional<Contract>& contract, const std::string& gate, const std::string& request) {
    RunSpec spec;
    spec.agent = agent;
    spec.goal = request;
    spec.success_criteria = {"The artifact satisfies contract " + (contract ? contract->name() : std::string("(plain text)"))};
    if (!gate.empty()) { spec.success_criteria.push_back("The kernel's " + gate + " gate passes"); }
    spec.stage = stage;
    spec.contract = contract;
    spec.budget = services.budget;
    spec.max_output_tokens = services.output_limit ? services.output_limit(agent.role) : services.max_output_tokens;
    return spec;
}

/// Returns AGENTS.md from the commit that the task started from: an agent that writes the file does not change its own
/// instructions.
Result<std::string> agents_md_of(const TaskServices& services, TaskWorkspace& task_workspace, const TaskState& state) {
    constexpr std::size_t most_bytes = 256UL << 10U;
    if (!services.agents_md) { return std::string(); }
    AF_TRY(const auto text, task_workspace.file_in_tree(state.base_tree, "AGENTS.md"));
    if (!text) { return std::string(); }
    const std::string shown = services.redactor.redact(*text);
    return sanitize_utf8(shown.size() > most_bytes ? head_and_tail(shown, most_bytes) : shown);
}

/// True if the role has a tool that writes: path rules alone would let a role without one write. A server's tool counts if the
/// server may write.
bool has_writing_tool(const TaskServices& services, const AgentDefinition& agent) {
    return std::any_of(agent.allowed_tools.begin(), agent.allowed_tools.end(), [&services](const std::string& name) {
        if (!services.plugins.has(PluginKind::tool, name)) {
            const ServerDefinition* const server =
                services.servers == nullptr ? nullptr : services.servers->by_prefix(prefix_of(name));
            return server != nullptr && server->writes;
        }
        const auto tool = services.plugins.tool(name);
        return tool.ok() && has((*tool)->spec().effects, ToolEffect::writes);
    });
}

/// What the specification's dependencies came to, for the stages that build on it: branches and commits of other tasks; tag,
/// commit and path of artifacts of other repositories.
json::object dependencies_for(const TaskState& state, const StageTemplate& stage) {
    if (!state.dependencies || makes(stage, contract_name::specification)) { return {}; }
    json::object met;
    if (!state.dependencies->tasks.empty()) { records::write_field(met, "tasks", state.dependencies->tasks); }
    if (!state.dependencies->external.empty()) { records::write_field(met, "external", state.dependencies->external); }
    return met;
}

/// A command that works agentically has tools of its own; what is left are the actions that end its work.
void keep_final_tools(const TaskServices& services, AgentDefinition& agent) {
    std::erase_if(agent.allowed_tools, [&services](const std::string& name) {
        if (!services.plugins.has(PluginKind::tool, name)) { return true; }
        const auto tool = services.plugins.tool(name);
        return !tool.ok() || !has((*tool)->spec().effects, ToolEffect::completes | ToolEffect::escalates);
    });
}

}  // namespace

Result<void> check_prompts_fit(const TaskServices& services, const StageTemplate& stage, const std::string& request) {
    std::vector<std::pair<std::string, bool>> runs;
    if (!stage.agent.empty()) { runs.emplace_back(stage.agent, false); }
    for (const std::string& reviewer : stage.reviewers) { runs.emplace_back(reviewer, true); }
    for (const auto& [role, review] : runs) {
        AF_TRY(const AgentDefinition agent, services.agents.get(role));
        const std::string name = review || stage.contract.empty() ? agent.output_contract(stage.name) : stage.contract;
        if (name.empty()) { continue; }
        AF_TRY(const Contract contract, services.contracts.get(name));
        AF_TRY(const ModelClient* const model, services.model(agent));
        const RunSpec spec = frame_of(services, agent, stage.name, contract, "", request);
        AF_CHECK(fix_parts(spec, shipped_tools_of(services, agent, contract.model_schema()), model->info().native_tool_calls));
    }
    return {};
}

ServerPlace stage_process_place(TaskWorkspace& task_workspace, const TaskServices& services) {
    ServerPlace place;
    place.exec_helper = services.exec_helper;
    place.workspace = task_workspace.root();
    place.scratch = task_workspace.scratch();
    place.readable = program_folders(services.environment);
    place.readable.push_back(task_workspace.root());
    place.environment = services.environment;
    return place;
}

Result<std::pair<ProcessResult, std::vector<Change>>> run_process_as_role(TaskSession& session, TaskWorkspace& task_workspace,
                                                                          TaskServices& services, const std::string& role,
                                                                          const ProcessSpec& spec) {
    AF_TRY(const AgentDefinition agent, services.agents.get(role));
    AF_TRY(const auto locked, locked_tests(session));
    AF_TRY(auto symbols, task_workspace.path_symbols(session.state().base_tree));
    AF_TRY(auto specified, specified_files(session));
    AF_TRY(RolePaths rules, has_writing_tool(services, agent) ? RolePaths::make(agent.role, agent.path_constraints, locked,
                                                                                std::move(symbols), std::move(specified))
                                                              : RolePaths::make(agent.role, {{"reading", "!*"}}));
    AF_TRY(auto workspace, RoleWorkspace::open(task_workspace.root(), std::move(rules), services.redactor));
    const RecordAgent who{agent.role, agent.version, ""};
    return run_confined(session, task_workspace, services, *workspace, who, session.state().tree, spec);
}

Result<AgentOutcome> run_role(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services, StageClock& clock,
                              const AgentRun& run, unsigned number, bool review, ServerPool& servers) {
    const TaskState& state = session.state();
    const StageTemplate& stage = state.stage_template();
    const std::string role = run.role.empty() ? stage.agent : run.role;
    if (role.empty()) {
        return Error{"AF-ORCH-027", "stage `" + stage.name + "` has no agent", "", "name one in the pipeline template",
                     ErrorKind::invalid};
    }
    AF_TRY(AgentDefinition agent, services.agents.get(role));
    std::optional<Contract> contract;
    if (!run.text_answer) {
        const std::string name = !run.output_contract.empty() ? run.output_contract : stage.contract;
        AF_TRY(contract, services.contracts.get(name));
    }
    AF_TRY(ModelClient* const model, services.model(agent));
    AF_TRY(const auto recorded, parse_time(state.stage().started_at));
    KernelCallContext context(services, clock, stage.name, recorded);
    const std::string gate = run.exit_gate.empty() && !review && !run.text_answer ? exit_gate(stage) : run.exit_gate;
    const bool agentic = services.agentic && services.agentic(agent);
    if (agentic && state.interactive) {
        return Error{"AF-ESC-034",
                     "an interactive task cannot use the model of role `" + agent.role +
                         "`, which works agentically: its command acts before anyone can be asked",
                     "llm.mode", "set `llm.mode: plain` for the role, then resume", ErrorKind::unavailable};
    }
    // A reviewer never writes. In agentic mode, neither does a role without a writing tool, or one whose result is a text.
    const bool writes = !review && (!agentic || (!run.text_answer && has_writing_tool(services, agent)));
    AgentSession host(session, task_workspace, services, clock, context, agent, contract, gate, number, review, writes);
    AF_CHECK(host.open());
    host.set_model(services.model_name ? services.model_name(agent) : std::string(), model->info().offline);
    if (agentic) { keep_final_tools(services, agent); }
    ServerOffer offer;
    offer.pin = [&host](const std::string& name, const ListedTool& tool) { return host.pin(name, tool); };
    offer.settle = [&host] { return host.settle_server(); };
    AF_TRY(auto tools, load_tools(
                           services, agent, servers, [&host] { return host.server_place(); }, offer,
                           [&context] { return context.cancelled(); }));
    const bool has_writer = std::any_of(tools.begin(), tools.end(),
                                        [](const auto& tool) { return has(tool.second->spec().effects, ToolEffect::writes); });
    if (!agentic && !has_writer) { AF_CHECK(host.forbid_writes()); }

    RunSpec spec = frame_of(services, agent, stage.name, contract, gate, state.request);
    std::vector<std::string> specified = specified_criteria(host.artifacts_by_contract(), stage);
    spec.success_criteria.insert(spec.success_criteria.begin(), std::make_move_iterator(specified.begin()),
                                 std::make_move_iterator(specified.end()));
    spec.run = run;
    spec.run.role = role;
    spec.place = RequestPlace{state.task_id, stage.name, role, host.visit(), number, 1};
    // A person's guidance at resume. Steps have no memory, so every step of the first stage that hears it gets it.
    if (const std::string& guidance = session.state().resumption.guidance; !guidance.empty()) {
        spec.run.state["guidance"] = guidance;
    }
    if (review) {
        spec.run.state["task_history"] = task_history(state);
    } else {
        AF_CHECK(add_context(spec.run.state, session, task_workspace));
    }
    if (json::object iteration = review ? json::object() : iteration_context(state); !iteration.empty()) {
        // The path is inside.
        if (const json::value* text = spec.run.state.if_contains("feedback");
            text != nullptr && *text == json::value(*state.feedback)) {
            spec.run.state.erase("feedback");
        }
        spec.run.state["iteration_context"] = std::move(iteration);
    }
    if (json::object met = dependencies_for(state, stage); !met.empty()) {
        spec.run.state["resolved_dependencies"] = std::move(met);
    }
    AF_TRY(std::string handed_back, hand_back_note(session, task_workspace));
    if (!handed_back.empty() && !review) { spec.run.state["handed_back"] = std::move(handed_back); }
    AF_TRY(spec.agents_md, agents_md_of(services, task_workspace, state));
    spec.calibration_permille = host.calibration(model);
    spec.max_steps = run.max_steps != 0 ? run.max_steps : stage.max_steps;
    spec.agentic = agentic;
    std::unique_ptr<ModelClient> commanded;
    if (agentic) {
        AF_TRY(const auto locked, locked_tests(session));
        const std::string inputs = task_workspace.scratch() + "/inputs";
        AF_CHECK(artifacts_as_paths(spec.run.state, host.artifacts(), inputs));
        spec.run.instructions += agentic_instructions(agent, writes, locked, host.scratch(), host.workspace().symbols());
        commanded = make_redacting_client(make_agentic_client(*model, host, services.redactor), services.redactor);
    }

    ToolBridge bridge(agent, std::move(tools), host.workspace(), host, contract ? contract->model_schema() : json::object(),
                      services.plugins.names(PluginKind::tool));
    return agentforge::kernel::run_agent(spec, bridge, commanded ? *commanded : *model, host, context, services.events);
}

}  // namespace agentforge::kernel
