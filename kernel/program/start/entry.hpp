// SPDX-License-Identifier: Apache-2.0
// Where a task begins: the options that import artifacts and skip stages.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/entry/imports.hpp"
#include "program/command_line.hpp"

namespace agentforge::kernel {

class Project;
struct Program;
struct StartArguments;

struct EntryArguments {
    std::string spec;   ///< A file.
    std::string tests;  ///< A folder or a file.
    std::string task;   ///< Another task's id.
    std::string
        accept_stale;  ///< Why its artifacts are accepted although files that they name have changed. Empty: they are not.
    std::vector<std::string> others;  ///< `NAME=FILE`.
    std::string skip_to;
    std::vector<std::string> without;

    /// True if artifacts are imported.
    [[nodiscard]] bool gives_artifacts() const { return !spec.empty() || !tests.empty() || !task.empty() || !others.empty(); }
};

void add_entry_options(const Command& command, EntryArguments& arguments);

/// Reads the imports and decides where the task begins. Errors: those of pipeline/entry/imports.hpp; AF-EXT-011 `--external`
/// without a name; AF-ORCH-055 and AF-ORCH-056 (check_freshness).
[[nodiscard]] Result<Entry> entry_of_arguments(const Program& program, Project& project, const PipelineTemplate& pipeline,
                                               const StartArguments& arguments);

/// Returns the title of the imported specification, or empty.
[[nodiscard]] std::string title_of(const Entry& entry);

/// Errors: `invalid` AF-CLI-204 every stage from the entry to the exit is skipped.
[[nodiscard]] Result<void> check_some_stage_runs(const PipelineTemplate& pipeline, const Entry& entry, const std::string& exit);
/// Returns why a stage will not run, as far as known before the task exists. Empty: it will run, or this is not known yet.
[[nodiscard]] std::string why_skipped(const PipelineTemplate& pipeline, const Entry& entry, std::size_t stage);
/// Returns why a stage's artifact will not be shown: it is skipped, or comes after the end. Imported tests are shown like the
/// stage's own. Empty: the stage runs.
[[nodiscard]] std::string why_not_run(const PipelineTemplate& pipeline, const Entry& entry, const std::string& exit,
                                      std::size_t stage);

}  // namespace agentforge::kernel
