// SPDX-License-Identifier: Apache-2.0
#include "contracts/form.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

const json::object* form_part(const json::object& schema, std::string_view key) {
    const json::value* value = schema.if_contains(key);
    return value == nullptr ? nullptr : value->if_object();
}

std::string form_type(const json::object& schema) {
    const json::value* type = schema.if_contains("type");
    if (type != nullptr && type->is_string()) { return std::string(type->get_string()); }
    if (type != nullptr && type->is_array() && !type->get_array().empty() && type->get_array().front().is_string()) {
        return std::string(type->get_array().front().get_string());
    }
    return schema.contains("properties") ? "object" : "string";
}

/// Returns a text that matches a simple pattern (literals, classes, counts). Empty for any other pattern.
std::string text_matching(std::string_view pattern) {
    std::string text;
    if (pattern.starts_with('^')) { pattern.remove_prefix(1); }
    while (!pattern.empty() && pattern != "$") {
        std::string one;
        if (pattern.front() == '[') {
            const auto end = pattern.find(']');
            if (end == std::string_view::npos || end < 2 || pattern[1] == '^') { return {}; }
            one = pattern[1];
            pattern.remove_prefix(end + 1);
        } else if (std::string_view("(|.*+?\\{$").find(pattern.front()) != std::string_view::npos) {
            return {};
        } else {
            one = pattern.front();
            pattern.remove_prefix(1);
        }
        std::size_t count = 1;
        if (pattern.starts_with('{')) {
            count = 0;
            std::size_t at = 1;
            while (at < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9' && count < 100) {
                count = count * 10 + static_cast<std::size_t>(pattern[at++] - '0');
            }
            const auto end = pattern.find('}');
            if (end == std::string_view::npos) { return {}; }
            pattern.remove_prefix(end + 1);
        } else if (pattern.starts_with('*') || pattern.starts_with('?')) {
            count = 0;
            pattern.remove_prefix(1);
        } else if (pattern.starts_with('+')) {
            pattern.remove_prefix(1);
        }
        for (std::size_t i = 0; i < count; ++i) { text += one; }
    }
    if (text.size() >= 3 && text.ends_with("000")) { text.back() = '1'; }  // The first of numbered ids.
    return text;
}

std::string first_value(const json::object& schema) {
    for (const std::string_view key : {"const", "default"}) {
        if (const json::value* value = schema.if_contains(key)) { return json::serialize(*value); }
    }
    if (const json::value* words = schema.if_contains("enum");
        words != nullptr && words->is_array() && !words->get_array().empty()) {
        return json::serialize(words->get_array().front());
    }
    const std::string type = form_type(schema);
    if (type == "integer" || type == "number") {
        const json::value* least = schema.if_contains("minimum");
        return least == nullptr ? "0" : json::serialize(*least);
    }
    if (type == "boolean") { return "false"; }
    if (type == "array") { return "[]"; }
    if (type == "object") { return "{}"; }
    if (type == "null") { return "null"; }
    const json::value* pattern = schema.if_contains("pattern");
    return json::serialize(json::value(
        pattern != nullptr && pattern->is_string() ? text_matching(std::string_view(pattern->get_string())) : std::string()));
}

/// Describes what the value must be.
std::string form_note(const json::object& schema, bool required) {
    std::string note = required ? "required" : "optional";
    const auto number = [&](std::string_view key, std::string_view before, std::string_view after) {
        if (const json::value* value = schema.if_contains(key); value != nullptr && value->is_number()) {
            note += ", " + std::string(before) + json::serialize(*value) + std::string(after);
        }
    };
    if (const json::value* words = schema.if_contains("enum"); words != nullptr && words->is_array()) {
        std::string list;
        for (const json::value& word : words->get_array()) {
            list += (list.empty() ? "" : ", ") + (word.is_string() ? std::string(word.get_string()) : json::serialize(word));
        }
        note += ", one of: " + list;
    }
    if (const json::value* pattern = schema.if_contains("pattern"); pattern != nullptr && pattern->is_string()) {
        note += ", matches " + std::string(pattern->get_string());
    }
    number("minimum", "at least ", "");
    number("maximum", "at most ", "");
    number("maxLength", "at most ", " characters");
    number("minItems", "at least ", " of them");
    const json::value* about = schema.if_contains("description");
    if (about != nullptr && about->is_string()) { note += ". " + first_line(std::string_view(about->get_string())); }
    return note;
}

