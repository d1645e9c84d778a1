// SPDX-License-Identifier: Apache-2.0
// Checks that a template can run: every stage can be reached and has what it needs, and the template does not contradict itself.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/pipeline_set.hpp"

namespace agentforge::kernel {

/// The fields that a stage has itself, as opposed to those taken over from the shipped stage of its name.
using OwnKeys = std::set<std::string, std::less<>>;

/// `keys`: for each stage. If a stage differs from the shipped one (its own executor or contract), inherited prerequisites that
/// nothing in this template can provide are dropped. `has_exit`: the file names its exit. Errors, with a JSON pointer in `where`:
/// AF-PIPE-018 two exits, or an entry or exit that contradicts itself; AF-PIPE-019 a stage that no task reaches; AF-PIPE-020 a
/// prerequisite that nothing provides; AF-PIPE-021 an unknown source.
[[nodiscard]] Result<void> check_template_can_run(PipelineTemplate& pipeline, const std::vector<OwnKeys>& keys, bool has_exit);

/// A stage that some way through the pipeline reaches without one of its prerequisites.
struct Unprovided {
    std::size_t stage = 0;
    std::string contract;
    std::string when;  ///< The imported artifacts and the true conditions on that way, in words.
};

/// Returns the contracts that a stage needs.
using StageNeeds = std::function<std::vector<std::string>(const StageTemplate& stage)>;

/// The imported artifacts of a task, its first and last stage, and the stages left out.
struct Beginning {
    std::set<std::string> names;                   ///< Names of the artifacts in the template, for messages.
    std::set<std::string, std::less<>> contracts;  ///< Their contracts.
    std::set<std::string, std::less<>> made;       ///< Contracts of what the stages before `first` have made.
    std::set<std::string> left_out;
    std::size_t first = 0;
    std::size_t last = std::numeric_limits<std::size_t>::max();
};

/// Checks every way through the template from there: each condition of `skip_if` that artifacts make true either holds from some
/// stage on, or never. With more than six conditions, checks only none, all, and each alone from the beginning. Empty: every
/// stage has what it needs.
[[nodiscard]] std::optional<Unprovided> find_unprovided(const PipelineTemplate& pipeline, const StageNeeds& needs,
                                                        const Beginning& beginning);
/// The same from every beginning: each artifact that the template accepts is given or not, with those that it requires. With more
/// than six, only none, all, and each alone.
[[nodiscard]] std::optional<Unprovided> find_unprovided(const PipelineTemplate& pipeline, const StageNeeds& needs);

/// The same as an error AF-PIPE-020 at `where`. `who`: the stage, in words.
[[nodiscard]] Error unprovided_error(const Unprovided& found, const std::string& who, std::string where);

/// Checks that a task may end at this stage. The template's own end is always allowed. Errors: AF-EXT-012.
[[nodiscard]] Result<void> check_exit_point(const PipelineTemplate& pipeline, std::string_view exit);

/// Checks that the next pipeline accepts what this one passes on. `where` has a JSON pointer. Errors: AF-PIPE-021.
[[nodiscard]] Result<void> check_continuation(const PipelineTemplate& pipeline, const PipelineTemplate& next);
/// Returns the stage of `next` after which it continues a task that ended at stage `last` of `pipeline`: the stage of the same
/// name, else the last one whose contract the task has produced. `has_made`: whether a stage of `pipeline` has an artifact.
[[nodiscard]] std::optional<std::size_t> joint_of(const PipelineTemplate& pipeline, std::size_t last,
                                                  const PipelineTemplate& next,
                                                  const std::function<bool(std::size_t stage)>& has_made);

/// Returns AF-ORCH-041 for a name that is not a stage of the pipeline, with its stages. `purpose` ends the message (`to
/// approve`).
[[nodiscard]] Error unknown_stage(const PipelineTemplate& pipeline, std::string_view name, std::string_view purpose = {});

}  // namespace agentforge::kernel
