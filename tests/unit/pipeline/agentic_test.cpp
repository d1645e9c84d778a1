// SPDX-License-Identifier: Apache-2.0
// The agentic mode without a task: how a call uses its place, and what is collected.
#include "pipeline/agent_run/agentic.hpp"
#include "pipeline/agent_run/agentic_recording.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Place final : public AgenticPlace {
public:
    Place() {
        std::string pattern = (fs::temp_directory_path() / "agentforge-agentic-XXXXXX").string();
        scratch_ = ::mkdtemp(pattern.data());
    }
    ~Place() {
        std::error_code ignored;
        fs::remove_all(scratch_, ignored);
    }
    [[nodiscard]] const std::string& workspace() const noexcept override { return workspace_; }
    [[nodiscard]] const std::string& scratch() const noexcept override { return scratch_; }
    [[nodiscard]] Result<void> begin() override {
        did.emplace_back("begin");
        return {};
    }
    [[nodiscard]] Result<ProcessResult> run(const AgenticCommand& command) override {
        did.emplace_back("run " + command.argv.front());
        if (!leaves.empty()) { std::ofstream(artifact_file(scratch_)) << leaves; }
        ProcessResult result;
        result.exit_code = 0;
        return result;
    }
    [[nodiscard]] Result<json::object> work() override {
        did.emplace_back("work");
        return json::object{{"changes", json::array()}};
    }
    [[nodiscard]] Result<std::string> record_writes() override {
        did.emplace_back("settle");
        if (forbidden) { return Error{"AF-ORCH-026", "wrote elsewhere", "", "", ErrorKind::denied}; }
        return std::string("tree-2");
    }
    [[nodiscard]] Result<void> take_back() override {
        did.emplace_back("take back");
        return {};
    }

    std::vector<std::string> did;
    std::string leaves;
    bool forbidden = false;

private:
    std::string workspace_ = "/workspace";
    std::string scratch_;
};

class Plain final : public CallContext {
public:
    [[nodiscard]] bool cancelled() const noexcept override { return false; }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return std::nullopt; }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return {}; }
};

