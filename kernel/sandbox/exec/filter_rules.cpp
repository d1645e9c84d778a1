// SPDX-License-Identifier: Apache-2.0
// Writes the system call filters of agentforge-exec, compiled by libseccomp, as a header of BPF programs. Runs during the build,
// so the helper needs no library and loads a filter with one call.
//
// The filters allow everything except the calls listed here. A call of another architecture than the machine's kills the process.
// Each filter has the common rules and one choice of sockets:
//
//   full             UNIX sockets of its own namespaces, Internet sockets, reading routes
//   full_internet    the same with the machine's network, if the kernel cannot keep abstract UNIX sockets apart
//   landlock         no sockets except a socketpair of streams; refuses what namespaces would isolate
//   landlock_internet  the same, with Internet sockets
#include <seccomp.h>

#include <linux/filter.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <vector>

#include <fcntl.h>

namespace {

constexpr std::uint64_t of_32_bits = 0xFFFF'FFFF;  // The kernel checks only these bits. Other bits must not bypass a rule.
constexpr std::uint32_t not_permitted = SCMP_ACT_ERRNO(EPERM);
constexpr std::uint32_t not_there = SCMP_ACT_ERRNO(ENOSYS);  // Programs then do without, as on an older kernel.

// Newer than the library in Debian 12. The numbers are the same on every architecture.
constexpr int clone3_call = 435;
constexpr int openat2_call = 437;
constexpr int fchmodat2_call = 452;
constexpr int mount_setattr_call = 442;
constexpr int memfd_secret_call = 447;
constexpr int setxattrat_call = 463;
constexpr int removexattrat_call = 466;
constexpr int open_tree_attr_call = 467;

[[noreturn]] void give_up(const char* what, int error) {
    std::fprintf(stderr, "make-filters: %s: %d\n", what, error);
    std::exit(1);
}

class Filter {
public:
    Filter() : context_(seccomp_init(SCMP_ACT_ALLOW)) {
        if (context_ == nullptr) { give_up("no filter", errno); }
        seccomp_attr_set(context_, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
        seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    }
    Filter(const Filter&) = delete;
    Filter& operator=(const Filter&) = delete;
    ~Filter() { seccomp_release(context_); }

    /// A call that this architecture does not have needs no rule.
    void answer(std::uint32_t action, int call, std::vector<scmp_arg_cmp> when = {}) {
        if (call == __NR_SCMP_ERROR || call < 0) { return; }
        const int error = seccomp_rule_add_array(context_, action, call, static_cast<unsigned>(when.size()), when.data());
        if (error != 0 && error != -EEXIST) { give_up("a rule is not accepted", error); }
    }
    void answer(std::uint32_t action, std::initializer_list<const char*> calls) {
        for (const char* call : calls) { answer(action, number(call)); }
    }
    /// Refuses the call if the argument has any of these bits and the other conditions hold.
    void refuse_bits(int call, unsigned argument, std::uint64_t bits, const std::vector<scmp_arg_cmp>& also = {}) {
        for (std::uint64_t bit = 1; bit <= bits; bit <<= 1U) {
            if ((bits & bit) == 0) { continue; }
            std::vector<scmp_arg_cmp> when = also;
            when.push_back(SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, bit, bit));
            answer(not_permitted, call, when);
        }
    }
    static int number(const char* call) { return seccomp_syscall_resolve_name(call); }

    std::vector<sock_filter> program() const {
        FILE* const file = std::tmpfile();
        if (file == nullptr) { give_up("no temporary file", errno); }
        if (const int error = seccomp_export_bpf(context_, fileno(file)); error != 0) {
            give_up("the filter cannot be exported", error);
        }
        std::rewind(file);
        std::vector<sock_filter> code;
        for (sock_filter one{}; std::fread(&one, sizeof one, 1, file) == 1;) { code.push_back(one); }
        std::fclose(file);
        return code;
    }

private:
    scmp_filter_ctx context_;
};

scmp_arg_cmp equals(unsigned argument, std::uint64_t value) {
    return SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, of_32_bits, value);
}

/// A set-uid file runs with its owner's rights for every user.
void refuse_setuid_bits(Filter& filter) {
    constexpr std::uint64_t bits = S_ISUID | S_ISGID;
    filter.refuse_bits(Filter::number("chmod"), 1, bits);
    filter.refuse_bits(Filter::number("fchmod"), 1, bits);
    filter.refuse_bits(Filter::number("fchmodat"), 2, bits);
    filter.refuse_bits(fchmodat2_call, 2, bits);
    filter.refuse_bits(Filter::number("creat"), 1, bits);
    filter.refuse_bits(Filter::number("mknod"), 1, bits);
    filter.refuse_bits(Filter::number("mknodat"), 2, bits);
    for (const std::uint64_t creating : {std::uint64_t{O_CREAT}, std::uint64_t{O_TMPFILE & ~O_DIRECTORY}}) {
        filter.refuse_bits(Filter::number("open"), 2, bits, {SCMP_CMP64(1, SCMP_CMP_MASKED_EQ, creating, creating)});
        filter.refuse_bits(Filter::number("openat"), 3, bits, {SCMP_CMP64(2, SCMP_CMP_MASKED_EQ, creating, creating)});
    }
    filter.answer(not_there, openat2_call);  // Its mode is in memory, which a filter cannot read.
}

