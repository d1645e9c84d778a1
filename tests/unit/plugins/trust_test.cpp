// SPDX-License-Identifier: Apache-2.0
#include "plugins/trust_store.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/clock.hpp"
#include "base/files.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PluginTrust : public testing::Test {
protected:
    PluginTrust() {
        fs::create_directories(root / "tools/a");
        fs::create_directories(root / ".agentforge/config");
        write(root / "tools/a/plugin.json", "{}");
        write(root / "tools/a/a.so", "code");
    }

    static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
    [[nodiscard]] TrustSubject subject() const {
        return trust_subject(root.string(), settings, {(root / "tools").string()}).value();
    }
    [[nodiscard]] TrustStore store() const { return TrustStore::open(state, root.string()).value(); }
    [[nodiscard]] TrustVerdict verdict() const { return store().verdict(subject()); }
    void trust() const { ASSERT_TRUE(store().trust(subject(), FakeClock().now()).ok()); }
    [[nodiscard]] std::string file() const { return state + "/trusted.yaml"; }

    TemporaryDirectory folder{"trust"};
    fs::path root = fs::canonical(folder.path()) / "project";
    std::string state = (folder.path() / "state").string();
    json::object settings{{"plugins.paths", json::array{"tools"}}};
};

TEST_F(PluginTrust, of_a_new_project_is_unknown) { EXPECT_EQ(verdict(), TrustVerdict::unknown); }

TEST_F(PluginTrust, is_remembered_by_another_process) {
    trust();
    EXPECT_EQ(verdict(), TrustVerdict::trusted);
}

TEST_F(PluginTrust, is_not_needed_by_a_project_that_runs_nothing) {
    EXPECT_EQ(store().verdict(trust_subject(root.string(), {}, {}).value()), TrustVerdict::nothing_to_trust);
}

TEST_F(PluginTrust, of_one_project_does_not_extend_to_another_with_the_same_files) {
    trust();
    fs::copy(root, root.parent_path() / "other", fs::copy_options::recursive);
    const auto other =
        trust_subject((root.parent_path() / "other").string(), settings, {(root.parent_path() / "other/tools").string()});
    EXPECT_EQ(store().verdict(*other), TrustVerdict::unknown);
}

TEST_F(PluginTrust, holds_for_the_project_by_any_path) {
    trust();
    fs::create_directory_symlink(root, root.parent_path() / "link");
    const auto linked = trust_subject((root.parent_path() / "link").string(), settings, {(root / "tools").string()});
    EXPECT_EQ(store().verdict(*linked), TrustVerdict::trusted);
}

TEST_F(PluginTrust, ends_when_a_setting_changes) {
    trust();
    settings["llm.command"] = "rm";
    EXPECT_EQ(verdict(), TrustVerdict::changed);
    EXPECT_THAT(store().differences(subject()), ElementsAre("setting llm.command"));
}

TEST_F(PluginTrust, ends_when_a_byte_of_a_plugin_changes) {
    trust();
    write(root / "tools/a/a.so", "codf");
    EXPECT_THAT(store().differences(subject()), ElementsAre("plugin tools/a"));
}

TEST_F(PluginTrust, ends_when_a_plugin_is_added_to_a_trusted_folder) {
    trust();
    fs::create_directories(root / "tools/b");
    write(root / "tools/b/plugin.json", "{}");
    EXPECT_THAT(store().differences(subject()), ElementsAre("plugin tools/b"));
}

TEST_F(PluginTrust, ends_when_a_server_file_is_added) {
    trust();
    write(root / ".mcp.json", "{}");
    EXPECT_THAT(store().differences(subject()), ElementsAre("file .mcp.json"));
}

TEST_F(PluginTrust, covers_the_files_that_commands_name) {
    for (const char* name : {"server.py", "model.sh", "run-tests", "jest", "hook.py", "cli.js", "notes.txt"}) {
        write(root / "tools" / name, "one\n");
    }
    fs::create_directories(root / "tools/package");
    write(root / "tools/package/__main__.py", "one\n");
    settings["llm.command"] = json::array{"sh", (root / "tools/model.sh").string()};
    settings["mcp_servers.mine.args"] = json::array{"-B", "${AGENTFORGE_WORKSPACE}/tools/server.py", ".", "tools/package"};
    settings["mcp_servers.two.command"] = json::array{"python3", "-m", "tools.hook"};
    settings["gates.command"] = json::array{"sh", "-c", "cd . && ./tools/run-tests"};
    settings["gates.programs.jest"] = "tools/jest";
    settings["log.file"] = "tools/notes.txt";
    write(root / ".mcp.json", R"({"mcpServers": {"three": {"command": "node", "args": ["--require=./tools/cli.js"]}}})");
    for (const char* name : {"server.py", "model.sh", "run-tests", "jest", "hook.py", "cli.js", "package/__main__.py"}) {
        trust();
        write(root / "tools" / name, "two\n");
        EXPECT_THAT(store().differences(subject()), ElementsAre("file tools/" + std::string(name))) << name;
    }
    trust();
    write(root / "tools/notes.txt", "two\n");
    EXPECT_EQ(verdict(), TrustVerdict::trusted);
}

