// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "git/library.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

struct Repository::State {
    git::RepositoryHandle handle;
};

}  // namespace agentforge::kernel
