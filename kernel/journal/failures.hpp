// SPDX-License-Identifier: Apache-2.0
// Failures of the journal and its blobs that callers treat differently. They have several kinds.
#pragma once

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// True if the journal or its blobs failed. The caller can then record nothing more, not even the failure.
[[nodiscard]] inline bool is_journal_failure(const Error& error) noexcept { return error.code.starts_with("AF-JRNL-"); }

/// True if a blob is missing or the task's blobs were freed.
[[nodiscard]] inline bool is_missing_blob(const Error& error) noexcept { return error.code == "AF-JRNL-011"; }

}  // namespace agentforge::kernel
