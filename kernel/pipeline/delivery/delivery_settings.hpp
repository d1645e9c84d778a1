// SPDX-License-Identifier: Apache-2.0
// Settings for delivering a verified tree (the section `delivery`).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "records/delivery_type.hpp"

namespace agentforge::kernel {

struct DeliverySettings {
    DeliveryType type = DeliveryType::commit;
    std::string branch = "agentforge/{task}";                     ///< For branch and pr; `commit` always uses this default.
    std::string title = "{title}";                                ///< The first line of the message.
    std::string author;                                           ///< `Name <email>`; empty: the user in git's configuration.
    std::string co_author = "AgentForge <agentforge@localhost>";  ///< Empty: no trailer.
    std::string sign = "auto";                                    ///< auto (as commit.gpgsign says), always, never
    std::string hooks = "run";                                    ///< run, skip
    std::chrono::seconds hook_timeout{600};
    std::string remote = "origin";  ///< The remote that pr pushes to.
    std::string base;               ///< The base branch of pr; empty: the branch that the task started on.
};

struct PersonName {
    std::string name;
    std::string email;
};
/// Reads `Name <email>`. Errors: `invalid` AF-GIT-045, which names `what`.
[[nodiscard]] Result<PersonName> parse_person(std::string_view text, std::string_view what);

/// Reads the section `delivery` of the settings. `where`: returns the place of a key. Errors, with file and line: AF-GIT-045 a
/// person is not a `Name <email>`; AF-GIT-046 a branch pattern has an unknown `{…}` or none, or a title lacks `{title}`.
[[nodiscard]] Result<DeliverySettings> read_delivery_settings(const json::object& section,
                                                              const std::function<std::string(const std::string&)>& where);

/// Returns the first line of the commit message, with at most 100 bytes of the title in place of `{title}`.
[[nodiscard]] std::string delivery_title(const DeliverySettings& settings, const std::string& title);

/// Returns the branch's name. `{task}` is the task's id, `{slug}` the words of the title, `{short}` the last eight characters of
/// the id.
[[nodiscard]] std::string delivery_branch(const DeliverySettings& settings, std::string_view task_id, std::string_view title);

}  // namespace agentforge::kernel
