// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

extern "C" {
__attribute__((visibility("default"))) extern const char* const agentforge_plugin;
const char* const agentforge_plugin = agentforge_abi_fingerprint();
}
