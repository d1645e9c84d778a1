// SPDX-License-Identifier: Apache-2.0
// JSON object fields for the kernel: <agentforge/json_fields.hpp>, and texts without a copy.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <agentforge/json_fields.hpp>

namespace agentforge::kernel {

[[nodiscard]] inline std::string_view view(const json::string& text) noexcept { return {text.data(), text.size()}; }
/// Returns the text, or null if it is empty.
[[nodiscard]] inline json::value text_or_null(const std::string& text) {
    return text.empty() ? json::value(nullptr) : json::value(text);
}
template <class T>
[[nodiscard]] json::value value_or_null(const std::optional<T>& value) {
    return value ? json::value(*value) : json::value(nullptr);
}
/// Appends a name to a JSON pointer, with `~` as `~0` and `/` as `~1` (RFC 6901).
inline void append_pointer_token(std::string& pointer, std::string_view name) {
    for (const char letter : name) {
        if (letter == '~') {
            pointer += "~0";
        } else if (letter == '/') {
            pointer += "~1";
        } else {
            pointer += letter;
        }
    }
}
/// Returns a name as one token of a JSON pointer.
[[nodiscard]] inline std::string pointer_token(std::string_view name) {
    std::string token;
    append_pointer_token(token, name);
    return token;
}

}  // namespace agentforge::kernel
