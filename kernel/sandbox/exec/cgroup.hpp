// SPDX-License-Identifier: Apache-2.0
// A cgroup (version 2) for one program and everything it starts, so that the kernel itself holds the limits of memory and
// processes.
//
// It is made only below a cgroup that systemd delegated, marked by the extended attribute user.delegate or trusted.delegate: the
// one of this process (its processes then move to `agentforge-host` below it, because a cgroup with limits for its children may
// hold no processes), or the one directly above it. `systemd-run --user --scope -p Delegate=yes agentforge …` starts AgentForge
// in one.
#pragma once

#include <cstddef>

#include "policy.hpp"

namespace agentforge::exec {

class Cgroup {
public:
    /// Makes the cgroup below the one that is delegated to this process. False if there is none, or if it lacks what is needed.
    bool make(const Policy& policy);
    /// The same, with cgroups mounted at `mount` and this process in the cgroup `own` (`/a/b`).
    bool make(const char* mount, const char* own, const Policy& policy);

    /// Moves the calling process into the cgroup. True also without a cgroup.
    [[nodiscard]] bool join() const;
    /// The limit that the kernel enforced, or null. Can be called from within another root and other namespaces.
    [[nodiscard]] const char* exceeded() const;
    /// Kills what is left in the cgroup and removes it; `make` can then be called again.
    void remove();

    [[nodiscard]] bool made() const { return processes_ >= 0; }

private:
    char folder_[512] = "";
    int processes_ = -1;  // Its open cgroup.procs, memory.events and pids.events.
    int memory_events_ = -1;
    int process_events_ = -1;
};

}  // namespace agentforge::exec
