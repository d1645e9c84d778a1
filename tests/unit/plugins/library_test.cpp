// SPDX-License-Identifier: Apache-2.0
#include "plugins/library.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>

#include "unit/plugins/plugin_folder.hpp"

namespace agentforge::kernel {
namespace {

using test::PluginFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Returns why a plugin with a valid manifest cannot be opened.
Error refusal(const PluginFolder& folder, const std::string& manifest_path) {
    static_cast<void>(folder);
    auto manifest = read_manifest(manifest_path);
    if (!manifest.ok()) { return manifest.error(); }
    auto descriptor = open_library(*manifest);
    return descriptor.ok() ? Error{"it was opened", "", "", "", ErrorKind::internal} : descriptor.error();
}

Error refusal_of(const std::string& built) {
    const PluginFolder folder;
    return refusal(folder,
                   folder.add("a", test::manifest_of("org.agentforge.test.bad", "bad.so", {test::entry("stage", "bad")}), built));
}

TEST(PluginLibrary, good_one_is_opened_once) {
    const PluginFolder folder;
    const auto manifest = read_manifest(folder.add("a", test::good_manifest(), "good/good.so"));
    ASSERT_TRUE(manifest.ok());
    const auto first = open_library(*manifest);
    ASSERT_TRUE(first.ok()) << first.error().to_string();
    EXPECT_EQ(*first, *open_library(*manifest));
}

TEST(PluginLibrary, missing_file_is_not_found) {
    const PluginFolder folder;
    const Error error = refusal(folder, folder.manifest_text("a", json::serialize(test::good_manifest())));
    EXPECT_EQ(error.code, "AF-PLUG-011");
    EXPECT_EQ(error.kind, ErrorKind::not_found);
    EXPECT_EQ(error.where, folder.path() + "/a/good.so");
}

TEST(PluginLibrary, file_that_is_not_elf_is_refused) {
    const PluginFolder folder;
    const std::string manifest = folder.manifest_text("a", json::serialize(test::good_manifest()));
    std::ofstream(folder.path() + "/a/good.so") << "#!/bin/sh\necho I am not a library, and I am longer than an ELF header is\n";
    EXPECT_THAT(refusal(folder, manifest).message, HasSubstr("not a shared library"));
}

TEST(PluginLibrary, empty_file_is_refused) {
    const PluginFolder folder;
    const std::string manifest = folder.manifest_text("a", json::serialize(test::good_manifest()));
    std::ofstream(folder.path() + "/a/good.so") << "";
    EXPECT_EQ(refusal(folder, manifest).code, "AF-PLUG-011");
}

TEST(PluginLibrary, truncated_file_is_refused_at_any_length) {
    for (const std::uintmax_t kept : {20U, 64U, 100U, 4096U, 9000U}) {
        const PluginFolder folder;
        const std::string manifest = folder.add("a", test::good_manifest(), "good/good.so");
        std::filesystem::resize_file(folder.path() + "/a/good.so", kept);
        EXPECT_EQ(refusal(folder, manifest).code, "AF-PLUG-011") << kept;
    }
}

TEST(PluginLibrary, folder_in_its_place_is_refused) {
    const PluginFolder folder;
    const std::string manifest = folder.manifest_text("a", json::serialize(test::good_manifest()));
    std::filesystem::create_directory(folder.path() + "/a/good.so");
    EXPECT_THAT(refusal(folder, manifest).message, HasSubstr("not a regular file"));
}

TEST(PluginLibrary, library_for_another_architecture_is_refused) {
    const PluginFolder folder;
    const std::string manifest = folder.add("a", test::good_manifest(), "good/good.so");
    std::fstream file(folder.path() + "/a/good.so", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4);
    file.put(1);  // ELFCLASS32
    file.close();
    EXPECT_THAT(refusal(folder, manifest).message, HasSubstr("another machine"));
}

TEST(PluginLibrary, without_entry_symbol_is_refused) {
    const Error error = refusal_of("bad/no_entry.so");
    EXPECT_EQ(error.code, "AF-PLUG-013");
    EXPECT_THAT(error.message, HasSubstr("does not export `agentforge_plugin`"));
}

TEST(PluginLibrary, unresolved_symbol_is_named) {
    const Error error = refusal_of("bad/unresolved.so");
    EXPECT_EQ(error.code, "AF-PLUG-011");
    EXPECT_THAT(error.message,
                AllOf(HasSubstr("defined_nowhere"), Not(HasSubstr("Bad file descriptor")), Not(HasSubstr("boost"))));
}

TEST(PluginLibrary, other_build_is_named_beside_this_one) {
    const Error error = refusal_of("bad/other_build.so");
    EXPECT_EQ(error.code, "AF-PLUG-012");
    EXPECT_EQ(error.message,
              std::string("The plugin `org.agentforge.test.bad` was built for AGENTFORGE_0_other, but this host is ") +
                  agentforge_abi_fingerprint());
    EXPECT_THAT(error.remedy, HasSubstr("Rebuild"));
}

TEST(PluginLibrary, other_build_is_refused_before_its_constructors_run) {
    unsetenv("AGENTFORGE_TEST_CONSTRUCTED");
    static_cast<void>(refusal_of("bad/other_build.so"));
    EXPECT_EQ(std::getenv("AGENTFORGE_TEST_CONSTRUCTED"), nullptr);
}

TEST(PluginLibrary, other_compiler_flags_are_refused_even_if_the_library_links) {
    const PluginFolder folder;
    const Error error =
        refusal(folder, folder.add("a", test::manifest_of("org.agentforge.test.flags", "bad.so", {test::entry("stage", "flags")}),
                                   "bad/other_flags.so"));
    EXPECT_EQ(error.code, "AF-PLUG-012");
    EXPECT_THAT(error.message, HasSubstr("_dbg1_"));
}

TEST(PluginLoadFailure, missing_library_is_named) {
    PluginManifest manifest;
    manifest.id = "a.b";
    const Error error = explain_load_failure(
        "boost::dll::shared_library::load() failed (dlerror system message: libfoo.so.3: cannot open shared object file: No such file or directory): Bad file descriptor",
        manifest);
    EXPECT_EQ(error.message, "The plugin library cannot be opened: it needs the library `libfoo.so.3`, which is not installed");
}

TEST(PluginLoadFailure, strips_only_the_misleading_end_of_an_unknown_message) {
    PluginManifest manifest;
    const Error error = explain_load_failure(
        "boost::dll::shared_library::load() failed (dlerror system message: no (such) luck): Bad file descriptor", manifest);
    EXPECT_EQ(error.message, "The plugin library cannot be opened: no (such) luck");
}

/// A descriptor that matches its manifest, for tests that change one field.
struct Descriptor {
    std::array<AgentforgeFactory, 1> factories{
        AgentforgeFactory{sizeof(AgentforgeFactory), static_cast<std::uint32_t>(PluginKind::tool), tool_interface_version, "t",
                          [](const char*, char*, std::size_t) -> void* { return nullptr; }, [](void*) {}}};
    AgentforgeDescriptor value{sizeof(AgentforgeDescriptor),
                               AGENTFORGE_ABI_VERSION,
                               AGENTFORGE_ABI_FINGERPRINT,
                               AGENTFORGE_ABI_FINGERPRINT,
                               "a.b",
                               "1.0.0",
                               "MIT",
                               factories.data(),
                               1};
    PluginManifest manifest = [] {
        PluginManifest made;
        made.id = "a.b";
        made.version = "1.0.0";
        made.licence = "MIT";
        made.provides = {{PluginKind::tool, "t"}};
        return made;
    }();
    [[nodiscard]] std::string verdict() const {
        const auto checked = check_descriptor(&value, manifest);
        return checked.ok() ? "accepted" : checked.error().code;
    }
};

TEST(PluginDescriptor, matching_the_manifest_is_accepted) { EXPECT_EQ(Descriptor().verdict(), "accepted"); }
TEST(PluginDescriptor, null_is_refused) {
    EXPECT_EQ(check_descriptor(nullptr, Descriptor().manifest).error().code, "AF-PLUG-014");
}

struct Spoiled {
    const char* name;
    void (*spoil)(Descriptor&);
    const char* code;
};
class PluginDescriptorSpoiled : public testing::TestWithParam<Spoiled> {};

TEST_P(PluginDescriptorSpoiled, is_refused) {
    Descriptor descriptor;
    GetParam().spoil(descriptor);
    EXPECT_EQ(descriptor.verdict(), GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(
    PluginDescriptor, PluginDescriptorSpoiled,
    testing::Values(
        Spoiled{"other_abi_version", [](Descriptor& d) { d.value.abi_version = 2; }, "AF-PLUG-012"},
        Spoiled{"other_size", [](Descriptor& d) { d.value.size = 8; }, "AF-PLUG-012"},
        Spoiled{"no_fingerprint", [](Descriptor& d) { d.value.fingerprint = nullptr; }, "AF-PLUG-012"},
        Spoiled{"other_linked_fingerprint", [](Descriptor& d) { d.value.linked_fingerprint = "AGENTFORGE_0"; }, "AF-PLUG-012"},
        Spoiled{"wrong_id", [](Descriptor& d) { d.value.id = "a.c"; }, "AF-PLUG-014"},
        Spoiled{"no_id", [](Descriptor& d) { d.value.id = nullptr; }, "AF-PLUG-014"},
        Spoiled{"wrong_version", [](Descriptor& d) { d.value.version = "1.0.1"; }, "AF-PLUG-014"},
        Spoiled{"wrong_licence", [](Descriptor& d) { d.value.licence = "GPL"; }, "AF-PLUG-014"},
        Spoiled{"one_factory_too_few", [](Descriptor& d) { d.value.factory_count = 0; }, "AF-PLUG-014"},
        Spoiled{"no_factories", [](Descriptor& d) { d.value.factories = nullptr; }, "AF-PLUG-014"},
        Spoiled{"wrong_kind", [](Descriptor& d) { d.factories[0].kind = 1; }, "AF-PLUG-014"},
        Spoiled{"unknown_kind", [](Descriptor& d) { d.factories[0].kind = 99; }, "AF-PLUG-014"},
        Spoiled{"wrong_name", [](Descriptor& d) { d.factories[0].name = "u"; }, "AF-PLUG-014"},
        Spoiled{"no_name", [](Descriptor& d) { d.factories[0].name = nullptr; }, "AF-PLUG-014"},
        Spoiled{"no_create", [](Descriptor& d) { d.factories[0].create = nullptr; }, "AF-PLUG-014"},
        Spoiled{"wrong_factory_size", [](Descriptor& d) { d.factories[0].size = 1; }, "AF-PLUG-014"},
        Spoiled{"wrong_interface_version", [](Descriptor& d) { d.factories[0].interface_version = 2; }, "AF-PLUG-015"}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace agentforge::kernel
