// SPDX-License-Identifier: Apache-2.0
#include "config/settings.hpp"

#include <Poco/AutoPtr.h>
#include <Poco/Util/LayeredConfiguration.h>
#include <Poco/Util/MapConfiguration.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "config/settings_schema.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::string_view environment_prefix = "AGENTFORGE_";
constexpr std::string_view other_variables[] = {"AGENTFORGE_HOME",       "AGENTFORGE_PAGER",         "AGENTFORGE_PLUGIN_PATH",
                                                "AGENTFORGE_STATE_HOME", "AGENTFORGE_TRUST_PROJECT", "AGENTFORGE_WEBHOOK_SECRET",
                                                "AGENTFORGE_WEBHOOK_URL"};

struct Layer {
    std::string name;
    Poco::AutoPtr<Poco::Util::MapConfiguration> values;  ///< Only leaves: key → JSON text.
    std::map<std::string, std::string, std::less<>> where;
    std::map<std::string, std::string, std::less<>> overridden;  ///< JSON text from a lower layer for a key of this one.
};

/// A setting of one layer, before layers are merged.
struct Leaf {
    std::vector<std::string> segments;
    json::value value;
    std::string where;
    const SettingKey* key;
};

char in_variable_name(char c) {
    if (c >= 'a' && c <= 'z') { return static_cast<char>(c - 'a' + 'A'); }
    return c == '.' || c == '-' ? '_' : c;
}

std::string upper(std::string_view text) {
    std::string out;
    for (const char c : text) { out += in_variable_name(c); }
    return out;
}

