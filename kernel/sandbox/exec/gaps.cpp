// SPDX-License-Identifier: Apache-2.0
#include "gaps.hpp"

#include <cstring>

#include "landlock_rules.hpp"
#include "report.hpp"

namespace agentforge::exec {
namespace {

struct Gap {
    const char* name;
    int closed_since;       // Landlock ABI.
    const char* linux_version;
    const char* what;
};

constexpr Gap gaps[] = {
    {"truncate", 3, "6.2", "programs could empty any file of this user"},
    {"signals", 6, "6.12", "programs could send signals to any process of this user"},
};

bool accepted(const Policy& policy, const Gap& gap) {
    bool found = false;
    for_each(policy, "accept", [&](const char* name) {
        found = found || strcmp(name, gap.name) == 0;
        return Step::next;
    });
    return found;
}

}  // namespace

void report_gaps(const Policy& policy, const char* missing) {
    const int abi = landlock_abi(policy);
    if (abi < 1) { refuse("the kernel has neither Landlock nor namespaces for this user: %s", missing); }
    report("no_full_mode %s", missing);
    for (const Gap& gap : gaps) {
        if (abi >= gap.closed_since) { continue; }
        if (!accepted(policy, gap)) {
            refuse("%s: Landlock ABI %d, and %d (Linux %s) would be needed to stop it without namespaces, which are not available: %s. "
                   "Allow namespaces, use a newer kernel, or accept this with `%s` in sandbox.accept of your own settings",
                   gap.what, abi, gap.closed_since, gap.linux_version, missing, gap.name);
        }
        report("open_gap %s", gap.name);
    }
}

}  // namespace agentforge::exec
