// SPDX-License-Identifier: Apache-2.0
#include "contracts/schema_compiler.hpp"

#include <algorithm>

#include "base/json_fields.hpp"
#include "base/json_keywords.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t max_schema_depth = 24;

/// One keyword of a property: its JSON Schema form, the types that allow it, and what its value must be.
struct Keyword {
    enum class Value : unsigned char { special = 1, count, number, boolean, text, any };
    std::string_view name;
    std::string_view schema_name;
    std::string_view types;  ///< Separated by spaces. Empty: every type.
    Value value;
};

const char* how_to_write(Keyword::Value value) {
    if (value == Keyword::Value::boolean) { return "Write true or false."; }
    if (value == Keyword::Value::count) { return "Write a whole number from 0."; }
    return value == Keyword::Value::number ? "Write a number." : "Write a text.";
}

constexpr Keyword keywords[] = {
    {"type", "type", "", Keyword::Value::special},
    {"required", "", "", Keyword::Value::boolean},
    {"description", "description", "", Keyword::Value::text},
    {"default", "default", "", Keyword::Value::any},
    {"enum", "enum", "", Keyword::Value::special},
    {"const", "const", "", Keyword::Value::any},
    {"measured", "", "", Keyword::Value::special},
    {"pattern", "pattern", "string", Keyword::Value::special},
    {"format", "format", "string", Keyword::Value::special},
    {"min_length", "minLength", "string", Keyword::Value::count},
    {"max_length", "maxLength", "string", Keyword::Value::count},
    {"minimum", "minimum", "integer number", Keyword::Value::number},
    {"maximum", "maximum", "integer number", Keyword::Value::number},
    {"items", "items", "array", Keyword::Value::special},
    {"min_items", "minItems", "array", Keyword::Value::count},
    {"max_items", "maxItems", "array", Keyword::Value::count},
    {"unique_items", "uniqueItems", "array", Keyword::Value::boolean},
    {"properties", "properties", "object", Keyword::Value::special},
    {"additionalProperties", "additionalProperties", "object", Keyword::Value::special},
    {"min_properties", "minProperties", "object", Keyword::Value::count},
    {"max_properties", "maxProperties", "object", Keyword::Value::count},
};

const std::vector<std::string> type_names{"string", "integer", "number", "boolean", "array", "object", "null"};
const std::vector<std::string> contract_keys{
    "contract", "version", "description", "schema", "validation", "conditions", "additionalProperties", "extends", "provided_as"};

const std::map<std::string, std::string, std::less<>>& formats() {
    static const std::map<std::string, std::string, std::less<>> known{
        {"datetime", "date-time"}, {"date-time", "date-time"}, {"relative_path", "relative-path"}};
    return known;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known, std::string_view all_words) {
    if (auto near = nearest(word, known); !near.empty()) { return "Did you mean `" + near + "`?"; }
    std::string text(all_words);
    for (const auto& name : known) { text += (name == known.front() ? " " : ", ") + name; }
    return text + ".";
}

class Compiler {
public:
    explicit Compiler(const YamlDocument& document) : document_(document) {}

    Result<CompiledContract> contract() {
        const auto* top = document_.value.if_object();
        if (top == nullptr) { return fail("AF-CONT-001", "", "a contract file is a map", "Start it with `contract: <name>`."); }
        for (const auto& [key, value] : *top) {
            const std::string_view name(key.data(), key.size());
            if (std::find(contract_keys.begin(), contract_keys.end(), name) == contract_keys.end()) {
                return fail("AF-CONT-003", "/" + pointer_token(name) + "#",
                            "`" + std::string(name) + "` is not a keyword of a contract",
                            did_you_mean(name, contract_keys, "A contract has"));
            }
        }
        CompiledContract out;
        AF_TRY(out.name, text(*top, "contract"));
        if (top->contains("extends")) { AF_CHECK(text(*top, "extends")); }
        AF_TRY(out.version, text(*top, "version"));
        AF_TRY(out.description, text(*top, "description"));
        if (const auto problem = name_problem(out.name); !problem.empty()) {
            return fail("AF-CONT-001", "/contract", "the contract's name " + problem, "Use lower-case letters, digits and _.");
        }
        const auto* schema = top->if_contains("schema");
        if (schema == nullptr || !schema->is_object() || schema->get_object().empty()) {
            return fail("AF-CONT-001", schema == nullptr ? "" : "/schema", "the contract has no `schema` with properties",
                        "Write `schema:` with a map of properties.");
        }
        json::object wrapped{{"type", "object"}, {"properties", *schema}};
        if (const auto* more = top->if_contains("additionalProperties")) { wrapped["additionalProperties"] = *more; }
        AF_TRY(Both both, object_schema(wrapped, "", "/schema", "", 1));
        out.schema = std::move(both.full);
        out.model_schema = std::move(both.model);
        out.schema["description"] = out.description;
        out.model_schema["description"] = out.description;
        if (!out.model_schema.contains("properties")) { out.model_schema["properties"] = json::object(); }
        for (const std::string_view envelope : {"_artifact_meta", "_metadata"}) {
            out.schema["properties"].as_object()[envelope] = json::object{{"type", "object"}};
        }
        out.measured = std::move(measured_);
        out.not_asked = std::move(not_asked_);
        AF_CHECK(rules(*top, out));
        return out;
    }

private:
    struct Both {
        json::object full;
        json::object model;
        bool asked = true;
        bool required = false;
    };

