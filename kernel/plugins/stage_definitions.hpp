// SPDX-License-Identifier: Apache-2.0
// Declarative stages: a prompt, the artifacts that it builds on, and the fields of its own artifact. The stage plugin `prompt`
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
    json::object settings;  ///< Settings for the plugin `prompt`: all fields of the file except the name.
    YamlDocument document;  ///< Gives the places of its settings, below `/stage`.
};

struct StageDefinitions {
    std::map<std::string, StageDefinition, std::less<>> by_name;
    std::vector<Error> problems;  ///< AF-PLUG-052 with file and line for each invalid definition. The others are valid.
};

/// Reads `*.yaml` of each folder. A definition in a later folder replaces one with the same name. Folders may be missing.
[[nodiscard]] StageDefinitions read_stage_definitions(const std::vector<std::string>& folders);

}  // namespace agentforge::kernel