std::string lower(std::string_view text) {
    std::string out;
    for (const char c : text) { out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
    return out;
}

/// Returns the setting that a variable names: AGENTFORGE_AGENTS_TEST_ENGINEER_LLM_MODEL → agents.test_engineer.llm.model.
const SettingKey* key_of_variable(const SettingsSchema& schema, std::string_view variable, std::vector<std::string>& segments) {
    const auto rest = variable.substr(environment_prefix.size());
    for (const auto& key : schema.keys()) {
        const auto star = key.name.find('*');
        if (star == std::string::npos) {
            if (upper(key.name) == rest) {
                segments = key.segments;
                return &key;
            }
            continue;
        }
        const auto head = upper(key.name.substr(0, star));
        const auto tail = upper(key.name.substr(star + 1));
        if (rest.size() <= head.size() + tail.size() || !rest.starts_with(head) || !rest.ends_with(tail)) { continue; }
        segments = key.segments;
        std::replace(segments.begin(), segments.end(), std::string("*"),
                     lower(rest.substr(head.size(), rest.size() - head.size() - tail.size())));
        return &key;
    }
    return nullptr;
}

Error wrong_value(const std::vector<std::string>& segments, const std::string& problem, const SettingKey& key, std::string where,
                  const json::value& value) {
    if (const auto* word = value.if_string(); word != nullptr && !key.values.empty()) {
        if (const std::string near = nearest(*word, key.values); !near.empty()) {
            return Error{"AF-CONF-021", "the setting " + ellipsis(join_key(segments), 120) + " " + problem, std::move(where),
                         "Did you mean " + near + "? " + key.description + ".", ErrorKind::invalid};
        }
    }
    return Error{"AF-CONF-021", "the setting " + ellipsis(join_key(segments), 120) + " " + problem, std::move(where),
                 key.description + ".", ErrorKind::invalid};
}

/// Returns a key for people: a part that contains a dot is quoted.
std::string shown_key(const std::vector<std::string>& segments) {
    std::string key;
    for (const std::string& segment : segments) {
        key += key.empty() ? "" : ".";
        key += segment.find('.') == std::string::npos ? segment : "\"" + segment + "\"";
    }
    return ellipsis(key, 120);
}

Error unknown_key(const SettingsSchema& schema, const std::vector<std::string>& segments, std::string where) {
    if (const auto* former = schema.former(segments)) { return former_key(*former, segments, std::move(where)); }
    std::string remedy;
    if (segments.back().find('.') != std::string::npos && schema.find(split_key(segments.back())) != nullptr) {
        remedy = "Write it nested, one map for each part between the dots.";
    } else if (const auto near = schema.nearest_to(segments); !near.empty() && near == join_key(segments)) {
        remedy = "It is a section: name one of its settings (`agentforge config show`).";
    } else if (!near.empty()) {
        remedy = "Did you mean " + near + "?";
    } else {
        remedy = "`agentforge help docs/settings.md` lists the settings.";
    }
    return Error{"AF-CONF-020", shown_key(segments) + " is not a setting", std::move(where), std::move(remedy),
                 ErrorKind::invalid};
}

/// Returns the place of the value at a JSON pointer below a setting.
using Places = std::function<std::string(const std::string& pointer)>;

/// Makes each value of a free map a leaf, so that layers merge inside the map.
Result<void> flatten_free(const json::object& object, std::vector<std::string>& segments, const std::string& pointer,
                          const Places& where, const SettingKey& setting, std::vector<Leaf>& leaves) {
    for (const auto& [key, value] : object) {
        if (key.empty()) {
            return Error{"AF-CONF-021", "the setting " + ellipsis(join_key(segments), 120) + " contains a field without a name",
                         where(pointer), "Name it.", ErrorKind::invalid};
        }
        segments.emplace_back(key);
        const std::string at = pointer + "/" + pointer_token(segments.back());
        if (value.is_object() && !value.get_object().empty()) {
            AF_CHECK(flatten_free(value.get_object(), segments, at, where, setting, leaves));
        } else {
            leaves.push_back({segments, value, where(at), &setting});
        }
        segments.pop_back();
    }
    return {};
}

Result<void> add_leaf(const SettingKey& key, const std::vector<std::string>& segments, const json::value& value,
                      const Places& where, std::vector<Leaf>& leaves) {
    if (const auto problem = value_problem(key, value); !problem.empty()) {
        return wrong_value(segments, problem, key, where(""), value);
    }
    if (key.type == SettingKey::Type::map) {
        auto inner = segments;
        AF_CHECK(flatten_free(value.get_object(), inner, "", where, key, leaves));
    } else {
        leaves.push_back({segments, value, where(""), &key});
    }
    return {};
}

Result<void> add_leaf(const SettingKey& key, const std::vector<std::string>& segments, const json::value& value,
                      const std::string& where, std::vector<Leaf>& leaves) {
    return add_leaf(
        key, segments, value, [&](const std::string&) { return where; }, leaves);
}

Result<void> flatten(const SettingsSchema& schema, const YamlDocument& document, const json::object& object,
                     const std::string& pointer, std::vector<std::string>& segments, std::vector<Leaf>& leaves) {
    for (const auto& [name, value] : object) {
        segments.emplace_back(name);
        const auto at = pointer + "/" + pointer_token(segments.back());
        if (const auto* key = schema.find(segments)) {
            AF_CHECK(add_leaf(
                *key, segments, value, [&](const std::string& below) { return document.where(at + below); }, leaves));
        } else if (schema.is_section(segments) || schema.is_former_section(segments)) {
            if (const auto* inner = value.if_object()) {
                AF_CHECK(flatten(schema, document, *inner, at, segments, leaves));
            } else if (!value.is_null()) {
                return Error{"AF-CONF-021", join_key(segments) + " must be a map of settings", document.where(at),
                             "Put the settings below it, indented.", ErrorKind::invalid};
            }
        } else {
            return unknown_key(schema, segments, document.where(at + "#"));
        }
        segments.pop_back();
    }
    return {};
}

Result<std::vector<Leaf>> file_leaves(const SettingsSchema& schema, const std::string& file) {
    std::vector<Leaf> leaves;
    std::error_code error;
    if (file.empty()) { return leaves; }
    if (const auto folder = std::filesystem::path(file).parent_path();
        std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error)) {
        return Error{"AF-CONF-025", "the path of the settings folder is not a folder", folder.string(), "Move the file away.",
                     ErrorKind::invalid};
    }
    if (!std::filesystem::exists(std::filesystem::symlink_status(file, error)) &&
        (!error || error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory)) {
        return leaves;
    }
    AF_TRY(const YamlDocument document, load_yaml(file));
    if (document.value.is_null()) { return leaves; }
    if (!document.value.is_object()) {
        return Error{"AF-CONF-021", "the settings must be a map", document.where(""), "Write `llm:` and below it `backend: …`.",
                     ErrorKind::invalid};
    }
    std::vector<std::string> segments;
    AF_CHECK(flatten(schema, document, document.value.get_object(), "", segments, leaves));
    return leaves;
}

const Leaf* find_leaf(const std::vector<Leaf>& leaves, const std::vector<std::string>& segments) {
    const auto found = std::ranges::find(leaves, segments, &Leaf::segments);
    return found == leaves.end() ? nullptr : &*found;
}

/// Returns the value of the key without the project's file, or null.
const Leaf* without_project(const std::vector<Leaf>& built_in, const std::vector<Leaf>& user, const Leaf& of_project) {
    for (const auto& segments : {of_project.segments, split_key(of_project.key->unset)}) {
        for (const std::vector<Leaf>* leaves : {&user, &built_in}) {
            if (const Leaf* const leaf = find_leaf(*leaves, segments)) { return leaf; }
        }
    }
    return nullptr;
}

json::value joined(const json::value& first, const json::value& second) {
    json::array list = first.get_array();
    for (const json::value& one : second.get_array()) {
        if (std::ranges::find(list, one) == list.end()) { list.push_back(one); }
    }
    return list;
}

