// SPDX-License-Identifier: Apache-2.0
#include "program/project/project.hpp"

#include <algorithm>
#include <map>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "program/project/task_preflight.hpp"
#include "program/project/task_seal.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

ExecHelper Project::exec_helper() const { return {product_.exec_helper, settings_->list("sandbox.accept")}; }

void Project::log_errors(Program& program) {
    here_ = std::make_shared<Project*>(this);
    program.failed = [place = std::weak_ptr<Project*>(here_)](const Error& error) {
        const auto here = place.lock();
        if (!here) { return; }
        const Error redacted = (*here)->secrets_.redactor->redact(error);
        (*here)->log_->note(redacted, (*here)->place_.agentforge.string());
    };
}

std::string Project::resolve_path(const std::string& path) const {
    if (path.empty() || std::filesystem::path(path).is_absolute()) { return path; }
    std::string whole = (program_.directory / path).lexically_normal().string();
    // Plugins and the journal get JSON, which is UTF-8. If the folder's name is not UTF-8, a path stays relative to it.
    std::error_code error;
    return !is_valid_utf8(whole) && std::filesystem::equivalent(program_.directory, ".", error) ? path : whole;
}

json::object Project::settings_for_task() const {
    json::object all = settings_->all();
    for (const char* key : {"transcript", "record"}) {
        const std::string file = settings_->text(std::string("llm.") + key);
        if (!file.empty()) { all["llm"].as_object()[key] = resolve_path(file); }
    }
    services_->redactor.redact(all);
    return all;
}

Result<void> Project::seal(json::object& configuration) {
    AF_TRY(const std::string state, state_directory(program_.environment));
    return seal_settings(state, ids_, place_.root.string(), configuration);
}

json::array Project::plugins_of(const PipelineTemplate& pipeline) {
    std::map<std::string, const PluginManifest*, std::less<>> used;
    const auto take = [&](PluginKind kind, const std::string& name) {
        if (const PluginManifest* const plugin = plugins_.owner(kind, name)) { used.emplace(plugin->id, plugin); }
    };
    for (const StageTemplate& stage : pipeline.stages) {
        take(PluginKind::stage, stage.executor);
        for (const std::string& role : roles_of(stage)) {
            const auto agent = agents_.get(role);
            if (!agent.ok()) { continue; }
            for (const std::string& tool : agent->allowed_tools) { take(PluginKind::tool, tool); }
            auto asked = configured_model(role);
            if (asked.ok()) { asked = resolve_auto(std::move(*asked)); }
            if (asked.ok()) { take(PluginKind::llm, asked->backend); }
        }
    }
    for (const std::string& name : settings_->list("escalation.handlers")) { take(PluginKind::escalation, name); }
    json::array list;
    for (const auto& [id, plugin] : used) {
        const auto library = plugin->library.empty() ? Result<std::string>(plugin->text)
                                                     : read_file(plugin->directory + "/" + plugin->library, 1ULL << 30U);
        list.push_back(json::object{{"id", id},
                                    {"version", plugin->version},
                                    {"sha256", library.ok() ? json::value(sha256(*library)) : json::value(nullptr)},
                                    {"source", to_string(plugin->source)}});
    }
    return list;
}

void Project::open_telemetry() {
    std::vector<std::string> unused;
    auto settings = telemetry::read_settings(program_.environment, unused);
    for (const telemetry::Signal signal : {telemetry::Signal::traces, telemetry::Signal::metrics, telemetry::Signal::logs}) {
        if (!settings.ok() || !*settings || !(*settings)->of(signal)) { continue; }
        if (const auto allowed = check_telemetry_network(network_, (*settings)->of(signal)->server.text()); !allowed.ok()) {
            settings = allowed.error();
        }
    }
    if (!settings.ok()) { unused.push_back(settings.error().to_string()); }
    for (const std::string& line : unused) { program_.err << "agentforge: " << printable_lines(line) << "\n"; }
    if (!settings.ok() || !*settings) { return; }
    for (auto& [name, value] : (*settings)->resource) {
        if (value.is_string()) { value = secrets_.redactor->redact(std::string(value.get_string())); }
    }
    const auto names_of = [this](const std::string& role) {
        const ModelSettings model = read_model_settings(*settings_, role);
        return telemetry::ModelNames{model.backend.empty() ? "auto" : model.backend, model.model};
    };
    telemetry_ = std::make_unique<Telemetry>(Telemetry::Options{**settings, AGENTFORGE_VERSION, ids_.random_hex(16), names_of},
                                             telemetry::send_by_http(program_.environment), clock_);
}

Project::~Project() {
    if (!telemetry_) { return; }
    constexpr std::chrono::milliseconds at_most{2'000};
    if (const std::string lost = telemetry_->end(at_most); !lost.empty()) {
        program_.err << "agentforge: " << printable_lines(lost) << "\n";
    }
}

}  // namespace agentforge::kernel
