// SPDX-License-Identifier: Apache-2.0
#include "contracts/schema_check.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "base/clock.hpp"
#include "base/json_fields.hpp"
#include "base/json_keywords.hpp"
#include "base/text.hpp"
#include "contracts/rules.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::string_view checked_here[] = {"pattern", "format", "uniqueItems"};

const json::object* object_at(const json::object& from, std::string_view key) {
    const auto* found = from.if_contains(key);
    return found == nullptr ? nullptr : found->if_object();
}

std::string list_words(const json::array& values) {
    std::string words;
    for (const auto& value : values) { words += (words.empty() ? "" : ", ") + show(value); }
    return words;
}

std::string type_words(const json::value& type) {
    const auto one = [](std::string_view name) -> std::string {
        if (name == "null") { return "null"; }
        const bool vowel = name == "integer" || name == "array" || name == "object";
        return (vowel ? "an " : "a ") + std::string(name);
    };
    if (const auto* name = type.if_string()) { return one(view(*name)); }
    std::string words;
    if (const auto* names = type.if_array()) {
        for (const auto& name : *names) { words += (words.empty() ? "" : " or ") + one(view(name.as_string())); }
    }
    return words;
}

std::string number_of(std::string_view schema_key, const json::object& schema) {
    const auto* limit = schema.if_contains(schema_key);
    return limit == nullptr ? "?" : json::serialize(*limit);
}

/// A place in the artifact with its schema.
struct Place {
    ArtifactPath path;
    const json::value* value = nullptr;
    const json::object* schema = nullptr;
};

const json::object* schema_of_field(const json::object& schema, std::string_view name) {
    if (const auto* properties = object_at(schema, "properties")) {
        if (const auto* inner = object_at(*properties, name)) { return inner; }
    }
    return object_at(schema, "additionalProperties");
}

}  // namespace

struct SchemaCheck::Compiled {
    json::object schema;
    valijson::Schema valijson;
    std::unordered_map<std::string, TextPattern> patterns;
};

