// SPDX-License-Identifier: Apache-2.0
// A plugin with a single defect that the build selects: BAD_ENTRY, BAD_UNDEFINED, or nothing.
#include <agentforge/abi.hpp>

#include <cstdlib>

namespace {

/// Leaves a trace if static constructors ran.
struct Trace {
    Trace() { setenv("AGENTFORGE_TEST_CONSTRUCTED", "1", 1); }
} trace;

}  // namespace

#ifdef BAD_UNDEFINED
void defined_nowhere();
#endif

extern "C" __attribute__((visibility("default"))) const void* BAD_ENTRY() {
#ifdef BAD_UNDEFINED
    defined_nowhere();
#endif
    static const char* const linked = agentforge_abi_fingerprint();
    return linked;
}
