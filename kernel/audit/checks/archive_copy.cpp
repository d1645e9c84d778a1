// SPDX-License-Identifier: Apache-2.0
#include "audit/checks/archive_copy.hpp"

#include <algorithm>

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

}  // namespace agentforge::kernel
