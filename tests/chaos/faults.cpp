// SPDX-License-Identifier: Apache-2.0
/// A preloaded library that stands between a program with its libraries and every system call that changes a file system.
/// Each such call below FAULTS_ROOT made by a program named `agentforge` is numbered, written to a trace, and may fail.
///
/// FAULTS_ROOT   folder, absolute and without links: calls elsewhere pass.
/// FAULTS_STATE  file of one `Shared`, zeroed; all processes of a run count together in it.
/// FAULTS_TRACE  file that gets one `Header` with its paths and bytes for each call that was made.
/// FAULTS_AT     the call to fail, from 1; if that call cannot fail in this way, the next one that can.
/// FAULTS_KIND   kill-before, kill-after, eio, enospc, full (ENOSPC from then on), eintr, emfile, short.
///
/// It makes system calls itself rather than by libc's functions of the same names, so it works before constructors and after
/// fork.
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

/// In the order of `OPERATIONS` in trace.py.
enum class Op : std::uint32_t {
    none,
    create,
    write,
    sync,
    rename,
    link,
    symlink,
    unlink,
    mkdir,
    rmdir,
    truncate,
    copy,
    close,
    allocate
};

enum class Fault { none, kill_before, kill_after, eio, enospc, full, eintr, emfile, short_write };

constexpr std::uint32_t most_processes = 512;

struct Shared {
    std::atomic<std::uint64_t> count;
    std::atomic<std::uint64_t> struck_at;  ///< The call that the fault came of; 0: of none yet.
    std::atomic<std::uint32_t> struck_op;
    std::atomic<std::uint32_t> processes;
    std::atomic<std::int32_t> process[most_processes];
};

struct Header {
    std::uint32_t size;  ///< Of all that follows it, too.
    std::uint32_t op;
    std::uint64_t number;
    std::int64_t result;
    std::int64_t offset;  ///< Of a write or truncation; the flags of a create or a rename.
    std::uint64_t inode;
    std::uint32_t process;
    std::uint32_t path_length;
    std::uint32_t other_length;
    std::uint32_t data_length;
};

long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
    long result = 0;
    register long r10 asm("r10") = d;
    register long r8 asm("r8") = e;
    register long r9 asm("r9") = f;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
}

template <typename T>
long raw_pointer(T* pointer) {
    return reinterpret_cast<long>(pointer);
}

long answer(long result) {
    if (result < 0) {
        errno = static_cast<int>(-result);
        return -1;
    }
    return result;
}

struct Setup {
    bool on{false};
    char root[PATH_MAX]{};
    std::size_t root_length{0};
    int trace{-1};
    std::uint64_t at{0};
    Fault fault{Fault::none};
    Shared* shared{nullptr};
};

Fault named(const char* name) {
    if (name == nullptr) { return Fault::none; }
    constexpr struct {
        const char* name;
        Fault fault;
    } all[] = {{"kill-before", Fault::kill_before},
               {"kill-after", Fault::kill_after},
               {"eio", Fault::eio},
               {"enospc", Fault::enospc},
               {"full", Fault::full},
               {"eintr", Fault::eintr},
               {"emfile", Fault::emfile},
               {"short", Fault::short_write}};
    for (const auto& each : all) {
        if (std::strcmp(each.name, name) == 0) { return each.fault; }
    }
    std::fprintf(stderr, "faults: unknown FAULTS_KIND '%s'\n", name);
    std::abort();
}

