// SPDX-License-Identifier: Apache-2.0
// Makes up values that satisfy a JSON Schema.
#pragma once

#include <agentforge/json.hpp>

namespace agentforge::kernel {

/// Which properties of an object a sample has.
enum class SampleOf : unsigned char { all_properties = 1, required_properties };

/// Makes up a value for a schema as well as it can. Prefers `const`, `default`, `examples` and `enum`. The value need not satisfy
/// the schema: most keywords, such as `pattern`, are ignored.
[[nodiscard]] json::value schema_sample(const json::object& schema, SampleOf properties);

}  // namespace agentforge::kernel
