// SPDX-License-Identifier: Apache-2.0
#include "tools/arguments_check.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t max_defects = 10;
constexpr std::size_t max_depth = 50;

constexpr std::size_t max_comparisons = 20'000;

struct Check {
    const json::object* root = nullptr;
    std::vector<std::string> defects;
    std::string schema_defect;
    std::size_t* comparisons = nullptr;  ///< Shared with the checks inside combinations.

    void defect(std::string text) {
        if (defects.size() < max_defects) { defects.push_back(std::move(text)); }
    }
};

std::string shown(const json::value& value) { return ellipsis(sanitize_utf8(json::serialize(value)), 80); }

std::string place(std::string_view path) { return path.empty() ? std::string("the arguments") : "'" + std::string(path) + "'"; }

const char* type_name(const json::value& value) noexcept {
    switch (value.kind()) {
        case json::kind::null:
            return "null";
        case json::kind::bool_:
            return "boolean";
        case json::kind::int64:
        case json::kind::uint64:
            return "integer";
        case json::kind::double_:
            return "number";
        case json::kind::string:
            return "string";
        case json::kind::array:
            return "array";
        case json::kind::object:
            return "object";
    }
    return "value";
}

bool has_type(const json::value& value, std::string_view type) noexcept {
    const std::string_view actual = type_name(value);
    return actual == type || (type == "number" && actual == "integer");
}

double as_number(const json::value& value) noexcept {
    if (value.is_int64()) { return static_cast<double>(value.get_int64()); }
    if (value.is_uint64()) { return static_cast<double>(value.get_uint64()); }
    return value.get_double();
}

