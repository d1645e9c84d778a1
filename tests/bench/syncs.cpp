// SPDX-License-Identifier: Apache-2.0
#include "bench/syncs.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

namespace {

std::atomic<std::uint64_t> count{0};
std::atomic<std::uint64_t> nanoseconds{0};

int timed(long call, int descriptor) {
    const auto begin = std::chrono::steady_clock::now();
    const long result = ::syscall(call, descriptor);
    nanoseconds += static_cast<std::uint64_t>((std::chrono::steady_clock::now() - begin).count());
    ++count;
    return static_cast<int>(result);
}

}  // namespace

// A program's own symbols come before those of the libraries that it links, so libgit2 calls these too.
extern "C" {
__attribute__((visibility("default"))) int fsync(int descriptor) { return timed(SYS_fsync, descriptor); }
__attribute__((visibility("default"))) int fdatasync(int descriptor) { return timed(SYS_fdatasync, descriptor); }
}

namespace agentforge::bench {

Syncs syncs_so_far() noexcept { return {count.load(), static_cast<double>(nanoseconds.load()) / 1e3}; }

}  // namespace agentforge::bench
