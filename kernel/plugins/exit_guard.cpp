// SPDX-License-Identifier: Apache-2.0
#include "plugins/exit_guard.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <utility>

#include "plugins/call_watch.hpp"

namespace agentforge::kernel::exit_guard {

namespace {

enum class Mode : unsigned char { off, armed, silent };
std::atomic<Mode> mode{Mode::off};
std::atomic<pid_t> guarded{0};
std::atomic<int> expected_code{-1};
constexpr int failed = 1;
/// The C library's `syscall`. The program defines its own, which calls back here (program/process_end.cpp). Looked up before
/// `main`, so that signal handlers can use it to end the process.
auto* const system_call = reinterpret_cast<long (*)(long, ...)>(::dlsym(RTLD_NEXT, "syscall"));

std::function<void(const std::string&)>& reporter() {
    static auto* const report = new std::function<void(const std::string&)>;  // Never destroyed: needed while static objects are.
    return *report;
}

void check() noexcept {
    if (::getpid() != guarded) { return; }
    const Mode now = mode.exchange(Mode::silent);
    if (now == Mode::off) {
        mode = Mode::off;
        return;
    }
    if (now == Mode::armed) { reporter()(CallWatch::of_this_thread()); }
    end_process(failed);
}

}  // namespace

void arm(std::function<void(const std::string& culprit)> report) {
    reporter() = std::move(report);
    guarded = ::getpid();
    static const bool registered = std::atexit(check) == 0 && ::at_quick_exit(check) == 0;
    if (registered) { mode = Mode::armed; }
}

void expect_exit(int code) noexcept {
    expected_code = code;
    mode = Mode::off;
}

void watch_this_process() noexcept { guarded = ::getpid(); }

void leave_silently() noexcept {
    guarded = ::getpid();
    mode = Mode::silent;
}

void end_process(int code) noexcept {
    for (;;) { system_call(SYS_exit_group, code); }
}

void leave(int code) noexcept {
    check();
    const int kept = ::getpid() == guarded ? expected_code.load() : -1;
    end_process(kept == -1 ? code : kept);
}

void refuse_replacement() noexcept { check(); }

}  // namespace agentforge::kernel::exit_guard
