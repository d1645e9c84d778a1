// SPDX-License-Identifier: Apache-2.0
// Processor time of processes that no parent waits for. If a parent ignores its children, Linux discards their time when they
// end.
#pragma once

#include <sys/types.h>
#include <cstdint>

#include "usage.hpp"

namespace agentforge::exec {

/// Compares the processes of a tree between samples. If a process has ended and neither its parent nor the caller received its
/// time, that time is lost. Once more than a second is lost, each process seen running is charged for the whole time between two
/// samples, because most lost time is never seen. Create only one.
class LostTime {
public:
    LostTime(std::uint64_t ticks_per_second, std::uint64_t processors)
        : ticks_per_second_(ticks_per_second), processors_(processors) {}

    void begin();
    void see(pid_t process, const Usage& usage);
    /// Ends the sample. `waited_for`: ticks of all children that the caller has waited for so far. `since_ns`: time since the
    /// previous sample.
    void end(std::uint64_t waited_for, std::int64_t since_ns);

    /// True if time was lost: sample often.
    [[nodiscard]] bool suspected() const { return lost_ > ticks_per_second_ / 10; }
    /// Returns the ticks of the whole tree. `counted`: ticks of living processes and of children that were waited for.
    [[nodiscard]] std::uint64_t ticks(std::uint64_t counted) const {
        if (!certain_) { return counted; }
        return sampled_ > counted + lost_ ? sampled_ : counted + lost_;
    }

private:
    std::uint64_t ticks_per_second_;
    std::uint64_t processors_;
    std::uint64_t waited_for_ = 0;
    std::uint64_t inherited_ = 0;  ///< At this sample: ticks that parents received from ended children.
    std::uint64_t running_ = 0;    ///< At this sample.
    std::uint64_t lost_ = 0;
    std::uint64_t sampled_ = 0;
    std::uint64_t sampled_ns_ = 0;
    bool certain_ = false;
};

}  // namespace agentforge::exec
