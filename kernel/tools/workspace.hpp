// SPDX-License-Identifier: Apache-2.0
// The task's checkout with the rights of one role. Every path is walked from a held directory descriptor with
// openat2(RESOLVE_BENEATH | NO_SYMLINKS | NO_MAGICLINKS): no link leads out, no race changes that.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <agentforge/host.hpp>

#include "base/files.hpp"
#include "tools/path_rules.hpp"

namespace agentforge::kernel {

class RoleWorkspace final : public Workspace {
public:
    /// Errors: AF-TOOL-030 the folder cannot be opened.
    [[nodiscard]] static Result<std::unique_ptr<RoleWorkspace>> open(const std::string& root, RolePaths rules);
    ~RoleWorkspace();

    [[nodiscard]] Result<FileView> read(std::string_view path, const ReadOptions& options = {}) override;
    [[nodiscard]] Result<Listing> list(std::string_view directory, const ListOptions& options = {}) override;
    [[nodiscard]] Result<SearchHits> search(const SearchQuery& query) override;
    [[nodiscard]] bool exists(std::string_view path) override;
    [[nodiscard]] Result<Change> create(std::string_view path, std::string_view content, bool overwrite = false) override;
    [[nodiscard]] Result<Change> edit(std::string_view path, std::string_view search, std::string_view replace) override;
    [[nodiscard]] Result<Change> move(std::string_view from, std::string_view to) override;
    [[nodiscard]] Result<Change> remove(std::string_view path) override;

    /// Writes since the last call, oldest first: what the journal and the snapshot need to know.
    [[nodiscard]] std::vector<Change> take_changes();
    /// false: every write is refused with AF-TOOL-014 (a tool that did not declare the effect).
    void allow_writes(bool allowed) noexcept;

private:
    struct State;
    explicit RoleWorkspace(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
