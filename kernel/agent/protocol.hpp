// SPDX-License-Identifier: Apache-2.0
// The text protocol: one action for each answer, a header line and raw blocks, so that code never has to be inside JSON.
//
//   ACTION edit_file
//   path: textkit/slug.py
//   <<<search
//   return text
//   >>>search
//   <<<replace
//   return text.lower()
//   >>>replace
//   END
//
// A parameter is `name: value` on one line, or a block: the lines between `<<<name` and `>>>name`, joined by line ends, without a
// final one. Only a block named `content` ends with a line end, as files do; `<<<content-` omits it. If the lines themselves
// contain the end mark, both marks take a suffix: `<<<search:2` … `>>>search:2`. Models write what they were trained on, so these
// forms are also accepted. In place of `search` and `replace`, once or several times (then they are the parameter `edits`), with
// whole lines:
//
//   <<<<<<< SEARCH
//   return text
//   =======
//   return text.lower()
//   >>>>>>> REPLACE
//
// In place of a block `patch`, a patch from `*** Begin Patch` to `*** End Patch`. A block named `artifact` is one YAML or JSON
// mapping whose fields are the arguments. The tool's schema decides the type of a value: text is taken literally, anything else
// is parsed as JSON or YAML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/llm_backend.hpp>
#include <agentforge/tool.hpp>

namespace agentforge::kernel {

/// Reads the one action of an answer. Ignores prose before and after, surrounding code fences, CRLF, and the case of `Action:`.
/// Without an ACTION line, also accepts JSON, `{"tool": …, "arguments": {…}}`, alone or in a fence; one patch if `apply_patch` is
/// offered; and SEARCH/REPLACE blocks below a line with the file's path if `edit_file` is.
/// Errors (`invalid`, worded for the model): AF-AGENT-020 no action, AF-AGENT-021 several, AF-AGENT-022 a line or block that
/// breaks the protocol (with its line), AF-AGENT-023 an unreadable value, AF-AGENT-024 the answer was cut off. A model with
/// native tool calls (`native_tool_calls`) does not know the protocol, so no error mentions it: 022 and 023 become 020, and each
/// says to call one tool.
[[nodiscard]] Result<ToolCall> read_action(const Completion& answer, const std::vector<ToolSpec>& offered,
                                           bool native_tool_calls = false);

/// Returns the text that read_action reads as the same call.
[[nodiscard]] std::string write_action(const ToolCall& call);

/// Describes a JSON Schema in a line or a few, for a model: `{title: text (max 100), requirements: [{id: /^REQ-…$/, priority:
/// must|should}], note?: text}`. `?` marks optional fields. Unknown keywords are listed in parentheses.
[[nodiscard]] std::string outline(const json::object& schema);

/// Returns the protocol and each tool with its parameters, for the section `available_actions`.
[[nodiscard]] json::object describe_actions(const std::vector<ToolSpec>& offered);

}  // namespace agentforge::kernel
