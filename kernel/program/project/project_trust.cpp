// SPDX-License-Identifier: Apache-2.0
#include "program/project/project_trust.hpp"

#include "base/text.hpp"
#include "config/settings_schema.hpp"
#include "git/repository.hpp"
#include "program/project/preflight.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

std::string variable(const std::map<std::string, std::string>& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
}

std::string shown_in_line(const json::value& value) {
    return value.is_string() ? std::string(value.get_string()) : to_json_line(value);
}

Result<void> check_absolute(const std::string& folder, const char* name) {
    if (folder.empty() || folder.front() == '/') { return {}; }
    return Error{"AF-CLI-131", std::string(name) + " is not an absolute path: `" + printable(folder, 120) + "`", name,
                 "write an absolute path: its meaning may not depend on the current folder", ErrorKind::invalid};
}

std::string user_settings(const std::map<std::string, std::string>& environment) {
    const std::string home = variable(environment, "HOME");
    return home.empty() ? std::string() : home + "/.agentforge/config.yaml";
}

/// True if the user trusts every project for this run.
Result<bool> trusted_by_environment(const Program& program) {
    const std::string value = variable(program.environment, "AGENTFORGE_TRUST_PROJECT");
    if (value.empty() || value == "0") { return false; }
    if (value == "1") { return true; }
    return Error{"AF-CLI-014", "AGENTFORGE_TRUST_PROJECT is `" + ellipsis(sanitize_utf8(value), 80) + "`",
                 "environment AGENTFORGE_TRUST_PROJECT",
                 "Set it to 1 to let the project's own files run plugins, servers and commands, or unset it.",
                 ErrorKind::invalid};
}

/// Returns the project's own plugin folders, relative to the project's.
std::vector<std::string> folders_of(const std::vector<GuardedSetting>& settings, const fs::path& root) {
    std::vector<std::string> folders;
    for (const GuardedSetting& setting : settings) {
        if (setting.key != "plugins.paths" || !setting.value.is_array()) { continue; }
        for (const json::value& path : setting.value.get_array()) {
            if (path.is_string()) { folders.push_back((root / std::string(path.get_string())).lexically_normal().string()); }
        }
    }
    return folders;
}

/// Returns ` (settings.yaml:2:3; 1000 applies)` for an item that is a setting.
std::string place_of(const std::vector<GuardedSetting>& settings, const std::string& item) {
    const auto found =
        std::ranges::find_if(settings, [&item](const GuardedSetting& setting) { return "setting " + setting.key == item; });
    if (found == settings.end()) { return ""; }
    return " (" + found->where + (found->holds.is_null() ? "" : "; " + shown_in_line(found->holds) + " applies") + ")";
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t index = 0; index < names.size() && index < 6; ++index) {
        text += (index == 0 ? "" : ", ") + printable(names[index], 300);
    }
    return text + (names.size() > 6 ? " and " + std::to_string(names.size() - 6) + " more" : "");
}

/// Returns the place of the setting with these segments, or of the first one below or around it; "" if there is none.
std::string place_below(const Settings& settings, std::vector<std::string> segments) {
    while (segments.size() > 2) {
        const std::string key = join_key(segments);
        if (const auto origin = settings.origin(key)) { return origin->where; }
        // A map has no place. Its first value is nearest.
        std::vector<std::string> inside = segments;
        for (json::object section = settings.section(key); !section.empty();) {
            const auto& [name, value] = *section.begin();
            inside.emplace_back(name);
            if (const auto origin = settings.origin(join_key(inside))) { return origin->where; }
            section = value.is_object() ? json::object(value.get_object()) : json::object();
        }
        segments.pop_back();
    }
    return "";
}

