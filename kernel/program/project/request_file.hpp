// SPDX-License-Identifier: Apache-2.0
// Many requests in one file, for `agentforge run`.
//
// Lines: each is a request in words, or a JSON object with a request and its options; empty lines and those that begin with `#`
// are passed over. YAML (a file named .yaml or .yml): a list of the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "program/commands/start.hpp"

namespace agentforge::kernel {

struct RequestEntry {
    StartArguments arguments;                                   ///< With the request.
    std::vector<std::pair<std::string, std::string>> settings;  ///< As --set gives them.
    std::string where;                                          ///< `file:line`.
    std::string key;  ///< The same for the same request with the same options, wherever it stands in the file; of equal ones the
                      ///< second has another.
};

enum class RequestForm : unsigned char { lines = 1, yaml };
[[nodiscard]] RequestForm form_of(const std::string& file);

/// Errors: `invalid` AF-CLI-170 with file and line: an entry is none, has a key or value that is unknown, or no request;
/// AF-CLI-171 there is no request at all; AF-ORCH-040 a request cannot be taken; AF-CONF-00N it is not YAML.
[[nodiscard]] Result<std::vector<RequestEntry>> read_requests(std::string_view text, const std::string& source, RequestForm form);

}  // namespace agentforge::kernel
