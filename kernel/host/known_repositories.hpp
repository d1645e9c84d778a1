// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aggregate/known_repositories.hpp"
#include "host/program.hpp"

namespace agentforge::kernel {

/// The user's list, `~/.agentforge/repos.yaml`. Errors: AF-CLI-003 HOME is not set.
[[nodiscard]] Result<KnownRepositories> known_repositories(const Program& program);

}  // namespace agentforge::kernel
