// SPDX-License-Identifier: Apache-2.0
#include "program/project/task_settings.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/settings_schema.hpp"
#include "program/project/task_seal.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

json::object object_field(const json::object& of, std::string_view name) {
    const json::value* value = of.if_contains(name);
    return value != nullptr && value->is_object() ? value->get_object() : json::object();
}

/// Returns the first of these settings that a project may not set without trust, if the task was not written by the user's own
/// `agentforge`.
std::optional<std::string> guarded_key(const Settings& settings, const SettingList& missing) {
    for (const auto& [key, value] : missing) {
        std::vector<std::string> segments = split_key(key);
        if (segments.front() == "agents") { segments[1] = "*"; }
        const std::string name = join_key(segments);
        const bool is_free = std::ranges::any_of(settings.known(), [&](const json::value& known) {
            return known.at("key").as_string() == name && known.at("project").as_string() == "free";
        });
        if (!is_free) { return key; }
    }
    return std::nullopt;
}

}  // namespace

Result<json::object> settings_of_task(const TaskStore& tasks, std::string_view task) {
    const auto id = tasks.resolve(task);
    std::error_code error;
    if (!id.ok() || !std::filesystem::exists(tasks.paths(*id).task(), error)) { return json::object(); }
    AF_TRY(const json::object started, tasks.load(*id));
    return object_field(started, "configuration");
}

SettingList settings_missing_now(const Settings& settings, const json::object& started) {
    SettingList missing;
    // A flag or a variable of this command is newer than the task.
    const auto take = [&](const json::object& of, const std::string& prefix, const char* key) {
        const std::string value = text_of(of, key);
        const auto given = settings.origin(prefix + key);
        if (given && (given->layer == "flag" || given->layer == "environment")) { return; }
        if (!value.empty() && value != settings.text(prefix + key)) { missing.emplace_back(prefix + key, value); }
    };
    const auto take_model = [&](const json::object& of, const std::string& prefix) {
        for (const char* key : {"backend", "model", "preset", "mode", "transcript", "base_url", "api_key_env"}) {
            take(object_field(of, "llm"), prefix + "llm.", key);
        }
    };
    if (settings.text("llm.backend").empty()) {
        take_model(started, "");
        const json::object roles = object_field(started, "agents");
        for (const auto& [role, own] : roles) {
            take_model(object_field(roles, role), "agents." + join_key({std::string(role)}) + ".");
        }
    }
    if (settings.text("cost.prices").empty()) { take(object_field(started, "cost"), "cost.", "prices"); }
    const auto type = settings.origin("delivery.type");
    if (!type || type->layer == "built-in") {
        for (const char* key : {"type", "remote"}) { take(object_field(started, "delivery"), "delivery.", key); }
    }
    return missing;
}

Result<void> check_settings_of_task(const Program& program, const ProjectPlace& place, const TrustedSettings& trusted,
                                    IdSource& ids, const json::object& started, const SettingList& missing) {
    const auto key = guarded_key(*trusted.settings, missing);
    if (!key || trusted.trust.for_this_run) { return {}; }
    AF_TRY(const std::string state, state_directory(program.environment));
    AF_TRY(const bool own, are_sealed(state, ids, place.root.string(), started));
    if (own) { return {}; }
    const std::string name = printable(*key, 120);
    return Error{
        "AF-PLUG-044",
        "the task's file sets " + name +
            ", but your own agentforge did not write that file in this checkout. AgentForge does not use the setting, and without it the task would run differently",
        "task.yaml", "Set it yourself with --set " + name + "=…; or check the file and allow all of it for this run with --trust",
        ErrorKind::denied};
}

void warn_of_ended_recording(Program& program, const Settings& settings, const json::object& started) {
    const std::string file = printable(text_of(object_field(started, "llm"), "record"), 300);
    if (file.empty() || !settings.text("llm.record").empty()) { return; }
    program.err << "agentforge: earlier answers of the model were recorded to " << file
                << ", but this run's are not; --set llm.record=" << file << " records them, too\n";
}

}  // namespace agentforge::kernel
