/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of all recorders, in the common part of C and C++: one file for each process, one JSON line for each event, and
 * a wrapper around main.
 *
 * Environment: AGENTFORGE_RECORD is the folder to write to, AGENTFORGE_SECRET a secret in every line. The recorder removes both
 * from the environment before the project's code runs. AGENTFORGE_CANARY: this process must fail.
 * Lines, each {"s": secret, "i": number from 0, "type": …}:
 *   process {kind, argv, sources, canary}   written before any initialiser of the project's
 *   plan    {suite, name, file, line}       a test that this process will run
 *   start   {suite, name}
 *   result  {suite, name, file, line, status, failures, message}
 *   tests   {}                              the framework has finished
 *   main    {code}                          main returned
 */
#ifndef AGENTFORGE_RECORDER_H
#define AGENTFORGE_RECORDER_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int agentforge_file = -1;
static long agentforge_lines = 0;
static pid_t agentforge_owner = 0;
static char agentforge_secret[128];
static int agentforge_canary = 0;
static char agentforge_line[32768];
static size_t agentforge_used = 0;

static void agentforge_put(const char* text, size_t length) {
    if (length > sizeof agentforge_line - agentforge_used - 8) { length = sizeof agentforge_line - agentforge_used - 8; }
    memcpy(agentforge_line + agentforge_used, text, length);
    agentforge_used += length;
}
static void agentforge_raw(const char* text) { agentforge_put(text, strlen(text)); }

static void agentforge_text(const char* text) {
    char code[8];
    size_t left = 4000;
    agentforge_put("\"", 1);
    for (; text != NULL && *text != '\0' && left > 0; ++text, --left) {
        if (*text == '"' || *text == '\\') {
            agentforge_put("\\", 1);
            agentforge_put(text, 1);
        } else if ((unsigned char)*text < 0x20) {
            snprintf(code, sizeof code, "\\u%04x", (unsigned)(unsigned char)*text);
            agentforge_raw(code);
        } else {
            agentforge_put(text, 1);
        }
    }
    agentforge_put("\"", 1);
}

/* Begins a line. agentforge_field and agentforge_number add fields, agentforge_close writes the line. */
static int agentforge_open(const char* type) {
    char number[48];
    if (agentforge_file < 0 || getpid() != agentforge_owner) { return 0; }
    agentforge_used = 0;
    agentforge_raw("{\"s\":");
    agentforge_text(agentforge_secret);
    snprintf(number, sizeof number, ",\"i\":%ld,\"type\":", agentforge_lines++);
    agentforge_raw(number);
    agentforge_text(type);
    return 1;
}
static void agentforge_field(const char* key, const char* value) {
    agentforge_raw(",\"");
    agentforge_raw(key);
    agentforge_raw("\":");
    agentforge_text(value);
}
static void agentforge_number(const char* key, long value) {
    char number[64];
    snprintf(number, sizeof number, ",\"%s\":%ld", key, value);
    agentforge_raw(number);
}
static void agentforge_close(void) {
    size_t at = 0;
    agentforge_raw("}\n");
    while (at < agentforge_used) {
        const ssize_t count = write(agentforge_file, agentforge_line + at, agentforge_used - at);
        if (count <= 0) { break; }
        at += (size_t)count;
    }
}

static void agentforge_begin(const char* kind, const char* const* sources) {
    const char* folder = getenv("AGENTFORGE_RECORD");
    const char* secret = getenv("AGENTFORGE_SECRET");
    struct timespec now;
    char path[4200];
    char command[16384];
    ssize_t length;
    size_t at;
    int descriptor;
    agentforge_canary = getenv("AGENTFORGE_CANARY") != NULL;
    if (folder == NULL || secret == NULL || strlen(secret) >= sizeof agentforge_secret) { return; }
    strcpy(agentforge_secret, secret);
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(path, sizeof path, "%s/%ld-%ld%09ld.record", folder, (long)getpid(), (long)now.tv_sec, now.tv_nsec);
    agentforge_file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    unsetenv("AGENTFORGE_RECORD");
    unsetenv("AGENTFORGE_SECRET");
    unsetenv("AGENTFORGE_CANARY");
    agentforge_owner = getpid();
    if (!agentforge_open("process")) { return; }
    agentforge_field("kind", kind);
    agentforge_raw(agentforge_canary ? ",\"canary\":true,\"argv\":[" : ",\"canary\":false,\"argv\":[");
    descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    length = descriptor < 0 ? 0 : read(descriptor, command, sizeof command - 1);
    if (descriptor >= 0) { close(descriptor); }
    command[length < 0 ? 0 : length] = '\0';
    for (at = 0; length > 0 && at < (size_t)length; at += strlen(command + at) + 1) {
        if (at > 0) { agentforge_raw(","); }
        agentforge_text(command + at);
    }
    agentforge_raw("],\"sources\":[");
    for (at = 0; sources[at] != NULL; ++at) {
        if (at > 0) { agentforge_raw(","); }
        agentforge_text(sources[at]);
    }
    agentforge_raw("]");
    agentforge_close();
}

/* A failed assert calls this function, even if the project has one with the same name. */
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((noreturn)) void __wrap___assert_fail(const char* expression, const char* file, unsigned line,
                                                    const char* function);
void __wrap___assert_fail(const char* expression, const char* file, unsigned line, const char* function) {
    fprintf(stderr, "%s: %s:%u: %s: Assertion `%s' failed.\n", program_invocation_short_name, file, line, function, expression);
    fflush(NULL);
    abort();
    __builtin_trap();
}
#ifdef __cplusplus
}
#endif

static void agentforge_main_returned(int code) {
    if (agentforge_open("main")) {
        agentforge_number("code", code);
        agentforge_close();
    }
}
#endif
