// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

namespace agentforge::kernel {
__attribute__((visibility("default"), used)) int read_manifest() { return 1; }
}  // namespace agentforge::kernel

FAULTY_TOOL(faulty::GoodTool)
