// SPDX-License-Identifier: Apache-2.0
// The log: what happens in all runs of a project, one line an event, in a file that rotates (spdlog).
//
// Each line has time, level, component, event, and the ids that tie lines together (FR-082 … FR-085): task_id, stage, step,
// trace_id, span_id, pid; null where there is none. docs/operations.md describes it for those who read it.
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

/// Writes what records and events say in the stream (program/log/event_stream.hpp) and the journal's turns to the file, and
/// passes both on.
class Log final : public Progress {
public:
    struct Options {
        std::string file;                            ///< Empty: no log is written.
        std::string level;                           ///< trace, debug, info, warning, error, off
        std::string format = "json";                 ///< json or text
        std::map<std::string, std::string> levels;   ///< By component, over `level`.
        std::uint64_t max_file_bytes = 5ULL << 20U;  ///< A line that would make the file longer goes into a new one.
        unsigned kept_files = 3;                     ///< Older files beside it: FILE.1 is the newest of them.
        bool follow_links = true;                    ///< False: neither the file nor its folder may be a link.
        std::string version;                         ///< Of the program, for the first line.
        std::string command;
        std::function<void(const json::object& line)> also = {};  ///< Is given each line, too.
    };
    /// The file is made with the first line, mode 0600; where it cannot be, that is said once (AF-CLI-020) and the run goes on,
    /// and so where lines are lost later (AF-CLI-120; how many were is the next line that can be written). Several processes may
    /// write one file. A line is in the file when the call returns. Errors: `invalid` AF-CLI-021 an unknown level, AF-CLI-121 an
    /// unknown component or format.
    [[nodiscard]] static Result<std::unique_ptr<Log>> open(const Options& options, Progress& next, const Clock& clock);
    ~Log() override;
    void event(const Event& event) override;
    void recorded(const TaskState& state, const StageState* left, const records::AnyRecord& record) override;
    /// A line for a command's error; it is not passed on. Where there is no log yet, only in a folder `beside` that exists.
    void note(const Error& error, const std::string& beside);

    /// Parts of the program that have a level of their own.
    [[nodiscard]] static const std::vector<std::string>& components();

private:
    struct State;
    Log(std::unique_ptr<State> state, Progress& next);
    void warn(const Result<void>& written);
    std::unique_ptr<State> state_;
    Progress& next_;
};

}  // namespace agentforge::kernel
