// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "faulty.hpp"

namespace {

[[maybe_unused]] const int never = (::_exit(0), 0);

}  // namespace

FAULTY_TOOL(faulty::GoodTool)
