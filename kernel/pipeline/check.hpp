// SPDX-License-Identifier: Apache-2.0
// Measures the user's checkout against the conformance checks (`agentforge check`): no model, no task, nothing of the repository
// is run.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "gates/conformance/named_violations.hpp"
#include "pipeline/workspace.hpp"

namespace agentforge::kernel {

struct CheckRequest {
    std::vector<std::string> paths;        ///< Files and folders, relative to the repository's root; none: all.
    bool changed = false;                  ///< Only files that differ from `since`; what was broken there already is not new.
    std::string since;                     ///< A revision; empty: fork_point's own choice.
    std::vector<NamedViolation> baseline;  ///< What is known and fails nothing.
    std::vector<NamedViolation> records;   ///< Of an earlier check: who keeps which id.
};

struct CheckResult {
    std::vector<NamedViolation> violations;
    std::set<std::string> fresh;  ///< Ids of those that neither the baseline nor the commit compared with has.
    std::vector<ConformanceCheck> checks;
    std::string compared_with;      ///< With `changed`: `main, 1f2e3d4c`.
    std::vector<std::string> gone;  ///< Ids of records and the baseline below what was measured that are no more.

    [[nodiscard]] std::size_t blocking() const;  ///< New ones of severity major or critical.
};

/// Reads the files as they lie in the checkout, committed or not; ignored files and `.agentforge` are left out.
/// Errors: AF-GIT-… of the repository and of fork_point; those of ConformanceReader::findings.
[[nodiscard]] Result<CheckResult> check_conformance(const GitTaskWorkspaceOptions& options, ProcessRunner& processes,
                                                    const CheckRequest& request, const Stop& stop);

/// What breaks the checks in one file of the last commit, or of the checkout as it lies, named by the records given. `in_tests`:
/// the file belongs to the tests.
struct FileCheck {
    std::vector<NamedViolation> violations;
    bool in_tests = false;
};
[[nodiscard]] Result<FileCheck> check_file(const GitTaskWorkspaceOptions& options, ProcessRunner& processes,
                                           const std::string& file, bool uncommitted, const std::vector<NamedViolation>& known,
                                           const Stop& stop);

}  // namespace agentforge::kernel
