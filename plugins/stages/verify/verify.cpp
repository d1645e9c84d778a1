// SPDX-License-Identifier: Apache-2.0
// VERIFY: has the kernel measure the executed plan, without a model: the gates decide. If one fails, the work goes back to
// execution with the findings. If all pass, the artifact lists the tests for each acceptance criterion.
#include <agentforge/json_fields.hpp>
#include <agentforge/plugin.hpp>
#include <agentforge/stage_helpers.hpp>

#include <algorithm>

namespace {

using namespace agentforge;

constexpr std::string_view executed = "execution";  // The contract of the work that is sent back.
constexpr std::size_t most_reason_bytes = 3000;

/// Cut between characters.
std::string shortened(std::string text) {
    if (text.size() <= most_reason_bytes) { return text; }
    std::size_t end = most_reason_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) { --end; }
    return text.substr(0, end) + "…";
}

std::string reason_of(const GateReport& report) {
    std::string reason = "verification failed at the gate " + report.gate + ": ";
    for (std::size_t at = 0; at < report.blocking_issues.size(); ++at) {
        reason += (at == 0 ? "" : "; ") + report.blocking_issues[at];
    }
    return shortened(report.blocking_issues.empty() ? reason + report.summary : reason);
}

class VerifyStage final : public Stage {
public:
    explicit VerifyStage(const json::object& settings) : gates_(texts_of(settings, "gates")) {
        if (gates_.empty()) { throw std::invalid_argument("the setting `gates` is missing: what must pass"); }
        const json::value* retry = settings.if_contains("auto_retry_on_failure");
        sends_back_ = retry == nullptr || !retry->is_bool() || retry->get_bool();
    }

    [[nodiscard]] StageInfo info() const override {
        StageInfo info;
        info.name = "verify";
        info.description = "Has the kernel measure the executed plan.";
        info.output_contract = "verification";
        info.output_fields = {"criteria"};
        return info;
    }

    [[nodiscard]] Validation validate_input(StageContext& context) override {
        return require_artifacts(context.input(), {"specification", "test_suite", "execution"});
    }

    [[nodiscard]] StageResult execute(StageContext& context) override {
        const StageInput& input = context.input();
        // A person's answer, and what a later stage sends back (a commit hook that refuses), is for the stages that change code.
        if (input.resolution) {
            return StageResult::cycle(std::string(executed), "a person answered: " + shortened(answer_of(*input.resolution)));
        }
        if (input.feedback) {
            return StageResult::cycle(std::string(executed), "a person wants it changed: " + shortened(*input.feedback));
        }
        if (input.cycle > 0 && input.attempt == 1 && !input.previous_errors.empty()) {
            return StageResult::cycle(std::string(executed), input.previous_errors.front());
        }
        for (const std::string& gate : gates_) {
            GateRequest request;
            request.gate = gate;
            auto report = context.run_gate(request);
            if (!report.ok()) { return StageResult::failed(std::move(report).error()); }
            if (!report->passed) { return refuse(*report); }
        }
        return StageResult::completed(artifact_of(input));
    }

private:
    static std::string answer_of(const json::object& resolution) {
        const std::string answer = text_of(resolution, "answer");
        return answer.empty() ? json::serialize(resolution) : answer;
    }

    [[nodiscard]] StageResult refuse(const GateReport& report) const {
        const std::string reason = reason_of(report);
        if (sends_back_) { return StageResult::cycle(std::string(executed), reason); }
        EscalationRequest question;
        question.reason = reason;
        question.question = "The executed plan does not pass verification. What is to be changed? " + reason;
        return StageResult::escalate(std::move(question));
    }

    /// The kernel adds its measurements, and checks the exit gate.
    static json::object artifact_of(const StageInput& input) {
        const json::object& execution = input.artifacts.find("execution")->second;
        const json::object& specification = input.artifacts.find("specification")->second;
        const json::object& suite = input.artifacts.find("test_suite")->second;
        json::array criteria;
        for (const json::object& requirement : objects_of(specification, "requirements")) {
            for (const std::string& criterion : texts_of(requirement, "acceptance_criteria")) {
                criteria.push_back(verified(requirement, criterion, suite));
            }
        }
        json::object artifact{{"summary", text_of(execution, "summary")}, {"criteria", std::move(criteria)}};
        if (const json::value* notes = execution.if_contains("file_notes")) { artifact["file_notes"] = *notes; }
        return artifact;
    }

    /// Returns a criterion with its tests: those that name it, and those of its requirement that name no criterion. It is
    /// verified if one of them was seen to fail before the change, which a guard was not, and its requirement is to be verified
    /// by test.
    static json::object verified(const json::object& requirement, const std::string& criterion, const json::object& suite) {
        const std::string method = text_of(requirement, "verification_method");
        json::array tests;
        bool failed_before = false;
        for (const json::object& file : objects_of(suite, "test_files")) {
            for (const json::object& test : objects_of(file, "tests")) {
                const std::string named = text_of(test, "acceptance_criterion");
                if (text_of(test, "requirement_ref") != text_of(requirement, "id")) { continue; }
                if (!named.empty() && named != criterion) { continue; }
                tests.emplace_back(text_of(file, "path") + "::" + text_of(test, "name"));
                failed_before = failed_before || text_of(test, "kind") != "guard";
            }
        }
        return {{"requirement", text_of(requirement, "id")},
                {"criterion", criterion},
                {"tests", std::move(tests)},
                {"verified", failed_before && (method.empty() || method == "test")}};
    }

    std::vector<std::string> gates_;
    bool sends_back_ = true;
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.stage.verify", "0.1.0", "Apache-2.0", agentforge::provides_stage<VerifyStage>("verify"))