Setup& setup() {
    static Setup made = [] {
        Setup at;
        char program[PATH_MAX]{};
        const long length = raw(SYS_readlink, raw_pointer("/proc/self/exe"), raw_pointer(program), sizeof program - 1);
        const char* const slash = length > 0 ? std::strrchr(program, '/') : nullptr;
        const char* const root = std::getenv("FAULTS_ROOT");
        const char* const state = std::getenv("FAULTS_STATE");
        if (slash == nullptr || std::strcmp(slash, "/agentforge") != 0 || root == nullptr || state == nullptr) { return at; }
        at.root_length = std::strlen(root);
        std::memcpy(at.root, root, at.root_length + 1);
        const long file = raw(SYS_openat, AT_FDCWD, raw_pointer(state), O_RDWR | O_CLOEXEC);
        const long memory = raw(SYS_mmap, 0, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (file < 0 || memory < 0) { return at; }
        raw(SYS_close, file);
        at.shared = reinterpret_cast<Shared*>(memory);  // NOLINT(performance-no-int-to-ptr)
        if (const char* const trace = std::getenv("FAULTS_TRACE")) {
            const long low = raw(SYS_openat, AT_FDCWD, raw_pointer(trace), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
            at.trace = static_cast<int>(raw(SYS_fcntl, low, F_DUPFD_CLOEXEC, 900));
            raw(SYS_close, low);
        }
        const char* const strike = std::getenv("FAULTS_AT");
        at.at = strike == nullptr ? 0 : std::strtoull(strike, nullptr, 10);
        at.fault = at.at == 0 ? Fault::none : named(std::getenv("FAULTS_KIND"));
        at.on = true;
        return at;
    }();
    return made;
}

__attribute__((constructor)) void begin() {
    Setup& at = setup();
    if (!at.on) { return; }
    const std::uint32_t place = at.shared->processes.fetch_add(1);
    if (place < most_processes) { at.shared->process[place] = static_cast<std::int32_t>(raw(SYS_getpid)); }
}

/// The path below the root, or an empty one.
struct Place {
    char text[PATH_MAX * 2]{};
    std::size_t length{0};

    void keep_if_below_root() {
        const Setup& at = setup();
        if (length <= at.root_length || std::memcmp(text, at.root, at.root_length) != 0 || text[at.root_length] != '/') {
            length = 0;
        }
    }

    static Place of(int folder, const char* path) {
        Place place;
        if (!setup().on || path == nullptr) { return place; }
        const std::size_t given = strnlen(path, PATH_MAX - 1);
        if (path[0] != '/') {
            char link[64] = "/proc/self/cwd";
            if (folder != AT_FDCWD) { std::snprintf(link, sizeof link, "/proc/self/fd/%d", folder); }
            const long read = raw(SYS_readlink, raw_pointer(link), raw_pointer(place.text), PATH_MAX - 1);
            if (read <= 0) { return place; }
            place.length = static_cast<std::size_t>(read);
            place.text[place.length++] = '/';
        }
        std::memcpy(place.text + place.length, path, given);
        place.length += given;
        place.keep_if_below_root();
        return place;
    }

    static Place of(int descriptor, bool also_folders = false) {
        Place place;
        struct stat status {};
        if (!setup().on || raw(SYS_fstat, descriptor, raw_pointer(&status)) != 0) { return place; }
        if (!S_ISREG(status.st_mode) && !(also_folders && S_ISDIR(status.st_mode))) { return place; }
        char link[64];
        std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        const long read = raw(SYS_readlink, raw_pointer(link), raw_pointer(place.text), PATH_MAX - 1);
        place.length = read > 0 ? static_cast<std::size_t>(read) : 0;
        place.keep_if_below_root();
        return place;
    }
};

std::uint64_t inode_of(int descriptor) {
    struct stat status {};
    return raw(SYS_fstat, descriptor, raw_pointer(&status)) == 0 ? status.st_ino : 0;
}

bool allocates(Op op) {
    switch (op) {
        case Op::create:
        case Op::write:
        case Op::rename:
        case Op::link:
        case Op::symlink:
        case Op::mkdir:
        case Op::truncate:
        case Op::copy:
        case Op::allocate:
        case Op::sync:
            return true;
        default:
            return false;
    }
}

/// Whether Linux can answer this call so.
bool can_come_of(Fault fault, Op op) {
    switch (fault) {
        case Fault::none:
            return false;
        case Fault::kill_before:
        case Fault::kill_after:
            return true;
        case Fault::eio:
            return true;
        case Fault::enospc:
        case Fault::full:
            return allocates(op);
        case Fault::eintr:
            return op == Op::create || op == Op::write || op == Op::close || op == Op::truncate;
        case Fault::emfile:
            return op == Op::create;
        case Fault::short_write:
            return op == Op::write;
    }
    return false;
}

/// One call: numbered when made, struck or not, and traced when `done`.
class Call {
public:
    Call(Op op, const Place& path) : op_(op), path_(path), on_(path.length != 0) {
        if (!on_) { return; }
        Setup& at = setup();
        number_ = at.shared->count.fetch_add(1) + 1;
        if (at.fault == Fault::none || number_ < at.at || !can_come_of(at.fault, op)) { return; }
        if (at.shared->struck_at.load() != 0 && at.fault != Fault::full) { return; }
        std::uint64_t none = 0;
        if (at.shared->struck_at.compare_exchange_strong(none, number_)) {
            at.shared->struck_op = static_cast<std::uint32_t>(op);
        } else if (at.fault != Fault::full) {
            return;
        }
        fault_ = at.fault;
        if (fault_ == Fault::kill_before) { die(); }
    }

    [[nodiscard]] bool fails() const { return on_ && error() != 0; }
    [[nodiscard]] bool is_short() const { return on_ && fault_ == Fault::short_write; }
    [[nodiscard]] long failure() const { return -error(); }

    /// `result` as the system call gave it (a negative errno where it failed); `data` is as long as that, or as `length`.
    long done(long result, std::int64_t offset = 0, std::uint64_t inode = 0, const Place* other = nullptr,
              const void* data = nullptr, long length = -1) {
        if (!on_) { return result; }
        const Setup& at = setup();
        if (at.trace >= 0) {
            const long given = length >= 0 ? length : result;
            const std::size_t bytes = data != nullptr && given > 0 ? static_cast<std::size_t>(given) : 0;
            Header header{
                static_cast<std::uint32_t>(sizeof(Header) + path_.length + (other != nullptr ? other->length : 0) + bytes),
                static_cast<std::uint32_t>(op_),
                number_,
                result,
                offset,
                inode,
                static_cast<std::uint32_t>(raw(SYS_getpid)),
                static_cast<std::uint32_t>(path_.length),
                static_cast<std::uint32_t>(other != nullptr ? other->length : 0),
                static_cast<std::uint32_t>(bytes)};
            iovec parts[4] = {{&header, sizeof header},
                              {const_cast<char*>(path_.text), path_.length},
                              {other != nullptr ? const_cast<char*>(other->text) : nullptr, header.other_length},
                              {const_cast<void*>(data), bytes}};
            raw(SYS_writev, at.trace, raw_pointer(parts), 4);
        }
        if (fault_ == Fault::kill_after) { die(); }
        return result;
    }

private:
    [[noreturn]] static void die() {
        for (;;) { raw(SYS_kill, raw(SYS_getpid), SIGKILL); }
    }

    [[nodiscard]] int error() const {
        switch (fault_) {
            case Fault::eio:
                return EIO;
            case Fault::enospc:
            case Fault::full:
                return ENOSPC;
            case Fault::eintr:
                return EINTR;
            case Fault::emfile:
                return EMFILE;
            default:
                return 0;
        }
    }

    Op op_;
    const Place& path_;
    bool on_;
    std::uint64_t number_{0};
    Fault fault_{Fault::none};
};

/// A call that only paths describe.
template <typename Make>
long by_path(Op op, const Place& path, const Place* other, std::int64_t flags, Make make) {
    Call call(op, path);
    if (call.fails()) { return answer(call.failure()); }
    return answer(call.done(make(), flags, 0, other));
}

long open_at(int folder, const char* path, int flags, unsigned mode) {
    const auto make = [&] { return raw(SYS_openat, folder, raw_pointer(path), flags | O_LARGEFILE, mode); };
    if ((flags & (O_CREAT | O_TRUNC)) == 0) { return answer(make()); }  // O_TMPFILE has no name; nothing here uses it.
    const Place place = Place::of(folder, path);
    Call call(Op::create, place);
    if (call.fails()) { return answer(call.failure()); }
    const long result = make();
    return answer(call.done(result, flags, result >= 0 ? inode_of(static_cast<int>(result)) : 0));
}

constexpr int most_descriptors = 4096;
std::atomic<bool> written[most_descriptors];

void is_written(int descriptor, bool value = true) {
    if (descriptor >= 0 && descriptor < most_descriptors) { written[descriptor] = value; }
}

long write_at(int descriptor, const void* bytes, std::size_t count, std::int64_t offset) {
    const Place place = Place::of(descriptor);
    Call call(Op::write, place);
    if (call.fails()) { return answer(call.failure()); }
    if (call.is_short() && count > 1) { count /= 2; }
    const long result = offset < 0 ? raw(SYS_write, descriptor, raw_pointer(bytes), static_cast<long>(count))
                                   : raw(SYS_pwrite64, descriptor, raw_pointer(bytes), static_cast<long>(count), offset);
    if (place.length == 0) { return answer(result); }
    is_written(descriptor);
    const std::int64_t from = offset >= 0 || result < 0 ? offset : raw(SYS_lseek, descriptor, 0, SEEK_CUR) - result;
    return answer(call.done(result, from, inode_of(descriptor), nullptr, bytes));
}

long sync_by(long number, int descriptor) {
    const Place place = Place::of(descriptor, true);
    Call call(Op::sync, place);
    if (call.fails()) { return answer(call.failure()); }
    const long result = raw(number, descriptor);
    struct stat status {};
    if (place.length == 0 || setup().trace < 0 || result != 0 || raw(SYS_fstat, descriptor, raw_pointer(&status)) != 0 ||
        !S_ISREG(status.st_mode) || status.st_size == 0) {
        return answer(call.done(result, 0, inode_of(descriptor)));
    }
    // All its bytes: another program may have written them, as git does for `apply`.
    char link[64];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const long file = raw(SYS_openat, AT_FDCWD, raw_pointer(link), O_RDONLY | O_CLOEXEC);
    const long memory = raw(SYS_mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    raw(SYS_close, file);
    const void* const bytes = memory > 0 ? reinterpret_cast<const void*>(memory) : nullptr;  // NOLINT(performance-no-int-to-ptr)
    const long made = call.done(result, 0, inode_of(descriptor), nullptr, bytes, status.st_size);
    if (bytes != nullptr) { raw(SYS_munmap, memory, status.st_size); }
    return answer(made);
}

long rename_at(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
    const Place source = Place::of(from_folder, from);
    const Place target = Place::of(to_folder, to);
    return by_path(Op::rename, source, &target, flags,
                   [&] { return raw(SYS_renameat2, from_folder, raw_pointer(from), to_folder, raw_pointer(to), flags); });
}

long link_at(int from_folder, const char* from, int to_folder, const char* to, int flags) {
    const Place source = Place::of(from_folder, from);
    const Place target = Place::of(to_folder, to);
    return by_path(Op::link, target, &source, flags,
                   [&] { return raw(SYS_linkat, from_folder, raw_pointer(from), to_folder, raw_pointer(to), flags); });
}

long symlink_at(const char* text, int folder, const char* path) {
    Place target;
    target.length = strnlen(text, PATH_MAX);
    std::memcpy(target.text, text, target.length);
    return by_path(Op::symlink, Place::of(folder, path), &target, 0,
                   [&] { return raw(SYS_symlinkat, raw_pointer(text), folder, raw_pointer(path)); });
}

long unlink_at(int folder, const char* path, int flags) {
    const Op op = (flags & AT_REMOVEDIR) != 0 ? Op::rmdir : Op::unlink;
    return by_path(op, Place::of(folder, path), nullptr, 0, [&] { return raw(SYS_unlinkat, folder, raw_pointer(path), flags); });
}

long mkdir_at(int folder, const char* path, mode_t mode) {
    return by_path(Op::mkdir, Place::of(folder, path), nullptr, 0,
                   [&] { return raw(SYS_mkdirat, folder, raw_pointer(path), mode); });
}

long truncate_to(int descriptor, off_t length) {
    const Place place = Place::of(descriptor);
    Call call(Op::truncate, place);
    if (call.fails()) { return answer(call.failure()); }
    return answer(call.done(raw(SYS_ftruncate, descriptor, length), length, inode_of(descriptor)));
}

/// The bytes that a copy has put at the end of `descriptor`, so that the trace holds them.
class Copied {
public:
    Copied(int descriptor, long length) : length_(length > 0 && setup().trace >= 0 ? length : 0) {
        if (length_ == 0) { return; }
        char link[64];
        std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        const long file = raw(SYS_openat, AT_FDCWD, raw_pointer(link), O_RDONLY | O_CLOEXEC);
        offset_ = raw(SYS_lseek, descriptor, 0, SEEK_CUR) - length_;
        const long memory = raw(SYS_mmap, 0, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (file >= 0 && memory >= 0 && raw(SYS_pread64, file, memory, length_, offset_) == length_) {
            bytes_ = reinterpret_cast<void*>(memory);
        }  // NOLINT(performance-no-int-to-ptr)
        raw(SYS_close, file);
    }
    ~Copied() {
        if (bytes_ != nullptr) { raw(SYS_munmap, raw_pointer(bytes_), length_); }
    }
    Copied(const Copied&) = delete;
    Copied& operator=(const Copied&) = delete;
    [[nodiscard]] const void* bytes() const { return bytes_; }
    [[nodiscard]] std::int64_t offset() const { return offset_; }

private:
    long length_;
    std::int64_t offset_{0};
    void* bytes_{nullptr};
};

long copied(Call& call, int to, long result) {
    is_written(to);
    if (result <= 0) { return answer(call.done(result)); }
    const Copied copy(to, result);
    return answer(call.done(result, copy.offset(), inode_of(to), nullptr, copy.bytes()));
}

}  // namespace

EXPORT int open(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0;
    va_end(more);
    return static_cast<int>(open_at(AT_FDCWD, path, flags, mode));
}
EXPORT int open64(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0;
    va_end(more);
    return static_cast<int>(open_at(AT_FDCWD, path, flags, mode));
}
EXPORT int openat(int folder, const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0;
    va_end(more);
    return static_cast<int>(open_at(folder, path, flags, mode));
}
EXPORT int openat64(int folder, const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0;
    va_end(more);
    return static_cast<int>(open_at(folder, path, flags, mode));
}
EXPORT int creat(const char* path, mode_t mode) {
    return static_cast<int>(open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode));
}
EXPORT int creat64(const char* path, mode_t mode) { return creat(path, mode); }

/// std::ofstream opens by this and writes by write and writev. Writes from stdio's own buffer are not intercepted; the test under
/// strace finds them.
EXPORT FILE* fopen(const char* path, const char* mode) {
    using Real = FILE* (*)(const char*, const char*);
    static const auto real = reinterpret_cast<Real>(::dlsym(RTLD_NEXT, "fopen"));
    if (std::strpbrk(mode, "wa+") == nullptr) { return real(path, mode); }
    const Place place = Place::of(AT_FDCWD, path);
    Call call(Op::create, place);
    if (call.fails()) {
        errno = static_cast<int>(-call.failure());
        return nullptr;
    }
    FILE* const made = real(path, mode);
    call.done(made != nullptr ? 0 : -errno, std::strchr(mode, 'w') != nullptr ? O_TRUNC : 0,
              made != nullptr ? inode_of(fileno(made)) : 0);
    return made;
}
EXPORT FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

EXPORT int mkostemp(char* name, int flags) {
    const std::size_t length = std::strlen(name);
    for (int attempt = 0; attempt < 1000 && length >= 6; ++attempt) {
        std::uint64_t random = 0;
        raw(SYS_getrandom, raw_pointer(&random), sizeof random, 0);
        for (std::size_t i = length - 6; i < length; ++i, random /= 26) { name[i] = static_cast<char>('a' + random % 26); }
        const long made = open_at(AT_FDCWD, name, flags | O_RDWR | O_CREAT | O_EXCL, 0600);
        if (made >= 0 || errno != EEXIST) { return static_cast<int>(made); }
    }
    errno = EINVAL;
    return -1;
}
EXPORT int mkostemp64(char* name, int flags) { return mkostemp(name, flags); }
EXPORT int mkstemp(char* name) { return mkostemp(name, 0); }
EXPORT int mkstemp64(char* name) { return mkostemp(name, 0); }
EXPORT char* mkdtemp(char* name) {
    const std::size_t length = std::strlen(name);
    for (int attempt = 0; attempt < 1000 && length >= 6; ++attempt) {
        std::uint64_t random = 0;
        raw(SYS_getrandom, raw_pointer(&random), sizeof random, 0);
        for (std::size_t i = length - 6; i < length; ++i, random /= 26) { name[i] = static_cast<char>('a' + random % 26); }
        if (mkdir_at(AT_FDCWD, name, 0700) == 0) { return name; }
        if (errno != EEXIST) { return nullptr; }
    }
    errno = EINVAL;
    return nullptr;
}

EXPORT ssize_t write(int descriptor, const void* bytes, size_t count) { return write_at(descriptor, bytes, count, -1); }
EXPORT ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
    return write_at(descriptor, bytes, count, offset);
}
EXPORT ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off_t offset) {
    return write_at(descriptor, bytes, count, offset);
}
/// Part by part, which the trace and the faults see as what it may come to: a write that is not whole.
EXPORT ssize_t writev(int descriptor, const iovec* parts, int count) {
    if (Place::of(descriptor).length == 0) { return answer(raw(SYS_writev, descriptor, raw_pointer(parts), count)); }
    ssize_t all = 0;
    for (int i = 0; i < count; ++i) {
        if (parts[i].iov_len == 0) { continue; }
        const long made = write_at(descriptor, parts[i].iov_base, parts[i].iov_len, -1);
        if (made < 0) { return all > 0 ? all : made; }
        all += made;
        if (static_cast<std::size_t>(made) < parts[i].iov_len) { break; }
    }
    return all;
}

