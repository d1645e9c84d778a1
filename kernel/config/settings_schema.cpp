// SPDX-License-Identifier: Apache-2.0
#include "config/settings_schema.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

const std::vector<std::pair<std::string, SettingKey::Type>>& types() {
    static const std::vector<std::pair<std::string, SettingKey::Type>> known{
        {"string", SettingKey::Type::string},   {"path", SettingKey::Type::path},       {"integer", SettingKey::Type::integer},
        {"boolean", SettingKey::Type::boolean}, {"list", SettingKey::Type::list},       {"command", SettingKey::Type::command},
        {"map", SettingKey::Type::map},         {"decimal", SettingKey::Type::decimal}, {"span", SettingKey::Type::span}};
    return known;
}

constexpr std::pair<std::string_view, SettingKey::Project> project_rights[] = {
    {"free", SettingKey::Project::free},     {"trust", SettingKey::Project::trust}, {"lower", SettingKey::Project::lower},
    {"higher", SettingKey::Project::higher}, {"more", SettingKey::Project::more},   {"never", SettingKey::Project::never}};

/// Returns a number to compare the value by. Empty if it cannot be compared.
std::optional<double> rank(const SettingKey& key, const json::value& value) {
    if (value.is_bool()) { return value.get_bool() ? 1 : 0; }
    if (value.is_number()) { return value.to_number<double>(); }
    if (!value.is_string()) { return std::nullopt; }
    if (key.type == SettingKey::Type::span) {
        const auto span = parse_time_span(view(value.get_string()));
        return span ? std::optional(static_cast<double>(span->count())) : std::nullopt;
    }
    const auto found = std::find(key.values.begin(), key.values.end(), view(value.get_string()));
    return found == key.values.end() ? std::nullopt : std::optional(static_cast<double>(found - key.values.begin()));
}

/// True if `lower`, `higher` and `more` make sense for the key.
bool can_be_compared(const SettingKey& key) {
    switch (key.type) {
        case SettingKey::Type::integer:
        case SettingKey::Type::decimal:
        case SettingKey::Type::boolean:
        case SettingKey::Type::span:
            return true;
        default:
            return !key.values.empty();
    }
}

bool right_fits_type(const SettingKey& key) {
    switch (key.project) {
        case SettingKey::Project::lower:
        case SettingKey::Project::higher:
            return can_be_compared(key);
        case SettingKey::Project::more:
            return key.type == SettingKey::Type::list;
        default:
            return true;
    }
}

bool is_text_list(const json::value& value) {
    const auto* list = value.if_array();
    return list != nullptr && std::all_of(list->begin(), list->end(), [](const json::value& item) { return item.is_string(); });
}

template <class Key>
bool matches(const Key& key, const std::vector<std::string>& segments, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if (key.segments[i] == "*" ? segments[i].empty() : key.segments[i] != segments[i]) { return false; }
    }
    return true;
}

}  // namespace

std::vector<std::string> split_key(std::string_view key) {
    std::vector<std::string> segments;
    if (key.empty()) { return segments; }
    segments.emplace_back();
    for (std::size_t i = 0; i < key.size(); ++i) {
        if (key[i] == '.') {
            segments.emplace_back();
        } else if (key.substr(i, 3) == "%2E") {
            segments.back() += '.';
            i += 2;
        } else if (key.substr(i, 3) == "%25") {
            segments.back() += '%';
            i += 2;
        } else {
            segments.back() += key[i];
        }
    }
    return segments;
}

std::string join_key(const std::vector<std::string>& segments) {
    std::string key;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (i > 0) { key += '.'; }
        for (const char c : segments[i]) {
            if (c == '.') {
                key += "%2E";
            } else if (c == '%') {
                key += "%25";
            } else {
                key += c;
            }
        }
    }
    return key;
}

namespace {

/// Reads the keys of the schema's document.
class SchemaReader {
public:
    explicit SchemaReader(const YamlDocument& document) : document_(document) {}

