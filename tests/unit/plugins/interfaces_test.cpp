// SPDX-License-Identifier: Apache-2.0
// The example of docs/adr/0011-interfaces-are-versioned-one-by-one.md: `ToolV2` beside `Tool`, with two built plugins.
#include <gmock/gmock.h>

#include "plugins/library.hpp"
#include "unit/plugins/interfaces/tool_v2.hpp"
#include "unit/plugins/plugin_folder.hpp"
#include "unit/sdk/fake_context.hpp"

namespace agentforge::kernel {
namespace {

using agentforge::test::FakeContext;
using test::PluginFolder;
using testing::AllOf;
using testing::HasSubstr;

/// The host's way down: while the kernel works with Tool, a ToolV2 is used as one.
std::shared_ptr<Tool> new_as_old(std::shared_ptr<void> object) {
    Tool* const pointer = static_cast<example::ToolV2*>(object.get());
    return {std::move(object), pointer};
}

/// The host's way up: when the kernel works with ToolV2, an old tool has no description of its calls.
class OldAsNew final : public example::ToolV2 {
public:
    explicit OldAsNew(std::shared_ptr<Tool> tool) : tool_(std::move(tool)) {}
    ToolSpec spec() const override { return tool_->spec(); }
    ToolResult call(const json::object& arguments, ToolContext& context) override { return tool_->call(arguments, context); }
    ToolResult preview(const json::object&, ToolContext&) override { return ToolResult::done("cannot tell", "not previewed"); }

private:
    std::shared_ptr<Tool> tool_;
};

class InterfaceVersion : public testing::Test {
protected:
    void SetUp() override {
        folder.add("tool/old", test::manifest_of("org.agentforge.test.old", "old.so", {test::entry("tool", "old_tool")}),
                   "bad/old.so");
        folder.add("tool/new", test::manifest_of("org.agentforge.test.new", "new.so", {test::entry("tool", "new_tool")}),
                   "bad/new.so");
        registry = folder.discover();
    }
    PluginFolder folder;
    PluginRegistry registry;
    FakeContext context;
};

TEST_F(InterfaceVersion, too_new_is_refused_with_found_and_supported_versions_and_a_remedy) {
    const auto tool = registry.tool("new_tool");
    ASSERT_FALSE(tool.ok());
    EXPECT_EQ(tool.error().code, "AF-PLUG-015");
    EXPECT_THAT(tool.error().message, AllOf(HasSubstr("version 2 of its interface"), HasSubstr("takes version 1")));
    EXPECT_EQ(tool.error().where, folder.path() + "/tool/new/new.so");
    EXPECT_THAT(tool.error().remedy, HasSubstr("newer AgentForge"));
}

TEST_F(InterfaceVersion, too_new_leaves_other_plugins_usable) {
    ASSERT_FALSE(registry.tool("new_tool").ok());
    EXPECT_EQ((*registry.tool("old_tool"))->call({}, context).output, "old work");
}

TEST_F(InterfaceVersion, old_and_new_are_used_side_by_side) {
    registry.interfaces().tool.add(example::tool_interface_version, new_as_old);
    EXPECT_EQ((*registry.tool("old_tool"))->call({}, context).output, "old work");
    EXPECT_EQ((*registry.tool("new_tool"))->call({}, context).output, "new work");
}

TEST_F(InterfaceVersion, no_longer_supported_is_refused_and_names_the_newer_one) {
    Interfaces interfaces;
    interfaces.tool = {};
    interfaces.tool.add(example::tool_interface_version, new_as_old);
    registry.interfaces() = interfaces;
    const auto tool = registry.tool("old_tool");
    ASSERT_FALSE(tool.ok());
    EXPECT_THAT(tool.error().message, AllOf(HasSubstr("version 1 of its interface"), HasSubstr("takes version 2")));
    EXPECT_THAT(tool.error().remedy, HasSubstr("newer version of the plugin"));
}

/// A newer host, whose kernel works with ToolV2.
class InterfaceNewHost : public InterfaceVersion {
protected:
    InterfaceNewHost() {
        versions.add(agentforge::tool_interface_version, [](std::shared_ptr<void> object) -> std::shared_ptr<example::ToolV2> {
            return std::make_shared<OldAsNew>(InterfaceVersions<Tool>::as_it_is(std::move(object)));
        });
        versions.add(example::tool_interface_version, InterfaceVersions<example::ToolV2>::as_it_is);
        accepted.tool.add(example::tool_interface_version, new_as_old);
    }
    [[nodiscard]] std::shared_ptr<example::ToolV2> make(const std::string& name) const {
        const auto manifest = read_manifest(folder.path() + "/tool/" + name + "/plugin.json");
        const auto descriptor = open_library(*manifest, accepted);
        if (!descriptor.ok()) { return nullptr; }
        const AgentforgeFactory& factory = (*descriptor)->factories[0];
        return versions.adapt(factory.interface_version, std::shared_ptr<void>(factory.create("", nullptr, 0), factory.destroy));
    }
    InterfaceVersions<example::ToolV2> versions;
    Interfaces accepted;
};

TEST_F(InterfaceNewHost, uses_new_functions_of_a_new_plugin) {
    const auto tool = make("new");
    ASSERT_NE(tool, nullptr);
    EXPECT_EQ(tool->preview({}, context).output, "would do new work");
    EXPECT_EQ(tool->call({}, context).output, "new work");
}

TEST_F(InterfaceNewHost, uses_defaults_for_new_functions_missing_in_an_old_binary) {
    const auto tool = make("old");
    ASSERT_NE(tool, nullptr);
    EXPECT_EQ(tool->preview({}, context).output, "cannot tell");
    EXPECT_EQ(tool->call({}, context).output, "old work");
    EXPECT_EQ(tool->spec().name, "old_tool");
}

TEST_F(InterfaceNewHost, names_all_versions_it_supports) { EXPECT_EQ(versions.words(), "1 and 2"); }

}  // namespace
}  // namespace agentforge::kernel
