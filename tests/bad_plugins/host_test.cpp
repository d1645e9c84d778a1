// SPDX-License-Identifier: Apache-2.0
// Faulty plugins in the host itself: it says one sentence and stands. Crashes, hangs and exits at load are not here: in-process
// plugins are trusted code, and `plugins check` (test_plugins_check.py) is what meets those first.
#include <agentforge/testing/fake_host.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/files.hpp"
#include "plugins/plugin_registry.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* id = "org.agentforge.test.faulty";

std::string folder_of(const std::string& fault) { return std::string(FAULTY_PLUGINS) + "/" + fault; }

PluginRegistry discover(std::vector<std::string> folders) {
    PluginSearch search;
    search.configured = std::move(folders);
    return PluginRegistry::discover(search);
}

std::shared_ptr<Tool> tool_of(const std::string& fault) {
    PluginRegistry registry = discover({folder_of(fault)});
    auto tool = registry.tool("faulty");
    EXPECT_TRUE(tool.ok()) << tool.error().to_string();
    return tool.ok() ? *tool : nullptr;
}

struct Refusal {
    const char* fault;
    const char* code;
    const char* message;
    const char* remedy;
};

class PluginRefusedByTheHost : public ::testing::TestWithParam<Refusal> {};

TEST_P(PluginRefusedByTheHost, with_file_found_expected_and_what_to_do) {
    PluginRegistry registry = discover({folder_of(GetParam().fault)});
    ASSERT_TRUE(registry.problems().empty()) << registry.problems().front().to_string();
    const auto tool = registry.tool("faulty");
    ASSERT_FALSE(tool.ok());
    EXPECT_EQ(tool.error().code, GetParam().code);
    EXPECT_THAT(tool.error().message, HasSubstr(GetParam().message));
    EXPECT_EQ(tool.error().where, folder_of(GetParam().fault) + "/" + GetParam().fault + ".so");
    EXPECT_THAT(tool.error().remedy, HasSubstr(GetParam().remedy));
}

INSTANTIATE_TEST_SUITE_P(
    Faulty, PluginRefusedByTheHost,
    ::testing::Values(
        Refusal{"no_symbol", "AF-PLUG-013",
                "The library of plugin `org.agentforge.test.faulty` does not export `agentforge_plugin`",
                "Put AGENTFORGE_PLUGIN(…)"},
        Refusal{"symbol_is_data", "AF-PLUG-013",
                "The symbol `agentforge_plugin` of plugin `org.agentforge.test.faulty` is data, but it must be a function",
                "Put AGENTFORGE_PLUGIN(…)"},
        Refusal{"unresolved", "AF-PLUG-011",
                "it needs the symbol `_Z15defined_nowherei`, which neither it nor its libraries define",
                "Link the plugin with -Wl,-z,defs"},
        Refusal{"missing_library", "AF-PLUG-011", "it needs the library `libagentforge-test-gone.so`, which is not installed",
                "Install that library"},
        Refusal{"older_abi", "AF-PLUG-012", "was built for SDK ABI 0, but this host has SDK ABI 1", "Rebuild the plugin"},
        Refusal{"newer_abi", "AF-PLUG-012", "was built for SDK ABI 2, but this host has SDK ABI 1", "Install a newer AgentForge"},
        Refusal{
            "other_fingerprint", "AF-PLUG-012",
            "was built for AGENTFORGE_1_libstdcxx99_cxx11abi1_gxxabi1017_boost1_81_dbg0_sanNone, but this host is AGENTFORGE_1_",
            "Rebuild the plugin"},
        Refusal{"wrong_size", "AF-PLUG-012", "has 72 bytes, but that of SDK ABI 1 has 64", "Rebuild the plugin"},
        Refusal{"null_descriptor", "AF-PLUG-014", "returned null, but it must return a descriptor",
                "Define the entry with AGENTFORGE_PLUGIN(…)"},
        Refusal{"null_id", "AF-PLUG-014", "differ in the id: the library says nothing", "agree, and rebuild"},
        Refusal{"null_factories", "AF-PLUG-014", "there are no factories (null)", "agree, and rebuild"},
        Refusal{"no_factories", "AF-PLUG-014", "the library says 0, the manifest 1", "agree, and rebuild"},
        Refusal{"huge_factory_count", "AF-PLUG-014", "the library says 4294967295, the manifest 1", "agree, and rebuild"},
        Refusal{"wrong_factory_size", "AF-PLUG-014",
                "Factory 0 of plugin `org.agentforge.test.faulty` has 32 bytes, but it must have 40",
                "agentforge::provides_tool"},
        Refusal{"null_name", "AF-PLUG-014", "has no name (null), but it must have one", "agentforge::provides_tool"},
        Refusal{"null_create", "AF-PLUG-014", "has no create function (null), but it must have one", "agentforge::provides_tool"},
        Refusal{"unknown_kind", "AF-PLUG-014", "it provides `faulty` of the unknown kind 99", "agree, and rebuild"},
        Refusal{"other_interface_version", "AF-PLUG-015", "has version 99 of its interface, but this host takes version 1",
                "Install a newer AgentForge"},
        Refusal{"failing_init", "AF-PLUG-016", "could not make its tool `faulty`: the moon is not full", "Correct its settings"},
        Refusal{"silent_init", "AF-PLUG-016", "could not make its tool `faulty`: it gave no reason",
                "report it to the plugin's author"},
        Refusal{"throw_in_create", "AF-PLUG-016", "could not make its tool `faulty`: no exception may leave",
                "report it to the plugin's author"},
        Refusal{"throw_in_spec", "AF-PLUG-020", "/throw_in_spec.so threw in spec() of its tool `faulty`: no words for it",
                "Report it to the plugin's author"},
        Refusal{"other_name", "AF-PLUG-017", "provides the tool `faulty`, but its spec() says `somebody_else`",
                "Report it to the plugin's author"}),
    [](const auto& row) { return std::string(row.param.fault); });

