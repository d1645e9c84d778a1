// SPDX-License-Identifier: Apache-2.0
// Replaces the C library's functions that end or replace a process. A plugin that calls one of them calls these
// (plugins/exit_guard.hpp).
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <vector>

#include "plugins/exit_guard.hpp"

namespace {

using agentforge::kernel::exit_guard::leave;
using agentforge::kernel::exit_guard::refuse_replacement;

/// The C library's own function of this name.
template <typename Function>
Function* original(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// Looked up before `main`, because a forked child must not look anything up.
auto* const original_execve = original<int(const char*, char* const[], char* const[])>("execve");
auto* const original_execvp = original<int(const char*, char* const[])>("execvp");
auto* const original_execvpe = original<int(const char*, char* const[], char* const[])>("execvpe");
auto* const original_fexecve = original<int(int, char* const[], char* const[])>("fexecve");
auto* const original_execveat = original<int(int, const char*, char* const[], char* const[], int)>("execveat");
auto* const original_syscall = original<long(long, long, long, long, long, long, long)>("syscall");

/// Returns the words of a call such as execl(path, first, …, nullptr). `rest` has the words after `first`.
std::vector<char*> words_of(const char* first, va_list& rest) {
    std::vector<char*> words;
    for (const char* word = first; word != nullptr; word = va_arg(rest, const char*)) {
        words.push_back(const_cast<char*>(word));
    }
    words.push_back(nullptr);
    return words;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

[[noreturn]] void _exit(int code) { leave(code); }
[[noreturn]] void _Exit(int code) noexcept { leave(code); }

int execve(const char* path, char* const words[], char* const variables[]) noexcept {
    refuse_replacement();
    return original_execve(path, words, variables);
}
int execv(const char* path, char* const words[]) noexcept { return ::execve(path, words, environ); }
int execvp(const char* file, char* const words[]) noexcept {
    refuse_replacement();
    return original_execvp(file, words);
}
int execvpe(const char* file, char* const words[], char* const variables[]) noexcept {
    refuse_replacement();
    return original_execvpe(file, words, variables);
}
int fexecve(int descriptor, char* const words[], char* const variables[]) noexcept {
    refuse_replacement();
    return original_fexecve(descriptor, words, variables);
}
int execveat(int folder, const char* path, char* const words[], char* const variables[], int flags) noexcept {
    refuse_replacement();
    return original_execveat(folder, path, words, variables, flags);
}
int execl(const char* path, const char* first, ...) noexcept {
    va_list rest;
    va_start(rest, first);
    const auto words = words_of(first, rest);
    va_end(rest);
    return ::execv(path, words.data());
}
int execlp(const char* file, const char* first, ...) noexcept {
    va_list rest;
    va_start(rest, first);
    const auto words = words_of(first, rest);
    va_end(rest);
    return ::execvp(file, words.data());
}
int execle(const char* path, const char* first, ...) noexcept {
    va_list rest;
    va_start(rest, first);
    const auto words = words_of(first, rest);
    char* const* const variables = va_arg(rest, char* const*);
    va_end(rest);
    return ::execve(path, words.data(), variables);
}

/// A system call by its number. Those that end or replace the process are handled like the functions above.
long syscall(long number, ...) noexcept {
    std::array<long, 6> given{};
    va_list rest;
    va_start(rest, number);
    for (long& value : given) { value = va_arg(rest, long); }
    va_end(rest);
    if (number == SYS_exit_group) { leave(static_cast<int>(given[0])); }
    if (number == SYS_execve || number == SYS_execveat) { refuse_replacement(); }
    return original_syscall(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

}  // extern "C"
#pragma GCC visibility pop
