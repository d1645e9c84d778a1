// SPDX-License-Identifier: Apache-2.0
// The user's list of repositories, as commands use it. Each call reads the file again; nothing is cached.
#pragma once

#include "aggregate/known_repositories.hpp"
#include "program/program.hpp"

namespace agentforge::kernel {

/// Returns the user's list, `~/.agentforge/repos.yaml`. Errors: AF-CLI-003 HOME is not set.
[[nodiscard]] Result<KnownRepositories> known_repositories(const Program& program);
/// Returns the repository of that name. Errors: those of `known_repositories` and `KnownRepositories::list`; `not_found`
/// AF-CONF-073, with the nearest name.
[[nodiscard]] Result<KnownRepository> find_known_repository(const Program& program, std::string_view name);
/// Returns the user's list. The current repository comes first if the list does not have it. Errors: those of the list; if it is
/// empty, why there is no repository here (ProjectPlace::find).
[[nodiscard]] Result<std::vector<KnownRepository>> all_repositories(const Program& program);

/// Returns the folder of the sets of `start --repos`; each has a folder in it. Errors: those of `known_repositories`.
[[nodiscard]] Result<std::filesystem::path> sets_folder(const Program& program);

}  // namespace agentforge::kernel
