// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace agentforge::escalation_console {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds cancel_interval{200};
constexpr std::size_t max_line = 64UL * 1024;

/// Decodes one character. Length 0 if the bytes are not UTF-8.
struct Decoded {
    char32_t character = 0;
    std::size_t length = 0;
};

/// Zero for a byte that begins no character of several bytes.
std::size_t length_by_lead(unsigned lead) {
    if (lead >= 0xF0 && lead < 0xF5) { return 4; }
    if (lead >= 0xE0 && lead < 0xF0) { return 3; }
    return lead >= 0xC2 && lead < 0xE0 ? 2 : 0;
}

Decoded decode(std::string_view text) {
    const auto byte = [text](std::size_t index) { return static_cast<unsigned char>(text[index]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) { return {lead, 1}; }
    const std::size_t length = length_by_lead(lead);
    if (length == 0 || text.size() < length) { return {}; }
    char32_t character = lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) { return {}; }
        character = (character << 6U) | (byte(i) & 0x3FU);
    }
    const bool good = character <= 0x10FFFF && (character < 0xD800 || character > 0xDFFF) &&
                      (length < 3 || character >= (length == 3 ? 0x800U : 0x10000U));
    return good ? Decoded{character, length} : Decoded{};
}

bool harmful(char32_t character) {
    return character < 0x20 || (character >= 0x7F && character < 0xA0) || character == 0x061C ||
           (character >= 0x200E && character <= 0x200F) || (character >= 0x2028 && character <= 0x202E) ||
           (character >= 0x2066 && character <= 0x206F) || character == 0xFEFF || character == 0xFFFE || character == 0xFFFF;
}

}  // namespace

std::string shown(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
        const auto [character, length] = decode(text);
        std::array<char, 16> escape{};
        if (length == 0) {
            std::snprintf(escape.data(), escape.size(), "\\x%02x",
                          static_cast<unsigned>(static_cast<unsigned char>(text.front())));
            safe += escape.data();
        } else if (character == '\n') {
            safe += '\n';
        } else if (character == '\t') {
            safe += "    ";
        } else if (harmful(character)) {
            std::snprintf(escape.data(), escape.size(), character < 0x80 ? "\\x%02x" : "\\u%04x",
                          static_cast<unsigned>(character));
            safe += escape.data();
        } else {
            safe += text.substr(0, length);
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return safe;
}

Terminal::Terminal() : in_(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)), out_(in_), owned_(true) {}

Terminal::~Terminal() {
    if (owned_ && in_ >= 0) { ::close(in_); }
}

bool Terminal::usable() const {
    if (in_ < 0 || out_ < 0 || ::isatty(in_) == 0 || ::isatty(out_) == 0) { return false; }
    return !owned_ || ::tcgetpgrp(in_) == ::getpgrp();
}

void Terminal::discard_typed_ahead() {
    pending_.clear();
    ::tcflush(in_, TCIFLUSH);
}

void Terminal::write(std::string_view text) {
    while (!text.empty()) {
        const ssize_t size = ::write(out_, text.data(), text.size());
        if (size < 0 && errno == EINTR) { continue; }
        if (size <= 0) { return; }  // A lost terminal is noticed on reading.
        text.remove_prefix(static_cast<std::size_t>(size));
    }
}

std::optional<std::string> Terminal::read_line(CallContext& context) {
    for (;;) {
        if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
            std::string line = pending_.substr(0, end);
            pending_.erase(0, end + 1);
            if (line.find('\x1b') != std::string::npos) {  // Without the key's bytes, the rest is not what was meant: ignores it.
                write("A key was pressed that is not text. Once more: ");
                continue;
            }
            std::erase_if(line, [](unsigned char letter) { return letter < 0x20 || letter == 0x7F; });
            return line;
        }
        if (pending_.size() > max_line || context.cancelled()) { return std::nullopt; }
        milliseconds wait = cancel_interval;
        if (const auto deadline = context.deadline()) {
            const auto left = std::chrono::ceil<milliseconds>(*deadline - std::chrono::steady_clock::now());
            if (left <= milliseconds(0)) { return std::nullopt; }
            wait = std::min(wait, left);
        }
        pollfd source{in_, POLLIN, 0};
        const int ready = ::poll(&source, 1, static_cast<int>(wait.count()));
        if (ready == 0 || (ready < 0 && errno == EINTR)) { continue; }
        std::array<char, 4'096> block{};
        const ssize_t size = ready < 0 ? -1 : ::read(in_, block.data(), block.size());
        if (size < 0 && (errno == EINTR || errno == EAGAIN)) { continue; }
        if (size <= 0) { return std::nullopt; }
        pending_.append(block.data(), static_cast<std::size_t>(size));
    }
}

