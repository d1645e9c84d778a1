/* SPDX-License-Identifier: Apache-2.0
 * Inserted before a C source file, whose functions of lists of numbers also call themselves with other lists while tests run.
 * Writes one line a call to the file $AGENTFORGE_CALLS (kernel/gates/test_quality/varied_calls.hpp). C99. */
#ifndef AGENTFORGE_VARIED_CALLS_H
#define AGENTFORGE_VARIED_CALLS_H
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { agentforge_longest = 200 };

static int agentforge_busy;
static int agentforge_made;

struct agentforge_calls {
    const char* function;
    FILE* file;
    size_t own_count;
    size_t now_count;
    int step; /* 0: the tests' list; then the others. */
    double own[200];
    double now[400];
};

static inline int agentforge_begin(struct agentforge_calls* calls, const char* function, size_t count) {
    const char* path = getenv("AGENTFORGE_CALLS");
    if (path == NULL || agentforge_busy || count > (size_t)agentforge_longest || agentforge_made >= 40) { return 0; }
    calls->file = fopen(path, "a");
    if (calls->file == NULL) { return 0; }
    agentforge_busy = 1;
    agentforge_made += 1;
    calls->function = function;
    calls->own_count = count;
    calls->step = -1;
    return 1;
}

static inline int agentforge_next(struct agentforge_calls* calls) {
    const size_t count = calls->own_count;
    size_t at;
    int step = ++calls->step;
    if (step >= 6 + 2 * (int)(count < 6 ? count : 6) || (step > 0 && count < 2)) {
        fclose(calls->file);
        agentforge_busy = 0;
        return 0;
    }
    calls->now_count = count;
    for (at = 0; at < count; ++at) { calls->now[at] = calls->own[at]; }
    if (step == 1) {
        calls->now_count = count - 1;
        for (at = 1; at < count; ++at) { calls->now[at - 1] = calls->own[at]; }
    } else if (step == 2) {
        calls->now_count = count - 1;
    } else if (step == 3) {
        for (at = 0; at < count; ++at) { calls->now[at] = calls->own[count - 1 - at]; }
    } else if (step == 4) {
        calls->now_count = 2 * count;
        for (at = 0; at < count; ++at) { calls->now[count + at] = calls->own[at]; }
    } else if (step == 5) {
        calls->now_count = 0;
    } else if (step > 5) {
        calls->now[(step - 6) / 2] += step % 2 == 0 ? 1 : -1;
    }
    return 1;
}

static inline void agentforge_tell(struct agentforge_calls* calls, double result) {
    char line[16384];
    size_t length = (size_t)snprintf(line, sizeof line, "%s\t%s\t", calls->function, calls->step == 0 ? "own" : "near");
    size_t at;
    for (at = 0; at < calls->now_count && length + 80 < sizeof line; ++at) {
        length += (size_t)snprintf(line + length, sizeof line - length, "%s%.17g", at == 0 ? "" : ",", calls->now[at]);
    }
    length += (size_t)snprintf(line + length, sizeof line - length, "\t%.17g\n", result);
    fwrite(line, 1, length, calls->file);
    fflush(calls->file);
}
#endif
