// SPDX-License-Identifier: Apache-2.0
#include "backends/tokens.hpp"

#include <agentforge/llm_backend.hpp>

namespace agentforge::kernel {

namespace {
constexpr std::size_t units_of_a_token = 14;
constexpr std::size_t word_units = 4;
constexpr std::size_t other_units = 7;
constexpr std::size_t indent_units = 2;
constexpr std::size_t tool_frame_tokens = 12;
}  // namespace

std::size_t estimate_tokens(std::string_view text) noexcept {
    std::size_t units = 0;
    std::size_t spaces = 0;
    for (const char character : text) {
        const auto byte = static_cast<unsigned char>(character);
        if (byte == ' ') {
            units += ++spaces > 4 ? indent_units : word_units;
            continue;
        }
        spaces = 0;
        const bool word = (byte >= '0' && byte <= '9') || ((byte | 0x20U) >= 'a' && (byte | 0x20U) <= 'z' && byte < 0x80U) ||
                          byte == '\n' || byte == '\t';
        units += word ? word_units : other_units;
    }
    return (units + units_of_a_token - 1) / units_of_a_token;
}

std::size_t estimate_tokens(const ToolDescription& tool) {
    return estimate_tokens(tool.name) + estimate_tokens(tool.description) + estimate_tokens(json::serialize(tool.parameters)) +
           tool_frame_tokens;
}

}  // namespace agentforge::kernel