/// Returns where a plugin's setting was written: for a backend below `llm:`, and for all plugins below plugins.settings.
std::string place_of_setting(const Settings& settings, const PluginManifest& manifest, PluginKind kind, std::string_view name,
                             std::string_view pointer) {
    std::vector<std::string> path;
    while (!pointer.empty()) {
        pointer.remove_prefix(1);
        std::string token(pointer.substr(0, pointer.find('/')));
        pointer.remove_prefix(token.size());
        for (std::size_t at = 0; (at = token.find('~', at)) != std::string::npos; ++at) {
            token.replace(at, 2, token.substr(at, 2) == "~1" ? "/" : "~");
        }
        path.push_back(std::move(token));
    }
    const auto under = [&](std::vector<std::string> segments) {
        segments.insert(segments.end(), path.begin(), path.end());
        return segments;
    };
    const std::vector<std::vector<std::string>> places = {{"plugins", "settings", std::string(name)},
                                                          {"plugins", "settings", manifest.id}};
    if (kind == PluginKind::llm && !path.empty()) {
        for (const auto& each : {under({"llm", "settings"}), under({"llm"}), under({"llm", "replay"})}) {
            const auto origin = settings.origin(join_key(each));
            if (origin && origin->layer != "built-in") { return origin->where; }
        }
    }
    for (const auto& place : places) {
        if (std::string where = place_below(settings, under(place)); !where.empty()) { return where; }
    }
    return "";
}

/// The folder that relative paths in the layer's settings start from. Empty if the layer has none.
fs::path base_of_layer(const Program& program, const ProjectPlace& place, std::string_view layer) {
    if (layer == "project") { return place.root; }
    return layer == "user" ? fs::path(user_settings(program.environment)).parent_path() : fs::path();
}

}  // namespace

Result<ProjectPlace> ProjectPlace::find(const Program& program) {
    AF_TRY(const Repository repository, Repository::open(program.directory));
    ProjectPlace place;
    place.root = repository.work_directory();
    if (place.root.filename().empty()) { place.root = place.root.parent_path(); }
    place.agentforge = place.root / ".agentforge";
    AF_CHECK(check_own_folder(place.agentforge));
    return place;
}

Result<std::string> state_directory(const std::map<std::string, std::string>& environment) {
    for (const auto& [name, below] :
         {std::pair{"AGENTFORGE_STATE_HOME", ""}, {"XDG_STATE_HOME", "/agentforge"}, {"HOME", "/.local/state/agentforge"}}) {
        const std::string folder = variable(environment, name);
        if (folder.empty()) { continue; }
        AF_CHECK(check_absolute(folder, name));
        return folder + below;
    }
    return Error{"AF-CLI-003", "there is no folder for worktrees: neither AGENTFORGE_STATE_HOME nor HOME is set", "",
                 "set one of them", ErrorKind::unavailable};
}

std::vector<std::string> folders_of_plugins(const Program& program, const ProjectPlace& place, const Settings& settings) {
    const auto origin = settings.origin("plugins.paths");
    std::vector<std::string> folders = settings.list("plugins.paths");
    if (!origin) { return folders; }
    const fs::path base = base_of_layer(program, place, origin->layer);
    if (base.empty()) { return folders; }
    for (std::string& folder : folders) { folder = (base / folder).lexically_normal().string(); }
    return folders;
}

PluginSearch plugin_search(const Program& program, const ProjectPlace& place, const ProductPaths& product,
                           const Settings& settings, const ProjectTrust& trust) {
    PluginSearch search;
    const auto paths = settings.origin("plugins.paths");
    if (!paths || paths->layer != "project") { search.configured = folders_of_plugins(program, place, settings); }
    search.environment = variable(program.environment, "AGENTFORGE_PLUGIN_PATH");
    search.product = product.plugins;
    search.stages = {product.config + "/stages", (place.agentforge / "stages").string()};
    // If a flag or the environment overrides the project's own paths, these are not searched. Without trust they are only listed.
    if (!trust.allowed() || (paths && paths->layer == "project")) { search.project = trust.plugin_folders; }
    search.project_trusted = trust.allowed();
    search.trusted_files = trust.subject.pinned;
    if (settings.origin("plugins.enable")) { search.choice.enable = settings.list("plugins.enable"); }
    search.choice.disable = settings.list("plugins.disable");
    search.lock = (place.root / lock_file).string();
    search.settings = settings.section("plugins.settings");
    search.place = [&settings](const PluginManifest& manifest, PluginKind kind, std::string_view name, std::string_view pointer) {
        return place_of_setting(settings, manifest, kind, name, pointer);
    };
    return search;
}

Result<void> check_plugin_settings(const PluginRegistry& plugins, const Settings& settings) {
    AF_CHECK(plugins.check_choice([&settings](const std::string& key) {
        if (key.starts_with("settings.")) { return place_below(settings, {"plugins", "settings", key.substr(9)}); }
        const auto origin = settings.origin("plugins." + key);
        return origin ? origin->where : "plugins." + key;
    }));
    return plugins.check_all_settings();
}

