// SPDX-License-Identifier: Apache-2.0
// The log: the events of all runs of a project, one line each, in a file that rotates (spdlog).
//
// Each line has time, level, component, event, and the ids that link lines: task_id, stage, step, trace_id, span_id, pid; null if
// there is none. docs/operations.md describes it for its readers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <agentforge/result.hpp>

#include "base/clock.hpp"
#include "program/log/progress.hpp"

namespace agentforge::kernel {

/// Writes the stream's lines (program/log/event_stream.hpp) and the task's transitions to the file. Passes records and events on.
class Log final : public Progress {
public:
    struct Options {
        std::string file;                            ///< Empty: write no log.
        std::string level;                           ///< trace, debug, info, warning, error or off.
        std::string format = "json";                 ///< json or text.
        std::map<std::string, std::string> levels;   ///< By component; overrides `level`.
        std::uint64_t max_file_bytes = 5ULL << 20U;  ///< A line that would exceed this starts a new file.
        unsigned kept_files = 3;                     ///< Older files to keep. FILE.1 is the newest of them.
        bool follow_links = true;                    ///< False: neither the file nor its folder may be a link.
        std::string version;                         ///< The program's version, for the first line.
        std::string command;
        std::function<void(const json::object& line)> also = {};  ///< Called with each line. May be empty.
    };
    /// Creates the file with the first line, mode 0600. If it cannot, reports that once (AF-CLI-020) and continues. Does the same
    /// if lines are lost later (AF-CLI-120; the next line that can be written says how many). Several processes may write one
    /// file. A line is in the file when the call returns. Errors: `invalid` AF-CLI-021 an unknown level, AF-CLI-121 an unknown
    /// component or format.
    [[nodiscard]] static Result<std::unique_ptr<Log>> open(const Options& options, Progress& next, const Clock& clock);
    ~Log() override;
    void event(const Event& event) override;
    void recorded(const TaskState& state, const StageState* left, const records::AnyRecord& record) override;
    /// Writes a line for a command's error, and does not pass it on. If there is no log yet, creates one only if the folder
    /// `beside` exists.
    void note(const Error& error, const std::string& beside);

    /// Returns the parts of the program that have their own level.
    [[nodiscard]] static const std::vector<std::string>& components();

private:
    struct State;
    Log(std::unique_ptr<State> state, Progress& next);
    void warn(const Result<void>& written);
    std::unique_ptr<State> state_;
    Progress& next_;
};

}  // namespace agentforge::kernel
