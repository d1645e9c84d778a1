// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "task/exit_gate.hpp"
#include "task/fold.hpp"

namespace agentforge::kernel {

namespace {

/// Sums of thousands of such numbers are exact.
constexpr std::uint64_t most_counted = 1ULL << 40U;

template <class T>
using Members = boost::describe::describe_members<T, boost::describe::mod_public>;

/// True if DeliveryFacts has each field of a record except its stage.
template <class Record>
consteval bool is_kept() {
    bool all = true;
    boost::mp11::mp_for_each<Members<Record>>([&all](auto field) {
        bool found = std::string_view(field.name) == "stage";
        boost::mp11::mp_for_each<Members<DeliveryFacts>>(
            [&](auto kept) { found = found || std::string_view(field.name) == kept.name; });
        all = all && found;
    });
    return all;
}

bool is_list_of_plugins(const json::value& value) {
    return value.is_array() && std::ranges::all_of(value.get_array(), [](const json::value& each) {
               return records::is_one<records::PluginInUse>(each);
           });
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- steps --

template <>
Result<void> Fold::on(const records::Step& step) {
    AF_CHECK(require_running());
    AF_CHECK(require_current_visit(step.phase, *step.visit));
    const std::uint64_t number = envelope_.step;
    if (!step.tree->empty() && *step.tree != state_.tree) { AF_CHECK(require_writer()); }
    if (*step.input_tokens > most_counted || *step.output_tokens > most_counted) {
        return refuse("the step's token count is not one that a call can have used");
    }
    if (step.patch) { AF_CHECK(require_own_file(*step.patch)); }
    StageState& stage = state_.stage();
    stage.steps += 1;
    stage.input_tokens += *step.input_tokens;
    stage.output_tokens += *step.output_tokens;
    state_.steps = number;
    if (!state_.answer_counted) {
        if (const auto usage = records::usage_of_old_step(step)) { state_.ledger.add(step.phase, role(), *usage); }
    }
    state_.answer_counted = false;
    state_.ended_while_running = false;
    if (!step.tree->empty()) { state_.tree = *step.tree; }
    remember(step, number);
    return {};
}

void Fold::remember(const records::Step& step, std::uint64_t number) {
    Resumption& resumption = state_.resumption;
    const TokenEstimate tokens{*step.input_tokens, records::estimated_tokens(step)};
    if (RunState* const run = run_of(step.phase, *step.visit, *step.run)) {
        run->steps.push_back(*step.record_blob);
        run->answers.clear();
        keep_larger(run->tokens, tokens);
    } else {
        keep_larger(resumption.calibration[role()], tokens);
    }
    resumption.decisions.clear();
    resumption.guidance_used = true;
    resumption.last_steps.push_back({number, *step.action->type, *step.result->status, *step.result->summary});
    if (resumption.last_steps.size() > Resumption::kept_last_steps) { resumption.last_steps.pop_front(); }
}

RunState* Fold::run_of(const std::string& stage, unsigned visit, unsigned run) {
    const auto place = place_of_run(stage, visit, run);
    return place ? &state_.resumption.runs[*place] : nullptr;
}

std::optional<RunPlace> Fold::place_of_run(const std::string& stage, unsigned visit, unsigned run) const {
    if (stage != state_.stage().name || visit != state_.stage().visits || !envelope_.agent) { return std::nullopt; }
    return RunPlace{run, *envelope_.agent->role, envelope_.agent->mode.value_or("")};
}

/// Refuses a second answer: a step uses its recorded answer and does not ask the model again.
Result<void> Fold::require_unanswered(const records::Answer& answer) const {
    const auto place = place_of_run(answer.phase, *answer.visit, *answer.run);
    const auto run = place ? state_.resumption.runs.find(*place) : state_.resumption.runs.end();
    const bool is_answered = run != state_.resumption.runs.end() && run->second.answers.contains(*answer.run_step);
    return is_answered ? refuse("its step already has an answer") : Result<void>();
}

/// Usage is counted with the answer, not with the step. A crash between the two loses nothing and counts nothing twice.
template <>
Result<void> Fold::on(const records::Answer& answer) {
    AF_CHECK(require_current_visit(answer.phase, *answer.visit));
    AF_CHECK(require_unanswered(answer));
    if (answer.usage) { AF_CHECK(count_call(answer.phase, *answer.usage, false)); }
    std::int64_t& halves = state_.resumption.failed_attempts_halves;
    halves = std::max<std::int64_t>(0, halves - 1);
    if (RunState* const run = run_of(answer.phase, *answer.visit, *answer.run)) {
        run->answers[*answer.run_step] = *answer.answer;
    }
    return {};
}

/// An attempt that was refused before the model began has no usage.
template <>
Result<void> Fold::on(const records::AttemptFailed& failed) {
    AF_CHECK(require_current_visit(failed.phase, *failed.visit));
    if (failed.usage) { AF_CHECK(count_call(failed.phase, *failed.usage, true)); }
    state_.resumption.failed_attempts_halves += 2;
    if (RunState* const run = run_of(failed.phase, *failed.visit, *failed.run)) {
        RunState::Attempts& attempts = run->attempts[*failed.run_step];
        attempts = {attempts.count + 1, *failed.code, *failed.message, *failed.where};
    }
    return {};
}

template <>
Result<void> Fold::on(const records::CallLost& lost) {
    AF_CHECK(require_current_visit(lost.phase, *lost.visit));
    return count_call(lost.phase, lost.usage, true);
}

Result<void> Fold::count_call(const std::string& stage, const records::CallUsage& usage, bool lost) {
    const std::pair<const char*, std::uint64_t> counts[] = {{"input_tokens", usage.input_tokens},
                                                            {"output_tokens", usage.output_tokens},
                                                            {"cached_input_tokens", *usage.cached_input_tokens},
                                                            {"cache_write_input_tokens", *usage.cache_write_input_tokens},
                                                            {"cost_microusd", usage.cost_microusd.value_or(0)}};
    for (const auto& [key, count] : counts) {
        if (count > most_counted) { return refuse(std::string("`") + key + "` is more than a call can have used"); }
    }
    state_.ledger.add(stage, role(), usage, lost);
    state_.answer_counted = state_.answer_counted || !lost;
    state_.ended_while_running = false;
    return {};
}

template <>
Result<void> Fold::on(const records::ServerTool& tool) {
    state_.resumption.pinned_tools[*tool.tool] = *tool.tool_hash;
    return {};
}

template <>
Result<void> Fold::on(const records::Costing& costing) {
    state_.costing = costing.in_force;
    return {};
}

template <>
Result<void> Fold::on(const records::Plugins& plugins) {
    if (!plugins.in_use->value) {
        if (plugins.in_use->blob.empty()) { return refuse("it names no list of plugins"); }
    } else if (!is_list_of_plugins(*plugins.in_use->value)) {
        return refuse("its plugins are not a list with `id`, `version`, `sha256` and `source` for each");
    }
    state_.resumption.plugins = *plugins.in_use;
    return {};
}

// -------------------------------------------------------------------------------------------------------- host calls --

template <>
Result<void> Fold::on(const records::CallStarted& started) {
    if (*started.stage != state_.stage().name || *started.visit != state_.stage().visits) {
        return refuse("it is of visit " + std::to_string(*started.visit) + " of stage `" + *started.stage +
                      "`, which is not the current one");
    }
    if (state_.resumption.calls.contains(*started.call)) {
        return refuse("call " + std::to_string(*started.call) + " of its visit was already made");
    }
    if (started.plan_step && (started.plan_step->number == 0 || started.plan_step->number > started.plan_step->of)) {
        return refuse("a plan of " + std::to_string(started.plan_step->of) + " steps has no step " +
                      std::to_string(started.plan_step->number));
    }
    state_.resumption.calls[*started.call] = {
        *started.name, *started.input_hash, false, false, {}, started.plan_step.has_value()};
    if (started.plan_step) {
        state_.stage().plan_step = *started.plan_step;
        state_.stage().retries += *started.plan_step->attempt > 1 ? 1 : 0;
    }
    return {};
}

/// The writes of a stage are recorded with the call that made them: both or neither.
template <>
Result<void> Fold::on(const records::CallFinished& finished) {
    const auto begun = state_.resumption.calls.find(*finished.call);
    const bool is_open = *finished.stage == state_.stage().name && *finished.visit == state_.stage().visits &&
                         begun != state_.resumption.calls.end() && !begun->second.finished;
    if (!is_open) { return refuse("call " + std::to_string(*finished.call) + " of its visit is not under way"); }
    Resumption::HostCall& call = begun->second;
    if (call.name != *finished.name || call.input_hash != *finished.input_hash) {
        return refuse("call " + std::to_string(*finished.call) + " is of `" + call.name + "` with different input");
    }
    if (finished.outcome->empty()) { return refuse("it does not say how the call ended"); }
    if (finished.tree && !finished.tree->empty()) {
        AF_CHECK(require_running());
        AF_CHECK(require_writer());
        state_.tree = *finished.tree;
    }
    call = {*finished.name, *finished.input_hash, true, *finished.outcome == "ok", *finished.result, call.works_at_plan};
    if (call.works_at_plan && call.ok) { made_progress(); }  // A finished step of a plan is progress, however long the plan is.
    return {};
}

// ------------------------------------------------------------------------------------------------------ measurements --

template <>
Result<void> Fold::on(const records::Gate& gate) {
    AF_CHECK(require_running());
    if (!gate.stage->empty()) { AF_CHECK(require_current_stage(*gate.stage)); }
    GateState measured{gate.tree, gate.passed, *gate.partial, gate.summary, envelope_.seq.value_or(state_.seq + 1)};
    const auto before = state_.gates.find(gate.gate);
    const bool again = before != state_.gates.end() && before->second.tree == measured.tree;
    if (gate.held_out_failing) {
        for (const std::string& file : *gate.held_out_failing) { state_.held_out.failures[file] += again ? 0 : 1; }
    }
    if (measured.passed || gate.failures) {
        count_effort(gate.gate, measured, gate.failing.value_or(""), gate.failures.value_or(0));
    }
    state_.gates[gate.gate] = std::move(measured);
    state_.resumption.reports[gate.gate] = {gate.inputs.value_or(""), *gate.report};
    state_.gate_figures.add(gate);
    if (state_.progress == StageProgress::accepted && gate.gate == exit_gate(state_.stage_template()) &&
        !unmet_exit_gate(state_).empty()) {
        // The basis of the acceptance no longer holds: sends the stage back, as if the artifact had been refused.
        send_back("the " + gate.gate + " gate was measured again and does not pass: " + gate.summary);
    }
    return {};
}

void Fold::count_effort(const std::string& gate, const GateState& measured, const std::string& failing, std::uint64_t failures) {
    Effort& effort = state_.stage().effort;
    const bool judges = gate == exit_gate(state_.stage_template());
    if (judges && !measured.passed) { effort.same_refusals[failing] += 1; }
    const auto before = effort.fewest.find(gate);
    if (before == effort.fewest.end() || failures < before->second) {
        effort.fewest[gate] = failures;
        made_progress();
    } else if (!measured.passed && judges) {
        effort.refusals += 1;
    } else if (!measured.passed && measured.tree != effort.last_tree) {
        effort.edits += 1;
        effort.last_tree = measured.tree;
    }
}

template <>
Result<void> Fold::on(const records::Snapshot& snapshot) {
    AF_CHECK(require_running());
    AF_CHECK(require_writer());
    if (snapshot.put_back && state_.hand_back) { state_.hand_back->work_tree.clear(); }
    state_.tree = snapshot.tree;
    return {};
}

template <>
Result<void> Fold::on(const records::HeldOut& held_out) {
    AF_CHECK(require_running());
    if (held_out.red_tree != state_.red_tree) { return refuse("the tests that are held out are not of this task's red_tree"); }
    for (const std::string& file : held_out.files) {
        if (!is_inside(file)) { return refuse("`" + ellipsis(sanitize_utf8(file), 100) + "` is not a file of the repository"); }
    }
    HeldOutTests& now = state_.held_out;
    if (held_out.red_tree != now.red_tree) { now.failures.clear(); }
    now.red_tree = held_out.red_tree;
    now.files = held_out.files;
    now.shown = held_out.shown;
    now.hidden = held_out.hidden;
    now.reason = held_out.reason;
    state_.tree = held_out.tree;
    return {};
}

// ---------------------------------------------------------------------------------------------------------- delivery --

/// Stores the record's facts about the delivery. A field that a record of an older version lacks stays absent.
template <class T>
void Fold::take_delivery(const T&) {
    static_assert(is_kept<T>());
    records::Reader(record_).read_into(state_.delivery);
}

template <>
Result<void> Fold::on(const records::Delivered& delivered) {
    AF_CHECK(require_executing(delivered.stage));
    if (delivered.patch_file && !delivered.patch_file->empty()) { AF_CHECK(require_own_file(*delivered.patch_file)); }
    AF_CHECK(require_deliver_gate(delivered.tree));
    if (delivered.commit.empty() && (!delivered.patch_file || delivered.patch_file->empty())) {
        return refuse("it names neither a commit nor a file with the change");
    }
    state_.commit = delivered.commit;
    state_.branch = delivered.branch;
    state_.delivery = {};
    take_delivery(delivered);
    return {};
}

template <>
Result<void> Fold::on(const records::DeliveryPrepared& prepared) {
    AF_CHECK(require_executing(prepared.stage));
    if (state_.set_file.empty()) { return refuse("the task is not part of a set"); }
    AF_CHECK(require_deliver_gate(prepared.tree));
    state_.prepared =
        PreparedCommit{prepared.branch, prepared.commit, prepared.tree, prepared.workspace_tree, prepared.commit_hooks};
    return {};
}

Result<void> Fold::require_deliver_gate(const std::string& tree) const {
    if (const std::string unmet = unmet_gate(state_, gate_name::deliver, tree); !unmet.empty()) {
        return refuse("it delivers tree " + tree + ", but " + unmet);
    }
    return {};
}

template <>
Result<void> Fold::on(const records::DependenciesMet& met) {
    AF_CHECK(require_running());
    if (met.stage != state_.stage().name) { return refuse("stage `" + met.stage + "` is not the one that begins"); }
    state_.dependencies = MetDependencies{met.specification_blob, met.tasks, met.external};
    return {};
}

/// The delivered branch was pushed.
template <>
Result<void> Fold::on(const records::Published& published) {
    AF_CHECK(require_executing(published.stage));
    if (state_.commit.empty()) { return refuse("nothing was delivered"); }
    take_delivery(published);
    return {};
}

template <>
Result<void> Fold::on(const records::RebasePrepared& prepared) {
    AF_CHECK(require_rebase_of(prepared.replaces));
    state_.rebase = prepared;
    return {};
}

Result<void> Fold::require_rebase_of(const std::string& commit) const {
    if (state_.status != TaskStatus::completed || state_.commit.empty()) {
        return refuse("only a commit that was delivered can be rebased");
    }
    if (commit != state_.commit) { return refuse("it replaces " + commit + ", and the task's commit is " + state_.commit); }
    return {};
}

/// The delivered change was rebased onto a newer base after the task's end.
template <>
Result<void> Fold::on(const records::Rebased& rebased) {
    AF_CHECK(require_rebase_of(rebased.replaces));
    if (!rebased.gate_passed) { return refuse("the deliver gate did not pass on the rebased tree"); }
    state_.commit = rebased.commit;
    state_.rebase.reset();
    take_delivery(rebased);
    state_.delivery.drift.reset();
    return {};
}

}  // namespace agentforge::kernel
