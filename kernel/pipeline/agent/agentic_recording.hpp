// SPDX-License-Identifier: Apache-2.0
// What an agentic call did to the files, written down so that `replay` can do it again.
#pragma once

#include <set>
#include <string>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "secrets/redactor.hpp"

namespace agentforge::kernel {

/// `changes`: what is now at each of `paths`, relative to `root`; `artifact`: what is at that file, if anything. Each is one of
/// `text`, `base64` (what YAML would not show as it is), `link`, `folder: true` and `deleted: true`; `executable: true` besides.
/// Secrets become their placeholders. Nothing is read through a link. Cost: all of the files, once. Errors: AF-LLM-314 a file, or
/// all of them, are too large; AF-BASE-….
[[nodiscard]] Result<json::object> recorded_work(const std::string& root, const std::set<std::string>& paths,
                                                 const std::string& artifact, const Redactor& redactor);

}  // namespace agentforge::kernel