void refuse_devices(Filter& filter) {
    for (const std::uint64_t kind : {std::uint64_t{S_IFCHR}, std::uint64_t{S_IFBLK}}) {
        filter.answer(not_permitted, Filter::number("mknod"), {SCMP_CMP64(1, SCMP_CMP_MASKED_EQ, S_IFMT, kind)});
        filter.answer(not_permitted, Filter::number("mknodat"), {SCMP_CMP64(2, SCMP_CMP_MASKED_EQ, S_IFMT, kind)});
    }
}

void refuse_namespaces_and_mounts(Filter& filter) {
    constexpr std::uint64_t kinds =
        CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    filter.refuse_bits(Filter::number("clone"), 0, kinds);
    filter.refuse_bits(Filter::number("unshare"), 0, kinds | 0x80U /* CLONE_NEWTIME */);
    filter.answer(not_there, clone3_call);  // Its flags are in memory. The C library falls back to clone.
    filter.answer(not_permitted, {"setns", "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree",
                                  "fsopen", "fsconfig", "fsmount", "fspick", "quotactl", "quotactl_fd", "swapon", "swapoff"});
    filter.answer(not_permitted, mount_setattr_call);
    filter.answer(not_permitted, open_tree_attr_call);
}

/// Parts of the kernel that tests do not need and that sandbox escapes have used.
void refuse_kernel_parts(Filter& filter) {
    filter.answer(not_there, {"io_uring_setup", "io_uring_enter", "io_uring_register"});
    filter.answer(not_permitted, {"keyctl",
                                  "add_key",
                                  "request_key",
                                  "userfaultfd",
                                  "bpf",
                                  "perf_event_open",
                                  "open_by_handle_at",
                                  "lookup_dcookie",
                                  "fanotify_init",
                                  "kexec_load",
                                  "kexec_file_load",
                                  "init_module",
                                  "finit_module",
                                  "delete_module",
                                  "acct",
                                  "reboot",
                                  "syslog",
                                  "settimeofday",
                                  "clock_settime",
                                  "clock_adjtime",
                                  "adjtimex",
                                  "stime",
                                  "iopl",
                                  "ioperm",
                                  "vhangup"});
    filter.answer(not_there, memfd_secret_call);  // Its memory is invisible to the limits.
    constexpr std::uint64_t type_into_terminal = 0x5412;
    constexpr std::uint64_t paste_into_console = 0x541C;
    for (const std::uint64_t request : {type_into_terminal, paste_into_console}) {
        filter.answer(not_permitted, Filter::number("ioctl"), {equals(1, request)});
    }
}

/// Allows only these families. Also refuses a number with more than 32 bits.
void allow_families(Filter& filter, std::initializer_list<int> allowed) {
    const int call = Filter::number("socket");
    constexpr int last = 63;
    for (int family = 0; family <= last; ++family) {
        bool wanted = false;
        for (const int each : allowed) { wanted = wanted || each == family; }
        if (!wanted) { filter.answer(not_permitted, call, {SCMP_CMP64(0, SCMP_CMP_EQ, static_cast<std::uint64_t>(family))}); }
    }
    filter.answer(not_permitted, call, {SCMP_CMP64(0, SCMP_CMP_GT, static_cast<std::uint64_t>(last))});
    filter.answer(not_permitted, call,
                  {SCMP_CMP64(0, SCMP_CMP_EQ, AF_NETLINK), SCMP_CMP64(2, SCMP_CMP_NE, 0)});  // Only routes (0).
}

/// A pair is the one kind of socket that a program gets without `socket` and its family argument.
void allow_pairs_of_unix_sockets(Filter& filter) {
    filter.answer(not_permitted, Filter::number("socketpair"), {SCMP_CMP64(0, SCMP_CMP_NE, AF_UNIX)});
}

/// One end of a datagram pair can send to any other datagram socket by path or abstract name. SOCK_RAW also makes such a pair.
void refuse_pairs_of_datagram_sockets(Filter& filter) {
    constexpr std::uint64_t kind_of_socket = 0xF;
    for (const std::uint64_t kind : {std::uint64_t{SOCK_DGRAM}, std::uint64_t{SOCK_RAW}}) {
        filter.answer(not_permitted, Filter::number("socketpair"), {SCMP_CMP64(1, SCMP_CMP_MASKED_EQ, kind_of_socket, kind)});
    }
}

