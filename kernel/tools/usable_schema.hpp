// SPDX-License-Identifier: Apache-2.0
// Converts a server's `inputSchema` to a form that our argument checker can apply.
#pragma once

#include <string>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct UsableSchema {
    json::object schema;
    std::vector<std::string> left_out;  ///< Keywords that are not checked here, with their place. Only the server checks them.
    std::vector<std::string> paths;     ///< Properties whose `format` says that they are paths.
};

/// Removes the keywords that `check_arguments` does not support, and lists them. A schema without `properties` accepts anything.
/// Errors: AF-TOOL-008 not an object schema, deeper than 40, more than 5,000 values.
[[nodiscard]] Result<UsableSchema> usable_schema(const json::value& schema);

}  // namespace agentforge::kernel
