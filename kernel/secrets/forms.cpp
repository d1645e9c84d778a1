// SPDX-License-Identifier: Apache-2.0
#include "secrets/forms.hpp"

#include <algorithm>
#include <array>

#include <agentforge/json.hpp>

namespace agentforge::kernel {
namespace {

constexpr std::size_t shortest_form = 8;
constexpr std::string_view lower_digits = "0123456789abcdef";
constexpr std::string_view upper_digits = "0123456789ABCDEF";

std::string hexadecimal(std::string_view value, std::string_view digits) {
    std::string text;
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

std::string percent(std::string_view value, std::string_view kept, std::string_view digits, bool plus) {
    std::string text;
    for (const char c : value) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kept.find(c) != std::string_view::npos;
        if (plain) {
            text += c;
        } else if (plus && c == ' ') {
            text += '+';
        } else {
            text += '%' + hexadecimal(std::string_view(&c, 1), digits);
        }
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
        for (std::size_t k = 0; k < 3; ++k) { group = (group << 8U) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U); }
        for (unsigned shift = 24; shift > 0; shift -= 6) { text += alphabet[(group >> (shift - 6)) & 63U]; }
    }
    return text;
}

/// What the value alone decides of the base64 of a text in which it stands `offset` bytes after a multiple of three.
std::string base64_inside(std::string_view value, std::size_t offset, bool url) {
    const std::string text = base64(std::string(offset, '\0') + std::string(value), url);
    const std::size_t first = (offset * 8 + 5) / 6;
    const std::size_t end = (offset + value.size()) * 8 / 6;
    return text.substr(first, end - first);
}

std::string json_inside(std::string_view value) {
    const std::string text = json::serialize(json::string(value));
    return text.substr(1, text.size() - 2);
}

std::string with_slashes(const std::string& text) {
    std::string escaped;
    for (const char c : text) { escaped += c == '/' ? "\\/" : std::string(1, c); }
    return escaped;
}

/// As Python's json.dumps writes what is not ASCII. The value is UTF-8; where it is not, the form is as good as another.
std::string with_code_points(const std::string& text) {
    std::string escaped;
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        const std::size_t length = lead < 0x80U ? 1 : lead < 0xE0U ? 2 : lead < 0xF0U ? 3 : 4;
        if (length == 1 || i + length > text.size()) {
            escaped += text[i++];
            continue;
        }
        std::uint32_t point = lead & (0xFFU >> (length + 1));
        for (std::size_t k = 1; k < length; ++k) { point = (point << 6U) | (static_cast<unsigned char>(text[i + k]) & 0x3FU); }
        const auto unit = [&escaped](std::uint32_t code) {
            escaped += "\\u";
            for (unsigned shift = 16; shift > 0; shift -= 4) { escaped += lower_digits[(code >> (shift - 4)) & 15U]; }
        };
        if (point > 0xFFFFU) {
            unit(0xD800U + ((point - 0x10000U) >> 10U));
            unit(0xDC00U + ((point - 0x10000U) & 0x3FFU));
        } else {
            unit(point);
        }
        i += length;
    }
    return escaped;
}

std::string html(std::string_view value) {
    std::string text;
    for (const char c : value) {
        switch (c) {
            case '&': text += "&amp;"; break;
            case '<': text += "&lt;"; break;
            case '>': text += "&gt;"; break;
            case '"': text += "&quot;"; break;
            default: text += c;
        }
    }
    return text;
}

}  // namespace

std::vector<SecretForm> forms_of(std::string_view value) {
    std::vector<SecretForm> forms;
    const auto add = [&forms](std::string name, std::string text) {
        const auto same = [&text](const SecretForm& form) { return form.text == text; };
        if (text.size() >= shortest_form && std::none_of(forms.begin(), forms.end(), same)) { forms.push_back({std::move(name), std::move(text)}); }
    };
    add("", std::string(value));
    const std::string escaped = json_inside(value);
    add("json", escaped);
    add("json-slash", with_slashes(escaped));
    add("json-ascii", with_code_points(escaped));
    add("json-twice", json_inside(escaped));
    add("html", html(value));
    for (const auto& [digits, suffix] : {std::pair{upper_digits, ""}, std::pair{lower_digits, "-lower"}}) {
        add(std::string("url") + suffix, percent(value, "-._~", digits, false));
        add(std::string("url-form") + suffix, percent(value, "-._*", digits, true));
        add(std::string("url-loose") + suffix, percent(value, "-._~!*'();:@&=+$,/?#[]", digits, false));
    }
    add("hex", hexadecimal(value, lower_digits));
    add("hex-upper", hexadecimal(value, upper_digits));
    for (std::size_t offset = 0; offset < 3; ++offset) {
        const std::string place = offset == 0 ? "" : "+" + std::to_string(offset);
        add("base64" + place, base64_inside(value, offset, false));
        add("base64url" + place, base64_inside(value, offset, true));
    }
    return forms;
}

}  // namespace agentforge::kernel
