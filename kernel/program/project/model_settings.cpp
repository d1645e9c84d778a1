// SPDX-License-Identifier: Apache-2.0
#include "program/project/model_settings.hpp"

#include <functional>

#include "config/settings.hpp"
#include "config/settings_schema.hpp"

namespace agentforge::kernel {

namespace {

/// Returns the settings of a service below `key`. If a layer names another backend than the layers below it, omits those below: a
/// server's settings in a file do not fit the backend that `--transcript` selects.
json::object settings_for_backend(const Settings& settings, const std::string& key, const std::string& backend_key) {
    json::object all = settings.section(key);
    const auto backend = settings.origin(backend_key);
    const std::string name = settings.text(backend_key);
    if (name != "replay" && settings.overridden(backend_key).value_or(name) == name) { return all; }
    const std::function<void(json::object&, const std::string&)> keep = [&](json::object& object, const std::string& at) {
        for (auto field = object.begin(); field != object.end();) {
            const std::string place = at + "." + join_key({std::string(field->key())});
            bool gone = false;
            if (json::object* const inner = field->value().if_object(); inner != nullptr && !inner->empty()) {
                keep(*inner, place);
                gone = inner->empty();
            } else {
                gone = settings.is_below(settings.origin(place), backend);
            }
            field = gone ? object.erase(field) : field + 1;
        }
    };
    keep(all, key);
    return all;
}

}  // namespace

ModelSettings read_model_settings(const Settings& settings, const std::string& role) {
    const std::string prefix = role.empty() ? std::string() : "agents." + join_key({role}) + ".";
    const auto own = [&](const std::string& key) { return !prefix.empty() && settings.origin(prefix + key).has_value(); };
    const auto differs = [&](const std::string& key) { return own(key) && settings.text(prefix + key) != settings.text(key); };
    const bool elsewhere = differs("llm.backend") || differs("llm.base_url");
    const auto key = [&](const std::string& name) { return own(name) ? prefix + name : name; };
    const auto of_service = [&](const std::string& name) {
        return own(name) || !elsewhere ? settings.text(key(name)) : std::string();
    };

    ModelSettings read;
    read.backend = settings.text(key("llm.backend"));
    if (read.backend.empty()) { read.backend = "auto"; }
    read.model = of_service("llm.model");
    read.base_url = of_service("llm.base_url");
    read.api_key_env = of_service("llm.api_key_env");
    read.transcript = of_service("llm.transcript");
    read.preset = of_service("llm.preset");
    read.mode = of_service("llm.mode");
    if (own("llm.command") || !elsewhere) { read.command = settings.list(key("llm.command")); }
    read.record = settings.text(key("llm.record"));
    read.replay_match = settings.text(key("llm.replay.match"));
    read.timeout_seconds = settings.integer(key("llm.timeout_seconds"));
    read.max_output_tokens = settings.integer(key("llm.max_output_tokens"));
    if (!elsewhere) { read.settings = settings_for_backend(settings, "llm.settings", "llm.backend"); }
    if (!prefix.empty()) {
        for (const auto& [name, value] : settings_for_backend(settings, prefix + "llm.settings", key("llm.backend"))) {
            read.settings[name] = value;
        }
    }
    return read;
}

const GuardedSetting* missed_by_model(const Settings& settings, const std::vector<GuardedSetting>& left_out,
                                      const std::string& role) {
    const std::string backend = read_model_settings(settings, role).backend;
    if (backend == "replay") { return nullptr; }  // A replayed model sends nothing.
    const std::string prefix = role.empty() ? std::string() : "agents." + join_key({role}) + ".";
    const auto layer_of = [&](const std::string& name) {
        auto origin = settings.origin(prefix + name);
        if (!origin) { origin = settings.origin(name); }
        return origin ? origin->layer : std::string();
    };
    const bool own_backend = !prefix.empty() && settings.origin(prefix + "llm.backend") &&
                             settings.text(prefix + "llm.backend") != settings.text("llm.backend");
    const bool servers = backend == "anthropic" || backend == "openai" || backend == "auto";
    const bool preset_for_this_run = layer_of("llm.preset") == "flag" || layer_of("llm.preset") == "environment";
    const bool commands = (backend == "cli" && !preset_for_this_run) || backend == "auto";
    return first_missed(settings, left_out, [&](const std::string& key) {
        const bool of_role = !prefix.empty() && key.starts_with(prefix);
        const std::string name = of_role ? key.substr(prefix.size()) : key;
        if (!of_role && (own_backend || (!prefix.empty() && settings.origin(prefix + name)))) { return false; }
        if (layer_of("llm.backend") == "user" && layer_of(name) == "user") { return false; }
        return (servers && (name == "llm.base_url" || name == "llm.api_key_env")) || (commands && name == "llm.command") ||
               name.starts_with("llm.settings.");
    });
}

}  // namespace agentforge::kernel
