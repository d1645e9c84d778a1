// SPDX-License-Identifier: Apache-2.0
// Where a task begins, and the artifacts that replace the work of earlier stages.
//
// Nothing imported is trusted. A document must satisfy its contract before the task exists, and again with the task's own facts
// when it is recorded. Tests are put into the workspace and judged by the gate of the stage that would have written them
// (pipeline/entry/adopted_tests.hpp). Imports are kept in the task's `external_inputs/`, and the journal has their hashes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "config/pipeline_set.hpp"
#include "git/repository.hpp"
#include "journal/blob_store.hpp"
#include "pipeline/task_session.hpp"

namespace agentforge::kernel {

struct ImportedFile {
    std::string path;  ///< In the repository.
    std::string content;
};

/// An imported artifact, checked against its contract.
struct Import {
    std::string name;  ///< The template's name for it.
    std::string contract;
    std::string source;                                ///< `user_provided` or `task_reference`.
    std::string path;                                  ///< As the user wrote it. For a task's artifact, the file in its folder.
    std::string task = {};                             ///< Empty: not from a task.
    json::object artifact = {};                        ///< Of tests only `test_files`, as their task has traced them; or empty.
    std::vector<ImportedFile> files = {};              ///< Tests.
    std::optional<records::Freshness> freshness = {};  ///< For a task's artifact.
};

/// How a task begins.
struct Entry {
    std::vector<Import> imports;
    std::string stage;  ///< Empty: the first stage.
    std::vector<std::string> left_out;
};

/// Returns the template's name for the artifact with this contract or name. Errors: AF-EXT-002 the template accepts none.
[[nodiscard]] Result<std::string> external_name(const PipelineTemplate& pipeline, std::string_view wanted);

/// Reads an artifact from a YAML file, with or without a task's envelope. Adds defaults for missing fields; removes what the
/// kernel measures. Errors: AF-EXT-001 with a line for each missing or wrong field; those of load_yaml.
[[nodiscard]] Result<Import> import_file(const ContractSet& contracts, std::string name, const std::string& contract,
                                         const std::string& file, const std::string& shown);
/// Returns the accepted artifact of another task that satisfies the contract, without the fields of one that extends it. Errors:
/// AF-EXT-004 there is none; AF-EXT-001; those of read_task_state.
[[nodiscard]] Result<Import> import_from_task(const ContractSet& contracts, std::string name, const std::string& contract,
                                              const TaskStore& tasks, const std::string& task_id);
/// Reads the files of a folder, or one file. A path in the repository is kept; a folder from elsewhere is imported under its own
/// name. Skips hidden files and caches. Errors: AF-EXT-007 there are no files, or one is a link, not text, or too large.
[[nodiscard]] Result<Import> import_tests(std::string name, const std::string& contract, const std::filesystem::path& given,
                                          const std::filesystem::path& repository, const std::string& shown);

/// Returns the tests of another task: those that its stage wrote, from its recorded tree, with the requirement of each; else
/// those that it imported. Errors: AF-EXT-004 there are none, or git has removed the tree; those of read_task_state.
[[nodiscard]] Result<Import> import_tests_from_task(std::string name, const std::string& contract, const TaskStore& tasks,
                                                    const std::string& task_id, const Repository& repository);

/// The user's requests besides the artifacts.
struct EntryRequest {
    std::string skip_to;  ///< Empty: the artifacts decide.
    std::vector<std::string> left_out;
    std::string exit;  ///< The stage where the task ends.
};

/// Decides where the task begins. Errors: AF-EXT-002 … -006, AF-EXT-010, AF-ORCH-041 no such stage.
[[nodiscard]] Result<Entry> resolve_entry(const PipelineTemplate& pipeline, std::vector<Import> imports,
                                          const EntryRequest& request);

/// Returns the contracts of the imports, for `task_created`.
[[nodiscard]] std::vector<std::string> contracts_of(const Entry& entry);
/// Fills in what the kernel knows of the new task (`task_names`), and returns `{external: {specification: {…}}}` for task.yaml.
[[nodiscard]] Result<json::object> resolve_inputs(Entry& entry, const ContractSet& contracts, const json::object& names,
                                                  const Redactor& redactor, const std::string& now);
/// Writes resolved imports to the task's folder and records them. Errors: AF-EXT-001 with this task's facts, the artifact breaks
/// its contract.
[[nodiscard]] Result<void> record_imports(TaskSession& session, const ContractSet& contracts, const Entry& entry);
/// Returns how another task began, to start a similar one.
[[nodiscard]] Result<Entry> entry_of(const TaskState& state, const BlobStore& blobs);

/// A recorded import of tests.
struct ImportedTests {
    std::vector<ImportedFile> files;
    json::array traced;  ///< `test_files` of the task that they come from. Empty: they come from a user.
};
[[nodiscard]] Result<ImportedTests> imported_tests(TaskSession& session, std::string_view contract);

}  // namespace agentforge::kernel
