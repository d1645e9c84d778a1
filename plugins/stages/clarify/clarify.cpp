// SPDX-License-Identifier: Apache-2.0
// CLARIFY: answers questions from the codebase, with confidence and evidence. Asks a person only if a question blocks and cannot
// be answered with a confidence of 0.8.
#include <agentforge/json_fields.hpp>
#include <agentforge/plugin.hpp>
#include <agentforge/stage_helpers.hpp>

namespace {

using namespace agentforge;

constexpr double sure_enough = 0.8;

double confidence_of(const json::object& question) {
    const json::value* value = question.if_contains("confidence");
    return value != nullptr && value->is_number() ? value->to_number<double>() : 0.0;
}

class ClarifyStage final : public ToolBasedStage {
public:
    [[nodiscard]] StageInfo info() const override {
        StageInfo info;
        info.name = "clarify";
        info.description = "Resolves ambiguities from the codebase and asks a person only blocking questions.";
        info.output_contract = "clarification";
        info.output_fields = {"clarified_requirements", "questions"};
        return info;
    }

    [[nodiscard]] Validation validate_input(StageContext& context) override {
        return require_artifacts(context.input(), {"intake_record"});
    }

    [[nodiscard]] std::string user_message(StageContext&) override {
        return "Answer the open questions of the intake record.\n"
               "Look for each answer in the repository first: code, configuration, documentation. Give every answer a confidence between 0 "
               "and 1 and the evidence (file and snippet). What you cannot answer goes into remaining_questions with its impact; a person is "
               "asked only about blocking ones below 0.8. Hand in the result with `complete`.";
    }

    [[nodiscard]] StageResult execute(StageContext& context) override {
        const StageInput& input = context.input();
        // A person has answered the question from the last entry into this stage.
        if (input.resolution && input.previous_attempt && input.previous_attempt->contains("questions")) {
            return with_answer(*input.previous_attempt, *input.resolution, context);
        }
        return ToolBasedStage::execute(context);
    }

protected:
    [[nodiscard]] StageResult finish(json::object artifact, const AgentOutcome&, StageContext& context) override {
        return ask_or_complete(doubted(std::move(artifact), context));
    }

private:
    /// Moves uncertain answers to remaining_questions, with the impact that intake gave the question.
    static json::object doubted(json::object artifact, StageContext& context) {
        json::array sure;
        json::array remaining = list_of(artifact, "remaining_questions");
        for (const json::value& entry : list_of(artifact, "questions")) {
            const json::object& question = entry.as_object();
            const bool inferred = text_of(question, "source") != "human_escalation";
            if (!inferred || confidence_of(question) >= sure_enough ||
                impact_of(text_of(question, "question"), context) != "blocking") {
                sure.push_back(entry);
                continue;
            }
            remaining.push_back(json::object{
                {"question", question.at("question")}, {"impact", "blocking"}, {"confidence", confidence_of(question)}});
        }
        artifact["questions"] = std::move(sure);
        artifact["remaining_questions"] = std::move(remaining);
        return artifact;
    }

    static std::string impact_of(const std::string& question, StageContext& context) {
        for (const json::value& entry :
             list_of(context.input().artifacts.find("intake_record")->second, "identified_ambiguities")) {
            if (text_of(entry.as_object(), "question") == question) { return text_of(entry.as_object(), "impact"); }
        }
        return "significant";
    }

    static bool blocks(const json::value& question) {
        return text_of(question.as_object(), "impact") == "blocking" && confidence_of(question.as_object()) < sure_enough;
    }

    static StageResult ask_or_complete(json::object artifact) {
        for (const json::value& question : list_of(artifact, "remaining_questions")) {
            if (!blocks(question)) { continue; }
            EscalationRequest request;
            request.question = text_of(question.as_object(), "question");
            request.reason = "a blocking question cannot be answered from the codebase";
            request.context = {{"clarified_requirements", text_of(artifact, "clarified_requirements")},
                               {"answered", list_of(artifact, "questions").size()}};
            return StageResult::escalate(std::move(request), std::move(artifact));
        }
        return StageResult::completed(std::move(artifact));
    }

    static StageResult with_answer(json::object artifact, const json::object& resolution, StageContext& context) {
        json::array remaining;
        json::array answered = list_of(artifact, "questions");
        bool used = false;
        for (const json::value& question : list_of(artifact, "remaining_questions")) {
            if (used || !blocks(question)) {
                remaining.push_back(question);
                continue;
            }
            used = true;
            const std::string answer = text_of(resolution, "answer");
            answered.push_back(json::object{{"question", question.as_object().at("question")},
                                            {"source", "human_escalation"},
                                            {"answer", answer.empty() ? json::serialize(resolution) : answer},
                                            {"confidence", 1.0},
                                            {"evidence", json::array()},
                                            {"resolved_by", text_of(resolution, "resolved_by")},
                                            {"resolved_at", text_of(resolution, "resolved_at")}});
        }
        if (!used) { context.log(LogLevel::warning, "an answer came for a question that is not open any more"); }
        artifact["questions"] = std::move(answered);
        artifact["remaining_questions"] = std::move(remaining);
        return ask_or_complete(std::move(artifact));
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.stage.clarify", "0.1.0", "Apache-2.0", agentforge::provides_stage<ClarifyStage>("clarify"))
