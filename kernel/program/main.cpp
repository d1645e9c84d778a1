// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <utility>

#include <agentforge/process.hpp>

#include "base/ids.hpp"
#include "config/precompiled_definitions.hpp"
#include "config/settings.hpp"
#include "plugins/exit_guard.hpp"
#include "program/program.hpp"
#include "program/project/project_trust.hpp"
#include "program/terminal/terminal.hpp"
#include "sandbox/process_runner.hpp"
#include "secrets/secret_sources.hpp"
#include "task/snapshot_file.hpp"

namespace {

agentforge::kernel::CancelToken cancel;

/// Ctrl-C once: finish and save the step. Twice: stop the running work and save. A third time, or a second other signal: end the
/// program. Prints a line to standard error, because the wait may be as long as a model's answer. Live lines show it themselves.
void on_signal(int signal) {
    const int error = errno;
    static constexpr char message[] = "\nagentforge: stopping at the end of this step; press again to stop at once\n";
    if (cancel.requested()) { agentforge::kernel::exit_guard::end_process(128 + signal); }
    if (signal == SIGINT && !cancel.finishing()) {
        cancel.request_at_step_end();
        if (cancel.finishing() && !agentforge::kernel::live_lines_shown().load(std::memory_order_relaxed)) {
            static_cast<void>(!::write(STDERR_FILENO, message, sizeof message - 1));
        }
    } else {
        cancel.request();
    }
    errno = error;
}

volatile std::sig_atomic_t continued = 0;

void install_signal_handlers() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) { sigaction(signal, &action, nullptr); }
    action.sa_handler = [](int) { continued = 1; };
    action.sa_flags = SA_RESTART;
    sigaction(SIGCONT, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // Reaching the file size limit (ulimit -f) is an error of that write, not the end.
}

/// A reader that went away (`| head`) is not our failure. Any other output that cannot be printed is.
bool reader_is_gone() {
    pollfd descriptor{STDOUT_FILENO, POLLOUT, 0};
    return ::poll(&descriptor, 1, 0) == 1 && (descriptor.revents & POLLERR) != 0;
}

int output_lost(agentforge::kernel::Program& program, int code) {
    program.json_output = false;
    const int failed =
        program.fail(agentforge::Error{"AF-CLI-004", "cannot write the result to standard output", "",
                                       "free some space on its disk, or redirect it elsewhere", agentforge::ErrorKind::io});
    return code == 0 ? failed : code;
}

/// Programs that a plugin starts end with this process, even after kill -9 (sdk/process). Call before any thread begins. The
/// configuration comes from the original environment.
void end_children_with_this_process() {
    const auto product = agentforge::kernel::ProductPaths::find();
    if (product.ok()) { ::setenv(agentforge::process::supervisor_variable, product->exec_helper.c_str(), 1); }
}

/// Only snapshots of journals that this installation made are read.
void use_own_snapshots(const agentforge::kernel::Program& program) {
    using namespace agentforge::kernel;
    set_snapshot_key([environment = program.environment] {
        SystemIdSource ids;
        const auto state = state_directory(environment);
        const auto key = state.ok() ? redaction_key(*state, ids) : state;
        return key.ok() ? *key : std::string();
    });
}

}  // namespace

int main(int argc, char** argv) {
    install_signal_handlers();
    // Large buffers go back to the system when they are freed. By default the library raises this limit to the largest freed
    // buffer, and keeps the holes.
    ::mallopt(M_MMAP_THRESHOLD, 256 << 10);
    agentforge::kernel::use_precompiled_yaml(agentforge::kernel::precompiled_definitions());
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
                                        .continued = [] { return std::exchange(continued, 0) != 0; },
                                        .json_output = false,
                                        .quiet = false,
                                        .settings = {},
                                        .command = {},
                                        .skip_destructors = false};
    if (error) {
        return program.fail(agentforge::Error{"AF-CLI-002", "cannot enter the current folder: " + error.message(), "",
                                              "go to a folder that exists, or use -C DIR", agentforge::ErrorKind::io});
    }
    use_own_snapshots(program);
    end_children_with_this_process();
    agentforge::kernel::exit_guard::arm([&program](const std::string& culprit) {
        program.failed = nullptr;  // The log's own parts may already be destroyed.
        program.fail(agentforge::kernel::unexpected_exit(culprit));
        std::cout.flush();
        std::cerr.flush();
    });
    const int code = agentforge::kernel::run_program(argc, argv, program);
    std::cout.flush();
    std::cerr.flush();
    const int final_code = !std::cout && !reader_is_gone() ? output_lost(program, code) : code;
    if (program.skip_destructors) { agentforge::kernel::exit_guard::end_process(final_code); }
    agentforge::kernel::exit_guard::expect_exit(final_code);
    return final_code;
}