namespace {

/// Returns the schema without what base/json_keywords.hpp and the code below check. valijson would match patterns with
/// std::regex, whose recursion crashes the program on long strings.
json::value schema_for_valijson(const json::value& schema) {
    if (const auto* list = schema.if_array()) {
        json::array copy;
        for (const auto& item : *list) { copy.push_back(schema_for_valijson(item)); }
        return copy;
    }
    const auto* object = schema.if_object();
    if (object == nullptr) { return schema; }
    json::object copy;
    for (const auto& [key, value] : *object) {
        const std::string_view name(key.data(), key.size());
        if (std::find(std::begin(checked_here), std::end(checked_here), name) != std::end(checked_here)) { continue; }
        if (name == "properties") {  // Its keys are names, not keywords.
            json::object properties;
            for (const auto& [field, inner] : value.as_object()) { properties[field] = schema_for_valijson(inner); }
            copy[key] = std::move(properties);
        } else if (name == "items" || name == "additionalProperties") {
            copy[key] = schema_for_valijson(value);
        } else if (name != "default" && name != "description") {
            copy[key] = value;
        }
    }
    return copy;
}

void gather_patterns(const json::object& schema, std::unordered_map<std::string, TextPattern>& patterns) {
    if (const auto* pattern = schema.if_contains("pattern")) {
        const auto text = view(pattern->as_string());
        patterns.try_emplace(std::string(text), text);
    }
    if (const auto* properties = object_at(schema, "properties")) {
        for (const auto& [name, inner] : *properties) { gather_patterns(inner.as_object(), patterns); }
    }
    if (const auto* items = object_at(schema, "items")) { gather_patterns(*items, patterns); }
    if (const auto* rest = object_at(schema, "additionalProperties")) { gather_patterns(*rest, patterns); }
}

/// Checks what valijson leaves to us. The limits on schema and artifact bound the depth.
void check_texts(const SchemaCheck::Compiled& compiled, const Place& place, ViolationList& violations) {
    const auto& schema = *place.schema;
    if (const auto* text = place.value->if_string()) {
        if (const auto* pattern = schema.if_contains("pattern")) {
            const std::string expression(view(pattern->as_string()));
            if (!compiled.patterns.at(expression).is_in(view(*text))) {
                violations.add(place.path, "pattern",
                               place.path.words() + " is " + show(*place.value) + "; it must match " + expression);
            }
        }
        if (const auto* format = schema.if_contains("format")) {
            const auto name = view(format->as_string());
            if (name == "date-time" && !parse_time(view(*text)).ok()) {
                violations.add(
                    place.path, "format",
                    place.path.words() + " is " + show(*place.value) + "; it must be a time like 2026-01-02T15:30:00Z");
            } else if (name == "relative-path") {
                if (const auto problem = relative_path_problem(view(*text)); !problem.empty()) {
                    violations.add(place.path, "format", place.path.words() + " is " + show(*place.value) + ", which " + problem);
                }
            }
        }
    } else if (const auto* list = place.value->if_array()) {
        const auto* items = object_at(schema, "items");
        const auto* unique = schema.if_contains("uniqueItems");
        if (unique != nullptr && unique->as_bool()) {
            for (const std::size_t i : repeated_items(*list)) {
                const auto path = place.path.item(i);
                violations.add(path, "unique_items", path.words() + " is " + show((*list)[i]) + ", which is already in the list");
            }
        }
        for (std::size_t i = 0; items != nullptr && i < list->size(); ++i) {
            check_texts(compiled, {place.path.item(i), &(*list)[i], items}, violations);
        }
    } else if (const auto* object = place.value->if_object()) {
        for (const auto& [key, inner] : *object) {
            const std::string_view name(key.data(), key.size());
            if (const auto* inner_schema = schema_of_field(schema, name)) {
                check_texts(compiled, {place.path.field(name), &inner, inner_schema}, violations);
            }
        }
    }
}

/// Follows valijson's context (`<root>`, `[requirements]`, `[0]`) into the artifact and the schema.
std::optional<Place> follow(const json::object& schema, const json::value& artifact, const std::vector<std::string>& context) {
    Place place{{}, &artifact, &schema};
    for (std::size_t i = 1; i < context.size(); ++i) {
        const auto& part = context[i];
        if (part.size() < 2 || part.front() != '[' || part.back() != ']') { return std::nullopt; }
        const std::string_view name(part.data() + 1, part.size() - 2);
        if (const auto* list = place.value->if_array()) {
            const auto index = static_cast<std::size_t>(std::strtoull(std::string(name).c_str(), nullptr, 10));
            const auto* items = object_at(*place.schema, "items");
            if (index >= list->size() || items == nullptr) { return std::nullopt; }
            place = {place.path.item(index), &(*list)[index], items};
        } else if (const auto* object = place.value->if_object()) {
            const auto* inner = object->if_contains(name);
            const auto* inner_schema = schema_of_field(*place.schema, name);
            if (inner == nullptr || inner_schema == nullptr) { return std::nullopt; }
            place = {place.path.field(name), inner, inner_schema};
        } else {
            return std::nullopt;
        }
    }
    return place;
}

void add_unknown_fields(const Place& place, ViolationList& violations) {
    std::vector<std::string> known;
    if (const auto* properties = object_at(*place.schema, "properties")) {
        for (const auto& [name, inner] : *properties) {
            if (!name.starts_with('_')) { known.emplace_back(name); }
        }
    }
    for (const auto& [key, value] : place.value->as_object()) {
        const std::string_view name(key.data(), key.size());
        if (schema_of_field(*place.schema, name) != nullptr) { continue; }
        std::string message = place.path.words_of(name) + " is not a field of this contract";
        if (const auto near = nearest(name, known); !near.empty()) {
            message += "; did you mean " + near + "?";
        } else {
            message += "; the fields here are";
            for (const auto& field : known) { message += (field == known.front() ? " " : ", ") + field; }
        }
        violations.add(place.path.field(name), "additionalProperties", message);
    }
}

/// Rephrases one finding of valijson. Returns false if it only repeats a deeper finding.
bool explain(const Place& place, std::string_view description, ViolationList& violations) {
    const auto is = [&](std::string_view start) { return description.starts_with(start); };
    const auto words = place.path.words();
    const auto& schema = *place.schema;
    if (is("Missing required property '")) {
        const auto name = description.substr(27, description.rfind('\'') - 27);
        violations.add(place.path.field(name), "required", place.path.words_of(name) + " is missing");
    } else if (is("Object contains a property")) {
        add_unknown_fields(place, violations);
    } else if (is("Value type not permitted")) {
        const auto* type = schema.if_contains("type");
        violations.add(place.path, "type",
                       words + " is " + std::string(kind_words(*place.value)) + "; it must be " +
                           (type == nullptr ? "of another type" : type_words(*type)));
    } else if (is("Failed to match against any enum")) {
        violations.add(place.path, "enum",
                       words + " is " + show(*place.value) + "; it must be one of " + list_words(schema.at("enum").as_array()));
    } else if (is("Failed to match expected value set by 'const'")) {
        violations.add(place.path, "const", words + " is " + show(*place.value) + "; it must be " + show(schema.at("const")));
    } else if (is("Array should contain no more") || is("Array should contain no fewer")) {
        const bool more = is("Array should contain no more");
        violations.add(place.path, more ? "max_items" : "min_items",
                       words + " has " + std::to_string(place.value->as_array().size()) + " items; it must have " +
                           (more ? "at most " : "at least ") + number_of(more ? "maxItems" : "minItems", schema));
    } else if (is("String should be no more") || is("String should be no fewer")) {
        const bool more = is("String should be no more");
        violations.add(place.path, more ? "max_length" : "min_length",
                       words + " has " + std::to_string(count_characters(view(place.value->as_string()))) +
                           " characters; it must have " + (more ? "at most " : "at least ") +
                           number_of(more ? "maxLength" : "minLength", schema));
    } else if (is("Object should have no more") || is("Object should have no fewer")) {
        const bool more = is("Object should have no more");
        violations.add(place.path, more ? "max_properties" : "min_properties",
                       words + " has " + std::to_string(place.value->as_object().size()) + " fields; it must have " +
                           (more ? "at most " : "at least ") + number_of(more ? "maxProperties" : "minProperties", schema));
    } else if (is("Expected number less")) {
        violations.add(place.path, "maximum",
                       words + " is " + show(*place.value) + "; it must be at most " + number_of("maximum", schema));
    } else if (is("Expected number greater")) {
        violations.add(place.path, "minimum",
                       words + " is " + show(*place.value) + "; it must be at least " + number_of("minimum", schema));
    } else if (is("Failed to validate")) {
        return false;
    } else {
        violations.add(place.path, "schema", words + ": " + std::string(description));
    }
    return true;
}

}  // namespace

