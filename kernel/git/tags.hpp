// SPDX-License-Identifier: Apache-2.0
// The tags of a repository.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct Tag {
    std::string name;    ///< Without `refs/tags/`.
    std::string commit;  ///< The tagged commit, for annotated tags too.
};

/// Returns all tags of commits, by name. Errors: those of Repository::open.
[[nodiscard]] Result<std::vector<Tag>> tags_of(const std::filesystem::path& repository);

}  // namespace agentforge::kernel
