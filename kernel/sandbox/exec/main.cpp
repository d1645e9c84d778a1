// SPDX-License-Identifier: Apache-2.0
// agentforge-exec: confines itself and runs one program.
//
// The confinement of Linux binds the calling thread and is inherited; a host with many threads
// cannot put it on between fork and exec. So the host spawns this program, which is static and has
// one thread. It reads its policy from descriptor 3, forks, and the child confines itself and execs.
// The parent stays outside as supervisor: it is a subreaper, so that whatever the program leaves
// behind (double fork, setsid) becomes its child and is killed before it ends, and it dies with the
// host (PR_SET_PDEATHSIG) and takes the tree along.
//
// Policy: records `key value`, each ended by NUL. argv: agentforge-exec, then the program's own
// argv. Report, written to descriptor 4 in the same form: what is in force, and how it ended
// (`exit N` | `signal N`, `exec ERRNO`, `refused TEXT`, `failed TEXT`). Exit code: the program's.
//
// Order in the child: namespaces → private mounts → limits → no_new_privs → capabilities → Landlock
// → (the place for seccomp: after Landlock, nothing later needs a forbidden call but execve) → exec.
#include "landlock.hpp"
#include "tree.hpp"

#include <cerrno>
#include <cinttypes>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <initializer_list>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tree = agentforge::process::tree;

namespace {

constexpr int policy_descriptor = 3;
constexpr int report_descriptor = 4;
constexpr int exit_not_started = 125;
constexpr int host_died = SIGUSR2;

/// One record of what is in force. Written whole (a pipe takes PIPE_BUF bytes at once).
__attribute__((format(printf, 1, 2))) void report(const char* format, ...) {
    char text[PIPE_BUF];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size < 0) { return; }
    if (size >= static_cast<int>(sizeof text)) { size = static_cast<int>(sizeof text) - 1; }
    const ssize_t written = write(report_descriptor, text, static_cast<size_t>(size) + 1);
    static_cast<void>(written);     // The host is gone: nobody is left to tell.
}

[[noreturn]] void refuse(const char* text) {
    report("refused %s", text);
    _exit(exit_not_started);
}

[[noreturn]] void fail(const char* what) {
    const int error = errno;
    report("failed %s: %s", what, strerror(error));
    _exit(exit_not_started);
}

// ------------------------------------------------------------------------------------- policy --

struct Policy {
    pid_t host = 0;
    const char* program = nullptr;
    bool confine = true;
    bool network = false;
    int minimum_abi = 1;
    std::uint64_t memory = 0, processes = 0, file_bytes = 0, cpu_seconds = 0, open_files = 0;
    char* text = nullptr;
    size_t size = 0;
};

enum class Step : unsigned char { next = 1, stop };

/// Calls `use(path)` for every record `key <path>`.
template <class Use>
void for_each(const Policy& policy, const char* key, Use&& use) {
    const size_t length = strlen(key);
    for (const char* at = policy.text; at < policy.text + policy.size; at += strlen(at) + 1) {
        if (strncmp(at, key, length) == 0 && at[length] == ' ' && use(at + length + 1) == Step::stop) { return; }
    }
}

std::uint64_t number(const char* text) { return strtoull(text, nullptr, 10); }

