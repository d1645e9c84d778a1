// SPDX-License-Identifier: Apache-2.0
// EXECUTE: works through the steps of a plan in order, with one agent run for each step. A failed step is retried. If the stage
// fails, its next visit begins at the failed step. If the finished work is sent back, one more run fixes it. This stage does not
// judge the work: gates measure it afterwards.
#include <agentforge/json_fields.hpp>
#include <agentforge/plugin.hpp>
#include <agentforge/stage_helpers.hpp>

#include <algorithm>
#include <set>

namespace {

using namespace agentforge;

constexpr std::int64_t default_retries = 3;

/// A model that failed may succeed in another try. Any other failure is for the kernel to handle.
bool may_be_tried_again(const Error& error) {
    return error.code == "AF-AGENT-010" || error.code == "AF-AGENT-011" || error.code == "AF-AGENT-012";
}

/// The purpose of a run: a step of the plan, or fixing what was sent back.
struct Work {
    std::string objective;
    std::string title;
    std::int64_t number = 0;
    const json::object* step = nullptr;  ///< Null: the whole plan.
    std::set<std::string> requirements;  ///< Empty: all.
};

std::set<std::string> requirements_in(const json::object& step) {
    const std::vector<std::string> names = texts_of(step, "requirements");
    return {names.begin(), names.end()};
}

class ExecuteStage final : public Stage {
public:
    explicit ExecuteStage(const json::object& settings)
        : retries_(number_of(settings, "step_retry_limit", default_retries)),
          gate_(text_of(settings, "step_gate").empty() ? "syntax" : text_of(settings, "step_gate")) {}

    [[nodiscard]] StageInfo info() const override {
        StageInfo info;
        info.name = "execute";
        info.description = "Works through the steps of a plan.";
        info.output_contract = "execution";
        info.output_fields = {"steps"};
        return info;
    }

    [[nodiscard]] Validation validate_input(StageContext& context) override {
        return require_artifacts(context.input(), {"plan", "test_suite"});
    }

    [[nodiscard]] StageResult execute(StageContext& context) override {
        const json::object& plan = context.input().artifacts.find("plan")->second;
        const std::vector<json::object> steps = objects_of(plan, "steps");
        json::object done = done_before(context.input(), steps);
        const bool sent_back = !steps.empty() && list_of(done, "steps").size() == steps.size();
        for (const json::object& step : steps) {
            const std::int64_t number = number_of(step, "number");
            if (number <= static_cast<std::int64_t>(list_of(done, "steps").size())) { continue; }
            const Work work{
                "Step " + std::to_string(number) + " of " + std::to_string(steps.size()) + ": " + text_of(step, "title"),
                text_of(step, "title"), number, &step, requirements_in(step)};
            if (auto ended = run(work, steps, done, context)) { return std::move(*ended); }
        }
        if (sent_back && !why_sent_back(context.input()).empty()) {
            const Work work{
                "Fix what was sent back", "Fix what was sent back", static_cast<std::int64_t>(steps.size()), nullptr, {}};
            if (auto ended = run(work, steps, done, context)) { return std::move(*ended); }
        }
        done["summary"] = summary_of(done);
        return StageResult::completed(std::move(done));
    }

private:
    /// Returns the steps that an earlier visit has finished. None if the plan has changed.
    static json::object done_before(const StageInput& input, const std::vector<json::object>& steps) {
        json::object done{{"steps", json::array()}};
        if (!input.previous_attempt) { return done; }
        json::array finished;
        for (const json::object& step : objects_of(*input.previous_attempt, "steps")) {
            const std::size_t at = finished.size();
            if (at >= steps.size() || number_of(step, "number") != number_of(steps[at], "number") ||
                text_of(step, "title") != text_of(steps[at], "title")) {
                return done;
            }
            finished.push_back(step);
        }
        done["steps"] = std::move(finished);
        for (const char* kept : {"corrections", "file_notes"}) {
            if (const json::value* value = input.previous_attempt->if_contains(kept)) { done[kept] = *value; }
        }
        return done;
    }

