// SPDX-License-Identifier: Apache-2.0
// Tests the CLI backend through the real plugin class, with small programs that the test writes.
#include "answer.hpp"
#include "backend.hpp"
#include "prompt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace agentforge::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Context final : public CallContext {
public:
    [[nodiscard]] bool cancelled() const noexcept override {
        std::error_code error;
        return cancel_ || (!cancel_when_.empty() && fs::exists(cancel_when_, error));
    }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return deadline_; }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return {}; }

    bool cancel_ = false;
    std::string cancel_when_;
    std::optional<std::chrono::steady_clock::time_point> deadline_;
};

class Parts final : public StreamSink {
public:
    void text(std::string_view part) override { all += part; }
    std::string all;
};

class TestCliBackend : public testing::Test {
protected:
    TestCliBackend() {
        std::string pattern = (fs::temp_directory_path() / "agentforge-cli-test-XXXXXX").string();
        root_ = ::mkdtemp(pattern.data());
        const char* const path = ::getenv("PATH");
        path_before_ = path == nullptr ? "" : path;
        ::setenv("PATH", (root_.string() + ":/usr/bin:/bin").c_str(), 1);
    }
    ~TestCliBackend() override {
        ::setenv("PATH", path_before_.c_str(), 1);
        std::error_code ignored;
        fs::remove_all(root_, ignored);
    }

