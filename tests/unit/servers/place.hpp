// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of servers: a workspace, a role's rights, the scripted server, a tool's context.
#pragma once

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "servers/server_pool.hpp"

namespace agentforge::kernel::servers_test {

namespace fs = std::filesystem;

class Context final : public ToolContext {
public:
    bool cancel = false;
    std::optional<std::chrono::steady_clock::time_point> until;
    std::vector<std::string> progressed;

    [[nodiscard]] bool cancelled() const noexcept override { return cancel; }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return until; }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view text) override { progressed.emplace_back(text); }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return {}; }
    [[nodiscard]] const ToolCallInfo& info() const noexcept override { return info_; }
    [[nodiscard]] Workspace& workspace() noexcept override { std::abort(); }
    [[nodiscard]] Result<ProcessResult> run_process(const ProcessSpec&) override { return not_here(); }
    [[nodiscard]] Result<GateReport> run_gate(const GateRequest&) override { return not_here(); }
    [[nodiscard]] Result<void> complete(const json::object&) override { return not_here(); }
    [[nodiscard]] Result<void> escalate(const EscalationRequest&) override { return not_here(); }

private:
    static Error not_here() { return {"AF-TEST-001", "not here", "", "", ErrorKind::denied}; }
    ToolCallInfo info_;
};

/// Returns how many processes run the scripted server of this test, found by a mark in their environment.
inline int count_processes(const std::string& mark) {
    int count = 0;
    DIR* const processes = opendir("/proc");
    while (const dirent* const entry = readdir(processes)) {
        std::ifstream file("/proc/" + std::string(entry->d_name) + "/environ", std::ios::binary);
        std::stringstream text;
        text << file.rdbuf();
        if (text.str().find(mark) != std::string::npos) { ++count; }
    }
    closedir(processes);
    return count;
}

class Servers : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = "/tmp/agentforge-servers-XXXXXX";
        folder_ = fs::canonical(mkdtemp(name.data()));
        fs::create_directories(folder_ / "work" / "src");
        fs::create_directories(folder_ / "work" / "docs");
        fs::create_directories(folder_ / "scratch");
        mark_ = "AGENTFORGE_TEST_MARK=" + folder_.string();
        place_.exec_helper = AGENTFORGE_EXEC;
        place_.workspace = folder_ / "work";
        place_.scratch = folder_ / "scratch";
        place_.readable = {place_.workspace, AGENTFORGE_SOURCE_DIR "/tests/unit/servers"};
        place_.writable = {place_.workspace + "/src"};
        place_.environment = {{"PATH", "/usr/bin:/bin"}, {"OPENAI_API_KEY", "secret"}};
        // A debugger's library would be read from a place that the sandbox does not allow.
    }
    void TearDown() override {
        pool_.end();
        EXPECT_EQ(count_processes(mark_), 0) << "a process is left over";
        fs::remove_all(folder_);
    }

    /// The scripted server with these faults.
    ServerDefinition server(std::vector<std::string> faults = {}) const {
        ServerDefinition made;
        made.name = "fake";
        made.prefix = "fake";
        made.where = "settings.yaml:1:1";
        made.command = {"/usr/bin/python3", "-B", AGENTFORGE_SOURCE_DIR "/tests/unit/servers/fake_server.py"};
        made.command.insert(made.command.end(), faults.begin(), faults.end());
        made.environment = {{"AGENTFORGE_TEST_MARK", folder_.string()}};
        made.timeout = std::chrono::seconds(30);
        return made;
    }
    Result<std::vector<std::shared_ptr<Tool>>> offer(const ServerDefinition& definition, const ServerOffer& how = {}) {
        return pool_.tools(definition, place_, how, {});
    }
    /// Returns the tool of that name. Fails the test if it is not offered.
    std::shared_ptr<Tool> tool(const ServerDefinition& definition, const std::string& name, const ServerOffer& how = {}) {
        const auto tools = offer(definition, how);
        if (!tools.ok()) {
            ADD_FAILURE() << tools.error().to_string();
            return nullptr;
        }
        for (const auto& one : *tools) {
            if (one->spec().name == name) { return one; }
        }
        ADD_FAILURE() << "no tool " << name;
        return nullptr;
    }
    /// Makes one call of the server with these faults.
    ToolResult call(const ServerDefinition& definition, const std::string& name, const json::object& arguments = {}) {
        const auto found = tool(definition, name);
        return found == nullptr ? ToolResult() : found->call(arguments, context_);
    }
    [[nodiscard]] static std::string code(const ToolResult& result) { return result.error ? result.error->code : "no error"; }
    [[nodiscard]] static std::string message(const ToolResult& result) {
        return result.error ? result.error->message : "no error";
    }
    [[nodiscard]] std::string logged() const {
        std::string all;
        for (const std::string& line : log_) { all += line + "\n"; }
        return all;
    }

    fs::path folder_;
    std::string mark_;
    ServerPlace place_;
    std::vector<std::string> log_;
    ServerPool pool_{[this](LogLevel, std::string_view message, const json::object&) { log_.emplace_back(message); }};
    Context context_;
};

}  // namespace agentforge::kernel::servers_test
