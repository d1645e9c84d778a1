// SPDX-License-Identifier: Apache-2.0
// agentforge-bench-spawn ROUNDS|once PROGRAM [ARGUMENT…] -- PROGRAM [ARGUMENT…]
// Starts the two programs alternately and prints for each round: nanoseconds, nanoseconds of processor time and resident KiB of
// the first, then of the second. `once`: one round, without the warm-up.
// Small and static, because the largest resident size of a child includes its parent's until the exec.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

long long now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

bool run(char** words, posix_spawn_file_actions_t& actions, bool shown) {
    const long long begin = now();
    pid_t child = 0;
    if (posix_spawnp(&child, words[0], &actions, nullptr, words, environ) != 0) {
        std::fprintf(stderr, "cannot start %s\n", words[0]);
        return false;
    }
    int status = 0;
    rusage usage{};
    if (wait4(child, &status, 0, &usage) != child || status != 0) {
        std::fprintf(stderr, "%s failed\n", words[0]);
        return false;
    }
    const long long end = now();
    const long long cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000'000LL +
                          (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000LL;
    if (shown) { std::printf("%lld %lld %ld ", end - begin, cpu, usage.ru_maxrss); }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    int separator = 2;
    while (separator < argc && std::strcmp(argv[separator], "--") != 0) { ++separator; }
    if (argc < 5 || separator + 1 >= argc) { return 2; }
    argv[separator] = nullptr;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    const bool once = std::strcmp(argv[1], "once") == 0;
    const int rounds = once ? 1 : std::atoi(argv[1]);
    for (int round = once ? 0 : -1; round < rounds; ++round) {  // The first round warms the page cache.
        if (!run(argv + 2, actions, round >= 0) || !run(argv + separator + 1, actions, round >= 0)) { return 1; }
        std::printf("\n");
    }
    return 0;
}
