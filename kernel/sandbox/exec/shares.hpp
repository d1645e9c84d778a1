// SPDX-License-Identifier: Apache-2.0
// Waits for a program and all it starts, and ends them where together they take more than their share.
//
// Looked at every 50 ms, less often where a look takes long: at the figures of the whole system, and where these moved, or a second
// went by, at each process of the tree.
//
//   memory       what only they hold (shared pages by their part) and their shared memory, whether mapped or not
//   processes    threads, and processes that ended and that nobody waited for
//   cpu_seconds  of all, ended ones too, times the processors of the machine
//   file_bytes   written by all, ended ones too, while the file systems that they may write lost as much
#pragma once

#include <csignal>

#include "policy.hpp"

namespace agentforge::exec {

constexpr int host_died = SIGUSR2;

/// Whom to count: all processes but this one (the first of a PID namespace), or what came from this one (a subreaper).
enum class Tree : unsigned char { of_namespace = 1, of_descendants };

/// Returns the wait status of `program` once it ended; what it left behind is dead then, where this is a subreaper, or dies with
/// this process. `heard` holds SIGCHLD and host_died, which is the end of this process too. Over a share reports `limit NAME`.
int supervise(const Policy& policy, pid_t program, const sigset_t& heard, Tree tree, bool watched);

}  // namespace agentforge::exec
