// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "agent/prompt.hpp"
#include "backends/tokens.hpp"
#include "unit/agent/fakes.hpp"

namespace agentforge::kernel::testing {
namespace {

std::string prompt(const RunSpec& spec, bool native = true) { return build_system_prompt(spec, usual_tools(), native); }

TEST(SystemPrompt, has_the_headings_in_the_order_of_the_specification) {
    const std::string text = prompt(usual_spec());
    std::size_t at = 0;
    for (const std::string_view heading :
         {"# Role: Software Developer\n", "\n## Who You Are\n", "\n## Your Expertise\n", "\n## How You Think\n",
          "\n## Rules You Must Follow\n", "\n## Tools Available\n", "\n## What You Must Produce\n", "\n## Current Context\n"}) {
        const std::size_t found = text.find(heading, at);
        ASSERT_NE(found, std::string::npos) << heading << "\n" << text;
        at = found;
    }
}

TEST(SystemPrompt, names_the_forbidden_tools) { EXPECT_NE(prompt(usual_spec()).find("- deploy\n- commit\n"), std::string::npos); }
TEST(SystemPrompt, names_the_contract) { EXPECT_NE(prompt(usual_spec()).find("`implementation`"), std::string::npos); }

TEST(SystemPrompt, prefers_the_stages_contract_to_the_default) {
    RunSpec spec = usual_spec();
    spec.agent.output_contracts["green"] = "green_contract";
    EXPECT_NE(prompt(spec).find("`green_contract`"), std::string::npos);
}

TEST(SystemPrompt, prefers_the_runs_contract_to_all_others) {
    RunSpec spec = usual_spec();
    spec.run.output_contract = "asked_for";
    EXPECT_NE(prompt(spec).find("`asked_for`"), std::string::npos);
}

TEST(SystemPrompt, lists_what_must_be_verified) {
    EXPECT_NE(prompt(usual_spec()).find("- all_tests_pass: true\n"), std::string::npos);
}

TEST(SystemPrompt, says_none_if_no_role_comes_before) {
    RunSpec spec = usual_spec();
    spec.agent.receives_from.clear();
    EXPECT_NE(prompt(spec).find("receive input from: none\n"), std::string::npos);
}

TEST(SystemPrompt, shows_only_the_first_line_of_a_long_request) {
    RunSpec spec = usual_spec();
    spec.goal = "Add a slug\nwith many lines\n" + std::string(5000, 'x');
    EXPECT_EQ(prompt(spec).find("with many lines"), std::string::npos);
}

TEST(SystemPrompt, does_not_name_the_task) { EXPECT_EQ(prompt(usual_spec()).find("task-2026"), std::string::npos); }
TEST(SystemPrompt, points_at_the_text_protocol_if_the_backend_needs_it) {
    EXPECT_NE(prompt(usual_spec(), false).find("available_actions"), std::string::npos);
}
TEST(SystemPrompt, is_byte_identical_every_time) { EXPECT_EQ(prompt(usual_spec()), prompt(usual_spec())); }

}  // namespace
}  // namespace agentforge::kernel::testing
