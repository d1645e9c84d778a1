// SPDX-License-Identifier: Apache-2.0
// No fault: what the others are measured against.
#include "faulty.hpp"

FAULTY_TOOL(faulty::GoodTool)