TEST_F(PluginTrust, covers_folders_that_a_command_enters_and_scripts_that_runners_name) {
    fs::create_directories(root / "tools/in");
    for (const char* name : {"tools/in/model.sh", "tools/in/package.json", "tools/in/server.js", "tools/preload.js", "Makefile",
                             "tools/in/test.mk"}) {
        write(root / name, "one\n");
    }
    settings["llm.command"] = json::array{"sh", "-c", "cd tools/in && exec ./model.sh"};
    settings["mcp_servers.mine.command"] = "/usr/bin/npm";
    settings["mcp_servers.mine.args"] = json::array{"--prefix", "${AGENTFORGE_WORKSPACE}/tools/in", "run", "serve"};
    settings["mcp_servers.mine.env.NODE_OPTIONS"] = "--require ./tools/preload.js";
    settings["gates.command"] = "make test";
    write(
        root / ".mcp.json",
        R"({"mcpServers": {"three": {"command": "sh", "args": ["-c", "cd tools/in; node server.js"], "env": {"MAKEFILES": "tools/in/test.mk"}}}})");
    for (const char* name : {"tools/in/model.sh", "tools/in/package.json", "tools/in/server.js", "tools/preload.js", "Makefile",
                             "tools/in/test.mk"}) {
        trust();
        write(root / name, "two\n");
        EXPECT_THAT(store().differences(subject()), ElementsAre("file " + std::string(name))) << name;
    }
}

TEST_F(PluginTrust, ends_when_a_file_named_by_a_command_appears_or_its_link_changes) {
    settings["llm.command"] = "tools/model";
    trust();
    write(root / "tools/other", "one\n");
    fs::create_symlink("other", root / "tools/model");
    EXPECT_THAT(store().differences(subject()), ElementsAre("file tools/model"));
    trust();
    write(root / "tools/other", "two\n");
    EXPECT_THAT(store().differences(subject()), ElementsAre("file tools/model"));
}

TEST_F(PluginTrust, ends_when_a_trusted_file_is_removed) {
    write(root / ".mcp.json", "{}");
    trust();
    fs::remove(root / ".mcp.json");
    EXPECT_THAT(store().differences(subject()), ElementsAre("file .mcp.json"));
}

TEST_F(PluginTrust, with_a_lock_covers_the_lock_instead_of_the_plugins) {
    write(root / lock_file, "agentforge_lock: 1\n");
    trust();
    write(root / "tools/a/a.so", "codf");
    EXPECT_EQ(verdict(), TrustVerdict::trusted);
    write(root / lock_file, "agentforge_lock: 1 \n");
    EXPECT_THAT(store().differences(subject()), ElementsAre("file .agentforge/config/plugins.lock"));
}

TEST_F(PluginTrust, pins_the_files_of_a_plugin_without_a_lock) {
    const TrustSubject pinned = subject();
    ASSERT_TRUE(pinned.pinned.contains((root / "tools/a").string()));
    EXPECT_EQ(pinned.pinned.at((root / "tools/a").string()).size(), 2U);
}

TEST_F(PluginTrust, fingerprint_is_the_same_in_every_order_of_keys) {
    settings = {{"a", json::object{{"x", 1}, {"y", 2}}}, {"b", 1}};
    const std::string first = subject().fingerprint();
    settings = {{"b", 1}, {"a", json::object{{"y", 2}, {"x", 1}}}};
    EXPECT_EQ(subject().fingerprint(), first);
    settings["b"] = 2;
    EXPECT_NE(subject().fingerprint(), first);
}

TEST_F(PluginTrust, can_be_revoked) {
    trust();
    EXPECT_EQ(store().revoke(root.string()).value(), true);
    EXPECT_EQ(verdict(), TrustVerdict::unknown);
    EXPECT_EQ(store().revoke(root.string()).value(), false);
}

