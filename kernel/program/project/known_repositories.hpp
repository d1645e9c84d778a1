// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aggregate/known_repositories.hpp"
#include "program/program.hpp"

namespace agentforge::kernel {

/// The user's list, `~/.agentforge/repos.yaml`. Errors: AF-CLI-003 HOME is not set.
[[nodiscard]] Result<KnownRepositories> known_repositories(const Program& program);
/// The repository of that name. Errors: as of `known_repositories` and `KnownRepositories::list`; `not_found` AF-CONF-073, naming
/// the nearest.
[[nodiscard]] Result<KnownRepository> find_known_repository(const Program& program, std::string_view name);
/// The user's list, and first the repository that the command is given in, where the list does not have it.
/// Errors: of the list; where it is empty, why there is no repository here (ProjectPlace::find).
[[nodiscard]] Result<std::vector<KnownRepository>> all_repositories(const Program& program);

/// Where the sets of `start --repos` are kept, a folder for each. Errors: as of `known_repositories`.
[[nodiscard]] Result<std::filesystem::path> sets_folder(const Program& program);

}  // namespace agentforge::kernel
