// SPDX-License-Identifier: Apache-2.0
// The workspace during one agent run: the role's view of it, and what the run has written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/agent_run/open_run.hpp"
#include "servers/server_pool.hpp"
#include "tools/workspace/role_workspace.hpp"

namespace agentforge::kernel {

class RunWorkspace {
public:
    explicit RunWorkspace(OpenRun& run) : run_(run) {}

    /// Call first. `writes`: false for a reviewer. A reviewer may write nothing, whatever its role allows elsewhere, because the
    /// measured tree must not change. Errors: those of `role_paths` and RoleWorkspace::open.
    [[nodiscard]] Result<void> open(bool writes);
    /// Forbids all writes, for a role without a writing tool: programs that its tools start may not write either. Call before the
    /// workspace is used.
    [[nodiscard]] Result<void> forbid_writes();

    [[nodiscard]] RoleWorkspace& files() noexcept { return *files_; }
    /// The tree with everything that the run has written, recorded or measured so far.
    [[nodiscard]] const std::string& tree() const noexcept { return tree_; }
    void set_tree(std::string tree) { tree_ = std::move(tree); }

    /// Runs a program with the role's rights. Errors: those of `run_confined`.
    [[nodiscard]] Result<ProcessResult> run_process(const ProcessSpec& spec);
    /// Checks and keeps what programs wrote since `tree()`. Returns the tree with it. Errors: those of `accept_writes`.
    [[nodiscard]] Result<std::string> record_writes();
    /// After a crash, restores the files as a journaled answer left them.
    [[nodiscard]] Result<void> adopt(const std::string& tree);
    /// Returns the writes since the last call: those of tools, then those of programs.
    [[nodiscard]] std::vector<Change> take_changes();
    /// Returns the sandbox of a tool server: the role's rights, as for run_process.
    [[nodiscard]] ServerPlace server_place();

private:
    [[nodiscard]] Result<void> open_with(RolePaths rules);

    OpenRun& run_;
    std::unique_ptr<RoleWorkspace> files_;
    std::string tree_;
    std::vector<Change> process_changes_;  ///< Changes by subprocesses, within the role's rights.
};

}  // namespace agentforge::kernel