EXPORT int fsync(int descriptor) { return static_cast<int>(sync_by(SYS_fsync, descriptor)); }
EXPORT int fdatasync(int descriptor) { return static_cast<int>(sync_by(SYS_fdatasync, descriptor)); }
EXPORT int syncfs(int descriptor) { return static_cast<int>(sync_by(SYS_syncfs, descriptor)); }

EXPORT int rename(const char* from, const char* to) { return static_cast<int>(rename_at(AT_FDCWD, from, AT_FDCWD, to, 0)); }
EXPORT int renameat(int from_folder, const char* from, int to_folder, const char* to) {
    return static_cast<int>(rename_at(from_folder, from, to_folder, to, 0));
}
EXPORT int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
    return static_cast<int>(rename_at(from_folder, from, to_folder, to, flags));
}
EXPORT int link(const char* from, const char* to) { return static_cast<int>(link_at(AT_FDCWD, from, AT_FDCWD, to, 0)); }
EXPORT int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
    return static_cast<int>(link_at(from_folder, from, to_folder, to, flags));
}
EXPORT int symlink(const char* text, const char* path) { return static_cast<int>(symlink_at(text, AT_FDCWD, path)); }
EXPORT int symlinkat(const char* text, int folder, const char* path) { return static_cast<int>(symlink_at(text, folder, path)); }
EXPORT int unlink(const char* path) { return static_cast<int>(unlink_at(AT_FDCWD, path, 0)); }
EXPORT int unlinkat(int folder, const char* path, int flags) { return static_cast<int>(unlink_at(folder, path, flags)); }
EXPORT int rmdir(const char* path) { return static_cast<int>(unlink_at(AT_FDCWD, path, AT_REMOVEDIR)); }
EXPORT int remove(const char* path) {
    if (unlink_at(AT_FDCWD, path, 0) == 0) { return 0; }
    return errno == EISDIR ? static_cast<int>(unlink_at(AT_FDCWD, path, AT_REMOVEDIR)) : -1;
}
EXPORT int mkdir(const char* path, mode_t mode) { return static_cast<int>(mkdir_at(AT_FDCWD, path, mode)); }
EXPORT int mkdirat(int folder, const char* path, mode_t mode) { return static_cast<int>(mkdir_at(folder, path, mode)); }

