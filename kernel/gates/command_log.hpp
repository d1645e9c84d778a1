// SPDX-License-Identifier: Apache-2.0
// What gates have run, for which tree and how long: the record that tells where their time goes. Plain values; nothing is run here.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

/// One command of a gate's.
struct GateCommand {
    std::string command;                    ///< As the language's file names it: build, collect, tests, plain, coverage, syntax, types, metrics, …
    std::string purpose;                    ///< Besides measuring the tree as it is: `mutants`, `change-taken-back`, …; empty: that.
    std::string tree;                       ///< Empty: it needs none.
    std::chrono::milliseconds duration{0};
};

/// For GateCommand::purpose: a changed line is altered, to see whether tests notice.
inline constexpr const char* purpose_mutants = "mutants";

/// Where the time of a task's gates went.
struct GateTime {
    std::chrono::milliseconds total{0};     ///< Of all commands.
    std::chrono::milliseconds mutants{0};   ///< Of those on mutants.
    std::chrono::milliseconds floor{0};     ///< The longest build and the longest run of the tests on the last tree whose tests were run: one clean build, one suite.
    [[nodiscard]] std::chrono::milliseconds without_mutants() const noexcept { return total - mutants; }
};

[[nodiscard]] GateTime time_of(const std::vector<GateCommand>& commands);

[[nodiscard]] json::array to_json(const std::vector<GateCommand>& commands);
/// What is no command is left out.
[[nodiscard]] std::vector<GateCommand> gate_commands_from_json(const json::value& value);

/// `12 s without mutants, 8 s for mutants; one clean build and suite takes 3 s`; empty: nothing was run.
[[nodiscard]] std::string in_words(const GateTime& time);
[[nodiscard]] json::object to_json(const GateTime& time);

}  // namespace agentforge::kernel
