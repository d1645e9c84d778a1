// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

FAULTY_ENTRY(descriptor.abi_version = AGENTFORGE_ABI_VERSION - 1)