Result<TrustStore> open_trust_store(const Program& program, const ProjectPlace& place) {
    AF_TRY(const std::string state, state_directory(program.environment));
    return TrustStore::open(state, place.root.string());
}

const GuardedSetting* missed_by_plugin(const Settings& settings, const std::vector<GuardedSetting>& left_out,
                                       const std::string& name, const std::string& id) {
    return first_missed(settings, left_out, [&](const std::string& key) {
        return key.starts_with(join_key({"plugins", "settings", name}) + ".") ||
               key.starts_with(join_key({"plugins", "settings", id}) + ".");
    });
}

Error required_setting_error(const GuardedSetting& setting) {
    const std::string key = printable(setting.key, 120);
    return {"AF-PLUG-043",
            "the project says " + key + ", which takes effect only if you trust the project; the run does not start without it",
            setting.where,
            "Look at it with `agentforge trust --show`, then allow it with `agentforge trust`; or set it yourself with --set " +
                key + "=…",
            ErrorKind::unavailable};
}

Error user_only_error(const GuardedSetting& setting) {
    const std::string key = printable(setting.key, 120);
    return {"AF-CONF-047", "the project's settings set " + key + ", which only your own settings may set; it is ignored",
            setting.where, "Remove it there. To use it, set it in ~/.agentforge/config.yaml or with --set " + key + "=…",
            ErrorKind::denied};
}

void warn_about_refused_settings(std::ostream& err, const Settings& settings) {
    for (const GuardedSetting& setting : settings.refused()) {
        err << "agentforge: " << printable_lines(user_only_error(setting).to_string()) << "\n";
    }
}

const std::vector<GuardedSetting>& ProjectTrust::left_out() const noexcept {
    static const std::vector<GuardedSetting> none;
    return allowed() ? none : settings;
}

Error ProjectTrust::refusal() const {
    std::vector<std::string> names;
    for (const auto& [name, hash] : subject.items) { names.push_back(name + place_of(settings, name)); }
    const bool was = verdict == TrustVerdict::changed;
    return {
        "AF-PLUG-040",
        was ? "This project changed since you trusted it (" + listed(changed) +
                  "), so AgentForge does not run what the project's files name: " + listed(names)
            : "You have not trusted this project, so AgentForge does not run what the project's files name: " + listed(names),
        subject.root,
        "Look at it with `agentforge trust --show`, then allow it with `agentforge trust`. AgentForge's own plugins and your own settings work without this.",
        ErrorKind::denied};
}

Result<TrustedSettings> load_settings(const Program& program, const ProjectPlace& place, const ProductPaths& product,
                                      const std::vector<std::pair<std::string, std::string>>& further) {
    // Otherwise a project could pretend to be its user.
    AF_CHECK(check_absolute(variable(program.environment, "HOME"), "HOME"));
    Settings::Sources sources;
    sources.user_file = user_settings(program.environment);
    sources.project_file = (place.agentforge / "config" / "settings.yaml").string();
    sources.environment = program.environment;
    sources.flags = program.settings;
    sources.flags.insert(sources.flags.end(), further.begin(), further.end());
    AF_TRY(const bool by_environment, trusted_by_environment(program));

    TrustedSettings loaded;
    AF_TRY(Settings settings, Settings::load(product.config, sources));
    ProjectTrust& trust = loaded.trust;
    trust.settings = settings.guarded();
    trust.plugin_folders = folders_of(trust.settings, place.root);
    trust.for_this_run = program.trust_project || by_environment;
    json::object values;
    for (const GuardedSetting& setting : trust.settings) { values[setting.key] = setting.value; }
    AF_TRY(trust.subject, trust_subject(place.root.string(), values, trust.plugin_folders));
    if (!trust.subject.empty() && !trust.for_this_run) {
        AF_TRY(const TrustStore store, open_trust_store(program, place));
        trust.verdict = store.verdict(trust.subject);
        trust.changed = store.differences(trust.subject);
    }
    if (!trust.allowed() && !trust.settings.empty()) {
        // Reads again, because a project's value may have hidden one of the user's.
        sources.project_trusted = false;
        AF_TRY(settings, Settings::load(product.config, sources));
    }
    loaded.settings = std::make_unique<Settings>(std::move(settings));
    return loaded;
}

}  // namespace agentforge::kernel
