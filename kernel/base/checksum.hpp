// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace agentforge::kernel {

/// Tells a cache that was cut off or damaged, not one that somebody made to deceive: who may write there owns what it describes.
class Checksum {
public:
    void add(const void* bytes, std::size_t size) {
        const char* at = static_cast<const char*>(bytes);
        for (; size >= 8; at += 8, size -= 8) { word(at, 8); }
        if (size > 0) { word(at, size); }
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    void word(const char* at, std::size_t size) {
        std::uint64_t word = size << 56U;
        std::memcpy(&word, at, size);
        value_ = (value_ ^ word) * 0x9E3779B97F4A7C15ULL;
        value_ ^= value_ >> 29U;
    }
    std::uint64_t value_ = 0;
};

}  // namespace agentforge::kernel
