// SPDX-License-Identifier: Apache-2.0
// The host of `plugins check`: its answers, and the rules of a context that it watches.
#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "plugins/check/check_host.hpp"
#include "tools/workspace/role_workspace.hpp"

namespace agentforge::kernel {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

Result<std::shared_ptr<Workspace>> open_workspace(const std::string& folder) {
    AF_TRY(auto opened, RoleWorkspace::open(folder, RolePaths()));
    return std::shared_ptr<RoleWorkspace>(std::move(opened));
}

CheckFolder some_folder() { return CheckFolder::make(open_workspace).value(); }

Error lost() { return {"AF-EXEC-001", "lost", "", "", ErrorKind::io}; }

TEST(CheckHost, a_plugin_reads_and_writes_real_files) {
    CheckFolder folder = some_folder();
    CheckToolContext host(folder);
    EXPECT_EQ(host.workspace().read("src/app.py").value().content, "def one():\n    return 1\n");
    EXPECT_TRUE(host.workspace().create("src/new.py", "x = 1\n").ok());
    EXPECT_EQ(host.workspace().search({"x = 1", true, false, "", 100}).value().hits.size(), 1U);
    FileEdit edit;
    edit.path = "src/new.py";
    edit.kind = FileEditKind::remove;
    EXPECT_TRUE(atomic_edits(host.workspace())->apply({edit}).ok());
    EXPECT_FALSE(host.workspace().exists("src/new.py"));
    EXPECT_THAT(host.misuses(), IsEmpty());
}

TEST(CheckHost, no_path_leads_out_of_the_folder) {
    CheckFolder folder = some_folder();
    CheckToolContext host(folder);
    EXPECT_EQ(host.workspace().read("../x").error().code, "AF-TOOL-010");
    EXPECT_EQ(host.workspace().create(".git/config", "").error().code, "AF-TOOL-011");
}

TEST(CheckHost, a_request_from_another_thread_is_a_misuse) {
    CheckCallContext host;
    std::thread([&] { host.progress("half"); }).join();
    EXPECT_THAT(host.misuses(), ElementsAre(StartsWith("progress was called from a thread that does not run the plugin's call")));
}

TEST(CheckHost, a_request_after_the_call_is_a_misuse) {
    CheckFolder folder = some_folder();
    CheckStageContext host(folder);
    host.open();
    EXPECT_EQ(host.input().task_id, "task-check");
    host.close();
    EXPECT_TRUE(host.workspace().exists("text"));
    EXPECT_THAT(host.misuses(), ElementsAre(StartsWith("workspace.exists was called after the plugin's call had returned")));
}

TEST(CheckHost, a_sink_has_the_rules_of_its_call) {
    CheckCallContext host;
    CheckSink sink(host);
    std::thread([&] { sink.text("part"); }).join();
    EXPECT_THAT(host.misuses(), ElementsAre(StartsWith("text was called from a thread")));
}

TEST(CheckHost, refuses_and_remembers_an_undeclared_effect) {
    CheckFolder folder = some_folder();
    CheckToolContext host(folder);
    host.files.limit_effects(ToolEffect::reads, "sly");
    EXPECT_TRUE(host.workspace().read("text").ok());
    EXPECT_EQ(host.files.undeclared(), std::nullopt);
    EXPECT_EQ(host.workspace().remove("text").error().code, "AF-TOOL-005");
    EXPECT_EQ(host.run_gate({"tests", {}, {}}).error().code, "AF-TOOL-005");
    EXPECT_EQ(host.files.undeclared()->message, "Tool 'sly' tried to delete a file and does not declare that it writes.");
    EXPECT_TRUE(host.workspace().exists("text"));
}

TEST(CheckHost, can_fail_every_request) {
    CheckFolder folder = some_folder();
    CheckStageContext host(folder);
    host.fail_every_request(lost());
    const std::vector<Result<void>> results = [&] {
        std::vector<Result<void>> all;
        const auto add = [&](const auto& result) { all.push_back(result.ok() ? Result<void>() : Result<void>(result.error())); };
        add(host.run_agent({}));
        add(host.run_process({}));
        add(host.run_gate({}));
        add(host.write_skeleton({}));
        add(host.deliver({}));
        add(host.run_contract("x", {}));
        add(host.parse_yaml("a: 1"));
        add(host.workspace().read("text"));
        add(host.workspace().remove("text"));
        return all;
    }();
    std::vector<std::string> codes;
    for (const Result<void>& result : results) { codes.push_back(result.ok() ? "none" : result.error().code); }
    EXPECT_THAT(codes, Each("AF-EXEC-001"));
}

TEST(CheckHost, parses_yaml_by_the_strict_rules) {
    CheckFolder folder = some_folder();
    CheckStageContext host(folder);
    EXPECT_EQ(host.parse_yaml("a: yes").value(), json::value({{"a", "yes"}}));
    EXPECT_EQ(host.parse_yaml("a: [").error().code, "AF-CONF-001");
}

}  // namespace
}  // namespace agentforge::kernel
