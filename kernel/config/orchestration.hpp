// SPDX-License-Identifier: Apache-2.0
// The settings `orchestration.…` (Task 012): timeouts, limits and budget shares of the four parts of a pipeline, laid over a
// template before a task takes it.
#pragma once

#include "config/pipelines.hpp"
#include "config/settings.hpp"

namespace agentforge::kernel {

/// The template with what the settings say of its parts (StageTemplate::part). A stage of no part takes the limits that name
/// none. What is said of one part stands over what is said of all; `orchestration.stages.PART.timeout` stands over
/// `orchestration.PART_timeout`. Errors: `invalid` AF-PIPE-030 shares of more than 100 percent, AF-PIPE-031 steps at the same
/// time.
[[nodiscard]] Result<PipelineTemplate> with_orchestration(PipelineTemplate pipeline, const Settings& settings);

}  // namespace agentforge::kernel