/// Keeps in `project` only what applies. Lists in `guarded` what needs the user's trust, and removes it if there is none. Moves
/// what a project may never set to `refused`.
void sort_out_project(const std::vector<Leaf>& built_in, const std::vector<Leaf>& user, bool trusted, std::vector<Leaf>& project,
                      std::vector<GuardedSetting>& guarded, std::vector<GuardedSetting>& refused) {
    std::vector<Leaf> counts;
    for (Leaf& leaf : project) {
        const Leaf* const own = find_leaf(user, leaf.segments);
        if (leaf.key->project == SettingKey::Project::more && own != nullptr) { leaf.value = joined(own->value, leaf.value); }
        const Leaf* const holds = without_project(built_in, user, leaf);
        if (!needs_agreement(*leaf.key, leaf.value, holds == nullptr ? nullptr : &holds->value)) {
            counts.push_back(std::move(leaf));
            continue;
        }
        GuardedSetting setting{.key = join_key(leaf.segments), .value = leaf.value, .where = leaf.where};
        if (holds != nullptr) {
            setting.holds = holds->value;
            setting.holds_where = holds->where;
        }
        const bool never = leaf.key->project == SettingKey::Project::never;
        (never ? refused : guarded).push_back(std::move(setting));
        if (trusted && !never) { counts.push_back(std::move(leaf)); }
    }
    project = std::move(counts);
}

}  // namespace

struct Settings::State {
    std::vector<Layer> layers;  ///< The lowest first.
    Poco::AutoPtr<Poco::Util::LayeredConfiguration> merged{new Poco::Util::LayeredConfiguration};
    std::vector<std::string> unknown_environment;
    json::array known;
    std::vector<GuardedSetting> guarded;
    std::vector<GuardedSetting> refused;

    void add(std::string name, const std::vector<Leaf>& leaves) {
        Layer layer{std::move(name), new Poco::Util::MapConfiguration, {}, {}};
        for (const auto& leaf : leaves) {
            const auto key = join_key(leaf.segments);
            // If one layer has a value and another a map, the higher layer wins.
            for (auto& lower_layer : layers) {
                if (lower_layer.values->hasProperty(key)) { layer.overridden[key] = lower_layer.values->getRawString(key); }
                lower_layer.values->remove(key);
                for (auto dot = key.rfind('.'); dot != std::string::npos && dot > 0; dot = key.rfind('.', dot - 1)) {
                    if (lower_layer.values->hasProperty(key.substr(0, dot))) { lower_layer.values->remove(key.substr(0, dot)); }
                }
            }
            layer.values->setString(key, json::serialize(leaf.value));
            layer.where[key] = leaf.where;
        }
        // In Poco the smaller number has priority.
        merged->add(layer.values, layer.name, -static_cast<int>(layers.size()), false);
        layers.push_back(std::move(layer));
    }

    [[nodiscard]] std::optional<json::value> leaf(const std::string& key) const {
        if (key.empty() || !merged->hasProperty(key)) { return std::nullopt; }
        return json::parse(merged->getRawString(key));
    }

    [[nodiscard]] json::object tree(const std::string& key) const {
        Poco::Util::AbstractConfiguration::Keys names;
        merged->keys(key, names);
        std::sort(names.begin(), names.end());
        json::object out;
        for (const auto& name : names) {
            const auto inner = key.empty() ? name : key + "." + name;
            const auto plain = split_key(name).front();
            if (auto value = leaf(inner)) {
                out[plain] = std::move(*value);
            } else {
                out[plain] = tree(inner);
            }
        }
        return out;
    }
};

Result<Settings> Settings::load(const std::string& product_directory, const Sources& sources) {
    AF_TRY(const SettingsSchema schema, SettingsSchema::load(product_directory + "/settings_schema.yaml"));
    auto state = std::make_shared<State>();
    std::vector<Leaf> built_in;
    for (const auto& key : schema.keys()) {
        json::object entry{
            {"key", key.name}, {"type", key.type_name}, {"description", key.description}, {"project", key.project_name}};
        if (key.fallback) {
            entry["default"] = *key.fallback;
            AF_CHECK(add_leaf(key, key.segments, *key.fallback, key.where, built_in));
        }
        state->known.push_back(std::move(entry));
    }
    AF_TRY(const auto user, file_leaves(schema, sources.user_file));
    AF_TRY(auto project, file_leaves(schema, sources.project_file));
    sort_out_project(built_in, user, sources.project_trusted, project, state->guarded, state->refused);
    std::vector<Leaf> environment;
    for (const auto& [variable, text] : sources.environment) {
        if (!variable.starts_with(environment_prefix)) { continue; }
        if (std::find(std::begin(other_variables), std::end(other_variables), variable) != std::end(other_variables)) {
            continue;
        }
        std::vector<std::string> segments;
        const auto* key = is_valid_utf8(variable) ? key_of_variable(schema, variable, segments) : nullptr;
        if (key == nullptr) {
            state->unknown_environment.push_back(variable);
            continue;
        }
        const auto where = "environment " + variable;
        AF_TRY(const json::value value, value_from_text(*key, text, where));
        AF_CHECK(add_leaf(*key, segments, value, where, environment));
    }
    std::vector<Leaf> flags;
    for (const auto& [name, text] : sources.flags) {
        const auto segments = split_key(name);
        const auto where = "flag " + name;
        const auto* key = segments.empty() || !is_valid_utf8(name) ? nullptr : schema.find(segments);
        if (key == nullptr) { return unknown_key(schema, segments.empty() ? std::vector<std::string>{""} : segments, where); }
        AF_TRY(const json::value value, value_from_text(*key, text, where));
        AF_CHECK(add_leaf(*key, segments, value, where, flags));
    }
    state->add("built-in", built_in);
    state->add("user", user);
    state->add("project", project);
    state->add("environment", environment);
    state->add("flag", flags);
    Settings settings;
    settings.state_ = std::move(state);
    return settings;
}