    [[nodiscard]] Result<std::vector<FormerKey>> read_former_keys(const json::array& list) const;
    [[nodiscard]] Result<SettingKey> read_key(std::string name, const json::value& value) const;
    [[nodiscard]] Error fail(std::string_view pointer, std::string message) const {
        return Error{"AF-CONF-022", "the schema of the settings is wrong: " + std::move(message), document_.where(pointer),
                     "Restore the file from the release.", ErrorKind::invalid};
    }

private:
    [[nodiscard]] Result<FormerKey> read_former_key(const json::value& value, const std::string& at) const;
    [[nodiscard]] Result<void> read_keyword(SettingKey& key, std::string_view word, const json::value& what,
                                            const std::string& pointer) const;
    [[nodiscard]] Result<void> read_type(SettingKey& key, const json::value& what, const std::string& pointer) const;
    [[nodiscard]] Result<void> read_project_right(SettingKey& key, const json::value& what, const std::string& pointer) const;
    [[nodiscard]] Result<void> check_key(const SettingKey& key, const std::string& at) const;
    [[nodiscard]] Error wrong_keyword(const std::string& pointer, std::string_view word) const {
        return fail(pointer, "`" + std::string(word) + "` is unknown or has a wrong value");
    }

    const YamlDocument& document_;
};

Result<std::vector<FormerKey>> SchemaReader::read_former_keys(const json::array& list) const {
    std::vector<FormerKey> keys;
    for (std::size_t index = 0; index < list.size(); ++index) {
        AF_TRY(FormerKey key, read_former_key(list[index], "/former/" + std::to_string(index)));
        keys.push_back(std::move(key));
    }
    return keys;
}

Result<FormerKey> SchemaReader::read_former_key(const json::value& value, const std::string& at) const {
    const auto* entry = value.if_object();
    if (entry == nullptr) { return fail(at, "a former key is a map"); }
    FormerKey key;
    for (const auto& [keyword, what] : *entry) {
        const std::string_view word(keyword.data(), keyword.size());
        if (word == "key" && what.is_string()) {
            key.name = view(what.get_string());
        } else if (word == "now" && what.is_string()) {
            key.now = view(what.get_string());
        } else if (word == "hint" && what.is_string()) {
            key.hint = view(what.get_string());
        } else if (word == "divisor" && what.is_int64() && what.get_int64() > 0) {
            key.divisor = what.get_int64();
        } else {
            return wrong_keyword(at + "/" + std::string(word), word);
        }
    }
    if (key.name.empty() || key.now.empty() == key.hint.empty()) {
        return fail(at, "a former key needs `key`, and either `now` or `hint`");
    }
    key.segments = split_key(key.name);
    return key;
}

Result<SettingKey> SchemaReader::read_key(std::string name, const json::value& value) const {
    SettingKey key;
    key.name = std::move(name);
    key.segments = split_key(key.name);
    const std::string at = "/settings/" + pointer_token(key.name);
    key.where = document_.where(at);
    if (!value.is_object()) { return fail(at, "a setting is a map"); }
    for (const auto& [keyword, what] : value.get_object()) {
        const std::string_view word(keyword.data(), keyword.size());
        AF_CHECK(read_keyword(key, word, what, at + "/" + std::string(word)));
    }
    AF_CHECK(check_key(key, at));
    return key;
}

Result<void> SchemaReader::read_keyword(SettingKey& key, std::string_view word, const json::value& what,
                                        const std::string& pointer) const {
    if (word == "type" && what.is_string()) { return read_type(key, what, pointer); }
    if (word == "project" && what.is_string()) { return read_project_right(key, what, pointer); }
    if (word == "description" && what.is_string()) {
        key.description = view(what.get_string());
    } else if (word == "default") {
        key.fallback = what;
    } else if (word == "minimum" && what.is_int64()) {
        key.minimum = what.get_int64();
    } else if (word == "maximum" && what.is_int64()) {
        key.maximum = what.get_int64();
    } else if (word == "values" && is_text_list(what)) {
        for (const auto& each : what.get_array()) { key.values.emplace_back(view(each.get_string())); }
    } else if (word == "unset" && what.is_string()) {
        key.unset = view(what.get_string());
    } else {
        return wrong_keyword(pointer, word);
    }
    return {};
}

Result<void> SchemaReader::read_type(SettingKey& key, const json::value& what, const std::string& pointer) const {
    const auto found =
        std::find_if(types().begin(), types().end(), [&](const auto& each) { return each.first == view(what.get_string()); });
    if (found == types().end()) { return fail(pointer, "there is no type " + json::serialize(what)); }
    key.type_name = found->first;
    key.type = found->second;
    return {};
}

Result<void> SchemaReader::read_project_right(SettingKey& key, const json::value& what, const std::string& pointer) const {
    const auto found = std::ranges::find(project_rights, view(what.get_string()), [](const auto& each) { return each.first; });
    if (found == std::end(project_rights)) { return fail(pointer, "a project can have no right " + json::serialize(what)); }
    key.project_name = found->first;
    key.project = found->second;
    return {};
}

Result<void> SchemaReader::check_key(const SettingKey& key, const std::string& at) const {
    if (key.type_name.empty() || key.description.empty() || key.project_name.empty()) {
        return fail(at, "a setting needs `type`, `project` and `description`");
    }
    if (!right_fits_type(key)) { return fail(at + "/project", "a " + key.type_name + " cannot be made " + key.project_name); }
    if (!key.fallback) { return {}; }
    if (key.name.find('*') != std::string::npos) { return fail(at + "/default", "a key with * can have no default"); }
    if (const auto problem = value_problem(key, *key.fallback); !problem.empty()) {
        return fail(at + "/default", "the default " + problem);
    }
    return {};
}

}  // namespace

