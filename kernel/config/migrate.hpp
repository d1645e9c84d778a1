// SPDX-License-Identifier: Apache-2.0
// Brings a settings file of an older format up to date (`agentforge config migrate`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "config/settings_schema.hpp"

namespace agentforge::kernel {

struct Migration {
    std::string text;                  ///< The file as it should be; every other byte as it was.
    std::vector<std::string> changes;  ///< "budgets.task_tokens is limits.max_tokens now"
};

/// Gives each former key (`former:` of the schema) its new name and unit. A file without one comes back as it was.
/// Errors: those of set_in_yaml; AF-CONF-044 a key that has no successor here; AF-CONF-045 the file holds both names.
[[nodiscard]] Result<Migration> migrate_settings(const SettingsSchema& schema, std::string_view text, std::string_view source);

}  // namespace agentforge::kernel
