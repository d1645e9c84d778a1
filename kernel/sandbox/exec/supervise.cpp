// SPDX-License-Identifier: Apache-2.0
#include "supervise.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>

#include "lost_time.hpp"
#include "new_files.hpp"
#include "report.hpp"
#include "tree.hpp"
#include "usage.hpp"

namespace tree = agentforge::process::tree;

namespace agentforge::exec {
namespace {

constexpr std::int64_t check_interval_ns = 50'000'000;
constexpr std::int64_t full_check_interval_ns = 1'000'000'000;

std::int64_t time_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::int64_t now_ns() { return time_ns(CLOCK_MONOTONIC); }

std::uint64_t at_least_one(long number, std::uint64_t otherwise) {
    return number > 0 ? static_cast<std::uint64_t>(number) : otherwise;
}
std::uint64_t processors() { return at_least_one(sysconf(_SC_NPROCESSORS_ONLN), 1); }
std::uint64_t ticks_per_second() { return at_least_one(sysconf(_SC_CLK_TCK), 100); }

/// Calls `use(process)` for each living or unreaped process of the tree.
template <class Use>
void for_each_process(ProcessTree of, Use&& use) {
    tree::Table table;
    tree::read_table(table);
    if (of == ProcessTree::of_descendants) { tree::mark_descendants(table, getpid()); }
    for (size_t i = 0; i < table.count; ++i) {
        const tree::Entry& entry = table.entries[i];
        if (of == ProcessTree::of_namespace ? entry.pid != getpid() : entry.member) { use(entry.pid); }
    }
}

class UsageLimits {
public:
    UsageLimits(const Policy& policy, ProcessTree of)
        : policy_(policy), of_(of), at_start_(usage_of_system()), free_at_start_(free_space()) {
        most_ticks_ = policy.cpu_seconds * processors() * ticks_per_second();
        clock_gettime(CLOCK_REALTIME_COARSE, &start_);
        last_check_ = last_full_check_ = now_ns();
    }

    /// Time until the next check.
    [[nodiscard]] std::int64_t interval_ns() const {
        return 10 * cost_ns_ > check_interval_ns ? 10 * cost_ns_ : check_interval_ns;
    }

    [[nodiscard]] bool due() const { return now_ns() - last_check_ >= interval_ns(); }

    /// Returns the name of an exceeded limit, or null.
    const char* exceeded() {
        const std::int64_t begin = now_ns();
        last_check_ = begin;
        const SystemUsage system = usage_of_system();
        const bool more_tasks = system.tasks > at_start_.tasks + policy_.processes / 2;
        const bool less_memory = system.available_bytes + policy_.memory / 4 < at_start_.available_bytes;
        const bool less_disk = lost_space().is_more_than(policy_.file_bytes / 2);
        if (!more_tasks && !less_memory && !less_disk && !lost_.suspected() &&
            begin - last_full_check_ < full_check_interval_ns) {
            return nullptr;
        }
        // Measured in processor time: on a busy machine a check takes longer but costs no more.
        const std::int64_t spent = time_ns(CLOCK_PROCESS_CPUTIME_ID);
        const char* const name = check_tree(system, begin - last_full_check_);
        last_full_check_ = begin;
        cost_ns_ = time_ns(CLOCK_PROCESS_CPUTIME_ID) - spent;
        return name;
    }

