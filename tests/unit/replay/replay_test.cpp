// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "replay.hpp"
#include "unit/agent/fakes.hpp"

namespace agentforge::kernel::testing {
namespace {

struct Folder {
    TemporaryDirectory directory{"replay"};
    [[nodiscard]] std::string file(const std::string& text) const {
        const auto path = directory.path() / "transcript.yaml";
        EXPECT_TRUE(write_file_atomic(path, text, Durability::cached).ok());
        return path.string();
    }
};

CompletionRequest request_at(unsigned step) {
    CompletionRequest request;
    request.system = "system";
    request.user = "context";
    request.place = {"task-1", "green", "software_developer", 1, 1, step};
    request.frame_hash = "frame";
    request.context_hash = "context";
    return request;
}

Result<Completion> ask(const std::string& entry, json::object settings = {}, unsigned step = 1) {
    const Folder folder;
    settings["transcript"] = folder.file("agentforge_transcript: 1\nentries:\n  - " + entry + "\n");
    ::replay::ReplayBackend backend(settings);
    FakeContext context;
    return backend.complete(request_at(step), nullptr, context);
}

TEST(Replay, returns_the_answer_recorded_for_the_position) {
    const auto answer = ask("{stage: green, step: 1, frame_hash: frame, context_hash: context, text: hello}");
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    EXPECT_EQ(answer.value().text, "hello");
}

TEST(Replay, answers_a_repeated_question_each_time) {
    const Folder folder;
    ::replay::ReplayBackend backend(
        {{"transcript", folder.file("agentforge_transcript: 1\nentries:\n  - {stage: green, step: 1, text: hello}\n")}});
    FakeContext context;
    ASSERT_TRUE(backend.complete(request_at(1), nullptr, context).ok());
    EXPECT_TRUE(backend.complete(request_at(1), nullptr, context).ok());
}

TEST(Replay, repeats_the_recorded_failures_before_the_answer) {
    const Folder folder;
    ::replay::ReplayBackend backend(
        {{"transcript", folder.file("agentforge_transcript: 1\nentries:\n  - {stage: green, step: 1, text: hello, "
                                    "failed_attempts: [{code: AF-LLM-409, message: busy}]}\n")}});
    FakeContext context;
    const auto failed = backend.complete(request_at(1), nullptr, context);
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code, "AF-LLM-409");
    EXPECT_EQ(failed.error().kind, ErrorKind::transient);
    EXPECT_TRUE(backend.complete(request_at(1), nullptr, context).ok());
}

TEST(Replay, names_the_missing_position_and_those_recorded) {
    const auto answer = ask("{stage: green, step: 1, text: hello}", {}, 7);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-201");
    EXPECT_NE(answer.error().message.find("step 7; for this stage it holds visit 1, run 1: step 1"), std::string::npos)
        << answer.error().message;
}

TEST(Replay, shows_both_hashes_if_the_question_differs) {
    const auto answer = ask("{stage: green, step: 1, frame_hash: otherframe, text: hello}");
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-202");
    EXPECT_NE(answer.error().message.find("with frame frame"), std::string::npos);
    EXPECT_NE(answer.error().message.find("with frame otherframe"), std::string::npos);
}

TEST(Replay, names_a_differing_context_in_the_diagnostics) {
    const auto answer = ask("{stage: green, step: 1, context_hash: other, text: hello}");
    ASSERT_TRUE(answer.ok());
    const json::value expected{{"recorded", "other"}, {"actual", "context"}};
    EXPECT_EQ(answer.value().diagnostics.at("context_mismatch"), expected);
}

TEST(Replay, refuses_a_differing_context_when_strict) {
    const auto answer = ask("{stage: green, step: 1, context_hash: other, text: hello}", {{"match", "strict"}});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-203");
}

TEST(Replay, names_a_file_that_cannot_be_read) {
    ::replay::ReplayBackend backend({{"transcript", "/nowhere/at/all.yaml"}});
    FakeContext context;
    const auto answer = backend.complete(request_at(1), nullptr, context);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(std::pair(answer.error().code, answer.error().where),
              std::pair(std::string("AF-LLM-205"), std::string("/nowhere/at/all.yaml")));
}

TEST(Replay, refuses_an_unknown_setting) {
    EXPECT_THROW(::replay::ReplayBackend({{"transcript", "x"}, {"speed", 3}}), std::runtime_error);
}
TEST(Replay, refuses_an_unknown_match) {
    EXPECT_THROW(::replay::ReplayBackend({{"transcript", "x"}, {"match", "loose"}}), std::runtime_error);
}
TEST(Replay, needs_a_transcript) { EXPECT_THROW(::replay::ReplayBackend(json::object{}), std::runtime_error); }
TEST(Replay, needs_no_model) { EXPECT_TRUE(::replay::ReplayBackend({{"transcript", "x"}}).info().offline); }

TEST(Replay, reports_the_recording_to_doctor) {
    const Folder folder;
    ::replay::ReplayBackend backend(
        {{"transcript", folder.file("agentforge_transcript: 1\nentries:\n  - {stage: green, step: 1, text: hello}\n")}});
    FakeContext context;
    const auto said = backend.check(context);
    ASSERT_TRUE(said.ok());
    EXPECT_TRUE(said.value().starts_with("1 recorded answers for green in ")) << said.value();
}

TEST(Replay, gives_no_answer_once_cancelled) {
    ::replay::ReplayBackend backend({{"transcript", "x"}});
    FakeContext context;
    context.cancel = true;
    const auto answer = backend.complete(request_at(1), nullptr, context);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind, ErrorKind::cancelled);
}

