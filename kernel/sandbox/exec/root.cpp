// SPDX-License-Identifier: Apache-2.0
#include "root.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "links.hpp"
#include "report.hpp"
#include "write_text.hpp"

namespace agentforge::exec {
namespace {

// The calls have these numbers on every architecture. The build machine's headers may be older than the kernel.
constexpr long open_tree_call = 428;
constexpr long move_mount_call = 429;
constexpr long mount_setattr_call = 442;
constexpr unsigned clone_of_tree = 1U | O_CLOEXEC | 0x8000U /* AT_RECURSIVE */ | AT_EMPTY_PATH;
constexpr unsigned from_and_to_descriptors = 0x04U | 0x40U;
constexpr std::uint64_t read_only = 1U;
constexpr std::uint64_t no_setuid = 2U;
constexpr std::uint64_t no_devices = 4U;

struct MountAttributes {
    std::uint64_t set = 0, clear = 0, propagation = 0, user_namespace = 0;
};

constexpr const char* good = nullptr;  // Any other value says what the kernel refused.

/// A shared memory segment that no process maps counts for no process, and running out of PIDs stops the whole machine. Sets
/// limits for these namespaces, if the kernel has them (Linux 5.19 and 6.14).
void bound_namespaces(const Policy& policy) {
    char text[32];
    snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(policy.shared_bytes / 4096));
    write_text("/proc/sys/kernel/shmall", text);
}

/// The outside /proc, opened before it was covered.
struct Outside {
    int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int links = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
};

class NewRoot {
public:
    NewRoot(const Policy& policy, Outside outside, Sockets& sockets) : policy_(policy), outside_(outside), sockets_(sockets) {}