/// Refuses what namespaces would isolate: naming other processes, attributes of files, and IPC.
void refuse_what_namespaces_hold(Filter& filter) {
    const auto names_another = SCMP_CMP64(0, SCMP_CMP_NE, 0);
    filter.answer(not_permitted, Filter::number("prlimit64"), {names_another, SCMP_CMP64(2, SCMP_CMP_NE, 0)});
    for (const char* call :
         {"sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "migrate_pages", "move_pages"}) {
        filter.answer(not_permitted, Filter::number(call), {names_another});
    }
    filter.answer(not_permitted, Filter::number("setpriority"), {names_another});
    filter.answer(not_permitted, Filter::number("setpriority"), {SCMP_CMP64(1, SCMP_CMP_NE, 0)});
    filter.answer(not_permitted, Filter::number("ioprio_set"), {SCMP_CMP64(1, SCMP_CMP_NE, 0)});
    constexpr std::uint32_t not_supported = SCMP_ACT_ERRNO(ENOTSUP);  // As on a file system without them: copies continue.
    filter.answer(not_supported, {"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"});
    filter.answer(not_supported, setxattrat_call);
    filter.answer(not_supported, removexattrat_call);
    filter.answer(not_permitted, {"shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop",
                                  "semtimedop", "semctl", "mq_open", "mq_unlink", "process_madvise", "kcmp"});
    for (const std::uint64_t set_flags : {0x4008'6602ULL, 0x4004'6602ULL, 0x401C'5820ULL}) {
        filter.answer(not_permitted, Filter::number("ioctl"), {equals(1, set_flags)});
    }
}

/// The first process of the namespaces watches the limits and belongs to the same user. No program may take its descriptors or
/// its processor time.
void leave_the_watch_alone(Filter& filter) {
    const auto names_the_first = equals(0, 1);
    filter.answer(not_permitted, Filter::number("prlimit64"), {names_the_first, SCMP_CMP64(2, SCMP_CMP_NE, 0)});
    for (const char* call :
         {"sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "migrate_pages", "move_pages"}) {
        filter.answer(not_permitted, Filter::number(call), {names_the_first});
    }
    filter.answer(not_permitted, Filter::number("setpriority"), {SCMP_CMP64(0, SCMP_CMP_NE, 0)});  // For a group or a user.
    filter.answer(not_permitted, Filter::number("setpriority"), {equals(1, 1)});
    filter.answer(not_permitted, Filter::number("ioprio_set"), {SCMP_CMP64(0, SCMP_CMP_NE, 1)});
    filter.answer(not_permitted, Filter::number("ioprio_set"), {equals(1, 1)});
}

void refuse_in_all(Filter& filter) {
    refuse_setuid_bits(filter);
    refuse_devices(filter);
    refuse_namespaces_and_mounts(filter);
    refuse_kernel_parts(filter);
    allow_pairs_of_unix_sockets(filter);
    // Space allocated this way would not count as written. The C library writes zeros instead. Punching holes frees space.
    constexpr std::uint64_t punch_hole = 2;
    filter.answer(SCMP_ACT_ERRNO(EOPNOTSUPP), Filter::number("fallocate"), {SCMP_CMP64(1, SCMP_CMP_MASKED_EQ, punch_hole, 0)});
}

void write_out(FILE* to, const char* name, const Filter& filter) {
    std::fprintf(to, "constexpr sock_filter %s[] = {\n", name);
    for (const sock_filter& one : filter.program()) {
        std::fprintf(to, "    {0x%x, %u, %u, 0x%x},\n", one.code, one.jt, one.jf, one.k);
    }
    std::fprintf(to, "};\n");
}

}  // namespace

int main(int argc, char** argv) {
    FILE* const to = argc == 2 ? std::fopen(argv[1], "w") : nullptr;
    if (to == nullptr) { give_up("usage: make-filters FILE", errno); }
    std::fprintf(
        to, "// Written by filter_rules.cpp.\n#pragma once\n#include <linux/filter.h>\nnamespace agentforge::exec::filters {\n");
    Filter full, full_internet, landlock, landlock_internet;
    for (Filter* filter : {&full, &full_internet, &landlock, &landlock_internet}) { refuse_in_all(*filter); }
    for (Filter* filter : {&landlock, &landlock_internet}) { refuse_what_namespaces_hold(*filter); }
    for (Filter* filter : {&full, &full_internet}) { leave_the_watch_alone(*filter); }
    for (Filter* filter : {&full_internet, &landlock, &landlock_internet}) { refuse_pairs_of_datagram_sockets(*filter); }
    allow_families(full, {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK});
    allow_families(full_internet, {AF_INET, AF_INET6, AF_NETLINK});
    allow_families(landlock_internet, {AF_INET, AF_INET6, AF_NETLINK});
    landlock.answer(not_permitted, {"socket"});
    write_out(to, "full", full);
    write_out(to, "full_internet", full_internet);
    write_out(to, "landlock", landlock);
    write_out(to, "landlock_internet", landlock_internet);
    std::fprintf(to, "}  // namespace agentforge::exec::filters\n");
    return std::fclose(to) == 0 ? 0 : 1;
}
