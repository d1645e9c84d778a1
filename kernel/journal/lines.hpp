// SPDX-License-Identifier: Apache-2.0
// The lines of a journal's file, for everyone who reads one. Private to kernel/journal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/checksum.hpp"

namespace agentforge::kernel {

/// A longer line is no record: nothing that the journal holds comes near, and whoever reads one has it in memory.
inline constexpr std::size_t longest_line = 64UL << 20U;

/// The lines of a file from a place on, up to the size that it had when this was made. Holds one part of the file, or its longest
/// line.
class Lines {
public:
    Lines(int descriptor, std::uint64_t size, std::uint64_t from = 0)
        : descriptor_(descriptor), size_(size), read_(from), offset_(from) {}

    struct Line {
        std::string_view text;  ///< Without its end; valid until the next call.
        std::uint64_t offset = 0;
        bool ended = false;
        bool last = false;  ///< Nothing follows it.
        [[nodiscard]] std::uint64_t end() const noexcept { return offset + text.size() + (ended ? 1 : 0); }
    };

    /// False at the end of the file, and where it cannot be read: see `error` and `too_long`.
    [[nodiscard]] bool next(Line& line);
    /// The next line begins there.
    void skip_to(std::uint64_t offset);
    /// The errno value of the read that failed; 0 where none did.
    [[nodiscard]] int error() const noexcept { return error_; }
    /// The next line is longer than `longest_line`.
    [[nodiscard]] bool too_long() const noexcept { return too_long_; }
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

private:
    bool fill();

    int descriptor_;
    std::uint64_t size_;
    std::uint64_t read_;    ///< The file up to here is, or was, in the buffer.
    std::uint64_t offset_;  ///< Of the next line.
    std::string buffer_;
    std::size_t begin_ = 0;           ///< Of the line that was given last, in the buffer.
    std::size_t used_ = 0;            ///< Bytes of that line.
    std::size_t part_ = 16UL << 10U;  ///< Of the next read; the first is small: who looks for one record reads no more.
    int error_ = 0;
    bool too_long_ = false;
};

/// The sum over the first bytes of a file; nothing where it has fewer, or cannot be read.
[[nodiscard]] std::optional<RunningSum> sum_of_beginning(int descriptor, std::uint64_t bytes);

}  // namespace agentforge::kernel
