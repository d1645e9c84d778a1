// SPDX-License-Identifier: Apache-2.0
#include "journal/blob_lines.hpp"

#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

std::string to_hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

std::string from_hex(std::string_view text) {
    const auto digit = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10) & 15U; };
    std::string bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
        bytes += static_cast<char>(digit(text[at]) << 4U | digit(text[at + 1]));
    }
    return bytes;
}

}  // namespace

void append_blob_line(std::string& text, std::string_view hash, std::string_view bytes) {
    const bool plain = is_valid_utf8(bytes);
    text += blob_line_start;
    text += hash;
    text += "\", \"bytes\": " + std::to_string(bytes.size()) + (plain ? ", \"text\": " : ", \"hex\": ");
    append_json_line(text, json::value(plain ? std::string(bytes) : to_hex(bytes)));
    text += "}\n";
}

std::optional<std::string> bytes_of_blob_line(std::string_view line) {
    if (!line.starts_with("- ")) { return std::nullopt; }
    const auto parsed = parse_json(line.substr(2), "blobs.yaml");
    if (!parsed.ok() || !parsed->is_object()) { return std::nullopt; }
    const json::object& object = parsed->get_object();
    if (const auto* text = object.if_contains("text"); text != nullptr && text->is_string()) {
        return std::string(text->get_string());
    }
    if (const auto* hex = object.if_contains("hex"); hex != nullptr && hex->is_string()) { return from_hex(hex->get_string()); }
    return std::nullopt;
}

}  // namespace agentforge::kernel