TEST(Replay, returns_everything_recorded_of_an_answer) {
    const auto answer = ask(
        "{stage: green, step: 1, text: cut, stop_reason: length, model: big, session_id: s-1, diagnostics: {request_id: r-1}, "
        "usage: {input_tokens: 9, output_tokens: 8, cached_input_tokens: 7, cost_microusd: 12, estimated: true}}");
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    const Completion& got = answer.value();
    EXPECT_EQ(std::tuple(got.stop_reason, got.model, got.session_id, got.usage.cached_input_tokens,
                         got.usage.cost_microusd.value_or(0), got.usage.estimated),
              std::tuple(StopReason::length, std::string("big"), std::string("s-1"), 7U, 12U, true));
    EXPECT_EQ(got.diagnostics, (json::object{{"request_id", "r-1"}}));
}

TEST(Replay, returns_an_unusable_answer_too) {
    const auto answer = ask("{stage: green, step: 1, error: {code: AF-LLM-105, message: no JSON, remedy: Call it again.}}");
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().to_string(), Error({"AF-LLM-105", "no JSON", "", "Call it again.", ErrorKind::invalid}).to_string());
}

TEST(Replay, shows_tools_in_the_prompt_to_a_role_recorded_that_way) {
    const Folder folder;
    const std::string file =
        folder.file("agentforge_transcript: 1\ntext_protocol: [tester]\nentries:\n  - {stage: green, step: 1, text: hello}\n");
    const auto native = [&file](const char* role) {
        return ::replay::ReplayBackend({{"transcript", file}, {"role", role}}).info().native_tool_calls;
    };
    EXPECT_EQ(std::pair(native("tester"), native("developer")), std::pair(false, true));
}

// ------------------------------------------------------------------------- recorded, then replayed --

std::string awkward() { return "# é 🙂 yes: no\n\t\"quoted\" \\ back\x01 \n\n  indented\n---\n- 1.0\n"; }

/// Runs three steps with a model, and returns the outcome's text, the artifact and the context hashes.
struct Run {
    Result<AgentOutcome> outcome;
    FakeHost host;
};

void run_with(ModelClient& model, FakeHost& host, Result<AgentOutcome>& outcome) {
    FakeActions actions(usual_tools(), [&](std::string_view tool, const json::object& arguments) {
        if (tool == "complete") {
            if (const auto taken = host.complete(arguments); !taken.ok()) { return ToolResult::failed(taken.error()); }
        }
        return ToolResult::done("seen " + std::string(tool), "done in 12 ms");
    });
    FakeContext context;
    NullEventSink events;
    const RunSpec spec = usual_spec();
    outcome = run_steps(spec, actions, model, host, context, events);
}

Result<Completion> original(const CompletionRequest& request) {
    if (request.place.step == 1) { return tool_answer("create_file", {{"path", "a.py"}, {"content", awkward()}}); }
    if (request.place.step == 2) { return text_answer("I read.\n\nACTION read_file\npath: a.py\nEND\n"); }
    return tool_answer("complete", {{"summary", awkward()}});
}

TEST(RecordedTranscript, replays_to_the_same_outcome) {
    const TemporaryDirectory folder("replay");
    const std::string file = (folder.path() / "recorded.yaml").string();
    Result<AgentOutcome> first = AgentOutcome{};
    Result<AgentOutcome> second = AgentOutcome{};
    FakeHost first_host;
    FakeHost second_host;
    const auto recorder = make_recorder(client_of(std::make_shared<FakeBackend>(original)), make_recording(file));
    run_with(*recorder, first_host, first);
    ASSERT_TRUE(first.ok()) << first.error().to_string();
    const auto player =
        client_of(std::make_shared<::replay::ReplayBackend>(json::object{{"transcript", file}, {"match", "strict"}}));
    run_with(*player, second_host, second);
    ASSERT_TRUE(second.ok()) << second.error().to_string();
    EXPECT_EQ(json::value(second.value().artifact), json::value(first.value().artifact));
    EXPECT_EQ(second_host.context_hashes, first_host.context_hashes);
}

TEST(RecordedTranscript, is_byte_equal_when_recorded_again_from_its_replay) {
    const TemporaryDirectory folder("replay");
    const std::string once = (folder.path() / "once.yaml").string();
    const std::string again = (folder.path() / "again.yaml").string();
    Result<AgentOutcome> outcome = AgentOutcome{};
    FakeHost first_host;
    FakeHost second_host;
    run_with(*make_recorder(client_of(std::make_shared<FakeBackend>(original)), make_recording(once)), first_host, outcome);
    run_with(*make_recorder(client_of(std::make_shared<::replay::ReplayBackend>(json::object{{"transcript", once}})),
                            make_recording(again)),
             second_host, outcome);
    EXPECT_EQ(read_file(once).value(), read_file(again).value());
}

}  // namespace
}  // namespace agentforge::kernel::testing
