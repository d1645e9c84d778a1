// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

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
    return std::any_of(names.begin(), names.end(),
                       [&](const json::value& one) { return one.is_string() && one.get_string() == name; });
}

std::vector<std::string> keys_of(const json::object& map) {
    std::vector<std::string> names;
    for (const auto& [key, value] : map) { names.emplace_back(key); }
    return names;
}

TEST(Context, puts_stable_parts_first_and_parts_that_change_every_step_last) {
    RunSpec spec = usual_spec();
    spec.agents_md = "Run the tests with `make check`.\n";
    spec.run.state = {{"spec", "s"}, {"feedback", "f"}};
    Memory memory;
    memory.add(record(1, "read_file", {{"path", "a.py"}}, "a\nb\n"));
    memory.add(record(2, "run_tests", {}, "2 failed"));
    const json::object context = parsed(build(spec, memory, false));
    EXPECT_EQ(keys_of(context), (std::vector<std::string>{"task_frame", "available_actions", "current_state",
                                                          "verification_status", "recent_actions", "last_result"}));
    EXPECT_EQ(keys_of(context.at("current_state").get_object()),
              (std::vector<std::string>{"objective", "this_round", "state", "agents_md", "files"}));
}

TEST(Context, omits_the_action_list_if_tools_are_native) {
    EXPECT_FALSE(parsed(build(usual_spec(), {})).contains("available_actions"));
}

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

