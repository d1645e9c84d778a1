// SPDX-License-Identifier: Apache-2.0
// Subprocesses with limits and confinement, which never outlive the call.
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

#include "base/cancel_token.hpp"

namespace agentforge::kernel {

enum class Network : unsigned char { none = 1, full };

/// The rights of a subprocess. Paths are absolute, without NUL, and in the kernel's form. A writable path that contains a
/// symbolic link is refused (AF-EXEC-004), because an earlier command could have planted it. `readable` and everything writable
/// can be read.
///
/// agentforge-exec enforces this and reports it in `ProcessOutcome::confinement`:
///   - "mode": "full": namespaces. The program sees a root with only the system's folders and what is granted; its own
///     /proc, /dev, /tmp and /dev/shm; its own processes, IPC and (network none) loopback interface.
///   - "mode": "landlock", if the kernel or its administrator allows no namespaces ("no_full_mode" says why): Landlock on the
///     same paths. `/tmp` and `/dev/shm` are then closed: put a scratch folder in `writable` and name it in TMPDIR and HOME.
///     Names below `hidden` can still be listed, and nothing new can be created directly in the folders on the way to it. Gaps
///     that Landlock leaves open must be in `ExecHelper::accepted_gaps`, and are then listed in "open_gaps"; otherwise the
///     program is refused.
///   - limits on the whole tree: a tree that exceeds one is killed, and "limit" names it.
///   - root keeps no capability except CAP_DAC_OVERRIDE; no_new_privs is set, unless `enabled` is false.
struct Confinement {
    bool enabled = true;                ///< False only for model CLIs that need the user's own rights.
    std::vector<std::string> readable;  ///< Folders and files, in addition to the system's (/usr, /lib, /etc, …).
    std::vector<std::string> writable;
    /// Closed although inside readable folders (`.git`). Refused if the kernel cannot hide them.
    std::vector<std::string> hidden;
    Network network = Network::none;
    std::uint64_t max_memory_bytes = 4ULL << 30U;    ///< For the whole tree, including shared memory.
    std::uint64_t max_shared_bytes = 512ULL << 20U;  ///< For each of /tmp, /dev/shm and System V segments (full mode).
    std::uint64_t max_processes = 512;               ///< For the whole tree, including threads.
    std::uint64_t max_file_bytes = 2ULL << 30U;      ///< For one file, and for what the whole tree adds to the disk.
    std::uint64_t max_cpu_seconds = 3600;            ///< For one process, and for the whole tree per processor of the machine.
    bool namespaces = true;                          ///< False: Landlock mode, whatever the kernel supports.
    int landlock_at_most = 1'000;                    ///< Below the kernel's own ABI: acts as an older kernel, for tests.
};

struct ProcessRequest {
    std::vector<std::string> argv;
    std::string directory;                           ///< Absolute path.
    std::map<std::string, std::string> environment;  ///< The complete environment; see base_environment.
    std::string input;                               ///< Empty: /dev/null.
    std::chrono::milliseconds timeout{60'000};
    std::chrono::milliseconds grace{2'000};     ///< Time between TERM and KILL of the whole tree.
    std::size_t max_output_bytes = 1UL << 20U;  ///< Limit for each stream. Keeps head and tail.
    Confinement confinement;
};

struct ProcessOutcome {
    int exit_code = -1;  ///< 128 + signal if a signal ended it.
    int signal = 0;
    bool timed_out = false;
    bool cancelled = false;
    bool out_truncated = false;
    bool err_truncated = false;
    std::string out;  ///< The bytes as received.
    std::string err;
    std::chrono::milliseconds duration{0};
    json::object confinement;  ///< The confinement in force: {"landlock_abi": 7, "network": "none", …}.
};

/// Runs programs. Implementations may be called from any thread.
class ProcessRunner {
public:
    virtual ~ProcessRunner() = default;
    /// Runs a program to its end. A failing program and a timeout are outcomes, not errors. Errors: AF-EXEC-001 program not
    /// found, AF-EXEC-002 cannot start, AF-EXEC-003 not executable, AF-EXEC-004 confinement unavailable.
    [[nodiscard]] virtual Result<ProcessOutcome> run(const ProcessRequest& request, const Stop& stop) = 0;
};

/// The static helper `agentforge-exec`, and the gaps it may leave open on a kernel that cannot close them.
struct ExecHelper {
    ExecHelper() = default;
    ExecHelper(std::string file, std::vector<std::string> gaps = {})
        : path(std::move(file)), accepted_gaps(std::move(gaps)) {}  // NOLINT: a path is a helper.
    ExecHelper(const char* file) : path(file) {}                    // NOLINT
    std::string path;
    /// Gaps that the user accepts for Landlock mode: "metadata" (any Landlock), "signals" (below ABI 6), "truncate" (below 3).
    std::vector<std::string> accepted_gaps;
};

/// Returns a runner that spawns the static helper `agentforge-exec` (posix_spawn), which confines itself and execs. The helper
/// stays as the program's parent and subreaper: nothing that the program starts outlives the call or the host. Do not call `run`
/// on a thread that ends before it returns.
[[nodiscard]] std::unique_ptr<ProcessRunner> make_process_runner(ExecHelper exec_helper);

/// Talks to a confined program while it runs.
class InteractiveProcess {
public:
    virtual ~InteractiveProcess() = default;
    struct Exchanged {
        bool in_open = true;  ///< False once the program has closed its input.
        bool out_open = true;
        bool ended = false;  ///< The program has ended, and all its output has been read.
    };
    /// Writes as much of `to_write` as fits and removes that part. Appends new output, at most 1 MiB per stream. Returns as soon
    /// as anything happens, and after `wait` at the latest.
    [[nodiscard]] virtual Exchanged exchange(std::string& to_write, std::string& out, std::string& err,
                                             std::chrono::milliseconds wait) = 0;
    /// Closes the program's input and waits `timeout` for it to end. Then sends TERM, waits the request's `grace`, and sends
    /// KILL to the whole tree. Returns how it ended (`err`: what arrived since the last exchange), or why it was never started:
    /// the errors of ProcessRunner::run.
    [[nodiscard]] virtual Result<ProcessOutcome> end(std::chrono::milliseconds timeout) = 0;
};

/// Starts the request's program with the helper, confined as in `run`. Ignores `input`, `timeout` and `max_output_bytes`. If the
/// helper refuses, the program appears to have ended, and `end` returns the reason. Nothing it started outlives the object, the
/// host or the thread that began it. Errors: AF-EXEC-….
[[nodiscard]] Result<std::unique_ptr<InteractiveProcess>> start_interactive(const ExecHelper& exec_helper,
                                                                            const ProcessRequest& request);

/// Returns what a child may see of `environment`: PATH, HOME, LANG, LANGUAGE, LC_*, TZ, TMPDIR, USER, LOGNAME, SHELL, TERM.
/// Never a variable named *KEY*, *TOKEN*, *SECRET* or *PASSWORD*.
[[nodiscard]] std::map<std::string, std::string> base_environment(const std::map<std::string, std::string>& environment);
[[nodiscard]] std::map<std::string, std::string> current_environment();
/// True if a folder of `PATH` has the program.
[[nodiscard]] bool is_on_path(const std::map<std::string, std::string>& environment, const std::string& program);

/// Returns the paths outside the system's folders that programs on PATH need to read, for Confinement::readable: each folder of
/// PATH and, for `…/bin` and `…/shims`, its siblings in the installation (a virtual environment, nvm, a JDK), except files whose
/// names begin with a dot. If the installation folder's own name begins with a dot (`~/.cargo`, `~/.docker`, `~/.pyenv`), it also
/// holds a tool's settings and keys. Then only its known parts are included: `lib`, `share`, `versions` and the like. For
/// `~/.local/bin`, includes only its sibling `lib`. Never includes the home folder or `/`. Leaves out missing paths.
[[nodiscard]] std::vector<std::string> program_folders(const std::map<std::string, std::string>& environment);

}  // namespace agentforge::kernel
