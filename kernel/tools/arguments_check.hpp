// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of a tool call against the tool's JSON Schema: a strict checker for the keywords that such schemas use.
// The schema may come from a server that nobody reviewed, so the work has a fixed limit. docs/adr/0016 says why this is not
// valijson, which checks artifacts (contracts/schema_check.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Checks these keywords: type, required, enum, const, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf,
/// minLength, maxLength (characters), minItems, maxItems, uniqueItems, items, properties, additionalProperties (false is implied,
/// except inside a combination), minProperties, maxProperties, pattern (RE2), anyOf, oneOf, allOf, not, `$ref` inside the schema
/// (`#/$defs/…`). Ignores keywords for the reader: title, description, default, examples, format, deprecated, readOnly,
/// writeOnly, $schema, $id and $comment. Converts a whole number written as 3.0 to an integer, and nothing else. Errors:
/// `invalid` AF-TOOL-004 with every defect (at most ten) and the parameter nearest to an unknown one; `internal` AF-TOOL-008 the
/// schema cannot be applied, or needs more than 20,000 comparisons.
[[nodiscard]] Result<void> check_arguments(std::string_view tool, const json::object& schema, json::object& arguments);

/// True if the keyword is one of those above.
[[nodiscard]] bool is_checked_keyword(std::string_view keyword) noexcept;
/// Returns what `#/$defs/name` refers to inside a schema. Null if it refers to nothing, or to something outside.
[[nodiscard]] const json::value* resolve_reference(const json::object& root, std::string_view reference);

}  // namespace agentforge::kernel
