/* SPDX-License-Identifier: Apache-2.0
 * Preloaded into the program by test_sets.py: kills it with SIGKILL instead of the AGENTFORGE_TEST_KILL_AT-th step that reaches
 * the disk (a rename, a sync or a removal). Processes that it starts do not count. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static int steps;
static pid_t counted;

static void step(void) {
    const char* at = getenv("AGENTFORGE_TEST_KILL_AT");
    if (at == NULL) { return; }
    if (counted == 0) { counted = getpid(); }
    if (getpid() == counted && __atomic_add_fetch(&steps, 1, __ATOMIC_SEQ_CST) == atoi(at)) { kill(getpid(), SIGKILL); }
}

#define BEFORE(type, name, parameters, arguments)             \
    type name parameters {                                    \
        static type(*real) parameters;                        \
        if (real == NULL) { real = dlsym(RTLD_NEXT, #name); } \
        step();                                               \
        return real arguments;                                \
    }

BEFORE(int, rename, (const char* from, const char* to), (from, to))
BEFORE(int, renameat, (int from_at, const char* from, int to_at, const char* to), (from_at, from, to_at, to))
BEFORE(int, link, (const char* from, const char* to), (from, to))
BEFORE(int, fsync, (int file), (file))
BEFORE(int, fdatasync, (int file), (file))
BEFORE(int, unlink, (const char* path), (path))
