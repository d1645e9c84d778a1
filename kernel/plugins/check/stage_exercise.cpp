// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "plugins/check/check_host.hpp"
#include "plugins/check/check_inputs.hpp"
#include "plugins/check/exercises.hpp"
#include "plugins/check/host_setup.hpp"
#include "plugins/check/result_checks.hpp"

namespace agentforge::kernel {

namespace {

json::object sample_input_artifact(const StageInfo& info, CheckInput input) {
    json::object artifact;
    if (input != CheckInput::empty) {
        for (const std::string& field : info.required_input_fields) { artifact[field] = "text"; }
        artifact["files"] = json::array{"src/app.py"};
        artifact["title"] = "Add a slugify function";
    }
    return spoiled(std::move(artifact), input);
}

/// Returns an artifact with the fields that the stage promises: the answer of its agents.
json::object sample_answer(const StageInfo& info, CheckInput input) {
    json::object answer;
    for (const std::string& field : info.output_fields) { answer[field] = "text"; }
    return spoiled(std::move(answer), input);
}

void set_stage_input(CheckStageContext& host, const StageInfo& info, const CheckInputCase& one) {
    const json::object artifact = sample_input_artifact(info, one.input);
    host.stage_input.stage = info.name;
    host.stage_input.request = text_for(one.input, "Add a slugify function.");
    host.stage_input.goal_type = one.input == CheckInput::empty ? "" : "feature";
    host.stage_input.input_artifact = artifact;
    host.stage_input.artifacts["earlier"] = artifact;
    if (one.broken || one.input == CheckInput::huge || one.input == CheckInput::entries) {
        host.stage_input.feedback = text_for(one.input, "Shorter.");
        host.stage_input.resolution = artifact;
        host.stage_input.previous_attempt = artifact;
        host.stage_input.previous_errors = {text_for(one.input, "A field is missing.")};
    }
}

void set_answers(CheckStageContext& host, CheckInput input, const json::object& answer) {
    host.agent.artifact = answer;
    host.agent.tool_uses.push_back({"complete", answer, true, "handed in"});
    host.agent.steps = 1;
    host.agent.text =
        input == CheckInput::valid ? "```json\n" + json::serialize(answer) + "\n```\n" : text_for(input, "no artifact here");
    host.process = program_that_prints(text_for(input, "done\n"));
    host.contract_answer = answer;
}

class StageExercise {
public:
    StageExercise(PluginCalls& calls, const CheckHooks& hooks, Stage& stage) : calls_(calls), hooks_(hooks), stage_(stage) {}

    void run(const std::string& name) {
        if (!calls_.make({"describe", "info"}, [&] { info_ = stage_.info(); })) { return; }
        judge_name(calls_, "info", info_.name, name);
        judge_text(calls_, "describe", "a description", info_.description);
        calls_.pass("describe", "info() agrees with plugin.json");
        for (const CheckInputCase& one : check_inputs) { run_with(one); }
        calls_.pass("calls",
                    "its life cycle ran for " + std::to_string(check_inputs.size()) + " inputs, or what it did is reported");
    }

private:
    void run_with(const CheckInputCase& one) {
        const json::object answer = sample_answer(info_, one.input);
        auto folder = make_call_folder(calls_, hooks_);
        if (!folder) { return; }
        CheckStageContext host(*folder);
        prepare_host(calls_, host, one.input);
        set_stage_input(host, info_, one);
        set_answers(host, one.input, answer);
        host.open();
        run_life_cycle(host, one, answer);
        host.close();
        judge_context(calls_, host);
    }

    /// `answer`: the artifact for `validate_output` if `execute` returned none.
    void run_life_cycle(CheckStageContext& host, const CheckInputCase& one, const json::object& answer) {
        const auto make = [&](const char* method, const std::function<void()>& body) {
            return calls_.make({"calls", method, one.name, one.broken}, body);
        };
        std::optional<StageResult> result;  // Constructed, not assigned: an assignment would copy into our memory.
        bool ready = false;
        if (!make("initialize", [&] { ready = stage_.initialize(host).ok(); }) || !ready) { return; }
        Validation validation;
        if (make("validate_input", [&] { validation = stage_.validate_input(host); }) && validation.valid()) {
            if (make("execute", [&] { result.emplace(stage_.execute(host)); })) { judge_result(*result); }
        }
        make("validate_output",
             [&] { static_cast<void>(stage_.validate_output(host, result && result->artifact ? *result->artifact : answer)); });
        make("finalize", [&] { stage_.finalize(host, result ? *result : StageResult::failed(check_host_error())); });
    }

    void judge_result(const StageResult& result) const {
        constexpr const char* remedy = "Return StageResult::completed, failed, escalate or cycle.";
        const bool waits = result.escalated() || !result.cycle_to.empty();
        if (result.error) { judge_error(calls_, *result.error); }
        if (result.artifact) { judge_memory(calls_, *result.artifact); }
        if (result.status == StageStatus::completed && (waits || !result.artifact)) {
            calls_.wrong_result("calls", CheckStatus::error,
                                waits ? "says that it completed and that it must wait" : "completed without an artifact",
                                "no verdict that can be acted on", "one verdict", remedy);
        } else if (result.status == StageStatus::failed && !result.error) {
            calls_.wrong_result("calls", CheckStatus::error, "failed and gave no reason", "no error", "an Error", remedy);
        } else if (result.status == StageStatus::running || (result.status == StageStatus::pending && !waits)) {
            calls_.wrong_result("calls", CheckStatus::error, "returned without a verdict", "pending", "one verdict", remedy);
        }
    }

    PluginCalls& calls_;
    const CheckHooks& hooks_;
    Stage& stage_;
    StageInfo info_;
};

}  // namespace

void exercise_stage(PluginCalls& calls, const CheckHooks& hooks, Stage& stage, const std::string& name) {
    StageExercise(calls, hooks, stage).run(name);
}

}  // namespace agentforge::kernel
