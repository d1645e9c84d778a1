// SPDX-License-Identifier: Apache-2.0
// Compares the questions to people, and their answers, with the journal.
#pragma once

#include "audit/files/recorded_history.hpp"
#include "audit/recorded_files.hpp"

namespace agentforge::kernel {

void compare_questions(const TaskEvidence& evidence, const RecordedHistory& history, FileFindings& findings);

}  // namespace agentforge::kernel
