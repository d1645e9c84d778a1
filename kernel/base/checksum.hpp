// SPDX-License-Identifier: Apache-2.0
// Fast checksums of cache files, against damage and not against forgery. Values: one thread at a time, no errors.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace agentforge::kernel {

/// Detects a truncated or damaged cache file. It does not detect forgery: a user who may write there owns what the cache
/// describes.
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

/// The same for bytes that arrive in parts. The sum depends on the bytes only, not on where the parts end. Runs at memory speed.
class RunningSum {
public:
    void add(std::string_view bytes) {
        size_ += bytes.size();
        if (held_ > 0) {
            const std::size_t taken = std::min(bytes.size(), part_.size() - held_);
            std::memcpy(part_.data() + held_, bytes.data(), taken);
            held_ += taken;
            bytes.remove_prefix(taken);
            if (held_ < part_.size()) { return; }
            take({part_.data(), part_.size()});
            held_ = 0;
        }
        take(bytes);
        bytes.remove_prefix(bytes.size() - bytes.size() % part_.size());
        if (!bytes.empty()) { std::memcpy(part_.data(), bytes.data(), bytes.size()); }
        held_ = bytes.size();
    }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint64_t value() const {
        RunningSum whole = *this;
        std::fill(whole.part_.begin() + static_cast<std::ptrdiff_t>(held_), whole.part_.end(), '\0');
        whole.take({whole.part_.data(), whole.part_.size()});
        Checksum sum;
        sum.add(whole.lanes_.data(), sizeof whole.lanes_);
        sum.add(&size_, sizeof size_);
        return sum.value();
    }

private:
    /// Takes as many whole parts as the bytes have.
    void take(std::string_view bytes) {
        std::array<std::uint64_t, 4> lanes = lanes_;  // Four products at a time, to run in parallel, in registers.
        for (std::size_t at = 0; bytes.size() - at >= part_.size(); at += part_.size()) {
            std::array<std::uint64_t, 4> words{};
            std::memcpy(words.data(), bytes.data() + at, sizeof words);
            for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
                lanes[lane] = (lanes[lane] ^ words[lane]) * 0x9E3779B97F4A7C15ULL;
                lanes[lane] ^= lanes[lane] >> 29U;
            }
        }
        lanes_ = lanes;
    }

    std::array<std::uint64_t, 4> lanes_{1, 2, 3, 4};
    std::array<char, 32> part_{};
    std::size_t held_ = 0;  ///< Bytes held in `part_`.
    std::uint64_t size_ = 0;
};

}  // namespace agentforge::kernel