Policy read_policy() {
    Policy policy;
    struct stat about {};
    if (fstat(policy_descriptor, &about) != 0) { fail("no policy on descriptor 3"); }
    policy.size = static_cast<size_t>(about.st_size);
    policy.text = static_cast<char*>(malloc(policy.size + 1));
    if (policy.text == nullptr) { fail("no memory for the policy"); }
    for (size_t done = 0; done < policy.size;) {
        const ssize_t part = pread(policy_descriptor, policy.text + done, policy.size - done, static_cast<off_t>(done));
        if (part <= 0) { fail("the policy cannot be read"); }
        done += static_cast<size_t>(part);
    }
    policy.text[policy.size] = '\0';
    close(policy_descriptor);
    for (const char* at = policy.text; at < policy.text + policy.size; at += strlen(at) + 1) {
        const char* const blank = strchr(at, ' ');
        if (blank == nullptr) { refuse("a record of the policy has no value"); }
        const size_t length = static_cast<size_t>(blank - at);
        const char* const value = blank + 1;
        const auto is = [at, length](const char* key) { return strlen(key) == length && strncmp(at, key, length) == 0; };
        if (is("host")) { policy.host = static_cast<pid_t>(number(value)); }
        else if (is("program")) { policy.program = value; }
        else if (is("confine")) { policy.confine = number(value) != 0; }
        else if (is("network")) { policy.network = strcmp(value, "full") == 0; }
        else if (is("landlock")) { policy.minimum_abi = static_cast<int>(number(value)); }
        else if (is("memory")) { policy.memory = number(value); }
        else if (is("processes")) { policy.processes = number(value); }
        else if (is("file_bytes")) { policy.file_bytes = number(value); }
        else if (is("cpu_seconds")) { policy.cpu_seconds = number(value); }
        else if (is("open_files")) { policy.open_files = number(value); }
        else if (!is("system") && !is("device") && !is("read") && !is("write") && !is("hide")) { refuse("the policy holds an unknown record"); }
    }
    if (policy.program == nullptr) { refuse("the policy names no program"); }
    return policy;
}

/// Whether `path` lies strictly below `folder`.
bool below(const char* path, const char* folder) {
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/') { --length; }
    return strncmp(path, folder, length) == 0 && path[length] == '/' && path[length + 1] != '\0';
}

// --------------------------------------------------------------------------------- namespaces --

bool write_text(const char* path, const char* text) {
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) { return false; }
    const size_t size = strlen(text);
    const bool good = write(file, text, size) == static_cast<ssize_t>(size);
    close(file);
    return good;
}

/// Inside, everybody stays who they are: one id is mapped onto itself.
bool map_ids(uid_t user, gid_t group) {
    char text[64];
    if (!write_text("/proc/self/setgroups", "deny")) { return false; }
    snprintf(text, sizeof text, "%u %u 1", user, user);
    if (!write_text("/proc/self/uid_map", text)) { return false; }
    snprintf(text, sizeof text, "%u %u 1", group, group);
    return write_text("/proc/self/gid_map", text);
}

/// A new network namespace has no way out; its own loopback is switched on for tests that serve themselves.
void raise_loopback() {
    const int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (handle < 0) { return; }
    ifreq request{};
    strcpy(request.ifr_name, "lo");
    if (ioctl(handle, SIOCGIFFLAGS, &request) == 0) {
        request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
        ioctl(handle, SIOCSIFFLAGS, &request);
    }
    close(handle);
}

struct Namespaces {
    bool network = false;
    bool mounts = false;
    bool user = false;
    bool shared_memory = false;     // A private /dev/shm.
};

/// Own network (unless full) and own mounts. As root directly; otherwise inside a user namespace.
/// `again` is set and the child ends where a namespace was made but cannot be used: the parent
/// then forks another child that does without.
Namespaces enter_namespaces(const Policy& policy, volatile int* again) {
    Namespaces made;
    const int wanted = CLONE_NEWNS | (policy.network ? 0 : CLONE_NEWNET);
    const uid_t user = geteuid();
    const gid_t group = getegid();
    if (unshare(wanted) != 0) {
        if (unshare(CLONE_NEWUSER | wanted) != 0) { return made; }
        made.user = true;
    }
    if ((made.user && !map_ids(user, group)) || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
        *again = 1;
        _exit(exit_not_started);
    }
    made.mounts = true;
    if (!policy.network) {
        made.network = true;
        raise_loopback();
    }
    return made;
}

/// Shuts the hidden paths by something empty above them; false where one could not be shut.
bool cover_hidden(const Policy& policy) {
    bool good = true;
    for_each(policy, "hide", [&good](const char* path) {
        struct stat about {};
        if (stat(path, &about) != 0) { return Step::next; }
        const bool done = S_ISDIR(about.st_mode)
            ? mount("none", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=0555") == 0
            : mount("/dev/null", path, nullptr, MS_BIND, nullptr) == 0;
        good = good && done;
        return Step::next;
    });
    return good;
}

// ------------------------------------------------------------------------------------- limits --

void limit(int resource, std::uint64_t value, const char* name) {
    if (value == 0) { return; }
    struct rlimit now {};
    if (getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) { fail(name); }
    const rlim_t wanted = now.rlim_max != RLIM_INFINITY && value > now.rlim_max ? now.rlim_max : static_cast<rlim_t>(value);
    const struct rlimit next { wanted, wanted };
    if (setrlimit(static_cast<__rlimit_resource>(resource), &next) != 0) { fail(name); }
    report("%s %" PRIu64, name, static_cast<std::uint64_t>(wanted));
}

/// The tasks (threads count) that this user has now.
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
            count += about.st_nlink - 2;    // A folder for each task.
        }
    }
    closedir(processes);
    return count;
}

