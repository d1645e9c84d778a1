// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/agentic.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::uint64_t most_artifact_bytes = 1UL << 20U;

/// Adds a workspace to the loop's context, for the backend.
class Context final : public ObservedAgenticContext, public ModelCall {
public:
    Context(CallContext& outer, AgenticPlace& place, const Redactor& redactor)
        : outer_(outer), attempts_(model_call(outer)), place_(place), redactor_(redactor) {}
    [[nodiscard]] bool cancelled() const noexcept override { return outer_.cancelled(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        return outer_.deadline();
    }
    void log(LogLevel level, std::string_view message, const json::object& fields) override {
        outer_.log(level, message, fields);
    }
    void progress(std::string_view text) override { outer_.progress(text); }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return outer_.now(); }
    [[nodiscard]] const std::string& workspace() const noexcept override { return place_.workspace(); }
    [[nodiscard]] const std::string& scratch() const noexcept override { return place_.scratch(); }
    [[nodiscard]] Result<AgenticOutcome> run_command(const AgenticCommand& command) override {
        // A failed attempt may have written files. Each attempt begins with the recorded tree.
        if (ran_) { AF_CHECK(place_.take_back()); }
        ran_ = true;
        std::error_code none;
        std::filesystem::remove(artifact_file(place_.scratch()), none);
        AgenticOutcome outcome;
        AF_TRY(outcome.process, place_.run(command));
        outcome.artifact = std::filesystem::exists(std::filesystem::symlink_status(artifact_file(place_.scratch()), none));
        return outcome;
    }
    [[nodiscard]] Result<std::optional<json::object>> work() override {
        if (!ran_) { return std::optional<json::object>(); }
        AF_TRY(json::object done, place_.work());
        return std::optional(std::move(done));
    }
    [[nodiscard]] const std::vector<Error>& failed_attempts() const noexcept override { return failed_; }
    [[nodiscard]] SpentAttempts spent() override { return attempts_ != nullptr ? attempts_->spent() : SpentAttempts(); }
    [[nodiscard]] Result<void> attempt_failed(unsigned attempt, const Error& error) override {
        failed_.push_back(redactor_.redact(error));
        return attempts_ != nullptr ? attempts_->attempt_failed(attempt, error) : Result<void>();
    }
    void answering(std::string_view part) override {
        if (attempts_ != nullptr) { attempts_->answering(part); }
    }
    [[nodiscard]] bool ran() const noexcept { return ran_; }

private:
    CallContext& outer_;
    ModelCall* attempts_;
    AgenticPlace& place_;
    const Redactor& redactor_;
    std::vector<Error> failed_;
    bool ran_ = false;
};

class AgenticClient final : public ModelClient {
public:
    AgenticClient(ModelClient& model, AgenticPlace& place, const Redactor& redactor)
        : model_(model), place_(place), redactor_(redactor) {}
    [[nodiscard]] const BackendInfo& info() const noexcept override { return model_.info(); }

    [[nodiscard]] Result<Completion> complete(ModelRequest request, CallContext& outer) override {
        AF_CHECK(place_.begin());
        Context context(outer, place_, redactor_);
        auto answer = model_.complete(std::move(request), context);
        if (!answer.ok()) {
            if (context.ran()) { AF_CHECK(place_.take_back()); }
            return answer;
        }
        if (!context.ran()) {
            return Error{"AF-LLM-312", "the backend '" + info().name + "' ran nothing in the workspace: it has no agentic mode",
                         "llm.mode", "Set `llm.mode: plain`, or use the backend cli.", ErrorKind::unavailable};
        }
        AF_TRY(const std::string tree, place_.record_writes());
        answer->diagnostics["agentic"] = true;
        answer->diagnostics["workspace_tree"] = tree;
        AF_TRY(auto artifact, collect_artifact(place_.scratch()));
        if (artifact) {
            answer->tool_calls = {ToolCall{"complete", *std::move(artifact)}};
            answer->stop_reason = StopReason::tool_call;
        }
        return answer;
    }

private:
    ModelClient& model_;
    AgenticPlace& place_;
    const Redactor& redactor_;
};

}  // namespace

std::string artifact_file(const std::string& scratch) { return scratch + "/artifact.yaml"; }

Result<std::optional<json::object>> collect_artifact(const std::string& scratch) {
    const std::string file = artifact_file(scratch);
    const auto broken = [](const std::string& why) {
        return Error{"AF-LLM-311", "the artifact that the command left in AGENTFORGE_ARTIFACT " + why, "artifact.yaml",
                     "Write one YAML or JSON mapping with the artifact's own fields.", ErrorKind::invalid};
    };
    std::error_code none;
    const auto status = std::filesystem::symlink_status(file, none);
    if (!std::filesystem::exists(status)) { return std::optional<json::object>(); }
    // Through a link, the kernel would use its own rights to read a file that the command may not read.
    if (!std::filesystem::is_regular_file(status)) { return broken("is not a regular file"); }
    const auto text = read_file(file, most_artifact_bytes);
    if (!text.ok()) { return broken("cannot be read: " + text.error().message); }
    auto document = parse_yaml(*text, "artifact.yaml");
    if (!document.ok()) {
        return broken("is not YAML: " + document.error().message +
                      (document.error().where.empty() ? "" : " (" + document.error().where + ")"));
    }
    if (!document->value.is_object()) { return broken("is not a mapping"); }
    return std::optional(std::move(document->value.get_object()));
}

std::unique_ptr<ModelClient> make_agentic_client(ModelClient& model, AgenticPlace& place, const Redactor& redactor) {
    return std::make_unique<AgenticClient>(model, place, redactor);
}

std::string agentic_instructions(const AgentDefinition& agent, bool writes, const std::vector<std::string>& locked,
                                 const std::string& scratch, const std::shared_ptr<const PathSymbols>& symbols) {
    std::string text = "\n\nYou work in the folder that you are started in, the task's own checkout, with tools of your own. ";
    if (!writes) {
        text += "Change nothing there. ";
    } else {
        std::set<std::string> rules;
        for (const auto& [tool, rule] : agent.path_constraints) {
            const auto parsed = PathRule::parse(rule, symbols);
            if (parsed.ok() && parsed->binds_one_tool()) { continue; }
            rules.insert(parsed.ok() ? parsed->explained() : rule);
        }
        if (!rules.empty()) {
            text += "Write only where these patterns allow (`!` forbids): ";
            for (const std::string& rule : rules) { text += (rule == *rules.begin() ? "" : "; ") + rule; }
            text += ". ";
        }
        if (!locked.empty()) { text += "The tests are locked. "; }
        text +=
            "If you write anywhere else, the kernel reverts all writes of the call. Do not commit: the kernel records your changes. ";
    }
    return text +
           "Values in `state` that are absolute paths are files with earlier artifacts. When the work is done, write the artifact that `complete` describes, "
           "as one YAML or JSON mapping, to " +
           artifact_file(scratch) + " (also in $AGENTFORGE_ARTIFACT); or end your last message with the action itself.";
}

Result<void> artifacts_as_paths(json::object& state, const std::map<std::string, json::object, std::less<>>& artifacts,
                                const std::string& folder) {
    AF_CHECK(make_directories(folder));
    for (auto& [key, value] : state) {
        const std::string name(key);
        if (!value.is_object() || (name != "input_artifact" && !artifacts.contains(name))) { continue; }
        const std::string file = folder + "/" + name + ".yaml";
        AF_CHECK(write_file_atomic(file, to_yaml(value), Durability::cached));
        value = file;
    }
    return {};
}

}  // namespace agentforge::kernel