    const char* build() {
        if (mount("root", base, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=4m") != 0) { return "a tmpfs cannot be mounted"; }
        root_ = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (root_ < 0) { return "the new root cannot be opened"; }
        if (const char* const wrong = build_private(); wrong != good) { return wrong; }
        grant_all();
        if (wrong_ == good) { cover_hidden(); }
        if (wrong_ == good) { cover_sockets(); }
        return wrong_;
    }

    const char* enter() {
        const int outside = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fchdir(root_) != 0 || syscall(SYS_pivot_root, ".", ".") != 0) { return "the new root cannot be entered"; }
        if (fchdir(outside) != 0 || umount2(".", MNT_DETACH) != 0) { return "the old root cannot be left"; }
        close(outside);
        if (chdir("/") != 0) { return "the new root cannot be entered"; }
        MountAttributes attributes{read_only, 0, 0, 0};
        if (syscall(mount_setattr_call, AT_FDCWD, "/", 0, &attributes, sizeof attributes) != 0) {
            return "the new root cannot be made read-only";
        }
        return good;
    }

    /// Creates the working folder, which exists but is empty even if nothing in it was granted. `real`: its name in the new root.
    bool make_directory(const char* path, char (&real)[PATH_MAX]) {
        const int source = open(path, O_PATH | O_CLOEXEC);
        const bool known = source >= 0 && name_of(source, real);
        close_if_open(source);
        if (known) { close_if_open(folder(real)); }
        return known;
    }

private:
    static constexpr const char* base = "/proc";  // Nothing is granted below this one folder.

    static void close_if_open(int descriptor) {
        if (descriptor >= 0) { close(descriptor); }
    }

    bool name_of(int source, char (&real)[PATH_MAX]) const {
        char name[32];
        snprintf(name, sizeof name, "%d", source);
        const ssize_t size = readlinkat(outside_.links, name, real, sizeof real - 1);
        if (size <= 0) { return false; }
        real[size] = '\0';
        return true;
    }

    /// Opens `path` inside the new root, following only the new root's links.
    [[nodiscard]] int at(const char* path) const { return open_inside(root_, path); }

    /// Opens `path` as a folder. Creates it and its parents if missing.
    [[nodiscard]] int folder(const char* path) const {
        const int there = at(path);
        return there >= 0 ? there : new_folder(path);
    }

    [[nodiscard]] int new_folder(const char* path) const {
        char part[PATH_MAX];
        int above = dup(root_);
        for (const char* name = path; above >= 0 && *name != '\0';) {
            while (*name == '/') { ++name; }
            const char* const end = strchrnul(name, '/');
            if (end == name) { break; }
            snprintf(part, sizeof part, "%.*s", static_cast<int>(end - path), path);
            char last[NAME_MAX + 1];
            snprintf(last, sizeof last, "%.*s", static_cast<int>(end - name), name);
            mkdirat(above, last, 0755);
            close(above);
            above = at(part);
            name = end;
        }
        return above;
    }

    /// Returns the folder that contains `path`, and its own name.
    [[nodiscard]] int parent_of(const char* path, const char*& name) const {
        char above[PATH_MAX];
        name = strrchr(path, '/') + 1;
        snprintf(above, sizeof above, "%.*s", static_cast<int>(name - path), path);
        return folder(above);
    }

    [[nodiscard]] int place_for(const char* path, mode_t mode) const {
        const int there = at(path);
        if (there >= 0) { return there; }
        if (S_ISDIR(mode)) { return folder(path); }
        const char* name = nullptr;
        const int above = parent_of(path, name);
        const int made = openat(above, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        close_if_open(above);
        return made;
    }

    /// Binds `source`, and everything mounted below it, over `place` of the new root.
    bool bind_over(int source, int place, std::uint64_t flags) {
        const int tree = static_cast<int>(syscall(open_tree_call, source, "", clone_of_tree));
        if (tree < 0) { return false; }
        MountAttributes attributes{flags, 0, 0, 0};
        const bool done = syscall(mount_setattr_call, tree, "", AT_EMPTY_PATH | 0x8000U, &attributes, sizeof attributes) == 0 &&
                          syscall(move_mount_call, tree, "", place, "", from_and_to_descriptors) == 0;
        close(tree);
        return done;
    }

    /// The same at `path`, which is created if missing.
    bool bind(int source, const char* path, mode_t mode, std::uint64_t flags) {
        const int place = place_for(path, mode);
        const bool done = place >= 0 && bind_over(source, place, flags);
        close_if_open(place);
        return done;
    }

    bool mount_new(const char* kind, const char* path, unsigned long flags, const char* options) {
        const int place = folder(path);
        if (place < 0) { return false; }
        char target[64];
        snprintf(target, sizeof target, "%s%s", base, path);
        close(place);
        return mount(kind, target, kind, flags | MS_NOSUID, options) == 0;
    }

    void link(const char* path, const char* to) {
        const char* name = nullptr;
        const int above = parent_of(path, name);
        symlinkat(to, above, name);
        close_if_open(above);
    }

    const char* build_private() {
        char options[64];
        snprintf(options, sizeof options, "mode=1777,size=%llu", static_cast<unsigned long long>(policy_.shared_bytes));
        if (!mount_new("tmpfs", "/tmp", MS_NODEV, options)) { return "a private /tmp cannot be mounted"; }
        if (!mount_new("proc", "/proc", MS_NODEV | MS_NOEXEC, nullptr)) { return "a separate /proc cannot be mounted"; }
        if (geteuid() == 0 && !guard_proc()) { return "/proc cannot be made read-only"; }
        for_each(policy_, "device", [this](const char* path) {
            bind_device(path);
            return Step::next;
        });
        cover_proc();
        if (!mount_new("tmpfs", "/dev/shm", MS_NODEV | MS_NOEXEC, options)) { return "a private /dev/shm cannot be mounted"; }
        if (mount_new("devpts", "/dev/pts", MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")) { link("/dev/ptmx", "pts/ptmx"); }
        link("/dev/fd", "/proc/self/fd");
        link("/dev/stdin", "/proc/self/fd/0");
        link("/dev/stdout", "/proc/self/fd/1");
        link("/dev/stderr", "/proc/self/fd/2");
        return good;
    }

    void bind_device(const char* path) {
        const int source = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (source < 0) { return; }
        bind(source, path, S_IFREG,
             read_only | no_setuid);  // A read-only mount allows writing to a device, but not changing its node.
        close(source);
    }

    /// Root's id may change the system through /proc, whatever its capabilities. Makes everything there that belongs to no
    /// process read-only.
    bool guard_proc() {
        const int proc = at("/proc");
        const int listing = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR* const entries = fdopendir(listing);
        bool done = entries != nullptr;
        while (const dirent* const item = done ? readdir(entries) : nullptr) {
            const bool process = item->d_name[0] >= '0' && item->d_name[0] <= '9';
            if (item->d_name[0] == '.' || process || item->d_type == DT_LNK || is_known_read_only(item->d_name)) { continue; }
            done = guard_entry(proc, item->d_name);
        }
        if (entries != nullptr) { closedir(entries); }
        close_if_open(proc);
        return done;
    }

    /// Hides keys, which no namespace isolates, and the kernel's page tables, which belong to root alone.
    void cover_proc() {
        const int device = at("/dev/null");
        for (const char* name : {"/proc/keys", "/proc/key-users", "/proc/kpagecount", "/proc/kpageflags", "/proc/kpagecgroup"}) {
            const int place = at(name);
            if (device >= 0 && place >= 0) { bind_over(device, place, read_only); }
            close_if_open(place);
        }
        close_if_open(device);
    }

    /// Entries are the same in each /proc. A lookup in a new one costs ten times as much as in the outside one, where only a
    /// mount can hide an entry.
    [[nodiscard]] bool is_known_read_only(const char* name) const {
        struct stat about {};
        struct stat whole {};
        return fstatat(outside_.proc, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && fstat(outside_.proc, &whole) == 0 &&
               about.st_dev == whole.st_dev && S_ISREG(about.st_mode) && (about.st_mode & 0222U) == 0;
    }

    bool guard_entry(int proc, const char* name) {
        const int entry = openat(proc, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        struct stat about {};
        bool done = entry >= 0 && fstat(entry, &about) == 0;
        const bool writable_file = S_ISREG(about.st_mode) && (about.st_mode & 0222U) != 0;
        if (done && (S_ISDIR(about.st_mode) || writable_file)) { done = bind_over(entry, entry, read_only); }
        close_if_open(entry);
        return done;
    }

    /// Read grants first: if both are granted, the writable mount is on top.
    void grant_all() {
        for_each(policy_, "system", [this](const char* path) {
            grant(path, read_only, false);
            return after_grant();
        });
        for_each(policy_, "read", [this](const char* path) {
            grant(path, read_only, true);
            return after_grant();
        });
        for_each(policy_, "write", [this](const char* path) {
            if (leads_over_a_link(path)) { refuse("the writable path %s leads through a symbolic link", path); }
            grant(path, 0, true);
            return after_grant();
        });
    }

    [[nodiscard]] Step after_grant() const { return wrong_ == good ? Step::next : Step::stop; }

    void grant(const char* path, std::uint64_t flags, bool named) {
        if (strcmp(path, base) == 0 || below(path, base)) { return; }
        const int source = open(path, O_PATH | O_CLOEXEC);
        struct stat about {};
        if (source < 0 || fstat(source, &about) != 0) {
            if (named) { report("absent %s", path); }
            return;
        }
        char real[PATH_MAX];
        if (!name_of(source, real)) {
            wrong_ = "a granted path has no name";
        } else if ((flags & read_only) != 0 && is_there(real, about)) {
            // Created with its parents.
        } else if (!bind(source, real, about.st_mode, flags | no_setuid | no_devices)) {
            wrong_ = "a granted path cannot be bound";
        }
        close(source);
        if (strcmp(path, real) == 0) { return; }
        const int there = at(path);
        if (there < 0) { link(path, real); }
        close_if_open(there);
    }

    [[nodiscard]] bool is_there(const char* path, const struct stat& wanted) const {
        const int place = at(path);
        struct stat about {};
        const bool same =
            place >= 0 && fstat(place, &about) == 0 && about.st_dev == wanted.st_dev && about.st_ino == wanted.st_ino;
        close_if_open(place);
        return same;
    }

    void cover_hidden() {
        const int device = at("/dev/null");
        for_each(policy_, "hide", [this, device](const char* path) {
            const int place = at(path);
            struct stat about {};
            if (place < 0 || fstat(place, &about) != 0) { return Step::next; }
            char target[64];
            snprintf(target, sizeof target, "%s/proc/self/fd/%d", base, place);
            const bool covered =
                S_ISDIR(about.st_mode)
                    ? mount("none", target, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=0555") == 0
                    : bind_over(device, place, read_only);
            close(place);
            if (!covered) { wrong_ = "a hidden path cannot be covered"; }
            return after_grant();
        });
        close_if_open(device);
    }

    /// Covers sockets. A socket can be reached by its path whatever the network namespace.
    void cover_sockets() {
        const int device = at("/dev/null");
        sockets_.for_each(policy_, [this, device](const char* path) {
            const int source = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
            struct stat about {};
            char real[PATH_MAX];
            if (source >= 0 && fstat(source, &about) == 0 && S_ISSOCK(about.st_mode) && name_of(source, real) &&
                is_there(real, about)) {
                const int place = at(real);
                if (!bind_over(device, place, read_only)) { wrong_ = "a socket of another program cannot be covered"; }
                close_if_open(place);
            }
            close_if_open(source);
        });
        close_if_open(device);
    }

    const Policy& policy_;
    Outside outside_;
    Sockets& sockets_;
    int root_ = -1;
    const char* wrong_ = good;
};

}  // namespace

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

const char* enter_new_root(const Policy& policy, Sockets& sockets) {
    bound_namespaces(policy);
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) { return "mounts cannot be made private"; }
    const Outside outside;
    if (outside.proc < 0 || outside.links < 0) { return "/proc does not exist"; }
    NewRoot root(policy, outside, sockets);
    if (const char* const wrong = root.build(); wrong != good) { return wrong; }
    char directory[PATH_MAX];
    if (!root.make_directory(policy.directory, directory)) { return "the working folder has no name"; }
    close(outside.links);
    close(outside.proc);
    if (const char* const wrong = root.enter(); wrong != good) { return wrong; }
    if (chdir(directory) != 0) { return "the working folder cannot be entered"; }
    return good;
}

}  // namespace agentforge::exec
