// SPDX-License-Identifier: Apache-2.0
// The log: every event of a run as one JSON line, in a file that rotates (spdlog).
#pragma once

#include <memory>
#include <string>

#include <agentforge/result.hpp>

#include "base/events.hpp"

namespace agentforge::kernel {

/// Writes to the log and passes every event on. One line an event: time, level, event, then its fields (task, stage, …).
class Log final : public EventSink {
public:
    struct Options {
        std::string file;           ///< Empty: no log is written.
        std::string level;          ///< trace, debug, info, warning, error, off
    };
    /// The file is made with the first line; where it cannot be, that is said once (AF-CLI-020) and the run goes on.
    /// Errors: `invalid` AF-CLI-021 an unknown level.
    [[nodiscard]] static Result<std::unique_ptr<Log>> open(const Options& options, EventSink& next);
    ~Log() override;
    void event(std::string_view name, const json::object& fields) override;

    static constexpr std::size_t max_file_bytes = 5UL << 20U;
    static constexpr std::size_t kept_files = 3;

private:
    struct State;
    Log(std::unique_ptr<State> state, EventSink& next);
    std::unique_ptr<State> state_;
    EventSink& next_;
};

}  // namespace agentforge::kernel
