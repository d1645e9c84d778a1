// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "agent/protocol.hpp"
#include "unit/agent/fakes.hpp"

namespace agentforge::kernel::testing {
namespace {

std::vector<ToolSpec> tools() {
    std::vector<ToolSpec> all = usual_tools();
    all[0].parameters = schema({{"path", "string"}, {"first_line", "integer"}});
    all.push_back({"apply_patch", "Applies a patch.", schema({{"patch", "string"}}), ToolEffect::writes, {}});
    all[4].parameters = schema({{"question", "string"}, {"reason", "string"}, {"options", "array"}});
    return all;
}

Result<ToolCall> read(std::string text, StopReason stop = StopReason::finished) {
    Completion answer;
    answer.text = std::move(text);
    answer.stop_reason = stop;
    return read_action(answer, tools());
}

json::value arguments(const std::string& text) {
    const auto call = read(text);
    return call.ok() ? json::value(call.value().arguments) : json::value(call.error().to_string());
}

std::string code(const std::string& text, StopReason stop = StopReason::finished) {
    const auto call = read(text, stop);
    return call.ok() ? "accepted" : call.error().code;
}

const json::value edit{{"path", "a.py"}, {"search", "x = 1"}, {"replace", "x = 2\ny = 3"}};
constexpr const char* edit_text =
    "ACTION edit_file\npath: a.py\n<<<search\nx = 1\n>>>search\n<<<replace\nx = 2\ny = 3\n>>>replace\nEND\n";

TEST(ReadAction, tells_a_model_with_native_tool_calls_to_call_one_tool) {
    for (const char* text : {"I think I should read the file first.", "ACTION read_file\n<<<path\nno end",
                             "ACTION complete\n<<<artifact\n: : {\n>>>artifact\nEND", ""}) {
        Completion answer;
        answer.text = text;
        const auto call = read_action(answer, tools(), true);
        ASSERT_FALSE(call.ok()) << text;
        EXPECT_EQ(call.error().code, "AF-AGENT-020") << text;
        EXPECT_TRUE(call.error().remedy.starts_with("Call one of your tools: ")) << call.error().remedy;
        EXPECT_EQ(call.error().to_string().find("ACTION"), std::string::npos) << call.error().to_string();
    }
    Completion two;
    two.text = "ACTION run_tests\nEND\nACTION run_tests\nEND";
    EXPECT_EQ(read_action(two, tools(), true).error().code, "AF-AGENT-021");
    EXPECT_EQ(read_action(two, tools(), true).error().remedy, "Call exactly one tool; the next step comes after its result.");
}

TEST(ReadAction, suggests_only_what_the_role_can_do_after_truncation) {
    Completion cut;
    cut.text = "ACTION create_file\npath: a.py\n<<<content\nx";
    cut.stop_reason = StopReason::length;
    std::vector<ToolSpec> offered = tools();
    std::erase_if(offered, [](const ToolSpec& tool) { return tool.name == "edit_file"; });
    EXPECT_EQ(read_action(cut, offered).error().code, "AF-AGENT-024");
    EXPECT_EQ(read_action(cut, offered).error().remedy.find("edit_file"), std::string::npos);
}

TEST(TextProtocol, reads_lines_and_blocks) { EXPECT_EQ(arguments(edit_text), edit); }
TEST(TextProtocol, reads_past_prose) {
    EXPECT_EQ(arguments("I will change it.\n\n" + std::string(edit_text) + "\nThat should do.\n"), edit);
}
TEST(TextProtocol, reads_through_a_code_fence) { EXPECT_EQ(arguments("```text\n" + std::string(edit_text) + "```\n"), edit); }

TEST(TextProtocol, reads_crlf) {
    std::string text;
    for (const char c : std::string(edit_text)) { text += c == '\n' ? "\r\n" : std::string(1, c); }
    EXPECT_EQ(arguments(text), edit);
}

TEST(TextProtocol, reads_a_header_with_colon_in_any_case) {
    const auto call = read("Action: run_tests\nend\n");
    ASSERT_TRUE(call.ok());
    EXPECT_EQ(call.value().name, "run_tests");
}

TEST(TextProtocol, reads_a_header_in_bold) { EXPECT_EQ(code("**ACTION** run_tests\nEND"), "accepted"); }
TEST(TextProtocol, treats_prose_about_actions_as_prose) {
    EXPECT_EQ(code("Action items follow\nACTION run_tests\nEND"), "accepted");
}
TEST(TextProtocol, needs_no_end_marker) { EXPECT_EQ(arguments("ACTION read_file\npath: a.py"), (json::value{{"path", "a.py"}})); }
TEST(TextProtocol, accepts_prose_after_an_action_without_end) {
    EXPECT_EQ(arguments("ACTION read_file\npath: a.py\n\nLet us see what is in it."), (json::value{{"path", "a.py"}}));
}
TEST(TextProtocol, reads_a_number_where_the_schema_wants_one) {
    EXPECT_EQ(arguments("ACTION read_file\npath: 12\nfirst_line: 7\nEND"), (json::value{{"path", "12"}, {"first_line", 7}}));
}
TEST(TextProtocol, reads_a_list_in_json) {
    EXPECT_EQ(arguments("ACTION escalate_question\noptions: [\"a\", \"b\"]\nEND"), (json::value{{"options", {"a", "b"}}}));
}
TEST(TextProtocol, reads_a_list_in_a_yaml_block) {
    EXPECT_EQ(arguments("ACTION escalate_question\n<<<options\n- a\n- b\n>>>options\nEND"),
              (json::value{{"options", {"a", "b"}}}));
}
TEST(TextProtocol, a_content_block_ends_with_a_line_end) {
    EXPECT_EQ(arguments("ACTION create_file\npath: a\n<<<content\nx\n>>>content\nEND"),
              (json::value{{"path", "a"}, {"content", "x\n"}}));
}
TEST(TextProtocol, a_content_block_with_a_dash_has_no_final_line_end) {
    EXPECT_EQ(arguments("ACTION create_file\npath: a\n<<<content-\nx\n>>>content\nEND"),
              (json::value{{"path", "a"}, {"content", "x"}}));
}
TEST(TextProtocol, an_empty_block_is_empty_text) {
    EXPECT_EQ(arguments("ACTION edit_file\n<<<replace\n>>>replace\nEND"), (json::value{{"replace", ""}}));
}
TEST(TextProtocol, a_suffix_protects_the_end_mark) {
    EXPECT_EQ(arguments("ACTION edit_file\n<<<search:2\n>>>search\n>>>search:2\nEND"), (json::value{{"search", ">>>search"}}));
}
TEST(TextProtocol, an_action_inside_a_block_is_text) {
    EXPECT_EQ(arguments("ACTION edit_file\n<<<search\nACTION run_tests\nEND\n>>>search\nEND"),
              (json::value{{"search", "ACTION run_tests\nEND"}}));
}
TEST(TextProtocol, reads_the_artifact_in_yaml) {
    EXPECT_EQ(arguments("ACTION complete\n<<<artifact\nsummary: it is done\nlist:\n  - 1\n>>>artifact\nEND"),
              (json::value{{"summary", "it is done"}, {"list", {1}}}));
}
TEST(TextProtocol, reads_the_artifact_in_json_in_a_fence) {
    EXPECT_EQ(arguments("ACTION complete\n<<<artifact\n```json\n{\"summary\": \"done\"}\n```\n>>>artifact\nEND"),
              (json::value{{"summary", "done"}}));
}
TEST(TextProtocol, reads_json_in_a_fence) {
    EXPECT_EQ(arguments("So:\n```json\n{\"tool\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n```\n"),
              (json::value{{"path", "a"}}));
}
TEST(TextProtocol, reads_json_alone) {
    EXPECT_EQ(arguments("{\"action\": \"read_file\", \"parameters\": {\"path\": \"a\"}}"), (json::value{{"path", "a"}}));
}

constexpr const char* piece = "<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n";
const json::value whole_lines{{"path", "a.py"}, {"search", "x = 1\n"}, {"replace", "x = 2\n"}};

TEST(TextProtocol, reads_a_search_replace_block) {
    EXPECT_EQ(arguments("ACTION edit_file\npath: a.py\n" + std::string(piece) + "END"), whole_lines);
}
TEST(TextProtocol, reads_several_search_replace_blocks_as_edits) {
    EXPECT_EQ(arguments("ACTION edit_file\npath: a.py\n```python\n" + std::string(piece) +
                        "```\n<<<<< SEARCH\ny\n=====\n>>>>> REPLACE\nEND"),
              (json::value{{"path", "a.py"},
                           {"edits", {{{"search", "x = 1\n"}, {"replace", "x = 2\n"}}, {{"search", "y\n"}, {"replace", ""}}}}}));
}
TEST(TextProtocol, reads_a_search_replace_block_below_a_path_without_action) {
    for (const char* path : {"a.py\n", "**a.py**\n\n", "### `a.py`\n```python\n", "I will change it:\n\na.py:\n```\n"}) {
        EXPECT_EQ(arguments(path + std::string(piece)), whole_lines) << path;
    }
}
TEST(TextProtocol, reads_crlf_search_replace_blocks_without_action) {
    EXPECT_EQ(arguments("a.py\r\n<<<<<<< SEARCH\r\nx = 1\r\n=======\r\nx = 2\r\n>>>>>>> REPLACE\r\n"), whole_lines);
}
TEST(TextProtocol, reads_a_patch_without_block_or_action) {
    const std::string patch = "*** Begin Patch\n*** Delete File: a.py\n*** End Patch\n";
    for (const std::string before : {"", "ACTION apply_patch\n", "So:\n```\n", "apply_patch <<'EOF'\n"}) {
        EXPECT_EQ(arguments(before + patch), (json::value{{"patch", patch}})) << before;
    }
}
TEST(TextProtocol, refuses_search_blocks_without_a_path) {
    const auto error = read("Here it is.\n" + std::string(piece)).error();
    EXPECT_EQ(error.code, "AF-AGENT-022");
    EXPECT_NE(error.message.find("line 2 opens a SEARCH block"), std::string::npos);
}
TEST(TextProtocol, refuses_edits_of_two_files) {
    EXPECT_EQ(code("a.py\n" + std::string(piece) + "b.py\n" + piece), "AF-AGENT-021");
}
TEST(TextProtocol, refuses_two_patches) {
    EXPECT_EQ(code("*** Begin Patch\n*** End Patch\n*** Begin Patch\n*** End Patch\n"), "AF-AGENT-021");
}
TEST(TextProtocol, refuses_a_patch_beside_a_search_block) {
    EXPECT_EQ(code("a.py\n" + std::string(piece) + "*** Begin Patch\n*** End Patch\n"), "AF-AGENT-021");
}
TEST(TextProtocol, refuses_an_incomplete_search_block_and_names_its_line) {
    EXPECT_NE(
        read("ACTION edit_file\npath: a\n<<<<<<< SEARCH\nx\nEND").error().message.find("line 3 opens has no line `=======`"),
        std::string::npos);
    EXPECT_NE(read("a.py\n<<<<<<< SEARCH\nx\n=======\ny\n").error().message.find("has no line `>>>>>>> REPLACE`"),
              std::string::npos);
    EXPECT_EQ(code("a.py\n<<<<<<< SEARCH\nx\n=======\ny\n", StopReason::length), "AF-AGENT-024");
}
TEST(TextProtocol, refuses_a_patch_without_end) {
    EXPECT_EQ(code("ACTION apply_patch\n*** Begin Patch\n*** Delete File: a\nEND"), "AF-AGENT-022");
}
TEST(TextProtocol, refuses_search_blocks_beside_search) {
    EXPECT_EQ(code("ACTION edit_file\npath: a\n<<<search\nx\n>>>search\n" + std::string(piece) + "END"), "AF-AGENT-022");
}
TEST(TextProtocol, a_search_block_inside_a_block_is_text) {
    EXPECT_EQ(arguments("ACTION create_file\npath: a\n<<<content\n" + std::string(piece) + ">>>content\nEND"),
              (json::value{{"path", "a"}, {"content", piece}}));
}

TEST(TextProtocol, takes_a_native_call_before_text) {
    Completion answer = tool_answer("run_tests", {});
    answer.text = "ACTION read_file\npath: a\nEND";
    EXPECT_EQ(read_action(answer, tools()).value().name, "run_tests");
}

TEST(TextProtocol, refuses_an_answer_without_action) { EXPECT_EQ(code("I think we are done here."), "AF-AGENT-020"); }
TEST(TextProtocol, refuses_two_actions) { EXPECT_EQ(code("ACTION run_tests\nEND\n\nACTION run_tests\nEND\n"), "AF-AGENT-021"); }
TEST(TextProtocol, refuses_two_json_actions) {
    EXPECT_EQ(code("```\n{\"tool\":\"a\",\"arguments\":{}}\n```\n```\n{\"tool\":\"b\",\"arguments\":{}}\n```"), "AF-AGENT-021");
}

TEST(TextProtocol, refuses_two_native_calls) {
    Completion answer = tool_answer("run_tests", {});
    answer.tool_calls.push_back(answer.tool_calls[0]);
    EXPECT_EQ(read_action(answer, tools()).error().code, "AF-AGENT-021");
}

TEST(TextProtocol, refuses_an_unclosed_block_and_names_its_line) {
    const auto call = read("ACTION edit_file\npath: a\n<<<search\nx\nEND\n");
    ASSERT_FALSE(call.ok());
    EXPECT_EQ(call.error().message, "the block `search` that line 3 opens is not closed by a line `>>>search`");
}

TEST(TextProtocol, refuses_a_close_without_open) { EXPECT_EQ(code("ACTION edit_file\n>>>search\nEND"), "AF-AGENT-022"); }
TEST(TextProtocol, refuses_a_parameter_given_twice) {
    EXPECT_EQ(code("ACTION read_file\npath: a\npath: b\nEND"), "AF-AGENT-022");
}
TEST(TextProtocol, refuses_a_block_after_stray_text) {
    EXPECT_EQ(code("ACTION edit_file\npath: a\nand now the search\n<<<search\nx\n>>>search\nEND"), "AF-AGENT-022");
}
TEST(TextProtocol, refuses_an_artifact_that_is_not_a_mapping) {
    EXPECT_EQ(code("ACTION complete\n<<<artifact\n- 1\n>>>artifact\nEND"), "AF-AGENT-023");
}
TEST(TextProtocol, refuses_an_artifact_that_is_not_yaml) {
    EXPECT_EQ(code("ACTION complete\n<<<artifact\na: b: c\n>>>artifact\nEND"), "AF-AGENT-023");
}
TEST(TextProtocol, refuses_a_truncated_answer) {
    EXPECT_EQ(code("ACTION create_file\npath: a\n<<<content\nx", StopReason::length), "AF-AGENT-024");
}
TEST(TextProtocol, accepts_a_complete_action_followed_by_truncated_prose) {
    EXPECT_EQ(code(std::string(edit_text) + "And furth", StopReason::length), "accepted");
}

TEST(TextProtocol, refuses_a_truncated_native_call) {
    Completion answer = tool_answer("run_tests", {});
    answer.stop_reason = StopReason::length;
    EXPECT_EQ(read_action(answer, tools()).error().code, "AF-AGENT-024");
}

// ------------------------------------------------------------------------------------- properties --

std::string random_text(std::mt19937& random) {
    static const std::vector<std::string> pieces{"x",
                                                 " ",
                                                 "\n",
                                                 "\t",
                                                 "\r\n",
                                                 "\r",
                                                 ">>>search",
                                                 ">>>search:2",
                                                 "<<<search",
                                                 ">>>content",
                                                 ">>>replace",
                                                 "END",
                                                 "ACTION edit_file",
                                                 "path: a",
                                                 "```",
                                                 "\"",
                                                 "{",
                                                 "}",
                                                 "é🙂",
                                                 "\\",
                                                 "- ",
                                                 ": ",
                                                 "#",
                                                 "\x01",
                                                 "|",
                                                 "artifact"};
    std::string text;
    const auto count = random() % 12;
    for (std::size_t i = 0; i < count; ++i) { text += pieces[random() % pieces.size()]; }
    return text;
}

TEST(TextProtocolProperty, written_actions_read_back_the_same) {
    std::mt19937 random(42);
    for (int round = 0; round < 20'000; ++round) {
        ToolCall call;
        call.name = random() % 2 == 0 ? "edit_file" : "create_file";
        call.arguments["path"] = random_text(random);
        call.arguments[call.name == "edit_file" ? "search" : "content"] = random_text(random);
        if (call.name == "edit_file") { call.arguments["replace"] = random_text(random); }
        const std::string text = write_action(call);
        const auto again = read(text);
        ASSERT_TRUE(again.ok()) << "round " << round << ": " << again.error().to_string() << "\n" << text;
        ASSERT_EQ(json::value(again.value().arguments), json::value(call.arguments)) << "round " << round << "\n" << text;
    }
}

TEST(TextProtocolProperty, typed_arguments_read_back_the_same) {
    const ToolCall call{
        "escalate_question",
        {{"question", "Which?\nReally"}, {"reason", "- 1.0"}, {"options", {"yes", 1, true, nullptr, json::object{{"a", "b"}}}}}};
    const auto again = read(write_action(call));
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    EXPECT_EQ(json::value(again.value().arguments), json::value(call.arguments));
}

TEST(TextProtocolProperty, pieces_read_back_the_same) {
    for (const json::value& edits :
         std::initializer_list<json::value>{{{{"search", "a\n"}, {"replace", ""}}, {{"search", "b\n\n"}, {"replace", "c\n"}}},
                                            {{{"search", "a"}, {"replace", ""}}, {{"search", "b\n"}, {"replace", "c\n"}}},
                                            {{{"search", "=======\n"}, {"replace", ""}}, {{"search", "b\n"}, {"replace", "c\n"}}},
                                            {{{"search", "a\r\n"}, {"replace", ""}}, {{"search", "b\n"}, {"replace", "c\n"}}}}) {
        ToolCall call{"edit_file", {{"path", "a.py"}}};
        call.arguments["edits"] = edits;
        Completion answer;
        answer.text = write_action(call);
        std::vector<ToolSpec> offered = tools();
        offered[2].parameters = schema({{"path", "string"}, {"edits", "array"}});
        const auto again = read_action(answer, offered);
        ASSERT_TRUE(again.ok()) << again.error().to_string() << answer.text;
        EXPECT_EQ(json::value(again.value().arguments), json::value(call.arguments)) << answer.text;
    }
}

TEST(TextProtocolProperty, the_reader_survives_random_mutations) {
    std::mt19937 random(4711);
    const std::vector<std::string> seeds{edit_text, "ACTION complete\n<<<artifact\na: [1, {b: c}]\n>>>artifact\nEND\n",
                                         "```json\n{\"tool\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n```\n"};
    unsigned accepted = 0;
    for (int round = 0; round < 30'000; ++round) {
        std::string text = seeds[random() % seeds.size()];
        const auto mutations = 1 + random() % 6;
        for (std::size_t i = 0; i < mutations && !text.empty(); ++i) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0:
                    text.erase(at, 1 + random() % 5);
                    break;
                case 1:
                    text.insert(at, random_text(random));
                    break;
                case 2:
                    text[at] = static_cast<char>(random() % 256);
                    break;
                default:
                    text.insert(at, text.substr(random() % text.size(), random() % 30));
                    break;
            }
        }
        const auto call = read(text, random() % 5 == 0 ? StopReason::length : StopReason::finished);
        if (call.ok()) {
            ++accepted;
            ASSERT_FALSE(call.value().name.empty());
        } else {
            ASSERT_TRUE(call.error().code.starts_with("AF-AGENT-02")) << call.error().to_string();
        }
    }
    EXPECT_GT(accepted, 100U);
}