/// Since 5.14 RLIMIT_NPROC is counted for each user namespace by itself.
bool counts_by_namespace() {
    utsname about{};
    int major = 0;
    int minor = 0;
    return uname(&about) == 0 && sscanf(about.release, "%d.%d", &major, &minor) == 2 && (major > 5 || (major == 5 && minor >= 14));
}

void set_limits(const Policy& policy, const Namespaces& spaces) {
    const struct rlimit none { 0, 0 };
    setrlimit(RLIMIT_CORE, &none);
    limit(RLIMIT_DATA, policy.memory, "memory_bytes");
    limit(RLIMIT_FSIZE, policy.file_bytes, "file_bytes");
    limit(RLIMIT_CPU, policy.cpu_seconds, "cpu_seconds");
    limit(RLIMIT_NOFILE, policy.open_files, "open_files");
    if (policy.processes == 0) { return; }
    if (geteuid() == 0) {       // The kernel excepts root: the supervisor counts instead.
        report("processes %" PRIu64, policy.processes);
        report("processes_by watch");
        return;
    }
    const std::uint64_t now = spaces.user && counts_by_namespace() ? 0 : tasks_of_user();
    const rlim_t wanted = static_cast<rlim_t>(now + policy.processes);
    struct rlimit before {};
    getrlimit(RLIMIT_NPROC, &before);
    const rlim_t value = before.rlim_max != RLIM_INFINITY && wanted > before.rlim_max ? before.rlim_max : wanted;
    const struct rlimit next { value, value };
    if (setrlimit(RLIMIT_NPROC, &next) != 0) { fail("processes"); }
    report("processes %" PRIu64, policy.processes);
    report("processes_by kernel");
}

