// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

FAULTY_ENTRY(descriptor.fingerprint = "AGENTFORGE_1_libstdcxx99_cxx11abi1_gxxabi1017_boost1_81_dbg0_sanNone")
