// SPDX-License-Identifier: Apache-2.0
// The statement about a delivered tree: in-toto's Statement v1 (https://in-toto.io/Statement/v1). Its subject is the tree; the
// predicate has what the kernel states about it.
// A change of the format makes the statements of all delivered tasks wrong: the audit makes each again and compares the bytes.
// So a new field may come only from records that old tasks lack. Any other change needs a new `predicate_type`, and code that
// still makes the old statement for old tasks.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include <agentforge/result.hpp>

#include "audit/evidence.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

inline constexpr std::string_view statement_type = "https://in-toto.io/Statement/v1";
inline constexpr std::string_view predicate_type = "urn:agentforge:verified-change:v1";

/// True if there is something to state: the task has ended with a delivered tree.
[[nodiscard]] bool has_statement(const TaskState& state);

/// Returns the whole file. The same evidence always gives the same bytes. Errors: those of `files_of_task`; AF-JRNL-011,
/// AF-JRNL-012 for an artifact; AF-GIT-007 the delivered tree is not in the repository.
[[nodiscard]] Result<std::string> make_statement(const TaskEvidence& evidence, const Repository& repository);

/// The same with the `tests` of an existing statement, for a repository without the delivered tree.
[[nodiscard]] Result<std::string> make_statement(const TaskEvidence& evidence, json::array tests);

/// Returns the paths of the test files that the task's stages handed in. Errors: AF-JRNL-011, AF-JRNL-012.
[[nodiscard]] Result<std::set<std::string>> test_files(const TaskEvidence& evidence);

/// Splits a note into its statement, the text before the signature, and the signature, which may be empty.
[[nodiscard]] std::pair<std::string, std::string> split_signed(const std::string& text);

}  // namespace agentforge::kernel