/// Root keeps nothing but passing over file permissions (a checkout may belong to somebody else),
/// and that only as far as Landlock goes.
void drop_capabilities() {
    for (unsigned long capability = 0; capability < 64; ++capability) {
        if (capability != CAP_DAC_OVERRIDE) { prctl(PR_CAPBSET_DROP, capability, 0, 0, 0); }
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

// ----------------------------------------------------------------------------------- Landlock --

struct Rules {
    const Policy& policy;
    int ruleset;
    std::uint64_t handled;
    bool covered;       // Hidden paths are shut by mounts; else the rules go around them.
};

/// One rule; a path that is not there is reported where `named` says that somebody asked for it.
void allow(const Rules& rules, const char* path, std::uint64_t rights, bool named, int flags) {
    const int place = open(path, O_PATH | O_CLOEXEC | flags);
    if (place < 0) {
        if (named) { report("absent %s", path); }
        return;
    }
    struct stat about {};
    if (fstat(place, &about) != 0) { fail("a granted path cannot be examined"); }
    if (S_ISLNK(about.st_mode)) { close(place); return; }     // Only where links are not followed.
    landlock::PathBeneath rule{rights & rules.handled, place};
    if (!S_ISDIR(about.st_mode)) { rule.allowed_access &= landlock::of_files; }
    if (rule.allowed_access != 0 && syscall(landlock::add_rule, rules.ruleset, 1, &rule, 0) != 0) { fail("a Landlock rule is not accepted"); }
    close(place);
}

/// Grants a folder. Landlock can add but not take away, so where something below it is hidden, the
/// folder itself gets no more than to be listed, and its children are granted one by one. What that
/// costs: names below the hidden path can still be listed, and nothing new can be made directly in
/// the folders on the way down to it.
void grant(const Rules& rules, const char* path, std::uint64_t rights, bool named, int flags) {
    bool whole = true;
    bool hidden = false;
    if (!rules.covered) {
        for_each(rules.policy, "hide", [&](const char* secret) {
            hidden = hidden || strcmp(secret, path) == 0 || below(path, secret);
            whole = whole && !below(secret, path);
            return hidden ? Step::stop : Step::next;
        });
    }
    if (hidden) { return; }
    if (whole) { allow(rules, path, rights, named, flags); return; }
    DIR* const folder = opendir(path);
    if (folder == nullptr) {
        if (named) { report("absent %s", path); }
        return;
    }
    allow(rules, path, landlock::read_dir, named, flags);
    while (const dirent* const item = readdir(folder)) {
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0) { continue; }
        char child[PATH_MAX];
        const int size = snprintf(child, sizeof child, "%s/%s", strcmp(path, "/") == 0 ? "" : path, item->d_name);
        if (size > 0 && size < static_cast<int>(sizeof child)) { grant(rules, child, rights, false, O_NOFOLLOW); }
    }
    closedir(folder);
}

/// `openat2` without symbolic links anywhere: a link planted where an earlier command could write
/// must not open another place.
bool leads_over_a_link(const char* path) {
    struct { std::uint64_t flags, mode, resolve; } how{O_PATH | O_CLOEXEC, 0, 0x04 /* RESOLVE_NO_SYMLINKS */};
    const long place = syscall(437 /* openat2 */, AT_FDCWD, path, &how, sizeof how);
    if (place < 0) { return errno == ELOOP; }
    close(static_cast<int>(place));
    return false;
}

void restrict_files(const Policy& policy, int abi, const Namespaces& spaces, bool covered) {
    landlock::RulesetAttributes attributes{landlock::handled(abi), 0, 0};
    const bool tcp = !policy.network && !spaces.network && abi >= 4;
    if (tcp) { attributes.handled_access_net = landlock::bind_tcp | landlock::connect_tcp; }
    if (abi >= 6) { attributes.scoped = landlock::scope_abstract_sockets | landlock::scope_signals; }
    const size_t size = abi >= 6 ? sizeof attributes : abi >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
    const long ruleset = syscall(landlock::create_ruleset, &attributes, size, 0);
    if (ruleset < 0) { fail("Landlock is not to be had"); }
    const Rules rules{policy, static_cast<int>(ruleset), attributes.handled_access_fs, covered};
    for_each(policy, "system", [&](const char* path) { grant(rules, path, landlock::reading, false, 0); return Step::next; });
    for_each(policy, "device", [&](const char* path) {
        allow(rules, path, landlock::read_file | landlock::write_file | landlock::truncate | landlock::ioctl_dev, false, 0);
        return Step::next;
    });
    for_each(policy, "read", [&](const char* path) { grant(rules, path, landlock::reading, true, 0); return Step::next; });
    for_each(policy, "write", [&](const char* path) {
        if (leads_over_a_link(path)) { report("refused the writable path %s leads over a symbolic link", path); _exit(exit_not_started); }
        grant(rules, path, landlock::writing, true, O_NOFOLLOW);
        return Step::next;
    });
    if (spaces.shared_memory) { allow(rules, "/dev/shm", landlock::writing, false, 0); }
    if (syscall(landlock::restrict_self, ruleset, 0) != 0) { fail("Landlock does not take effect"); }
    close(static_cast<int>(ruleset));
    report("landlock_abi %d", abi);
}

[[noreturn]] void become_program(const Policy& policy, char** argv, bool with_namespaces, volatile int* again) {
    const pid_t parent = getppid();
    close_range(report_descriptor + 1, ~0U, 0);
    fcntl(report_descriptor, F_SETFD, FD_CLOEXEC);
    if (policy.confine) {
        const int abi = landlock::abi();
        if (abi < policy.minimum_abi || abi < 1) {
            report("refused Landlock ABI %d is required, the kernel has %d", policy.minimum_abi > 0 ? policy.minimum_abi : 1, abi);
            _exit(exit_not_started);
        }
        Namespaces spaces;
        if (with_namespaces) { spaces = enter_namespaces(policy, again); }
        if (!policy.network && !spaces.network && abi < 4) {
            refuse("no network was asked for, and the kernel has neither a network namespace for this user nor Landlock ABI 4");
        }
        bool covered = false;
        if (spaces.mounts) {
            covered = cover_hidden(policy);
            spaces.shared_memory = mount("none", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=256m,mode=1777") == 0;
        }
        report("network %s", policy.network ? "open" : spaces.network ? "namespace" : "landlock_tcp");
        report("hidden %s", covered ? "mounts" : "landlock");
        set_limits(policy, spaces);
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) { fail("no_new_privs"); }
        drop_capabilities();
        restrict_files(policy, abi, spaces, covered);
    } else {
        report("network open");
    }
    // Last, because a change of credentials clears it. SIGKILL, as the program may not catch this.
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) { _exit(exit_not_started); }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    report("started 1");
    execve(policy.program, argv, environ);
    report("exec %d", errno);
    _exit(exit_not_started);
}

