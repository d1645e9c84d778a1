// SPDX-License-Identifier: Apache-2.0
#include "tools/arguments_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json_keywords.hpp"
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

std::size_t size_of(const json::value& value) noexcept {
    if (value.is_string()) { return count_characters(value.get_string()); }
    return value.is_object() ? value.get_object().size() : value.get_array().size();
}

/// Handles names missing in `properties` if the schema does not say how.
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

/// A keyword that limits how much a string, array or object holds.
struct SizeKeyword {
    std::string_view name;
    json::kind kind;
    bool at_least;
    const char* unit;
};
constexpr std::array<SizeKeyword, 6> size_keywords{{{"minLength", json::kind::string, true, " characters"},
                                                    {"maxLength", json::kind::string, false, " characters"},
                                                    {"minItems", json::kind::array, true, " items"},
                                                    {"maxItems", json::kind::array, false, " items"},
                                                    {"minProperties", json::kind::object, true, " fields"},
                                                    {"maxProperties", json::kind::object, false, " fields"}}};

/// Checks one value against the keywords of its schema.
class KeywordCheck {
public:
    KeywordCheck(Check& check, json::value& value, const std::string& path, std::size_t depth, Unknown unknown)
        : check_(check), value_(value), path_(path), depth_(depth), unknown_(unknown) {}

    /// Returns false if nothing else in this value needs a check.
    bool check(std::string_view name, const json::value& rule) {
        if (is_described_keyword(name) || check_choice(name, rule) || check_number(name, rule) || check_size(name, rule) ||
            check_pattern(name, rule) || check_items(name, rule) || check_unique_items(name, rule) || check_not(name, rule)) {
            return true;
        }
        if ((name == "anyOf" || name == "oneOf" || name == "allOf") && rule.is_array()) {
            check_combination(check_, name, rule.get_array(), value_, path_, depth_);
        } else if (name == "$ref" && rule.is_string()) {
            check_reference(rule);
        } else {
            check_.schema_defect = "`" + std::string(name) + "` of " + place(path_) + " is not a keyword that is checked here";
        }
        return check_.schema_defect.empty();
    }

private:
    // Each returns whether it knows the keyword.

    bool check_choice(std::string_view name, const json::value& rule) {
        if (name == "const") {
            if (rule != value_) { check_.defect(place(path_) + " must be " + shown(rule)); }
            return true;
        }
        if (name != "enum" || !rule.is_array()) { return false; }
        const auto& choices = rule.get_array();
        if (std::find(choices.begin(), choices.end(), value_) == choices.end()) {
            check_.defect(place(path_) + " must be one of " + shown(rule) + "; it is " + shown(value_));
        }
        return true;
    }

    bool check_number(std::string_view name, const json::value& rule) {
        const double limit = rule.is_number() ? as_number(rule) : 0.0;
        const double number = value_.is_number() ? as_number(value_) : 0.0;
        const auto refuse_if = [&](bool broken, const char* wanted) {
            if (value_.is_number() && broken) {
                check_.defect(place(path_) + " must be " + wanted + shown(rule) + "; it is " + shown(value_));
            }
            return true;
        };
        if (name == "minimum") { return refuse_if(number < limit, "at least "); }
        if (name == "maximum") { return refuse_if(number > limit, "at most "); }
        if (!rule.is_number()) { return false; }
        if (name == "exclusiveMinimum") { return refuse_if(number <= limit, "more than "); }
        if (name == "exclusiveMaximum") { return refuse_if(number >= limit, "less than "); }
        if (name != "multipleOf" || limit <= 0) { return false; }
        const double times = number / limit;
        return refuse_if(std::abs(times - std::round(times)) > 1e-9, "a multiple of ");
    }

    bool check_size(std::string_view name, const json::value& rule) {
        const auto* keyword =
            std::find_if(size_keywords.begin(), size_keywords.end(), [&](const SizeKeyword& each) { return each.name == name; });
        if (keyword == size_keywords.end()) { return false; }
        if (keyword->kind == json::kind::object && !rule.is_number()) { return false; }
        if (value_.kind() != keyword->kind) { return true; }
        const double limit = rule.is_number() ? as_number(rule) : 0.0;
        const auto size = static_cast<double>(size_of(value_));
        if (keyword->at_least ? size < limit : size > limit) {
            check_.defect(place(path_) + " must have " + (keyword->at_least ? "at least " : "at most ") + shown(rule) +
                          keyword->unit);
        }
        return true;
    }

    bool check_pattern(std::string_view name, const json::value& rule) {
        if (name != "pattern" || !rule.is_string()) { return false; }
        const TextPattern pattern(rule.get_string());
        if (const auto problem = pattern.problem(); !problem.empty()) {
            check_.schema_defect = "`pattern` of " + place(path_) + " is not RE2: " + problem;
        } else if (value_.is_string() && !pattern.is_in(value_.get_string())) {
            check_.defect(place(path_) + " must match " + shown(rule) + "; it is " + shown(value_));
        }
        return true;
    }

    bool check_items(std::string_view name, const json::value& rule) {
        if (name != "items" || !rule.is_object()) { return false; }
        if (!value_.is_array()) { return true; }
        std::size_t index = 0;
        for (auto& item : value_.get_array()) {
            check_value(check_, rule.get_object(), item, path_ + "[" + std::to_string(index++) + "]", depth_ + 1);
        }
        return true;
    }

    bool check_unique_items(std::string_view name, const json::value& rule) {
        if (name != "uniqueItems" || !rule.is_bool()) { return false; }
        if (!value_.is_array() || !rule.get_bool()) { return true; }
        const auto& items = value_.get_array();
        if (const auto repeated = repeated_items(items); !repeated.empty()) {
            check_.defect(place(path_) + " holds " + shown(items[repeated.front()]) + " twice");
        }
        return true;
    }

    bool check_not(std::string_view name, const json::value& rule) {
        if (name != "not") { return false; }
        std::vector<std::string> defects;
        json::value copy = value_;
        if (fits(check_, rule, copy, path_, depth_, defects)) { check_.defect(place(path_) + " must not fit " + shown(rule)); }
        return true;
    }

    void check_reference(const json::value& rule) {
        const json::value* named = resolve_reference(*check_.root, rule.get_string());
        if (named == nullptr) {
            check_.schema_defect = "`$ref` of " + place(path_) + " names nothing in the schema: " + shown(rule);
        } else if (named->is_object()) {
            check_value(check_, named->get_object(), value_, path_, depth_ + 1, unknown_);
        }
    }

    Check& check_;
    json::value& value_;
    const std::string& path_;
    const std::size_t depth_;
    const Unknown unknown_;
};

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
    KeywordCheck keywords(check, value, path, depth, unknown);
    for (const auto& keyword : schema) {
        if (!keywords.check(keyword.key(), keyword.value())) { return; }
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
