// SPDX-License-Identifier: Apache-2.0
// The text protocol: one action an answer, a header line and raw blocks, so that code never has to live inside JSON.
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
// A parameter is `name: value` on one line, or a block: the lines between `<<<name` and `>>>name`, joined by line ends,
// without one at the end. Only a block named `content` ends with a line end, as files do; `<<<content-` leaves it away.
// Where the lines themselves hold the end mark, both marks take a suffix: `<<<search:2` … `>>>search:2`.
// Models write what they were trained on, so these are read too, in place of `search` and `replace`, once or several times
// (then they are the parameter `edits`), whole lines each:
//
//   <<<<<<< SEARCH
//   return text
//   =======
//   return text.lower()
//   >>>>>>> REPLACE
//
// and a patch from `*** Begin Patch` to `*** End Patch` in place of a block `patch`.
// A block named `artifact` is one YAML or JSON mapping whose fields are the arguments. Values take their type from the
// tool's schema: text stays as it is, anything else is read as JSON or YAML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/llm_backend.hpp>
#include <agentforge/tool.hpp>

namespace agentforge::kernel {

/// The one action of an answer. Prose before and after, code fences around, CRLF, `Action:` in any case are let pass; so is
/// JSON, `{"tool": …, "arguments": {…}}`, alone or in a fence, where no ACTION line stands; so are, there, one patch where
/// `apply_patch` is offered, and SEARCH/REPLACE blocks below a line with the file's path where `edit_file` is. Errors (`invalid`,
/// worded for the model): AF-AGENT-020 no action, AF-AGENT-021 several, AF-AGENT-022 a line or block that breaks the protocol
/// (with its line), AF-AGENT-023 a value that cannot be read, AF-AGENT-024 the answer was cut off. A model that calls tools
/// natively
/// (`native_tool_calls`) was never told of the protocol, so no error speaks of it: 022 and 023 are 020, and each says to call one
/// tool.
[[nodiscard]] Result<ToolCall> read_action(const Completion& answer, const std::vector<ToolSpec>& offered,
                                           bool native_tool_calls = false);

/// The text that read_action reads to the same call.
[[nodiscard]] std::string write_action(const ToolCall& call);

/// A JSON Schema in a line or a few, for a model: `{title: text (max 100), requirements: [{id: /^REQ-…$/, priority:
/// must|should}], note?: text}`. `?` marks what may be left out. Keywords that it does not know are named in parentheses.
[[nodiscard]] std::string outline(const json::object& schema);

/// The protocol and each tool with its parameters, for the section `available_actions`.
[[nodiscard]] json::object describe_actions(const std::vector<ToolSpec>& offered);

}  // namespace agentforge::kernel
