// SPDX-License-Identifier: Apache-2.0
#include "program/project/project_secrets.hpp"

#include "program/project/handlers.hpp"
#include "secrets/secret_sources.hpp"

namespace agentforge::kernel {
namespace {

/// Removes the scheme: the secret of `Bearer abc` is `abc`.
std::string without_scheme(const std::string& value) {
    const std::size_t space = value.rfind(' ');
    return space == std::string::npos ? value : value.substr(space + 1);
}

void take_llm(const json::object& llm, const std::string& of, SecretSources& sources) {
    if (const json::value* name = llm.if_contains("api_key_env"); name != nullptr && name->is_string()) {
        sources.variables.emplace_back(name->get_string());
    }
    const json::value* settings = llm.if_contains("settings");
    if (settings == nullptr || !settings->is_object()) { return; }
    if (const json::value* names = settings->get_object().if_contains("environment"); names != nullptr && names->is_array()) {
        for (const json::value& name : names->get_array()) {
            if (name.is_string() && names_a_secret(name.get_string())) { sources.variables.emplace_back(name.get_string()); }
        }
    }
    if (const json::value* headers = settings->get_object().if_contains("headers"); headers != nullptr && headers->is_object()) {
        for (const auto& [name, value] : headers->get_object()) {
            if (value.is_string()) {
                sources.values.push_back({of + "headers/" + std::string(name), without_scheme(std::string(value.get_string()))});
            }
        }
    }
}

const json::object* object_in(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_object() ? &value->get_object() : nullptr;
}

}  // namespace

Result<ProjectSecrets> project_secrets(const Program& program, const ProjectPlace& place, const ProductPaths& product,
                                       const Settings& settings, const std::string& state_directory, IdSource& ids) {
    SecretSources sources;
    sources.environment = program.environment;
    sources.variables = settings.list("secrets.variables");
    sources.public_variables = settings.list("secrets.public_variables");
    // An absolute path stays unchanged.
    for (const std::string& file : settings.list("secrets.files")) { sources.files.push_back(place.root / file); }
    for (const std::string& name : webhook_variables(settings)) { sources.variables.push_back(name); }
    take_llm(settings.section("llm"), "", sources);
    for (const auto& [role, own] : settings.section("agents")) {
        if (!own.is_object()) { continue; }
        if (const json::object* llm = object_in(own.get_object(), "llm")) { take_llm(*llm, std::string(role) + "/", sources); }
    }
    for (const auto& [server, own] : settings.section("mcp_servers")) {
        const json::object* env = own.is_object() ? object_in(own.get_object(), "env") : nullptr;
        if (env == nullptr) { continue; }
        for (const auto& [name, value] : *env) {
            const bool literal = value.is_string() && !std::string_view(value.get_string()).starts_with("${");
            if (literal && names_a_secret(name)) {
                sources.values.push_back({std::string(server) + "/" + std::string(name), std::string(value.get_string())});
            }
        }
    }
    AF_TRY(KnownSecrets known, find_secrets(sources));
    AF_TRY(const std::vector<SecretRule> rules, load_secret_rules(product.config + "/secrets/rules.yaml"));
    std::string key;  // Only known values need the key. Without any, no file is created.
    if (!known.secrets.empty()) { AF_TRY(key, redaction_key(state_directory, ids)); }
    ProjectSecrets made;
    made.known = known.secrets.size();
    made.rules = rules.size();
    made.too_weak = std::move(known.too_weak);
    made.missing = std::move(known.missing);
    made.redactor = std::make_unique<Redactor>(known.secrets, rules, std::move(key));
    return made;
}

}  // namespace agentforge::kernel
