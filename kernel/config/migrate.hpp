// SPDX-License-Identifier: Apache-2.0
// Updates a settings file of an older format (`agentforge config migrate`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "config/settings_schema.hpp"

namespace agentforge::kernel {

struct Migration {
    std::string text;                  ///< The updated file. Every other byte stays.
    std::vector<std::string> changes;  ///< For instance "budgets.task_tokens is limits.max_tokens now".
};

/// Gives each former key (`former:` in the schema) its new name and unit. Returns a file without former keys unchanged. Errors:
/// those of set_in_yaml; AF-CONF-044 a key without a successor; AF-CONF-045 the file contains both names.
[[nodiscard]] Result<Migration> migrate_settings(const SettingsSchema& schema, std::string_view text, std::string_view source);

}  // namespace agentforge::kernel
