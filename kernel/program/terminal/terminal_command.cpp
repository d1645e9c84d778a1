// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/terminal_command.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <vector>

namespace agentforge::kernel {

namespace {

constexpr std::array terminal_keys{SIGINT, SIGQUIT};

/// Ignores Ctrl-C while the command runs: if it ended this program too, the shell prompt would appear while the command is still
/// on the screen.
class KeysBelongToTheCommand {
public:
    KeysBelongToTheCommand() {
        struct sigaction ignore {};
        ignore.sa_handler = SIG_IGN;
        sigemptyset(&ignore.sa_mask);
        for (std::size_t each = 0; each < terminal_keys.size(); ++each) {
            ::sigaction(terminal_keys[each], &ignore, &before_[each]);
        }
    }
    ~KeysBelongToTheCommand() {
        for (std::size_t each = 0; each < terminal_keys.size(); ++each) {
            ::sigaction(terminal_keys[each], &before_[each], nullptr);
        }
    }
    KeysBelongToTheCommand(const KeysBelongToTheCommand&) = delete;
    KeysBelongToTheCommand& operator=(const KeysBelongToTheCommand&) = delete;

private:
    std::array<struct sigaction, terminal_keys.size()> before_{};
};

}  // namespace

int run_on_terminal(const std::string& line, const std::string& argument, const std::map<std::string, std::string>& environment,
                    int input, const std::function<void()>& meanwhile) {
    constexpr int not_found = 127;
    constexpr int signalled = 128;
    std::vector<std::string> words{"sh", "-c", line};
    if (!argument.empty()) { words = {"sh", "-c", line + " \"$1\"", "sh", argument}; }
    std::vector<std::string> variables;
    for (const auto& [name, value] : environment) { variables.push_back(name + "=" + value); }
    const auto pointers = [](std::vector<std::string>& texts) {
        std::vector<char*> all;
        for (std::string& text : texts) { all.push_back(text.data()); }
        all.push_back(nullptr);
        return all;
    };
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    if (input >= 0) { posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO); }
    sigset_t as_usual;
    sigemptyset(&as_usual);
    for (const int signal : {SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ}) { sigaddset(&as_usual, signal); }
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &as_usual);
    sigset_t none;  // Poco blocks SIGPIPE in every program that it is linked into.
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    const KeysBelongToTheCommand held;
    pid_t child = 0;
    const int failed = ::posix_spawn(&child, "/bin/sh", &files, &attributes, pointers(words).data(), pointers(variables).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) { return not_found; }
    if (meanwhile) { meanwhile(); }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : signalled + WTERMSIG(status);
}

}  // namespace agentforge::kernel
