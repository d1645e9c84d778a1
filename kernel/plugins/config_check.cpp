// SPDX-License-Identifier: Apache-2.0
#include "plugins/config_check.hpp"

#include <algorithm>
#include <array>

#include "base/json_keywords.hpp"
#include "base/text.hpp"
#include "contracts/schema_check.hpp"

namespace agentforge::kernel {

namespace {

constexpr int deepest = 30;

/// True if a schema in `value`, which is that of any keyword, has a reference. valijson would follow one to itself for ever.
bool has_reference(const json::value& value, int depth) {
    constexpr std::array<std::string_view, 4> plain = {"enum", "const", "default", "examples"};
    constexpr std::array<std::string_view, 5> named = {"properties", "patternProperties", "definitions", "$defs", "dependencies"};
    if (depth == deepest) { return true; }
    const auto inside = [&](const json::value& each) { return has_reference(each, depth + 1); };
    if (const auto* list = value.if_array()) { return std::ranges::any_of(*list, inside); }
    const auto* object = value.if_object();
    if (object == nullptr) { return false; }
    return std::ranges::any_of(*object, [&](const auto& entry) {
        const std::string_view key = entry.key();
        if (key == "$ref") { return true; }
        if (std::ranges::find(plain, key) != plain.end()) { return false; }
        const auto* fields = std::ranges::find(named, key) == named.end() ? nullptr : entry.value().if_object();
        if (fields == nullptr) { return inside(entry.value()); }
        return std::ranges::any_of(*fields, [&](const auto& field) { return has_reference(field.value(), depth + 2); });
    });
}

/// Returns "" if the schema has the form that the check needs. Otherwise returns the fault with its place.
std::string form_problem(const json::value& schema, const std::string& place, int depth) {
    constexpr std::array<std::string_view, 7> types = {"object", "array", "string", "integer", "number", "boolean", "null"};
    if (depth == deepest) { return place + " is nested deeper than " + std::to_string(deepest) + " levels"; }
    const auto* object = schema.if_object();
    if (object == nullptr) { return place + " must be a schema object, found " + ellipsis(json::serialize(schema), 80); }
    for (const auto& [key, value] : *object) {
        const std::string at = place + "." + std::string(key);
        const std::string found = ", found " + ellipsis(json::serialize(value), 80);
        if (key == "$ref") { return at + " is not allowed: a manifest must be self-contained"; }
        if (key == "type") {
            const auto known = [&](const json::value& name) {
                return name.is_string() && std::ranges::find(types, std::string_view(name.get_string())) != types.end();
            };
            const auto* names = value.if_array();
            if (names == nullptr ? !known(value) : names->empty() || !std::ranges::all_of(*names, known)) {
                return at + " must name a JSON type" + found;
            }
        } else if (key == "properties") {
            if (!value.is_object()) { return at + " must be an object" + found; }
            for (const auto& [name, inner] : value.get_object()) {
                if (std::string problem = form_problem(inner, at + "." + std::string(name), depth + 1); !problem.empty()) {
                    return problem;
                }
            }
        } else if (key == "items" || (key == "additionalProperties" && !value.is_bool())) {
            if (std::string problem = form_problem(value, at, depth + 1); !problem.empty()) { return problem; }
        } else if (key == "pattern" || key == "format" || key == "description") {
            if (!value.is_string()) { return at + " must be a string" + found; }
            if (key == "pattern") {
                if (std::string problem = TextPattern(value.get_string()).problem(); !problem.empty()) {
                    return at + " is not a regular expression: " + problem;
                }
            }
        } else if (key == "uniqueItems") {
            if (!value.is_bool()) { return at + " must be true or false" + found; }
        } else if (key == "enum") {
            if (!value.is_array() || value.get_array().empty()) { return at + " must be a list with one value or more" + found; }
        } else if (key == "required") {
            const auto* names = value.if_array();
            if (names == nullptr || !std::ranges::all_of(*names, [](const json::value& name) { return name.is_string(); })) {
                return at + " must be a list of names" + found;
            }
        } else if (key == "minimum" || key == "maximum" || key.starts_with("minLength") || key.starts_with("maxLength") ||
                   key == "minItems" || key == "maxItems") {
            if (!value.is_number()) { return at + " must be a number" + found; }
        } else if (key != "const" && key != "default" && key != "examples" && has_reference(value, depth)) {
            return at + " has a $ref, or is nested too deeply: a manifest must be self-contained";
        }
    }
    return "";
}

Error bad_schema(const PluginManifest& manifest, std::string what) {
    return {"AF-PLUG-051",
            "The manifest of plugin `" + manifest.id + "` has a config_schema that is not a JSON Schema: " + std::move(what),
            manifest.directory + "/plugin.json, field config_schema", "Report it to the plugin's author.", ErrorKind::invalid};
}

Result<SchemaCheck> compile(const PluginManifest& manifest) {
    if (std::string problem = form_problem(json::value(manifest.config_schema), "config_schema", 0); !problem.empty()) {
        return bad_schema(manifest, std::move(problem));
    }
    const json::value* type = manifest.config_schema.if_contains("type");
    if (type != nullptr && *type != "object") {
        return bad_schema(manifest, "config_schema.type must be \"object\", because settings are a map");
    }
    try {
        auto check = SchemaCheck::make(manifest.config_schema);
        if (!check.ok()) { return bad_schema(manifest, check.error().message); }
        return check;
    } catch (const std::exception& failure) { return bad_schema(manifest, failure.what()); }
}

/// Replaces the words of contracts by those of settings.
std::string in_words_of_settings(std::string text) {
    const auto replace = [&](std::string_view what, std::string_view with) {
        if (const auto at = text.find(what); at != std::string::npos) { text.replace(at, what.size(), with); }
    };
    replace("the artifact", "the map of settings");
    replace("is not a field of this contract; the fields here are", "is not a setting of this plugin; it takes");
    replace("is not a field of this contract", "is not a setting of this plugin");
    if (text.ends_with("it takes")) { text += " none"; }
    return text;
}

}  // namespace

Result<void> check_config_schema(const PluginManifest& manifest) {
    if (manifest.config_schema.empty()) { return {}; }
    AF_CHECK(compile(manifest));
    return {};
}

Result<std::optional<ConfigProblem>> check_config(const PluginManifest& manifest, const json::object& settings, bool partial) {
    if (manifest.config_schema.empty()) { return std::optional<ConfigProblem>(); }
    AF_TRY(const SchemaCheck check, compile(manifest));
    try {
        ViolationList violations;
        if (within_limits(settings, {}, violations)) { check.check(settings, violations); }
        if (violations.empty()) { return std::optional<ConfigProblem>(); }
        const ContractVerdict verdict = std::move(violations).verdict();
        for (const ContractViolation& violation : verdict.violations) {
            if (!partial || violation.rule != "required") {
                return std::optional<ConfigProblem>({violation.path, in_words_of_settings(violation.message)});
            }
        }
        return std::optional<ConfigProblem>();
    } catch (const std::exception& failure) { return bad_schema(manifest, failure.what()); }
}

}  // namespace agentforge::kernel
