// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "agent/context.hpp"
#include "agent/shorten.hpp"
#include "backends/tokens.hpp"
#include "base/yaml.hpp"
#include "unit/agent/fakes.hpp"

namespace agentforge::kernel::testing {
namespace {

const json::object verification{{"checks_passing", 3}, {"checks_failing", 2}, {"ready_for_completion", false}};

BuiltContext build(const RunSpec& spec, const Memory& memory, bool native = true) {
    auto fixed = fix_parts(spec, usual_tools(), native);
    EXPECT_TRUE(fixed.ok()) << fixed.error().to_string();
    auto built = build_context(spec, fixed.value(), memory, verification);
    EXPECT_TRUE(built.ok()) << built.error().to_string();
    return std::move(built).value();
}

json::object parsed(const BuiltContext& built) {
    auto document = parse_yaml(built.text, "context");
    EXPECT_TRUE(document.ok()) << document.error().to_string() << "\n" << built.text;
    return document.ok() ? document.value().value.get_object() : json::object{};
}

StepRecord record(unsigned step, std::string tool, json::object arguments, std::string output) {
    StepRecord result;
    result.step = step;
    result.tool = std::move(tool);
    result.arguments = std::move(arguments);
    result.success = true;
    result.summary = "did " + result.tool;
    result.output = std::move(output);
    return result;
}

bool was_cut(const BuiltContext& built, std::string_view name) {
    const json::array& names = built.section_tokens.at("truncated").get_array();
    return std::any_of(names.begin(), names.end(), [&](const json::value& one) { return one.is_string() && one.get_string() == name; });
}

TEST(Context, has_its_sections_in_the_order_of_the_specification) {
    std::vector<std::string> names;
    for (const auto& [key, value] : parsed(build(usual_spec(), {}, false))) { names.emplace_back(key); }
    EXPECT_EQ(names, (std::vector<std::string>{"task_frame", "current_state", "recent_actions", "verification_status", "available_actions"}));
}

TEST(Context, lists_no_actions_where_tools_are_native) { EXPECT_FALSE(parsed(build(usual_spec(), {})).contains("available_actions")); }

TEST(Context, frames_the_task) {
    const json::object frame = parsed(build(usual_spec(), {})).at("task_frame").get_object();
    EXPECT_EQ(frame.at("goal"), "Add a slug function");
    EXPECT_EQ(frame.at("phase"), "green");
    EXPECT_EQ(frame.at("success_criteria").at(0), "slugify works");
}

TEST(Context, carries_objective_instructions_and_state) {
    RunSpec spec = usual_spec();
    spec.run.instructions = "First this.\nThen that.\n";
    spec.run.state = {{"failing", {"test_a"}}};
    const json::object state = parsed(build(spec, {})).at("current_state").get_object();
    EXPECT_EQ(state.at("instructions"), "First this.\nThen that.\n");
    EXPECT_EQ(state.at("state").at("failing").at(0), "test_a");
}

TEST(Context, shows_the_last_result_in_full_where_it_fits) {
    Memory memory;
    memory.add(record(1, "read_file", {{"path", "a.py"}}, "a\nb\n"));
    EXPECT_EQ(parsed(build(usual_spec(), memory)).at("current_state").at("last_result").at("output"), "a\nb\n");
}

TEST(Context, does_not_show_the_file_of_the_last_result_twice) {
    Memory memory;
    memory.add(record(1, "read_file", {{"path", "a.py"}}, "a\nb\n"));
    EXPECT_FALSE(parsed(build(usual_spec(), memory)).at("current_state").get_object().contains("files"));
}

TEST(Context, keeps_files_read_earlier_as_views) {
    Memory memory;
    memory.add(record(1, "read_file", {{"path", "a.py"}}, "a\nb\n"));
    memory.add(record(2, "run_tests", {}, "2 failed"));
    const json::value file = parsed(build(usual_spec(), memory)).at("current_state").at("files").at(0);
    EXPECT_EQ(file.at("path"), "a.py");
    EXPECT_EQ(file.at("lines"), "1–2");
    EXPECT_EQ(file.at("content"), "a\nb\n");
}

TEST(Context, leaves_out_the_middle_of_a_long_result_and_says_which_lines) {
    std::string output;
    for (int i = 1; i <= 4000; ++i) { output += "line number " + std::to_string(i) + "\n"; }
    Memory memory;
    memory.add(record(1, "run_tests", {}, output));
    const BuiltContext built = build(usual_spec(), memory);
    EXPECT_NE(built.text.find("left out …"), std::string::npos);
    EXPECT_NE(built.text.find("line number 4000"), std::string::npos);
    EXPECT_TRUE(was_cut(built, "current_state.last_result"));
}

TEST(Context, uses_most_of_the_share_for_a_long_result) {
    Memory memory;
    std::string output;
    for (int i = 1; i <= 4000; ++i) { output += "line number " + std::to_string(i) + "\n"; }
    memory.add(record(1, "run_tests", {}, output));
    EXPECT_GT(build(usual_spec(), memory).section_tokens.at("current_state").to_number<int>(), 3000);
}

TEST(Context, names_the_files_for_which_there_is_no_room) {
    Memory memory;
    unsigned step = 0;
    for (int i = 0; i < 8; ++i) {
        memory.add(record(++step, "read_file", {{"path", "f" + std::to_string(i) + ".py"}}, std::string(5000, 'x') + "\n"));
    }
    memory.add(record(++step, "run_tests", {}, "ok"));
    EXPECT_TRUE(parsed(build(usual_spec(), memory)).at("current_state").get_object().contains("files_seen_but_not_shown"));
}

TEST(Context, gives_each_section_its_size) {
    const BuiltContext built = build(usual_spec(), {}, false);
    for (const std::string_view name : {"system_prompt", "task_frame", "current_state", "recent_actions", "verification_status", "available_actions", "total"}) {
        EXPECT_TRUE(built.section_tokens.contains(name)) << name;
    }
}

TEST(Context, its_total_is_the_sum_of_its_sections) {
    const BuiltContext built = build(usual_spec(), {}, false);
    std::uint64_t sum = 0;
    for (const auto& [name, tokens] : built.section_tokens) {
        if (name != "total" && name != "calibration_permille" && name != "truncated") { sum += tokens.to_number<std::uint64_t>(); }
    }
    EXPECT_EQ(built.section_tokens.at("total").to_number<std::uint64_t>(), sum);
}

TEST(Context, cuts_a_long_request_to_the_share_of_the_frame) {
    RunSpec spec = usual_spec();
    spec.goal = std::string(50'000, 'g');
    const BuiltContext built = build(spec, {});
    EXPECT_LE(built.section_tokens.at("task_frame").to_number<std::size_t>(), spec.budget.task_frame);
    EXPECT_TRUE(was_cut(built, "task_frame"));
}

TEST(Context, shrinks_when_the_backend_counts_more_than_we_do) {
    std::string output(60'000, 'y');
    Memory plain;
    plain.add(record(1, "run_tests", {}, output));
    Memory calibrated;
    StepRecord counted = record(1, "run_tests", {}, output);
    counted.section_tokens = {{"total", 1000}};
    counted.completion.usage.input_tokens = 1500;
    calibrated.add(counted);
    EXPECT_LE(build(usual_spec(), calibrated).section_tokens.at("total").to_number<std::size_t>(), 8000 * 1000 / 1500U);
}

TEST(Context, feedback_keeps_its_place_before_a_state_that_is_cut) {
    RunSpec spec = usual_spec();
    const std::string feedback = "Name the function slugify, not slug.\nKeep its tests.\n";
    spec.run.state = {{"input_artifact", json::object{{"text", std::string(200'000, 'a')}}}, {"feedback", feedback}, {"previous_errors", json::array{"no test ran"}}};
    const json::object state = parsed(build(spec, {})).at("current_state").get_object();
    EXPECT_EQ(state.at("this_round").at("feedback").as_string(), feedback);
    EXPECT_EQ(state.at("this_round").at("previous_errors").at(0), "no test ran");
    EXPECT_FALSE(state.at("state").get_object().contains("feedback"));
}

TEST(Context, shows_the_repositorys_agents_md_within_its_share) {
    RunSpec spec = usual_spec();
    spec.agents_md = "Run the tests with `make check`.\n";
    EXPECT_EQ(parsed(build(spec, {})).at("current_state").at("agents_md").as_string(), spec.agents_md);
    for (int line = 0; line < 4000; ++line) { spec.agents_md += "Rule " + std::to_string(line) + " of this repository.\n"; }
    const BuiltContext built = build(spec, {});
    EXPECT_LE(built.section_tokens.at("current_state").to_number<std::size_t>(), spec.budget.current_state / 4);
    EXPECT_TRUE(was_cut(built, "current_state.agents_md"));
}

TEST(Context, begins_with_the_calibration_that_earlier_runs_found) {
    const Memory memory(1500);
    RunSpec spec = usual_spec();
    spec.run.state = {{"text", std::string(200'000, 'x')}};
    EXPECT_LE(build(spec, memory).section_tokens.at("total").to_number<std::size_t>(), 8000 * 1000 / 1500U);
}

TEST(Context, counts_what_servers_put_before_native_tools) {
    const auto native = fix_parts(usual_spec(), usual_tools(), true);
    const auto text = fix_parts(usual_spec(), usual_tools(), false);
    ASSERT_TRUE(native.ok() && text.ok());
    EXPECT_GE(native->frame_tokens, text->frame_tokens + 346);
}

TEST(Context, the_error_of_a_budget_that_is_too_small_names_the_setting) {
    RunSpec spec = usual_spec();
    spec.budget.system_prompt = 100;
    const auto fixed = fix_parts(spec, usual_tools(), true);
    ASSERT_FALSE(fixed.ok());
    EXPECT_NE(fixed.error().remedy.find("context.budget.system_prompt"), std::string::npos) << fixed.error().remedy;
}

TEST(Context, a_system_prompt_over_its_share_is_an_error_at_start) {
    RunSpec spec = usual_spec();
    spec.agent.description = std::string(20'000, 'x');
    const auto fixed = fix_parts(spec, usual_tools(), true);
    ASSERT_FALSE(fixed.ok());
    EXPECT_EQ(fixed.error().code, "AF-AGENT-013");
    EXPECT_NE(fixed.error().message.find("'system_prompt'"), std::string::npos);
}

std::vector<ToolSpec> tools_with_large_schema(std::size_t fields, const std::string& description) {
    std::vector<ToolSpec> tools = usual_tools();
    json::object properties;
    for (std::size_t i = 0; i < fields; ++i) { properties["field_number_" + std::to_string(i)] = json::object{{"type", "string"}, {"description", description}}; }
    tools.back().parameters = {{"type", "object"}, {"properties", std::move(properties)}};
    return tools;
}

TEST(Context, tools_that_leave_no_room_are_an_error_naming_them) {
    for (const bool native : {true, false}) {
        const auto fixed = fix_parts(usual_spec(), tools_with_large_schema(2000, "x"), native);
        ASSERT_FALSE(fixed.ok());
        EXPECT_NE(fixed.error().message.find("'available_actions'"), std::string::npos) << fixed.error().message;
    }
}

TEST(Context, long_descriptions_in_schemas_go_before_the_room_does) {
    const auto fixed = fix_parts(usual_spec(), tools_with_large_schema(10, std::string(800, 'd')), true);
    ASSERT_TRUE(fixed.ok()) << fixed.error().to_string();
    EXPECT_TRUE(fixed.value().shortened);
}

TEST(Context, a_field_named_description_stays_in_the_schema) {
    std::vector<ToolSpec> tools = tools_with_large_schema(10, std::string(800, 'd'));
    tools.back().parameters["properties"].as_object()["description"] = json::object{{"type", "string"}};
    const auto fixed = fix_parts(usual_spec(), tools, true);
    ASSERT_TRUE(fixed.ok());
    EXPECT_TRUE(fixed.value().tools.back().parameters.at("properties").get_object().contains("description"));
}

// ---------------------------------------------------------------------------------- over 500 steps --

std::string random_output(std::mt19937& random) {
    static const std::vector<std::string> pieces{"def f(x):\n    return x\n", "\t", "{\"a\": [1, 2, 3]}", "🙂", "中文字", "error: \x01\x7f", "    ", "\n", "- key: |\n",
                                                 "0123456789abcdef", "lorem ipsum dolor ", "\r\n", "'\"\\"};
    std::string text;
    const std::size_t size = std::size_t{1} << (random() % 18);
    while (text.size() < size) { text += pieces[random() % pieces.size()]; }
    return text;
}

StepRecord random_step(std::mt19937& random, unsigned step) {
    static const std::vector<std::string> tools{"read_file", "create_file", "edit_file", "run_tests", "search_codebase", "move_file", ""};
    StepRecord result = record(step, tools[random() % tools.size()], {{"path", "src/file_" + std::to_string(random() % 30) + ".py"}}, random_output(random));
    result.arguments["content"] = random_output(random);
    result.arguments["search"] = random_output(random).substr(0, 20);
    result.arguments["replace"] = random_output(random).substr(0, 4000);
    result.arguments["to"] = "src/moved.py";
    result.success = random() % 3 != 0;
    if (!result.success) { result.error = random_output(random).substr(0, 500); }
    result.summary = random_output(random).substr(0, 300);
    return result;
}

class Over500Steps : public ::testing::TestWithParam<bool> {};

TEST_P(Over500Steps, every_request_is_within_the_budget) {
    const bool native = GetParam();
    std::mt19937 random(native ? 1 : 2);
    RunSpec spec = usual_spec();
    spec.run.state = {{"spec", random_output(random)}, {"list", json::array{random_output(random), random_output(random)}}};
    const auto fixed = fix_parts(spec, usual_tools(), native);
    ASSERT_TRUE(fixed.ok());
    std::size_t tools = 0;
    for (const ToolDescription& tool : fixed.value().tools) { tools += estimate_tokens(tool); }
    Memory memory;
    for (unsigned step = 1; step <= 500; ++step) {
        const auto built = build_context(spec, fixed.value(), memory, {{"checks_passing", step}, {"notes", random_output(random)}});
        ASSERT_TRUE(built.ok()) << "step " << step << ": " << built.error().to_string();
        const std::size_t request = estimate_tokens(fixed.value().system) + estimate_tokens(built.value().text) + tools;
        ASSERT_LE(request, spec.budget.total) << "step " << step;
        for (const auto& [name, share] : {std::pair<std::string_view, std::size_t>{"task_frame", 500}, {"current_state", 4000}, {"recent_actions", 1000}, {"verification_status", 200}}) {
            ASSERT_LE(built.value().section_tokens.at(name).to_number<std::size_t>(), share) << "step " << step << " " << name;
        }
        memory.add(random_step(random, step));
    }
}

TEST_P(Over500Steps, a_step_of_the_same_kind_sends_as_much_as_the_fifth) {
    const bool native = GetParam();
    const RunSpec spec = usual_spec();
    const auto fixed = fix_parts(spec, usual_tools(), native);
    ASSERT_TRUE(fixed.ok());
    Memory memory;
    std::size_t fifth = 0;
    std::size_t last = 0;
    for (unsigned step = 1; step <= 500; ++step) {
        const auto built = build_context(spec, fixed.value(), memory, verification);
        ASSERT_TRUE(built.ok());
        last = built.value().text.size();
        if (step == 5) { fifth = last; }
        memory.add(record(step, "run_tests", {}, "2 failed, 12 passed"));
    }
    EXPECT_LE(last, fifth * 102 / 100);
}

INSTANTIATE_TEST_SUITE_P(Both, Over500Steps, ::testing::Bool(), [](const auto& native) { return native.param ? "native_tools" : "text_protocol"; });

TEST(Context, of_step_500_is_built_in_milliseconds) {
    std::mt19937 random(3);
    RunSpec spec = usual_spec();
    spec.run.state = {{"spec", random_output(random)}};
    const auto fixed = fix_parts(spec, usual_tools(), true);
    ASSERT_TRUE(fixed.ok());
    Memory memory;
    for (unsigned step = 1; step < 500; ++step) { memory.add(random_step(random, step)); }
    const auto start = std::chrono::steady_clock::now();
    constexpr int rounds = 20;
    for (int i = 0; i < rounds; ++i) { ASSERT_TRUE(build_context(spec, fixed.value(), memory, verification).ok()); }
    const auto each = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start) / rounds;
    RecordProperty("microseconds", static_cast<int>(each.count()));
    std::printf("context of step 500: %lld us\n", static_cast<long long>(each.count()));
    EXPECT_LT(each.count(), 500'000);
}

TEST(Context, what_was_counted_before_changes_no_byte) {
    std::mt19937 random(17);
    RunSpec spec = usual_spec();
    spec.run.state = {{"spec", random_output(random)}, {"feedback", random_output(random)}};
    const auto fixed = fix_parts(spec, usual_tools(), true);
    ASSERT_TRUE(fixed.ok());
    Memory memory;
    ContextMemo memo;
    for (unsigned step = 1; step <= 60; ++step) {
        const auto with = build_context(spec, fixed.value(), memory, {{"checks_passing", step / 10}}, memo);
        const auto without = build_context(spec, fixed.value(), memory, {{"checks_passing", step / 10}});
        ASSERT_TRUE(with.ok() && without.ok());
        ASSERT_EQ(with->text, without->text) << "step " << step;
        ASSERT_EQ(with->section_tokens, without->section_tokens) << "step " << step;
        memory.add(random_step(random, step));
    }
}

TEST(Context, what_does_not_change_is_written_once) {
    ContextMemo memo;
    int made = 0;
    const auto make = [&made] { ++made; return Piece{"x: 1\n", 2, false}; };
    for (int context = 0; context < 5; ++context) {
        memo.next();
        EXPECT_EQ(memo.piece("x", make).tokens, 2U);
    }
    EXPECT_EQ(made, 1);
    memo.next();
    memo.next();
    static_cast<void>(memo.piece("x", make));
    EXPECT_EQ(made, 2) << "what two contexts did not use is forgotten";
}

TEST(Context, the_same_records_give_the_same_bytes) {
    std::mt19937 first(9);
    std::mt19937 second(9);
    Memory one;
    Memory two;
    for (unsigned step = 1; step <= 50; ++step) {
        one.add(random_step(first, step));
        two.add(random_step(second, step));
    }
    EXPECT_EQ(build(usual_spec(), one).text, build(usual_spec(), two).text);
}

}  // namespace
}  // namespace agentforge::kernel::testing
