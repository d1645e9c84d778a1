// SPDX-License-Identifier: Apache-2.0
// A project's template, written as changes to a shipped one:
//
//   pipeline:
//     name: implement
//     extends: agentforge:implement
//     changes:
//       - {insert: {name: threats, …}, after: spec}       # or before
//       - {replace: {name: refactor, …}}
//       - {remove: clarify}
//
// Its other fields (description, limits, exit, continuation, …) replace those of the shipped one.
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
    std::string pointer;     ///< Pointer into that document.
    std::string change;      ///< `inserted` or `replaced` by an overlay. Empty: unchanged from its file.
    std::string rest_where;  ///< `file:line:column` of the stage that it replaces. Empty: none.
    json::object rest;       ///< The fields of that stage, used for those that the new one leaves out.
};

/// A template's file with its changes applied. The documents must outlive it.
struct ResolvedTemplate {
    json::value value;   ///< In the form of a complete template.
    std::string source;  ///< The file itself.
    const YamlDocument* own = nullptr;
    const YamlDocument* base = nullptr;  ///< The file that it changes. Null: it is complete.
    std::vector<StagePlace> stages;
    /// The removed stages, each with the pointer of the change in `own`.
    std::vector<std::pair<json::value, std::string>> removed;

    /// Returns `file:line:column` of a pointer into `value`, in the file that contains it.
    [[nodiscard]] std::string where(std::string_view pointer) const;
};

/// Errors: AF-PIPE-017 with file and line: an unknown base or stage, an invalid change.
[[nodiscard]] Result<ResolvedTemplate> resolve_template(const YamlDocument& document,
                                                        const std::map<std::string, YamlDocument>& shipped);

}  // namespace agentforge::kernel
