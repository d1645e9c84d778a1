// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "faulty.hpp"

namespace {

[[maybe_unused]] const int crashed = std::raise(SIGSEGV);

}  // namespace

FAULTY_TOOL(faulty::GoodTool)
