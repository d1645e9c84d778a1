// SPDX-License-Identifier: Apache-2.0
// The repositories that a user's commands know by name: `~/.agentforge/repos.yaml` (North Star 7.1).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct KnownRepository {
    std::string name;                 ///< Unique; letters, digits, `.`, `_` and `-`, at most 64.
    std::filesystem::path path;       ///< Absolute: the checkout.
    std::string default_branch = {};  ///< What others take where they ask for no version; empty: what its HEAD stands on.
    std::string contracts_path = {};  ///< The folder of what it offers to others; empty: anywhere.
    bool operator==(const KnownRepository&) const = default;
};

/// The file is the user's: a list `repositories` of maps with `name`, `path` and, where they are said, `default_branch` and
/// `contracts_path`. Nothing in it is ignored. One thread at a time; of two processes that change it at the same moment the later
/// one wins.
class KnownRepositories {
public:
    explicit KnownRepositories(std::filesystem::path file) : file_(std::move(file)) {}

    /// In the file's order; no file: none. Errors: `invalid` AF-CONF-070 with file, line and column.
    [[nodiscard]] Result<std::vector<KnownRepository>> list() const;
    /// Errors: as of `list`; `invalid` AF-CONF-071 the name is none; `conflict` AF-CONF-072 the name or the path is taken; `io`.
    [[nodiscard]] Result<void> add(const KnownRepository& repository) const;
    /// The repository's own files stay as they are. Errors: as of `list`; `not_found` AF-CONF-073, naming the nearest; `io`.
    [[nodiscard]] Result<KnownRepository> remove(std::string_view name) const;

    [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }

private:
    [[nodiscard]] Result<void> save(const std::vector<KnownRepository>& repositories) const;
    std::filesystem::path file_;
};

/// AF-CONF-073, naming the nearest. `where` they are listed.
[[nodiscard]] Error unknown_repository(std::string_view name, const std::vector<KnownRepository>& known,
                                       const std::string& where);
[[nodiscard]] bool is_repository_name(std::string_view name) noexcept;
/// A folder's name made a repository's name that none of `taken` has.
[[nodiscard]] std::string repository_name(const std::filesystem::path& path, const std::vector<KnownRepository>& taken);

}  // namespace agentforge::kernel