Result<SettingsSchema> SettingsSchema::load(const std::string& file) {
    AF_TRY(const YamlDocument document, load_yaml(file));
    const SchemaReader reader(document);
    const auto* top = document.value.if_object();
    const auto* settings = top == nullptr || top->size() > 2 ? nullptr : top->if_contains("settings");
    const auto* former = settings == nullptr ? nullptr : top->if_contains("former");
    if (settings == nullptr || !settings->is_object() || (top->size() == 2 && (former == nullptr || !former->is_array()))) {
        return reader.fail("", "it must contain the map `settings:`, may contain the list `former:`, and nothing else");
    }
    SettingsSchema schema;
    if (former != nullptr) { AF_TRY(schema.former_, reader.read_former_keys(former->get_array())); }
    for (const auto& [name, value] : settings->get_object()) {
        AF_TRY(SettingKey key, reader.read_key(std::string(name), value));
        schema.keys_.push_back(std::move(key));
    }
    for (const FormerKey& each : schema.former_) {
        if (schema.find(each.segments) != nullptr) { return reader.fail("/former", each.name + " is a setting"); }
        if (!each.now.empty() && schema.find(split_key(each.now)) == nullptr) {
            return reader.fail("/former", each.now + " is not a setting");
        }
    }
    return schema;
}

const FormerKey* SettingsSchema::former(const std::vector<std::string>& segments) const {
    for (const auto& key : former_) {
        if (key.segments.size() == segments.size() && matches(key, segments, segments.size())) { return &key; }
    }
    return nullptr;
}

bool SettingsSchema::is_former_section(const std::vector<std::string>& segments) const {
    return std::any_of(former_.begin(), former_.end(), [&](const FormerKey& key) {
        return key.segments.size() > segments.size() && matches(key, segments, segments.size());
    });
}

Error former_key(const FormerKey& former, const std::vector<std::string>& segments, std::string where) {
    return Error{
        "AF-CONF-044",
        ellipsis(join_key(segments), 120) + " is no longer a setting" + (former.now.empty() ? "" : ": it is now " + former.now),
        std::move(where),
        former.now.empty() ? former.hint : "`agentforge config migrate` changes the file and keeps everything else in it.",
        ErrorKind::invalid};
}

const SettingKey* SettingsSchema::find(const std::vector<std::string>& segments) const {
    for (const auto& key : keys_) {
        if (key.segments.size() == segments.size() && matches(key, segments, segments.size())) { return &key; }
    }
    return nullptr;
}

bool SettingsSchema::is_section(const std::vector<std::string>& segments) const {
    return std::any_of(keys_.begin(), keys_.end(), [&](const SettingKey& key) {
        return key.segments.size() > segments.size() && matches(key, segments, segments.size());
    });
}

