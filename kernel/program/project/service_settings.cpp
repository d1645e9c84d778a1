// SPDX-License-Identifier: Apache-2.0
#include "program/project/service_settings.hpp"

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "config/settings_schema.hpp"
#include "git/detected_repository.hpp"
#include "program/project/preflight.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

/// Runs Python's checks in the project's virtual environment, unless a setting names an interpreter.
void use_python_environment(json::object& gates, const ProjectPlace& place) {
    gates.emplace("programs", json::object());
    gates.emplace("readable", json::array());
    json::value& programs = gates.at("programs");
    json::value& readable = gates.at("readable");
    if (!programs.is_object() || !readable.is_array() || programs.get_object().contains("python3")) { return; }
    const auto python = python_environment(place.root);
    if (!python) { return; }
    programs.get_object()["python3"] = python->interpreter;
    for (const std::string& folder : python->folders) { readable.get_array().emplace_back(folder); }
}

/// Lets the checks of JavaScript read the packages that are installed in the checkout but not committed.
void use_node_packages(json::object& gates, const ProjectPlace& place) {
    json::value& readable = gates.at("readable");
    const auto folder = node_packages(place.root);
    if (folder && readable.is_array()) { readable.get_array().emplace_back(*folder); }
}

/// Returns the origin of the first setting below `key`.
std::optional<SettingOrigin> origin_below(const Settings& settings, const std::string& key, const json::value& value) {
    if (!value.is_object()) { return settings.origin(key); }
    for (const auto& [name, inner] : value.get_object()) {
        if (auto origin = origin_below(settings, key + "." + join_key({std::string(name)}), inner)) { return origin; }
    }
    return settings.origin(key);
}

}  // namespace

json::object gate_settings(const Settings& settings, const ProjectPlace& place) {
    json::object gates = settings.section("gates");
    const auto absolute = [&](json::value& path) {
        if (!path.is_string() || path.get_string().empty() || path.get_string().starts_with('/')) { return; }
        std::string whole = (place.root / std::string(path.get_string())).lexically_normal().string();
        while (whole.size() > 1 && whole.ends_with('/')) { whole.pop_back(); }
        path = whole;
    };
    if (json::value* folders = gates.if_contains("readable"); folders != nullptr && folders->is_array()) {
        for (json::value& folder : folders->get_array()) { absolute(folder); }
    }
    if (json::value* programs = gates.if_contains("programs"); programs != nullptr && programs->is_object()) {
        for (auto& program : programs->get_object()) {
            if (program.value().is_string() && program.value().get_string().find('/') != json::string::npos) {
                absolute(program.value());
            }
        }
    }
    use_python_environment(gates, place);
    use_node_packages(gates, place);
    return gates;
}

ServerSet declared_servers(const Settings& settings, const ProjectPlace& place, const ProjectTrust& trust,
                           const NetworkRule& network, const std::map<std::string, std::string>& environment) {
    ServerSources sources;
    sources.settings = settings.section("mcp_servers");
    sources.where = [&settings](const std::string& name) {
        for (const char* field : {"command", "timeout_seconds", "enabled"}) {
            if (const auto origin = settings.origin(join_key({"mcp_servers", name, field}))) { return origin->where; }
        }
        return "mcp_servers." + name;
    };
    sources.mcp_json = (place.root / ".mcp.json").string();
    sources.environment = environment;
    sources.trusted = trust.allowed();
    sources.network_allowed = network.network == ModelNetwork::any && settings.boolean("servers.allow_network");
    ServerSet set = read_servers(sources);
    if (trust.allowed()) { return set; }
    // If the project's server settings are left out, asking for one of these servers gives the reason.
    for (const GuardedSetting& setting : trust.settings) {
        if (!setting.key.starts_with("mcp_servers.")) { continue; }
        const std::string name = setting.key.substr(12, setting.key.find('.', 12) - 12);
        set.refused.emplace(tool_prefix(name), not_trusted(name, setting.where));
    }
    return set;
}