    static std::string why_sent_back(const StageInput& input) {
        if (input.feedback) { return *input.feedback; }
        if (input.resolution) {
            return text_of(*input.resolution, "answer").empty() ? "a person answered" : text_of(*input.resolution, "answer");
        }
        return input.previous_errors.empty() ? std::string() : input.previous_errors.front();
    }

    /// Runs the agent until the work is done, and adds it to `done`. Returns a result if the stage ends here.
    std::optional<StageResult> run(const Work& work, const std::vector<json::object>& steps, json::object& done,
                                   StageContext& context) const {
        std::optional<std::string> failure;
        for (std::int64_t attempt = 1; attempt <= retries_ + 1; ++attempt) {
            if (failure) {
                context.log(LogLevel::info,
                            "try " + std::to_string(attempt) + " of " + std::to_string(retries_ + 1) + " of step " +
                                std::to_string(work.number),
                            {});
            }
            auto ran = context.run_agent(run_of(work, steps, done, failure, attempt, context.input()));
            if (ran.ok() && ran->escalation) { return StageResult::escalate(*ran->escalation, done); }
            if (ran.ok() && ran->artifact.contains("hand_back")) { return handed_back(std::move(ran->artifact)); }
            if (ran.ok() && !ran->artifact.empty()) {
                keep(work, ran->artifact, attempt, done, context.input());
                return std::nullopt;
            }
            failure = ran.ok() ? "the model handed in nothing" : ran.error().message;
            if (!ran.ok() && !may_be_tried_again(ran.error())) { return failed(ran.error(), done); }
        }
        const std::string name = work.step == nullptr
                                     ? "what was sent back could not be fixed"
                                     : "step " + std::to_string(work.number) + " (" + work.title + ") could not be done";
        return failed(
            Error{"AF-STAGE-050",
                  name + " in " + std::to_string(retries_ + 1) + (retries_ == 0 ? " try: " : " tries: ") + *failure,
                  "stage " + context.input().stage,
                  "Look at its steps with `agentforge inspect`, then say what to do: `agentforge resume TASK --say \"…\"`.",
                  ErrorKind::invalid},
            done);
    }

    /// Handed-back work goes to the stage that made it, which the kernel finds. The kernel has checked the evidence, and checks
    /// it again.
    static StageResult handed_back(json::object result) {
        const json::object& claim = result.at("hand_back").as_object();
        StageResult cycle = StageResult::cycle(text_of(claim, "to"), text_of(claim, "reason"));
        cycle.artifact = std::move(result);
        return cycle;
    }

    static StageResult failed(Error error, const json::object& done) {
        StageResult result = StageResult::failed(std::move(error));
        result.artifact = done;
        return result;
    }