// --------------------------------------------------------------------------------- supervisor --

std::uint64_t tasks_of_system() {
    char text[128];
    const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (file < 0) { return 0; }
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size <= 0) { return 0; }
    text[size] = '\0';
    const char* const slash = strchr(text, '/');
    return slash == nullptr ? 0 : number(slash + 1);
}

/// Waits for the program; ends what it left behind; returns its wait status.
int supervise(const Policy& policy, pid_t program, const sigset_t& heard) {
    const bool watch = policy.confine && policy.processes != 0 && geteuid() == 0;
    const std::uint64_t at_start = watch ? tasks_of_system() : 0;
    int result = 0;
    bool ended = false;
    while (!ended) {
        for (;;) {
            int status = 0;
            const pid_t gone = waitpid(-1, &status, WNOHANG);
            if (gone <= 0) { break; }
            if (gone == program) { result = status; ended = true; }
        }
        if (ended) { break; }
        const timespec interval{0, 50'000'000};
        siginfo_t about{};
        const int signal = watch ? sigtimedwait(&heard, &about, &interval) : sigwaitinfo(&heard, &about);
        if (signal == host_died) {
            tree::kill_descendants(getpid());
            _exit(128 + SIGKILL);
        }
        // The total of the system is cheap to read; only where it grew enough are the own counted.
        if (watch && tasks_of_system() > at_start + policy.processes && tree::count_threads_below(getpid()) > policy.processes) {
            report("limit processes");
            tree::kill_descendants(getpid());
        }
    }
    for (int round = 0; round < 100; ++round) {
        pid_t gone = 0;
        while ((gone = waitpid(-1, nullptr, WNOHANG)) > 0) {}
        if (gone < 0 && errno == ECHILD) { break; }
        tree::kill_descendants(getpid());
        const timespec interval{0, 20'000'000};
        sigtimedwait(&heard, nullptr, &interval);
    }
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || fcntl(policy_descriptor, F_GETFD) < 0 || fcntl(report_descriptor, F_GETFD) < 0) {
        fputs("agentforge-exec: started by AgentForge only; it reads its policy from descriptor 3\n", stderr);
        return exit_not_started;
    }
    const Policy policy = read_policy();

    sigset_t all, heard;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    sigemptyset(&heard);
    sigaddset(&heard, SIGCHLD);
    sigaddset(&heard, host_died);
    prctl(PR_SET_PDEATHSIG, host_died, 0, 0, 0);
    if (policy.host != 0 && getppid() != policy.host) { return exit_not_started; }
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);     // Nobody without privileges looks into the supervisor.

    auto* const again = static_cast<volatile int*>(mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (again == MAP_FAILED) { fail("memory"); }
    int status = 0;
    for (const bool with_namespaces : {true, false}) {
        *again = 0;
        const pid_t program = fork();
        if (program < 0) { fail("fork"); }
        if (program == 0) {
            prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
            become_program(policy, argv + 1, with_namespaces, again);
        }
        status = supervise(policy, program, heard);
        if (*again == 0) { break; }
    }
    if (WIFSIGNALED(status)) {
        report("signal %d", WTERMSIG(status));
        _exit(128 + WTERMSIG(status));
    }
    report("exit %d", WEXITSTATUS(status));
    _exit(WEXITSTATUS(status));
}
