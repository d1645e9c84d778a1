// SPDX-License-Identifier: Apache-2.0
// Arguments of a tool call against the tool's JSON Schema: a strict checker for the keywords that such schemas use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Keywords: type, required, enum, const, minimum, maximum, minLength, maxLength (characters), minItems, maxItems, items, properties,
/// additionalProperties (false is implied), pattern (RE2); title, description, default and examples are only for the reader.
/// A whole number written as 3.0 becomes an integer; nothing else is converted.
/// Errors: `invalid` AF-TOOL-004 with every defect (at most ten), naming the nearest parameter of an unknown one;
/// `internal` AF-TOOL-008 where the schema itself cannot be applied.
[[nodiscard]] Result<void> check_arguments(std::string_view tool, const json::object& schema, json::object& arguments);

}  // namespace agentforge::kernel
