// SPDX-License-Identifier: Apache-2.0
// Whether a template can run: that every stage can be reached, has what it builds on, and that the template does not contradict itself.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/pipelines.hpp"

namespace agentforge::kernel {

/// What a stage says itself, and does not take over from the shipped stage of its name.
using OwnKeys = std::set<std::string, std::less<>>;

/// `keys`: of each stage. Prerequisites that a stage has taken over and that nothing in this template can provide are dropped where the stage is another one
/// than the shipped (its own executor or contract). `has_exit`: the file names its exit. Errors, with a JSON pointer in `where`: AF-PIPE-018 two exits, or an entry or
/// exit that contradicts itself; AF-PIPE-019 a stage that no task reaches; AF-PIPE-020 a prerequisite that nothing provides; AF-PIPE-021 a source that there is not.
[[nodiscard]] Result<void> check_template_can_run(PipelineTemplate& pipeline, const std::vector<OwnKeys>& keys, bool has_exit);

/// Whether a task may end at this stage; the template's own end is always one. Errors: AF-EXT-012.
[[nodiscard]] Result<void> check_exit_point(const PipelineTemplate& pipeline, std::string_view exit);

/// Whether the next pipeline takes what this one hands over. `where` has a JSON pointer. Errors: AF-PIPE-021.
[[nodiscard]] Result<void> check_continuation(const PipelineTemplate& pipeline, const PipelineTemplate& next);

}  // namespace agentforge::kernel
