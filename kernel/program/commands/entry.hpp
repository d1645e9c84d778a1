// SPDX-License-Identifier: Apache-2.0
// Where a task begins: the options that give it artifacts from outside, skip stages and leave some out.
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
    std::string spec;          ///< A file.
    std::string tests;         ///< A folder or a file.
    std::string task;          ///< Another task.
    std::string accept_stale;  ///< Why its artifacts count though files that they name were changed since; empty: they do not.
    std::vector<std::string> others;  ///< `NAME=FILE`.
    std::string skip_to;
    std::vector<std::string> without;

    /// Whether artifacts are given.
    [[nodiscard]] bool gives_artifacts() const { return !spec.empty() || !tests.empty() || !task.empty() || !others.empty(); }
};

void add_entry_options(const Command& command, EntryArguments& arguments);

/// Reads what is given and settles where the task begins. Errors: those of pipeline/entry/imports.hpp; AF-EXT-011 `--external`
/// without a name; AF-ORCH-055 and AF-ORCH-056 (check_freshness).
[[nodiscard]] Result<Entry> entry_of_arguments(const Program& program, Project& project, const PipelineTemplate& pipeline,
                                               const StartArguments& arguments);

/// What the specification that is given is about; empty where none is.
[[nodiscard]] std::string title_of(const Entry& entry);

/// Why a stage will not run, as far as it can be told before the task exists; empty: it will, or what decides is not known yet.
[[nodiscard]] std::string why_skipped(const PipelineTemplate& pipeline, const Entry& entry, std::size_t stage);
/// Why nobody will be shown what a stage hands in: it is skipped, or lies behind the end. Tests from outside are shown as the
/// stage's own. Empty: it runs.
[[nodiscard]] std::string why_not_run(const PipelineTemplate& pipeline, const Entry& entry, const std::string& exit,
                                      std::size_t stage);

}  // namespace agentforge::kernel
