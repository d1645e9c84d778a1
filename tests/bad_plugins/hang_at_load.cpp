// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "faulty.hpp"

namespace {

int wait_for_ever() {
    for (;;) { ::pause(); }
}
[[maybe_unused]] const int never = wait_for_ever();

}  // namespace

FAULTY_TOOL(faulty::GoodTool)