EXPORT int ftruncate(int descriptor, off_t length) { return static_cast<int>(truncate_to(descriptor, length)); }
EXPORT int ftruncate64(int descriptor, off_t length) { return static_cast<int>(truncate_to(descriptor, length)); }
EXPORT int truncate(const char* path, off_t length) {
    return static_cast<int>(by_path(Op::truncate, Place::of(AT_FDCWD, path), nullptr, length,
                                    [&] { return raw(SYS_truncate, raw_pointer(path), length); }));
}
EXPORT int truncate64(const char* path, off_t length) { return truncate(path, length); }

EXPORT int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    const Place place = Place::of(descriptor);
    Call call(Op::allocate, place);
    if (call.fails()) { return static_cast<int>(answer(call.failure())); }
    return static_cast<int>(
        answer(call.done(raw(SYS_fallocate, descriptor, mode, offset, length), offset, inode_of(descriptor))));
}

/// Whole files are copied by these; libstdc++ uses them for std::filesystem::copy_file.
EXPORT ssize_t copy_file_range(int from, off_t* from_offset, int to, off_t* to_offset, size_t length, unsigned flags) {
    const Place place = Place::of(to);
    Call call(Op::copy, place);
    if (call.fails()) { return answer(call.failure()); }
    return copied(
        call, to,
        raw(SYS_copy_file_range, from, raw_pointer(from_offset), to, raw_pointer(to_offset), static_cast<long>(length), flags));
}
EXPORT ssize_t sendfile(int to, int from, off_t* offset, size_t count) {
    const Place place = Place::of(to);
    Call call(Op::copy, place);
    if (call.fails()) { return answer(call.failure()); }
    return copied(call, to, raw(SYS_sendfile, to, from, raw_pointer(offset), static_cast<long>(count)));
}
EXPORT ssize_t sendfile64(int to, int from, off_t* offset, size_t count) { return sendfile(to, from, offset, count); }

