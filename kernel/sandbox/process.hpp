// SPDX-License-Identifier: Apache-2.0
// Subprocesses: bounded, confined, and never outliving the call.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "base/cancel.hpp"

namespace agentforge::kernel {

enum class Network : unsigned char { none = 1, full };

/// What a subprocess may do. Paths are absolute, NUL-free and given as the kernel knows them: a
/// writable path that leads over a symbolic link is refused (AF-EXEC-004), because an earlier
/// command could have planted it. Read is granted on `readable` and everything writable.
///
/// Enforced by agentforge-exec, each layer probed and told in `ProcessOutcome::confinement`:
///   - files: Landlock. `/tmp` is not writable; give a scratch folder in `writable` and name it in
///     TMPDIR, and in HOME too, as the user's own is closed (git fails on a HOME it may not read).
///     `/dev/shm` is a private one where the kernel gives a mount namespace.
///   - `hidden`: covered by an empty mount in a private mount namespace ("hidden": "mounts"). Where
///     there is none, the rules go around them ("hidden": "landlock"): Landlock cannot subtract, so
///     the children of each folder on the way down are granted one by one; names can then still be
///     listed, and nothing new can be made directly in those folders.
///   - network none: an own network namespace with its own loopback ("network": "namespace"), else
///     Landlock refuses TCP ("landlock_tcp", ABI 4); with neither, the process is refused.
///   - limits: memory is RLIMIT_DATA of each process; processes are RLIMIT_NPROC, and as root, whom
///     the kernel excepts, a watch of the supervisor that kills the tree ("processes_by": "watch").
///   - root keeps no capability but CAP_DAC_OVERRIDE; no_new_privs is on, except when not enabled.
/// Not covered: chmod, chown and utime on readable paths of the same owner, connecting to a UNIX
/// socket that has a path. Both need a seccomp filter; agentforge-exec names its place.
struct Confinement {
    bool enabled = true;                        ///< false only for model CLIs that need the user's own rights.
    std::vector<std::string> readable;          ///< Folders and files; the system's (/usr, /lib, /etc, …) are added.
    std::vector<std::string> writable;
    std::vector<std::string> hidden;            ///< Inside readable folders, yet closed (`.git`); refused where the kernel cannot.
    Network network = Network::none;
    std::uint64_t max_memory_bytes = 4ULL << 30U;
    std::uint64_t max_processes = 512;          ///< Above those that the user has now.
    std::uint64_t max_file_bytes = 2ULL << 30U;
    std::uint64_t max_cpu_seconds = 3600;
    int minimum_landlock_abi = 1;               ///< Below it the process is refused (AF-EXEC-004), naming what is missing.
};

struct ProcessRequest {
    std::vector<std::string> argv;
    std::string directory;                                  ///< Absolute.
    std::map<std::string, std::string> environment;         ///< The whole of it; see base_environment.
    std::string input;                                      ///< Empty: /dev/null.
    std::chrono::milliseconds timeout{60'000};
    std::chrono::milliseconds grace{2'000};                 ///< Between TERM and KILL of the whole tree.
    std::size_t max_output_bytes = 1UL << 20U;              ///< Each stream: head and tail are kept.
    Confinement confinement;
};

struct ProcessOutcome {
    int exit_code = -1;             ///< 128 + signal where one ended it.
    int signal = 0;
    bool timed_out = false;
    bool cancelled = false;
    bool out_truncated = false;
    bool err_truncated = false;
    std::string out;                ///< Bytes as they came.
    std::string err;
    std::chrono::milliseconds duration{0};
    json::object confinement;       ///< {"landlock_abi": 7, "network": "none", …}: what was in force.
};

/// Runs programs. Implementations may be called from any thread.
class ProcessRunner {
public:
    virtual ~ProcessRunner() = default;
    /// Errors: AF-EXEC-001 program not found, AF-EXEC-002 cannot start, AF-EXEC-003 cannot be executed,
    /// AF-EXEC-004 confinement not available.
    /// A program that fails, or a timeout, is an outcome and not an error.
    [[nodiscard]] virtual Result<ProcessOutcome> run(const ProcessRequest& request, const Stop& stop) = 0;
};

/// posix_spawn of the static helper `agentforge-exec`, which confines itself and execs. The helper
/// stays as the program's parent and subreaper: nothing the program starts outlives the call, nor
/// the host. `run` must not be called from a thread that ends before it returns.
[[nodiscard]] std::unique_ptr<ProcessRunner> make_process_runner(std::string exec_helper);

/// A confined program that is talked to while it runs.
class ConfinedTalk {
public:
    virtual ~ConfinedTalk() = default;
    struct Heard {
        bool in_open = true;            ///< False once the program closed its input.
        bool out_open = true;
        bool ended = false;             ///< It is gone; what it wrote before has been read.
    };
    /// Writes what fits of `to_write` and takes it off there; appends what came, at most 1 MiB a stream; returns as soon as
    /// anything happened, after `wait` at the latest.
    [[nodiscard]] virtual Heard exchange(std::string& to_write, std::string& out, std::string& err, std::chrono::milliseconds wait) = 0;
    /// Closes its input, gives it `patience` to end by itself, TERM, the request's `grace`, KILL of the whole tree. Answers with how
    /// it ended (`err`: what came since the last exchange), or with why it was never started: the errors of ProcessRunner::run.
    [[nodiscard]] virtual Result<ProcessOutcome> end(std::chrono::milliseconds patience) = 0;
};

/// Starts the request's program by the helper, confined as `run` confines; `input`, `timeout` and `max_output_bytes` are not used.
/// A refusal of the helper shows as a program that ended: `end` says why. Nothing it started outlives the object, the host or the
/// thread that began it. Errors: AF-EXEC-….
[[nodiscard]] Result<std::unique_ptr<ConfinedTalk>> begin_talk(const std::string& exec_helper, const ProcessRequest& request);

/// PATH, HOME, LANG, LC_*, TZ, TMPDIR, USER, LOGNAME, SHELL, TERM of `environment`: what a child may see. Nothing
/// named *KEY*, *TOKEN*, *SECRET*, *PASSWORD* ever.
[[nodiscard]] std::map<std::string, std::string> base_environment(const std::map<std::string, std::string>& environment);
[[nodiscard]] std::map<std::string, std::string> current_environment();

/// Folders outside the system's that programs on PATH need to read: each folder of PATH and, for `…/bin` and `…/shims`, the
/// installation around it (a virtual environment, pyenv, nvm, cargo). Never the home folder itself, `~/.local` or `/`: of
/// `~/.local/bin` only its sibling `lib` is added. What does not exist is left out. For Confinement::readable.
[[nodiscard]] std::vector<std::string> program_folders(const std::map<std::string, std::string>& environment);

}  // namespace agentforge::kernel
