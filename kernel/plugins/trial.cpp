// SPDX-License-Identifier: Apache-2.0
#include "plugins/trial.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/files.hpp"
#include "base/text.hpp"
#include "plugins/exit_guard.hpp"

namespace agentforge::kernel {

namespace {

constexpr const char* all_is_well = "ok";

std::string words_of(const Result<void>& done) {
    if (done.ok()) { return all_is_well; }
    const Error& error = done.error();
    return to_json_line({{"code", error.code},
                         {"message", error.message},
                         {"where", error.where},
                         {"remedy", error.remedy},
                         {"kind", static_cast<std::uint64_t>(error.kind)}});
}

/// Returns what the child wrote before it ended. Empty if it did not end in time.
std::optional<std::string> output_of(int descriptor, std::chrono::steady_clock::time_point until) {
    std::string text;
    char buffer[4096];
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
        if (left <= 0) { return std::nullopt; }
        pollfd ready{descriptor, POLLIN, 0};
        const int answer = ::poll(&ready, 1, static_cast<int>(left));
        if (answer < 0 && errno == EINTR) { continue; }
        if (answer <= 0) { return std::nullopt; }
        const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) { continue; }
        if (got <= 0) { return text; }
        text.append(buffer, static_cast<std::size_t>(got));
    }
}

}  // namespace

Result<void> run_in_child(const PluginManifest& manifest, std::string_view doing, const std::function<Result<void>()>& work,
                          std::chrono::milliseconds limit) {
    const auto failed = [&](const std::string& how) {
        return Error{"AF-PLUG-021", "The plugin `" + manifest.id + "` " + how + " when " + std::string(doing),
                     manifest.directory + "/" + manifest.library,
                     "Report it to the plugin's author (`agentforge plugins check " + manifest.directory +
                         "` says more); to disable it, name " + manifest.id + " in plugins.disable.",
                     ErrorKind::unavailable};
    };
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) { return failed("cannot be tried out (pipe: " + errno_text(errno) + ")"); }
    const FileDescriptor in(ends[0]);
    FileDescriptor out(ends[1]);
    const pid_t child = ::fork();
    if (child < 0) { return failed("cannot be tried out (fork: " + errno_text(errno) + ")"); }
    if (child == 0) {
        // A crash ends the trial by its signal: resets this process's handlers (a sanitizer's would print a report) and writes no
        // core.
        for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP}) {
            ::signal(signal, SIG_DFL);
        }
        const rlimit no_core{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);
        exit_guard::leave_silently();
        static_cast<void>(write_all(out.get(), words_of(work()), "the parent"));
        exit_guard::end_process(0);
    }
    out = FileDescriptor();
    const auto text = output_of(in.get(), std::chrono::steady_clock::now() + limit);
    if (!text) { ::kill(child, SIGKILL); }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (!text) { return failed("did not return within " + std::to_string(limit.count() / 1000) + " s"); }
    if (WIFSIGNALED(status)) { return failed("crashed (" + std::string(::strsignal(WTERMSIG(status))) + ")"); }
    if (text->empty()) { return failed("ended the whole process"); }
    if (*text == all_is_well) { return {}; }
    const auto report = parse_json(*text, "the trial's report");
    if (!report.ok() || !report->is_object()) { return failed("did not report a complete result"); }
    const json::object& error = report->get_object();
    const auto field = [&](const char* name) { return std::string(error.at(name).as_string()); };
    return Error{field("code"), field("message"), field("where"), field("remedy"),
                 static_cast<ErrorKind>(error.at("kind").to_number<unsigned>())};
}

}  // namespace agentforge::kernel
