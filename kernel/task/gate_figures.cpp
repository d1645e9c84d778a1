// SPDX-License-Identifier: Apache-2.0
#include "task/gate_figures.hpp"

#include <algorithm>

#include "config/gate_names.hpp"

namespace agentforge::kernel {

namespace {

/// Rounded to a tenth.
std::string seconds(std::chrono::milliseconds time) {
    const auto tenths = (time.count() + 50) / 100;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

void GateTime::add(const records::CommandRun& run) {
    const std::chrono::milliseconds duration(*run.duration_ms);
    const std::string purpose = run.purpose.value_or("");
    total += duration;
    if (purpose == gate_command::for_mutants) { mutants += duration; }
    const bool is_suite = *run.command == gate_command::tests;
    if (!purpose.empty() || (!is_suite && *run.command != gate_command::build)) { return; }
    OfTree latest{*run.tree};
    if (const auto known = std::ranges::find(trees, *run.tree, &OfTree::tree); known != trees.end()) {
        latest = std::move(*known);
        trees.erase(known);
    }
    std::chrono::milliseconds& longest = is_suite ? latest.tests : latest.build;
    longest = std::max(longest, duration);
    trees.push_back(std::move(latest));
    if (is_suite) { tested = *run.tree; }
    if (trees.size() > kept_trees) { trees.erase(trees.begin() + (trees.front().tree == tested ? 1 : 0)); }
}

std::chrono::milliseconds GateTime::floor() const {
    const auto last = std::ranges::find(trees, tested, &OfTree::tree);
    return last == trees.end() ? std::chrono::milliseconds(0) : last->build + last->tests;
}

std::string in_words(const GateTime& time) {
    if (time.total.count() == 0) { return {}; }
    auto text = seconds(time.without_mutants()) + " without mutants, " + seconds(time.mutants) + " for mutants";
    if (time.floor().count() > 0) { text += "; one clean build and one run of the suite: " + seconds(time.floor()); }
    return text;
}

json::object to_json(const GateTime& time) {
    return {{"total_ms", time.total.count()}, {"mutants_ms", time.mutants.count()}, {"floor_ms", time.floor().count()}};
}

void GateFigures::add(const records::Gate& gate) {
    if (gate.commands) {
        for (const records::CommandRun& run : *gate.commands) { time.add(run); }
    }
    if (!*gate.partial) {
        GateRuns& of_gate = runs[gate.gate];
        of_gate.all += 1;
        of_gate.passed += gate.passed ? 1 : 0;
    }
    if (!gate.tests) { return; }
    if (gate.gate == gate_name::baseline) {
        tests_before = gate.tests;
    } else if (!*gate.partial) {
        tests = gate.tests;
        tests_passed = gate.tests_passed.value_or(0);
    }
}

}  // namespace agentforge::kernel
