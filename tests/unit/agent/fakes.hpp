// SPDX-License-Identifier: Apache-2.0
// A step host that records its calls, and actions from a function.
#pragma once

#include "agent/loop.hpp"
#include "plugins/interfaces.hpp"
#include "unit/backends/fakes.hpp"

namespace agentforge::kernel::testing {

class FakeHost : public StepHost {
public:
    Result<ProcessResult> run_process(const ProcessSpec&) override { return ProcessResult{}; }
    Result<GateReport> run_gate(const GateRequest&) override { return GateReport{}; }
    Result<void> complete(const json::object& artifact) override {
        if (refusal) { return *refusal; }
        accepted = artifact;
        return {};
    }
    Result<void> escalate(const EscalationRequest& request) override {
        asked = request;
        return {};
    }
    void log(LogLevel level, std::string_view message, const json::object& fields) override {
        logged.push_back({level, std::string(message), fields});
    }
    void progress(std::string_view) override {}
    std::chrono::system_clock::time_point now() override { return {}; }
    bool cancelled() const noexcept override { return false; }
    std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return {}; }

    std::vector<StepRecord> finished_steps() override { return journal; }
    std::optional<Completion> pending_answer(unsigned step) override {
        if (pending && pending_step == step) { return std::exchange(pending, std::nullopt); }
        return std::nullopt;
    }
    Result<void> before_call(unsigned, const CompletionRequest&) override {
        if (refuse_call) { return *refuse_call; }
        return {};
    }
    Error call_failed(unsigned, const CompletionRequest&, Error error) override {
        failed_calls.push_back(error.code);
        return error;
    }
    std::optional<std::chrono::steady_clock::time_point> call_deadline() override { return end_of_time; }
    Result<void> answer_received(unsigned step, const CompletionRequest& request, const Completion&) override {
        answers.push_back(step);
        frame_hashes.push_back(request.frame_hash);
        context_hashes.push_back(request.context_hash);
        return {};
    }
    Result<void> attempt_failed(unsigned step, unsigned attempt, const Error& error) override {
        failed.push_back("step " + std::to_string(step) + ", attempt " + std::to_string(attempt) + ": " + error.code);
        return {};
    }
    Result<void> step_finished(StepRecord& record) override {
        if (!record.changes.empty()) { record.tree = "tree-" + std::to_string(record.step); }
        records.push_back(record);
        if (on_step) { on_step(record); }
        return {};
    }
    std::vector<Change> take_changes() override { return std::exchange(changes, {}); }
    std::optional<json::object> accepted_artifact() override { return accepted; }
    std::optional<EscalationRequest> requested_escalation() override { return asked; }
    json::object verification_status() override { return verification; }
    void after_edit(const std::vector<std::string>& paths) override { edited.insert(edited.end(), paths.begin(), paths.end()); }

    std::optional<Error> refuse_call;
    std::vector<std::string> failed_calls;
    std::optional<std::chrono::steady_clock::time_point> end_of_time;
    struct Line {
        LogLevel level;
        std::string message;
        json::object fields;
    };
    std::vector<Line> logged;
    std::vector<StepRecord> journal;
    std::optional<Completion> pending;
    unsigned pending_step = 0;
    std::vector<unsigned> answers;
    std::vector<std::string> failed;
    std::vector<std::string> frame_hashes;
    std::vector<std::string> context_hashes;
    std::vector<StepRecord> records;
    std::function<void(const StepRecord&)> on_step;
    std::vector<Change> changes;
    std::optional<Error> refusal;  ///< Of every artifact.
    std::optional<json::object> accepted;
    std::optional<EscalationRequest> asked;
    json::object verification{{"checks_passing", 1}, {"checks_failing", 0}, {"ready_for_completion", false}};
    std::vector<std::string> edited;
};

class FakeActions final : public ActionExecutor {
public:
    using Act = std::function<ToolResult(std::string_view, const json::object&)>;
    FakeActions(std::vector<ToolSpec> specs, Act act) : specs_(std::move(specs)), act_(std::move(act)) {}
    const std::vector<ToolSpec>& offered() const noexcept override { return specs_; }
    ToolResult call(std::string_view tool, const json::object& arguments, const ToolCallInfo&) override {
        ++calls;
        return act_(tool, arguments);
    }
    unsigned calls = 0;

private:
    std::vector<ToolSpec> specs_;
    Act act_;
};

inline json::object schema(std::initializer_list<std::pair<std::string_view, std::string_view>> properties) {
    json::object all;
    json::array required;
    for (const auto& [name, type] : properties) {
        all[name] = json::object{{"type", type}};
        required.emplace_back(name);
    }
    return {
        {"type", "object"}, {"properties", std::move(all)}, {"required", std::move(required)}, {"additionalProperties", false}};
}

inline std::vector<ToolSpec> usual_tools() {
    return {{"read_file", "Reads a file.", schema({{"path", "string"}}), ToolEffect::reads, {"path"}},
            {"create_file", "Creates a file.", schema({{"path", "string"}, {"content", "string"}}), ToolEffect::writes, {"path"}},
            {"edit_file",
             "Replaces one place in a file.",
             schema({{"path", "string"}, {"search", "string"}, {"replace", "string"}}),
             ToolEffect::writes,
             {"path"}},
            {"run_tests", "Runs the tests.", schema({}), ToolEffect::executes, {}},
            {"escalate_question",
             "Asks a person.",
             schema({{"question", "string"}, {"reason", "string"}}),
             ToolEffect::escalates,
             {}},
            {"complete", "Hands in the artifact.", schema({{"summary", "string"}}), ToolEffect::completes, {}}};
}

inline RunSpec usual_spec() {
    RunSpec spec;
    spec.agent.role = "software_developer";
    spec.agent.display_name = "Software Developer";
    spec.agent.description = "You write clean, working code that passes tests.\n";
    spec.agent.expertise = {"Software development", "Debugging"};
    spec.agent.thinking_style = "You make tests pass one at a time.\n";
    spec.agent.constraints = {"Do not modify test files"};
    spec.agent.forbidden_tools = {"deploy", "commit"};
    spec.agent.output_contracts = {{"", "implementation"}};
    spec.agent.must_verify = {{"all_tests_pass", true}};
    spec.agent.receives_from = {"test_engineer"};
    spec.agent.hands_off_to = {"senior_developer"};
    spec.place.task_id = "task-20260102-add-a-slug-00000001";
    spec.goal = "Add a slug function";
    spec.success_criteria = {"slugify works"};
    spec.stage = "green";
    spec.run.objective = "Make the failing tests pass";
    return spec;
}

inline std::unique_ptr<ModelClient> client_of(std::shared_ptr<LLMBackend> backend) {
    return make_model_client(std::make_shared<UnmarkedBackend>(std::move(backend)), {}, [](std::chrono::milliseconds) {});
}
inline std::unique_ptr<ModelClient> client_of(const std::shared_ptr<FakeBackend>& backend) {
    return make_model_client(backend, {}, [](std::chrono::milliseconds) {});
}

}  // namespace agentforge::kernel::testing
