// SPDX-License-Identifier: Apache-2.0
#include "plugins/check/check_inputs.hpp"

#include <utility>

namespace agentforge::kernel {

namespace {

constexpr std::size_t huge_text_bytes = 1UL << 20U;
constexpr unsigned deepest = 20;

const std::string& bad_utf8() {
    static const std::string text = "\xff\xfe\xc3(\xed\xa0\x80 text \xf4\x90\x80\x80";
    return text;
}

json::value of_another_type(const json::value& value) {
    if (value.is_string()) { return json::array{1, json::object{{"a", nullptr}}}; }
    if (value.is_number()) { return "text"; }
    return -1.5;
}

/// Spoils a value as a whole.
void spoil_whole(json::value& value, CheckInput input) {
    switch (input) {
        case CheckInput::huge:
            if (value.is_string()) { value = json::string(huge_text_bytes, 'x'); }
            break;
        case CheckInput::nulls:
            value = nullptr;
            break;
        case CheckInput::invalid_utf8:
            if (value.is_string()) { value = json::string_view(bad_utf8()); }
            break;
        case CheckInput::wrong_types:
            value = of_another_type(value);
            break;
        default:
            break;
    }
}

void spoil_at(json::value& value, CheckInput input, unsigned depth) {
    // These two replace each member of the outermost object, whatever it contains.
    const bool replaces = input == CheckInput::nulls || input == CheckInput::wrong_types;
    if (value.is_object() && depth < deepest && (depth == 0 || !replaces)) {
        for (auto& member : value.get_object()) { spoil_at(member.value(), input, depth + 1); }
        if (input == CheckInput::entries && depth == 0) {
            for (std::size_t index = 0; index < huge_entries; ++index) {
                value.get_object()["entry_" + std::to_string(index)] = "text";
            }
        }
        return;
    }
    if (value.is_array() && depth < deepest && !replaces) {
        if (input == CheckInput::huge && !value.get_array().empty()) {
            const json::value first = value.get_array().front();
            value.get_array().resize(huge_entries, first);
            return;
        }
        for (auto& item : value.get_array()) { spoil_at(item, input, depth + 1); }
        return;
    }
    spoil_whole(value, input);
}

}  // namespace

void spoil(json::value& value, CheckInput input) { spoil_at(value, input, 0); }

json::object spoiled(json::object object, CheckInput input) {
    json::value value(std::move(object));
    spoil(value, input);
    return std::move(value.get_object());
}

std::string text_for(CheckInput input, std::string_view plain) {
    switch (input) {
        case CheckInput::empty:
            return {};
        case CheckInput::huge:
            return std::string(huge_text_bytes, 'x');
        case CheckInput::invalid_utf8:
            return bad_utf8();
        default:
            return std::string(plain);
    }
}

}  // namespace agentforge::kernel
