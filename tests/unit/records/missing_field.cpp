// SPDX-License-Identifier: Apache-2.0
// Must not compile: the record lacks its `message` (CMakeLists.txt expects the compiler's error).
#include "records/records.hpp"

agentforge::kernel::records::TaskFailed without_a_message() { return {.code = "AF-TEST-001"}; }
