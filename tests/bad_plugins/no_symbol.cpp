// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

extern "C" __attribute__((visibility("default"), used)) const char* another_entry() { return agentforge_abi_fingerprint(); }
