// SPDX-License-Identifier: Apache-2.0
// Where a task begins, and what it is given in place of earlier stages' work (North Star 13.2, 13.8).
//
// Nothing from outside is believed. A document satisfies its contract before there is a task, and again with the task's own facts
// when it is recorded; tests are put into the workspace and judged by the gate of the stage that would have written them
// (pipeline/entry/adopted_tests.hpp). What was imported lies in the task's `external_inputs/`, and the journal has its hash.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "config/pipelines.hpp"
#include "journal/blobs.hpp"
#include "pipeline/session.hpp"

namespace agentforge::kernel {

struct ImportedFile {
    std::string path;  ///< In the repository.
    std::string content;
};

/// An artifact from outside, read and held against its contract.
struct Import {
    std::string name;  ///< What the template calls it.
    std::string contract;
    std::string source;                                ///< `user_provided` or `task_reference`.
    std::string path;                                  ///< As the user named it; of a task, the file below its folder.
    std::string task = {};                             ///< Empty: of no task.
    json::object artifact = {};                        ///< Empty where there are `files`.
    std::vector<ImportedFile> files = {};              ///< Tests.
    std::optional<records::Freshness> freshness = {};  ///< Of a task's artifact.
};

/// How a task begins.
struct Entry {
    std::vector<Import> imports;
    std::string stage;  ///< Empty: with the first.
    std::vector<std::string> left_out;
};

/// What the template calls the artifact of this contract, or with this name. Errors: AF-EXT-002 it takes none.
[[nodiscard]] Result<std::string> external_name(const PipelineTemplate& pipeline, std::string_view wanted);

/// An artifact in a YAML file, with or without the envelope of a task's artifact. Fields that are absent and have a default get
/// it; what the kernel measures is left out. Errors: AF-EXT-001 with a line for each field that is missing or wrong; those of
/// load_yaml.
[[nodiscard]] Result<Import> import_file(const ContractSet& contracts, std::string name, const std::string& contract,
                                         const std::string& file, const std::string& shown);
/// What a task's own stage of that contract has handed in and was accepted for. Errors: AF-EXT-004 there is none; AF-EXT-001;
/// those of read_task_state.
[[nodiscard]] Result<Import> import_from_task(const ContractSet& contracts, std::string name, const std::string& contract,
                                              const TaskStore& tasks, const std::string& task_id);
/// The files of a folder, or one file. What lies in the repository keeps its path; a folder from elsewhere goes in under its own
/// name. Hidden files and caches are left out. Errors: AF-EXT-007 there is none, or one is a link, no text or too large.
[[nodiscard]] Result<Import> import_tests(std::string name, const std::string& contract, const std::filesystem::path& given,
                                          const std::filesystem::path& repository, const std::string& shown);

/// What the user asks for besides the artifacts.
struct EntryRequest {
    std::string skip_to;  ///< Empty: where the artifacts say.
    std::vector<std::string> left_out;
    std::string exit;  ///< The stage where the task ends.
};

/// Where the task begins with what it is given. Errors: AF-EXT-002 … -006, AF-EXT-010, AF-ORCH-041 no such stage.
[[nodiscard]] Result<Entry> settle_entry(const PipelineTemplate& pipeline, std::vector<Import> imports,
                                         const EntryRequest& request);

/// The contracts of what is imported, for `task_created`.
[[nodiscard]] std::vector<std::string> contracts_of(const Entry& entry);
/// For task.yaml: `{external: {specification: {…}}}`.
[[nodiscard]] json::object inputs_json(const Entry& entry, const std::string& now);
/// Writes what is imported below the task's folder and records it. Errors: AF-EXT-001 the artifact breaks its contract with the
/// facts of this task.
[[nodiscard]] Result<void> record_imports(TaskSession& session, const ContractSet& contracts, const Entry& entry);
/// How another task began, so that one like it can.
[[nodiscard]] Result<Entry> entry_of(const TaskState& state, const BlobStore& blobs);

/// The files of an import of tests that a task has recorded.
[[nodiscard]] Result<std::vector<ImportedFile>> imported_files(TaskSession& session, std::string_view contract);

}  // namespace agentforge::kernel
