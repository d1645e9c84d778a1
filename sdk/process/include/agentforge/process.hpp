// SPDX-License-Identifier: Apache-2.0
// Runs one program with bounded time and output, and leaves no process behind.
//
// This runner confines nothing. The kernel's sandbox uses it to run its helper. A plugin uses it only if its interface offers no
// host service for processes (a model backend that is a command). Linux 5.4 or newer.
//
// Guarantees:
//   - The program leads its own session: no controlling terminal, one process group.
//   - It sees exactly the given environment and descriptors 0, 1 and 2 (and 3 and 4 if `extra_input`
//     is set). Every signal has its default action and none is blocked.
//   - However the call ends, the program's tree is killed *before* the program is reaped, so a
//     process id cannot belong to another process. A process that left the group *and* lost its parent
//     escapes this runner. None escapes under a supervisor that is a subreaper (agentforge-exec).
//   - If AGENTFORGE_SUPERVISOR in this process's environment names agentforge-exec (the program `agentforge`
//     sets it), `run` puts it over the program, without confinement. The whole tree then also ends with this
//     process, even on kill -9.
//   - Memory is bounded by `max_output_bytes` for each stream, whatever the program prints.
//
// Threads: `run` may be called from any thread and blocks it. It installs no signal handler.
#pragma once

#include <agentforge/result.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::process {

inline constexpr const char* supervisor_variable = "AGENTFORGE_SUPERVISOR";

struct Command {
    std::string program;                             ///< Absolute path, from find_program.
    std::vector<std::string> argv;                   ///< Including argv[0].
    std::string directory;                           ///< Absolute path.
    std::map<std::string, std::string> environment;  ///< The complete environment.
    std::string input;                               ///< Standard input, as a sealed memory file. Empty: /dev/null.
    std::chrono::milliseconds timeout{60'000};
    std::chrono::milliseconds grace{2'000};     ///< Time between TERM and KILL of the tree. At most 50 ms after a cancel.
    std::size_t max_output_bytes = 1UL << 20U;  ///< Limit for each stream. Keeps the head and the tail of longer output.
    /// If set, descriptor 3 reads this text, and `Outcome::report` holds what was written to descriptor 4.
    std::optional<std::string> extra_input;
    /// The program (agentforge-exec) ends itself once its descendants are gone, so it is killed last.
    bool supervisor = false;
};

struct Outcome {
    int exit_code = -1;  ///< 128 + signal if a signal ended the program.
    int signal = 0;
    bool timed_out = false;
    bool cancelled = false;
    bool out_truncated = false;
    bool err_truncated = false;
    std::string out;  ///< The bytes as received. `[… N bytes left out …]` replaces dropped bytes.
    std::string err;
    std::string report;  ///< At most 1 MiB.
    std::chrono::milliseconds duration{0};
};

/// Called every 50 ms while the program runs. Empty: never cancelled.
using Cancelled = std::function<bool()>;

/// Runs until the end, the timeout or a cancel. A failing program is an outcome, not an error. Errors: AF-EXEC-001 program not
/// found, AF-EXEC-002 cannot start (directory, descriptors, arguments too long), AF-EXEC-003 not executable.
[[nodiscard]] Result<Outcome> run(const Command& command, const Cancelled& cancelled);

/// Receives each part of standard output as it arrives, in the calling thread.
using Listener = std::function<void(std::string_view)>;
/// The same, with a listener. `out` receives what the program prints before the next call of `cancelled`.
[[nodiscard]] Result<Outcome> run(const Command& command, const Cancelled& cancelled, const Listener& out);

/// Returns the absolute path of `name`. Searches `path` (in the form of PATH) if `name` has no `/`; otherwise resolves it against
/// `directory`. Skips relative and empty entries of `path`, because a file of a checkout must not become a command.
/// Errors: AF-EXEC-001 not found, AF-EXEC-003 found but not executable.
[[nodiscard]] Result<std::string> find_program(std::string_view name, std::string_view path, std::string_view directory);

/// Replaces every byte that is not part of well-formed UTF-8 (RFC 3629) with U+FFFD.
[[nodiscard]] std::string to_utf8(std::string_view bytes);

}  // namespace agentforge::process
