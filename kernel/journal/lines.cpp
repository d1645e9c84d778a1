// SPDX-License-Identifier: Apache-2.0
#include "journal/lines.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace agentforge::kernel {

namespace {

constexpr std::size_t largest_part = 256UL << 10U;

/// Reads at most `size` bytes from `at`. Returns -1 and sets errno on failure.
ssize_t read_at(int descriptor, char* bytes, std::size_t size, std::uint64_t at) {
    ssize_t count = 0;
    do { count = ::pread(descriptor, bytes, size, static_cast<off_t>(at)); } while (count < 0 && errno == EINTR);
    return count;
}

}  // namespace

bool Lines::next(Line& line) {
    begin_ += std::exchange(used_, 0);
    std::size_t end = unread().find('\n');
    while (end == std::string_view::npos && read_ < size_) {
        const std::size_t searched = unread().size();
        if (searched > longest_line) {
            too_long_ = true;
            return false;
        }
        if (!fill()) { return false; }
        end = unread().find('\n', searched);
    }
    const std::string_view rest = unread();
    if (rest.empty()) { return false; }
    line.ended = end != std::string_view::npos;
    line.text = rest.substr(0, end);
    line.offset = offset_;
    if (line.text.size() > longest_line) {
        too_long_ = true;
        return false;
    }
    used_ = line.text.size() + (line.ended ? 1 : 0);
    offset_ += used_;
    line.last = offset_ == size_;
    return true;
}

void Lines::skip_to(std::uint64_t offset) {
    begin_ = used_ = filled_ = 0;
    read_ = offset_ = offset;
}

bool Lines::fill() {
    std::memmove(buffer_.data(), buffer_.data() + begin_, filled_ - begin_);
    filled_ -= std::exchange(begin_, 0);
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size_ - read_, part_));
    part_ = largest_part;
    if (buffer_.size() < filled_ + wanted) { buffer_.resize(filled_ + wanted); }
    const ssize_t count = read_at(descriptor_, buffer_.data() + filled_, wanted, read_);
    if (count < 0) { error_ = errno; }
    if (count == 0) { error_ = EIO; }  // The file was cut while it was read.
    const auto added = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    filled_ += added;
    read_ += added;
    return count > 0;
}

std::optional<RunningSum> sum_of_beginning(int descriptor, std::uint64_t bytes) {
    RunningSum sum;
    std::string buffer(std::min<std::uint64_t>(bytes, largest_part), '\0');
    while (sum.size() < bytes) {
        const ssize_t count =
            read_at(descriptor, buffer.data(), std::min<std::uint64_t>(buffer.size(), bytes - sum.size()), sum.size());
        if (count <= 0) { return std::nullopt; }
        sum.add(std::string_view(buffer).substr(0, static_cast<std::size_t>(count)));
    }
    return sum;
}

}  // namespace agentforge::kernel
