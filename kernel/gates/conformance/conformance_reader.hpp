// SPDX-License-Identifier: Apache-2.0
// What breaks the conformance checks in a tree, without a baseline and without a gate's verdict. The tree is only read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gates/conformance/conformance.hpp"
#include "gates/gates.hpp"

namespace agentforge::kernel {

class ConformanceReader {
public:
    /// Of the options it needs what conformance needs. `processes` must outlive the object.
    ConformanceReader(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, GateRunner::Options options);
    ~ConformanceReader();

    /// All that breaks the checks in these files and folders of a tree (none: everywhere), in no order that means anything.
    /// Nothing of the tree is run, and nothing is checked out. Coverage is no part of it: it measures a change. Errors:
    /// AF-GATE-002, AF-GATE-003, AF-GATE-005, AF-GATE-020, AF-GATE-021.
    [[nodiscard]] Result<std::vector<Finding>> findings(const std::string& tree, const std::vector<std::string>& paths,
                                                        const Stop& stop);
    /// The checks in force. Errors: AF-GATE-012, AF-GATE-020, AF-GATE-021.
    [[nodiscard]] Result<std::vector<ConformanceCheck>> checks();
    /// Whether a path is a test or stands beside tests. Errors: AF-GATE-010, AF-GATE-012, AF-GATE-080.
    [[nodiscard]] Result<bool> belongs_to_tests(const std::string& tree, const std::string& path);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
