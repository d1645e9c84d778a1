// SPDX-License-Identifier: Apache-2.0
// The lines of a journal's file, for every reader. Private to kernel/journal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/checksum.hpp"

namespace agentforge::kernel {

/// A longer line is not a record. The journal's records are far shorter, and a reader keeps one in memory.
inline constexpr std::size_t longest_line = 64UL << 20U;

/// Reads the lines of a file from an offset, up to the size that it had at construction. Holds one part of the file, or its
/// longest line.
class Lines {
public:
    Lines(int descriptor, std::uint64_t size, std::uint64_t from = 0)
        : descriptor_(descriptor), size_(size), read_(from), offset_(from) {}

    struct Line {
        std::string_view text;  ///< Without its line end. Valid until the next call.
        std::uint64_t offset = 0;
        bool ended = false;
        bool last = false;  ///< True if nothing follows it.
        [[nodiscard]] std::uint64_t end() const noexcept { return offset + text.size() + (ended ? 1 : 0); }
    };

    /// Returns false at the end of the file, and if it cannot be read: see `error` and `too_long`.
    [[nodiscard]] bool next(Line& line);
    /// Moves to the line that begins at this offset.
    void skip_to(std::uint64_t offset);
    /// Returns the errno value of a failed read; 0 if none failed.
    [[nodiscard]] int error() const noexcept { return error_; }
    /// True if the next line is longer than `longest_line`.
    [[nodiscard]] bool too_long() const noexcept { return too_long_; }
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

private:
    bool fill();
    /// The bytes in the buffer from the next line on.
    [[nodiscard]] std::string_view unread() const noexcept { return std::string_view(buffer_).substr(begin_, filled_ - begin_); }

    int descriptor_;
    std::uint64_t size_;
    std::uint64_t read_;              ///< The file up to here is, or was, in the buffer.
    std::uint64_t offset_;            ///< Offset of the next line.
    std::string buffer_;              ///< Grows only.
    std::size_t filled_ = 0;          ///< Bytes of the buffer that were read from the file.
    std::size_t begin_ = 0;           ///< Start in the buffer of the line returned last.
    std::size_t used_ = 0;            ///< Bytes of that line.
    std::size_t part_ = 16UL << 10U;  ///< Size of the next read. The first is small, for a reader that wants only one record.
    int error_ = 0;
    bool too_long_ = false;
};

/// Returns the sum over the first bytes of a file. Nothing if it has fewer or cannot be read.
[[nodiscard]] std::optional<RunningSum> sum_of_beginning(int descriptor, std::uint64_t bytes);

}  // namespace agentforge::kernel