TEST_F(PluginTrust, of_an_announced_change_holds_before_and_after_it_until_trusted_again) {
    trust();
    const TrustSubject before = subject();
    write(root / "tools/a/a.so", "other code");
    const TrustSubject after = subject();
    EXPECT_EQ(verdict(), TrustVerdict::changed);
    ASSERT_TRUE(store().announce(after).ok());
    EXPECT_EQ(store().verdict(before), TrustVerdict::trusted);
    EXPECT_EQ(store().verdict(after), TrustVerdict::trusted);
    EXPECT_THAT(store().differences(after), IsEmpty());
    ASSERT_TRUE(store().trust(after, FakeClock().now()).ok());
    EXPECT_EQ(store().verdict(before), TrustVerdict::changed);
}

TEST_F(PluginTrust, cannot_be_announced_for_a_project_that_is_not_trusted) {
    ASSERT_TRUE(store().announce(subject()).ok());
    EXPECT_EQ(verdict(), TrustVerdict::unknown);
}

TEST_F(PluginTrust, of_an_announced_change_is_revoked_with_the_rest) {
    trust();
    write(root / "tools/a/a.so", "other code");
    ASSERT_TRUE(store().announce(subject()).ok());
    EXPECT_EQ(store().revoke(root.string()).value(), true);
    EXPECT_EQ(verdict(), TrustVerdict::unknown);
}

TEST_F(PluginTrust, of_a_second_project_keeps_the_first) {
    TrustStore early = store();  // As in a process that started before the other one wrote.
    trust();
    TrustSubject second = subject();
    second.root = "/another";
    ASSERT_TRUE(early.trust(second, FakeClock().now()).ok());
    EXPECT_EQ(verdict(), TrustVerdict::trusted);
}

TEST_F(PluginTrust, file_is_readable_only_by_its_user) {
    trust();
    EXPECT_EQ(fs::status(file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(PluginTrust, file_writable_by_others_is_refused) {
    trust();
    ::chmod(file().c_str(), 0666);
    const auto opened = TrustStore::open(state, root.string());
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, "AF-PLUG-042");
    EXPECT_EQ(opened.error().where, file());
}

TEST_F(PluginTrust, file_inside_the_project_is_refused) {
    const auto opened = TrustStore::open((root / "state").string(), root.string());
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, "AF-PLUG-042");
    EXPECT_THAT(opened.error().message, HasSubstr("inside the project"));
}

class TrustFileBroken : public PluginTrust, public testing::WithParamInterface<const char*> {};

TEST_P(TrustFileBroken, is_named_and_left_as_it_is) {
    trust();
    TrustStore opened_before = store();
    write(file(), GetParam());
    const auto opened = TrustStore::open(state, root.string());
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, "AF-PLUG-041");
    EXPECT_THAT(opened.error().where, HasSubstr(file()));
    EXPECT_FALSE(opened_before.trust(subject(), FakeClock().now()).ok());
    EXPECT_EQ(read_file(file()).value(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    , TrustFileBroken,
    testing::Values("", "{", "agentforge_trust: 2\nprojects: []\n", "agentforge_trust: 1\n",
                    "agentforge_trust: 1\nprojects: {}\n", "agentforge_trust: 1\nprojects: []\nmore: 1\n",
                    "agentforge_trust: 1\nprojects: [7]\n",
                    "agentforge_trust: 1\nprojects: [{root: relative, time: '2026-01-02T00:00:00.000Z', items: {}}]\n",
                    "agentforge_trust: 1\nprojects: [{root: /a, time: yesterday, items: {}}]\n",
                    "agentforge_trust: 1\nprojects: [{root: /a, time: '2026-01-02T00:00:00.000Z', items: {x: 12}}]\n",
                    "agentforge_trust: 1\nprojects: [{root: /a, time: '2026-01-02T00:00:00.000Z', items: {x: abc}}]\n"));

TEST_F(PluginTrust, of_a_plugin_that_cannot_be_read_is_an_error) {
    ASSERT_EQ(::mkfifo((root / "tools/a/pipe").c_str(), 0600), 0);
    const auto made = trust_subject(root.string(), settings, {(root / "tools").string()});
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "AF-PLUG-037");
    EXPECT_EQ(made.error().where, (root / "tools/a/pipe").string());
}

TEST_F(PluginTrust, hashes_a_link_by_its_target_path_and_not_by_its_contents) {
    fs::create_symlink("/etc/passwd", root / "tools/a/link");
    EXPECT_EQ(hash_folder((root / "tools/a").string()).value().at("link"), "-> /etc/passwd");
}

}  // namespace
}  // namespace agentforge::kernel
