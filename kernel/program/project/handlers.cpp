// SPDX-License-Identifier: Apache-2.0
#include "program/project/handlers.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "program/project/project_trust.hpp"

namespace agentforge::kernel {

namespace {

constexpr const char* webhook_name = "webhook";
constexpr const char* webhook_id = "org.agentforge.escalation.webhook";

/// Returns a setting of the plugin. Its name overrides its id, as in the registry.
std::string webhook_setting(const Settings& settings, std::string_view key) {
    std::string found;
    const json::object plugins = settings.section("plugins");
    const json::value* all = plugins.if_contains("settings");
    if (all == nullptr || !all->is_object()) { return found; }
    for (const char* const name : {webhook_id, webhook_name}) {
        const json::value* own = all->get_object().if_contains(name);
        const json::value* value = own == nullptr || !own->is_object() ? nullptr : own->get_object().if_contains(key);
        if (value != nullptr && value->is_string()) { found = value->get_string(); }
    }
    return found;
}

std::string named_or(std::string named, const char* otherwise) { return named.empty() ? otherwise : named; }

std::string value_of(const std::map<std::string, std::string>& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
}

/// The context of a call that is already cancelled. A handler then reports missing settings and notifies no one.
class ExpiredContext final : public CallContext {
public:
    [[nodiscard]] bool cancelled() const noexcept override { return true; }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        return std::chrono::steady_clock::now();
    }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return std::chrono::system_clock::now(); }
};

const GuardedSetting* missed_by_handler(const Settings& settings, const PluginRegistry& plugins,
                                        const std::vector<GuardedSetting>& left_out, const std::string& name) {
    const PluginManifest* const plugin = plugins.owner(PluginKind::escalation, name);
    return plugin == nullptr ? nullptr : missed_by_plugin(settings, left_out, name, plugin->id);
}

std::string url_variable(const Settings& settings) {
    return named_or(webhook_setting(settings, "url_env"), "AGENTFORGE_WEBHOOK_URL");
}
std::string secret_variable(const Settings& settings) {
    return named_or(webhook_setting(settings, "secret_env"), "AGENTFORGE_WEBHOOK_SECRET");
}

}  // namespace

std::vector<std::string> webhook_variables(const Settings& settings) {
    return {url_variable(settings), secret_variable(settings)};
}

DeadlinePolicy deadline_policy(const Settings& settings) {
    return {std::chrono::seconds(settings.integer("escalation.deadline_seconds")), settings.text("escalation.on_deadline"),
            settings.text("escalation.default_answer")};
}

ReminderPolicy reminder_policy(const Settings& settings) {
    return {std::chrono::seconds(settings.integer("escalation.remind_after_seconds")),
            static_cast<unsigned>(settings.integer("escalation.reminders"))};
}

Result<std::vector<GroupedHandler>> make_handlers(const Settings& settings, PluginRegistry& plugins, const NetworkRule& rule,
                                                  const std::vector<GuardedSetting>& left_out,
                                                  const std::map<std::string, std::string>& environment) {
    const std::vector<std::string> names = settings.list("escalation.handlers");
    const auto wrong = [&settings](const std::string& why) {
        const auto origin = settings.origin("escalation.handlers");
        return Error{
            "AF-ESC-058", "escalation.handlers " + why, origin && !origin->where.empty() ? origin->where : "escalation.handlers",
            "Name each handler once, such as [file, webhook]; `agentforge plugins list` shows all of them.", ErrorKind::invalid};
    };
    if (names.empty()) { return wrong("names no handler"); }
    std::vector<GroupedHandler> handlers;
    for (const std::string& name : names) {
        if (std::ranges::find(handlers, name, &GroupedHandler::name) != handlers.end()) {
            return wrong("names `" + ellipsis(name, 80) + "` twice");
        }
        GroupedHandler handler{name, nullptr};
        if (name == webhook_name) {
            if (const auto allowed = check_webhook_network(rule, value_of(environment, url_variable(settings))); !allowed.ok()) {
                handler.refused = allowed.error();
            }
        }
        if (const GuardedSetting* const missed = missed_by_handler(settings, plugins, left_out, name)) {
            handler.refused = required_setting_error(*missed);
        }
        if (!handler.refused) { AF_TRY(handler.handler, plugins.escalation(name)); }
        handlers.push_back(std::move(handler));
    }
    return handlers;
}

Result<void> check_handlers(const Settings& settings, PluginRegistry& plugins, const NetworkRule& rule,
                            const std::vector<GuardedSetting>& left_out, const std::map<std::string, std::string>& environment) {
    const std::vector<std::string> names = settings.list("escalation.handlers");
    for (const std::string& name : names) {
        if (const GuardedSetting* const missed = missed_by_handler(settings, plugins, left_out, name)) {
            return required_setting_error(*missed);
        }
    }
    if (std::ranges::find(names, webhook_name) == names.end()) { return {}; }
    const std::string variable = url_variable(settings);
    const std::string url = value_of(environment, variable);
    if (url.empty()) {
        return Error{
            "AF-ESC-060", "the webhook has no address: the variable " + variable + " is not set", variable,
            "Set it to the whole address, such as https://hooks.slack.com/services/…, or take webhook out of escalation.handlers.",
            ErrorKind::unavailable};
    }
    AF_CHECK(check_webhook_network(rule, url));
    const std::string key = webhook_setting(settings, "secret_env");
    if (!key.empty() && value_of(environment, key).empty()) {
        return Error{"AF-ESC-060", "the webhook cannot sign: the variable " + key + " is not set", key,
                     "Set it to the key that the server knows.", ErrorKind::unavailable};
    }
    const PluginManifest* const plugin = plugins.owner(PluginKind::escalation, webhook_name);
    if (plugin == nullptr || plugin->id != webhook_id) { return {}; }  // Another plugin might notify anyway.
    AF_TRY(const std::shared_ptr<EscalationHandler> webhook, plugins.escalation(webhook_name));
    ExpiredContext context;
    auto fit = webhook->notify(Escalation{}, context);
    return fit.ok() || fit.error().kind == ErrorKind::cancelled ? Result<void>() : fit;
}

}  // namespace agentforge::kernel
