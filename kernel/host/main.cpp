// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "host/program.hpp"
#include "sandbox/process.hpp"

namespace {

agentforge::kernel::CancelToken cancel;

/// The first signal asks the task to stop and save; the second ends the program.
void on_signal(int signal) {
    if (cancel.requested()) { ::_exit(128 + signal); }
    cancel.request();
}

void install_signal_handlers() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) { sigaction(signal, &action, nullptr); }
    std::signal(SIGPIPE, SIG_IGN);
}

/// A reader that went away (`| head`) is no failure of ours; anything else that could not be printed is.
bool reader_is_gone() {
    pollfd descriptor{STDOUT_FILENO, POLLOUT, 0};
    return ::poll(&descriptor, 1, 0) == 1 && (descriptor.revents & POLLERR) != 0;
}

int output_lost(agentforge::kernel::Program& program, int code) {
    program.json_output = false;
    const int failed = program.fail(agentforge::Error{"AF-CLI-004", "the result could not be written to standard output", "",
                                                      "make room on its disk, or send it elsewhere", agentforge::ErrorKind::io});
    return code == 0 ? failed : code;
}

}  // namespace

int main(int argc, char** argv) {
    install_signal_handlers();
    // Large buffers go back to the system when they are freed. Left to itself the library raises this limit with the largest one freed, and keeps the holes.
    ::mallopt(M_MMAP_THRESHOLD, 256 << 10);
    std::error_code error;
    const auto directory = std::filesystem::current_path(error);
    agentforge::kernel::Program program{.out = std::cout,
                                        .err = std::cerr,
                                        .environment = agentforge::kernel::current_environment(),
                                        .directory = directory,
                                        .cancel = &cancel,
                                        .err_is_terminal = ::isatty(STDERR_FILENO) == 1,
                                        .in_is_terminal = ::isatty(STDIN_FILENO) == 1,
                                        .out_is_terminal = ::isatty(STDOUT_FILENO) == 1,
                                        .json_output = false,
                                        .quiet = false,
                                        .settings = {},
                                        .command = {},
                                        .leave_at_once = false};
    if (error) {
        return program.fail(agentforge::Error{"AF-CLI-002", "the current folder cannot be entered: " + error.message(), "",
                                              "go to a folder that exists, or use -C DIR", agentforge::ErrorKind::io});
    }
    const int code = agentforge::kernel::run_program(argc, argv, program);
    std::cout.flush();
    std::cerr.flush();
    const int told = !std::cout && !reader_is_gone() ? output_lost(program, code) : code;
    if (program.leave_at_once) { ::_exit(told); }
    return told;
}
