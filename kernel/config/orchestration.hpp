// SPDX-License-Identifier: Apache-2.0
// The settings `orchestration.…`: timeouts, limits and budget shares of the four parts of a pipeline. They are applied to a
// template before a task starts with it.
#pragma once

#include "config/pipeline_set.hpp"
#include "config/settings.hpp"

namespace agentforge::kernel {

/// Returns the template with the settings of its parts applied (StageTemplate::part). A stage without a part gets the limits
/// that name no part. A setting for one part overrides one for all; `orchestration.stages.PART.timeout` overrides
/// `orchestration.PART_timeout`. Errors: `invalid` AF-PIPE-030 shares of more than 100 percent, AF-PIPE-031 parallel steps.
[[nodiscard]] Result<PipelineTemplate> with_orchestration(PipelineTemplate pipeline, const Settings& settings);

}  // namespace agentforge::kernel
