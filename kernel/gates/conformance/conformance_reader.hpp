// SPDX-License-Identifier: Apache-2.0
// Finds the conformance violations of a tree, without a baseline and without a gate's verdict. Only reads the tree.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gates/conformance/conformance_search.hpp"
#include "gates/gate_runner.hpp"

namespace agentforge::kernel {

class ConformanceReader {
public:
    /// Uses the options that conformance needs. `processes` must outlive the object.
    ConformanceReader(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, GateRunner::Options options);
    ~ConformanceReader();

    /// Returns all violations in these files and folders of a tree (none given: everywhere), in no particular order. Runs nothing
    /// from the tree and checks nothing out. Excludes coverage, which measures a change. `not_measured`: if given, gets the
    /// source files in which violations may be missing, in no particular order. Errors: AF-GATE-002, AF-GATE-003, AF-GATE-005,
    /// AF-GATE-020, AF-GATE-021.
    [[nodiscard]] Result<std::vector<Finding>> findings(const std::string& tree, const std::vector<std::string>& paths,
                                                        const Stop& stop, std::vector<UnmeasuredFile>* not_measured = nullptr);
    /// Returns the checks in force. Errors: AF-GATE-012, AF-GATE-020, AF-GATE-021.
    [[nodiscard]] Result<std::vector<ConformanceCheck>> checks();
    /// True if a path is a test or supports tests. Errors: AF-GATE-010, AF-GATE-012, AF-GATE-080.
    [[nodiscard]] Result<bool> belongs_to_tests(const std::string& tree, const std::string& path);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
