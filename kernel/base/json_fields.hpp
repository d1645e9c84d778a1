// SPDX-License-Identifier: Apache-2.0
// JSON object fields for the kernel: <agentforge/json_fields.hpp>, and texts without a copy.
#pragma once

#include <string_view>

#include <agentforge/json_fields.hpp>

namespace agentforge::kernel {

[[nodiscard]] inline std::string_view view(const json::string& text) noexcept { return {text.data(), text.size()}; }

}  // namespace agentforge::kernel
