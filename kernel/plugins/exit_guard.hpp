// SPDX-License-Identifier: Apache-2.0
// Detects that something other than `main` ended the process. A plugin that calls exit(), _exit(), execve() or a similar
// function, or syscall() with their numbers, ends the whole program. An unfinished run must not look like a finished one.
//
// Not detected: a system call made by a plugin's own instruction, and SIGKILL (whose status is not 0). The next command names the
// plugin anyway.
#pragma once

#include <functional>
#include <string>

namespace agentforge::kernel::exit_guard {

/// Arms the guard until `end_process` or `expect_exit`. If any code ends this process (not a forked child), calls `report` on the
/// ending thread with the plugin call that the thread is in ("" if it is in none); then the process ends with code 1. `report`
/// must not throw.
void arm(std::function<void(const std::string& culprit)> report);
/// `main` returns with this code (-1: not known yet). Anything that ends the process from now on, such as an exit handler left by
/// a plugin, ends it with this code.
void expect_exit(int code = -1) noexcept;
/// For a forked child that continues the run: watches it like its parent.
void watch_this_process() noexcept;
/// For a forked child: its end is silent from now on and skips the work of `exit`, because the buffers also belong to its parent.
void leave_silently() noexcept;
/// Ends the process at once, as _exit does.
[[noreturn]] void end_process(int code) noexcept;
/// For the program's own `_exit`, which a plugin may call.
[[noreturn]] void leave(int code) noexcept;
/// For the program's own `execve`. Does nothing in a forked child. Elsewhere this process would become another program, so this
/// ends it as above.
void refuse_replacement() noexcept;

}  // namespace agentforge::kernel::exit_guard
