// SPDX-License-Identifier: Apache-2.0
// Which model a role uses, and which settings it takes from `llm:`.
#include "program/project/model_settings.hpp"
#include "config/settings.hpp"
#include "unit/config/fixtures.hpp"

namespace agentforge::kernel {
namespace {

ModelSettings of(const std::string& role, const std::string& text) {
    const Folder folder;
    Settings::Sources sources;
    sources.project_file = folder.write("settings.yaml", text);
    auto loaded = Settings::load(shipped_config, sources);
    if (!loaded.ok()) {
        ADD_FAILURE() << loaded.error().to_string();
        return {};
    }
    return read_model_settings(loaded.value(), role);
}

constexpr const char* service =
    "llm: {backend: openai, base_url: 'http://one:1/v1', api_key_env: ONE_KEY, model: big, timeout_seconds: 60, settings: {stream: false}}\n";

TEST(ModelSettings, a_role_without_settings_inherits_those_of_llm) { EXPECT_EQ(of("tester", service), of("", service)); }

TEST(ModelSettings, a_role_may_override_each_key) {
    const ModelSettings own =
        of("tester", std::string(service) +
                         "agents: {tester: {llm: {model: small, timeout_seconds: 9, max_output_tokens: 77, api_key_env: MINE, "
                         "record: r.yaml, replay: {match: strict}, settings: {max_tokens: 5}}}}\n");
    EXPECT_EQ(std::tuple(own.model, own.timeout_seconds, own.max_output_tokens, own.api_key_env, own.record, own.replay_match),
              std::tuple(std::string("small"), 9, 77, std::string("MINE"), std::string("r.yaml"), std::string("strict")));
    EXPECT_EQ(own.base_url, "http://one:1/v1");
    EXPECT_EQ(own.settings, (json::object{{"stream", false}, {"max_tokens", 5}}));
}

TEST(ModelSettings, a_role_with_another_backend_inherits_no_service_settings) {
    const ModelSettings own = of("tester", std::string(service) + "agents: {tester: {llm: {backend: anthropic}}}\n");
    EXPECT_EQ(std::tuple(own.backend, own.base_url, own.api_key_env, own.model, own.settings.size()),
              std::tuple(std::string("anthropic"), std::string(), std::string(), std::string(), 0U));
    EXPECT_EQ(own.timeout_seconds, 60);
}

TEST(ModelSettings, the_key_of_one_server_does_not_go_to_another) {
    const ModelSettings own = of("tester", std::string(service) + "agents: {tester: {llm: {base_url: 'http://two:2/v1'}}}\n");
    EXPECT_EQ(std::pair(own.base_url, own.api_key_env), std::pair(std::string("http://two:2/v1"), std::string()));
}

/// Returns the settings for the backend that the command line names, if the user's own file contains `user`.
json::object handed_to(const std::string& backend, const std::string& user) {
    const Folder folder;
    Settings::Sources sources;
    sources.user_file = folder.write("user.yaml", user);
    sources.flags = {{"llm.backend", backend}};
    return read_model_settings(Settings::load(shipped_config, sources).value(), "tester").settings;
}

TEST(ModelSettings, of_one_backend_are_not_passed_to_another_chosen_for_this_run) {
    EXPECT_EQ(handed_to("replay", "llm: {backend: openai, settings: {stream: false, headers: {a: b}}}\n"), json::object());
    EXPECT_EQ(handed_to("replay", "llm: {settings: {stream: false}}\n"), json::object());
    EXPECT_EQ(handed_to("anthropic", "llm: {backend: openai, settings: {stream: false}}\n"), json::object());
    EXPECT_EQ(handed_to("replay", "agents: {tester: {llm: {settings: {stream: false}}}}\n"), json::object());
}

TEST(ModelSettings, are_kept_if_the_same_backend_is_named_again) {
    EXPECT_EQ(handed_to("openai", "llm: {backend: openai, settings: {stream: false}}\n"), (json::object{{"stream", false}}));
    EXPECT_EQ(handed_to("openai", "llm: {settings: {stream: false}}\n"), (json::object{{"stream", false}}));
    EXPECT_EQ(handed_to("replay", "agents: {tester: {llm: {backend: openai, settings: {stream: false}}}}\n"),
              (json::object{{"stream", false}}));
}

/// Returns the key that a role misses in an untrusted project. Empty: none.
std::string missed(const std::string& project, const std::string& user = "",
                   std::vector<std::pair<std::string, std::string>> flags = {}, const std::string& role = "") {
    const Folder folder;
    Settings::Sources sources;
    sources.project_file = folder.write("settings.yaml", project);
    sources.user_file = folder.write("user.yaml", user);
    sources.flags = std::move(flags);
    sources.project_trusted = false;
    const Settings settings = Settings::load(shipped_config, sources).value();
    const GuardedSetting* const setting = missed_by_model(settings, settings.guarded(), role);
    return setting == nullptr ? "" : setting->key;
}

TEST(ModelSettingsMissed, include_a_server_that_an_untrusted_project_names) {
    EXPECT_EQ(missed("llm: {backend: openai, base_url: 'http://one:1/v1', model: x}\n"), "llm.base_url");
    EXPECT_EQ(missed("llm: {backend: auto, base_url: 'http://one:1/v1'}\n"), "llm.base_url");
    EXPECT_EQ(missed("llm: {base_url: 'http://one:1/v1'}\n", "llm: {backend: openai}\n"), "llm.base_url");
    EXPECT_EQ(missed("llm: {backend: openai, settings: {base_url: 'http://one:1/v1'}}\n"), "llm.settings.base_url");
}

TEST(ModelSettingsMissed, include_the_key_and_command_of_an_untrusted_project) {
    EXPECT_EQ(missed("llm: {backend: anthropic, api_key_env: TEAM_KEY}\n"), "llm.api_key_env");
    EXPECT_EQ(missed("llm: {backend: cli, preset: claude, command: [ours]}\n"), "llm.command");
}

TEST(ModelSettingsMissed, are_none_if_the_user_sets_them_for_this_run) {
    const std::string project = "llm: {backend: openai, base_url: 'http://one:1/v1', command: ours}\n";
    EXPECT_EQ(missed(project, "", {{"llm.base_url", "http://mine:1/v1"}}), "");
    EXPECT_EQ(missed(project, "", {{"llm.backend", "replay"}}), "");
    EXPECT_EQ(missed(project, "", {{"llm.backend", "cli"}, {"llm.preset", "claude"}}), "");
    EXPECT_EQ(missed(project, "", {{"llm.backend", "openai"}}), "llm.base_url");
}

TEST(ModelSettingsMissed, are_none_if_the_users_file_sets_them_all) {
    const std::string user = "llm: {backend: openai, base_url: 'http://mine:1/v1'}\n";
    EXPECT_EQ(missed("llm: {base_url: 'http://one:1/v1'}\n", user), "");
    EXPECT_EQ(missed("llm: {backend: anthropic, base_url: 'http://one:1/v1'}\n", user), "llm.base_url");
    EXPECT_EQ(missed("llm: {backend: openai, base_url: 'http://mine:1/v1'}\n", user), "");
}

TEST(ModelSettingsMissed, are_those_the_role_sets_or_inherits) {
    const std::string project =
        "llm: {backend: openai, base_url: 'http://one:1/v1'}\nagents: {tester: {llm: {model: y}}, reviewer: {llm: {backend: anthropic}}, "
        "driver: {llm: {backend: anthropic, base_url: 'http://two:2'}}}\n";
    EXPECT_EQ(missed(project, "", {}, "tester"), "llm.base_url");
    EXPECT_EQ(missed(project, "", {}, "reviewer"), "");
    EXPECT_EQ(missed(project, "", {}, "driver"), "agents.driver.llm.base_url");
}

TEST(ModelSettings, a_role_may_have_its_own_command) {
    EXPECT_EQ(of("tester", "agents: {tester: {llm: {backend: cli, command: [answer, --fast]}}}\n").command,
              (std::vector<std::string>{"answer", "--fast"}));
}

}  // namespace
}  // namespace agentforge::kernel