/// A model whose backend runs `times` commands and then answers or fails.
class Model final : public ModelClient {
public:
    explicit Model(int times, bool fails = false) : times_(times), fails_(fails) {}
    [[nodiscard]] Result<Completion> complete(ModelRequest, CallContext& context) override {
        AgenticContext* const place = agentic_context(context);
        EXPECT_NE(place, nullptr);
        for (int i = 0; i < times_; ++i) {
            AgenticCommand command;
            command.argv = {"/bin/agent"};
            AF_TRY(const AgenticOutcome outcome, place->run_command(command));
            artifact_ = outcome.artifact;
        }
        if (fails_) { return Error{"AF-LLM-302", "ended with exit code 1", "", "", ErrorKind::unavailable}; }
        Completion completion;
        completion.text = "done";
        return completion;
    }
    [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
    bool artifact_ = false;

private:
    int times_;
    bool fails_;
    BackendInfo info_;
};

class AgenticCall : public ::testing::Test {
protected:
    Result<Completion> call(Model& model) { return make_agentic_client(model, place_, redactor_)->complete({}, context_); }
    Place place_;
    Plain context_;
    Redactor redactor_{{{"SHOP_KEY", "sk-live-0123456789abcdef"}}, {}, "k"};
};

/// A plain context that keeps attempts.
class Keeping final : public ForwardingCallContext {
public:
    using ForwardingCallContext::ForwardingCallContext;
    [[nodiscard]] SpentAttempts spent() override { return {2, 3, std::nullopt}; }
    [[nodiscard]] Result<void> attempt_failed(unsigned attempt, const Error& error) override {
        attempts.emplace_back(attempt, error.code);
        return {};
    }
    void answering(std::string_view part) override { heard += part; }
    std::vector<std::pair<unsigned, std::string>> attempts;
    std::string heard;
};

/// A model that reports two failed attempts before it works.
class TryingAgain final : public ModelClient {
public:
    [[nodiscard]] Result<Completion> complete(ModelRequest, CallContext& context) override {
        ModelCall* const kept = model_call(context);
        if (kept == nullptr) { return Error{"NONE", "attempts are not kept", "", "", ErrorKind::invalid}; }
        spent = kept->spent().here;
        AF_CHECK(
            kept->attempt_failed(3, Error{"AF-LLM-302", "busy with sk-live-0123456789abcdef", "", "", ErrorKind::transient}));
        kept->answering("part");
        AgenticCommand command;
        command.argv = {"/bin/agent"};
        AF_CHECK(agentic_context(context)->run_command(command));
        failed = dynamic_cast<ObservedAgenticContext&>(context).failed_attempts();
        return Completion{};
    }
    [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
    unsigned spent = 0;
    std::vector<Error> failed;

private:
    BackendInfo info_;
};

TEST_F(AgenticCall, attempts_of_earlier_processes_count_and_new_ones_are_recorded) {
    Keeping context(context_);
    TryingAgain model;
    ASSERT_TRUE(make_agentic_client(model, place_, redactor_)->complete({}, context).ok());
    EXPECT_EQ(model.spent, 2U);
    EXPECT_THAT(context.attempts, ElementsAre(std::pair(3U, std::string("AF-LLM-302"))));
    EXPECT_EQ(context.heard, "part");
}

TEST_F(AgenticCall, a_recorder_receives_failed_attempts_without_secrets) {
    TryingAgain model;
    ASSERT_TRUE(make_agentic_client(model, place_, redactor_)->complete({}, context_).ok());
    ASSERT_EQ(model.failed.size(), 1U);
    EXPECT_THAT(model.failed.front().message, Not(HasSubstr("sk-live")));
}

TEST_F(AgenticCall, begins_runs_and_settles) {
    Model model(1);
    const auto answer = call(model);
    ASSERT_TRUE(answer.ok());
    EXPECT_THAT(place_.did, ElementsAre("begin", "run /bin/agent", "settle"));
    EXPECT_EQ(answer->diagnostics.at("workspace_tree"), json::value("tree-2"));
    EXPECT_TRUE(answer->tool_calls.empty());
}

TEST_F(AgenticCall, an_artifact_file_is_its_action) {
    place_.leaves = "summary: ready\nfiles: [a.py]\n";
    Model model(1);
    const auto answer = call(model);
    ASSERT_TRUE(answer.ok());
    EXPECT_TRUE(model.artifact_);
    ASSERT_EQ(answer->tool_calls.size(), 1U);
    EXPECT_EQ(answer->tool_calls.front().name, "complete");
    EXPECT_EQ(answer->tool_calls.front().arguments.at("summary"), json::value("ready"));
}

TEST_F(AgenticCall, second_attempt_starts_from_the_same_state_as_the_first) {
    Model model(2);
    ASSERT_TRUE(call(model).ok());
    EXPECT_THAT(place_.did, ElementsAre("begin", "run /bin/agent", "take back", "run /bin/agent", "settle"));
}

TEST_F(AgenticCall, artifact_of_an_earlier_attempt_does_not_count) {
    std::ofstream(artifact_file(place_.scratch())) << "summary: old\n";
    Model model(1);
    const auto answer = call(model);
    EXPECT_TRUE(answer->tool_calls.empty());
}

TEST_F(AgenticCall, failing_call_reverts_its_writes) {
    Model model(1, true);
    EXPECT_EQ(call(model).error().code, "AF-LLM-302");
    EXPECT_THAT(place_.did, ElementsAre("begin", "run /bin/agent", "take back"));
}

TEST_F(AgenticCall, backend_that_runs_nothing_is_an_error) {
    Model model(0);
    EXPECT_EQ(call(model).error().code, "AF-LLM-312");
}

TEST_F(AgenticCall, a_forbidden_write_fails_the_call) {
    place_.forbidden = true;
    place_.leaves = "summary: ready\n";
    Model model(1);
    EXPECT_EQ(call(model).error().code, "AF-ORCH-026");
}

class CollectArtifact : public ::testing::Test {
protected:
    std::string left(const std::string& text) {
        std::ofstream(artifact_file(place_.scratch()), std::ios::binary) << text;
        const auto artifact = collect_artifact(place_.scratch());
        return artifact.ok() ? (*artifact ? json::serialize(**artifact) : "nothing") : artifact.error().code;
    }
    Place place_;
};

TEST_F(CollectArtifact, yaml_and_json_are_read) {
    EXPECT_EQ(left("a: 1\nb: [x]\n"), R"({"a":1,"b":["x"]})");
    EXPECT_EQ(left(R"({"a": {"b": "c"}})"), R"({"a":{"b":"c"}})");
}

TEST_F(CollectArtifact, returns_no_artifact_without_a_file) {
    const auto artifact = collect_artifact(place_.scratch());
    ASSERT_TRUE(artifact.ok());
    EXPECT_FALSE(artifact->has_value());
}

TEST_F(CollectArtifact, refuses_anything_but_one_mapping) {
    for (const std::string text :
         {"", "- a\n", "just words", "a: 1\n---\nb: 2\n", "a: [\n", "a: 1\na: 2\n", "\xFF\xFE", "!!python/object:os.system {}"}) {
        EXPECT_EQ(left(text), "AF-LLM-311") << text;
    }
    EXPECT_EQ(left(std::string(2UL << 20U, 'a')), "AF-LLM-311");
}

class AgenticRecordedWork : public CollectArtifact {
protected:
    json::object recorded(const std::string& path) {
        const auto work = recorded_work(place_.scratch(), {path}, artifact_file(place_.scratch()), redactor_);
        if (!work.ok()) { return {{"error", work.error().code}}; }
        return work->at("changes").as_array().at(0).as_object();
    }
    void put(const std::string& path, const std::string& text) {
        std::ofstream(place_.scratch() + "/" + path, std::ios::binary) << text;
    }
    Redactor redactor_{{{"SHOP_KEY", "sk-live-0123456789abcdef"}}, {}, "k"};
};

TEST_F(AgenticRecordedWork, records_text_as_is_and_encodes_other_bytes) {
    put("a.py", "x = 1\n\ty\n");
    EXPECT_EQ(recorded("a.py"), (json::object{{"path", "a.py"}, {"text", "x = 1\n\ty\n"}}));
    put("a.bin", "\xe9\r\n");
    EXPECT_EQ(recorded("a.bin"), (json::object{{"path", "a.bin"}, {"base64", "6Q0K"}}));
    put("crlf", "a\r\n");
    EXPECT_EQ(recorded("crlf"), (json::object{{"path", "crlf"}, {"base64", "YQ0K"}}));
}

TEST_F(AgenticRecordedWork, records_a_missing_file_as_deleted) {
    EXPECT_EQ(recorded("gone"), (json::object{{"path", "gone"}, {"deleted", true}}));
}

TEST_F(AgenticRecordedWork, records_a_link_without_following_it) {
    fs::create_symlink("/etc/hostname", place_.scratch() + "/link");
    EXPECT_EQ(recorded("link"), (json::object{{"path", "link"}, {"link", "/etc/hostname"}}));
}

TEST_F(AgenticRecordedWork, does_not_record_secrets) {
    put("key.txt", "key = sk-live-0123456789abcdef\n");
    const std::string text(recorded("key.txt").at("text").as_string());
    EXPECT_THAT(text, Not(HasSubstr("sk-live")));
}

TEST_F(AgenticRecordedWork, refuses_work_that_is_too_large) {
    put("large", "");
    fs::resize_file(place_.scratch() + "/large", (16UL << 20U) + 1);
    EXPECT_EQ(recorded("large"), (json::object{{"error", "AF-LLM-314"}}));
}

TEST_F(AgenticRecordedWork, records_the_artifact_if_there_is_one) {
    const auto nothing = recorded_work(place_.scratch(), {}, artifact_file(place_.scratch()), redactor_);
    EXPECT_FALSE(nothing->contains("artifact"));
    put("artifact.yaml", "a: 1\n");
    const auto left = recorded_work(place_.scratch(), {}, artifact_file(place_.scratch()), redactor_);
    EXPECT_EQ(left->at("artifact"), json::value(json::object{{"text", "a: 1\n"}}));
}

TEST_F(CollectArtifact, link_and_folder_are_refused) {
    fs::create_symlink("/etc/hostname", artifact_file(place_.scratch()));
    EXPECT_EQ(collect_artifact(place_.scratch()).error().code, "AF-LLM-311");
    fs::remove(artifact_file(place_.scratch()));
    fs::create_directory(artifact_file(place_.scratch()));
    EXPECT_EQ(collect_artifact(place_.scratch()).error().code, "AF-LLM-311");
}

TEST_F(CollectArtifact, prior_artifacts_become_paths_and_other_state_is_kept) {
    json::object state{
        {"spec", {{"title", "Slugs"}}}, {"input_artifact", {{"x", 1}}}, {"request", "Add it"}, {"feedback", {{"by", "me"}}}};
    ASSERT_TRUE(artifacts_as_paths(state, {{"spec", {}}, {"analyze", {}}}, place_.scratch() + "/inputs").ok());
    EXPECT_EQ(state.at("spec"), json::value(place_.scratch() + "/inputs/spec.yaml"));
    EXPECT_EQ(state.at("input_artifact"), json::value(place_.scratch() + "/inputs/input_artifact.yaml"));
    EXPECT_EQ(state.at("request"), json::value("Add it"));
    EXPECT_TRUE(state.at("feedback").is_object());
    std::ifstream file(place_.scratch() + "/inputs/spec.yaml");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "title: \"Slugs\"\n");
}

TEST(AgenticInstructions, name_the_rules_the_lock_and_the_file) {
    AgentDefinition agent;
    agent.path_constraints = {{"create_file", "!tests/**/*"}, {"edit_file", "!tests/**/*"}, {"move_file", "src/**/*"}};
    const std::string text = agentic_instructions(agent, true, {"tests/test_a.py"}, "/scratch");
    EXPECT_THAT(text, HasSubstr("!tests/**/*; src/**/*."));
    EXPECT_THAT(text, HasSubstr("The tests are locked."));
    EXPECT_THAT(text, HasSubstr("/scratch/artifact.yaml"));
}

TEST(AgenticInstructions, tell_a_read_only_role_that_it_may_not_write) {
    AgentDefinition agent;
    agent.path_constraints = {{"create_file", "docs/**/*"}};
    const std::string text = agentic_instructions(agent, false, {}, "/scratch");
    EXPECT_THAT(text, HasSubstr("Change nothing there."));
    EXPECT_THAT(text, Not(HasSubstr("docs/")));
}

}  // namespace
}  // namespace agentforge::kernel
