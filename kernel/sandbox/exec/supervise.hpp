// SPDX-License-Identifier: Apache-2.0
// Waits for a program and all its descendants, and kills them if together they exceed a limit.
//
// Checks every 50 ms, or less often if a check is expensive. Checks the figures of the whole system first (tasks, memory, free
// disk). If these moved far enough, or a second has passed, checks each process of the tree. Checks written bytes once more when
// all processes have ended. A cgroup (cgroup.hpp) additionally limits memory and processes.
//
//   memory       their private pages, their part of shared pages, and their shared memory, mapped or not
//   processes    threads and zombies
//   cpu_seconds  of all processes, including ended ones; the limit is multiplied by the machine's processors
//   file_bytes   written by all processes, including ended ones, if the writable file systems lost as much space
#pragma once

#include <csignal>

#include "cgroup.hpp"
#include "policy.hpp"

namespace agentforge::exec {

constexpr int parent_died_signal = SIGUSR2;

/// The processes to count: all but this one (the first of a PID namespace), or the descendants of this one (a subreaper).
enum class ProcessTree : unsigned char { of_namespace = 1, of_descendants };

/// Returns the wait status of `program` once it has ended and everything it left behind was killed. `awaited` holds SIGCHLD and
/// parent_died_signal; the second also ends this process. Reports `limit NAME` when a limit is exceeded.
int supervise(const Policy& policy, Cgroup& cgroup, pid_t program, const sigset_t& awaited, ProcessTree tree, bool watched);

}  // namespace agentforge::exec
