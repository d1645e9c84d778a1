// SPDX-License-Identifier: Apache-2.0
// A server's `inputSchema` as our argument checker can apply it.
#pragma once

#include <string>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct UsableSchema {
    json::object schema;
    std::vector<std::string> left_out;  ///< Keywords that are not checked here, with their place: the server alone judges them.
    std::vector<std::string> paths;     ///< Properties whose `format` says that they are paths.
};

/// Takes out what `check_arguments` does not know and says what that was. A schema without `properties` takes anything.
/// Errors: AF-TOOL-008 not an object schema, deeper than 40, more than 5,000 values.
[[nodiscard]] Result<UsableSchema> usable_schema(const json::value& schema);

}  // namespace agentforge::kernel
