// SPDX-License-Identifier: Apache-2.0
// What the calls of a role's workspace share: the open folder, the role's rules, and the changes so far.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "secrets/redactor.hpp"
#include "secrets/restore.hpp"
#include "tools/path_rules.hpp"
#include "tools/workspace/opened_file.hpp"
#include "tools/workspace/role_workspace.hpp"

namespace agentforge::kernel {

struct RoleWorkspace::State {
    FileDescriptor root;
    RolePaths rules;
    std::vector<std::string> pinned;  ///< Submodules.
    const Redactor* redactor = nullptr;
    bool writes_allowed = true;
    std::uint64_t next_temporary = 0;
    std::vector<Change> changes;
    std::optional<std::map<std::string, std::string, std::less<>>> seen;

    [[nodiscard]] Error open_error(const std::string& path, int error, std::string_view doing) const;
    [[nodiscard]] Result<OpenFile> open_file(const std::string& path) const;
    [[nodiscard]] Result<FileDescriptor> open_folder(const std::string& path, std::string_view doing) const;
    [[nodiscard]] Result<FileDescriptor> make_folder(const std::string& path) const;
    [[nodiscard]] static Result<std::string> contents(const OpenFile& file, const std::string& path);
    /// `normal`: a path from normalize_path.
    [[nodiscard]] Result<void> check_write(std::string_view normal) const;
    [[nodiscard]] Result<std::string> writable(std::string_view path) const;
    [[nodiscard]] Result<void> check_pinned(std::string_view normal) const;
    [[nodiscard]] Result<std::string> write_sibling(int parent, const std::string& path, std::string_view content,
                                                    const struct stat* old);
    [[nodiscard]] Result<void> replace(int parent, const std::string& name, const std::string& path, std::string_view content,
                                       const struct stat* old);
    [[nodiscard]] static Result<std::vector<FolderEntry>> entries(int directory, const std::string& path);
    /// Calls `visit(directory, entry, path)`; false stops the walk. Returns whether everything was visited.
    using Visit = std::function<bool(int, const FolderEntry&, const std::string&)>;
    [[nodiscard]] Result<bool> walk(int directory, const std::string& prefix, std::size_t depth, bool recursive,
                                    const Visit& visit) const;
    /// Returns `text` with secrets in place of their placeholders. `before`: the file's current bytes; `hidden`: what is hidden
    /// of it.
    [[nodiscard]] Result<std::string> restored(std::string_view text, std::string_view before, const std::vector<Hidden>& hidden,
                                               const std::string& path) const;
    /// Returns the text behind a placeholder in some file of the workspace, within the budget of a search.
    [[nodiscard]] std::optional<std::string> hidden_somewhere(std::string_view placeholder) const;
    [[nodiscard]] std::string temporary_name() {
        return ".agentforge-tmp-" + std::to_string(::getpid()) + "-" + std::to_string(next_temporary++);
    }
    /// Checks that the file is as the agent last saw it.
    [[nodiscard]] Result<void> as_seen(const std::string& path, std::string_view bytes) const;
    void record(const Change& change) {
        changes.push_back(change);
        if (!seen) { return; }
        const auto known = seen->find(change.path);
        if (change.after_sha256.empty()) {
            if (known != seen->end()) { seen->erase(known); }
        } else {
            (*seen)[change.path] = change.after_sha256;
        }
    }
};

}  // namespace agentforge::kernel
