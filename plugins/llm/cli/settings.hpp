// SPDX-License-Identifier: Apache-2.0
// The settings of the `cli` backend.
#pragma once

#include <agentforge/json.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace agentforge::cli {

enum class Preset : unsigned char { none = 1, claude, codex };
enum class PromptBy : unsigned char { standard_input = 1, argument };
enum class OutputAs : unsigned char { text = 1, json };
/// plain: one answer, tools off. agentic: the command works in the workspace, run by the host.
enum class Mode : unsigned char { plain = 1, agentic };

struct Settings {
    Preset preset = Preset::none;
    /// Without a preset: the complete argv, in which `{prompt}`, `{prompt_file}` and `{model}` are filled in. With one: the words
    /// that start the program (default: `claude`, `codex`).
    std::vector<std::string> command;
    std::chrono::seconds timeout{300};
    std::string model;  ///< Used if the request names none.
    PromptBy prompt = PromptBy::standard_input;
    OutputAs output = OutputAs::text;      ///< json: a result object as printed by `claude --output-format json`.
    std::string session_id_pattern;        ///< RE2. Its first group, in standard output or error, is the session id.
    std::vector<std::string> environment;  ///< Names of variables to pass on in addition to the usual ones.
    std::size_t max_output_bytes = 50UL << 20U;
    Mode mode = Mode::plain;
    /// agentic: absolute paths it may read, in addition to the workspace, the system's and its own program's.
    std::vector<std::string> readable;
    /// agentic: absolute paths it may write, in addition to the role's and its scratch folder.
    std::vector<std::string> writable;
    unsigned max_requests = 5;  ///< plain: limit on requests to its model's server in one call.
    unsigned max_turns = 50;    ///< agentic, preset claude: limit on turns of one call.
};

/// Reads the settings. Throws std::invalid_argument that names the wrong or unknown key.
[[nodiscard]] Settings read_settings(const json::object& object);

/// Returns the JSON Schema of the settings.
[[nodiscard]] json::object settings_schema();

}  // namespace agentforge::cli
