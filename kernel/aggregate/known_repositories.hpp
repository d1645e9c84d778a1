// SPDX-License-Identifier: Apache-2.0
// The repositories that a user's commands know by name: `~/.agentforge/repos.yaml`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct KnownRepository {
    std::string name;            ///< Unique; letters, digits, `.`, `_` and `-`, at most 64.
    std::filesystem::path path;  ///< Absolute: the checkout.
    /// The branch that other repositories use if they request no version. Empty: the branch of its HEAD.
    std::string default_branch = {};
    std::string contracts_path = {};  ///< The folder of the contracts that it offers to other repositories. Empty: anywhere.
    bool operator==(const KnownRepository&) const = default;
};

/// The user owns the file: a list `repositories` of maps with `name`, `path` and, optionally, `default_branch` and
/// `contracts_path`. Any other key is an error. One thread at a time. If two processes change it at the same moment, the later
/// one wins.
class KnownRepositories {
public:
    explicit KnownRepositories(std::filesystem::path file) : file_(std::move(file)) {}

    /// Returns the repositories in the file's order; none if there is no file. Errors: `invalid` AF-CONF-070 with file, line and
    /// column.
    [[nodiscard]] Result<std::vector<KnownRepository>> list() const;
    /// Errors: those of `list`; `invalid` AF-CONF-071 the name is not allowed; `conflict` AF-CONF-072 the name or the path is
    /// taken; `io`.
    [[nodiscard]] Result<void> add(const KnownRepository& repository) const;
    /// Removes the entry, but none of the repository's own files. Errors: those of `list`; `not_found` AF-CONF-073, with the
    /// nearest name; `io`.
    [[nodiscard]] Result<KnownRepository> remove(std::string_view name) const;

    [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }

private:
    [[nodiscard]] Result<void> save(const std::vector<KnownRepository>& repositories) const;
    std::filesystem::path file_;
};

/// Returns AF-CONF-073, with the nearest name. `where` says where the repositories are listed.
[[nodiscard]] Error unknown_repository(std::string_view name, const std::vector<KnownRepository>& known,
                                       const std::string& where);
[[nodiscard]] bool is_repository_name(std::string_view name) noexcept;
/// Makes a repository's name from a folder's, different from each in `taken`.
[[nodiscard]] std::string repository_name(const std::filesystem::path& path, const std::vector<KnownRepository>& taken);

}  // namespace agentforge::kernel
