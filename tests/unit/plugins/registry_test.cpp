// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/plugins/plugin_folder.hpp"
#include "unit/sdk/fake_context.hpp"

namespace agentforge::kernel {
namespace {

using agentforge::test::FakeContext;
using test::PluginFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class PluginLoading : public testing::Test {
protected:
    void SetUp() override { folder.add("stage/good", test::good_manifest(), "good/good.so"); }
    PluginFolder folder;
    FakeContext context;
};

TEST_F(PluginLoading, is_discovered_without_being_opened) {
    std::filesystem::remove(folder.path() + "/stage/good/good.so");
    const PluginRegistry registry = folder.discover();
    EXPECT_THAT(registry.problems(), IsEmpty());
    EXPECT_THAT(registry.names(PluginKind::tool), ElementsAre("good_tool"));
    EXPECT_TRUE(registry.has(PluginKind::stage, "good_stage"));
    EXPECT_FALSE(registry.has(PluginKind::tool, "good_stage"));
}

TEST_F(PluginLoading, stage_runs_with_its_settings) {
    PluginRegistry registry = folder.discover();
    const auto stage = registry.stage("good_stage", {{"depth", 3}});
    ASSERT_TRUE(stage.ok()) << stage.error().to_string();
    EXPECT_EQ(*run_stage(**stage, context).artifact, (json::object{{"greeting", "hello"}, {"config", {{"depth", 3}}}}));
}

TEST_F(PluginLoading, tool_is_called) {
    PluginRegistry registry = folder.discover();
    const auto tool = registry.tool("good_tool");
    ASSERT_TRUE(tool.ok()) << tool.error().to_string();
    EXPECT_EQ((*tool)->call({{"word", "hi"}}, context).output, R"({"word":"hi"})");
}

TEST_F(PluginLoading, backend_completes_and_has_the_default_check) {
    PluginRegistry registry = folder.discover();
    const auto backend = registry.backend("good_llm");
    ASSERT_TRUE(backend.ok()) << backend.error().to_string();
    CompletionRequest request;
    request.user = "hello";
    EXPECT_EQ((*backend)->complete(request, nullptr, static_cast<StageContext&>(context))->text, "hello");
    EXPECT_THAT(*(*backend)->check(static_cast<StageContext&>(context)), HasSubstr("good_llm"));
}

TEST_F(PluginLoading, escalation_handler_answers) {
    PluginRegistry registry = folder.discover();
    const auto handler = registry.escalation("good_escalation");
    ASSERT_TRUE(handler.ok()) << handler.error().to_string();
    ApprovalRequest request;
    request.artifact_hash = "abc";
    const auto approval = (*handler)->wait_for_approval(request, static_cast<StageContext&>(context));
    EXPECT_EQ(approval->value().artifact_hash, "abc");
}

TEST_F(PluginLoading, refused_settings_quote_the_plugins_message) {
    PluginRegistry registry = folder.discover();
    const auto stage = registry.stage("good_stage", {{"refuse", true}});
    ASSERT_FALSE(stage.ok());
    EXPECT_EQ(stage.error().code, "AF-PLUG-016");
    EXPECT_THAT(stage.error().message, HasSubstr("`refuse` is not a setting of good_stage"));
}

TEST_F(PluginLoading, object_outlives_the_registry) {
    std::shared_ptr<Tool> tool;
    {
        PluginRegistry registry = folder.discover();
        tool = *registry.tool("good_tool");
    }
    EXPECT_TRUE(tool->call({}, context).success);
}

TEST_F(PluginLoading, unknown_name_gets_the_nearest) {
    PluginRegistry registry = folder.discover();
    const auto stage = registry.stage("god_stage");
    ASSERT_FALSE(stage.ok());
    EXPECT_EQ(stage.error().code, "AF-PLUG-010");
    EXPECT_EQ(stage.error().remedy, "Did you mean `good_stage`?");
}

TEST_F(PluginLoading, manifest_that_disagrees_is_refused_on_first_use) {
    json::object manifest = test::good_manifest();
    manifest["id"] = "org.agentforge.test.other";
    folder.add("stage/good", manifest, "good/good.so");
    PluginRegistry registry = folder.discover();
    const auto stage = registry.stage("good_stage");
    ASSERT_FALSE(stage.ok());
    EXPECT_EQ(stage.error().code, "AF-PLUG-014");
}

TEST_F(PluginLoading, is_found_beside_a_broken_plugin) {
    folder.manifest_text("a_broken", "{");
    const PluginRegistry registry = folder.discover();
    EXPECT_THAT(registry.plugins(), SizeIs(1));
    ASSERT_THAT(registry.problems(), SizeIs(1));
    EXPECT_EQ(registry.problems()[0].code, "AF-PLUG-002");
}

TEST_F(PluginLoading, in_two_folders_is_taken_from_the_first_and_both_are_named) {
    const PluginFolder second;
    json::object manifest = test::manifest_of("org.agentforge.test.second", "good.so",
                                              {test::entry("stage", "good_stage"), test::entry("stage", "mine")});
    second.add("b", manifest, "good/good.so");
    PluginSearch search;
    search.configured = {folder.path()};
    search.environment = second.path();
    PluginRegistry registry = PluginRegistry::discover(search);
    ASSERT_THAT(registry.problems(), SizeIs(1));
    EXPECT_EQ(registry.problems()[0].code, "AF-PLUG-007");
    EXPECT_THAT(registry.problems()[0].message,
                AllOf(HasSubstr("org.agentforge.test.second"), HasSubstr("org.agentforge.test.good")));
    EXPECT_THAT(registry.names(PluginKind::stage), ElementsAre("good_stage", "mine"));
    EXPECT_TRUE(registry.stage("good_stage").ok());
}

TEST_F(PluginLoading, folder_named_twice_is_visited_once) {
    PluginSearch search;
    search.environment = folder.path() + "::" + folder.path() + "/";
    search.product = folder.path();
    const PluginRegistry registry = PluginRegistry::discover(search);
    EXPECT_THAT(registry.plugins(), SizeIs(1));
    EXPECT_THAT(registry.problems(), IsEmpty());
}

TEST(PluginSearch, relative_folder_is_never_searched) {
    PluginSearch search;
    search.environment = "plugins";
    const PluginRegistry registry = PluginRegistry::discover(search);
    ASSERT_THAT(registry.problems(), SizeIs(1));
    EXPECT_EQ(registry.problems()[0].code, "AF-PLUG-008");
    EXPECT_EQ(registry.problems()[0].kind, ErrorKind::denied);
}

TEST(PluginSearch, missing_folder_is_named) {
    PluginSearch search;
    search.configured = {"/nonexistent/plugins"};
    const PluginRegistry registry = PluginRegistry::discover(search);
    ASSERT_THAT(registry.problems(), SizeIs(1));
    EXPECT_EQ(registry.problems()[0].where, "/nonexistent/plugins");
}

TEST(PluginSearch, folder_without_manifest_holds_no_plugin) {
    const PluginFolder folder;
    std::filesystem::create_directories(folder.path() + "/a");
    std::filesystem::copy_file(std::string(TEST_PLUGINS) + "/good/good.so", folder.path() + "/a/good.so");
    EXPECT_THAT(folder.discover().plugins(), IsEmpty());
}

TEST(PluginSearch, symbolic_link_cycle_ends) {
    const PluginFolder folder;
    std::filesystem::create_directory_symlink(folder.path(), folder.path() + "/again");
    EXPECT_THAT(folder.discover().problems(), IsEmpty());
}

TEST(PluginRegistry, returns_an_object_added_for_a_test) {
    struct Silent : Tool {
        ToolSpec spec() const override { return {}; }
        ToolResult call(const json::object&, ToolContext&) override { return {}; }
    };
    PluginRegistry registry;
    const auto tool = std::make_shared<Silent>();
    registry.add_tool("silent", tool);
    EXPECT_EQ(*registry.tool("silent"), tool);
    EXPECT_TRUE(registry.has(PluginKind::tool, "silent"));
}

class PluginThatThrows : public testing::Test {
protected:
    void SetUp() override {
        folder.add("throwing", test::throwing_manifest(), "bad/throwing.so");
        registry = folder.discover();
    }
    PluginFolder folder;
    PluginRegistry registry;
    FakeContext context;
};

TEST_F(PluginThatThrows, in_create_is_an_error) {
    const auto stage = registry.stage("throws_in_create");
    ASSERT_FALSE(stage.ok());
    EXPECT_EQ(stage.error().code, "AF-PLUG-016");
    EXPECT_THAT(stage.error().message, HasSubstr("boom"));
}

TEST_F(PluginThatThrows, in_info_is_an_error) {
    const auto stage = registry.stage("throws_in_info");
    ASSERT_FALSE(stage.ok());
    EXPECT_EQ(stage.error().code, "AF-PLUG-020");
    EXPECT_THAT(stage.error().message, AllOf(HasSubstr("The plugin `org.agentforge.test.throwing` in "),
                                             HasSubstr("threw in info() of its stage `throws_in_info`: boom")));
}

TEST_F(PluginThatThrows, that_cannot_be_created_is_unavailable_and_not_retried) {
    for (const char* const name : {"throws_in_create", "throws_in_info", "no_such_stage"}) {
        EXPECT_EQ(registry.stage(name).error().kind, ErrorKind::unavailable) << name;
    }
    EXPECT_EQ(registry.tool("misnamed").error().kind, ErrorKind::unavailable);
    const PluginFolder without_library;
    without_library.manifest_text("throwing", json::serialize(test::throwing_manifest()));
    EXPECT_EQ(without_library.discover().tool("throws_int").error().kind, ErrorKind::unavailable);
}

TEST_F(PluginThatThrows, is_named_with_its_file_and_what_to_do) {
    const auto tool = registry.tool("throws_int");
    ASSERT_TRUE(tool.ok());
    const Error error = *(*tool)->call({}, context).error;
    EXPECT_THAT(error.message, HasSubstr(folder.path() + "/throwing/throwing.so"));
    EXPECT_THAT(error.remedy,
                AllOf(HasSubstr("plugins.disable"), HasSubstr("agentforge plugins check " + folder.path() + "/throwing")));
}

TEST_F(PluginThatThrows, in_every_stage_method_is_an_error_that_names_it) {
    const auto stage = registry.stage("throws_in_calls");
    ASSERT_TRUE(stage.ok()) << stage.error().to_string();
    EXPECT_THAT((*stage)->initialize(context).error().message, HasSubstr("threw in initialize()"));
    EXPECT_THAT((*stage)->validate_input(context).errors, ElementsAre(HasSubstr("threw in validate_input()")));
    EXPECT_THAT((*stage)->execute(context).error.value().message, HasSubstr("threw in execute()"));
    EXPECT_THAT((*stage)->validate_output(context, {}).errors, ElementsAre(HasSubstr("threw in validate_output()")));
}

TEST_F(PluginThatThrows, in_finalize_is_logged) {
    const auto stage = registry.stage("throws_in_calls");
    ASSERT_TRUE(stage.ok());
    (*stage)->finalize(context, {});
    ASSERT_THAT(context.logs, SizeIs(1));
    EXPECT_THAT(context.logs[0].second, HasSubstr("threw in finalize()"));
}

TEST_F(PluginThatThrows, int_from_a_tool_is_an_error) {
    const auto tool = registry.tool("throws_int");
    ASSERT_TRUE(tool.ok());
    const ToolResult result = (*tool)->call({}, context);
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->code, "AF-PLUG-020");
    EXPECT_THAT(result.error->message, AllOf(HasSubstr("call()"), HasSubstr("not a std::exception")));
}

TEST_F(PluginThatThrows, object_of_another_name_is_refused) {
    const auto tool = registry.tool("misnamed");
    ASSERT_FALSE(tool.ok());
    EXPECT_EQ(tool.error().code, "AF-PLUG-017");
    EXPECT_THAT(tool.error().message, AllOf(HasSubstr("`misnamed`"), HasSubstr("`another`")));
}

TEST_F(PluginThatThrows, in_a_backend_is_an_error) {
    const auto backend = registry.backend("throwing");
    ASSERT_TRUE(backend.ok());
    auto& call = static_cast<StageContext&>(context);
    EXPECT_THAT((*backend)->complete({}, nullptr, call).error().message, HasSubstr("complete()"));
    EXPECT_THAT((*backend)->check(call).error().message, HasSubstr("check()"));
}

TEST_F(PluginThatThrows, in_an_escalation_handler_is_an_error) {
    const auto handler = registry.escalation("throwing");
    ASSERT_TRUE(handler.ok());
    auto& call = static_cast<StageContext&>(context);
    EXPECT_THAT((*handler)->notify({}, call).error().message, HasSubstr("notify()"));
    EXPECT_THAT((*handler)->wait_for_resolution({}, call).error().message, HasSubstr("wait_for_resolution()"));
    EXPECT_THAT((*handler)->notify_approval({}, call).error().message, HasSubstr("notify_approval()"));
    EXPECT_THAT((*handler)->wait_for_approval({}, call).error().message, HasSubstr("wait_for_approval()"));
}

}  // namespace
}  // namespace agentforge::kernel
