// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>

#include "filter.hpp"
#include "landlock_rules.hpp"
#include "report.hpp"

namespace agentforge::exec {
namespace {

void limit(int resource, std::uint64_t value, const char* name) {
    if (value == 0) { return; }
    struct rlimit now {};
    if (getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) { fail(name); }
    const rlim_t wanted = now.rlim_max != RLIM_INFINITY && value > now.rlim_max ? now.rlim_max : static_cast<rlim_t>(value);
    const struct rlimit next { wanted, wanted };
    if (setrlimit(static_cast<__rlimit_resource>(resource), &next) != 0) { fail(name); }
    report("%s %" PRIu64, name, static_cast<std::uint64_t>(wanted));
}

/// Returns the number of tasks (including threads) that this user has now.
std::uint64_t tasks_of_user() {
    DIR* const processes = opendir("/proc");
    if (processes == nullptr) { return 0; }
    std::uint64_t count = 0;
    while (const dirent* const item = readdir(processes)) {
        if (item->d_name[0] < '1' || item->d_name[0] > '9') { continue; }
        char path[64];
        snprintf(path, sizeof path, "%.40s/task", item->d_name);
        struct stat about {};
        if (fstatat(dirfd(processes), path, &about, 0) == 0 && about.st_uid == geteuid() && about.st_nlink > 2) {
            count += about.st_nlink - 2;  // One folder for each task.
        }
    }
    closedir(processes);
    return count;
}

/// Since 5.14, RLIMIT_NPROC counts each user namespace separately.
bool counts_by_namespace() {
    utsname about{};
    int major = 0;
    int minor = 0;
    return uname(&about) == 0 && sscanf(about.release, "%d.%d", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 14));
}

/// The kernel exempts root, so the watch of the tree enforces the limit instead.
void limit_processes(const Policy& policy, Mode mode) {
    if (policy.processes == 0) { return; }
    report("processes %" PRIu64, policy.processes);
    report("processes_by %s", geteuid() == 0 ? "watch" : "kernel");
    if (geteuid() == 0) { return; }
    const std::uint64_t now = mode == Mode::full && counts_by_namespace() ? 1 : tasks_of_user();
    const rlim_t wanted = static_cast<rlim_t>(now + policy.processes);
    struct rlimit before {};
    getrlimit(RLIMIT_NPROC, &before);
    const rlim_t value = before.rlim_max != RLIM_INFINITY && wanted > before.rlim_max ? before.rlim_max : wanted;
    const struct rlimit next { value, value };
    if (setrlimit(RLIMIT_NPROC, &next) != 0) { fail("processes"); }
}

/// With the host's /dev/null as standard input, root could change the host's device.
void reopen_null_input() {
    struct stat about {};
    if (fstat(0, &about) != 0 || !S_ISCHR(about.st_mode)) { return; }
    const int own = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (own < 0) { fail("/dev/null"); }
    dup2(own, 0);
    close(own);
}

void confine(const Policy& policy, Mode mode) {
    report("mode %s", mode == Mode::full ? "full" : "landlock");
    report("network %s", policy.network ? "open" : "none");
    set_limits(policy, mode);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) { fail("no_new_privs"); }
    drop_capabilities();
    const int abi = landlock_abi(policy);
    if (mode == Mode::landlock) {
        restrict_files(policy, abi);
    } else {
        reopen_null_input();
    }
    const bool kept_apart = mode == Mode::full && policy.network && restrict_abstract_sockets(abi);
    filter_system_calls(mode, policy.network, kept_apart);
}

}  // namespace

void set_limits(const Policy& policy, Mode mode) {
    const struct rlimit none { 0, 0 };
    setrlimit(RLIMIT_CORE, &none);
    report("memory_bytes %" PRIu64, policy.memory);
    limit(RLIMIT_FSIZE, policy.file_bytes, "file_bytes");
    limit(RLIMIT_CPU, policy.cpu_seconds, "cpu_seconds");
    limit(RLIMIT_NOFILE, policy.open_files, "open_files");
    limit_processes(policy, mode);
}

void drop_capabilities() {
    // The kernel refuses the first unknown one, and all of them if this process may drop none.
    for (unsigned long capability = 0; capability < 64; ++capability) {
        if (capability != CAP_DAC_OVERRIDE && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) { break; }
    }
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[2]{};
    if (syscall(SYS_capget, &header, sets) != 0) { fail("capabilities"); }
    const std::uint32_t keep = 1U << static_cast<unsigned>(CAP_DAC_OVERRIDE);
    sets[0].effective &= keep;
    sets[0].permitted &= keep;
    sets[0].inheritable = 0;
    sets[1] = {};
    if (syscall(SYS_capset, &header, sets) != 0) { fail("capabilities"); }
}

void become_program(const Policy& policy, const Cgroup& cgroup, char** argv, Mode mode) {
    const pid_t parent = getppid();
    if (!cgroup.join()) { fail("the cgroup cannot be joined"); }
    if (mode != Mode::unconfined) { report("cgroup %s", cgroup.made() ? "used" : "not used"); }
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    close_range(report_descriptor + 1, ~0U, 0);
    fcntl(report_descriptor, F_SETFD, FD_CLOEXEC);
    if (mode == Mode::unconfined) {
        report("network open");
    } else {
        confine(policy, mode);
    }
    // Last, because a change of credentials clears it. SIGKILL, because the program must not catch it.
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) { _exit(exit_not_started); }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    report("started 1");
    flush_report();
    execve(policy.program, argv, environ);
    report("exec %d", errno);
    flush_report();
    _exit(exit_not_started);
}

}  // namespace agentforge::exec
