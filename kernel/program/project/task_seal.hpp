// SPDX-License-Identifier: Apache-2.0
// The seal of a task's settings, a keyed hash. It proves that the user's own `agentforge` wrote them: a repository could contain
// a folder that looks like a task's.
#pragma once

#include <string>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "base/ids.hpp"

namespace agentforge::kernel {

/// Returns a keyed hash over a task's settings and its checkout. The key is `redaction.key` of the state folder, outside every
/// repository; created if missing. Errors: AF-SEC-006.
[[nodiscard]] Result<std::string> task_seal(const std::string& state_directory, IdSource& ids, const std::string& root,
                                            const json::object& configuration);

/// Adds the hash to the settings, as `seal`. Errors: those of task_seal.
[[nodiscard]] Result<void> seal_settings(const std::string& state_directory, IdSource& ids, const std::string& root,
                                         json::object& configuration);

/// True if the settings have the seal of this state folder and checkout. Errors: those of task_seal.
[[nodiscard]] Result<bool> are_sealed(const std::string& state_directory, IdSource& ids, const std::string& root,
                                      const json::object& configuration);

}  // namespace agentforge::kernel
