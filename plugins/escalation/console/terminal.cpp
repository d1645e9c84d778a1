// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

namespace agentforge::escalation_console {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds cancel_interval{200};
constexpr std::size_t max_line = 64UL * 1024;

/// Decodes one character; length 0 where the bytes are no UTF-8.
struct Decoded { char32_t character = 0; std::size_t length = 0; };

Decoded decode(std::string_view text) {
    const auto byte = [text](std::size_t index) { return static_cast<unsigned char>(text[index]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) { return {lead, 1}; }
    const std::size_t length = lead >= 0xF0 && lead < 0xF5 ? 4 : lead >= 0xE0 && lead < 0xF0 ? 3 : lead >= 0xC2 && lead < 0xE0 ? 2 : 0;
    if (length == 0 || text.size() < length) { return {}; }
    char32_t character = lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) { return {}; }
        character = (character << 6U) | (byte(i) & 0x3FU);
    }
    const bool good = character <= 0x10FFFF && (character < 0xD800 || character > 0xDFFF) && (length < 3 || character >= (length == 3 ? 0x800U : 0x10000U));
    return good ? Decoded{character, length} : Decoded{};
}

bool harmful(char32_t character) {
    return character < 0x20 || (character >= 0x7F && character < 0xA0) || character == 0x061C || (character >= 0x200E && character <= 0x200F) ||
           (character >= 0x2028 && character <= 0x202E) || (character >= 0x2066 && character <= 0x2069);
}

}  // namespace

std::string shown(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
        const auto [character, length] = decode(text);
        std::array<char, 16> escape{};
        if (length == 0) { std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(text.front()))); safe += escape.data(); }
        else if (character == '\n') { safe += '\n'; }
        else if (character == '\t') { safe += "    "; }
        else if (harmful(character)) {
            std::snprintf(escape.data(), escape.size(), character < 0x80 ? "\\x%02x" : "\\u%04x", static_cast<unsigned>(character));
            safe += escape.data();
        } else { safe += text.substr(0, length); }
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
        if (size <= 0) { return; }      // A terminal that is gone is seen when it is read.
        text.remove_prefix(static_cast<std::size_t>(size));
    }
}

std::optional<std::string> Terminal::read_line(CallContext& context) {
    for (;;) {
        if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
            std::string line = pending_.substr(0, end);
            pending_.erase(0, end + 1);
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

}  // namespace agentforge::escalation_console
