// SPDX-License-Identifier: Apache-2.0
// The commands that gates ran, on which tree and for how long, to show where time goes. Plain values; runs nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

/// One command that a gate ran.
struct GateCommand {
    std::string command;  ///< As named in the language's file: build, collect, tests, plain, coverage, syntax, types, metrics, …
    std::string purpose;  ///< `mutants`, `change-taken-back`, …; empty: to measure the tree as it is.
    std::string tree;     ///< Empty: the command needs none.
    std::chrono::milliseconds duration{0};
};

/// For GateCommand::purpose: alters a changed line to see whether tests notice.
inline constexpr const char* purpose_mutants = "mutants";

/// Where the time of a task's gates went.
struct GateTime {
    std::chrono::milliseconds total{0};    ///< Time of all commands.
    std::chrono::milliseconds mutants{0};  ///< Time of the commands on mutants.
    std::chrono::milliseconds floor{
        0};  ///< One clean build and one suite: the longest of each on the last tree whose tests were run.
    [[nodiscard]] std::chrono::milliseconds without_mutants() const noexcept { return total - mutants; }
};

[[nodiscard]] GateTime time_of(const std::vector<GateCommand>& commands);

[[nodiscard]] json::array to_json(const std::vector<GateCommand>& commands);
/// Skips entries that are not commands.
[[nodiscard]] std::vector<GateCommand> gate_commands_from_json(const json::value& value);

/// Returns, for instance, `12 s without mutants, 8 s for mutants; one clean build and suite takes 3 s`. Empty if nothing was run.
[[nodiscard]] std::string in_words(const GateTime& time);
[[nodiscard]] json::object to_json(const GateTime& time);

}  // namespace agentforge::kernel
