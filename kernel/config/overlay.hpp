// SPDX-License-Identifier: Apache-2.0
// A project's template as changes to a shipped one:
//
//   pipeline:
//     name: implement
//     extends: agentforge:implement
//     changes:
//       - {insert: {name: threats, …}, after: spec}       # or before
//       - {replace: {name: refactor, …}}
//       - {remove: clarify}
//
// What else it says (description, limits, exit, continuation, …) takes the place of what the shipped one says.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "base/yaml.hpp"

namespace agentforge::kernel {

/// Where a stage of a template was written.
struct StagePlace {
    const YamlDocument* document = nullptr;
    std::string pointer;     ///< In that document.
    std::string change;      ///< `inserted` or `replaced` by an overlay; empty: as its file has it.
    std::string rest_where;  ///< `file:line:column` of the stage that it replaces; empty: it replaces none.
    json::object rest;       ///< What that stage said: what the new one leaves out, it takes from here.
};

/// A template's file, its changes made. The documents must outlive it.
struct ResolvedTemplate {
    json::value value;   ///< In the form of a whole template.
    std::string source;  ///< The file itself.
    const YamlDocument* own = nullptr;
    const YamlDocument* base = nullptr;  ///< What it changes; null: it is whole.
    std::vector<StagePlace> stages;
    std::vector<std::pair<json::value, std::string>>
        removed;  ///< Stages that its changes took out, each with the pointer of the change in `own`.

    /// `file:line:column` of a pointer into `value`, in the file that says it.
    [[nodiscard]] std::string where(std::string_view pointer) const;
};

/// Errors: AF-PIPE-017 with file and line: an unknown base or stage, a change that is none.
[[nodiscard]] Result<ResolvedTemplate> resolve_template(const YamlDocument& document,
                                                        const std::map<std::string, YamlDocument>& shipped);

}  // namespace agentforge::kernel