    std::string script(const std::string& name, const std::string& body) const {
        const fs::path file = root_ / name;
        std::ofstream(file, std::ios::binary) << "#!/bin/sh\n" << body << "\n";
        fs::permissions(file, fs::perms::owner_all);
        return file.string();
    }
    [[nodiscard]] std::string seen(const std::string& name) const {
        std::ifstream file(root_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    Result<Completion> ask(json::object settings) {
        return CliBackend(std::move(settings)).complete(request_, &parts_, context_);
    }
    json::object plain(const std::string& body) const { return {{"command", {script("model", body)}}}; }
    /// The preset `claude` with a fake that prints `output`.
    json::object claude(const std::string& output, const std::string& after = "") const {
        std::ofstream(root_ / "answer.json", std::ios::binary) << output;
        script("claude", "cat > '" + root_.string() + "/stdin'; printf '%s\\n' \"$@\" > '" + root_.string() + "/argv'; cat '" +
                             root_.string() + "/answer.json'; " + after);
        return {{"preset", "claude"}};
    }
    json::object codex(const std::string& output, const std::string& after = "") const {
        std::ofstream(root_ / "answer.json", std::ios::binary) << output;
        script("codex", "cat > '" + root_.string() + "/stdin'; printf '%s\\n' \"$@\" > '" + root_.string() + "/argv'; cat '" +
                            root_.string() + "/answer.json'; " + after);
        return {{"preset", "codex"}};
    }

    fs::path root_;
    std::string path_before_;
    CompletionRequest request_ = [] {
        CompletionRequest made;
        made.system = "You are SPEC.";
        made.user = "Write the specification.";
        return made;
    }();
    Context context_;
    Parts parts_;
};

// --------------------------------------------------------------------------------------- prompt --

TEST(TestPromptBuilder, prompt_includes_system_prompt_then_context) {
    CompletionRequest request;
    request.system = "You are SPEC.";
    request.user = "stage_requirements: one";
    EXPECT_EQ(build_agent_prompt(request), "You are SPEC.\n\n---\n\nstage_requirements: one");
}

TEST(TestPromptBuilder, prompt_handles_empty_optional_fields_gracefully) {
    CompletionRequest request;
    EXPECT_EQ(build_agent_prompt(request), "");
    request.user = "only context";
    EXPECT_EQ(build_agent_prompt(request), "only context");
    request.user.clear();
    request.system = "only system";
    EXPECT_EQ(build_agent_prompt(request), "only system\n");
}

TEST(TestPromptBuilder, prompt_is_always_valid_utf8) {
    CompletionRequest request;
    request.user = "a\xFFz";
    EXPECT_EQ(build_agent_prompt(request), "a\xEF\xBF\xBDz");
}

TEST(TestPromptBuilder, equal_requests_give_equal_prompts) {
    CompletionRequest request;
    request.system = "s";
    request.user = "u";
    CompletionRequest other = request;
    other.place.step = 9;
    EXPECT_EQ(build_agent_prompt(request), build_agent_prompt(other));
}

// -------------------------------------------------------------------------------- plain command --

TEST_F(TestCliBackend, successful_execution_returns_the_text) {
    auto answer = ask(plain("cat >/dev/null; echo 'the answer'"));
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    EXPECT_EQ(answer->text, "the answer");
    EXPECT_EQ(parts_.all, "the answer");
}

TEST_F(TestCliBackend, prompt_is_passed_on_standard_input) {
    EXPECT_EQ(ask(plain("cat"))->text, "You are SPEC.\n\n---\n\nWrite the specification.");
}

TEST_F(TestCliBackend, prompt_replaces_its_placeholder) {
    EXPECT_EQ(ask({{"command", {"printf", "%s", "<{prompt}>"}}})->text, "<You are SPEC.\n\n---\n\nWrite the specification.>");
}

TEST_F(TestCliBackend, prompt_is_appended_as_an_argument_if_configured) {
    EXPECT_THAT(ask({{"command", {"printf", "%s"}}, {"prompt", "argument"}})->text, HasSubstr("Write the specification."));
}

TEST_F(TestCliBackend, prompt_is_passed_in_a_separate_file) {
    EXPECT_THAT(ask({{"command", {"cat", "{prompt_file}"}}})->text, HasSubstr("Write the specification."));
}

TEST_F(TestCliBackend, the_prompt_file_is_gone_afterwards) {
    auto answer = ask({{"command", {"printf", "%s", "{prompt_file}"}}});
    EXPECT_FALSE(fs::exists(answer->text));
}

TEST_F(TestCliBackend, placeholders_inside_the_prompt_are_not_replaced) {
    request_.system.clear();
    request_.user = "say {model} and {prompt}";
    EXPECT_EQ(ask({{"command", {"printf", "%s", "{prompt}"}}, {"model", "m"}})->text, "say {model} and {prompt}");
}

TEST_F(TestCliBackend, the_model_of_the_request_overrides_the_settings) {
    request_.model = "from-request";
    EXPECT_EQ(ask({{"command", {"printf", "%s", "{model}{prompt_file}"}}, {"model", "from-settings"}})->text.substr(0, 12),
              "from-request");
}

TEST_F(TestCliBackend, a_command_that_needs_a_model_says_so) {
    EXPECT_EQ(ask({{"command", {"echo", "{model}"}}}).error().code, "AF-LLM-306");
}

TEST_F(TestCliBackend, a_prompt_too_long_for_an_argument_is_an_error_with_a_remedy) {
    request_.user.assign(200'000, 'x');
    auto answer = ask({{"command", {"echo", "{prompt}"}}});
    EXPECT_EQ(answer.error().code, "AF-LLM-306");
    EXPECT_THAT(answer.error().remedy, HasSubstr("stdin"));
}

TEST_F(TestCliBackend, tokens_are_estimated_and_cost_is_unknown_if_the_command_reports_none) {
    auto answer = ask(plain("echo 12345678"));
    EXPECT_TRUE(answer->usage.estimated);
    EXPECT_EQ(answer->usage.output_tokens, 2U);
    EXPECT_FALSE(answer->usage.cost_microusd.has_value());
}

TEST_F(TestCliBackend, session_id_is_taken_from_standard_error_by_pattern) {
    auto settings = plain("echo hello; echo 'session: abc-123' >&2");
    settings["session_id_pattern"] = "session: ([a-z0-9-]+)";
    EXPECT_EQ(ask(settings)->session_id, "abc-123");
}

TEST_F(TestCliBackend, session_id_is_empty_when_absent) {
    auto settings = plain("echo hello");
    settings["session_id_pattern"] = "session: ([a-z0-9-]+)";
    EXPECT_EQ(ask(settings)->session_id, "");
}

TEST_F(TestCliBackend, the_command_runs_in_an_empty_folder) { EXPECT_EQ(ask(plain("echo \"[$(ls -A)]\""))->text, "[]"); }

TEST_F(TestCliBackend, unneeded_variables_are_not_passed) {
    ::setenv("AGENTFORGE_TEST_SECRET", "canary", 1);
    auto answer = ask(plain("env"));
    ::unsetenv("AGENTFORGE_TEST_SECRET");
    EXPECT_THAT(answer->text, Not(HasSubstr("canary")));
}

TEST_F(TestCliBackend, a_named_variable_is_passed_on) {
    ::setenv("AGENTFORGE_TEST_NAMED", "value-1", 1);
    auto settings = plain("echo $AGENTFORGE_TEST_NAMED");
    settings["environment"] = {"AGENTFORGE_TEST_NAMED"};
    auto answer = ask(settings);
    ::unsetenv("AGENTFORGE_TEST_NAMED");
    EXPECT_EQ(answer->text, "value-1");
}

// --------------------------------------------------------------------------------------- errors --

TEST_F(TestCliBackend, missing_binary_says_what_to_install) {
    ::setenv("PATH", root_.c_str(), 1);
    auto answer = ask({{"preset", "claude"}});
    EXPECT_EQ(answer.error().code, "AF-LLM-301");
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
    EXPECT_THAT(answer.error().remedy, HasSubstr("Install Claude Code"));
}

TEST_F(TestCliBackend, non_zero_exit_code_is_an_error_with_the_end_of_stderr) {
    auto answer = ask(plain("echo 'the reason' >&2; exit 3"));
    EXPECT_EQ(answer.error().code, "AF-LLM-302");
    EXPECT_THAT(answer.error().message, HasSubstr("exit code 3: the reason"));
}

TEST_F(TestCliBackend, long_stderr_is_cut_to_its_end) {
    auto answer = ask(plain("head -c 100000 /dev/zero | tr '\\0' x >&2; echo END >&2; exit 1"));
    EXPECT_LT(answer.error().message.size(), 3'000U);
    EXPECT_THAT(answer.error().message, HasSubstr("END"));
}

TEST_F(TestCliBackend, timeout_has_its_own_error) {
    auto settings = plain("exec sleep 1000");
    settings["timeout_seconds"] = 1;
    auto answer = ask(settings);
    EXPECT_EQ(answer.error().code, "AF-LLM-303");
    EXPECT_EQ(answer.error().kind, ErrorKind::timeout);
}

TEST_F(TestCliBackend, timeout_kills_the_children_too) {
    context_.deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    auto answer = ask(plain("sleep 1000 & echo $! > '" + root_.string() + "/pid'; wait"));
    ASSERT_EQ(answer.error().code, "AF-LLM-303");
    const std::string stat = "/proc/" + std::to_string(std::stoi(seen("pid"))) + "/stat";
    bool gone = false;
    for (int round = 0; round < 1'000 && !gone; ++round) {  // Until init has reaped it.
        std::ifstream file(stat);
        std::string text((std::istreambuf_iterator<char>(file)), {});
        gone = text.empty() || text.find(") Z") != std::string::npos;
        if (!gone) { ::poll(nullptr, 0, 5); }
    }
    EXPECT_TRUE(gone);
}

TEST_F(TestCliBackend, the_callers_deadline_applies_if_earlier) {
    context_.deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    EXPECT_EQ(ask(plain("exec sleep 1000")).error().kind, ErrorKind::timeout);
}

TEST_F(TestCliBackend, cancel_before_the_call_starts_nothing) {
    context_.cancel_ = true;
    EXPECT_EQ(ask(plain("touch '" + root_.string() + "/ran'")).error().kind, ErrorKind::cancelled);
    EXPECT_FALSE(fs::exists(root_ / "ran"));
}

TEST_F(TestCliBackend, cancel_ends_a_running_call) {
    context_.cancel_when_ = (root_ / "up").string();
    auto answer = ask(plain("touch '" + root_.string() + "/up'; exec sleep 1000"));
    EXPECT_EQ(answer.error().code, "AF-LLM-307");
    EXPECT_EQ(answer.error().kind, ErrorKind::cancelled);
}

TEST_F(TestCliBackend, empty_output_is_an_error) { EXPECT_EQ(ask(plain("echo; echo ' '")).error().code, "AF-LLM-305"); }

TEST_F(TestCliBackend, invalid_utf8_in_the_output_is_replaced) {
    EXPECT_EQ(ask(plain("printf 'a\\377z'"))->text, "a\xEF\xBF\xBDz");
}

TEST_F(TestCliBackend, more_output_than_the_bound_is_an_error) {
    auto settings = plain("yes | head -c 100000");
    settings["max_output_bytes"] = 1'024;
    EXPECT_EQ(ask(settings).error().code, "AF-LLM-305");
}

TEST_F(TestCliBackend, overload_messages_are_retryable) {
    EXPECT_EQ(ask(plain("echo 'API Error: 529 overloaded_error' >&2; exit 1")).error().kind, ErrorKind::transient);
}

TEST_F(TestCliBackend, a_missing_login_pauses_and_the_remedy_says_to_log_in) {
    const auto answer = ask(plain("echo 'Invalid API key · Please run /login' >&2; exit 1"));
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
    EXPECT_THAT(answer.error().remedy, HasSubstr("Log in"));
}

TEST_F(TestCliBackend, used_up_plan_messages_are_not_retryable) {
    EXPECT_EQ(ask(plain("echo 'Claude usage limit reached' >&2; exit 1")).error().kind, ErrorKind::unavailable);
}

// --------------------------------------------------------------------------------------- claude --

constexpr const char* claude_result =
    R"({"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s-1","num_turns":1,"total_cost_usd":0.1234565,)"
    R"("usage":{"input_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":3,"output_tokens":7},"modelUsage":{"claude-x":{}}})";

TEST_F(TestCliBackend, claude_result_object_is_read) {
    auto answer = ask(claude(claude_result));
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    EXPECT_EQ(answer->text, "done");
    EXPECT_EQ(answer->session_id, "s-1");
    EXPECT_EQ(answer->model, "claude-x");
    EXPECT_EQ(answer->usage.input_tokens, 18U);
    EXPECT_EQ(answer->usage.cached_input_tokens, 5U);
    EXPECT_EQ(answer->usage.output_tokens, 7U);
    EXPECT_FALSE(answer->usage.estimated);
}

TEST_F(TestCliBackend, claude_gets_the_prompt_on_standard_input_and_its_tools_are_off) {
    ASSERT_TRUE(ask(claude(claude_result)).ok());
    EXPECT_EQ(seen("stdin"), "Write the specification.");
    EXPECT_THAT(
        seen("argv"),
        testing::StartsWith(
            "-p\n--output-format\njson\n--tools\n\n--max-turns\n1\n--strict-mcp-config\n--setting-sources=\n--disable-slash-commands\n--no-session-persistence\n"));
}

TEST_F(TestCliBackend, claude_gets_the_system_prompt_in_a_file_only) {
    std::ofstream(root_ / "answer.json", std::ios::binary) << claude_result;
    script("claude", "while [ $# -gt 0 ]; do [ \"$1\" = --system-prompt-file ] && cat \"$2\" > '" + (root_ / "system").string() +
                         "'; shift; done; cat '" + (root_ / "answer.json").string() + "'");
    ASSERT_TRUE(ask({{"preset", "claude"}}).ok());
    EXPECT_EQ(seen("system"), "You are SPEC.");
}

TEST_F(TestCliBackend, claude_makes_no_extra_calls_and_does_not_retry) {
    std::ofstream(root_ / "answer.json", std::ios::binary) << claude_result;
    script("claude", "env > '" + (root_ / "env").string() + "'; cat '" + (root_ / "answer.json").string() + "'");
    ASSERT_TRUE(ask({{"preset", "claude"}}).ok());
    EXPECT_THAT(seen("env"),
                testing::AllOf(HasSubstr("CLAUDE_CODE_ATTRIBUTION_HEADER=0"), HasSubstr("CLAUDE_CODE_DISABLE_TERMINAL_TITLE=1"),
                               HasSubstr("CLAUDE_CODE_MAX_RETRIES=0"), HasSubstr("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")));
}

TEST_F(TestCliBackend, claude_keeps_a_variable_that_the_user_set) {
    ::setenv("CLAUDE_CODE_MAX_RETRIES", "7", 1);
    std::ofstream(root_ / "answer.json", std::ios::binary) << claude_result;
    script("claude", "env > '" + (root_ / "env").string() + "'; cat '" + (root_ / "answer.json").string() + "'");
    const bool asked = ask({{"preset", "claude"}}).ok();
    ::unsetenv("CLAUDE_CODE_MAX_RETRIES");
    ASSERT_TRUE(asked);
    EXPECT_THAT(seen("env"), HasSubstr("CLAUDE_CODE_MAX_RETRIES=7"));
}

TEST(ClaudeAnswer, server_status_decides_the_kind_of_failure) {
    const auto with = [](const char* status, const char* words) {
        const Answer answer =
            read_claude(std::string(R"({"type":"result","subtype":"success","is_error":true,"api_error_status":)") + status +
                        R"(,"result":")" + words + "\"}");
        return kind_of_failure(answer.failure, answer.status_kind);
    };
    EXPECT_EQ(with("529", "API Error"), ErrorKind::transient);
    EXPECT_EQ(with("400", "API Error: 400 model 500x is unknown"), ErrorKind::unavailable);
    EXPECT_EQ(with("403", "API Error"), ErrorKind::denied);
    EXPECT_EQ(with("429", "You have hit your limit, resets 3pm"), ErrorKind::unavailable);
    EXPECT_EQ(with("null", "Not logged in"), ErrorKind::denied);
}

TEST_F(TestCliBackend, claude_gets_the_model) {
    request_.model = "opus";
    ASSERT_TRUE(ask(claude(claude_result)).ok());
    EXPECT_THAT(seen("argv"), HasSubstr("--model\nopus\n"));
}

TEST_F(TestCliBackend, claude_lines_of_other_types_are_ignored) {
    auto answer = ask(claude("{\"type\":\"rate_limit_event\"}\nwarning: not json\n{\"type\":\"system\",\"subtype\":\"init\"}\n" +
                             std::string(claude_result) + "\n"));
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    EXPECT_EQ(answer->text, "done");
    EXPECT_EQ(answer->diagnostics.at("skipped_lines").to_number<int>(), 1);
}

TEST_F(TestCliBackend, claude_list_of_events_is_read) {
    EXPECT_EQ(ask(claude("[{\"type\":\"system\"}," + std::string(claude_result) + "]"))->text, "done");
}

TEST_F(TestCliBackend, claude_is_error_with_subtype_success_is_an_error) {
    auto answer = ask(claude(R"({"type":"result","subtype":"success","is_error":true,"result":"Invalid API key"})"));
    EXPECT_EQ(answer.error().code, "AF-LLM-304");
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
    EXPECT_THAT(answer.error().remedy, HasSubstr("Log in"));
}

TEST_F(TestCliBackend, claude_subtype_other_than_success_is_an_error) {
    auto answer = ask(claude(R"({"type":"result","subtype":"error_max_turns","is_error":false})"));
    EXPECT_EQ(answer.error().code, "AF-LLM-304");
    EXPECT_THAT(answer.error().message, HasSubstr("error_max_turns"));
}

TEST_F(TestCliBackend, claude_failure_on_standard_output_takes_precedence_over_the_exit_code) {
    auto answer =
        ask(claude(R"({"type":"result","subtype":"success","is_error":true,"result":"usage limit reached"})", "exit 1"));
    EXPECT_EQ(answer.error().code, "AF-LLM-304");
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
}

TEST_F(TestCliBackend, claude_without_a_result_is_an_error) {
    EXPECT_EQ(ask(claude("{\"type\":\"system\"}\n")).error().code, "AF-LLM-305");
}

TEST(ClaudeCost, is_the_printed_amount_in_millionths) {
    EXPECT_EQ(microusd(json::parse("0.003219")), 3'219U);
    EXPECT_EQ(microusd(json::parse("1.1")), 1'100'000U);
    EXPECT_EQ(microusd(json::parse("0.29")), 290'000U);
    EXPECT_EQ(microusd(json::parse("123456.789012")), 123'456'789'012U);
    EXPECT_EQ(microusd(json::parse("0")), 0U);
}

TEST(ClaudeCost, is_unknown_if_it_is_not_an_amount) {
    EXPECT_FALSE(microusd(json::parse("-1")).has_value());
    EXPECT_FALSE(microusd(json::parse("1e300")).has_value());
    EXPECT_FALSE(microusd(json::parse("\"0.1\"")).has_value());
    EXPECT_FALSE(microusd(json::parse("null")).has_value());
}

TEST(ClaudeAnswer, hostile_shapes_are_refused) {
    for (const char* text : {"", "null", "[]", "{", "[[[[", "{\"type\":5}", "{\"type\":\"result", "\xEF\xBB\xBF"}) {
        EXPECT_FALSE(read_claude(text).found) << text;
    }
}

TEST(ClaudeAnswer, fields_of_wrong_types_are_harmless) {
    const Answer answer = read_claude(
        R"({"type":"result","result":7,"session_id":[],"usage":3,"total_cost_usd":"x","modelUsage":[],"is_error":"yes","subtype":1})");
    EXPECT_TRUE(answer.found);
    EXPECT_EQ(answer.completion.text, "");
}

// ---------------------------------------------------------------------------------------- codex --

constexpr const char* codex_lines =
    "{\"type\":\"thread.started\",\"thread_id\":\"t-9\"}\n{\"type\":\"turn.started\"}\n"
    "{\"type\":\"item.completed\",\"item\":{\"type\":\"reasoning\",\"text\":\"hm\"}}\n"
    "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"first\"}}\n"
    "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"final\"}}\n"
    "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":20,\"cached_input_tokens\":4,\"output_tokens\":6}}\n";

TEST_F(TestCliBackend, codex_last_message_usage_and_thread_are_read) {
    auto answer = ask(codex(codex_lines));
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    EXPECT_EQ(answer->text, "final");
    EXPECT_EQ(answer->session_id, "t-9");
    EXPECT_EQ(answer->usage.input_tokens, 20U);
    EXPECT_EQ(answer->usage.output_tokens, 6U);
}

TEST_F(TestCliBackend, codex_tools_are_off) {
    ASSERT_TRUE(ask(codex(codex_lines)).ok());
    for (const char* word : {"features.shell_tool=false", "features.unified_exec=false", "--ignore-user-config",
                             "web_search=\"disabled\"", "--ephemeral", "project_doc_max_bytes=0"}) {
        EXPECT_THAT(seen("argv"), HasSubstr(std::string("\n") + word + "\n"));
    }
}

TEST_F(TestCliBackend, codex_gets_the_system_prompt_in_a_file) {
    ASSERT_TRUE(ask(codex(codex_lines)).ok());
    EXPECT_THAT(seen("argv"), testing::ContainsRegex("model_instructions_file=\"[^\n]*/system.txt\""));
    EXPECT_THAT(seen("argv"), Not(HasSubstr("You are SPEC.")));
}

TEST_F(TestCliBackend, codex_does_not_wait_forever_for_a_server) {
    ASSERT_TRUE(ask(codex(codex_lines)).ok());
    EXPECT_THAT(seen("argv"), HasSubstr("\nfeatures.unbounded_connection_retries=false\n"));
}

TEST_F(TestCliBackend, codex_timeout_quotes_its_last_output) {
    auto settings = codex("{\"type\":\"error\",\"message\":\"Reconnecting... 1/5\"}\n", "exec sleep 60");
    settings["timeout_seconds"] = 1;
    auto answer = ask(settings);
    EXPECT_EQ(answer.error().code, "AF-LLM-303");
    EXPECT_THAT(answer.error().message, HasSubstr("Reconnecting... 1/5"));
}

constexpr const char* codex_tool_call = "{\"type\":\"item.completed\",\"item\":{\"type\":\"mcp_tool_call\",\"tool\":\"x\"}}\n";

TEST_F(TestCliBackend, codex_that_keeps_calling_the_model_is_stopped_and_its_cost_counted) {
    std::string calls;
    for (int at = 0; at < 6; ++at) { calls += codex_tool_call; }
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = ask(codex(calls, "exec sleep 60"));
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30)) << "it is not waited for";
    EXPECT_EQ(answer->diagnostics.at("requests"), 7);
    EXPECT_EQ(answer->diagnostics.at("requests_limit"), 5);
    EXPECT_GT(answer->usage.input_tokens, 0U);
}

TEST_F(TestCliBackend, codex_token_counts_reveal_requests_without_events) {
    const auto answer = ask(codex(R"({"type":"item.completed","item":{"type":"agent_message","text":"final"}})"
                                  "\n"
                                  R"({"type":"turn.completed","usage":{"input_tokens":22000000,"output_tokens":6}})"
                                  "\n"));
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    EXPECT_EQ(answer->usage.input_tokens, 22'000'000U);
    EXPECT_GT(answer->diagnostics.at("requests").to_number<int>(), 1'000);
    EXPECT_TRUE(answer->diagnostics.contains("requests_limit"));
}

TEST_F(TestCliBackend, codex_within_its_request_limit_gives_a_normal_answer) {
    const auto answer = ask(codex(codex_tool_call + std::string(codex_lines)));
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    EXPECT_EQ(answer->diagnostics.at("requests"), 2);
    EXPECT_FALSE(answer->diagnostics.contains("requests_limit"));
}

TEST_F(TestCliBackend, text_that_looks_like_events_is_an_answer) {
    const auto answer = ask(plain(
        "for i in 1 2 3 4 5 6 7 8; do echo '{\"type\":\"item.completed\",\"item\":{\"type\":\"mcp_tool_call\"}}'; done; echo end"));
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    EXPECT_THAT(answer->text, testing::EndsWith("end"));
    EXPECT_FALSE(answer->diagnostics.contains("requests"));
}

TEST_F(TestCliBackend, codex_input_tokens_are_at_least_those_of_the_prompt) {
    request_.user.assign(200'000, 'x');
    const auto answer = ask(codex(codex_lines));
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    EXPECT_GE(answer->usage.input_tokens, 50'000U);
    EXPECT_TRUE(answer->usage.estimated);
}

TEST(RequestCount, reads_lines_that_arrive_in_parts_and_ignores_other_text) {
    RequestCount count;
    const std::string text = std::string("no JSON\n[1]\n") + codex_tool_call +
                             R"({"type":"error","message":"Reconnecting... 1/5"})"
                             "\n" +
                             codex_lines;
    for (const char letter : text) { count.hear(std::string_view(&letter, 1)); }
    EXPECT_EQ(count.requests(), 3U);
}

TEST_F(TestCliBackend, codex_error_object_of_the_server_is_shown_as_words) {
    auto answer = ask(codex(
        R"({"type":"turn.failed","error":{"message":"{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no such model\"}}"}})"
        "\n",
        "exit 1"));
    EXPECT_EQ(answer.error().message, "'codex' failed: invalid_request_error: no such model");
}

TEST_F(TestCliBackend, codex_without_its_key_is_denied) {
    auto answer = ask(codex(R"({"type":"turn.failed","error":{"message":"Missing environment variable: `OPENAI_API_KEY`."}})"
                            "\n",
                            "exit 1"));
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
    EXPECT_THAT(answer.error().remedy, HasSubstr("Log in"));
}

TEST_F(TestCliBackend, codex_gets_no_standard_input_if_the_prompt_is_an_argument) {
    auto settings = codex(codex_lines);
    settings["prompt"] = "argument";
    ASSERT_TRUE(ask(settings).ok());
    EXPECT_EQ(seen("stdin"), "");
    EXPECT_THAT(seen("argv"), HasSubstr("Write the specification."));
}

TEST_F(TestCliBackend, codex_reads_a_long_prompt_from_standard_input) {
    request_.user.assign(200'000, 'x');
    ASSERT_TRUE(ask(codex(codex_lines)).ok());
    EXPECT_THAT(seen("argv"), testing::EndsWith("\n-\n"));
    EXPECT_EQ(seen("stdin").size(), 200'000U);
}

TEST_F(TestCliBackend, codex_turn_failed_is_an_error) {
    auto answer = ask(codex("{\"type\":\"turn.failed\",\"error\":{\"message\":\"stream error: 503\"}}\n", "exit 1"));
    EXPECT_EQ(answer.error().code, "AF-LLM-304");
    EXPECT_EQ(answer.error().kind, ErrorKind::transient);
}

// ----------------------------------------------------------------------------- settings and check --

std::string refusal(const json::object& settings) {
    try {
        const CliBackend backend(settings);
    } catch (const std::invalid_argument& wrong) { return wrong.what(); }
    return "";
}

TEST(CliSettings, an_unknown_key_is_named) {
    EXPECT_THAT(refusal({{"preset", "claude"}, {"modle", "x"}}), HasSubstr("'modle' is unknown"));
}
TEST(CliSettings, an_unknown_preset_is_named) { EXPECT_THAT(refusal({{"preset", "gpt"}}), HasSubstr("gpt")); }
TEST(CliSettings, without_a_preset_a_command_is_needed) { EXPECT_THAT(refusal({}), HasSubstr("'command' is needed")); }
TEST(CliSettings, a_pattern_must_be_valid) {
    EXPECT_THAT(refusal({{"preset", "claude"}, {"session_id_pattern", "("}}), HasSubstr("session_id_pattern"));
}
TEST(CliSettings, a_pattern_must_have_a_group) {
    EXPECT_THAT(refusal({{"preset", "claude"}, {"session_id_pattern", "x"}}), HasSubstr("group"));
}
TEST(CliSettings, a_timeout_has_bounds) {
    EXPECT_THAT(refusal({{"preset", "claude"}, {"timeout_seconds", 0}}), HasSubstr("between"));
}

TEST(CliSettings, the_manifest_shows_the_same_schema) {
    std::ifstream file(AGENTFORGE_SOURCE_DIR "/plugins/llm/cli/plugin.json");
    const json::value manifest = json::parse(std::string((std::istreambuf_iterator<char>(file)), {}));
    EXPECT_EQ(manifest.as_object().at("config_schema"), json::value(settings_schema()));
}

// --------------------------------------------------------------------------------------- agentic --

/// A host that starts nothing and records the commands.
class Workplace final : public AgenticContext {
public:
    explicit Workplace(std::string scratch) : scratch_(std::move(scratch)) {}
    [[nodiscard]] bool cancelled() const noexcept override { return false; }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return deadline_; }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return {}; }
    [[nodiscard]] const std::string& workspace() const noexcept override { return workspace_; }
    [[nodiscard]] const std::string& scratch() const noexcept override { return scratch_; }
    [[nodiscard]] Result<AgenticOutcome> run_command(const AgenticCommand& command) override {
        command_ = command;
        return outcome_;
    }

    AgenticCommand command_;
    AgenticOutcome outcome_;
    std::optional<std::chrono::steady_clock::time_point> deadline_;

private:
    std::string workspace_ = "/workspace";
    std::string scratch_;
};

class TestAgenticBackend : public TestCliBackend {
protected:
    Result<Completion> work(json::object settings) {
        settings["mode"] = "agentic";
        return CliBackend(std::move(settings)).complete(request_, &parts_, place_);
    }
    /// `claude` printing `out`.
    Result<Completion> claude_says(const std::string& out, int exit_code = 0) {
        script("claude", "");
        place_.outcome_.process.out = out;
        place_.outcome_.process.exit_code = exit_code;
        return work({{"preset", "claude"}});
    }
    [[nodiscard]] std::string words() const {
        std::string all;
        for (const std::string& word : place_.command_.argv) { all += word + "\n"; }
        return all;
    }
    Workplace place_{root_.string()};
};

TEST_F(TestAgenticBackend, claude_works_with_its_tools_on_and_the_prompt_on_standard_input) {
    auto answer = claude_says(claude_result);
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    EXPECT_EQ(answer->text, "done");
    EXPECT_EQ(answer->usage.cost_microusd, 123'457U);
    EXPECT_EQ(place_.command_.argv.front(), (root_ / "claude").string());
    EXPECT_THAT(words(), testing::AllOf(HasSubstr("--tools\nBash,Edit,Read,Write,Glob,Grep\n"), HasSubstr("--max-turns\n50\n"),
                                        HasSubstr("--setting-sources=\n"), Not(HasSubstr("SPEC"))));
    EXPECT_EQ(place_.command_.input, "You are SPEC.\n\n---\n\nWrite the specification.");
}

TEST_F(TestAgenticBackend, codex_works_with_its_own_sandbox_off_because_the_hosts_is_on) {
    script("codex", "");
    place_.outcome_.process = {};
    place_.outcome_.process.exit_code = 0;
    place_.outcome_.process.out = codex_lines;
    auto answer = work({{"preset", "codex"}});
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    EXPECT_EQ(answer->text, "final");
    EXPECT_THAT(words(),
                testing::AllOf(HasSubstr("--dangerously-bypass-approvals-and-sandbox\n"), HasSubstr("--ignore-user-config\n"),
                               Not(HasSubstr("shell_tool=false")), testing::EndsWith("\n-\n")));
}

TEST_F(TestAgenticBackend, the_users_home_is_hidden_unless_home_is_named) {
    ASSERT_TRUE(claude_says(claude_result).ok());
    EXPECT_FALSE(place_.command_.environment.contains("HOME"));
    EXPECT_TRUE(place_.command_.environment.contains("PATH"));
    ASSERT_TRUE(work({{"preset", "claude"}, {"environment", {"HOME"}}}).ok());
    EXPECT_TRUE(place_.command_.environment.contains("HOME"));
}

TEST_F(TestAgenticBackend, npm_packages_of_the_program_are_readable) {
    fs::create_directories(root_ / "node_modules/@x/agent/bin");
    fs::create_directories(root_ / "node_modules/.bin");
    fs::rename(script("agent", ""), root_ / "node_modules/@x/agent/bin/agent");
    fs::create_symlink("../@x/agent/bin/agent", root_ / "node_modules/.bin/agent");
    place_.outcome_.process.exit_code = 0;
    place_.outcome_.process.out = "done";
    ASSERT_TRUE(work({{"command", {(root_ / "node_modules/.bin/agent").string()}},
                      {"readable", {"/opt/data"}},
                      {"writable", {"/opt/cache"}}})
                    .ok());
    EXPECT_THAT(place_.command_.readable,
                testing::IsSupersetOf({fs::canonical(root_ / "node_modules").string(), std::string("/opt/data")}));
    EXPECT_THAT(place_.command_.writable, testing::ElementsAre("/opt/cache"));
}

TEST_F(TestAgenticBackend, prompt_file_is_in_the_scratch_folder_of_the_call) {
    place_.outcome_.process.exit_code = 0;
    place_.outcome_.process.out = "done";
    ASSERT_TRUE(work({{"command", {"/bin/sh", "{prompt_file}"}}}).ok());
    EXPECT_EQ(place_.command_.argv.back(), place_.scratch() + "/prompt.txt");
    EXPECT_EQ(seen("prompt.txt"), "You are SPEC.\n\n---\n\nWrite the specification.");
}

TEST_F(TestAgenticBackend, output_may_be_empty_if_an_artifact_was_left) {
    place_.outcome_.process.exit_code = 0;
    EXPECT_EQ(work({{"command", {"/bin/sh"}}}).error().code, "AF-LLM-305");
    place_.outcome_.artifact = true;
    EXPECT_TRUE(work({{"command", {"/bin/sh"}}}).ok());
}

TEST_F(TestAgenticBackend, failures_match_those_of_plain_mode) {
    EXPECT_EQ(claude_says(R"({"type":"result","subtype":"error_max_turns","is_error":true})", 1).error().code, "AF-LLM-304");
    EXPECT_EQ(claude_says("no json at all").error().code, "AF-LLM-305");
    EXPECT_EQ(claude_says("", 3).error().code, "AF-LLM-302");
    place_.outcome_.process.timed_out = true;
    EXPECT_EQ(claude_says("").error().code, "AF-LLM-303");
    EXPECT_EQ(work({{"command", {"/nowhere/agent"}}}).error().code, "AF-LLM-301");
}

TEST_F(TestAgenticBackend, the_stages_deadline_bounds_the_command) {
    place_.deadline_ = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    ASSERT_TRUE(claude_says(claude_result).ok());
    EXPECT_LE(place_.command_.timeout, std::chrono::seconds(2));
}

TEST_F(TestAgenticBackend, without_a_workspace_nothing_is_started) {
    EXPECT_EQ(ask({{"preset", "claude"}, {"mode", "agentic"}}).error().code, "AF-LLM-309");
}

TEST(CliSettings, a_mode_is_plain_or_agentic) {
    EXPECT_THAT(refusal({{"preset", "claude"}, {"mode", "wild"}}), HasSubstr("'plain' or 'agentic'"));
}
TEST(CliSettings, opened_paths_are_absolute) {
    EXPECT_THAT(refusal({{"preset", "claude"}, {"writable", {"../x"}}}), HasSubstr("absolute"));
}

TEST_F(TestCliBackend, check_reports_the_version) {
    script("claude", "echo '9.9.9 (Claude Code)'");
    auto answer = CliBackend({{"preset", "claude"}}).check(context_);
    ASSERT_TRUE(answer.ok());
    EXPECT_THAT(*answer, HasSubstr("9.9.9 (Claude Code)"));
}

TEST_F(TestCliBackend, check_names_a_missing_program) {
    ::setenv("PATH", root_.c_str(), 1);
    EXPECT_EQ(CliBackend({{"preset", "codex"}}).check(context_).error().code, "AF-LLM-301");
}

TEST_F(TestCliBackend, satisfies_the_backend_interface) {
    EXPECT_EQ(CliBackend({{"preset", "codex"}}).info().name, "cli");
    EXPECT_FALSE(CliBackend({{"preset", "codex"}}).info().native_tool_calls);
}

}  // namespace
}  // namespace agentforge::cli
