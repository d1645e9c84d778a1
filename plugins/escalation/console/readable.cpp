// SPDX-License-Identifier: Apache-2.0
#include "readable.hpp"

#include <algorithm>

namespace agentforge::escalation_console {
namespace {

bool fits_a_block(const std::string& text) {
    if (text.find('\n') == std::string::npos || text.front() == ' ' || text.front() == '\n' || text.front() == '\t' ||
        text.ends_with("\n\n")) {
        return false;
    }
    return std::none_of(text.begin(), text.end(), [](char letter) {
        const auto byte = static_cast<unsigned char>(letter);
        return (byte < 0x20 && letter != '\n' && letter != '\t') ||
               byte >= 0x7F;  // Some YAML readers treat non-ASCII characters as line ends.
    });
}

std::string plain_key(json::string_view key) {
    const bool plain = !key.empty() && std::all_of(key.begin(), key.end(),
                                                   [](char letter) { return (letter >= 'a' && letter <= 'z') || letter == '_'; });
    const bool a_value = key == "true" || key == "false" || key == "null" || key == "y" || key == "n" || key == "yes" ||
                         key == "no" || key == "on" || key == "off";
    return plain && !a_value ? std::string(key) : json::serialize(json::string(key));
}

void append(std::string& text, const json::value& value, std::size_t indent);

void append_object(std::string& text, const json::object& object, std::size_t indent, bool first_in_place) {
    for (const auto& [key, value] : object) {
        if (!first_in_place) { text.append(indent, ' '); }
        first_in_place = false;
        text += plain_key(key) + ":";
        append(text, value, indent + 2);
    }
}

/// Appends what follows `key:` or `-`, with the line end.
void append(std::string& text, const json::value& value, std::size_t indent) {
    if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
        text += "\n";
        append_object(text, *object, indent, false);
    } else if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
        text += "\n";
        for (const json::value& item : *array) {
            text.append(indent, ' ') += "-";
            if (const json::object* inner = item.if_object(); inner != nullptr && !inner->empty()) {
                text += " ";
                append_object(text, *inner, indent + 2, true);
            } else {
                append(text, item, indent + 2);
            }
        }
    } else if (const json::string* string = value.if_string(); string != nullptr && fits_a_block(std::string(*string))) {
        const std::string lines(*string);
        text += lines.ends_with('\n') ? " |\n" : " |-\n";
        for (std::size_t begin = 0; begin < lines.size();) {
            const std::size_t end = std::min(lines.find('\n', begin), lines.size());
            if (end > begin) { text.append(indent, ' ').append(lines, begin, end - begin); }
            text += "\n";
            begin = end + 1;
        }
    } else {
        text += " " + json::serialize(value) + "\n";
    }
}

}  // namespace

std::string readable(const json::object& value) {
    std::string text;
    append_object(text, value, 0, false);
    return text;
}

}  // namespace agentforge::escalation_console
