// SPDX-License-Identifier: Apache-2.0
// Runs one program, bounded in time and output, and leaves nothing of it behind.
//
// This is the plain runner: it confines nothing. The kernel's sandbox uses it to run its helper;
// a plugin uses it only where its interface offers no host service for processes (a model backend
// that is a command). Linux 5.4 or newer.
//
// What is promised
//   - The program leads a session of its own: no controlling terminal, one process group.
//   - It sees exactly the environment given, descriptors 0, 1 and 2 (and 3, 4 where `extra_input`
//     is set) and no other; every signal has its default action and none is blocked.
//   - Whatever ends the call, the program's tree is killed *before* the program is reaped, so no
//     process id can be taken for another's. A process that left the group *and* lost its parent
//     escapes this runner; under a supervisor that is a subreaper (agentforge-exec) none does.
//   - Where this process's environment names agentforge-exec in AGENTFORGE_SUPERVISOR (the program `agentforge` does), `run` puts
//     it over the program, without confinement: the whole tree then ends with this process too, were it by kill -9.
//   - Memory is bounded by `max_output_bytes` a stream, whatever the program prints.
//
// Threads: `run` may be called from any thread and blocks it. No signal handler is installed.
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
    std::vector<std::string> argv;                   ///< argv[0] included.
    std::string directory;                           ///< Absolute.
    std::map<std::string, std::string> environment;  ///< The whole of it.
    std::string input;                               ///< Standard input, a sealed memory file; empty: /dev/null.
    std::chrono::milliseconds timeout{60'000};
    std::chrono::milliseconds grace{2'000};     ///< Between TERM and KILL of the tree; after a cancel at most 50 ms.
    std::size_t max_output_bytes = 1UL << 20U;  ///< Each stream: its head and its tail are kept.
    /// Where set, descriptor 3 reads this and what is written to descriptor 4 comes back as `Outcome::report`.
    std::optional<std::string> extra_input;
    /// The program ends by itself once its descendants are gone (agentforge-exec): it is killed last.
    bool supervisor = false;
};

struct Outcome {
    int exit_code = -1;  ///< 128 + signal where one ended it.
    int signal = 0;
    bool timed_out = false;
    bool cancelled = false;
    bool out_truncated = false;
    bool err_truncated = false;
    std::string out;  ///< Bytes as they came; `[… N bytes left out …]` stands for what was left out.
    std::string err;
    std::string report;  ///< At most 1 MiB.
    std::chrono::milliseconds duration{0};
};

/// Asked every 50 ms while the program runs; empty: never cancelled.
using Cancelled = std::function<bool()>;

/// Runs to the end, the timeout or the cancel. A program that fails is an outcome and not an error.
/// Errors: AF-EXEC-001 program not found, AF-EXEC-002 cannot start (directory, descriptors,
/// arguments too long), AF-EXEC-003 cannot be executed.
[[nodiscard]] Result<Outcome> run(const Command& command, const Cancelled& cancelled);

/// Receives each part of standard output as it arrives, in the calling thread.
using Listener = std::function<void(std::string_view)>;
/// The same; `out` receives what the program prints before `cancelled` is asked again.
[[nodiscard]] Result<Outcome> run(const Command& command, const Cancelled& cancelled, const Listener& out);

/// The absolute path of `name`: looked up in `path` (as PATH is written) where it has no `/`, else
/// taken relative to `directory`. Relative and empty entries of `path` are passed over: what a
/// checkout contains must not become a command.
/// Errors: AF-EXEC-001 not found, AF-EXEC-003 found but not executable.
[[nodiscard]] Result<std::string> find_program(std::string_view name, std::string_view path, std::string_view directory);

/// Replaces every byte that is not part of well-formed UTF-8 (RFC 3629) with U+FFFD.
[[nodiscard]] std::string to_utf8(std::string_view bytes);

}  // namespace agentforge::process
