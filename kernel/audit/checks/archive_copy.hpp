// SPDX-License-Identifier: Apache-2.0
// The copy of a task's files that the repository keeps.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "audit/checks/audit_context.hpp"
#include "git/objects.hpp"

namespace agentforge::kernel {

/// The files under `refs/agentforge/archive/TASK`: a second copy of the task's folder, which a changed folder must continue.
class ArchiveCopy {
public:
    /// No archive: it has no file.
    ArchiveCopy() = default;

    /// Returns the archive of the task. None without a repository, or if the verified folder is the archive itself. `context`
    /// must outlive it. Errors: AF-GIT-001, AF-GIT-099.
    [[nodiscard]] static Result<ArchiveCopy> find(const AuditContext& context);

    [[nodiscard]] bool exists() const { return repository_ != nullptr; }
    [[nodiscard]] const std::string& ref() const { return ref_.name; }
    /// Returns a file of the task's folder. Nothing if the archive, or the file in it, does not exist. Errors: AF-GIT-007.
    [[nodiscard]] Result<std::optional<std::string>> file(std::string_view name) const;
    /// Returns the names of the task's files in the archive that are links or have other bytes than those in `folder`. Leaves out
    /// files that `folder` lacks, those of running processes, and blobs, which are named by their hashes. Errors: AF-GIT-007.
    [[nodiscard]] Result<std::vector<std::string>> files_unlike(const std::filesystem::path& folder) const;

private:
    ArchiveCopy(const Repository& repository, RefTarget ref) : repository_(&repository), ref_(std::move(ref)) {}

    const Repository* repository_ = nullptr;
    RefTarget ref_;
};

}  // namespace agentforge::kernel
