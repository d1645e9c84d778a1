// SPDX-License-Identifier: Apache-2.0
// Which model is used, and which may not be.
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "program/project/auto_model.hpp"
#include "program/project/network.hpp"

namespace agentforge::kernel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(const ModelSettings& settings, const std::map<std::string, std::string>& environment = {}) {
    std::vector<std::string> all;
    const auto candidates = model_candidates(settings, environment);
    if (!candidates.ok()) { return {candidates.error().code}; }
    for (const ModelCandidate& one : *candidates) {
        all.push_back(one.name + (one.missing.empty() ? "" : "?") + (one.needs_model ? "!" : ""));
    }
    return all;
}

TEST(AutoModel, tries_keys_then_commands_then_servers_of_this_machine) {
    EXPECT_THAT(names({}, {{"ANTHROPIC_API_KEY", "a"}, {"OPENAI_API_KEY", "b"}}),
                ElementsAre("anthropic", "openai", "claude", "codex", "ollama!", "lm-studio!", "llama.cpp!", "vllm!"));
}

TEST(AutoModel, asks_no_service_whose_key_is_missing) {
    EXPECT_THAT(names({}, {{"OPENAI_API_KEY", ""}}),
                ElementsAre("anthropic?", "openai?", "claude", "codex", "ollama!", "lm-studio!", "llama.cpp!", "vllm!"));
}

TEST(AutoModel, uses_only_the_address_from_the_settings) {
    ModelSettings settings;
    settings.base_url = "http://gpu.lan/v1";
    settings.model = "m";
    EXPECT_THAT(names(settings, {{"ANTHROPIC_API_KEY", "a"}}), ElementsAre("llm.base_url"));
}

TEST(AutoModel, uses_only_the_command_from_the_settings) {
    ModelSettings settings;
    settings.command = {"/opt/answer"};
    EXPECT_THAT(names(settings, {{"ANTHROPIC_API_KEY", "a"}}), ElementsAre("llm.command"));
}

TEST(AutoModel, uses_the_configured_model) {
    ModelSettings settings;
    settings.model = "mine";
    const auto candidates = model_candidates(settings, {{"ANTHROPIC_API_KEY", "a"}}).value();
    for (const ModelCandidate& one : candidates) { EXPECT_EQ(one.settings.model, "mine") << one.name; }
}

TEST(AutoModel, refuses_settings_without_a_backend) {
    ModelSettings settings;
    settings.settings = {{"stream", false}};
    EXPECT_THAT(names(settings), ElementsAre("AF-LLM-002"));
}

class NetworkLocal : public testing::Test {
protected:
    std::string refusal(const std::string& address, const std::string& backend = "openai") const {
        json::object config;
        if (!address.empty()) { config["base_url"] = address; }
        const auto checked = check_network(rule_, backend, config);
        return checked.ok() ? "" : checked.error().code + ": " + checked.error().message;
    }
    NetworkRule rule_{ModelNetwork::local, {"gpu.lan", "10.0.0.5", "fd00::1"}, {}};
};

TEST_F(NetworkLocal, allows_loopback) {
    for (const char* const address : {"http://localhost:11434/v1", "http://127.0.0.1/v1", "https://127.8.9.255:8443",
                                      "http://[::1]:8000/v1", "HTTP://LOCALHOST/V1"}) {
        EXPECT_EQ(refusal(address), "") << address;
    }
}

TEST_F(NetworkLocal, allows_listed_private_hosts) {
    for (const char* const address :
         {"http://gpu.lan:8000/v1", "https://GPU.lan/v1", "http://10.0.0.5/v1", "http://[fd00::1]/v1"}) {
        EXPECT_EQ(refusal(address), "") << address;
    }
}