bool within_limits(const json::object& value, const ArtifactLimits& limits, ViolationList& violations) {
    struct Pending {
        const json::value* value;
        std::size_t depth;
    };
    std::vector<Pending> pending;
    std::size_t values = 0;
    std::size_t text = 0;
    std::string problem;
    const auto push_fields = [&](const json::object& object, std::size_t depth) {
        for (const auto& [key, inner] : object) {
            text += key.size();
            pending.push_back({&inner, depth});
        }
    };
    push_fields(value, 2);
    while (!pending.empty() && problem.empty()) {
        const auto [current, depth] = pending.back();
        pending.pop_back();
        ++values;
        if (depth > limits.max_depth) {
            problem = "is nested deeper than " + std::to_string(limits.max_depth) + " levels";
            break;
        }
        if (const auto* string = current->if_string()) {
            text += string->size();
        } else if (const auto* list = current->if_array()) {
            for (const auto& inner : *list) { pending.push_back({&inner, depth + 1}); }
        } else if (const auto* object = current->if_object()) {
            push_fields(*object, depth + 1);
        }
        if (values + pending.size() > limits.max_values) {
            problem = "contains more than " + std::to_string(limits.max_values) + " values";
        } else if (text > limits.max_text_bytes) {
            problem = "contains more than " + std::to_string(limits.max_text_bytes) + " bytes of text";
        }
    }
    if (problem.empty()) { return true; }
    violations.add({}, "limits", "the artifact " + problem);
    return false;
}

Result<SchemaCheck> SchemaCheck::make(const json::object& schema) {
    auto compiled = std::make_shared<Compiled>();
    compiled->schema = schema;
    gather_patterns(compiled->schema, compiled->patterns);
    for (const auto& [text, pattern] : compiled->patterns) {
        if (const auto problem = pattern.problem(); !problem.empty()) {
            return Error{"AF-CONT-006", "the pattern " + text + " is not a regular expression: " + problem, "",
                         "Write it in RE2's syntax.", ErrorKind::invalid};
        }
    }
    try {
        const json::value reduced = schema_for_valijson(json::value(compiled->schema));
        const valijson::adapters::BoostJsonAdapter adapter(reduced);
        valijson::SchemaParser parser;
        parser.populateSchema(adapter, compiled->valijson);
    } catch (const std::exception& problem) {
        return Error{"AF-CONT-012", std::string("the compiled schema was rejected: ") + problem.what(), "",
                     "This is a defect; please report it with the contract's file.", ErrorKind::internal};
    }
    return SchemaCheck(std::move(compiled));
}

namespace {

/// valijson accepts only int64 as an integer, but a count from our own code may be unsigned. A number beyond int64 stays and is
/// refused.
void make_integers_signed(json::value& value) {
    if (value.is_uint64()) {
        if (value.get_uint64() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            value = static_cast<std::int64_t>(value.get_uint64());
        }
    } else if (value.is_array()) {
        for (json::value& item : value.get_array()) { make_integers_signed(item); }
    } else if (value.is_object()) {
        for (auto& entry : value.get_object()) { make_integers_signed(entry.value()); }
    }
}

}  // namespace

void SchemaCheck::check(const json::object& value, ViolationList& violations) const {
    json::value whole(value);
    make_integers_signed(whole);
    bool explained = false;
    try {
        valijson::Validator validator(valijson::Validator::kStrongTypes);
        valijson::ValidationResults results;
        const valijson::adapters::BoostJsonAdapter adapter(whole);
        if (!validator.validate(compiled_->valijson, adapter, &results)) {
            for (const auto& finding : results) {
                if (const auto place = follow(compiled_->schema, whole, finding.context)) {
                    explained = explain(*place, finding.description, violations) || explained;
                }
            }
            if (!explained) { violations.add({}, "schema", "the artifact does not match the contract's schema"); }
        }
    } catch (const std::exception& problem) {
        violations.add({}, "schema", std::string("the artifact could not be checked: ") + problem.what());
    }
    check_texts(*compiled_, {{}, &whole, &compiled_->schema}, violations);
}

}  // namespace agentforge::kernel
