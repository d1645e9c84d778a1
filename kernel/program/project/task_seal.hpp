// SPDX-License-Identifier: Apache-2.0
// Whether a task's settings were written by the user's own `agentforge`: a repository can bring a folder that looks like a
// task's.
#pragma once

#include <string>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "base/ids.hpp"

namespace agentforge::kernel {

/// A keyed hash over a task's settings and the checkout they are for. The key is `redaction.key` of the state folder, outside
/// every repository; it is made where there is none. Errors: AF-SEC-006.
[[nodiscard]] Result<std::string> task_seal(const std::string& state_directory, IdSource& ids, const std::string& root,
                                            const json::object& configuration);

/// Puts the seal into the settings, as `seal`. Errors: as task_seal.
[[nodiscard]] Result<void> seal_settings(const std::string& state_directory, IdSource& ids, const std::string& root,
                                         json::object& configuration);

/// Whether the settings carry the seal of this state folder and checkout. Errors: as task_seal.
[[nodiscard]] Result<bool> are_sealed(const std::string& state_directory, IdSource& ids, const std::string& root,
                                      const json::object& configuration);

}  // namespace agentforge::kernel
