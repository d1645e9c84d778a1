// SPDX-License-Identifier: Apache-2.0
#include "secrets/forms.hpp"

#include <algorithm>
#include <cstdint>

namespace agentforge::kernel {
namespace {

constexpr std::size_t shortest_form = 8;

std::string hexadecimal(std::string_view value) {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

std::string base64(std::string_view bytes, bool url) {
    static constexpr std::string_view standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static constexpr std::string_view safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const std::string_view alphabet = url ? safe : standard;
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            group = (group << 8U) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        }
        for (unsigned shift = 24; shift > 0; shift -= 6) { text += alphabet[(group >> (shift - 6)) & 63U]; }
    }
    return text;
}

/// Returns the part of base64 text that depends on the value alone, if the value is `offset` bytes after a multiple of three.
std::string base64_inside(std::string_view value, std::size_t offset, bool url) {
    const std::string text = base64(std::string(offset, '\0') + std::string(value), url);
    const std::size_t first = (offset * 8 + 5) / 6;
    const std::size_t end = (offset + value.size()) * 8 / 6;
    return text.substr(first, end - first);
}

/// The same for base32, `offset` bytes after a multiple of five.
std::string base32_inside(std::string_view value, std::size_t offset) {
    static constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz234567";
    const std::string bytes = std::string(offset, '\0') + std::string(value);
    std::string text;
    std::uint32_t held = 0;
    unsigned bits = 0;
    for (const char c : bytes) {
        held = (held << 8U) | static_cast<unsigned char>(c);
        for (bits += 8; bits >= 5; bits -= 5) { text += alphabet[(held >> (bits - 5)) & 31U]; }
    }
    return text.substr((offset * 8 + 4) / 5);
}

std::string with_plus(std::string_view value) {
    std::string text(value);
    std::replace(text.begin(), text.end(), ' ', '+');
    return text;
}

}  // namespace

std::vector<SecretForm> forms_of(std::string_view value) {
    std::vector<SecretForm> forms;
    const auto add = [&forms](std::string name, std::string text) {
        const auto same = [&text](const SecretForm& form) { return form.text == text; };
        if (text.size() >= shortest_form && std::none_of(forms.begin(), forms.end(), same)) {
            forms.push_back({std::move(name), std::move(text)});
        }
    };
    add("", std::string(value));
    add("plus", with_plus(value));
    add("hex", hexadecimal(value));
    for (std::size_t offset = 0; offset < 3; ++offset) {
        const std::string place = offset == 0 ? "" : "+" + std::to_string(offset);
        add("base64" + place, base64_inside(value, offset, false));
        add("base64url" + place, base64_inside(value, offset, true));
    }
    for (std::size_t offset = 0; offset < 5; ++offset) {
        add("base32" + (offset == 0 ? std::string() : "+" + std::to_string(offset)), base32_inside(value, offset));
    }
    return forms;
}

}  // namespace agentforge::kernel
