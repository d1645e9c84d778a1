// SPDX-License-Identifier: Apache-2.0
// Counts and times every fsync and fdatasync of this program, libraries included: the floor of durable operations.
#pragma once

#include <cstdint>

namespace agentforge::bench {

struct Syncs {
    std::uint64_t count = 0;
    double microseconds = 0;
};

/// Since the program began. Any thread.
[[nodiscard]] Syncs syncs_so_far() noexcept;

[[nodiscard]] inline Syncs operator-(const Syncs& a, const Syncs& b) noexcept {
    return {a.count - b.count, a.microseconds - b.microseconds};
}

}  // namespace agentforge::bench
