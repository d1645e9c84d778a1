// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "faulty.hpp"

namespace {

[[maybe_unused]] const int slept = ::usleep(250'000);

}  // namespace

FAULTY_TOOL(faulty::GoodTool)