TEST(Context, shows_the_last_result_in_full_if_it_fits) {
    Memory memory;
    memory.add(record(1, "read_file", {{"path", "a.py"}}, "a\nb\n"));
    EXPECT_EQ(parsed(build(usual_spec(), memory)).at("last_result").at("output"), "a\nb\n");
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

TEST(Context, cuts_the_middle_of_a_long_result_and_names_the_missing_lines) {
    std::string output;
    for (int i = 1; i <= 4000; ++i) { output += "line number " + std::to_string(i) + "\n"; }
    Memory memory;
    memory.add(record(1, "run_tests", {}, output));
    const BuiltContext built = build(usual_spec(), memory);
    EXPECT_NE(built.text.find("left out …"), std::string::npos);
    EXPECT_NE(built.text.find("line number 4000"), std::string::npos);
    EXPECT_TRUE(was_cut(built, "last_result"));
}

TEST(Context, gives_a_long_result_all_unused_room) {
    Memory memory;
    std::string output;
    for (int i = 1; i <= 4000; ++i) { output += "line number " + std::to_string(i) + "\n"; }
    memory.add(record(1, "run_tests", {}, output));
    const BuiltContext built = build(usual_spec(), memory);
    EXPECT_GT(built.section_tokens.at("last_result").to_number<int>(), 4000);
    EXPECT_GT(built.section_tokens.at("total").to_number<int>(), 8000 - 256);
}

TEST(Context, lists_files_that_do_not_fit) {
    Memory memory;
    unsigned step = 0;
    for (int i = 0; i < 8; ++i) {
        memory.add(record(++step, "read_file", {{"path", "f" + std::to_string(i) + ".py"}}, std::string(5000, 'x') + "\n"));
    }
    memory.add(record(++step, "run_tests", {}, "ok"));
    EXPECT_TRUE(parsed(build(usual_spec(), memory)).at("current_state").get_object().contains("files_seen_but_not_shown"));
}

TEST(Context, reports_the_size_of_each_section) {
    const BuiltContext built = build(usual_spec(), {}, false);
    for (const std::string_view name : {"system_prompt", "task_frame", "current_state", "recent_actions", "verification_status",
                                        "last_result", "available_actions", "total"}) {
        EXPECT_TRUE(built.section_tokens.contains(name)) << name;
    }
}

TEST(Context, its_total_is_the_sum_of_its_sections) {
    const BuiltContext built = build(usual_spec(), {}, false);
    std::uint64_t sum = 0;
    for (const auto& [name, tokens] : built.section_tokens) {
        if (name != "total" && name != "calibration_permille" && name != "truncated") {
            sum += tokens.to_number<std::uint64_t>();
        }
    }
    EXPECT_EQ(built.section_tokens.at("total").to_number<std::uint64_t>(), sum);
}

std::size_t tokens_of(const BuiltContext& built, std::string_view section) {
    return built.section_tokens.at(section).to_number<std::size_t>();
}

TEST(Context, keeps_every_part_to_its_share_if_all_are_too_long) {
    RunSpec spec = usual_spec();
    spec.goal = std::string(50'000, 'g');
    spec.agents_md = std::string(50'000, 'a');
    spec.run.state = {{"spec", std::string(50'000, 's')}};
    Memory memory;
    memory.add(record(1, "read_file", {{"path", "a.py"}}, std::string(30'000, 'f')));
    memory.add(record(2, "run_tests", {}, std::string(50'000, 'o')));
    const auto fixed = fix_parts(spec, usual_tools(), true);
    ASSERT_TRUE(fixed.ok());
    const auto built =
        build_context(spec, fixed.value(), memory, {{"tests", json::object{{"failures", std::string(50'000, 'v')}}}});
    ASSERT_TRUE(built.ok()) << built.error().to_string();
    constexpr std::size_t lost = 64;  // Text is cut by whole lines and in multiples.
    EXPECT_GE(tokens_of(*built, "task_frame") + lost, spec.budget.task_frame);
    EXPECT_GE(tokens_of(*built, "verification_status") + lost, spec.budget.verification_status);
    EXPECT_GE(tokens_of(*built, "last_result") + lost, spec.budget.current_state * 3 / 5 * 2 / 5);
    EXPECT_GE(tokens_of(*built, "current_state") + 3 * lost, spec.budget.current_state * 3 / 5);
    EXPECT_GT(tokens_of(*built, "verification_status"), 2 * spec.budget.verification_status)
        << "what is left goes to the failures first";
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

TEST(Context, keeps_feedback_whole_when_the_state_is_cut) {
    RunSpec spec = usual_spec();
    const std::string feedback = "Name the function slugify, not slug.\nKeep its tests.\n";
    spec.run.state = {{"input_artifact", json::object{{"text", std::string(200'000, 'a')}}},
                      {"feedback", feedback},
                      {"previous_errors", json::array{"no test ran"}}};
    const json::object state = parsed(build(spec, {})).at("current_state").get_object();
    EXPECT_EQ(state.at("this_round").at("feedback").as_string(), feedback);
    EXPECT_EQ(state.at("this_round").at("previous_errors").at(0), "no test ran");
    EXPECT_FALSE(state.at("state").get_object().contains("feedback"));
}

TEST(Context, cuts_agents_md_before_more_important_state) {
    RunSpec spec = usual_spec();
    spec.agents_md = "Run the tests with `make check`.\n";
    EXPECT_EQ(parsed(build(spec, {})).at("current_state").at("agents_md").as_string(), spec.agents_md);
    for (int line = 0; line < 4000; ++line) { spec.agents_md += "Rule " + std::to_string(line) + " of this repository.\n"; }
    spec.run.state = {{"spec", std::string(9000, 's')}};
    const BuiltContext built = build(spec, {});
    EXPECT_TRUE(was_cut(built, "current_state.agents_md"));
    EXPECT_FALSE(was_cut(built, "current_state.state"));
    EXPECT_NE(built.text.find(std::string(9000, 's')), std::string::npos);
}

TEST(Context, starts_with_the_calibration_of_earlier_runs) {
    const Memory memory(1500);
    RunSpec spec = usual_spec();
    spec.run.state = {{"text", std::string(200'000, 'x')}};
    EXPECT_LE(build(spec, memory).section_tokens.at("total").to_number<std::size_t>(), 8000 * 1000 / 1500U);
}

TEST(Context, counts_tokens_that_servers_add_for_native_tools) {
    const auto native = fix_parts(usual_spec(), usual_tools(), true);
    const auto text = fix_parts(usual_spec(), usual_tools(), false);
    ASSERT_TRUE(native.ok() && text.ok());
    EXPECT_GE(native->frame_tokens, text->frame_tokens + 346);
}

TEST(Context, a_budget_that_is_too_small_is_an_error_that_names_the_setting) {
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
    for (std::size_t i = 0; i < fields; ++i) {
        properties["field_number_" + std::to_string(i)] = json::object{{"type", "string"}, {"description", description}};
    }
    tools.back().parameters = {{"type", "object"}, {"properties", std::move(properties)}};
    return tools;
}

TEST(Context, tools_that_leave_no_room_are_an_error_that_names_them) {
    for (const bool native : {true, false}) {
        const auto fixed = fix_parts(usual_spec(), tools_with_large_schema(2000, "x"), native);
        ASSERT_FALSE(fixed.ok());
        EXPECT_NE(fixed.error().message.find("'available_actions'"), std::string::npos) << fixed.error().message;
    }
}

TEST(Context, keeps_schema_descriptions_that_fit) {
    const auto fixed = fix_parts(usual_spec(), tools_with_large_schema(10, std::string(800, 'd')), true);
    ASSERT_TRUE(fixed.ok()) << fixed.error().to_string();
    EXPECT_GT(fixed->tools_tokens, usual_spec().budget.available_actions);
    EXPECT_FALSE(fixed->shortened);
}

TEST(Context, drops_long_schema_descriptions_to_make_room) {
    const auto fixed = fix_parts(usual_spec(), tools_with_large_schema(20, std::string(1600, 'd')), true);
    ASSERT_TRUE(fixed.ok()) << fixed.error().to_string();
    EXPECT_TRUE(fixed.value().shortened);
}

TEST(Context, a_field_named_description_stays_in_the_schema) {
    std::vector<ToolSpec> tools = tools_with_large_schema(20, std::string(1600, 'd'));
    tools.back().parameters["properties"].as_object()["description"] = json::object{{"type", "string"}};
    const auto fixed = fix_parts(usual_spec(), tools, true);
    ASSERT_TRUE(fixed.ok());
    EXPECT_TRUE(fixed.value().tools.back().parameters.at("properties").get_object().contains("description"));
}

// ---------------------------------------------------------------------------------- over 500 steps --

std::string random_output(std::mt19937& random) {
    static const std::vector<std::string> pieces{"def f(x):\n    return x\n",
                                                 "\t",
                                                 "{\"a\": [1, 2, 3]}",
                                                 "🙂",
                                                 "中文字",
                                                 "error: \x01\x7f",
                                                 "    ",
                                                 "\n",
                                                 "- key: |\n",
                                                 "0123456789abcdef",
                                                 "lorem ipsum dolor ",
                                                 "\r\n",
                                                 "'\"\\"};
    std::string text;
    const std::size_t size = std::size_t{1} << (random() % 18);
    while (text.size() < size) { text += pieces[random() % pieces.size()]; }
    return text;
}

StepRecord random_step(std::mt19937& random, unsigned step) {
    static const std::vector<std::string> tools{"read_file",       "create_file", "edit_file", "run_tests",
                                                "search_codebase", "move_file",   ""};
    StepRecord result = record(step, tools[random() % tools.size()],
                               {{"path", "src/file_" + std::to_string(random() % 30) + ".py"}}, random_output(random));
    result.arguments["content"] = random_output(random);
    result.arguments["search"] = random_output(random).substr(0, 20);
    result.arguments["replace"] = random_output(random).substr(0, 4000);
    result.arguments["to"] = "src/moved.py";
    result.success = random() % 3 != 0;
    if (!result.success) { result.error = random_output(random).substr(0, 500); }
    result.summary = random_output(random).substr(0, 300);
    return result;
}

class ContextOver500Steps : public ::testing::TestWithParam<bool> {};

TEST_P(ContextOver500Steps, every_request_is_within_the_budget) {
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
        const auto built =
            build_context(spec, fixed.value(), memory, {{"checks_passing", step}, {"notes", random_output(random)}});
        ASSERT_TRUE(built.ok()) << "step " << step << ": " << built.error().to_string();
        const std::size_t request = estimate_tokens(fixed.value().system) + estimate_tokens(built.value().text) + tools;
        ASSERT_LE(request, spec.budget.total) << "step " << step;
        memory.add(random_step(random, step));
    }
}

TEST_P(ContextOver500Steps, a_late_step_sends_as_many_tokens_as_the_fifth) {
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

/// Returns the free tokens if something was cut, or nothing.
std::optional<std::size_t> free_where_cut(const RunSpec& spec, const Memory& memory, const BuiltContext& built) {
    if (built.section_tokens.at("truncated").get_array().empty()) { return std::nullopt; }
    return (spec.budget.total * 1000 / memory.calibration_permille()) - tokens_of(built, "total");
}

json::value random_state(std::mt19937& random, unsigned depth) {
    json::object state;
    for (unsigned field = 0; field < 2 + random() % 6; ++field) {
        json::array items;
        for (unsigned item = 0; item < random() % 40; ++item) {
            items.emplace_back(random_output(random).substr(0, random() % 400));
        }
        const std::string name = "field_" + std::to_string(field);
        switch (random() % 3) {
            case 0:
                state[name] = std::move(items);
                break;
            case 1:
                state[name] = random_output(random);
                break;
            default:
                state[name] = depth > 0 ? random_state(random, depth - 1) : json::value(field);
        }
    }
    return json::value(std::move(state));
}

TEST(Context, cuts_nothing_while_256_tokens_are_free) {
    unsigned cuts = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
        std::mt19937 random(seed);
        RunSpec spec = usual_spec();
        if (random() % 2 == 0) { spec.run.state = random_state(random, 2).get_object(); }
        if (random() % 3 == 0) { spec.run.state["previous_errors"] = json::array{random_output(random), random_output(random)}; }
        if (random() % 2 == 0) { spec.agents_md = random_output(random); }
        if (random() % 2 == 0) { spec.run.instructions = random_output(random).substr(0, 8000); }
        if (random() % 4 == 0) { spec.goal = random_output(random); }
        if (random() % 4 == 0) { spec.budget.total = 5000 + random() % 12000; }
        const bool native = random() % 2 == 0;
        const auto fixed = fix_parts(spec, tools_with_large_schema(random() % 30, std::string(random() % 200, 'd')), native);
        ASSERT_TRUE(fixed.ok()) << fixed.error().to_string();
        if (fixed->shortened) { continue; }  // Decided once for the whole run.
        json::object status{{"checks_passing", 3}};
        if (random() % 2 == 0) { status["tests"] = random_state(random, 1); }
        Memory memory(random() % 3 == 0 ? 1200 : 1000);
        for (unsigned step = 1; step <= random() % 20; ++step) { memory.add(random_step(random, step)); }
        const auto built = build_context(spec, fixed.value(), memory, status);
        ASSERT_TRUE(built.ok()) << built.error().to_string();
        if (const auto free = free_where_cut(spec, memory, *built)) {
            ++cuts;
            EXPECT_LT(*free, 256U) << "seed " << seed << ": " << json::serialize(built->section_tokens);
        }
    }
    EXPECT_GT(cuts, 100U);
}

/// Bytes of the lines of `now` after its first changed byte that are in `before` too.
std::size_t unchanged_behind_the_first_change(std::string_view before, std::string_view now, std::size_t& same) {
    same = static_cast<std::size_t>(std::mismatch(before.begin(), before.end(), now.begin(), now.end()).first - before.begin());
    std::set<std::string_view> lines;
    for (std::string_view rest = before; !rest.empty(); rest.remove_prefix(std::min(rest.size(), rest.find('\n') + 1))) {
        lines.insert(rest.substr(0, rest.find('\n')));
    }
    std::size_t bytes = 0;
    for (std::string_view rest = now.substr(std::min(same, now.size())); !rest.empty();
         rest.remove_prefix(std::min(rest.size(), rest.find('\n') + 1))) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        bytes += lines.contains(line) ? line.size() + 1 : 0;
        if (line.size() == rest.size()) { break; }
    }
    return bytes;
}

/// Reads files, then edits one for a while and then another, as an agent does.
StepRecord step_of_a_usual_run(unsigned step) {
    const std::string path = "src/file_" + std::to_string(step % 4) + ".py";
    std::string content;
    for (unsigned line = 0; line < 40; ++line) {
        content += "    value_" + path.substr(9, 1) + "_" + std::to_string(line) + " = " + std::to_string(line) + "\n";
    }
    if (step <= 4) { return record(step, "read_file", {{"path", path}}, content); }
    if (step % 3 == 0) { return record(step, "run_tests", {}, "2 failed, " + std::to_string(step) + " passed\n"); }
    const std::string edited = std::to_string((step / 15) % 4);
    const std::string name = "value_" + edited + "_";
    return record(step, "edit_file",
                  {{"path", "src/file_" + edited + ".py"}, {"search", name + "1 = 1\n"}, {"replace", name + "1 = 1\n"}},
                  "edited\n");
}

TEST_P(ContextOver500Steps, unchanged_parts_come_before_changed_parts) {
    RunSpec spec = usual_spec();
    spec.agents_md = "Run the tests with `make check`.\n";
    spec.run.state = {{"spec", json::object{{"requirements", json::array{"one", "two", "three"}}}}};
    const auto fixed = fix_parts(spec, usual_tools(), GetParam());
    ASSERT_TRUE(fixed.ok());
    Memory memory;
    BuiltContext before;
    std::size_t all = 0;
    std::size_t behind = 0;
    for (unsigned step = 1; step <= 60; ++step) {
        const auto built = build_context(spec, fixed.value(), memory, {{"tests", json::object{{"failing", step / 3}}}});
        ASSERT_TRUE(built.ok());
        ASSERT_FALSE(built->stable_ends.empty());
        ASSERT_TRUE(std::is_sorted(built->stable_ends.begin(), built->stable_ends.end()));
        for (const std::size_t end : built->stable_ends) { ASSERT_EQ(built->text.at(end - 1), '\n') << "step " << step; }
        if (step > 1) {
            std::size_t same = 0;
            behind += unchanged_behind_the_first_change(before.text, built->text, same);
            all += built->text.size();
            ASSERT_GE(same, before.stable_ends.front()) << "step " << step << ": what stays over a run comes first";
        }
        before = *built;
        memory.add(step_of_a_usual_run(step));
    }
    EXPECT_LT(behind * 100, all * 15) << behind << " of " << all << " bytes stand behind a change that did not touch them";
}

TEST(Context, rereading_an_unchanged_file_keeps_its_view_in_place) {
    Memory memory;
    for (unsigned step = 1; step <= 3; ++step) {
        memory.add(
            record(step, "read_file", {{"path", "f" + std::to_string(step) + ".py"}}, "text of " + std::to_string(step) + "\n"));
    }
    memory.add(record(4, "run_tests", {}, "ok"));
    const BuiltContext before = build(usual_spec(), memory);
    memory.add(record(5, "read_file", {{"path", "f1.py"}}, "text of 1\n"));
    memory.add(record(6, "run_tests", {}, "ok"));
    const BuiltContext after = build(usual_spec(), memory);
    EXPECT_EQ(before.text.substr(0, before.stable_ends.back()), after.text.substr(0, after.stable_ends.back()));
}

INSTANTIATE_TEST_SUITE_P(Both, ContextOver500Steps, ::testing::Bool(),
                         [](const auto& native) { return native.param ? "native_tools" : "text_protocol"; });

TEST(Context, memoized_token_counts_do_not_change_the_text) {
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

TEST(Context, writes_unchanged_parts_once) {
    ContextMemo memo;
    int made = 0;
    const auto make = [&made] {
        ++made;
        return Piece{"x: 1\n", 2, false};
    };
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