TEST_F(NetworkLocal, refuses_hosts_that_only_look_local) {
    for (const char* const address : {"https://api.openai.com/v1",
                                      "http://localhost.evil.com/v1",
                                      "http://127.0.0.1.nip.io/v1",
                                      "http://evil.com/localhost",
                                      "http://evil.com:80/@localhost",
                                      "http://localhost@evil.com/",
                                      "http://localhost\\@evil.com/",
                                      "http://evil.com?localhost",
                                      "http://evil.com#localhost",
                                      "http://127.1/",
                                      "http://0x7f.0.0.1/",
                                      "http://2130706433/",
                                      "http://127.0.0.256/",
                                      "http://127.0.0.01/",
                                      "http://0.0.0.0/",
                                      "http://[::ffff:8.8.8.8]/",
                                      "http://[::1",
                                      "http://[::1]x/",
                                      "http://10.0.0.6/",
                                      "http://x.gpu.lan/",
                                      "http://gpu.lan.evil.com/",
                                      "ftp://localhost/",
                                      "localhost:11434",
                                      "",
                                      "http://",
                                      "http://128.0.0.1/",
                                      "http://127.0.0.1.5/"}) {
        EXPECT_THAT(refusal(address), HasSubstr("AF-LLM-003")) << address;
    }
}

TEST_F(NetworkLocal, refuses_the_services_own_address) {
    EXPECT_THAT(refusal("", "anthropic"), HasSubstr("api.anthropic.com"));
    EXPECT_THAT(refusal("", "openai"), HasSubstr("api.openai.com"));
}

TEST_F(NetworkLocal, refuses_backends_with_unknown_addresses) {
    EXPECT_THAT(refusal("", "cli"), HasSubstr("AF-LLM-003"));
    EXPECT_THAT(refusal("http://localhost/v1", "somebody.elses"), HasSubstr("AF-LLM-003"));
}

TEST_F(NetworkLocal, allows_recorded_answers) { EXPECT_EQ(refusal("", "replay"), ""); }

TEST_F(NetworkLocal, refuses_a_proxy_on_the_way_to_a_private_host) {
    rule_.environment = {{"http_proxy", "http://proxy.example.com:3128"}};
    EXPECT_THAT(refusal("http://gpu.lan/v1"), HasSubstr("http_proxy"));
    EXPECT_EQ(refusal("http://localhost/v1"), "");
    rule_.environment["NO_PROXY"] = "other, GPU.lan";
    EXPECT_EQ(refusal("http://gpu.lan/v1"), "");
}

TEST(NetworkNone, allows_recorded_answers_only) {
    const NetworkRule rule{ModelNetwork::none, {"gpu.lan"}, {}};
    EXPECT_TRUE(check_network(rule, "replay", {}).ok());
    for (const char* const backend : {"anthropic", "openai", "cli", "somebody.elses"}) {
        EXPECT_FALSE(check_network(rule, backend, {{"base_url", "http://localhost/v1"}}).ok()) << backend;
    }
}

TEST(NetworkAny, allows_everything) { EXPECT_TRUE(check_network({}, "cli", {}).ok()); }

class NetworkSettings : public testing::Test {
protected:
    ModelNetwork network(const std::string& user, const std::string& project, const std::string& flag = "") {
        Settings::Sources sources;
        sources.user_file = put("user.yaml", user);
        sources.project_file = put("project.yaml", project);
        if (!flag.empty()) { sources.flags = {{"network", flag}}; }
        sources.project_trusted = false;
        const Settings settings = Settings::load(AGENTFORGE_SOURCE_DIR "/config", sources).value();
        return network_rule(settings, {}).network;
    }

private:
    std::string put(const std::string& name, const std::string& text) {
        if (!text.empty()) { EXPECT_TRUE(write_file_atomic(folder_.path() / name, text, Durability::cached).ok()); }
        return (folder_.path() / name).string();
    }
    TemporaryDirectory folder_{"network"};
};

TEST_F(NetworkSettings, an_untrusted_project_may_be_stricter) { EXPECT_EQ(network("", "network: local\n"), ModelNetwork::local); }
TEST_F(NetworkSettings, an_untrusted_project_may_not_be_laxer) {
    EXPECT_EQ(network("network: none\n", "network: any\n"), ModelNetwork::none);
}
TEST_F(NetworkSettings, the_command_line_decides) { EXPECT_EQ(network("", "network: local\n", "any"), ModelNetwork::any); }
TEST_F(NetworkSettings, any_is_the_default) { EXPECT_EQ(network("", ""), ModelNetwork::any); }

}  // namespace
}  // namespace agentforge::kernel
