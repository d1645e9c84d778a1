// SPDX-License-Identifier: Apache-2.0
// Where the files of a task are: `.agentforge/tasks/<id>/`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace agentforge::kernel {

/// The paths of one task's files.
struct TaskPaths {
    std::filesystem::path root;
    [[nodiscard]] std::filesystem::path task() const { return root / "task.yaml"; }
    [[nodiscard]] std::filesystem::path state() const { return root / "state.yaml"; }
    [[nodiscard]] std::filesystem::path journal() const { return root / "actions.yaml"; }
    [[nodiscard]] std::filesystem::path working_memory() const { return root / "working_memory.yaml"; }
    [[nodiscard]] std::filesystem::path lock() const { return root / "lock"; }
    /// Names the plugin call that the task's process is in. Left behind if the process died in that call (CallMark).
    [[nodiscard]] std::filesystem::path plugin_call() const { return root / "plugin_call"; }
    [[nodiscard]] std::filesystem::path artifacts() const { return root / "artifacts"; }
    [[nodiscard]] std::filesystem::path inputs() const { return root / "artifacts" / "inputs"; }
    [[nodiscard]] std::filesystem::path blobs() const { return root / "artifacts" / "blobs"; }
    [[nodiscard]] std::filesystem::path snapshots() const { return root / "artifacts" / "snapshots"; }
    /// `artifacts/phases/<stage>/<name>.yaml`
    [[nodiscard]] std::filesystem::path artifact(std::string_view stage, std::string_view name) const;
};

/// Returns a name that stays inside its folder, whatever name a template gives its stage.
[[nodiscard]] std::string safe_file_name(std::string_view name);

}  // namespace agentforge::kernel
