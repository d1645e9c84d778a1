// SPDX-License-Identifier: Apache-2.0
// The members of a `Repository`. For the sources of this folder only, because it needs libgit2's types.
#pragma once

#include "git/library.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

struct Repository::State {
    git::RepositoryHandle handle;
};

}  // namespace agentforge::kernel
