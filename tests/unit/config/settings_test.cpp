// SPDX-License-Identifier: Apache-2.0
#include "config/settings.hpp"
#include "config/settings_schema.hpp"
#include "unit/config/fixtures.hpp"

namespace agentforge::kernel {

namespace {

Settings load(const Settings::Sources& sources) {
    auto loaded = Settings::load(shipped_config, sources);
    if (!loaded.ok()) { ADD_FAILURE() << loaded.error().to_string(); }
    return std::move(loaded).value();
}

Result<Settings> project(const std::string& text) {
    const Folder folder;
    Settings::Sources sources;
    sources.project_file = folder.write("settings.yaml", text);
    return Settings::load(shipped_config, sources);
}

}  // namespace

TEST(Settings, defaults_apply_without_any_file) {
    const auto settings = load({});
    EXPECT_EQ(settings.integer("llm.timeout_seconds"), 300);
    EXPECT_EQ(settings.text("pipeline.default"), "implement");
    EXPECT_EQ(settings.origin("llm.timeout_seconds")->layer, "built-in");
}

TEST(Settings, missing_files_count_as_empty) {
    Settings::Sources sources;
    sources.user_file = "/nowhere/config.yaml";
    EXPECT_EQ(load(sources).text("llm.model"), "");
}

TEST(Settings, a_file_in_place_of_their_folder_is_refused) {
    const Folder folder;
    Settings::Sources sources;
    sources.project_file = folder.write("config", "") + "/settings.yaml";
    EXPECT_EQ(Settings::load(shipped_config, sources).error().code, "AF-CONF-025");
    sources.project_file = "/dev/null/.agentforge/config/settings.yaml";  // A home that is not a folder has no settings.
    EXPECT_TRUE(Settings::load(shipped_config, sources).ok());
}

TEST(Settings, each_layer_overrides_the_one_before) {
    const Folder folder;
    Settings::Sources sources;
    sources.user_file = folder.write("user.yaml", "llm: {model: user, backend: user}\nescalation: {handlers: [console]}\n");
    EXPECT_EQ(load(sources).text("llm.model"), "user");
    sources.project_file = folder.write("project.yaml", "llm: {model: project}\n");
    EXPECT_EQ(load(sources).text("llm.model"), "project");
    sources.environment["AGENTFORGE_LLM_MODEL"] = "environment";
    EXPECT_EQ(load(sources).text("llm.model"), "environment");
    sources.flags.emplace_back("llm.model", "flag");
    EXPECT_EQ(load(sources).text("llm.model"), "flag");
    EXPECT_EQ(load(sources).text("llm.backend"), "user");
}

TEST(Settings, a_section_is_merged_across_layers) {
    const Folder folder;
    Settings::Sources sources;
    sources.user_file = folder.write("user.yaml", "llm: {settings: {temperature: 0, headers: {a: '1'}}}\n");
    sources.project_file = folder.write("project.yaml", "llm: {settings: {headers: {b: '2'}}}\n");
    EXPECT_EQ(load(sources).section("llm.settings"),
              parse_json(R"({"temperature": 0, "headers": {"a": "1", "b": "2"}})", "t")->as_object());
}

TEST(Settings, a_value_replaces_a_map) {
    const Folder folder;
    Settings::Sources sources;
    sources.user_file = folder.write("user.yaml", "llm: {settings: {x: {a: 1}, y: 2}}\n");
    sources.project_file = folder.write("project.yaml", "llm: {settings: {x: 3, y: {b: 4}}}\n");
    EXPECT_EQ(load(sources).section("llm.settings"), parse_json(R"({"x": 3, "y": {"b": 4}})", "t")->as_object());
}

TEST(Settings, dots_in_the_keys_of_a_free_map_are_kept) {
    EXPECT_EQ(project("llm: {settings: {'a.b%': 1}}\n")->section("llm.settings"), (json::object{{"a.b%", 1}}));
}

TEST(Settings, an_unknown_key_names_place_and_nearest) {
    const auto settings = project("llm:\n  modell: x\n");
    EXPECT_EQ(settings.error().code, "AF-CONF-020");
    EXPECT_THAT(settings.error().where, testing::HasSubstr("settings.yaml:2:3"));
    EXPECT_EQ(settings.error().remedy, "Did you mean llm.model?");
}

TEST(Settings, an_unknown_section_is_named_with_the_line_of_its_key) {
    EXPECT_THAT(project("lmm:\n  model: x\n").error().where, testing::HasSubstr("settings.yaml:1:1"));
}

TEST(Settings, an_unknown_section_names_the_nearest) {
    EXPECT_EQ(project("lmm: {model: x}\n").error().remedy, "Did you mean llm?");
}

TEST(Settings, a_dotted_key_in_a_file_is_refused_with_the_nested_form) {
    EXPECT_EQ(project("llm.model: x\n").error().message, "\"llm.model\" is not a setting");
    EXPECT_EQ(project("llm.model: x\n").error().remedy, "Write it nested, one map for each part between the dots.");
}

TEST(Settings, a_wrong_type_names_its_place) {
    const auto settings = project("llm:\n  timeout_seconds: soon\n");
    EXPECT_EQ(settings.error().code, "AF-CONF-021");
    EXPECT_EQ(settings.error().message, "the setting llm.timeout_seconds must be a whole number");
    EXPECT_THAT(settings.error().where, testing::HasSubstr("settings.yaml:2:"));
}

TEST(Settings, a_number_out_of_bounds_is_refused) {
    EXPECT_EQ(project("llm: {timeout_seconds: 0}\n").error().message, "the setting llm.timeout_seconds must be at least 1");
}

TEST(Settings, a_value_that_is_not_allowed_is_refused) {
    EXPECT_THAT(project("llm: {replay: {match: loud}}\n").error().message, testing::HasSubstr("must be one of frame"));
}

TEST(Settings, a_section_must_be_a_map) { EXPECT_EQ(project("llm: openai\n").error().code, "AF-CONF-021"); }

TEST(Settings, an_empty_file_sets_nothing) { EXPECT_TRUE(project("").ok()); }

TEST(Settings, a_command_may_be_a_string_or_a_list) {
    EXPECT_EQ(project("llm: {command: claude}\n")->list("llm.command"), std::vector<std::string>{"claude"});
    EXPECT_EQ(project("llm: {command: [claude, -p]}\n")->list("llm.command"), (std::vector<std::string>{"claude", "-p"}));
}

TEST(Settings, a_role_may_have_its_own_model) {
    const auto settings = project("agents: {test_engineer: {llm: {model: small}}}\n");
    EXPECT_EQ(settings->text("agents.test_engineer.llm.model"), "small");
}

TEST(Settings, the_environment_reaches_keys_of_roles) {
    Settings::Sources sources;
    sources.environment["AGENTFORGE_AGENTS_TEST_ENGINEER_LLM_MODEL"] = "small";
    EXPECT_EQ(load(sources).text("agents.test_engineer.llm.model"), "small");
}

TEST(Settings, the_environment_reads_numbers) {
    Settings::Sources sources;
    sources.environment["AGENTFORGE_LLM_TIMEOUT_SECONDS"] = "7";
    EXPECT_EQ(load(sources).integer("llm.timeout_seconds"), 7);
}

TEST(Settings, text_from_the_environment_is_not_parsed_as_yaml) {
    Settings::Sources sources;
    sources.environment["AGENTFORGE_LLM_MODEL"] = "42: {x}";
    EXPECT_EQ(load(sources).text("llm.model"), "42: {x}");
}

TEST(Settings, invalid_utf8_is_refused_from_every_source) {
    for (const char* key : {"llm.model", "llm.transcript", "llm.command", "plugins.disable", "llm.timeout_seconds"}) {
        Settings::Sources sources;
        sources.flags.emplace_back(key, "tr\xff.yaml");
        EXPECT_EQ(Settings::load(shipped_config, sources).error().code, "AF-CONF-009") << key;
    }
    Settings::Sources sources;
    sources.environment["AGENTFORGE_LLM_MODEL"] = "\xff";
    EXPECT_EQ(Settings::load(shipped_config, sources).error().code, "AF-CONF-009");
    sources.environment = {{"AGENTFORGE_AGENTS_\xff_LLM_MODEL", "x"}};
    EXPECT_THAT(load(sources).unknown_environment(), testing::SizeIs(1));
    sources.flags.emplace_back("agents.\xff.llm.model", "x");
    EXPECT_EQ(Settings::load(shipped_config, sources).error().code, "AF-CONF-020");
}

TEST(Settings, a_wrong_variable_is_named) {
    Settings::Sources sources;
    sources.environment["AGENTFORGE_LLM_TIMEOUT_SECONDS"] = "soon";
    EXPECT_EQ(Settings::load(shipped_config, sources).error().where, "environment AGENTFORGE_LLM_TIMEOUT_SECONDS");
}

TEST(Settings, variables_without_effect_are_named) {
    Settings::Sources sources;
    sources.environment = {{"AGENTFORGE_LLM_MODLE", "x"},
                           {"AGENTFORGE_HOME", "/x"},
                           {"AGENTFORGE_PLUGIN_PATH", "/x"},
                           {"AGENTFORGE_STATE_HOME", "/x"},
                           {"PATH", "/bin"}};
    EXPECT_EQ(load(sources).unknown_environment(), std::vector<std::string>{"AGENTFORGE_LLM_MODLE"});
    const std::vector<std::string> known = load(sources).variables();
    for (const char* name : {"AGENTFORGE_LLM_MODEL", "AGENTFORGE_AGENTS_*_LLM_MODEL", "AGENTFORGE_PAGER"}) {
        EXPECT_EQ(std::count(known.begin(), known.end(), name), 1) << name;
    }
}

TEST(Settings, an_unknown_flag_is_refused) {
    Settings::Sources sources;
    sources.flags.emplace_back("llm.modell", "x");
    EXPECT_EQ(Settings::load(shipped_config, sources).error().remedy, "Did you mean llm.model?");
}

TEST(Settings, a_flag_without_a_name_is_refused) {
    Settings::Sources sources;
    sources.flags.emplace_back("", "x");
    EXPECT_EQ(Settings::load(shipped_config, sources).error().code, "AF-CONF-020");
}

TEST(Settings, the_origin_names_layer_and_place) {
    const auto settings = project("llm:\n  model: x\n");
    EXPECT_EQ(settings->origin("llm.model")->layer, "project");
    EXPECT_THAT(settings->origin("llm.model")->where, testing::HasSubstr("settings.yaml:2:"));
}

TEST(Settings, an_unset_key_has_no_origin) { EXPECT_FALSE(load({}).origin("llm.model").has_value()); }

TEST(Settings, all_holds_every_value_in_force) {
    const auto all = project("plugins: {paths: [a, b]}\n")->all();
    EXPECT_EQ(all.at("plugins").at("paths"), (json::value{"a", "b"}));
    EXPECT_EQ(all.at("llm").at("replay").at("match"), json::value("frame"));
}

TEST(Settings, a_field_without_a_name_is_refused) {
    EXPECT_EQ(project("llm: {settings: {'': 1}}\n").error().code, "AF-CONF-021");
}

TEST(Settings, a_role_without_a_name_is_refused) {
    EXPECT_EQ(project("agents: {'': {llm: {model: x}}}\n").error().code, "AF-CONF-020");
}

TEST(Settings, a_dollar_sign_is_not_expanded) {
    EXPECT_EQ(project("llm: {model: '${user.home}'}\n")->text("llm.model"), "${user.home}");
}

TEST(GuardedSettings, of_the_project_are_named_with_their_places) {
    const auto settings = project("llm:\n  backend: cli\n  command: [sh]\n  settings:\n    prompt: stdin\n");
    ASSERT_EQ(settings->guarded().size(), 2U);
    EXPECT_EQ(settings->guarded()[0].key, "llm.command");
    EXPECT_EQ(settings->guarded()[0].value, (json::value{"sh"}));
    EXPECT_THAT(settings->guarded()[0].where, testing::HasSubstr("settings.yaml:3:12"));
    EXPECT_EQ(settings->guarded()[1].key, "llm.settings.prompt");
    EXPECT_THAT(settings->guarded()[1].where, testing::HasSubstr("settings.yaml:5:13"));
}

TEST(GuardedSettings, of_the_user_and_of_flags_are_not_guarded) {
    const Folder folder;
    Settings::Sources sources;
    sources.user_file = folder.write("config.yaml", "llm: {command: mine}\n");
    sources.flags = {{"gates.readable", "[/data]"}};
    sources.environment = {{"AGENTFORGE_LLM_RECORD", "r.yaml"}};
    sources.project_trusted = false;
    const auto settings = load(sources);
    EXPECT_TRUE(settings.guarded().empty());
    EXPECT_EQ(settings.text("llm.command"), "mine");
    EXPECT_EQ(settings.text("llm.record"), "r.yaml");
    EXPECT_EQ(settings.list("gates.readable"), std::vector<std::string>{"/data"});
}

TEST(GuardedSettings, of_an_untrusted_project_yield_to_those_of_the_user) {
    const Folder folder;
    Settings::Sources sources;
    sources.user_file = folder.write("config.yaml", "llm: {command: mine}\n");
    sources.project_file =
        folder.write("settings.yaml", "llm: {command: theirs, model: big, settings: {a: 1}}\nlog: {file: /tmp/x}\n");
    EXPECT_EQ(load(sources).text("llm.command"), "theirs");
    sources.project_trusted = false;
    const auto settings = load(sources);
    EXPECT_EQ(settings.text("llm.command"), "mine");
    EXPECT_EQ(settings.text("llm.model"), "big");
    EXPECT_TRUE(settings.section("llm.settings").empty());
    EXPECT_EQ(settings.text("log.file"), "");
    EXPECT_EQ(settings.guarded().size(), 3U);
}

TEST(GuardedSettings, are_those_that_name_a_program_a_plugin_or_a_file) {
    std::vector<std::string> guarded;
    const auto settings = load({});
    for (const auto& key : settings.known()) {
        if (key.at("project").as_string() == "trust") { guarded.emplace_back(key.at("key").as_string()); }
    }
    for (const char* key : {"llm.command", "llm.record", "llm.settings", "plugins.paths", "plugins.enable", "plugins.settings",
                            "gates.programs.*", "gates.readable", "log.file"}) {
        EXPECT_THAT(guarded, testing::Contains(key));
    }
}

TEST(SettingsOfAProject, never_loosen_the_users_settings_without_trust) {
    const Folder folder;
    Settings::Sources sources;
    sources.user_file = folder.write(
        "config.yaml",
        "secrets: {variables: [MINE], files: [/mine]}\nlimits: {max_tokens: 1000, max_wall_time: 30m}\ndelivery: {sign: always, author: 'Me <me@here>'}\nlog: {level: debug}\n");
    sources.project_file = folder.write(
        "settings.yaml",
        "secrets: {variables: [], files: [.env]}\nlimits: {max_tokens: 5000, max_wall_time: 2h}\ndelivery: {sign: never, author: 'You <you@there>'}\nlog: {level: 'off'}\n");
    sources.project_trusted = false;
    const auto settings = load(sources);
    EXPECT_EQ(settings.list("secrets.variables"), std::vector<std::string>{"MINE"});
    EXPECT_EQ(settings.list("secrets.files"), (std::vector<std::string>{"/mine", ".env"}));
    EXPECT_EQ(settings.integer("limits.max_tokens"), 1000);
    EXPECT_EQ(settings.text("limits.max_wall_time"), "30m");
    EXPECT_EQ(settings.text("delivery.sign"), "always");
    EXPECT_EQ(settings.text("delivery.author"), "Me <me@here>");
    EXPECT_EQ(settings.text("log.level"), "debug");
    std::vector<std::string> named;
    for (const GuardedSetting& one : settings.guarded()) { named.push_back(one.key); }
    EXPECT_THAT(named, testing::UnorderedElementsAre("limits.max_tokens", "limits.max_wall_time", "delivery.sign",
                                                     "delivery.author", "log.level"));
}

namespace {

/// Returns three values of a key, in ascending order if they can be compared.
std::vector<std::string> three_values(const SettingKey& key) {
    switch (key.type) {
        case SettingKey::Type::integer:
        case SettingKey::Type::decimal: {
            const std::int64_t least = key.minimum.value_or(1);
            return {std::to_string(least), std::to_string(least + 1), std::to_string(least + 2)};
        }
        case SettingKey::Type::boolean:
            return {"false", "true", "true"};
        case SettingKey::Type::span:
            return {"90s", "30m", "1h30m"};
        case SettingKey::Type::list:
            return {"[a]", "[b]", "[c]"};
        case SettingKey::Type::map:
            return {"{one: 1}", "{one: 2}", "{one: 3}"};
        default:
            break;
    }
    if (key.values.empty()) { return {"a", "b", "c"}; }
    const auto quoted = [&key](std::size_t index) { return "'" + key.values[std::min(index, key.values.size() - 1)] + "'"; };
    return {quoted(0), quoted(1), quoted(2)};
}

/// `a.*.b: value`, nested, with `x` for each star.
std::string as_file(const SettingKey& key, const std::string& value) {
    std::string text;
    std::string indent;
    for (const std::string& segment : key.segments) {
        text += (text.empty() ? "" : "\n") + indent + (segment == "*" ? "x" : segment) + ":";
        indent += "  ";
    }
    return text + " " + value + "\n";
}

std::string concrete(const SettingKey& key) {
    std::string name = key.name;
    for (std::size_t at = 0; (at = name.find('*', at)) != std::string::npos; ++at) { name[at] = 'x'; }
    return key.type == SettingKey::Type::map ? name + ".one" : name;
}

struct Said {
    std::string in_force;
    bool guarded = false;
    bool refused = false;
    std::string where = {};
};

/// Returns the settings in force if the user sets a key to one value and an untrusted project to another.
Said said(const SettingKey& key, const std::string& user, const std::string& project, bool trusted = false) {
    const Folder folder;
    Settings::Sources sources;
    sources.user_file = folder.write("config.yaml", as_file(key, user));
    sources.project_file = folder.write("settings.yaml", as_file(key, project));
    sources.project_trusted = trusted;
    const auto settings = load(sources);
    Said found{
        .in_force = settings.text(concrete(key)), .guarded = !settings.guarded().empty(), .refused = !settings.refused().empty()};
    if (found.guarded) { found.where = settings.guarded()[0].where; }
    if (found.refused) { found.where = settings.refused()[0].where; }
    return found;
}

/// Returns a value in the form of Settings::text.
std::string alone(const SettingKey& key, const std::string& value) {
    const Folder folder;
    Settings::Sources sources;
    sources.user_file = folder.write("config.yaml", as_file(key, value));
    return load(sources).text(concrete(key));
}

}  // namespace

TEST(SettingsOfAProject, are_used_as_far_as_the_schema_allows_each_key) {
    const SettingsSchema schema = SettingsSchema::load(shipped_config + "/settings_schema.yaml").value();
    for (const SettingKey& key : schema.keys()) {
        SCOPED_TRACE(key.name);
        const auto values = three_values(key);
        const auto lowers = [&] { return said(key, values[1], values[0]); };
        const auto raises = [&] {
            return key.type == SettingKey::Type::boolean ? said(key, values[0], values[1]) : said(key, values[1], values[2]);
        };
        const auto expect_used = [&](const Said& one, const std::string& value) {
            EXPECT_EQ(one.in_force, alone(key, value));
            EXPECT_FALSE(one.guarded || one.refused);
        };
        const auto expect_held = [&](const Said& one, const std::string& value) {
            EXPECT_EQ(one.in_force, alone(key, value));
            EXPECT_TRUE(one.guarded != one.refused);
            EXPECT_THAT(one.where, testing::HasSubstr("settings.yaml:" + std::to_string(key.segments.size())));
        };
        const std::string user_of_raise = key.type == SettingKey::Type::boolean ? values[0] : values[1];
        const std::string raised = key.type == SettingKey::Type::boolean ? values[1] : values[2];
        switch (key.project) {
            case SettingKey::Project::free:
                expect_used(lowers(), values[0]);
                break;
            case SettingKey::Project::trust:
                expect_held(lowers(), values[1]);
                EXPECT_EQ(said(key, values[1], values[0], true).in_force, alone(key, values[0]));
                break;
            case SettingKey::Project::never:
                expect_held(raises(), user_of_raise);
                EXPECT_EQ(said(key, values[0], values[1], true).in_force, alone(key, values[0]));
                break;
            case SettingKey::Project::lower:
                expect_used(lowers(), values[0]);
                expect_held(raises(), user_of_raise);
                EXPECT_EQ(said(key, user_of_raise, raised, true).in_force, alone(key, raised));
                break;
            case SettingKey::Project::higher:
                expect_used(raises(), raised);
                expect_held(lowers(), values[1]);
                EXPECT_EQ(said(key, values[1], values[0], true).in_force, alone(key, values[0]));
                break;
            case SettingKey::Project::more:
                expect_used(said(key, "[a]", "[b]"), "[a, b]");
                expect_used(said(key, "[a]", "[b]", true), "[a, b]");
                expect_used(said(key, "[a]", "[]"), "[a]");
                break;
        }
    }
}

TEST(SettingsOfAProject, have_a_direction_for_every_key_of_the_schema) {
    const Folder folder;
    const auto schema = SettingsSchema::load(folder.write("schema.yaml", "settings:\n  a: {type: string, description: A}\n"));
    EXPECT_EQ(schema.error().code, "AF-CONF-022");
    EXPECT_THAT(schema.error().message, testing::HasSubstr("`project`"));
}

TEST(SettingsOfAProject, that_guard_the_user_are_never_free) {
    const SettingsSchema schema = SettingsSchema::load(shipped_config + "/settings_schema.yaml").value();
    for (const SettingKey& key : schema.keys()) {
        const bool guards = key.name.starts_with("secrets.") || key.name.starts_with("limits.") ||
                            key.name.starts_with("log.level") || key.name.starts_with("mcp_servers.") ||
                            key.name.starts_with("servers.") || key.name == "delivery.sign" || key.name == "delivery.author" ||
                            key.type == SettingKey::Type::command || key.type == SettingKey::Type::map;
        if (guards) { EXPECT_NE(key.project, SettingKey::Project::free) << key.name; }
    }
}

TEST(SettingsOfAProject, are_compared_with_the_default_if_the_user_sets_nothing) {
    const Folder folder;
    Settings::Sources sources;
    sources.project_file =
        folder.write("settings.yaml", "gates: {max_processes: 5000, baseline_runs: 1}\nlog: {levels: {gate: error}}\n");
    sources.project_trusted = false;
    const auto settings = load(sources);
    EXPECT_EQ(settings.integer("gates.max_processes"), 512);
    EXPECT_EQ(settings.integer("gates.baseline_runs"), 2);
    EXPECT_EQ(settings.text("log.levels.gate"), "");
    ASSERT_EQ(settings.guarded().size(), 3U);
    EXPECT_EQ(settings.guarded()[0].holds, json::value(512));
}

TEST(SettingsOfAProject, may_add_a_limit_without_trust) {
    const Folder folder;
    Settings::Sources sources;
    sources.project_file = folder.write("settings.yaml", "limits: {max_tokens: 5000}\n");
    sources.project_trusted = false;
    EXPECT_EQ(load(sources).integer("limits.max_tokens"), 5000);
}

TEST(Settings, a_value_in_a_free_map_has_its_own_origin) {
    EXPECT_THAT(project("plugins:\n  settings:\n    org.example.a:\n      deep: {x: 1}\n")
                    ->origin("plugins.settings.org%2Eexample%2Ea.deep.x")
                    ->where,
                testing::HasSubstr("settings.yaml:4:17"));
}

TEST(Settings, every_setting_is_described) {
    const auto settings = load({});
    for (const auto& key : settings.known()) { EXPECT_FALSE(key.at("description").as_string().empty()); }
}

}  // namespace agentforge::kernel
