// SPDX-License-Identifier: Apache-2.0
// A plugin that links libagentforge-abi.so of this build, but was compiled with _GLIBCXX_DEBUG: its std::vector has another
// layout. Only the descriptor's own fingerprint shows this.
#include <agentforge/plugin.hpp>

namespace {

void* create(const char*, char*, std::size_t) { return nullptr; }
void destroy(void*) {}

}  // namespace

AGENTFORGE_PLUGIN("org.agentforge.test.flags", "1.0.0", "Apache-2.0",
                  agentforge::AgentforgeFactory{sizeof(agentforge::AgentforgeFactory), 1, 1, "flags", create, destroy})
