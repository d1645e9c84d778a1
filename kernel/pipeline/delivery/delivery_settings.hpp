// SPDX-License-Identifier: Apache-2.0
// How a verified tree leaves the task (`delivery:` of the settings).
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
    std::string branch = "agentforge/{task}";                     ///< For branch and pr; `commit` has this one always.
    std::string title = "{title}";                                ///< The first line of the message.
    std::string author;                                           ///< `Name <email>`; empty: the user's, as git knows it.
    std::string co_author = "AgentForge <agentforge@localhost>";  ///< Empty: no trailer.
    std::string sign = "auto";                                    ///< auto (as commit.gpgsign says), always, never
    std::string hooks = "run";                                    ///< run, skip
    std::chrono::seconds hook_timeout{600};
    std::string remote = "origin";  ///< Where pr pushes to.
    std::string base;               ///< The branch that pr is against; empty: the one that the task started on.
};

struct PersonName {
    std::string name;
    std::string email;
};
/// Reads `Name <email>`. Errors: `invalid` AF-GIT-045, which names `what`.
[[nodiscard]] Result<PersonName> parse_person(std::string_view text, std::string_view what);

/// From the section `delivery` of the settings; `where` says where a key was written. Errors, with file and line: AF-GIT-045 a
/// person that is not a `Name <email>`, AF-GIT-046 a branch pattern with an unknown `{…}` or without any, a title without
/// `{title}`.
[[nodiscard]] Result<DeliverySettings> read_delivery_settings(const json::object& section,
                                                              const std::function<std::string(const std::string&)>& where);

/// The first line of a commit's message, `{title}` filled in; at most 100 bytes of the title.
[[nodiscard]] std::string delivery_title(const DeliverySettings& settings, const std::string& title);

/// The name of the branch: `{task}` is the task's id, `{slug}` the words of the title, `{short}` the eight last characters of the
/// id.
[[nodiscard]] std::string delivery_branch(const DeliverySettings& settings, std::string_view task_id, std::string_view title);

}  // namespace agentforge::kernel
