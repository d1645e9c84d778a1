// SPDX-License-Identifier: Apache-2.0
// Records what an agentic call did to the files, for `replay`.
#pragma once

#include <set>
#include <string>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "secrets/redactor.hpp"

namespace agentforge::kernel {

/// Returns `changes`, the current state of each of `paths` relative to `root`, and `artifact`, the contents of that file if it
/// exists. Each is one of `text`, `base64` (for bytes that YAML cannot show unchanged), `link`, `folder: true` and `deleted:
/// true`, optionally with `executable: true`. Secrets become placeholders. Follows no link. Cost: reads every file once. Errors:
/// AF-LLM-314 a file, or all of them, are too large; AF-BASE-…
[[nodiscard]] Result<json::object> recorded_work(const std::string& root, const std::set<std::string>& paths,
                                                 const std::string& artifact, const Redactor& redactor);

}  // namespace agentforge::kernel
