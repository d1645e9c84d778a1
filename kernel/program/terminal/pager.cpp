// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/pager.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ostream>
#include <sstream>

#include <agentforge/process.hpp>

#include "base/files.hpp"
#include "program/terminal/terminal.hpp"
#include "program/terminal/terminal_command.hpp"

namespace agentforge::kernel {

namespace {

/// Shows the text through a shell command that reads it. Returns false if the command cannot run; nothing was shown then.
bool show_by(const std::string& command, std::map<std::string, std::string> environment, const std::string& text) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) { return false; }
    FileDescriptor reader(pipe[0]);
    FileDescriptor writer(pipe[1]);
    environment.emplace("LESS", "FRX");  // Git's choice: quits for a short text, shows colours, leaves the text on the screen.
    const int code = run_on_terminal(command, "", environment, reader.get(), [&] {
        reader.reset();
        for (std::size_t at = 0; at < text.size();) {
            const ssize_t written = ::write(writer.get(), text.data() + at, text.size() - at);
            if (written < 0 && errno == EINTR) { continue; }
            if (written <= 0) { break; }  // The pager has closed its input.
            at += static_cast<std::size_t>(written);
        }
        writer.reset();
    });
    constexpr int not_found = 127;
    constexpr int not_runnable = 126;
    return code != not_found && code != not_runnable;
}

/// Runs `command` and collects its output in `text`.
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
        if (const auto found = environment.find(name); found != environment.end()) {
            return found->second == "cat" ? std::string() : found->second;
        }
    }
    const auto path = environment.find("PATH");
    return path != environment.end() && process::find_program("less", path->second, "/").ok() ? "less" : "";
}

std::size_t terminal_rows() {
    winsize size{};
    constexpr std::size_t usual = 24;
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 ? usual : size.ws_row;
}

int wrapped(std::ostream& out, std::size_t columns, const std::function<int()>& command) {
    std::string text;
    const int code = keeping_back(out, text, command);
    out << folded_lines(text, columns);
    return code;
}

int paged(std::ostream& out, const std::map<std::string, std::string>& environment, std::size_t rows,
          const std::function<int()>& command) {
    std::string text;
    const int code = keeping_back(out, text, command);
    const std::string pager = pager_command(environment);
    const bool fits = static_cast<std::size_t>(std::ranges::count(text, '\n')) < rows;
    if (fits || pager.empty() || !show_by(pager, environment, text)) { out << text; }
    return code;
}

}  // namespace agentforge::kernel
