// SPDX-License-Identifier: Apache-2.0
#include "audit/checks/archive_copy.hpp"

#include <algorithm>

#include "audit/evidence.hpp"
#include "audit/statement.hpp"
#include "base/files.hpp"

namespace agentforge::kernel {

Result<ArchiveCopy> ArchiveCopy::find(const AuditContext& context) {
    if (!context.repository || context.place.is_archive) { return ArchiveCopy(); }
    const std::string name = "refs/agentforge/archive/" + context.verdict.task_id;
    AF_TRY(const auto refs, refs_below(context.repository->path, name));
    const auto found = std::ranges::find(refs, name, &RefTarget::name);
    return found == refs.end() ? ArchiveCopy() : ArchiveCopy(context.repository->git, *found);
}

Result<std::optional<std::string>> ArchiveCopy::file(std::string_view name) const {
    if (!exists()) { return std::optional<std::string>(); }
    return repository_->file_in_tree(ref_.id, "task/" + std::string(name));
}

Result<std::vector<std::string>> ArchiveCopy::files_unlike(const std::filesystem::path& folder) const {
    constexpr std::string_view prefix = "task/";
    std::vector<std::string> found;
    if (!exists()) { return found; }
    AF_TRY(const auto links, repository_->links_in_tree(ref_.id));
    for (const auto& [path, target] : links) { found.push_back(path); }
    AF_TRY(const auto files, repository_->files_in_tree(ref_.id));
    for (const std::string& path : files) {
        if (!path.starts_with(prefix) || links.contains(path)) { continue; }
        const std::string name = path.substr(prefix.size());
        const bool is_compared = !is_transient_file(name) || name == statement_file || name == signature_file;
        if (!is_compared || name.starts_with("artifacts/blobs/")) { continue; }
        const auto here = read_file(folder / name, largest_file);
        if (!here.ok()) { continue; }
        AF_TRY(const auto archived, file(name));
        if (archived && *archived != *here) { found.push_back(name); }
    }
    return found;
}

}  // namespace agentforge::kernel