std::string Settings::text(std::string_view key) const {
    const auto value = state_->leaf(std::string(key));
    if (!value) { return ""; }
    if (const auto* text = value->if_string()) { return std::string(*text); }
    return json::serialize(*value);
}

std::int64_t Settings::integer(std::string_view key) const {
    const auto value = state_->leaf(std::string(key));
    return value && value->is_int64() ? value->get_int64() : 0;
}

bool Settings::boolean(std::string_view key) const {
    const auto value = state_->leaf(std::string(key));
    return value && value->is_bool() && value->get_bool();
}

std::vector<std::string> Settings::list(std::string_view key) const {
    const auto value = state_->leaf(std::string(key));
    std::vector<std::string> out;
    if (!value) { return out; }
    if (const auto* text = value->if_string()) { out.emplace_back(*text); }
    if (const auto* list = value->if_array()) {
        for (const auto& item : *list) {
            if (item.is_string()) { out.emplace_back(item.get_string()); }
        }
    }
    return out;
}

json::object Settings::section(std::string_view key) const { return state_->tree(std::string(key)); }

std::optional<SettingOrigin> Settings::origin(std::string_view key) const {
    for (auto layer = state_->layers.rbegin(); layer != state_->layers.rend(); ++layer) {
        if (const auto found = layer->where.find(key); found != layer->where.end() && layer->values->hasProperty(found->first)) {
            return SettingOrigin{layer->name, found->second};
        }
    }
    return std::nullopt;
}

std::optional<std::string> Settings::overridden(std::string_view key) const {
    for (auto layer = state_->layers.rbegin(); layer != state_->layers.rend(); ++layer) {
        const auto found = layer->overridden.find(key);
        if (found == layer->overridden.end() || !layer->values->hasProperty(found->first)) { continue; }
        const json::value value = json::parse(found->second);
        return value.is_string() ? std::string(value.get_string()) : found->second;
    }
    return std::nullopt;
}

bool Settings::is_below(const std::optional<SettingOrigin>& origin, const std::optional<SettingOrigin>& other) const {
    const auto rank = [this](const std::optional<SettingOrigin>& of) {
        return of ? std::ranges::find(state_->layers, of->layer, &Layer::name) - state_->layers.begin() : -1;
    };
    return rank(origin) < rank(other);
}

json::object Settings::all() const { return state_->tree(""); }

const std::vector<std::string>& Settings::unknown_environment() const { return state_->unknown_environment; }

std::vector<std::string> Settings::variables() const {
    std::vector<std::string> names(std::begin(other_variables), std::end(other_variables));
    for (const json::value& entry : state_->known) {
        names.push_back(std::string(environment_prefix) + upper(std::string_view(entry.get_object().at("key").as_string())));
    }
    return names;
}

const std::vector<GuardedSetting>& Settings::guarded() const { return state_->guarded; }

const std::vector<GuardedSetting>& Settings::refused() const { return state_->refused; }

const json::array& Settings::known() const { return state_->known; }

const GuardedSetting* first_missed(const Settings& settings, const std::vector<GuardedSetting>& left_out,
                                   const std::function<bool(const std::string& key)>& concerns) {
    for (const GuardedSetting& setting : left_out) {
        if (!concerns(setting.key)) { continue; }
        const auto origin = settings.origin(setting.key);
        if (origin && (origin->layer == "flag" || origin->layer == "environment")) { continue; }
        if (settings.text(setting.key) !=
            (setting.value.is_string() ? std::string(setting.value.get_string()) : json::serialize(setting.value))) {
            return &setting;
        }
    }
    return nullptr;
}

}  // namespace agentforge::kernel
