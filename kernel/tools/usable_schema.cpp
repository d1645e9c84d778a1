// SPDX-License-Identifier: Apache-2.0
#include "tools/usable_schema.hpp"

#include <algorithm>
#include <array>

#include "base/json_keywords.hpp"
#include "tools/arguments_check.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t max_depth = 40;
constexpr std::size_t max_values = 5'000;
constexpr std::array<std::string_view, 6> path_formats{"path",      "file-path",      "filepath",
                                                       "file_path", "directory-path", "directory_path"};

/// Keywords whose value is a schema, a list of schemas, or a map of schemas.
constexpr std::array<std::string_view, 4> with_schema{"items", "not", "additionalProperties", "propertyNames"};
constexpr std::array<std::string_view, 3> with_list{"anyOf", "oneOf", "allOf"};
constexpr std::array<std::string_view, 3> with_map{"properties", "$defs", "definitions"};

template <class List>
bool in(const List& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

class Reader {
public:
    explicit Reader(const json::object& root) : root_(root) {}

    json::value read(const json::value& value, const std::string& place, std::size_t depth) {
        if (depth > max_depth || ++count_ > max_values) {
            too_large_ = true;
            return json::object();
        }
        if (!value.is_object()) { return value.is_bool() ? value : json::value(json::object()); }
        json::object out;
        for (const auto& [key, rule] : value.get_object()) {
            const std::string name(key);
            const std::string at = place.empty() ? name : place + "." + name;
            if (in(with_schema, name) && (rule.is_object() || rule.is_bool())) {
                if (name == "propertyNames" || (name == "items" && rule.is_bool())) {
                    leave_out(at);
                } else {
                    out[key] = read(rule, at, depth + 1);
                }
            } else if (in(with_list, name) && rule.is_array()) {
                json::array list;
                for (const json::value& one : rule.get_array()) { list.push_back(read(one, at, depth + 1)); }
                out[key] = std::move(list);
            } else if (in(with_map, name) && rule.is_object()) {
                json::object map;
                for (const auto& [property, schema] : rule.get_object()) {
                    map[property] = read(schema, at + "." + std::string(property), depth + 1);
                }
                out[key] = std::move(map);
            } else if (name == "$ref") {
                if (rule.is_string() && resolve_reference(root_, rule.get_string()) != nullptr) {
                    out[key] = rule;
                } else {
                    leave_out(at);
                }
            } else if (name == "pattern") {
                if (rule.is_string() && TextPattern(rule.get_string()).problem().empty()) {
                    out[key] = rule;
                } else {
                    leave_out(at);
                }
            } else if (is_checked_keyword(name) && !in(with_schema, name) && !in(with_list, name) && !in(with_map, name)) {
                out[key] = rule;
            } else {
                leave_out(at);
            }
        }
        return out;
    }

    [[nodiscard]] bool too_large() const noexcept { return too_large_; }
    std::vector<std::string> left_out;

private:
    void leave_out(const std::string& place) {
        if (left_out.size() < 50) { left_out.push_back(place); }
    }

    const json::object& root_;
    std::size_t count_ = 0;
    bool too_large_ = false;
};

}  // namespace

Result<UsableSchema> usable_schema(const json::value& schema) {
    const auto refuse = [](const std::string& why) {
        return Error{"AF-TOOL-008", "the `inputSchema` " + why, "", "Report this to the server's author.", ErrorKind::invalid};
    };
    if (!schema.is_object()) { return refuse("is not an object"); }
    const json::object& root = schema.get_object();
    if (const json::value* type = root.if_contains("type"); type != nullptr && *type != "object") {
        return refuse("describes no object");
    }
    Reader reader(root);
    UsableSchema made;
    made.schema = reader.read(schema, "", 0).get_object();
    if (reader.too_large()) { return refuse("is too large or too deep"); }
    made.left_out = std::move(reader.left_out);
    const json::value* properties = made.schema.if_contains("properties");
    if (properties == nullptr) {
        if (!made.schema.contains("additionalProperties")) { made.schema["additionalProperties"] = true; }
        return made;
    }
    for (const auto& [name, property] : properties->get_object()) {
        const json::value* format = property.is_object() ? property.get_object().if_contains("format") : nullptr;
        if (format != nullptr && format->is_string() && in(path_formats, std::string_view(format->get_string()))) {
            made.paths.emplace_back(name);
        }
    }
    return made;
}

}  // namespace agentforge::kernel