std::string editor_of_environment() {
    for (const char* variable : {"VISUAL", "EDITOR"}) {
        const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody changes the environment.
        if (value != nullptr && *value != '\0') { return value; }
    }
    return "vi";
}

namespace {

/// A private folder for one file. Deleted with the object.
class EditedFile {
public:
    EditedFile(const std::string& name, const std::string& text) {
        const char* temporary = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
        folder_ = std::string(temporary != nullptr && *temporary == '/' ? temporary : "/tmp") + "/agentforge-edit-XXXXXX";
        if (::mkdtemp(folder_.data()) == nullptr) {
            folder_.clear();
            return;
        }
        path_ = folder_ + "/" + name;
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~EditedFile() {
        if (folder_.empty()) { return; }
        ::unlink(path_.c_str());
        ::rmdir(folder_.c_str());  // If an editor left a backup beside it, the folder stays.
    }
    EditedFile(const EditedFile&) = delete;
    EditedFile& operator=(const EditedFile&) = delete;
    [[nodiscard]] bool there() const { return !folder_.empty(); }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string text() const {
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

private:
    std::string folder_;
    std::string path_;
};

}  // namespace

std::optional<std::string> Terminal::edit(const std::string& text, const std::string& name, const std::string& editor,
                                          CallContext& context) {
    const EditedFile file(name, text);
    if (!file.there()) { return std::nullopt; }
    termios before{};
    const bool known = ::tcgetattr(in_, &before) == 0;
    // The variables contain command lines (`code --wait`): a shell splits them, and the file is a separate word.
    std::array<std::string, 5> words{"sh", "-c", "exec " + editor + " \"$1\"", "sh", file.path()};
    std::array<char*, 6> argv{words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), nullptr};
    posix_spawn_file_actions_t files{};
    ::posix_spawn_file_actions_init(&files);
    for (int descriptor = 0; descriptor < 3; ++descriptor) {
        ::posix_spawn_file_actions_adddup2(&files, descriptor == 0 ? in_ : out_, descriptor);
    }
    // The editor must not inherit the host's ignored or blocked signals.
    sigset_t as_usual;
    sigset_t none;
    ::sigemptyset(&as_usual);
    ::sigemptyset(&none);
    for (const int signal : {SIGPIPE, SIGXFSZ}) { ::sigaddset(&as_usual, signal); }
    posix_spawnattr_t attributes{};
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigdefault(&attributes, &as_usual);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    pid_t child = -1;
    const int failed = ::posix_spawn(&child, "/bin/sh", &files, &attributes, argv.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    if (failed != 0) { return std::nullopt; }
    int status = 0;
    bool ended_early = false;
    for (;;) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) { break; }
        if (ended < 0 && errno != EINTR) { return std::nullopt; }
        const auto deadline = context.deadline();
        if (!ended_early && (context.cancelled() || (deadline && *deadline <= std::chrono::steady_clock::now()))) {
            ended_early = true;
            ::kill(child, SIGHUP);  // On SIGHUP, editors save the text and exit.
        }
        ::poll(nullptr, 0, 20);
    }
    if (known) { ::tcsetattr(in_, TCSANOW, &before); }
    if (ended_early || !WIFEXITED(status) || WEXITSTATUS(status) != 0) { return std::nullopt; }
    return file.text();
}

}  // namespace agentforge::escalation_console
