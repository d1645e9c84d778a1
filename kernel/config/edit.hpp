// SPDX-License-Identifier: Apache-2.0
// Changes one value in a YAML file that a person maintains. All other bytes, including comments, stay unchanged.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Returns the text with `value` at the path `segments`. Creates missing maps around it. Parses the result again and
/// checks that nothing else changed. Errors: those of parse_yaml (the text is unchanged); AF-CONF-040 with file, line and column
/// if the value cannot be changed without losing something (an anchor, a text of several lines, a list with comments).
[[nodiscard]] Result<std::string> set_in_yaml(std::string_view text, std::string_view source,
                                              const std::vector<std::string>& segments, const json::value& value);

/// Returns the text without that key, or unchanged if the key is missing. Errors: as above.
[[nodiscard]] Result<std::string> unset_in_yaml(std::string_view text, std::string_view source,
                                                const std::vector<std::string>& segments);

/// Returns the text with the value under another name (and in another unit). Keeps a comment on its line. Errors: as above.
[[nodiscard]] Result<std::string> move_in_yaml(std::string_view text, std::string_view source,
                                               const std::vector<std::string>& from, const std::vector<std::string>& to,
                                               const json::value& value);

}  // namespace agentforge::kernel
