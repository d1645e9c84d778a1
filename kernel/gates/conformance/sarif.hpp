// SPDX-License-Identifier: Apache-2.0
// Violations as SARIF 2.1.0 (OASIS), which code hosts show beside the lines.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "gates/conformance/named_violations.hpp"

namespace agentforge::kernel {

/// Returns one run with a rule for each check and a result for each violation. A result's fingerprint is the violation's id.
/// `baselineState` is `new` for those in `fresh` and `unchanged` for the rest. Paths are relative to the repository's root,
/// `%SRCROOT%`. Each file in `not_measured` is a notification of the run's invocation.
[[nodiscard]] json::object to_sarif(const std::vector<NamedViolation>& violations, const std::set<std::string>& fresh,
                                    const std::vector<ConformanceCheck>& checks, const std::string& version,
                                    const std::vector<UnmeasuredFile>& not_measured = {});

}  // namespace agentforge::kernel
