// SPDX-License-Identifier: Apache-2.0
// What a `Repository` holds, for the sources of this folder only: it needs libgit2's types.
#pragma once

#include "git/library.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

struct Repository::State {
    git::RepositoryHandle handle;
};

}  // namespace agentforge::kernel
