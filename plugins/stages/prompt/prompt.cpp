// SPDX-License-Identifier: Apache-2.0
// A declarative stage. Its settings say what the agent is asked, which earlier artifacts it needs and sees, which fields it must
// hand in, and which words of its artifact send the work back to an earlier stage. The shipped ones are in config/stages/.
#include <agentforge/json_fields.hpp>
#include <agentforge/plugin.hpp>
#include <agentforge/stage_helpers.hpp>

namespace {

using namespace agentforge;

/// Returns "ID (severity): description Remedy: remediation", as far as the item has these.
std::string issue_text(const json::value& item) {
    if (item.is_string()) { return std::string(item.get_string()); }
    if (!item.is_object()) { return json::serialize(item); }
    const json::object& issue = item.get_object();
    std::string text = text_of(issue, "id");
    if (const std::string severity = text_of(issue, "severity"); !severity.empty()) {
        text += (text.empty() ? "(" : " (") + severity + ")";
    }
    text += (text.empty() ? "" : ": ") + text_of(issue, "description");
    if (const std::string remedy = text_of(issue, "remediation"); !remedy.empty()) { text += " Remedy: " + remedy; }
    return text;
}

/// `sends_back: {field, to: {WORD: CONTRACT or stage}, because}`.
struct SendsBack {
    std::string field;
    std::map<std::string, std::string, std::less<>> to;
    std::string because;  ///< A field of the artifact, a text or a list of issues. Empty: only the field `summary`.
};

SendsBack sends_back_of(const json::object& settings) {
    SendsBack back;
    const json::value* said = settings.if_contains("sends_back");
    if (said == nullptr || !said->is_object()) { return back; }
    back.field = text_of(said->get_object(), "field");
    back.because = text_of(said->get_object(), "because");
    if (const json::value* to = said->get_object().if_contains("to"); to != nullptr && to->is_object()) {
        for (const auto& [word, stage] : to->get_object()) {
            if (stage.is_string()) { back.to.emplace(std::string(word), std::string(stage.get_string())); }
        }
    }
    return back;
}

class PromptStage final : public ToolBasedStage {
public:
    explicit PromptStage(const json::object& settings)
        : prompt_(text_of(settings, "prompt")),
          description_(text_of(settings, "description")),
          needs_(texts_of(settings, "needs")),
          shows_(texts_of(settings, "shows")),
          fields_(texts_of(settings, "fields")),
          sends_back_(sends_back_of(settings)) {
        if (prompt_.empty()) { throw std::invalid_argument("the setting `prompt` is missing: what the agent is to do"); }
    }

    [[nodiscard]] StageInfo info() const override {
        StageInfo info;
        info.name = "prompt";
        info.description = description_;
        info.output_fields = fields_;
        return info;
    }

    [[nodiscard]] Validation validate_input(StageContext& context) override { return require_artifacts(context.input(), needs_); }

    [[nodiscard]] std::string user_message(StageContext&) override { return prompt_; }

protected:
    void prepare_run(AgentRun& run, StageContext& context) override {
        ToolBasedStage::prepare_run(run, context);
        for (const std::string& shown : shows_) { show(shown, run.state, context.input()); }
    }

    [[nodiscard]] StageResult finish(json::object artifact, const AgentOutcome&, StageContext&) override {
        const auto to = sends_back_.to.find(text_of(artifact, sends_back_.field));
        if (sends_back_.field.empty() || to == sends_back_.to.end()) { return StageResult::completed(std::move(artifact)); }
        std::string reason = text_of(artifact, "summary");
        const json::value* because = sends_back_.because.empty() ? nullptr : artifact.if_contains(sends_back_.because);
        if (because != nullptr && because->is_array()) {
            for (const json::value& issue : because->get_array()) { reason += (reason.empty() ? "" : "\n") + issue_text(issue); }
        } else if (because != nullptr) {
            reason += (reason.empty() ? "" : "\n") + issue_text(*because);
        }
        StageResult result = StageResult::cycle(to->second, std::move(reason));
        result.artifact = std::move(artifact);
        return result;
    }

private:
    /// `contract` or `contract.field`. An artifact shown by its contract's name is not shown again as that of the previous stage.
    static void show(const std::string& shown, json::object& state, const StageInput& input) {
        const std::size_t dot = shown.find('.');
        const auto artifact = input.artifacts.find(shown.substr(0, dot));
        if (artifact == input.artifacts.end()) { return; }
        if (dot == std::string::npos) {
            state[shown] = artifact->second;
            if (artifact->second == input.input_artifact) { state.erase("input_artifact"); }
            return;
        }
        const std::string field = shown.substr(dot + 1);
        if (const json::value* value = artifact->second.if_contains(field)) { state[field] = *value; }
    }

    std::string prompt_;
    std::string description_;
    std::vector<std::string> needs_;
    std::vector<std::string> shows_;
    std::vector<std::string> fields_;
    SendsBack sends_back_;
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.stage.prompt", "0.1.0", "Apache-2.0", agentforge::provides_stage<PromptStage>("prompt"))
