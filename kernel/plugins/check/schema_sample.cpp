// SPDX-License-Identifier: Apache-2.0
#include "plugins/check/schema_sample.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agentforge::kernel {

namespace {

/// Returns a value that the schema itself gives.
std::optional<json::value> given_sample(const json::object& schema) {
    for (const char* key : {"const", "default"}) {
        if (const auto* value = schema.if_contains(key)) { return *value; }
    }
    for (const char* key : {"examples", "enum"}) {
        if (const auto* value = schema.if_contains(key); value != nullptr && value->is_array() && !value->get_array().empty()) {
            return value->get_array().front();
        }
    }
    return std::nullopt;
}

/// Returns the type of a schema, or the first of its types. Empty if it names none.
std::string type_in(const json::object& schema) {
    const auto* value = schema.if_contains("type");
    if (value != nullptr && value->is_array() && !value->get_array().empty()) { value = &value->get_array().front(); }
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

double number_in(const json::object& schema, const char* key, double fallback) {
    const auto* value = schema.if_contains(key);
    return value != nullptr && value->is_number() ? value->to_number<double>() : fallback;
}

/// `name`: of the property, "" for the outermost value.
json::value sample(const json::object& schema, std::string_view name, SampleOf properties, unsigned depth);

json::value nested_sample(const json::value& schema, std::string_view name, SampleOf properties, unsigned depth) {
    if (!schema.is_object() || depth > 20) { return "text"; }
    return sample(schema.get_object(), name, properties, depth);
}

json::array sample_array(const json::object& schema, std::string_view name, SampleOf properties, unsigned depth) {
    json::array array;
    const auto* items = schema.if_contains("items");
    const double least = properties == SampleOf::required_properties ? 0.0 : 1.0;
    const auto count = std::clamp(number_in(schema, "minItems", 1), least, 100.0);
    while (static_cast<double>(array.size()) < count) {
        array.push_back(items == nullptr ? json::value("text") : nested_sample(*items, name, properties, depth + 1));
    }
    return array;
}

json::object sample_object(const json::object& schema, SampleOf properties, unsigned depth) {
    json::object object;
    const auto* required = schema.if_contains("required");
    const auto* known = schema.if_contains("properties");
    if (known == nullptr || !known->is_object()) { return object; }
    for (const auto& [key, property] : known->get_object()) {
        const bool needed = required != nullptr && required->is_array() &&
                            std::ranges::find(required->get_array(), json::value(key)) != required->get_array().end();
        if (needed || properties == SampleOf::all_properties) {
            object[key] = nested_sample(property, key, properties, depth + 1);
        }
    }
    return object;
}

std::string sample_text(const json::object& schema, std::string_view name) {
    std::string text = name == "path" ? "src/app.py" : "text";
    const double least = number_in(schema, "minLength", 0);
    if (least > static_cast<double>(text.size()) && least < 100'000) { text.resize(static_cast<std::size_t>(least), 'x'); }
    return text;
}

json::value sample(const json::object& schema, std::string_view name, SampleOf properties, unsigned depth) {
    if (auto given = given_sample(schema)) { return *std::move(given); }
    const std::string type = type_in(schema);
    if (type == "integer") { return static_cast<std::int64_t>(number_in(schema, "minimum", 1)); }
    if (type == "number") { return number_in(schema, "minimum", 1); }
    if (type == "boolean") { return true; }
    if (type == "null") { return nullptr; }
    if (type == "array") { return sample_array(schema, name, properties, depth); }
    if (type == "object" || schema.contains("properties")) { return sample_object(schema, properties, depth); }
    return json::value(sample_text(schema, name));
}

}  // namespace

json::value schema_sample(const json::object& schema, SampleOf properties) { return sample(schema, "", properties, 0); }

}  // namespace agentforge::kernel