    /// The same after all processes have ended: checks the files they left behind.
    [[nodiscard]] const char* exceeded_at_end() const {
        return policy_.file_bytes != 0 && written_by_self_and_children() > policy_.file_bytes && new_files() > policy_.file_bytes
                   ? "file_bytes"
                   : nullptr;
    }

private:
    const char* check_tree(const SystemUsage& system, std::int64_t since_ns) {
        Usage sum;
        lost_.begin();
        for_each_process(of_, [&](pid_t process) {
            const Usage one = usage_of(process);
            lost_.see(process, one);
            sum.threads += one.threads;
            sum.anonymous_bytes += one.anonymous_bytes;
            sum.cpu_ticks += one.cpu_ticks;
            sum.written_bytes += one.written_bytes;
        });
        lost_.end(ticks_of_ended(), since_ns);
        const std::uint64_t gained =
            system.shared_bytes > at_start_.shared_bytes ? system.shared_bytes - at_start_.shared_bytes : 0;
        if (policy_.processes != 0 && sum.threads > policy_.processes) { return "processes"; }
        // The tree cannot share more than the whole machine does. The machine's increase is a weaker bound, because other
        // processes may have freed as much.
        if (policy_.memory != 0 && sum.anonymous_bytes + system.shared_bytes > policy_.memory &&
            memory(gained) > policy_.memory) {
            return "memory";
        }
        if (policy_.cpu_seconds != 0 && lost_.ticks(sum.cpu_ticks + ticks_of_ended()) > most_ticks_) { return "cpu_seconds"; }
        const Space lost = lost_space();
        if (policy_.file_bytes == 0 || !lost.is_more_than(policy_.file_bytes)) { return nullptr; }
        // The kernel adds a process's writes to its waiting parent. If no parent waits, only the existing files show the writes.
        const bool wrote =
            sum.written_bytes + written_by_self_and_children() > policy_.file_bytes && lost.bytes > policy_.file_bytes;
        return wrote || new_files() > policy_.file_bytes ? "file_bytes" : nullptr;
    }

    /// `gained`: increase of the whole machine's shared memory since the start.
    [[nodiscard]] std::uint64_t memory(std::uint64_t gained) const {
        Mapped mapped;
        static NamelessFiles files;
        files = {};
        for_each_process(of_, [&](pid_t process) {
            const Mapped one = mapped_by(process);
            mapped.anonymous_bytes += one.anonymous_bytes;
            mapped.shared_bytes += one.shared_bytes;
            files.add(process);
        });
        if (files.in_flight()) { return mapped.anonymous_bytes + gained; }  // A file in transit is visible only there.
        std::uint64_t shared = files.memory_bytes();
        if (of_ == ProcessTree::of_namespace) { shared += segment_bytes() + used_bytes("/tmp") + used_bytes("/dev/shm"); }
        return mapped.anonymous_bytes + (mapped.shared_bytes > shared ? mapped.shared_bytes : shared);
    }

    static std::uint64_t used_bytes(const char* path) {
        struct statvfs about {};
        return statvfs(path, &about) == 0 ? (about.f_blocks - about.f_bfree) * about.f_frsize : 0;
    }

    static std::uint64_t ticks_of_ended() {
        struct rusage ended {};
        getrusage(RUSAGE_CHILDREN, &ended);
        const auto microseconds = [](const timeval& time) {
            return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
        };
        return (microseconds(ended.ru_utime) + microseconds(ended.ru_stime)) * ticks_per_second() / 1'000'000;
    }

    /// Bytes and names (inodes) of file systems.
    struct Space {
        std::uint64_t bytes = 0, names = 0;
        [[nodiscard]] bool is_more_than(std::uint64_t limit) const { return bytes > limit || names > limit / bytes_of_a_name; }
    };

    /// Free space of the writable file systems, each counted once.
    [[nodiscard]] Space free_space() const {
        Space free;
        for_each(policy_, "write", [&](const char* path) {
            struct statvfs about {};
            struct stat folder {};
            if (statvfs(path, &about) != 0 || stat(path, &folder) != 0 || named_before(path, folder.st_dev)) {
                return Step::next;
            }
            free.bytes += static_cast<std::uint64_t>(about.f_bfree) * about.f_frsize;
            free.names += about.f_ffree;
            return Step::next;
        });
        return free;
    }

    [[nodiscard]] Space lost_space() const {
        const Space now = free_space();
        return {free_at_start_.bytes > now.bytes ? free_at_start_.bytes - now.bytes : 0,
                free_at_start_.names > now.names ? free_at_start_.names - now.names : 0};
    }

