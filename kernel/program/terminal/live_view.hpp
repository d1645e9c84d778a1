// SPDX-License-Identifier: Apache-2.0
// The live view at the bottom of a terminal: the pipeline, the action, the figures. Folded from a run's records and the events
// between them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_sink.hpp"
#include "records/records.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {

class LiveView {
public:
    using Time = std::chrono::steady_clock::time_point;

    struct Style {
        std::size_t columns = 80;  ///< Every line is one cell shorter, because a full line would wrap.
        bool colour = false;
    };

    /// `state`: the state after the record. `now`: when the record or event arrived.
    void recorded(const TaskState& state, const records::AnyRecord& record, Time now);
    void event(const Event& event, Time now);
    /// Empty before the task begins and after it ends. `stopping`: the task stops at the end of the step.
    [[nodiscard]] std::vector<std::string> lines(const Style& style, Time now, bool stopping) const;

private:
    enum class Mark : unsigned char { todo, now, done, skipped, failed };
    struct Stage {
        std::string name;
        Mark mark = Mark::todo;
    };
    class Fold;
    [[nodiscard]] std::string pipeline_line(const Style& style) const;
    [[nodiscard]] std::string figures(const Style& style, Time now, bool stopping) const;
    void mark(std::string_view stage, Mark mark);

    std::optional<Time> begun_;
    std::vector<Stage> stages_;
    std::string stage_;
    std::string agent_;
    std::uint64_t step_ = 0;  ///< The last step that ended.
    std::string action_;
    Time action_since_{};
    bool waits_ = false;  ///< For a person.
    bool timed_ = false;  ///< True if the action shows its elapsed time.
    std::uint64_t tokens_ = 0;
    std::string cost_;  ///< Empty: not known, or nothing yet.
    std::uint64_t tests_passed_ = 0;
    std::uint64_t tests_ = 0;  ///< 0: none were run yet.
    std::optional<bool> conformance_;
};

}  // namespace agentforge::kernel
