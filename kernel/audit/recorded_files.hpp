// SPDX-License-Identifier: Apache-2.0
// Compares the files that people read with the journal: each version of an artifact, each decision, each answer.
#pragma once

#include <string>
#include <vector>

#include "audit/evidence.hpp"

namespace agentforge::kernel {

struct FileFindings {
    std::vector<std::string> faults;
    std::vector<std::string> unchecked;
};

/// Adds a file that no record accounts for: a fault once the task has completed.
void unaccounted(const TaskEvidence& evidence, const std::string& name, FileFindings& findings);
/// Adds a file that could not be compared where the journal hides a secret.
void not_compared_fully(const std::string& name, FileFindings& findings);

/// Returns the files that differ from the journal, and those that no record accounts for. While a task has not completed, the
/// latter are only unchecked: a file is written before its record. A file in which a secret was hidden may differ. Cost: reads
/// each of these files.
[[nodiscard]] FileFindings compare_with_journal(const TaskEvidence& evidence);

}  // namespace agentforge::kernel