    /// Returns the bytes added to the writable folders since the start, and those that deleted open files still hold.
    [[nodiscard]] std::uint64_t new_files() const {
        std::uint64_t bytes = 0;
        for_each(policy_, "write", [&](const char* path) {
            bytes += bytes_below(path, start_);
            return Step::next;
        });
        static NamelessFiles files;
        files = {};
        for_each_process(of_, [](pid_t process) { files.add(process); });
        return bytes + files.disk_bytes();
    }

    /// True if a writable path listed before `path` in the policy is on the file system `device`.
    [[nodiscard]] bool named_before(const char* path, dev_t device) const {
        bool found = false;
        for_each(policy_, "write", [&](const char* earlier) {
            struct stat about {};
            if (earlier == path) { return Step::stop; }
            found = found || (stat(earlier, &about) == 0 && about.st_dev == device);
            return found ? Step::stop : Step::next;
        });
        return found;
    }

    const Policy& policy_;
    ProcessTree of_;
    SystemUsage at_start_;
    Space free_at_start_;
    timespec start_{};
    std::uint64_t most_ticks_ = 0;
    LostTime lost_{ticks_per_second(), processors()};
    std::int64_t last_check_ = 0;
    std::int64_t last_full_check_ = 0;
    std::int64_t cost_ns_ = 0;
};

/// Reaps the children that ended. Returns true once `program` was among them.
bool reap(pid_t program, int& result) {
    bool ended = false;
    for (;;) {
        int status = 0;
        const pid_t gone = waitpid(-1, &status, WNOHANG);
        if (gone <= 0) { return ended; }
        if (gone == program) {
            result = status;
            ended = true;
        }
    }
}

void kill_tree(ProcessTree of) {
    if (of == ProcessTree::of_namespace) {
        kill(-1, SIGKILL);
    } else {
        tree::kill_descendants(getpid());
    }
}

/// Runs until all processes that the program started have ended.
void end_tree(ProcessTree of, const sigset_t& awaited) {
    if (of == ProcessTree::of_namespace) {
        kill_tree(of);
        while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {}
        return;
    }
    for (int round = 0; round < 100; ++round) {
        int ignored = 0;
        reap(-1, ignored);
        if (waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) { return; }
        tree::kill_descendants(getpid());
        const timespec interval{0, 20'000'000};
        sigtimedwait(&awaited, nullptr, &interval);
    }
}

}  // namespace

int supervise(const Policy& policy, Cgroup& cgroup, pid_t program, const sigset_t& awaited, ProcessTree of, bool watched) {
    std::optional<UsageLimits> limits;
    if (watched) { limits.emplace(policy, of); }
    int result = 0;
    const char* beyond = nullptr;
    while (!reap(program, result)) {
        const std::int64_t wait = limits ? limits->interval_ns() : full_check_interval_ns;
        const timespec interval{wait / 1'000'000'000, wait % 1'000'000'000};
        const int signal = sigtimedwait(&awaited, nullptr, limits ? &interval : nullptr);
        if (signal == parent_died_signal) {
            kill_tree(of);
            if (of == ProcessTree::of_descendants) { cgroup.remove(); }
            _exit(128 + SIGKILL);
        }
        if (!limits || !limits->due()) { continue; }
        const char* const now_beyond = cgroup.exceeded() != nullptr ? cgroup.exceeded() : limits->exceeded();
        if (now_beyond != nullptr) {
            beyond = now_beyond;
            report("limit %s", beyond);
            flush_report();
            kill_tree(of);
        }
    }
    end_tree(of, awaited);
    if (watched && beyond == nullptr) {
        const char* const at_end = cgroup.exceeded() != nullptr ? cgroup.exceeded() : limits->exceeded_at_end();
        if (at_end != nullptr) {
            report("limit %s", at_end);
            flush_report();
        }
    }
    return result;
}

}  // namespace agentforge::exec
