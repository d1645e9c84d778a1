// SPDX-License-Identifier: Apache-2.0
// Changes one value in a YAML file that a person keeps: every other byte, comments included, stays as it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// The text with `value` at the place that the segments name; maps around it are made where they are missing. The result is read
/// again and must hold what was there and the new value, nothing else.
/// Errors: those of parse_yaml (the text is not touched); AF-CONF-040 with file, line and column where the value stands in a form
/// that cannot be changed without losing something (an anchor, a text of several lines, a list with comments in it).
[[nodiscard]] Result<std::string> set_in_yaml(std::string_view text, std::string_view source,
                                              const std::vector<std::string>& segments, const json::value& value);

/// The text without that key. What is not there is no error: the text comes back as it was. Errors: as above.
[[nodiscard]] Result<std::string> unset_in_yaml(std::string_view text, std::string_view source,
                                                const std::vector<std::string>& segments);

/// The text with the value under another name (and in another unit); a comment on its line goes along. Errors: as above.
[[nodiscard]] Result<std::string> move_in_yaml(std::string_view text, std::string_view source,
                                               const std::vector<std::string>& from, const std::vector<std::string>& to,
                                               const json::value& value);

}  // namespace agentforge::kernel
