// SPDX-License-Identifier: Apache-2.0
// agentforge-exec: confines itself and runs one program.
//
// On Linux, confinement applies to the calling thread and is inherited. A host with many threads cannot set it up between fork
// and exec. So the host spawns this program, which is static and has one thread. It reads its policy from descriptor 3
// (policy.hpp) and becomes the supervisor:
//
//   full mode       supervisor ─▶ first process of new namespaces, in its own root (root.hpp) ─▶ program
//                   Everything inside dies with that first process, which dies with the supervisor.
//   Landlock mode   supervisor, a subreaper ─▶ program, restricted by Landlock (landlock_rules.hpp)
//                   Used if the kernel or its administrator allows no namespaces. Processes that the program leaves behind
//                   (double fork, setsid) become children of the supervisor, which kills them before it ends.
//
// In both modes the program's process applies, in this order: limits → no_new_privs → capabilities → Landlock → seccomp → exec.
// The supervisor dies with the host (PR_SET_PDEATHSIG) and kills the tree.
//
// argv: agentforge-exec, then the program's own argv. Report, written to descriptor 4 as records `key value`, each ended by NUL:
// what is in force, and how it ended (`exit N` | `signal N`, `exec ERRNO`, `refused TEXT`, `failed TEXT`). Exit code: the
// program's.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gaps.hpp"
#include "ids.hpp"
#include "policy.hpp"
#include "program.hpp"
#include "report.hpp"
#include "root.hpp"
#include "supervise.hpp"

namespace agentforge::exec {
namespace {

/// Shared memory in which the first process of the namespaces reports to the supervisor.
struct Shared {
    bool ended;  // The program ran. `status` says how it ended.
    int status;
    char missing[256];  // Why full mode is unavailable.
};

sigset_t awaited_signals() {
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, parent_died_signal);
    return awaited;
}

[[noreturn]] void be_first_process(const Policy& policy, Cgroup& cgroup, char** argv, Ids ids, Sockets& sockets, Shared& shared) {
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // The id maps must be this process's own files.
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (!policy.network) { raise_loopback(); }
    const char* wrong = ids.map_own();
    if (wrong == nullptr) { wrong = enter_new_root(policy, sockets); }
    if (wrong != nullptr) {
        snprintf(shared.missing, sizeof shared.missing, "%s (%s)", wrong, strerror(errno));
        _exit(exit_not_started);
    }
    setsid();
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // The program may not inspect this process.
    const pid_t program = fork_with_report();
    if (program < 0) { fail("fork"); }
    if (program == 0) { become_program(policy, cgroup, argv, Mode::full); }
    drop_capabilities();
    shared.status = supervise(policy, cgroup, program, awaited_signals(), ProcessTree::of_namespace, true);
    shared.ended = true;
    _exit(0);
}

/// Returns the program's wait status. If there is none, `shared.missing` says why full mode is unavailable.
int run_in_namespaces(const Policy& policy, Cgroup& cgroup, char** argv, Shared& shared) {
    Ids ids;
    Sockets sockets;
    sockets.read();
    const int kinds = namespaces_of_full_mode | (policy.network ? 0 : namespace_of_network);
    const pid_t first = static_cast<pid_t>(syscall(SYS_clone, kinds | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (first == 0) { be_first_process(policy, cgroup, argv, ids, sockets, shared); }
    if (first < 0) {
        snprintf(shared.missing, sizeof shared.missing, "namespaces cannot be made (%s)", strerror(errno));
        return 0;
    }
    ids.map_of(first);
    const int status = supervise(policy, cgroup, first, awaited_signals(), ProcessTree::of_descendants, false);
    return shared.ended ? shared.status : status;
}

int run_as_child(const Policy& policy, Cgroup& cgroup, char** argv, Mode mode) {
    const pid_t program = fork_with_report();
    if (program < 0) { fail("fork"); }
    if (program == 0) { become_program(policy, cgroup, argv, mode); }
    return supervise(policy, cgroup, program, awaited_signals(), ProcessTree::of_descendants, mode != Mode::unconfined);
}

int run_confined(const Policy& policy, char** argv) {
    auto* const shared =
        static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (shared == MAP_FAILED) { fail("memory"); }
    Cgroup cgroup;
    if (policy.namespaces) {
        cgroup.make(policy);
        const int status = run_in_namespaces(policy, cgroup, argv, *shared);
        cgroup.remove();
        if (shared->missing[0] == '\0') { return status; }
    } else {
        strcpy(shared->missing, "not asked for");
    }
    report_gaps(policy, shared->missing);
    cgroup.make(policy);
    const int status = run_as_child(policy, cgroup, argv, Mode::landlock);
    cgroup.remove();
    return status;
}

/// The kernel must not spare any process below more than this one. Without privileges a process can go back to the lowest value
/// that a privileged one ever set, so root sets it to the current value.
void fix_out_of_memory_score() {
    char text[16];
    const int score = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    if (score < 0) { return; }
    const ssize_t size = read(score, text, sizeof text);
    if (size > 0) { static_cast<void>(!pwrite(score, text, static_cast<size_t>(size), 0)); }
    close(score);
}

int run(const Policy& policy, char** argv) {
    Cgroup none;
    return policy.confine ? run_confined(policy, argv) : run_as_child(policy, none, argv, Mode::unconfined);
}

}  // namespace
}  // namespace agentforge::exec

int main(int argc, char** argv) {
    using namespace agentforge::exec;
    if (argc < 2 || fcntl(policy_descriptor, F_GETFD) < 0 || fcntl(report_descriptor, F_GETFD) < 0) {
        fputs("agentforge-exec: started by AgentForge only; it reads its policy from descriptor 3\n", stderr);
        return exit_not_started;
    }
    const Policy policy = read_policy();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    prctl(PR_SET_PDEATHSIG, parent_died_signal, 0, 0, 0);
    if (policy.host != 0 && getppid() != policy.host) { return exit_not_started; }
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // Unprivileged processes cannot inspect the supervisor.
    fix_out_of_memory_score();
    const int status = run(policy, argv + 1);
    if (WIFSIGNALED(status)) {
        report("signal %d", WTERMSIG(status));
        flush_report();
        _exit(128 + WTERMSIG(status));
    }
    report("exit %d", WEXITSTATUS(status));
    flush_report();
    _exit(WEXITSTATUS(status));
}
