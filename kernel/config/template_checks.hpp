// SPDX-License-Identifier: Apache-2.0
// Whether a template can run: that every stage can be reached, has what it builds on, and that the template does not contradict
// itself.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/pipelines.hpp"

namespace agentforge::kernel {

/// What a stage says itself, and does not take over from the shipped stage of its name.
using OwnKeys = std::set<std::string, std::less<>>;

/// `keys`: of each stage. Prerequisites that a stage has taken over and that nothing in this template can provide are dropped
/// where the stage is another one than the shipped (its own executor or contract). `has_exit`: the file names its exit. Errors,
/// with a JSON pointer in `where`: AF-PIPE-018 two exits, or an entry or exit that contradicts itself; AF-PIPE-019 a stage that
/// no task reaches; AF-PIPE-020 a prerequisite that nothing provides; AF-PIPE-021 a source that there is not.
[[nodiscard]] Result<void> check_template_can_run(PipelineTemplate& pipeline, const std::vector<OwnKeys>& keys, bool has_exit);

/// A stage that one way through the pipeline reaches without something that it builds on.
struct Unprovided {
    std::size_t stage = 0;
    std::string contract;
    std::string when;  ///< What is given and what holds on that way, in words.
};

/// The contracts that a stage builds on.
using StageNeeds = std::function<std::vector<std::string>(const StageTemplate& stage)>;

/// What a task is given from outside, where it begins and ends then, and what is left out.
struct Beginning {
    std::set<std::string> names;                   ///< Of the artifacts in the template, for words.
    std::set<std::string, std::less<>> contracts;  ///< Theirs.
    std::set<std::string> left_out;
    std::size_t first = 0;
    std::size_t last = std::numeric_limits<std::size_t>::max();
};

/// Goes every way through the template from there: each condition of `skip_if` that artifacts make true holds from some stage on,
/// or never. With more than six of them, only none, all, and each alone from the beginning. Empty: no stage is without what it
/// builds on.
[[nodiscard]] std::optional<Unprovided> find_unprovided(const PipelineTemplate& pipeline, const StageNeeds& needs,
                                                        const Beginning& beginning);
/// The same from every beginning: each artifact that the template accepts given or not, with those that it requires. Of more than
/// six, only none, all, and each alone.
[[nodiscard]] std::optional<Unprovided> find_unprovided(const PipelineTemplate& pipeline, const StageNeeds& needs);

/// The same as an error AF-PIPE-020 at `where`; `who` is the stage, in words.
[[nodiscard]] Error unprovided_error(const Unprovided& found, const std::string& who, std::string where);

/// Whether a task may end at this stage; the template's own end is always one. Errors: AF-EXT-012.
[[nodiscard]] Result<void> check_exit_point(const PipelineTemplate& pipeline, std::string_view exit);

/// Whether the next pipeline takes what this one hands over. `where` has a JSON pointer. Errors: AF-PIPE-021.
[[nodiscard]] Result<void> check_continuation(const PipelineTemplate& pipeline, const PipelineTemplate& next);

}  // namespace agentforge::kernel