/// The program names openat2 by its number, since glibc has no function for it. (`struct open_how` begins with its flags.)
EXPORT long syscall(long number, ...) {
    long given[6];
    va_list rest;
    va_start(rest, number);
    for (long& value : given) { value = va_arg(rest, long); }
    va_end(rest);
    const auto make = [&] { return raw(number, given[0], given[1], given[2], given[3], given[4], given[5]); };
    if (number != SYS_openat2) { return answer(make()); }
    const auto flags = static_cast<int>(*reinterpret_cast<const std::uint64_t*>(given[2]));  // NOLINT(performance-no-int-to-ptr)
    if ((flags & (O_CREAT | O_TRUNC)) == 0) { return answer(make()); }
    const Place place =
        Place::of(static_cast<int>(given[0]), reinterpret_cast<const char*>(given[1]));  // NOLINT(performance-no-int-to-ptr)
    Call call(Op::create, place);
    if (call.fails()) { return answer(call.failure()); }
    const long result = make();
    return answer(call.done(result, flags, result >= 0 ? inode_of(static_cast<int>(result)) : 0));
}

EXPORT int close(int descriptor) {
    if (descriptor < 0 || descriptor >= most_descriptors || !written[descriptor].exchange(false)) {
        return static_cast<int>(answer(raw(SYS_close, descriptor)));
    }
    const Place place = Place::of(descriptor);
    Call call(Op::close, place);
    const long result = raw(SYS_close, descriptor);  // Linux frees the descriptor whatever close answers.
    if (call.fails()) { return static_cast<int>(answer(call.failure())); }
    return static_cast<int>(answer(call.done(result)));
}
