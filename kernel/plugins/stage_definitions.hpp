// SPDX-License-Identifier: Apache-2.0
// Stages that are data: a prompt, the artifacts that it builds on, and the fields of what it hands in. The stage plugin `prompt`
// runs them all.
//
//   stage:
//     name: analyze
//     description: Finds out what the change touches.
//     shows: [intake_record]
//     prompt: |
//       Find out what the change touches.
//       …
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/yaml.hpp"

namespace agentforge::kernel {

/// The stage plugin that runs them.
inline constexpr std::string_view prompt_executor = "prompt";

struct StageDefinition {
    json::object settings;  ///< Of the plugin `prompt`: all that the file says but the name.
    YamlDocument document;  ///< For the places of its settings, below `/stage`.
};

struct StageDefinitions {
    std::map<std::string, StageDefinition, std::less<>> by_name;
    std::vector<Error> problems;  ///< AF-PLUG-052 with file and line: a file that is no definition; the others hold.
};

/// Reads `*.yaml` of each folder; a later folder's definition takes the place of an earlier one's with the same name. Folders may
/// be missing.
[[nodiscard]] StageDefinitions read_stage_definitions(const std::vector<std::string>& folders);

}  // namespace agentforge::kernel