    [[nodiscard]] Error fail(std::string code, std::string_view pointer, std::string message, std::string remedy) const {
        return Error{std::move(code), std::move(message), document_.where(pointer), std::move(remedy), ErrorKind::invalid};
    }

    static std::string name_problem(std::string_view name) {
        if (name.empty() || name.size() > 64) { return "must have 1 to 64 characters"; }
        for (const char c : name) {
            if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) {
                return "contains a character other than a-z, 0-9 and _";
            }
        }
        return "";
    }

    Result<std::string> text(const json::object& top, std::string_view key) const {
        const auto* value = top.if_contains(key);
        if (value == nullptr) {
            return fail("AF-CONT-001", "", "the contract has no `" + std::string(key) + "`", "Add `" + std::string(key) + ":`.");
        }
        if (!value->is_string() || value->get_string().empty()) {
            return fail("AF-CONT-001", "/" + std::string(key), "`" + std::string(key) + "` must be a string that is not empty",
                        "Quote it: " + std::string(key) + ": \"1.0\".");
        }
        return std::string(view(value->get_string()));
    }

    Result<void> rules(const json::object& top, CompiledContract& out) const {
        const auto* validation = top.if_contains("validation");
        if (validation == nullptr) { return {}; }
        if (!validation->is_array()) {
            return fail("AF-CONT-007", "/validation", "`validation` must be a list of named rules",
                        "See `agentforge help docs/contracts.md` for the rules.");
        }
        for (std::size_t i = 0; i < validation->get_array().size(); ++i) {
            const auto pointer = "/validation/" + std::to_string(i);
            const auto* name = validation->get_array()[i].if_string();
            const auto* rule = name == nullptr ? nullptr : find_rule(view(*name));
            if (rule == nullptr) {
                std::vector<std::string> known;
                for (const auto& each : named_rules()) { known.emplace_back(each.text); }
                const auto shown = name == nullptr ? "this" : "`" + ellipsis(view(*name), 120) + "`";
                const auto near = name == nullptr ? std::string() : nearest(view(*name), known);
                return fail(
                    "AF-CONT-005", pointer, shown + " is not a named rule",
                    near.empty() ? "See `agentforge help docs/contracts.md` for the rules." : "Did you mean `" + near + "`?");
            }
            out.rules.push_back(rule);
        }
        return {};
    }

    /// `wrapped` has type, properties and additionalProperties. `keys_at`: where those keywords are in the file; `fields_at`:
    /// where the properties are; `place`: the pointer into the artifact.
    Result<Both> object_schema(const json::object& wrapped, std::string_view keys_at, std::string_view fields_at,
                               std::string_view place, std::size_t depth) {
        Both out;
        out.full["type"] = "object";
        out.model["type"] = "object";
        AF_CHECK(object_keywords(wrapped, keys_at, fields_at, place, depth, true, out));
        return out;
    }

    /// Reads `properties`, `required` and `additionalProperties` of an object. Sets `out.asked` if there is nothing left to ask
    /// for.
    Result<void> object_keywords(const json::object& property, std::string_view keys_at, std::string_view fields_at,
                                 std::optional<std::string_view> place, std::size_t depth, bool always_asked, Both& out) {
        const auto* properties = property.if_contains("properties");
        const auto* more = property.if_contains("additionalProperties");
        if (properties != nullptr) {
            if (!properties->is_object()) {
                return fail("AF-CONT-007", fields_at, "`properties` must be a map", "Write one property a line.");
            }
            json::object full;
            json::object model;
            json::array required_full;
            json::array required_model;
            std::vector<std::string> left_out;
            for (const auto& [key, value] : properties->get_object()) {
                const std::string_view name(key.data(), key.size());
                const auto at = std::string(fields_at) + "/" + pointer_token(name);
                const auto inner_place =
                    place ? std::optional<std::string>(std::string(*place) + "/" + pointer_token(name)) : std::nullopt;
                AF_TRY(Both inner, this->property(value, at, inner_place, depth + 1));
                full[key] = std::move(inner.full);
                if (inner.required) { required_full.push_back(json::string(name)); }
                if (inner.asked) {
                    model[key] = std::move(inner.model);
                    if (inner.required) { required_model.push_back(json::string(name)); }
                } else if (inner_place) {
                    left_out.push_back(*inner_place);
                }
            }
            out.asked = always_asked || !model.empty() || full.empty();
            if (out.asked) { not_asked_.insert(not_asked_.end(), left_out.begin(), left_out.end()); }
            out.full["properties"] = std::move(full);
            out.model["properties"] = std::move(model);
            if (!required_full.empty()) { out.full["required"] = std::move(required_full); }
            if (!required_model.empty()) { out.model["required"] = std::move(required_model); }
        }
        json::value rest_full = properties == nullptr;  // An object without properties may hold anything.
        json::value rest_model = rest_full;
        if (more != nullptr) {
            if (more->is_bool()) {
                rest_full = *more;
                rest_model = *more;
            } else {
                AF_TRY(Both inner,
                       this->property(*more, std::string(keys_at) + "/additionalProperties", std::nullopt, depth + 1));
                rest_full = std::move(inner.full);
                rest_model = std::move(inner.model);
            }
        }
        out.full["additionalProperties"] = std::move(rest_full);
        out.model["additionalProperties"] = std::move(rest_model);
        return {};
    }

    Result<std::vector<std::string>> types(const json::object& property, const std::string& at) const {
        const auto* type = property.if_contains("type");
        if (type == nullptr) {
            return fail("AF-CONT-004", at, "the property has no `type`", did_you_mean("", type_names, "Types are"));
        }
        std::vector<std::string> names;
        const auto add = [&](const json::value& value) {
            // `null` unquoted.
            if (value.is_null()) {
                names.emplace_back("null");
                return true;
            }
            const auto* name = value.if_string();
            if (name == nullptr || std::find(type_names.begin(), type_names.end(), view(*name)) == type_names.end()) {
                return false;
            }
            names.emplace_back(view(*name));
            return true;
        };
        const auto unknown = [&](const json::value& value, const std::string& pointer) {
            const auto* name = value.if_string();
            return fail("AF-CONT-004", pointer,
                        (name == nullptr ? std::string("this") : "`" + ellipsis(view(*name), 60) + "`") + " is not a type",
                        did_you_mean(name == nullptr ? "" : view(*name), type_names, "Types are"));
        };
        if (const auto* list = type->if_array()) {
            for (std::size_t i = 0; i < list->size(); ++i) {
                if (!add((*list)[i])) { return unknown((*list)[i], at + "/type/" + std::to_string(i)); }
            }
            if (names.empty()) {
                return fail("AF-CONT-004", at + "/type", "`type` is an empty list", did_you_mean("", type_names, "Types are"));
            }
        } else if (!add(*type)) {
            return unknown(*type, at + "/type");
        }
        return names;
    }

    Result<void> check_keywords(const json::object& property, const std::string& at,
                                const std::vector<std::string>& types) const {
        for (const auto& [key, value] : property) {
            const std::string_view name(key.data(), key.size());
            const auto pointer = at + "/" + pointer_token(name);
            const auto found =
                std::find_if(std::begin(keywords), std::end(keywords), [&](const Keyword& each) { return each.name == name; });
            if (found == std::end(keywords)) {
                std::vector<std::string> known;
                for (const auto& each : keywords) { known.emplace_back(each.name); }
                return fail("AF-CONT-003", pointer + "#", "`" + ellipsis(name, 60) + "` is not a keyword of a property",
                            did_you_mean(name, known, "Keywords are"));
            }
            if (!found->types.empty() && std::none_of(types.begin(), types.end(), [&](const std::string& type) {
                    return (" " + std::string(found->types) + " ").find(" " + type + " ") != std::string::npos;
                })) {
                return fail("AF-CONT-007", pointer, "`" + std::string(name) + "` cannot be used with type " + types.front(),
                            "It can be used with: " + std::string(found->types) + ".");
            }
            const bool fits = found->value == Keyword::Value::special || found->value == Keyword::Value::any ||
                              (found->value == Keyword::Value::boolean && value.is_bool()) ||
                              (found->value == Keyword::Value::text && value.is_string()) ||
                              (found->value == Keyword::Value::number && value.is_number()) ||
                              (found->value == Keyword::Value::count && value.is_int64() && value.get_int64() >= 0);
            if (!fits) {
                return fail("AF-CONT-007", pointer,
                            "`" + std::string(name) + "` is " + show(value) + ", which is not a valid value",
                            how_to_write(found->value));
            }
        }
        return {};
    }

    Result<Both> property(const json::value& value, const std::string& at, std::optional<std::string> place, std::size_t depth) {
        if (depth > max_schema_depth) {
            return fail("AF-CONT-007", at, "the schema is nested deeper than " + std::to_string(max_schema_depth) + " levels",
                        "Make it flatter.");
        }
        const auto* property = value.if_object();
        if (property == nullptr) {
            return fail("AF-CONT-004", at, "a property is a map with a `type`", did_you_mean("", type_names, "Types are"));
        }
        AF_TRY(const auto names, types(*property, at));
        AF_CHECK(check_keywords(*property, at, names));

        Both out;
        if (const auto* required = property->if_contains("required")) { out.required = required->as_bool(); }
        if (const auto* measured = property->if_contains("measured")) {
            AF_CHECK(measure(*measured, at, place));
            out.asked = false;
            place.reset();  // The contents come with the fact.
        }
        json::object plain;
        if (names.size() == 1) {
            plain["type"] = names.front();
        } else {
            json::array list;
            for (const auto& name : names) { list.push_back(json::string(name)); }
            plain["type"] = std::move(list);
        }
        for (const auto& keyword : keywords) {
            const auto* found = property->if_contains(keyword.name);
            if (found == nullptr || keyword.schema_name.empty()) { continue; }
            if (keyword.value != Keyword::Value::special) { plain[keyword.schema_name] = *found; }
        }
        AF_CHECK(special_texts(*property, at, plain));
        out.full = plain;
        out.model = plain;
        if (std::find(names.begin(), names.end(), "object") != names.end()) {
            const bool asked = out.asked;
            AF_CHECK(object_keywords(*property, at, at + "/properties", place, depth, false, out));
            out.asked = out.asked && asked;
        }
        if (const auto* items = property->if_contains("items")) {
            AF_TRY(Both inner, this->property(*items, at + "/items", std::nullopt, depth + 1));
            out.full["items"] = std::move(inner.full);
            out.model["items"] = std::move(inner.model);
        }
        return out;
    }

    Result<void> special_texts(const json::object& property, const std::string& at, json::object& plain) const {
        if (const auto* allowed = property.if_contains("enum")) {
            if (!allowed->is_array() || allowed->get_array().empty()) {
                return fail("AF-CONT-007", at + "/enum", "`enum` must be a list of values", "Write enum: [a, b].");
            }
            plain["enum"] = *allowed;
        }
        if (const auto* pattern = property.if_contains("pattern")) {
            const auto* text = pattern->if_string();
            const auto problem = text == nullptr ? std::string("it is not text") : TextPattern(view(*text)).problem();
            if (!problem.empty()) {
                return fail("AF-CONT-006", at + "/pattern", "`pattern` is not a regular expression: " + problem,
                            "Write it in RE2's syntax, quoted.");
            }
            plain["pattern"] = *pattern;
        }
        if (const auto* format = property.if_contains("format")) {
            const auto* text = format->if_string();
            const auto found = text == nullptr ? formats().end() : formats().find(view(*text));
            if (found == formats().end()) {
                std::vector<std::string> known;
                for (const auto& [name, schema_name] : formats()) { known.push_back(name); }
                return fail("AF-CONT-009", at + "/format", show(*format) + " is not a format",
                            did_you_mean(text == nullptr ? "" : view(*text), known, "Formats are"));
            }
            plain["format"] = found->second;
        }
        return {};
    }

    Result<void> measure(const json::value& fact, const std::string& at, const std::optional<std::string>& place) {
        const auto* name = fact.if_string();
        if (name == nullptr || !name_problem(view(*name)).empty()) {
            return fail("AF-CONT-008", at + "/measured", "`measured` must be the name of a fact",
                        "Use lower-case letters, digits and _.");
        }
        if (!place) {
            return fail("AF-CONT-008", at + "/measured",
                        "`measured` cannot be inside a list, a free map or another measured property",
                        "Measure the whole list or map instead.");
        }
        measured_[*place] = std::string(view(*name));
        return {};
    }

    const YamlDocument& document_;
    std::map<std::string, std::string, std::less<>> measured_;
    std::vector<std::string> not_asked_;
};

}  // namespace

Result<CompiledContract> compile_schema(const YamlDocument& document) { return Compiler(document).contract(); }

}  // namespace agentforge::kernel