Log::Options log_options(const Program& program, const ProjectPlace& place, const Settings& settings) {
    Log::Options log;
    log.level = settings.text("log.level");
    const json::object section = settings.section("log");
    if (const json::value* levels = section.if_contains("levels"); levels != nullptr && levels->is_object()) {
        for (const auto& [component, level] : levels->get_object()) {
            if (level.is_string()) { log.levels[std::string(component)] = std::string(level.get_string()); }
        }
    }
    log.format = settings.text("log.format");
    log.max_file_bytes = static_cast<std::uint64_t>(settings.integer("log.max_file_bytes"));
    log.kept_files = static_cast<unsigned>(settings.integer("log.kept_files"));
    log.command = program.command_name;
    log.version = AGENTFORGE_VERSION;
    log.file = settings.text("log.file");
    if (log.file.empty()) {
        log.file = (place.agentforge / "logs" / "agentforge.log").string();
        log.follow_links = false;  // Links in a repository must not decide where the log is written.
    } else if (!std::filesystem::path(log.file).is_absolute()) {
        log.file = (place.root / log.file).string();
    }
    return log;
}

TokenBudget token_budget(const Settings& settings) {
    const auto tokens = [&settings](const char* key) { return static_cast<std::size_t>(settings.integer(key)); };
    return {.total = tokens("context.max_tokens"),
            .system_prompt = tokens("context.budget.system_prompt"),
            .task_frame = tokens("context.budget.task_frame"),
            .current_state = tokens("context.budget.current_state"),
            .recent_actions = tokens("context.budget.recent_actions"),
            .verification_status = tokens("context.budget.verification_status"),
            .available_actions = tokens("context.budget.available_actions")};
}

Result<PriceTable> load_prices(const ProjectPlace& place, const ProductPaths& product, const Settings& settings) {
    std::filesystem::path own = settings.text("cost.prices");
    if (own.empty()) { return PriceTable::load(product.config + "/prices.yaml"); }
    const auto origin = settings.origin("cost.prices");
    if (!own.is_absolute()) { own = place.root / own; }
    return PriceTable::load(product.config + "/prices.yaml", own.string(), origin ? origin->where : "cost.prices");
}

Result<DeliverySettings> load_delivery(const Settings& settings) {
    return read_delivery_settings(settings.section("delivery"), [&settings](const std::string& key) {
        const auto origin = settings.origin(key);
        return origin ? origin->where : key;
    });
}

Result<TaskLimits> load_limits(const Settings& settings, const PipelineSet& pipelines) {
    const auto where = [&settings](const std::string& key) {
        const auto origin = settings.origin(key);
        return origin ? origin->where : key;
    };
    AF_TRY(TaskLimits limits, read_limits(settings.section("limits"), where));
    std::vector<std::string> stages;
    for (const std::string& name : pipelines.names()) {
        AF_TRY(const PipelineTemplate pipeline, pipelines.get(name));
        for (const StageTemplate& stage : pipeline.stages) { stages.push_back(stage.name); }
    }
    for (const auto& [name, stage] : limits.stages) {
        if (std::ranges::find(stages, name) != stages.end()) { continue; }
        std::string place;
        for (const char* key : {"max_cost_usd", "max_tokens", "max_steps", "max_wall_time"}) {
            const std::string whole = "limits.stages." + name + "." + key;
            if (place.empty() && settings.origin(whole)) { place = where(whole); }
        }
        const std::string near = nearest(name, stages);
        return Error{"AF-COST-003", "limits.stages names `" + printable(name, 60) + "`, and no pipeline has a stage of that name",
                     place, near.empty() ? "Name a stage of one of the pipelines." : "Did you mean `" + near + "`?",
                     ErrorKind::invalid};
    }
    return limits;
}

Result<void> check_roles_of_settings(const Settings& settings, const AgentSet& agents) {
    const std::vector<std::string> roles = agents.roles();
    for (const auto& [name, own] : settings.section("agents")) {
        const std::string role(name);
        if (std::ranges::find(roles, role) != roles.end()) { continue; }
        const auto origin = origin_below(settings, "agents." + join_key({role}), own);
        if (!origin || origin->layer == "user" || origin->layer == "built-in") { continue; }
        const std::string near = nearest(role, roles);
        return Error{"AF-CONF-081", "the settings name the agent `" + printable(role, 60) + "`, which does not exist",
                     origin->where, near.empty() ? "`agentforge agents list` shows them." : "Did you mean `" + near + "`?",
                     ErrorKind::invalid};
    }
    return {};
}

}  // namespace agentforge::kernel
