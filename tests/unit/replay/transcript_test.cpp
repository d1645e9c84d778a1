// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "transcript.hpp"

namespace replay {
namespace {

std::string with(const std::string& entry) { return "agentforge_transcript: 1\nentries:\n" + entry; }

agentforge::Error error_of(const std::string& text) {
    auto transcript = Transcript::parse(text, "t.yaml");
    if (transcript.ok()) { return {"none", "it was accepted", "", "", agentforge::ErrorKind::invalid}; }
    return std::move(transcript).error();
}

const agentforge::RequestPlace spec_place{"task-1", "spec", "software_architect", 1, 1, 1};

TEST(Transcript, reads_text_in_a_literal_block) {
    const auto transcript = Transcript::parse(
        with("  - stage: spec\n    step: 1\n    text: |\n      ACTION read_file\n      path: a.py\n      END\n"), "t.yaml");
    ASSERT_TRUE(transcript.ok()) << transcript.error().to_string();
    EXPECT_EQ(transcript.value().find(spec_place)->answer.text, "ACTION read_file\npath: a.py\nEND\n");
}

TEST(Transcript, reads_tool_calls_with_typed_arguments) {
    const auto transcript = Transcript::parse(
        with(
            "  - stage: spec\n    step: 1\n    tool_calls:\n      - name: complete\n        arguments: {n: 3, yes: \"1.0\", list: [true, null, 0.5], text: no}\n"),
        "t.yaml");
    ASSERT_TRUE(transcript.ok()) << transcript.error().to_string();
    const agentforge::json::value expected{{"n", 3}, {"yes", "1.0"}, {"list", {true, nullptr, 0.5}}, {"text", "no"}};
    EXPECT_EQ(agentforge::json::value(transcript.value().find(spec_place)->answer.tool_calls[0].arguments), expected);
}

TEST(Transcript, prefers_an_entry_for_the_role_to_one_for_any_role) {
    const auto transcript = Transcript::parse(
        with(
            "  - {stage: spec, step: 1, text: \"anybody\"}\n  - {stage: spec, role: software_architect, step: 1, text: \"architect\"}\n"),
        "t.yaml");
    ASSERT_TRUE(transcript.ok());
    EXPECT_EQ(transcript.value().find(spec_place)->answer.text, "architect");
}

TEST(Transcript, uses_an_entry_without_a_role_for_any_role) {
    const auto transcript = Transcript::parse(with("  - {stage: spec, step: 1, text: \"anybody\"}\n"), "t.yaml");
    ASSERT_TRUE(transcript.ok());
    EXPECT_NE(transcript.value().find(spec_place), nullptr);
}

TEST(Transcript, does_not_return_an_answer_of_the_first_visit_at_the_second) {
    const auto transcript = Transcript::parse(with("  - {stage: spec, step: 1, text: \"first\"}\n"), "t.yaml");
    ASSERT_TRUE(transcript.ok());
    EXPECT_EQ(transcript.value().find({"task-1", "spec", "software_architect", 2, 1, 1}), nullptr);
}

TEST(Transcript, describes_the_entries_of_a_stage) {
    const auto transcript = Transcript::parse(
        with(
            "  - {stage: red, step: 1, text: a}\n  - {stage: red, step: 2, text: a}\n  - {stage: red, step: 4, text: a}\n  - {stage: red, visit: 2, step: 1, text: a}\n"),
        "t");
    ASSERT_TRUE(transcript.ok());
    EXPECT_EQ(transcript.value().describe_stage("red"), "visit 1, run 1: step 1–2, 4; visit 2, run 1: step 1");
}

struct Refused {
    const char* name;
    std::string text;
    std::string says;
    std::string where;
};

class TranscriptRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(TranscriptRefuses, with_its_line) {
    const auto error = error_of(GetParam().text);
    EXPECT_EQ(error.code, "AF-LLM-204") << error.to_string();
    EXPECT_NE(error.message.find(GetParam().says), std::string::npos) << error.to_string();
    EXPECT_EQ(error.where, "t.yaml:" + GetParam().where) << error.to_string();
}

INSTANTIATE_TEST_SUITE_P(
    Every, TranscriptRefuses,
    ::testing::Values(
        Refused{"unknown_field", with("  - {stage: spec, step: 1, text: a}\n  - {stage: spec, step: 2, txt: a}\n"),
                "unknown field 'txt'", "4"},
        Refused{"unknown_top_field", "agentforge_transcript: 1\nentries: []\nmore: 1\n", "unknown field 'more'", "3"},
        Refused{"double_field", with("  - stage: spec\n    step: 1\n    step: 2\n    text: a\n"), "appears twice", "5"},
        Refused{"double_argument", with("  - {stage: spec, step: 1, tool_calls: [{name: x, arguments: {a: 1, a: 2}}]}\n"),
                "appears twice", "3"},
        Refused{"other_version", "agentforge_transcript: 2\nentries: []\n", "version is not 1", "1"},
        Refused{"no_version", "entries: []\n", "is missing", "1"},
        Refused{"no_entries", "agentforge_transcript: 1\n", "`entries` is missing", "1"},
        Refused{"double_place", with("  - {stage: spec, step: 1, text: a}\n  - {stage: spec, step: 1, text: b}\n"),
                "a second time", "4"},
        Refused{"no_answer", with("  - {stage: spec, step: 1}\n"), "neither text nor tool_calls", "3"},
        Refused{"unknown_stop_reason", with("  - {stage: spec, step: 1, text: a, stop_reason: tired}\n"), "stop_reason must be",
                "3"},
        Refused{"error_beside_text", with("  - {stage: spec, step: 1, text: a, error: {code: AF-LLM-102, message: m}}\n"),
                "text cannot appear together with error", "3"},
        Refused{"error_without_code", with("  - {stage: spec, step: 1, error: {message: m}}\n"), "the error has no code", "3"},
        Refused{"estimated_that_is_no_flag", with("  - {stage: spec, step: 1, text: a, usage: {estimated: 3}}\n"),
                "neither true nor false", "3"},
        Refused{"workspace_beside_error",
                with("  - {stage: spec, step: 1, workspace: {changes: []}, error: {code: AF-LLM-102, message: m}}\n"),
                "workspace cannot appear together with error", "3"},
        Refused{"workspace_without_changes", with("  - {stage: spec, step: 1, text: a, workspace: {}}\n"), "no list `changes`",
                "3"},
        Refused{"change_without_path", with("  - {stage: spec, step: 1, text: a, workspace: {changes: [{text: a}]}}\n"),
                "the change has no path", "3"},
        Refused{"change_outside",
                with("  - {stage: spec, step: 1, text: a, workspace: {changes: [{path: a/../../b, text: a}]}}\n"),
                "leads out of the workspace", "3"},
        Refused{"change_of_two_kinds",
                with("  - {stage: spec, step: 1, text: a, workspace: {changes: [{path: a, text: a, deleted: true}]}}\n"),
                "and has 2", "3"},
        Refused{"deleted_artifact",
                with("  - {stage: spec, step: 1, text: a, workspace: {changes: [], artifact: {deleted: true}}}\n"),
                "unknown field 'deleted'", "3"},
        Refused{"executable_link",
                with("  - {stage: spec, step: 1, text: a, workspace: {changes: [{path: a, link: b, executable: true}]}}\n"),
                "not a file", "3"},
        Refused{"text_protocol_that_is_no_list", "agentforge_transcript: 1\ntext_protocol: x\nentries: []\n",
                "text_protocol is not a list", "2"},
        Refused{"no_stage", with("  - {step: 1, text: a}\n"), "no stage", "3"},
        Refused{"step_zero", with("  - {stage: spec, step: 0, text: a}\n"), "step is not a whole number", "3"},
        Refused{"step_text", with("  - {stage: spec, step: \"1\", text: a}\n"), "step is not a whole number", "3"},
        Refused{"text_number", with("  - {stage: spec, step: 1, text: 5}\n"), "text is not text", "3"},
        Refused{"arguments_list", with("  - {stage: spec, step: 1, tool_calls: [{name: x, arguments: [1]}]}\n"),
                "arguments is not a mapping", "3"},
        Refused{"alias", with("  - &a {stage: spec, step: 1, text: a}\n  - *a\n"), "anchor", "3"},
        Refused{"tag", with("  - {stage: !!binary spec, step: 1, text: a}\n"), "tag", "3"},
        Refused{"two_documents", "agentforge_transcript: 1\nentries: []\n---\nx: 1\n", "more than one document", "1"},
        Refused{"broken", "agentforge_transcript: 1\nentries: [\n", "", "3"}, Refused{"no_map", "- 1\n", "not a mapping", "1"}),
    [](const auto& refused) { return std::string(refused.param.name); });

TEST(TranscriptEmpty, is_refused) { EXPECT_EQ(error_of("").code, "AF-LLM-204"); }

TEST(TranscriptDeep, is_refused_without_exhausting_the_stack) {
    std::string text = "agentforge_transcript: 1\nentries:\n  - {stage: s, step: 1, tool_calls: [{name: x, arguments: {a: ";
    text += std::string(100'000, '[') + std::string(100'000, ']') + "}}]}\n";
    EXPECT_EQ(error_of(text).code, "AF-LLM-204");
}

}  // namespace
}  // namespace replay
