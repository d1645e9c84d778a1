// SPDX-License-Identifier: Apache-2.0
#include "lost_time.hpp"

namespace agentforge::exec {
namespace {

struct Seen {
    pid_t process = 0;
    std::uint64_t started = 0;
    std::uint64_t ticks = 0;
    std::uint64_t children_ticks = 0;
    bool still_there = false;
};

/// The processes of one sample. Processes beyond `room` are not tracked.
struct Sample {
    static constexpr unsigned room = 1U << 12U;
    Seen all[room];
    unsigned count;
};

// Outside the object, so that unused memory costs nothing.
Sample samples[2];
unsigned current = 0;

Sample& before() { return samples[1 - current]; }

Seen* seen_before(pid_t process, std::uint64_t started) {
    for (unsigned i = 0; i < before().count; ++i) {
        Seen& one = before().all[i];
        if (one.process == process && one.started == started) { return &one; }
    }
    return nullptr;
}

}  // namespace

void LostTime::begin() {
    current = 1 - current;
    samples[current].count = 0;
    inherited_ = 0;
    running_ = 0;
}

void LostTime::see(pid_t process, const Usage& usage) {
    running_ += usage.runs ? 1 : 0;
    if (Seen* const earlier = seen_before(process, usage.started)) {
        earlier->still_there = true;
        if (usage.children_ticks > earlier->children_ticks) { inherited_ += usage.children_ticks - earlier->children_ticks; }
    }
    Sample& now = samples[current];
    if (now.count < Sample::room) {
        now.all[now.count++] = {process, usage.started, usage.cpu_ticks, usage.children_ticks, false};
    }
}

void LostTime::end(std::uint64_t waited_for, std::int64_t since_ns) {
    inherited_ += waited_for - waited_for_;
    waited_for_ = waited_for;
    std::uint64_t gone = 0;
    for (unsigned i = 0; i < before().count; ++i) { gone += before().all[i].still_there ? 0 : before().all[i].ticks; }
    // A process may end after its parent was sampled. The parent has its time at the next sample, which corrects this.
    lost_ = lost_ + gone > inherited_ ? lost_ + gone - inherited_ : 0;
    certain_ = certain_ || lost_ > ticks_per_second_;
    if (!certain_) { return; }
    const std::uint64_t busy = running_ < processors_ ? running_ : processors_;
    sampled_ns_ += busy * static_cast<std::uint64_t>(since_ns);
    sampled_ = sampled_ns_ / (1'000'000'000 / ticks_per_second_);
}

}  // namespace agentforge::exec
