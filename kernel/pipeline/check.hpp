// SPDX-License-Identifier: Apache-2.0
// Runs the conformance checks on the user's checkout (`agentforge check`). Needs no model and no task, and runs nothing from the
// repository.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "gates/conformance/named_violations.hpp"
#include "pipeline/task_workspace.hpp"
#include "pipeline/task_workspace_factory.hpp"

namespace agentforge::kernel {

struct CheckRequest {
    std::vector<std::string> paths;  ///< Files and folders relative to the repository's root. Empty: all.
    bool changed = false;  ///< Checks only files that differ from `since`. Violations that exist there already are not new.
    std::string since;     ///< A revision. Empty: fork_point chooses one.
    std::vector<NamedViolation> baseline;  ///< Known violations, which never fail the check.
    std::vector<NamedViolation> records;   ///< From an earlier check, to keep each violation's id.
};

struct CheckResult {
    std::vector<NamedViolation> violations;
    std::set<std::string> fresh;  ///< Ids of violations that are in neither the baseline nor the compared commit.
    std::vector<ConformanceCheck> checks;
    /// Source files in which violations may be missing, ordered by name. They do not fail the check.
    std::vector<UnmeasuredFile> not_measured;
    std::string compared_with;      ///< With `changed`: `main, 1f2e3d4c`.
    std::vector<std::string> gone;  ///< Ids of records and baseline entries, below the measured paths, that no longer occur.

    [[nodiscard]] std::size_t blocking() const;  ///< Number of new violations of severity major or critical.
};

/// Reads the checkout's current files, committed or not, except ignored files and `.agentforge`. Errors: AF-GIT-… of the
/// repository and of fork_point; those of ConformanceReader::findings; `invalid` AF-GATE-172 nothing at a given path is read.
[[nodiscard]] Result<CheckResult> check_conformance(const GitTaskWorkspaceOptions& options, ProcessRunner& processes,
                                                    const CheckRequest& request, const Stop& stop);

/// The violations in one file, of the last commit or of the checkout, named by the given records. `in_tests`: the file is a test.
struct FileCheck {
    std::vector<NamedViolation> violations;
    bool in_tests = false;
};
[[nodiscard]] Result<FileCheck> check_file(const GitTaskWorkspaceOptions& options, ProcessRunner& processes,
                                           const std::string& file, bool uncommitted, const std::vector<NamedViolation>& known,
                                           const Stop& stop);

}  // namespace agentforge::kernel