TEST(PluginHostStands, when_a_call_throws) {
    agentforge::testing::FakeToolContext context;
    const auto result = tool_of("throw_in_call")->call({}, context);
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->code, "AF-PLUG-020");
    EXPECT_EQ(result.error->message, std::string("The plugin `") + id + "` in " + folder_of("throw_in_call") +
                                         "/throw_in_call.so threw in call() of its tool `faulty`: no exception may leave");
}

TEST(PluginHostStands, when_a_call_throws_an_int) {
    agentforge::testing::FakeToolContext context;
    EXPECT_EQ(tool_of("throw_int")->call({}, context).error->message,
              std::string("The plugin `") + id + "` in " + folder_of("throw_int") +
                  "/throw_int.so threw in call() of its tool `faulty`: something that is not a std::exception");
}

TEST(PluginHostStands, when_destroy_throws) {
    auto tool = tool_of("throw_in_destroy");
    ASSERT_NE(tool, nullptr);
    EXPECT_NO_THROW(tool.reset());
}

TEST(PluginHostStands, when_a_result_has_memory_of_its_own) {
    agentforge::testing::FakeToolContext context;
    EXPECT_TRUE(tool_of("own_memory")->call({}, context).success);
}

/// A copy of the plugin without a fault, to spoil its files.
class PluginFilesFaulty : public ::testing::Test {
protected:
    PluginFilesFaulty() { fs::copy(folder_of("good"), folder_.path() / "good"); }
    [[nodiscard]] std::string good() const { return (folder_.path() / "good").string(); }
    void manifest(const std::string& text) const { std::ofstream(good() + "/plugin.json") << text; }
    void manifest(const std::string& field, const json::value& value) const {
        json::value whole = json::parse(read_file(good() + "/plugin.json").value());
        whole.as_object()[field] = value;
        manifest(json::serialize(whole));
    }
    [[nodiscard]] Error refusal() const {
        PluginRegistry registry = discover({good()});
        if (!registry.problems().empty()) { return registry.problems().front(); }
        const auto tool = registry.tool("faulty");
        return tool.ok() ? Error{} : tool.error();
    }

    TemporaryDirectory folder_{"faulty"};
};

TEST_F(PluginFilesFaulty, that_are_whole_load) { EXPECT_EQ(refusal().code, ""); }

TEST_F(PluginFilesFaulty, truncated_library) {
    fs::resize_file(good() + "/good.so", 9000);
    EXPECT_EQ(refusal().message, "The plugin library cannot be opened: it is truncated at 9000 bytes");
}

TEST_F(PluginFilesFaulty, library_that_is_not_elf) {
    std::ofstream(good() + "/good.so")
        << "#!/bin/sh\necho I am not a library, and I am longer than an ELF header is, which has 64 bytes\n";
    EXPECT_EQ(refusal().message, "The plugin library cannot be opened: it is not a shared library (no ELF header)");
}

TEST_F(PluginFilesFaulty, missing_library) {
    fs::remove(good() + "/good.so");
    EXPECT_EQ(refusal().code, "AF-PLUG-011");
}

TEST_F(PluginFilesFaulty, missing_manifest_is_no_plugin) {
    fs::remove(good() + "/plugin.json");
    EXPECT_EQ(refusal().code, "AF-PLUG-010");
}

TEST_F(PluginFilesFaulty, manifest_that_is_not_json) {
    manifest("{\n  \"id\": ,\n}");
    EXPECT_EQ(refusal().code, "AF-PLUG-002");
    EXPECT_THAT(refusal().where, HasSubstr(good() + "/plugin.json:2"));
}

TEST_F(PluginFilesFaulty, manifest_that_lies_about_the_id) {
    manifest("id", "org.example.another");
    EXPECT_THAT(refusal().message,
                HasSubstr("differ in the id: the library says `org.agentforge.test.faulty`, the manifest `org.example.another`"));
}

TEST_F(PluginFilesFaulty, manifest_that_lies_about_the_kind) {
    manifest("provides", json::array{json::object{{"kind", "tool"}, {"name", "faulty"}},
                                     json::object{{"kind", "stage"}, {"name", "faulty"}}});
    EXPECT_THAT(refusal().message, HasSubstr("differ in the number of things provided: the library says 1, the manifest 2"));
}

TEST_F(PluginFilesFaulty, two_plugins_of_one_id_are_told_with_both_folders) {
    fs::copy(good(), folder_.path() / "again");
    const PluginRegistry registry = discover({good(), (folder_.path() / "again").string()});
    ASSERT_FALSE(registry.problems().empty());
    const Error error = registry.problems().front();
    EXPECT_EQ(error.code, "AF-PLUG-009");
    EXPECT_THAT(error.to_string(),
                ::testing::AllOf(HasSubstr(good()), HasSubstr((folder_.path() / "again").string()), HasSubstr(id)));
}

}  // namespace
}  // namespace agentforge::kernel
