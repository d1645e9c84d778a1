// SPDX-License-Identifier: Apache-2.0
// Figures of all gates of a task, for commands: how many tests there are, how the time was spent, and how often each gate passed.
// Folded record by record.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/json.hpp>

#include "records/records.hpp"

namespace agentforge::kernel {

/// How the time of a task's gates was spent.
struct GateTime {
    /// The longest build and the longest run of the suite on one tree.
    struct OfTree {
        std::string tree;
        std::chrono::milliseconds build{0};
        std::chrono::milliseconds tests{0};
        bool operator==(const OfTree&) const = default;
    };
    std::chrono::milliseconds total{0};    ///< Time of all commands.
    std::chrono::milliseconds mutants{0};  ///< Time of the commands on mutants.
    std::string tested;                    ///< The last tree whose tests were run.
    std::vector<OfTree> trees;             ///< `tested`, and the latest others that were built or tested. The newest is last.

    static constexpr std::size_t kept_trees = 16;

    void add(const records::CommandRun& run);
    [[nodiscard]] std::chrono::milliseconds without_mutants() const noexcept { return total - mutants; }
    /// Returns the time of one clean build and one suite: the longest of each on `tested`.
    [[nodiscard]] std::chrono::milliseconds floor() const;
    bool operator==(const GateTime&) const = default;
};

/// Returns, for instance, `12 s without mutants, 8 s for mutants; one clean build and suite takes 3 s`. Empty if nothing was run.
[[nodiscard]] std::string in_words(const GateTime& time);
[[nodiscard]] json::object to_json(const GateTime& time);

/// Runs of one gate on a stage's complete work.
struct GateRuns {
    std::uint64_t all = 0;
    std::uint64_t passed = 0;
    bool operator==(const GateRuns&) const = default;
};

struct GateFigures {
    std::optional<std::uint64_t> tests_before;  ///< Number of tests in the newest baseline.
    std::optional<std::uint64_t> tests;         ///< Number of tests in the newest whole measurement of another gate.
    std::uint64_t tests_passed = 0;             ///< Those of `tests` that passed.
    GateTime time;
    std::map<std::string, GateRuns> runs;  ///< By the gate's name.

    void add(const records::Gate& gate);
    bool operator==(const GateFigures&) const = default;
};

}  // namespace agentforge::kernel
