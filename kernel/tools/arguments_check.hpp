// SPDX-License-Identifier: Apache-2.0
// Arguments of a tool call against the tool's JSON Schema: a strict checker for the keywords that such schemas use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Keywords: type, required, enum, const, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength
/// (characters), minItems, maxItems, uniqueItems, items, properties, additionalProperties (false is implied, except inside a
/// combination), minProperties, maxProperties, pattern (RE2), anyOf, oneOf, allOf, not, `$ref` inside the schema (`#/$defs/…`);
/// title, description, default, examples, format, deprecated, readOnly, writeOnly, $schema, $id and $comment are only for the
/// reader. A whole number written as 3.0 becomes an integer; nothing else is converted. Errors: `invalid` AF-TOOL-004 with every
/// defect (at most ten), naming the nearest parameter of an unknown one; `internal` AF-TOOL-008 where the schema itself cannot be
/// applied. A schema that asks for more than 20,000 comparisons is AF-TOOL-008, too.
[[nodiscard]] Result<void> check_arguments(std::string_view tool, const json::object& schema, json::object& arguments);

/// Whether the keyword is one of those above.
[[nodiscard]] bool is_checked_keyword(std::string_view keyword) noexcept;
/// What `#/$defs/name` names inside a schema; null where it names nothing, or something outside.
[[nodiscard]] const json::value* resolve_reference(const json::object& root, std::string_view reference);

}  // namespace agentforge::kernel
