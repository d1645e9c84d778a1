// SPDX-License-Identifier: Apache-2.0
// Changes one value of a file that a person maintains; all else stays byte for byte.
#include <gtest/gtest.h>

#include "base/yaml.hpp"
#include "config/edit.hpp"
#include "config/migrate.hpp"
#include "config/settings_schema.hpp"

namespace agentforge::kernel {
namespace {

std::string set(std::string_view text, std::string_view key, const json::value& value) {
    const auto changed = set_in_yaml(text, "settings.yaml", split_key(key), value);
    return changed.ok() ? *changed : changed.error().code + " " + changed.error().where;
}

std::string unset(std::string_view text, std::string_view key) {
    const auto changed = unset_in_yaml(text, "settings.yaml", split_key(key));
    return changed.ok() ? *changed : changed.error().code + " " + changed.error().where;
}

TEST(SetInYaml, writes_into_an_empty_file) { EXPECT_EQ(set("", "llm.backend", "cli"), "llm:\n  backend: cli\n"); }

TEST(SetInYaml, replaces_an_empty_map) {
    EXPECT_EQ(set("# Settings of this project.\n{}\n", "llm.backend", "cli"),
              "# Settings of this project.\nllm:\n  backend: cli\n");
}

TEST(SetInYaml, writes_below_the_comments_of_a_file_without_keys) {
    EXPECT_EQ(set("# nothing yet", "log.level", "debug"), "# nothing yet\nlog:\n  level: debug\n");
}

TEST(SetInYaml, replaces_a_plain_value_and_keeps_the_comment_behind_it) {
    EXPECT_EQ(set("llm:\n  # mine\n  backend: cli   # for now\n  model: m\n", "llm.backend", "openai"),
              "llm:\n  # mine\n  backend: openai   # for now\n  model: m\n");
}

TEST(SetInYaml, replaces_a_quoted_value_that_contains_a_hash) {
    EXPECT_EQ(set("llm:\n  model: \"a # b\" # c\n", "llm.model", "x"), "llm:\n  model: x # c\n");
}

TEST(SetInYaml, quotes_text_that_would_read_as_another_type) {
    EXPECT_EQ(set("", "log.level", "off"), "log:\n  level: \"off\"\n");
    EXPECT_EQ(set("", "llm.model", "1.5"), "llm:\n  model: \"1.5\"\n");
    EXPECT_EQ(set("", "llm.model", "a: b # c"), "llm:\n  model: \"a: b # c\"\n");
}

TEST(SetInYaml, adds_a_key_below_its_siblings) {
    EXPECT_EQ(set("llm:\n  backend: cli\n\n# about the log\nlog:\n  level: info\n", "llm.model", "m"),
              "llm:\n  backend: cli\n  model: m\n\n# about the log\nlog:\n  level: info\n");
}

TEST(SetInYaml, adds_a_missing_map) {
    EXPECT_EQ(set("llm:\n    backend: cli\n", "llm.replay.match", "strict"),
              "llm:\n    backend: cli\n    replay:\n      match: strict\n");
}

TEST(SetInYaml, appends_to_a_file_without_a_final_line_end) {
    EXPECT_EQ(set("log:\n  level: info", "llm.model", "m"), "log:\n  level: info\nllm:\n  model: m\n");
}

TEST(SetInYaml, fills_an_empty_section) {
    EXPECT_EQ(set("llm:\nlog:\n  level: info\n", "llm.model", "m"), "llm:\n  model: m\nlog:\n  level: info\n");
    EXPECT_EQ(set("llm: {}   # later\nlog:\n  level: info\n", "llm.model", "m"),
              "llm:   # later\n  model: m\nlog:\n  level: info\n");
}

TEST(SetInYaml, sets_a_key_without_a_value) {
    EXPECT_EQ(set("llm:\n  model:   # which?\n", "llm.model", "m"), "llm:\n  model: m   # which?\n");
}

TEST(SetInYaml, works_inside_flow_maps) {
    EXPECT_EQ(set("llm: {backend: cli, model: m}\n", "llm.backend", "openai"), "llm: {backend: openai, model: m}\n");
    EXPECT_EQ(set("llm: {model: m}\n", "llm.replay.match", "strict"), "llm: {replay: {match: strict}, model: m}\n");
}

TEST(SetInYaml, replaces_a_list) {
    const json::value value = json::array{"a", "b"};
    EXPECT_EQ(set("plugins:\n  paths: [x]  # one\n", "plugins.paths", value), "plugins:\n  paths: [\"a\", \"b\"]  # one\n");
    EXPECT_EQ(set("plugins:\n  paths:\n    - x\n    - y\n  disable: [z]\n", "plugins.paths", value),
              "plugins:\n  paths: [\"a\", \"b\"]\n  disable: [z]\n");
    EXPECT_EQ(set("plugins:\n  paths:\n  - x\n  disable: [z]\n", "plugins.paths", value),
              "plugins:\n  paths: [\"a\", \"b\"]\n  disable: [z]\n");
}

TEST(SetInYaml, keeps_crlf_and_the_byte_order_mark) {
    EXPECT_EQ(set("\xEF\xBB\xBFllm:\r\n  backend: cli\r\n", "llm.model", "m"),
              "\xEF\xBB\xBFllm:\r\n  backend: cli\r\n  model: m\r\n");
    EXPECT_EQ(set("\xEF\xBB\xBFllm:\r\n  backend: cli\r\n", "llm.backend", "openai"),
              "\xEF\xBB\xBFllm:\r\n  backend: openai\r\n");
}

TEST(SetInYaml, counts_columns_in_characters) {
    EXPECT_EQ(set("llm: {model: \"gr\xC3\xBC\xC3\x9F\", backend: cli}\n", "llm.backend", "openai"),
              "llm: {model: \"gr\xC3\xBC\xC3\x9F\", backend: openai}\n");
}

TEST(SetInYaml, changes_nothing_if_the_value_is_already_set) {
    EXPECT_EQ(set("llm: {model: 'm'}\n", "llm.model", "m"), "llm: {model: 'm'}\n");
}

TEST(SetInYaml, refuses_a_change_that_would_lose_text) {
    EXPECT_EQ(set("llm:\n  model: |\n    a\n    b\n", "llm.model", "m"), "AF-CONF-040 settings.yaml:2:10");
    EXPECT_EQ(set("llm:\n  model: &m x\n  backend: *m\n", "llm.model", "m"), "AF-CONF-040 settings.yaml:2:10");
    EXPECT_EQ(set("plugins:\n  paths:\n    - x  # why\n", "plugins.paths", json::array{"a"}), "AF-CONF-040 settings.yaml:3:5");
    EXPECT_EQ(set("llm: 5\n", "llm.model", "m"), "AF-CONF-040 settings.yaml:1:6");
}

TEST(SetInYaml, names_the_position_of_a_syntax_error) { EXPECT_EQ(set("llm: [\n", "llm.model", "m").substr(0, 8), "AF-CONF-"); }

TEST(UnsetInYaml, removes_the_key_and_its_children) {
    EXPECT_EQ(unset("llm:\n  # mine\n  backend: cli\n  model: m\n", "llm.backend"), "llm:\n  # mine\n  model: m\n");
    EXPECT_EQ(unset("plugins:\n  paths:\n  - x\n  disable: [z]\n", "plugins.paths"), "plugins:\n  disable: [z]\n");
}

TEST(UnsetInYaml, leaves_a_file_without_the_key_unchanged) {
    EXPECT_EQ(unset("llm: {model: m}\n", "log.level"), "llm: {model: m}\n");
}

TEST(UnsetInYaml, refuses_to_lose_a_comment) {
    EXPECT_EQ(unset("llm:\n  backend: cli  # why\n", "llm.backend"), "AF-CONF-040 settings.yaml:2:12");
}

TEST(UnsetInYaml, a_hash_in_quotes_is_not_a_comment) {
    EXPECT_EQ(unset("llm:\n  model: \"a # b\"\n  mode: plain\n", "llm.model"), "llm:\n  mode: plain\n");
    EXPECT_EQ(unset("plugins:\n  paths: [x,\n    'a # b']\n  disable: [z]\n", "plugins.paths"), "plugins:\n  disable: [z]\n");
    EXPECT_EQ(unset("plugins:\n  paths: ['a # b']  # why\n", "plugins.paths"), "AF-CONF-040 settings.yaml:2:10");
    EXPECT_EQ(unset("plugins:\n  paths: [x, # why\n    y]\n", "plugins.paths"), "AF-CONF-040 settings.yaml:2:10");
    EXPECT_EQ(unset("llm:  # why\n  \"model\": m\n", "llm"), "AF-CONF-040 settings.yaml:2:3");
}

/// For any contents of a file: either it is refused, or it reads as before with the one value changed.
TEST(SetInYaml, never_changes_another_value) {
    const std::vector<std::string> lines{"llm:",
                                         "  backend: cli",
                                         "  model: 'it''s'",
                                         "  settings:",
                                         "    a: {b: [1, 2], c: \"#\"}",
                                         "# c",
                                         "",
                                         "  preset: x # y",
                                         "log: {level: info}",
                                         "  - stray",
                                         "limits:",
                                         "    max_steps: 5",
                                         "gates: ~"};
    unsigned random = 7;
    const auto next = [&random](std::size_t bound) {
        random = random * 1664525U + 1013904223U;
        return (random >> 8U) % bound;
    };
    unsigned changed_files = 0;
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        for (std::size_t count = 1 + next(9); count > 0; --count) { text += lines[next(lines.size())] + "\n"; }
        const auto before = parse_yaml(text, "s");
        const auto segments = split_key(
            std::vector<std::string>{"llm.model", "llm.settings.a.b", "log.level", "limits.stages.red.max_steps"}[next(4)]);
        const auto result = set_in_yaml(text, "s", segments, "new");
        if (!before.ok() || !result.ok()) { continue; }
        ++changed_files;
        const auto after = parse_yaml(*result, "s");
        ASSERT_TRUE(after.ok()) << text << "----\n" << *result;
        const auto comments = [](const std::string& of) { return std::count(of.begin(), of.end(), '#'); };
        ASSERT_EQ(comments(text), comments(*result)) << text << "----\n" << *result;
    }
    EXPECT_GT(changed_files, 50U);
}

std::string migrated(std::string_view text) {
    const auto schema = SettingsSchema::load(AGENTFORGE_SOURCE_DIR "/config/settings_schema.yaml");
    const auto result = migrate_settings(schema.value(), text, "settings.yaml");
    return result.ok() ? result->text : result.error().code + " " + result.error().where;
}

TEST(MigrateSettings, leaves_the_current_format_unchanged) {
    EXPECT_EQ(migrated("llm: {model: m}  # c\n"), "llm: {model: m}  # c\n");
}

TEST(MigrateSettings, renames_a_key_and_moves_it_to_its_new_siblings) {
    EXPECT_EQ(migrated("# a\nbudgets:\n  step_tokens: 9000\ncontext:\n  agents_md: false  # b\n"),
              "# a\ncontext:\n  agents_md: false  # b\n  max_tokens: 9000\n");
}

TEST(MigrateSettings, turns_millionths_into_dollars) {
    EXPECT_EQ(migrated("budgets:\n  task_cost_microdollars: 2000000\n"), "limits:\n  max_cost_usd: 2\n");
}

TEST(MigrateSettings, refuses_a_file_with_both_names) {
    EXPECT_EQ(migrated("budgets:\n  task_tokens: 5\nlimits:\n  max_tokens: 6\n"), "AF-CONF-045 settings.yaml:2:16");
}

TEST(MigrateSettings, names_a_key_without_a_replacement) {
    EXPECT_EQ(migrated("budgets:\n  stage_share_percent:\n    red: 20\n"), "AF-CONF-044 settings.yaml:3:10");
}

TEST(MigrateSettings, moves_a_comment_with_its_key) {
    EXPECT_EQ(migrated("budgets:\n  task_tokens: 5  # why\n"), "limits:\n  max_tokens: 5  # why\n");
}

TEST(MigrateSettings, moves_the_trailing_comment_of_a_quoted_value) {
    EXPECT_EQ(migrated("budgets:\n  task_tokens: 5   # a: b # c\nlog:\n  level: info\n"),
              "log:\n  level: info\nlimits:\n  max_tokens: 5   # a: b # c\n");
}

TEST(MigrateSettings, a_hash_in_quotes_is_not_a_comment) {
    EXPECT_EQ(migrated("escalation:\n  handler: [file, \"a # b\"]\n"), "escalation:\n  handlers: [\"file\", \"a # b\"]\n");
    EXPECT_EQ(migrated("escalation:\n  handler: 'a # b'  # why\n"), "escalation:\n  handlers: [\"a # b\"]  # why\n");
    EXPECT_EQ(migrated("escalation:\n  handler: &both [file, \"a # b\"]\n"), "AF-CONF-040 settings.yaml:2:12");
}

TEST(MigrateSettings, loses_no_comment_between_the_lines) {
    EXPECT_EQ(migrated("budgets:\n  # first\n  task_tokens: 5\n  # last\n"), "limits:\n  max_tokens: 5\n  # first\n  # last\n");
}

}  // namespace
}  // namespace agentforge::kernel