std::size_t characters(std::string_view text) noexcept {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::size_t size_of(const json::value& value) noexcept {
    return value.is_string() ? characters(value.get_string()) : value.get_array().size();
}

/// What happens to names missing in `properties` if the schema does not say.
enum class Unknown : unsigned char { refused = 1, taken };

void check_value(Check& check, const json::object& schema, json::value& value, const std::string& path, std::size_t depth,
                 Unknown unknown = Unknown::refused);

/// Keywords that are checked elsewhere, or that are only for the reader.
bool is_described_keyword(std::string_view name) noexcept {
    static constexpr std::array<std::string_view, 19> names{
        "type",       "title",     "description",          "default",         "examples",
        "properties", "required",  "additionalProperties", "$schema",         "$id",
        "$comment",   "$defs",     "definitions",          "format",          "deprecated",
        "readOnly",   "writeOnly", "contentEncoding",      "contentMediaType"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

void check_type(Check& check, const json::value& type, json::value& value, const std::string& path) {
    std::vector<std::string> types;
    if (type.is_string()) {
        types.emplace_back(type.get_string());
    } else if (type.is_array()) {
        for (const auto& one : type.get_array()) {
            if (one.is_string()) { types.emplace_back(one.get_string()); }
        }
    }
    if (types.empty()) {
        check.schema_defect = "`type` of " + place(path) + " is not a type";
        return;
    }
    std::string wanted;
    for (const auto& one : types) {
        if (one == "integer" && value.is_double() && std::trunc(value.get_double()) == value.get_double() &&
            std::abs(value.get_double()) < 9e15) {
            value = static_cast<std::int64_t>(value.get_double());
        }
        if (has_type(value, one)) { return; }
        wanted += (wanted.empty() ? "" : " or ") + one;
    }
    check.defect(place(path) + " must be of type " + wanted + "; it is " + type_name(value) + " " + shown(value));
}

void check_object(Check& check, const json::object& schema, json::object& object, const std::string& path, std::size_t depth,
                  Unknown unknown) {
    const auto inner = [&](std::string_view name) { return path.empty() ? std::string(name) : path + "." + std::string(name); };
    const auto* properties = schema.if_contains("properties");
    std::vector<std::string> names;
    if (properties != nullptr && properties->is_object()) {
        for (const auto& property : properties->get_object()) { names.emplace_back(property.key()); }
    }
    if (const auto* required = schema.if_contains("required"); required != nullptr && required->is_array()) {
        for (const auto& name : required->get_array()) {
            if (name.is_string() && !object.contains(name.get_string())) {
                check.defect(place(inner(name.get_string())) + " is missing");
            }
        }
    }
    const auto* additional = schema.if_contains("additionalProperties");
    const bool open = additional == nullptr ? unknown == Unknown::taken
                                            : (additional->is_bool() && additional->get_bool()) || additional->is_object();
    for (auto& member : object) {
        const std::string name(member.key());
        if (std::find(names.begin(), names.end(), name) != names.end()) {
            const auto& child = properties->get_object().at(name);
            if (child == false) { check.defect(place(inner(name)) + " may not be given"); }
            if (child.is_object()) { check_value(check, child.get_object(), member.value(), inner(name), depth + 1); }
            continue;
        }
        if (open) {
            if (additional != nullptr && additional->is_object()) {
                check_value(check, additional->get_object(), member.value(), inner(name), depth + 1);
            }
            continue;
        }
        const auto near = nearest(name, names);
        check.defect(place(ellipsis(sanitize_utf8(inner(name)), 100)) + " is not a parameter" +
                     (near.empty() ? std::string() : "; did you mean '" + near + "'?"));
    }
}

/// True if `value` satisfies one schema of a combination. Changes it (3.0 → 3) only then.
bool fits(Check& check, const json::value& schema, json::value& value, const std::string& path, std::size_t depth,
          std::vector<std::string>& defects) {
    if (schema.is_bool()) { return schema.get_bool(); }
    if (!schema.is_object()) { return true; }
    Check inner;
    inner.root = check.root;
    inner.comparisons = check.comparisons;
    json::value copy = value;
    check_value(inner, schema.get_object(), copy, path, depth + 1, Unknown::taken);
    if (!inner.schema_defect.empty()) { check.schema_defect = inner.schema_defect; }
    if (inner.defects.empty()) { value = std::move(copy); }
    defects = std::move(inner.defects);
    return defects.empty();
}

void check_combination(Check& check, std::string_view name, const json::array& schemas, json::value& value,
                       const std::string& path, std::size_t depth) {
    std::size_t fitting = 0;
    std::vector<std::string> nearest_defects;
    for (const json::value& schema : schemas) {
        std::vector<std::string> defects;
        if (fits(check, schema, value, path, depth, defects)) {
            ++fitting;
            if (name == "anyOf") { return; }
        } else if (name == "allOf") {
            for (std::string& defect : defects) { check.defect(std::move(defect)); }
        } else if (nearest_defects.empty() || defects.size() < nearest_defects.size()) {
            nearest_defects = std::move(defects);
        }
        if (!check.schema_defect.empty()) { return; }
    }
    if (name == "allOf" || (name == "oneOf" && fitting == 1)) { return; }
    if (fitting > 1) {
        check.defect(place(path) + " fits more than one of its " + std::to_string(schemas.size()) + " forms");
    } else {
        check.defect(place(path) + " fits none of its " + std::to_string(schemas.size()) +
                     " forms; the nearest: " + (nearest_defects.empty() ? std::string("none") : nearest_defects.front()));
    }
}

void check_value(Check& check, const json::object& schema, json::value& value, const std::string& path, std::size_t depth,
                 Unknown unknown) {
    if (++*check.comparisons > max_comparisons) {
        check.schema_defect = "it asks for too many comparisons";
        return;
    }
    if (depth > max_depth) {
        check.defect(place(path) + " is nested too deeply");
        return;
    }
    if (const auto* type = schema.if_contains("type")) {
        const auto before = check.defects.size();
        check_type(check, *type, value, path);
        if (check.defects.size() != before || !check.schema_defect.empty()) { return; }
    }
    for (const auto& keyword : schema) {
        const std::string_view name = keyword.key();
        const auto& rule = keyword.value();
        const bool number = value.is_number();
        const auto limit = [&] { return rule.is_number() ? as_number(rule) : 0.0; };
        if (is_described_keyword(name)) { continue; }
        if (name == "enum" && rule.is_array()) {
            const auto& choices = rule.get_array();
            if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
                check.defect(place(path) + " must be one of " + shown(rule) + "; it is " + shown(value));
            }
        } else if (name == "const") {
            if (rule != value) { check.defect(place(path) + " must be " + shown(rule)); }
        } else if (name == "minimum") {
            if (number && as_number(value) < limit()) {
                check.defect(place(path) + " must be at least " + shown(rule) + "; it is " + shown(value));
            }
        } else if (name == "maximum") {
            if (number && as_number(value) > limit()) {
                check.defect(place(path) + " must be at most " + shown(rule) + "; it is " + shown(value));
            }
        } else if (name == "minLength") {
            if (value.is_string() && static_cast<double>(size_of(value)) < limit()) {
                check.defect(place(path) + " must have at least " + shown(rule) + " characters");
            }
        } else if (name == "maxLength") {
            if (value.is_string() && static_cast<double>(size_of(value)) > limit()) {
                check.defect(place(path) + " must have at most " + shown(rule) + " characters");
            }
        } else if (name == "minItems") {
            if (value.is_array() && static_cast<double>(size_of(value)) < limit()) {
                check.defect(place(path) + " must have at least " + shown(rule) + " items");
            }
        } else if (name == "maxItems") {
            if (value.is_array() && static_cast<double>(size_of(value)) > limit()) {
                check.defect(place(path) + " must have at most " + shown(rule) + " items");
            }
        } else if (name == "pattern" && rule.is_string()) {
            const RE2 pattern(std::string_view(rule.get_string()), RE2::Quiet);
            if (!pattern.ok()) {
                check.schema_defect = "`pattern` of " + place(path) + " is not RE2: " + pattern.error();
            } else if (value.is_string() && !RE2::PartialMatch(std::string_view(value.get_string()), pattern)) {
                check.defect(place(path) + " must match " + shown(rule) + "; it is " + shown(value));
            }
        } else if (name == "items" && rule.is_object()) {
            if (!value.is_array()) { continue; }
            std::size_t index = 0;
            for (auto& item : value.get_array()) {
                check_value(check, rule.get_object(), item, path + "[" + std::to_string(index++) + "]", depth + 1);
            }
        } else if (name == "exclusiveMinimum" && rule.is_number()) {
            if (number && as_number(value) <= limit()) {
                check.defect(place(path) + " must be more than " + shown(rule) + "; it is " + shown(value));
            }
        } else if (name == "exclusiveMaximum" && rule.is_number()) {
            if (number && as_number(value) >= limit()) {
                check.defect(place(path) + " must be less than " + shown(rule) + "; it is " + shown(value));
            }
        } else if (name == "multipleOf" && rule.is_number() && limit() > 0) {
            const double times = number ? as_number(value) / limit() : 0.0;
            if (number && std::abs(times - std::round(times)) > 1e-9) {
                check.defect(place(path) + " must be a multiple of " + shown(rule) + "; it is " + shown(value));
            }
        } else if (name == "uniqueItems" && rule.is_bool()) {
            if (!value.is_array() || !rule.get_bool()) { continue; }
            const auto& items = value.get_array();
            for (std::size_t i = 0; i < items.size() && i < 1000; ++i) {
                if (std::find(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(i), items[i]) !=
                    items.begin() + static_cast<std::ptrdiff_t>(i)) {
                    check.defect(place(path) + " holds " + shown(items[i]) + " twice");
                    break;
                }
            }
        } else if (name == "minProperties" && rule.is_number()) {
            if (value.is_object() && static_cast<double>(value.get_object().size()) < limit()) {
                check.defect(place(path) + " must have at least " + shown(rule) + " fields");
            }
        } else if (name == "maxProperties" && rule.is_number()) {
            if (value.is_object() && static_cast<double>(value.get_object().size()) > limit()) {
                check.defect(place(path) + " must have at most " + shown(rule) + " fields");
            }
        } else if ((name == "anyOf" || name == "oneOf" || name == "allOf") && rule.is_array()) {
            check_combination(check, name, rule.get_array(), value, path, depth);
            if (!check.schema_defect.empty()) { return; }
        } else if (name == "not") {
            std::vector<std::string> defects;
            json::value copy = value;
            if (fits(check, rule, copy, path, depth, defects)) { check.defect(place(path) + " must not fit " + shown(rule)); }
        } else if (name == "$ref" && rule.is_string()) {
            const json::value* named = resolve_reference(*check.root, rule.get_string());
            if (named == nullptr) {
                check.schema_defect = "`$ref` of " + place(path) + " names nothing in the schema: " + shown(rule);
                return;
            }
            if (named->is_object()) { check_value(check, named->get_object(), value, path, depth + 1, unknown); }
            if (!check.schema_defect.empty()) { return; }
        } else {
            check.schema_defect = "`" + std::string(name) + "` of " + place(path) + " is not a keyword that is checked here";
            return;
        }
    }
    if (value.is_object() &&
        (schema.contains("properties") || schema.contains("required") || schema.contains("additionalProperties"))) {
        check_object(check, schema, value.get_object(), path, depth, unknown);
    }
}

std::string parameter_list(const json::object& schema) {
    std::string text;
    const auto* properties = schema.if_contains("properties");
    if (properties == nullptr || !properties->is_object()) { return "none"; }
    const auto* required = schema.if_contains("required");
    for (const auto& property : properties->get_object()) {
        text += (text.empty() ? "" : ", ") + std::string(property.key());
        if (required != nullptr && required->is_array()) {
            for (const auto& name : required->get_array()) {
                if (name.is_string() && name.get_string() == property.key()) { text += " (required)"; }
            }
        }
    }
    return text.empty() ? "none" : text;
}

}  // namespace

bool is_checked_keyword(std::string_view keyword) noexcept {
    static constexpr std::array<std::string_view, 21> names{"enum",
                                                            "const",
                                                            "minimum",
                                                            "maximum",
                                                            "exclusiveMinimum",
                                                            "exclusiveMaximum",
                                                            "multipleOf",
                                                            "minLength",
                                                            "maxLength",
                                                            "minItems",
                                                            "maxItems",
                                                            "uniqueItems",
                                                            "items",
                                                            "minProperties",
                                                            "maxProperties",
                                                            "pattern",
                                                            "anyOf",
                                                            "oneOf",
                                                            "allOf",
                                                            "not",
                                                            "$ref"};
    return is_described_keyword(keyword) || std::find(names.begin(), names.end(), keyword) != names.end();
}

const json::value* resolve_reference(const json::object& root, std::string_view reference) {
    if (reference == "#") { return nullptr; }  // The whole schema. The rules for arguments do not apply inside references.
    if (!reference.starts_with("#/")) { return nullptr; }
    const json::object* at = &root;
    const json::value* found = nullptr;
    for (std::string_view rest = reference.substr(2);;) {
        const std::size_t end = std::min(rest.find('/'), rest.size());
        if (at == nullptr) { return nullptr; }
        found = at->if_contains(rest.substr(0, end));
        if (found == nullptr) { return nullptr; }
        if (end == rest.size()) { return found; }
        at = found->if_object();
        rest = rest.substr(end + 1);
    }
}

Result<void> check_arguments(std::string_view tool, const json::object& schema, json::object& arguments) {
    Check check;
    std::size_t comparisons = 0;
    check.comparisons = &comparisons;
    json::object whole = schema;
    check.root = &whole;
    if (!whole.contains("properties")) { whole["properties"] = json::object(); }
    json::value value(std::move(arguments));
    check_value(check, whole, value, "", 0);
    if (value.is_object()) { arguments = std::move(value.get_object()); }
    if (!check.schema_defect.empty()) {
        return Error{"AF-TOOL-008", "The schema of '" + std::string(tool) + "' cannot be applied: " + check.schema_defect + ".",
                     std::string(tool), "This is a defect of the plugin: report it to its author; use another tool meanwhile.",
                     ErrorKind::internal};
    }
    if (check.defects.empty()) { return {}; }
    std::string message = "The arguments of '" + std::string(tool) + "' do not fit: ";
    for (std::size_t i = 0; i < check.defects.size(); ++i) { message += (i == 0 ? "" : "; ") + check.defects[i]; }
    return Error{"AF-TOOL-004", message + ".", std::string(tool),
                 "Parameters of " + std::string(tool) + ": " + parameter_list(schema) + ".", ErrorKind::invalid};
}

}  // namespace agentforge::kernel
