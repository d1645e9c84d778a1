// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

namespace mine {
__attribute__((visibility("default"), used)) int answer(const agentforge::Tool&) { return 42; }
}  // namespace mine

FAULTY_TOOL(faulty::GoodTool)
