// SPDX-License-Identifier: Apache-2.0
// A cgroup (version 2) for one program and everything it starts: the kernel enforces the limits on memory and processes.
//
// `make` creates it only below a cgroup that systemd delegated, marked by the extended attribute user.delegate or
// trusted.delegate. That is either this process's own cgroup or the one directly above it. A cgroup with limits for its children
// may hold no processes, so `make` moves the processes of its own cgroup to `agentforge-host` below. `systemd-run --user --scope
// -p Delegate=yes agentforge …` starts AgentForge in a delegated cgroup.
#pragma once

#include <cstddef>

#include "policy.hpp"

namespace agentforge::exec {

class Cgroup {
public:
    /// Creates the cgroup below the one delegated to this process. Returns false if there is none, or if it lacks a needed
    /// controller.
    bool make(const Policy& policy);
    /// The same, with cgroups mounted at `mount` and this process in the cgroup `own` (`/a/b`).
    bool make(const char* mount, const char* own, const Policy& policy);

    /// Moves the calling process into the cgroup. Also returns true if there is no cgroup.
    [[nodiscard]] bool join() const;
    /// Returns the limit that the kernel enforced, or null. Also works in another root and other namespaces.
    [[nodiscard]] const char* exceeded() const;
    /// Kills the processes in the cgroup and removes it. `make` can then be called again.
    void remove();

    [[nodiscard]] bool made() const { return processes_ >= 0; }

private:
    char folder_[512] = "";
    int processes_ = -1;  // Its open cgroup.procs, memory.events and pids.events.
    int memory_events_ = -1;
    int process_events_ = -1;
};

}  // namespace agentforge::exec
