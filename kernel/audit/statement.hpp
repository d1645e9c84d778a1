// SPDX-License-Identifier: Apache-2.0
// The statement about a delivered tree: in-toto's Statement v1 (https://in-toto.io/Statement/v1). Its subject is the tree; the
// predicate has what the kernel states about it.
// A change of the format makes the statements of all delivered tasks wrong: the audit makes each again and compares the bytes.
// So a new field may come only from records that old tasks lack. Any other change needs a new `predicate_type`, and code that
// still makes the old statement for old tasks.
#pragma once

#include <filesystem>
#include <map>
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
/// `questions`: hashes of questions to people that are not here, by their names in the statement.
[[nodiscard]] Result<std::string> make_statement(const TaskEvidence& evidence, const Repository& repository,
                                                 const std::map<std::string, std::string>& questions = {});

/// The same with the `tests` of an existing statement, for a repository without the delivered tree.
[[nodiscard]] Result<std::string> make_statement(const TaskEvidence& evidence, json::array tests,
                                                 const std::map<std::string, std::string>& questions = {});

/// Returns the paths of the test files that the task's stages handed in. Errors: AF-JRNL-011, AF-JRNL-012.
[[nodiscard]] Result<std::set<std::string>> test_files(const TaskEvidence& evidence);

/// Returns the object under a key. Null if the key has none.
[[nodiscard]] const json::object* object_at(const json::object& parent, std::string_view key);
/// Returns the predicate of a statement, which must outlive it. Null if the text is not a statement.
[[nodiscard]] const json::object* predicate_of(const Result<json::value>& statement);
const json::object* predicate_of(Result<json::value>&&) = delete;
/// Returns the last record of the journal that a statement was made from. Record 0 if it names none.
[[nodiscard]] JournalHead stated_head(const json::object& predicate);

/// Splits a note into its statement, the text before the signature, and the signature, which may be empty.
[[nodiscard]] std::pair<std::string, std::string> split_signed(const std::string& text);

}  // namespace agentforge::kernel
