// SPDX-License-Identifier: Apache-2.0
#include "plugins/call_mark.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <mutex>

#include "base/files.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t slots = 32;
constexpr std::size_t slot_bytes = 256;
constexpr std::size_t number_digits = 20;

/// The open mark file, if any. An abandoned thread may write to it as long as the process lives.
struct Open {
    std::mutex mutex;
    std::atomic<bool> is_open{false};  ///< Without a lock: most calls are made while no task runs.
    FileDescriptor file;
    std::uint64_t number = 0;
};
Open& open_mark() {
    static auto* const open = new Open;  // Never destroyed: threads outlive static objects.
    return *open;
}

std::size_t slot_of_this_thread() noexcept {
    static std::atomic<std::size_t> next{0};
    thread_local const std::size_t mine = next++ % slots;
    return mine;
}

}  // namespace

CallMark::CallMark(std::filesystem::path file) : file_(std::move(file)) {
    Open& mark = open_mark();
    const std::lock_guard lock(mark.mutex);
    mark.file = FileDescriptor(::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    mark.is_open = mark.file.valid();
}

CallMark::~CallMark() {
    Open& mark = open_mark();
    const std::lock_guard lock(mark.mutex);
    mark.is_open = false;
    mark.file = FileDescriptor();
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
}

void CallMark::note(const std::string* callee, const char* function) noexcept {
    Open& mark = open_mark();
    if (!mark.is_open) { return; }
    const std::lock_guard lock(mark.mutex);
    if (!mark.file.valid()) { return; }
    std::array<char, slot_bytes> line{};
    line.fill(' ');
    line.back() = '\n';
    if (callee != nullptr) {
        // Pads the number with zeros, so that every line has the same form.
        std::array<char, number_digits> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), ++mark.number).ptr;
        const auto count = static_cast<std::size_t>(end - digits.data());
        std::memset(line.data(), '0', number_digits);
        std::memcpy(line.data() + number_digits - count, digits.data(), count);
        std::size_t at = number_digits + 1;
        const auto put = [&](std::string_view text) {
            const std::size_t size = std::min(text.size(), slot_bytes - 1 - at);
            std::memcpy(line.data() + at, text.data(), size);
            at += size;
        };
        put(function);
        put("() of the ");
        put(*callee);
    }
    static_cast<void>(
        !::pwrite(mark.file.get(), line.data(), line.size(), static_cast<off_t>(slot_of_this_thread() * slot_bytes)));
}

std::optional<std::string> last_marked_call(const std::filesystem::path& file) {
    const auto text = read_file(file, slots * slot_bytes);
    if (!text.ok()) { return std::nullopt; }
    std::string newest;
    for (std::size_t begin = 0; begin + slot_bytes <= text->size(); begin += slot_bytes) {
        const std::string line = text->substr(begin, slot_bytes - 1);
        if (line.front() == '0' && line > newest) { newest = line; }
    }
    if (newest.empty()) { return std::nullopt; }
    const std::size_t last = newest.find_last_not_of(' ');
    return sanitize_utf8(newest.substr(number_digits + 1, last - number_digits));
}

}  // namespace agentforge::kernel
