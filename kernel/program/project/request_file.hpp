// SPDX-License-Identifier: Apache-2.0
// Many requests in one file, for `agentforge run`.
//
// Lines: each is a request in words, or a JSON object with a request and its options. Empty lines and comments (`#` followed by a
// blank, by another `#` or by nothing) are ignored; `#42: fix it` is a request. YAML (a file named .yaml or .yml): a list of the
// same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "program/start/start_arguments.hpp"

namespace agentforge::kernel {

struct RequestEntry {
    StartArguments arguments;                                   ///< Includes the request.
    std::vector<std::pair<std::string, std::string>> settings;  ///< In the form of --set.
    std::string where;                                          ///< `file:line`.
    /// Identifies a request with its options, wherever it is in the file. A second equal entry gets another key.
    std::string key;
};

enum class RequestForm : unsigned char { lines = 1, yaml };
[[nodiscard]] RequestForm form_of(const std::string& file);

/// Reads the requests of a file. Errors: `invalid` AF-CLI-170 with file and line: an entry is not valid, has an unknown key or
/// value, or has no request; AF-CLI-171 the file has no request; AF-ORCH-040 a request is not acceptable; AF-CONF-00N it is not
/// YAML.
[[nodiscard]] Result<std::vector<RequestEntry>> read_requests(std::string_view text, const std::string& source, RequestForm form);

}  // namespace agentforge::kernel
