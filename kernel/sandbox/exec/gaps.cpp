// SPDX-License-Identifier: Apache-2.0
#include "gaps.hpp"

#include <cstdio>
#include <cstring>

#include "landlock_rules.hpp"
#include "report.hpp"

namespace agentforge::exec {
namespace {

struct Gap {
    const char* name;
    int closed_since;    // Landlock ABI that closes the gap.
    const char* kernel;  // Kernel that has this ABI.
    const char* what;
};

constexpr int no_abi_yet = 1'000'000;
constexpr Gap gaps[] = {
    {"truncate", 3, "Linux 6.2", "empty any file of this user"},
    {"signals", 6, "Linux 6.12", "send signals to any process of this user"},
    {"metadata", no_abi_yet, "no kernel yet", "change owner group, permissions and times of any file of this user"},
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
    char open[600] = "";
    for (const Gap& gap : gaps) {
        if (abi >= gap.closed_since) { continue; }
        if (accepted(policy, gap)) {
            report("open_gap %s", gap.name);
            continue;
        }
        const size_t used = strlen(open);
        snprintf(open + used, sizeof open - used, "%s`%s`: programs could %s (stopped by %s)", used == 0 ? "" : "; ", gap.name,
                 gap.what, gap.kernel);
    }
    if (open[0] == '\0') { return; }
    refuse(
        "Landlock ABI %d leaves this open, and namespaces, which would stop it, are not available: %s. %s. "
        "Allow namespaces, use a newer kernel, or accept this by name in sandbox.accept of your own settings",
        abi, missing, open);
}

}  // namespace agentforge::exec
