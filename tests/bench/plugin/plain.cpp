// SPDX-License-Identifier: Apache-2.0
// In a separate source, so the compiler cannot see which class is called.
#include "bench/plugin/plain.hpp"

#include "bench/plugin/nothing.hpp"

namespace agentforge::bench {

std::unique_ptr<Tool> plain_tool() { return std::make_unique<NoTool>(); }
std::unique_ptr<Stage> plain_stage() { return std::make_unique<NoStage>(); }

}  // namespace agentforge::bench