// ------------------------------------------------------------------------------------- describing --

TEST(DescribeActions, describes_pieces_as_blocks_instead_of_a_list) {
    const std::vector<ToolSpec> offered{
        {"edit_file",
         "Edits.",
         schema({{"path", "string"}, {"search", "string"}, {"replace", "string"}, {"edits", "array"}}),
         ToolEffect::writes,
         {}}};
    const std::string parameters(describe_actions(offered).at("tools").at(0).at("parameters").as_string());
    EXPECT_EQ(parameters.find("edits"), std::string::npos) << parameters;
    EXPECT_NE(parameters.find("`<<<<<<< SEARCH`"), std::string::npos) << parameters;
}

TEST(Outline, shows_a_schema_in_one_line) {
    const json::value schema_value = json::parse(R"({"type":"object","required":["title","requirements"],"properties":{
        "title":{"type":"string","maxLength":100},
        "requirements":{"type":"array","minItems":1,"items":{"type":"object","required":["id","priority"],"properties":{
            "id":{"type":"string","pattern":"^REQ-[0-9]{3}$"},"priority":{"enum":["must","should"]},"n":{"type":"number","minimum":0}}}},
        "notes":{"type":"object","additionalProperties":{"type":"string"}},"ok":{"const":true}}})");
    EXPECT_EQ(outline(schema_value.get_object()),
              "{title: text (max 100), requirements: [{id: /^REQ-[0-9]{3}$/, priority: must|should, n?: number (>= 0)}] (min 1), "
              "notes?: {name: text}, ok?: true}");
}

TEST(DescribeActions, names_every_tool_and_its_parameters) {
    const json::object described = describe_actions(tools());
    ASSERT_EQ(described.at("tools").get_array().size(), tools().size());
    EXPECT_EQ(described.at("tools").at(0).at("parameters"), "{path: text, first_line: integer}");
}

}  // namespace
}  // namespace agentforge::kernel::testing
