// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <unistd.h>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace agentforge::exec {
namespace {

char kept[4 * PIPE_BUF];
size_t kept_size = 0;

void keep_record(const char* key, const char* format, va_list arguments) {
    char text[PIPE_BUF];
    int size = snprintf(text, sizeof text, "%s", key);
    size += vsnprintf(text + size, sizeof text - static_cast<size_t>(size), format, arguments);
    if (size >= static_cast<int>(sizeof text)) { size = static_cast<int>(sizeof text) - 1; }
    if (kept_size + static_cast<size_t>(size) + 1 > sizeof kept) { flush_report(); }
    memcpy(kept + kept_size, text, static_cast<size_t>(size) + 1);
    kept_size += static_cast<size_t>(size) + 1;
}

}  // namespace

void report(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    keep_record("", format, arguments);
    va_end(arguments);
}

void flush_report() {
    const ssize_t written = write(report_descriptor, kept, kept_size);
    static_cast<void>(written);  // If the write fails, the host is gone and nobody reads.
    kept_size = 0;
}

int fork_with_report() {
    const int child = fork();
    if (child != 0) { kept_size = 0; }
    return child;
}

void refuse(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    keep_record("refused ", format, arguments);
    va_end(arguments);
    flush_report();
    _exit(exit_not_started);
}

void fail(const char* what) {
    const int error = errno;
    report("failed %s: %s", what, strerror(error));
    flush_report();
    _exit(exit_not_started);
}

}  // namespace agentforge::exec
