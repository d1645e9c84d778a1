// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

extern "C" __attribute__((visibility("default"), used)) const agentforge::AgentforgeDescriptor* agentforge_plugin() {
    return agentforge_abi_fingerprint() == nullptr
               ? reinterpret_cast<const agentforge::AgentforgeDescriptor*>(faulty::good_factory())
               : nullptr;
}
