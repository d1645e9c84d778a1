// SPDX-License-Identifier: Apache-2.0
// Compression: making a value fit its share of the context (North Star 3.5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

/// At most `max_bytes` or a little more (the mark): the first lines and the last, and "… lines a–b left out …" between them.
/// Lines are numbered from `first_line`. A text of few huge lines loses the middle of those. Sets `cut` where it cut.
[[nodiscard]] std::string shorten_lines(std::string_view text, std::size_t max_bytes, std::uint64_t first_line, bool& cut);

/// `value` so that `{name: value}` written as YAML costs at most `max_tokens`: strings lose their middle, lists and maps
/// their ends with a count of what went, until it fits; at last a sentence that says how much was left out. Objects keep
/// their order. Sets `cut` where it cut.
[[nodiscard]] json::value shorten_to(std::string_view name, json::value value, std::size_t max_tokens, bool& cut);

/// What `{name: value}` costs as YAML.
[[nodiscard]] std::size_t tokens_of(std::string_view name, const json::value& value);

}  // namespace agentforge::kernel
