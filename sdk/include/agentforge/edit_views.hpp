// SPDX-License-Identifier: Apache-2.0
// What an editing tool returns about the current content of the files, to spare the agent from reading them again.
#pragma once

#include <agentforge/edits.hpp>
#include <agentforge/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge {

/// Builds `ToolResult::data["views"]`: `{path, sha256, first_line, total_lines, content}`. Shows small files whole, and of others
/// the changed lines with three lines around them. The content is at most 10,000 bytes in total; what does not fit is left out.
[[nodiscard]] inline json::array edit_views(Workspace& workspace, const std::vector<FileEdited>& edited) {
    std::uint64_t left = 10'000;
    json::array views;
    const auto show = [&](const std::string& path, std::uint64_t first, std::uint64_t last) {
        ReadOptions options;
        options.first_line = first;
        options.last_line = last;
        options.max_bytes = left;
        const auto view = workspace.read(path, options);
        const bool cut = !view.ok() || (last == 0 ? view->truncated : view->last_line < std::min(last, view->total_lines)) ||
                         view->content.size() > left;
        if (cut) { return false; }
        left -= view->content.size();
        std::string text = view->content;  // Shown as by read_file.
        for (std::size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos;) { text.erase(at, 1); }
        views.push_back(json::object{{"path", path},
                                     {"sha256", view->sha256},
                                     {"first_line", view->first_line},
                                     {"total_lines", view->total_lines},
                                     {"content", text}});
        return true;
    };
    for (const FileEdited& file : edited) {
        if (file.change.after_sha256.empty() || show(file.change.path, 1, 0)) { continue; }
        constexpr std::uint64_t around = 3;
        for (const LineRange& region : file.regions) {
            if (!show(file.change.path, region.first_line > around ? region.first_line - around : 1,
                      std::max<std::uint64_t>(region.last_line, 1) + around)) {
                break;
            }
        }
    }
    return views;
}

/// The error for a host whose workspace has no AtomicEdits.
[[nodiscard]] inline Error no_atomic_edits(std::string_view tool) {
    return {"AF-TOOL-051", "This host does not offer edits of several places at once, which '" + std::string(tool) + "' needs.",
            std::string(tool), "Use the AgentForge version that the plugin was built for.", ErrorKind::unavailable};
}

}  // namespace agentforge
