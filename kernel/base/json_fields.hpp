// SPDX-License-Identifier: Apache-2.0
// JSON object fields for the kernel: <agentforge/json_fields.hpp>, and texts without a copy.
#pragma once

#include <string>
#include <string_view>

#include <agentforge/json_fields.hpp>

namespace agentforge::kernel {

[[nodiscard]] inline std::string_view view(const json::string& text) noexcept { return {text.data(), text.size()}; }
/// Returns the text, or null if it is empty.
[[nodiscard]] inline json::value text_or_null(const std::string& text) {
    return text.empty() ? json::value(nullptr) : json::value(text);
}

}  // namespace agentforge::kernel
