// SPDX-License-Identifier: Apache-2.0
#include "host/pager.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ostream>
#include <sstream>
#include <vector>

#include <agentforge/process.hpp>

#include "host/terminal.hpp"

namespace agentforge::kernel {

namespace {

/// Ctrl-C is for the pager, which shares the terminal: were it to end this program too, the shell would come back beneath the pages.
class KeysBelongToThePager {
public:
    KeysBelongToThePager() {
        struct sigaction ignore {};
        ignore.sa_handler = SIG_IGN;
        sigemptyset(&ignore.sa_mask);
        ::sigaction(SIGINT, &ignore, &before_);
    }
    ~KeysBelongToThePager() { ::sigaction(SIGINT, &before_, nullptr); }
    KeysBelongToThePager(const KeysBelongToThePager&) = delete;
    KeysBelongToThePager& operator=(const KeysBelongToThePager&) = delete;

private:
    struct sigaction before_ {};
};

/// Writes the text to a shell command's standard input and waits for its end. False: it could not be run, and nothing was shown.
bool show_by(const std::string& command, const std::map<std::string, std::string>& environment, const std::string& text) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) { return false; }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe[0], STDIN_FILENO);
    std::vector<std::string> variables;
    for (const auto& [name, value] : environment) { variables.push_back(name + "=" + value); }
    if (!environment.contains("LESS")) { variables.emplace_back("LESS=FRX"); }     // Git's choice: ends on a short text, shows colours, leaves the text.
    std::vector<char*> names;
    for (std::string& each : variables) { names.push_back(each.data()); }
    names.push_back(nullptr);
    std::string shell = "sh";
    std::string option = "-c";
    std::string line = command;
    std::array<char*, 4> arguments{shell.data(), option.data(), line.data(), nullptr};
    posix_spawnattr_t attributes;       // This program ignores SIGPIPE; a pipeline in PAGER must not.
    posix_spawnattr_init(&attributes);
    sigset_t pipes;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &pipes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    pid_t child = 0;
    const int failed = ::posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments.data(), names.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    const KeysBelongToThePager keys;
    ::close(pipe[0]);
    if (failed != 0) {
        ::close(pipe[1]);
        return false;
    }
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t written = ::write(pipe[1], text.data() + at, text.size() - at);
        if (written < 0 && errno == EINTR) { continue; }
        if (written <= 0) { break; }        // The reader has seen enough.
        at += static_cast<std::size_t>(written);
    }
    ::close(pipe[1]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    constexpr int not_found = 127;
    constexpr int not_runnable = 126;
    return !WIFEXITED(status) || (WEXITSTATUS(status) != not_found && WEXITSTATUS(status) != not_runnable);
}

/// Runs `command`, whose output is kept back in `text`.
int keeping_back(std::ostream& out, std::string& text, const std::function<int()>& command) {
    struct Redirected {
        explicit Redirected(std::ostream& stream, std::streambuf* to) : stream_(stream), own_(stream.rdbuf(to)) {}
        ~Redirected() { stream_.rdbuf(own_); }
        Redirected(const Redirected&) = delete;
        Redirected& operator=(const Redirected&) = delete;
        std::ostream& stream_;
        std::streambuf* own_;
    };
    std::ostringstream kept;
    const int code = [&] {
        const Redirected redirected(out, kept.rdbuf());
        return command();
    }();
    text = std::move(kept).str();
    return code;
}

}  // namespace

std::string pager_command(const std::map<std::string, std::string>& environment) {
    for (const char* name : {"AGENTFORGE_PAGER", "PAGER"}) {
        if (const auto found = environment.find(name); found != environment.end()) { return found->second == "cat" ? std::string() : found->second; }
    }
    const auto path = environment.find("PATH");
    return path != environment.end() && process::find_program("less", path->second, "/").ok() ? "less" : "";
}

std::size_t terminal_rows() {
    winsize size{};
    constexpr std::size_t usual = 24;
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 ? usual : size.ws_row;
}

int folded(std::ostream& out, std::size_t columns, const std::function<int()>& command) {
    std::string text;
    const int code = keeping_back(out, text, command);
    out << folded_lines(text, columns);
    return code;
}

int paged(std::ostream& out, const std::map<std::string, std::string>& environment, std::size_t rows, const std::function<int()>& command) {
    std::string text;
    const int code = keeping_back(out, text, command);
    const std::string pager = pager_command(environment);
    const bool fits = static_cast<std::size_t>(std::ranges::count(text, '\n')) < rows;
    if (fits || pager.empty() || !show_by(pager, environment, text)) { out << text; }
    return code;
}

}  // namespace agentforge::kernel