std::string SettingsSchema::nearest_to(const std::vector<std::string>& segments) const {
    // First compares names at the same level, then whole keys.
    std::vector<std::string> siblings;
    std::vector<std::string> whole;
    const auto depth = segments.size() - 1;
    for (const auto& key : keys_) {
        whole.push_back(key.name);
        if (key.segments.size() > depth && matches(key, segments, depth) && key.segments[depth] != "*") {
            siblings.push_back(key.segments[depth]);
        }
    }
    if (const auto near = nearest(segments.back(), siblings); !near.empty()) {
        auto full = segments;
        full.back() = near;
        return join_key(full);
    }
    return nearest(join_key(segments), whole);
}

bool needs_agreement(const SettingKey& key, const json::value& value, const json::value* holds) {
    if (key.project == SettingKey::Project::free || key.project == SettingKey::Project::more) { return false; }
    if (key.project == SettingKey::Project::trust || key.project == SettingKey::Project::never) { return true; }
    const auto wanted = rank(key, value);
    const auto limit = holds == nullptr ? std::nullopt : rank(key, *holds);
    if (!wanted || !limit) { return false; }  // Nothing to loosen; or an invalid time, which is refused later.
    return key.project == SettingKey::Project::lower ? *wanted > *limit : *wanted < *limit;
}

std::string value_problem(const SettingKey& key, const json::value& value) {
    switch (key.type) {
        case SettingKey::Type::string:
        case SettingKey::Type::span:
        case SettingKey::Type::path: {
            if (!value.is_string()) { return "must be a string; put it in quotes"; }
            if (value.get_string().find('\0') != json::string::npos) { return "contains a null character"; }
            if (key.values.empty() ||
                std::find(key.values.begin(), key.values.end(), view(value.get_string())) != key.values.end()) {
                return "";
            }
            std::string words;
            for (const auto& each : key.values) { words += (words.empty() ? "" : ", ") + each; }
            return "must be one of " + words;
        }
        case SettingKey::Type::integer: {
            if (!value.is_int64()) { return "must be a whole number"; }
            if (key.minimum && value.get_int64() < *key.minimum) { return "must be at least " + std::to_string(*key.minimum); }
            if (key.maximum && value.get_int64() > *key.maximum) { return "must be at most " + std::to_string(*key.maximum); }
            return "";
        }
        case SettingKey::Type::decimal: {
            if (!value.is_number()) { return "must be a number, such as 2.50, without quotes"; }
            const double number = value.to_number<double>();
            if (key.minimum && number < static_cast<double>(*key.minimum)) {
                return "must be at least " + std::to_string(*key.minimum);
            }
            if (key.maximum && number > static_cast<double>(*key.maximum)) {
                return "must be at most " + std::to_string(*key.maximum);
            }
            return "";
        }
        case SettingKey::Type::boolean:
            return value.is_bool() ? "" : "must be true or false";
        case SettingKey::Type::list:
            return is_text_list(value) ? "" : "must be a list of strings";
        case SettingKey::Type::command:
            return (value.is_string() && !value.get_string().empty()) || (is_text_list(value) && !value.get_array().empty())
                       ? ""
                       : "must be a string or a list of strings, and not empty";
        case SettingKey::Type::map:
            return value.is_object() ? "" : "must be a map";
    }
    return "has an unknown type";
}

Result<json::value> value_from_text(const SettingKey& key, const std::string& text, const std::string& where) {
    if (!is_valid_utf8(text)) {
        return Error{"AF-CONF-009", "the setting's value is not UTF-8", where,
                     "Write it in UTF-8; rename a file whose name is in another encoding.", ErrorKind::invalid};
    }
    const bool flow_list = text.starts_with('[');
    if (key.type == SettingKey::Type::string || key.type == SettingKey::Type::path || key.type == SettingKey::Type::span ||
        (key.type == SettingKey::Type::command && !flow_list)) {
        return json::value(json::string(text));
    }
    if (key.type == SettingKey::Type::list && !flow_list) { return json::value(json::array{json::string(text)}); }
    AF_TRY(YamlDocument document, parse_yaml(text, where));
    return std::move(document.value);
}

}  // namespace agentforge::kernel