class FormWriter {
public:
    void fields(const json::object& schema, const std::string& indent, bool commented) {
        const json::object* properties = form_part(schema, "properties");
        if (properties == nullptr) { return; }
        const json::value* list = schema.if_contains("required");
        // Required fields come first.
        for (const bool wanted : {true, false}) {
            for (const auto& [key, value] : *properties) {
                const std::string name(key);
                const bool required = list != nullptr && list->is_array() &&
                                      std::ranges::find(list->get_array(), json::value(name)) != list->get_array().end();
                if (required != wanted || !value.is_object() || name.starts_with('_')) { continue; }
                field(name, value.get_object(), indent, required, commented || !required);
            }
        }
    }

    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    void field(const std::string& name, const json::object& schema, const std::string& indent, bool required, bool commented) {
        const std::string note = form_note(schema, required);
        const json::object* items = form_part(schema, "items");
        if (form_type(schema) == "array" && items != nullptr) {
            line(indent + name + ":", note, commented);
            if (form_part(*items, "properties") != nullptr) {
                const std::size_t before = text_.size();
                fields(*items, indent + "    ", commented);
                begin_item(before, indent + "  - ");
            } else {
                line(indent + "  - " + first_value(*items), form_note(*items, true), commented);
            }
            return;
        }
        if (form_part(schema, "properties") != nullptr) {
            line(indent + name + ":", note, commented);
            fields(schema, indent + "  ", commented);
            return;
        }
        line(indent + name + ": " + first_value(schema), note, commented);
    }

    /// Turns the first field written since `from` into the first of an item.
    void begin_item(std::size_t from, const std::string& mark) {
        std::size_t at = from;
        if (at < text_.size() && text_[at] == '#') { ++at; }
        if (at + mark.size() <= text_.size()) { text_.replace(at, mark.size(), mark); }
    }

    void line(const std::string& text, const std::string& note, bool commented) {
        std::string whole = (commented ? "#" : "") + text;
        if (whole.size() < 34) { whole.resize(34, ' '); }
        text_ += whole + "  # " + note + "\n";
    }

    std::string text_;
};

void put_defaults(const json::object& schema, json::value& value) {
    if (json::array* array = value.if_array()) {
        const json::object* items = form_part(schema, "items");
        if (items != nullptr) {
            for (json::value& item : *array) { put_defaults(*items, item); }
        }
        return;
    }
    json::object* object = value.if_object();
    const json::object* properties = form_part(schema, "properties");
    if (object == nullptr || properties == nullptr) { return; }
    for (const auto& [key, property] : *properties) {
        const json::object* inner = property.if_object();
        if (inner == nullptr) { continue; }
        if (json::value* there = object->if_contains(key)) {
            put_defaults(*inner, *there);
        } else if (const json::value* otherwise = inner->if_contains("default")) {
            (*object)[key] = *otherwise;
        }
    }
}

}  // namespace

std::string contract_form(const Contract& contract) {
    FormWriter form;
    form.fields(contract.model_schema(), "", false);
    std::string text =
        "## " + contract.name() + " " + contract.version() + ": " + first_line(contract.description()) +
        "\n## Fill in the required fields. A line that begins with # is optional: to use it, remove the # from it and from the lines that belong to it.\n";
    for (const std::string& rule : contract.rules()) { text += "## Rule: " + rule + "\n"; }
    return text + "\n" + form.take();
}

json::object with_defaults(const Contract& contract, json::object artifact) {
    json::value whole = std::move(artifact);
    put_defaults(contract.model_schema(), whole);
    return std::move(whole.get_object());
}

}  // namespace agentforge::kernel