    AgentRun run_of(const Work& work, const std::vector<json::object>& steps, const json::object& done,
                    const std::optional<std::string>& failure, std::int64_t attempt, const StageInput& input) const {
        AgentRun run;
        run.objective = work.objective;
        run.instructions =
            work.step != nullptr
                ? "Do this step of the plan and no other. The specified interfaces exist as skeletons that raise a marker: replace their bodies. Test files are locked. After every edit the kernel "
                  "measures syntax, types, conformance and tests and shows you the result; tests of later steps may still fail. When the tests of this step's requirements pass, hand in with `complete`: "
                  "a summary and, in file_notes, one line for each file you changed. In the last step, if all pass except a test that contradicts the plan, hand that test back: `complete` with hand_back."
                : "All steps of the plan are done, and the work was sent back: `previous_errors` says why. Fix that and nothing else. Test files are locked. After every edit the kernel measures syntax, "
                  "types, conformance and tests and shows you the result. Hand in with `complete`: a summary and, in file_notes, one line for each file you changed. If all pass except a test that "
                  "contradicts the plan, hand that test back: `complete` with hand_back.";
        run.output_contract = "step_result";
        run.exit_gate = gate_;
        const json::object& plan = input.artifacts.find("plan")->second;
        run.state["request"] = input.request;
        run.state["plan_step"] = json::object{{"number", work.number},
                                              {"of", static_cast<std::int64_t>(steps.size())},
                                              {"title", work.title},
                                              {"attempt", attempt}};
        if (work.step != nullptr) { run.state["step"] = *work.step; }
        run.state["requirements"] = requirements_of(plan, work.requirements);
        run.state["tests"] = tests_of(input.artifacts.find("test_suite")->second, work.requirements);
        if (const json::value* interfaces = plan.if_contains("interfaces")) { run.state["interfaces"] = *interfaces; }
        json::array before;
        for (const json::object& step : objects_of(done, "steps")) {
            before.push_back(json::object{
                {"number", number_of(step, "number")}, {"title", text_of(step, "title")}, {"summary", text_of(step, "summary")}});
        }
        if (!before.empty()) { run.state["done_before"] = std::move(before); }
        if (input.feedback) { run.state["feedback"] = *input.feedback; }
        if (input.resolution) { run.state["resolution"] = *input.resolution; }
        json::array errors;
        if (failure) { errors.emplace_back(*failure); }
        if (!failure || work.step == nullptr) {
            std::ranges::transform(input.previous_errors, std::back_inserter(errors),
                                   [](const std::string& error) { return json::value(error); });
        }
        if (!errors.empty()) { run.state["previous_errors"] = std::move(errors); }
        return run;
    }

    static json::array requirements_of(const json::object& plan, const std::set<std::string>& wanted) {
        json::array found;
        for (const json::object& requirement : objects_of(plan, "requirements")) {
            if (wanted.empty() || wanted.contains(text_of(requirement, "id"))) { found.push_back(requirement); }
        }
        return found;
    }

    /// Returns the tests of these requirements, by file.
    static json::array tests_of(const json::object& suite, const std::set<std::string>& wanted) {
        json::array files;
        for (const json::object& file : objects_of(suite, "test_files")) {
            json::array tests;
            for (const json::object& test : objects_of(file, "tests")) {
                if (wanted.empty() || wanted.contains(text_of(test, "requirement_ref"))) { tests.push_back(test); }
            }
            if (!tests.empty()) { files.push_back(json::object{{"path", text_of(file, "path")}, {"tests", std::move(tests)}}); }
        }
        return files;
    }

    static void keep(const Work& work, const json::object& result, std::int64_t attempts, json::object& done,
                     const StageInput& input) {
        json::object entry{{"summary", text_of(result, "summary")}, {"attempts", attempts}};
        if (work.step != nullptr) {
            entry["number"] = work.number;
            entry["title"] = work.title;
        } else {
            entry["reason"] = why_sent_back(input);
        }
        json::value& list = done[work.step != nullptr ? "steps" : "corrections"];
        if (!list.is_array()) { list = json::array(); }
        list.get_array().push_back(std::move(entry));
        const json::value* notes = result.if_contains("file_notes");
        if (notes == nullptr || !notes->is_object()) { return; }
        json::value& all = done["file_notes"];
        if (!all.is_object()) { all = json::object(); }
        for (const auto& [path, note] : notes->get_object()) { all.get_object()[path] = note; }
    }

    static std::string summary_of(const json::object& done) {
        std::string summary;
        for (const char* list : {"steps", "corrections"}) {
            for (const json::object& entry : objects_of(done, list)) {
                summary += (summary.empty() ? "" : "\n") + text_of(entry, "summary");
            }
        }
        return summary;
    }

    std::int64_t retries_;
    std::string gate_;
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.stage.execute", "0.1.0", "Apache-2.0", agentforge::provides_stage<ExecuteStage>("execute"))
