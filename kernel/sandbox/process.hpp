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
/// Enforced by agentforge-exec and reported in `ProcessOutcome::confinement`:
///   - "mode": "full": namespaces. The program sees a root with only the system's folders and what is granted; its own
///     /proc, /dev, /tmp and /dev/shm; its own processes, IPC and (network none) loopback interface.
///   - "mode": "landlock", if the kernel or its owner allows no namespaces ("no_full_mode" says why): Landlock on the same paths.
///     `/tmp` and `/dev/shm` are then closed: give a scratch folder in `writable` and name it in TMPDIR and HOME. Names below
///     `hidden` can still be listed, and nothing new can be created directly in the folders on the way down to it. Gaps that
///     Landlock leaves open must be in `ExecHelper::accepted_gaps`, and are then listed in "open_gaps"; otherwise the program is
///     refused.
///   - limits on the whole tree: a tree that exceeds one is killed, and "limit" names it.
///   - root keeps no capability but CAP_DAC_OVERRIDE; no_new_privs is on, except when not enabled.
struct Confinement {
    bool enabled = true;                ///< false only for model CLIs that need the user's own rights.
    std::vector<std::string> readable;  ///< Folders and files; the system's (/usr, /lib, /etc, …) are added.
    std::vector<std::string> writable;
    std::vector<std::string> hidden;  ///< Inside readable folders, yet closed (`.git`); refused where the kernel cannot.
    Network network = Network::none;
    std::uint64_t max_memory_bytes = 4ULL << 30U;    ///< Of the whole tree, shared memory included.
    std::uint64_t max_shared_bytes = 512ULL << 20U;  ///< Of /tmp, of /dev/shm and of System V segments, each (full mode).
    std::uint64_t max_processes = 512;               ///< Of the whole tree, with threads.
    std::uint64_t max_file_bytes = 2ULL << 30U;      ///< Of one file, and of what the whole tree adds to the disk.
    std::uint64_t max_cpu_seconds = 3600;            ///< Of one process, and of the whole tree for each processor of the machine.
    bool namespaces = true;                          ///< false: Landlock mode, whatever the kernel supports.
    int landlock_at_most = 1'000;                    ///< Below the kernel's own ABI: acts as an older kernel, for tests.
};

struct ProcessRequest {
    std::vector<std::string> argv;
    std::string directory;                           ///< Absolute.
    std::map<std::string, std::string> environment;  ///< The whole of it; see base_environment.
    std::string input;                               ///< Empty: /dev/null.
    std::chrono::milliseconds timeout{60'000};
    std::chrono::milliseconds grace{2'000};     ///< Between TERM and KILL of the whole tree.
    std::size_t max_output_bytes = 1UL << 20U;  ///< Each stream: head and tail are kept.
    Confinement confinement;
};

struct ProcessOutcome {
    int exit_code = -1;  ///< 128 + signal where one ended it.
    int signal = 0;
    bool timed_out = false;
    bool cancelled = false;
    bool out_truncated = false;
    bool err_truncated = false;
    std::string out;  ///< Bytes as they came.
    std::string err;
    std::chrono::milliseconds duration{0};
    json::object confinement;  ///< {"landlock_abi": 7, "network": "none", …}: what was in force.
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

/// The static helper `agentforge-exec`, and the gaps it may leave open on a kernel that cannot close them.
struct ExecHelper {
    ExecHelper() = default;
    ExecHelper(std::string file, std::vector<std::string> gaps = {})
        : path(std::move(file)), accepted_gaps(std::move(gaps)) {}  // NOLINT: a path is a helper.
    ExecHelper(const char* file) : path(file) {}                    // NOLINT
    std::string path;
    std::vector<std::string> accepted_gaps;  ///< "metadata" (any Landlock), "signals" (below ABI 6), "truncate" (below 3):
                                             ///< accepted by the user for Landlock mode.
};

/// posix_spawn of the static helper `agentforge-exec`, which confines itself and execs. The helper
/// stays as the program's parent and subreaper: nothing the program starts outlives the call, nor
/// the host. `run` must not be called from a thread that ends before it returns.
[[nodiscard]] std::unique_ptr<ProcessRunner> make_process_runner(ExecHelper exec_helper);

/// A confined program that is talked to while it runs.
class ConfinedTalk {
public:
    virtual ~ConfinedTalk() = default;
    struct Heard {
        bool in_open = true;  ///< False once the program closed its input.
        bool out_open = true;
        bool ended = false;  ///< It is gone; what it wrote before has been read.
    };
    /// Writes what fits of `to_write` and takes it off there; appends what came, at most 1 MiB a stream; returns as soon as
    /// anything happened, after `wait` at the latest.
    [[nodiscard]] virtual Heard exchange(std::string& to_write, std::string& out, std::string& err,
                                         std::chrono::milliseconds wait) = 0;
    /// Closes its input, gives it `patience` to end by itself, TERM, the request's `grace`, KILL of the whole tree. Answers with
    /// how it ended (`err`: what came since the last exchange), or with why it was never started: the errors of
    /// ProcessRunner::run.
    [[nodiscard]] virtual Result<ProcessOutcome> end(std::chrono::milliseconds patience) = 0;
};

/// Starts the request's program by the helper, confined as `run` confines; `input`, `timeout` and `max_output_bytes` are not
/// used. A refusal of the helper shows as a program that ended: `end` says why. Nothing it started outlives the object, the host
/// or the thread that began it. Errors: AF-EXEC-….
[[nodiscard]] Result<std::unique_ptr<ConfinedTalk>> begin_talk(const ExecHelper& exec_helper, const ProcessRequest& request);

/// PATH, HOME, LANG, LC_*, TZ, TMPDIR, USER, LOGNAME, SHELL, TERM of `environment`: what a child may see. Nothing
/// named *KEY*, *TOKEN*, *SECRET*, *PASSWORD* ever.
[[nodiscard]] std::map<std::string, std::string> base_environment(const std::map<std::string, std::string>& environment);
[[nodiscard]] std::map<std::string, std::string> current_environment();

/// Paths outside the system's folders that programs on PATH need to read: each folder of PATH and, for `…/bin` and `…/shims`, its
/// siblings in the installation (a virtual environment, nvm, a JDK), except files whose names begin with a dot. If the
/// installation folder's own name begins with a dot (`~/.cargo`, `~/.docker`, `~/.pyenv`), it also holds a tool's settings and
/// keys, so only its known parts are included: `lib`, `share`, `versions` and the like. For `~/.local/bin` only its sibling
/// `lib`; never the home folder or `/`. Missing paths are left out. For Confinement::readable.
[[nodiscard]] std::vector<std::string> program_folders(const std::map<std::string, std::string>& environment);

}  // namespace agentforge::kernel
