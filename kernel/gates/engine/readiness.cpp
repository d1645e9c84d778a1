// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/readiness.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

/// Programs that only start others and exist on every system.
constexpr std::array<std::string_view, 6> carriers{"sh", "bash", "env", "{command}", "true", "test"};

bool is_executable(const std::string& path) {
    std::error_code failure;
    return std::filesystem::is_regular_file(path, failure) && ::access(path.c_str(), X_OK) == 0;
}

bool is_installed(const std::map<std::string, std::string>& environment, const std::string& program) {
    if (program.find('/') != std::string::npos) { return is_executable(program); }
    const auto path = environment.find("PATH");
    std::string_view rest =
        path == environment.end() ? std::string_view("/usr/local/bin:/usr/bin:/bin") : std::string_view(path->second);
    while (!rest.empty()) {
        const auto end = std::min(rest.find(':'), rest.size());
        const auto folder = rest.substr(0, end);
        if (!folder.empty() && is_executable(std::string(folder) + "/" + program)) { return true; }
        rest.remove_prefix(std::min(rest.size(), end + 1));
    }
    return false;
}

std::vector<const LanguageCommand*> commands_of(const TestRunner& runner) {
    std::vector<const LanguageCommand*> list;
    for (const auto& step : runner.build) { list.push_back(&step); }
    if (runner.collect) { list.push_back(&*runner.collect); }
    list.push_back(&runner.run);
    if (runner.single) { list.push_back(&*runner.single); }
    if (runner.affected) { list.push_back(&*runner.affected); }
    return list;
}

/// Every program that a language may run, by the name that `gates.programs` replaces.
std::set<std::string> programs_of(const Language& language) {
    std::set<std::string> names;
    const auto take = [&](const LanguageCommand& command) {
        if (!command.argv.empty()) { names.insert(command.argv.front()); }
    };
    for (const auto& runner : language.runners) {
        for (const auto* command : commands_of(runner)) { take(*command); }
    }
    for (const auto& [name, command] : language.commands) { take(command); }
    for (const auto& checker : language.type_checkers) { take(checker.command); }
    for (const auto& rule : language.setup) { take(rule.command); }
    names.erase("{command}");
    return names;
}

bool runs_command(const TestRunner& runner) {
    return std::find(runner.run.argv.begin(), runner.run.argv.end(), "{command}") != runner.run.argv.end();
}

}  // namespace

std::vector<ToolState> tools_of(const Language& language, const TestRunner* runner, const GateSettings& settings,
                                const std::map<std::string, std::string>& fetched,
                                const std::map<std::string, std::string>& environment) {
    std::vector<LanguageTool> declared = language.tools;
    if (declared.empty()) {
        const auto add = [&](const LanguageCommand& command, const std::string& use, bool needed) {
            if (command.argv.empty()) { return; }
            const auto& name = command.argv.front() == "{command}" && !settings.command.empty() ? settings.command.front()
                                                                                                : command.argv.front();
            const bool known =
                std::any_of(declared.begin(), declared.end(), [&](const auto& tool) { return tool.program == name; });
            if (!known && std::find(carriers.begin(), carriers.end(), name) == carriers.end()) {
                declared.push_back({name, use, "", {}, !needed, {}});
            }
        };
        if (runner != nullptr) {
            for (const auto* command : commands_of(*runner)) { add(*command, "tests", true); }
        }
        for (const auto& [name, command] : language.commands) { add(command, name, true); }
    }
    std::vector<ToolState> tools;
    for (const auto& tool : declared) {
        if (!tool.runners.empty() &&
            (runner == nullptr || std::find(tool.runners.begin(), tool.runners.end(), runner->name) == tool.runners.end())) {
            continue;
        }
        if (tool.unsupported && tool.runners.empty() && runner != nullptr) { continue; }  // Another runner runs the tests.
        ToolState state{tool.program, tool.program, tool.use, tool.install, tool.version, !tool.optional, false};
        if (const auto own = settings.programs.find(tool.program); own != settings.programs.end()) {
            state.program = own->second;
        } else if (const auto there = fetched.find(tool.program); there != fetched.end()) {
            state.program = there->second;
        }
        state.unsupported = tool.unsupported;
        state.probe = tool.probe;
        if (!tool.name.empty()) { state.name = tool.name; }
        state.found = !tool.unsupported && is_installed(environment, state.program);
        tools.push_back(std::move(state));
    }
    return tools;
}

Result<void> check_settings_of_gates(const GateSettings& settings, const std::map<std::string, Language, std::less<>>& languages,
                                     const std::vector<std::pair<const Language*, const TestRunner*>>& used) {
    bool wants_command = false;
    for (const auto& [language, runner] : used) {
        if (runner == nullptr || !runs_command(*runner)) { continue; }
        wants_command = true;
        if (settings.command.empty()) { return no_command(language->name); }
    }
    if (!settings.command.empty() && !wants_command && !used.empty()) {
        std::string names;
        for (const auto& [language, runner] : used) {
            if (names.find(language->name) == std::string::npos) { names += (names.empty() ? "" : ", ") + language->name; }
        }
        return Error{"AF-GATE-140", "The setting `gates.command` is set but not used: this project's tests use " + names + ".",
                     "gates.command", "Set gates.language: generic to run it, or remove gates.command.", ErrorKind::invalid};
    }
    std::set<std::string> known;
    std::set<std::string> needed;
    for (const auto& [name, language] : languages) { known.merge(programs_of(language)); }
    for (const auto& [language, runner] : used) { needed.merge(programs_of(*language)); }
    for (const auto& [name, path] : settings.programs) {
        if (!known.contains(name)) {
            const auto near = nearest(name, {known.begin(), known.end()});
            return Error{
                "AF-GATE-141", "The setting `gates.programs` names `" + name + "`, but no language runs a program of that name.",
                "gates.programs." + name,
                near.empty() ? "Name a program as the language's file does (the first word of its `argv`), such as python3."
                             : "Did you mean `" + near + "`?",
                ErrorKind::invalid};
        }
        if (needed.contains(name) && path.find('/') != std::string::npos && !is_executable(path)) {
            return Error{"AF-GATE-142", "The setting `gates.programs." + name + "` names " + path + ", which is not a program.",
                         "gates.programs." + name,
                         "Name an executable file, or remove the setting to use `" + name + "` from PATH.", ErrorKind::invalid};
        }
    }
    for (const auto& folder : settings.readable) {
        std::error_code failure;
        if (folder.starts_with('/') && std::filesystem::exists(folder, failure)) { continue; }
        return Error{"AF-GATE-143", "The setting `gates.readable` names " + folder + ", which does not exist.", "gates.readable",
                     "Name folders that exist, absolute or from the project's root.", ErrorKind::invalid};
    }
    return {};
}

bool is_for_user_to_fix(const Error& error) {
    constexpr std::array<std::string_view, 6> codes{"AF-GATE-010", "AF-GATE-012", "AF-GATE-020",
                                                    "AF-GATE-021", "AF-GATE-060", "AF-GATE-080"};
    return std::find(codes.begin(), codes.end(), error.code) != codes.end();
}

Result<void> check_can_measure(const GateReadiness& readiness, const std::string& setup) {
    const ToolState* missing = nullptr;
    const ScopeReadiness* of = nullptr;
    bool some = false;
    for (const auto& scope : readiness.scopes) {
        const auto absent =
            std::find_if(scope.tools.begin(), scope.tools.end(), [](const auto& tool) { return tool.needed && !tool.found; });
        some = some || absent == scope.tools.end();
        if (absent != scope.tools.end() && missing == nullptr) {
            missing = &*absent;
            of = &scope;
        }
    }
    if (missing != nullptr && !some) {
        if (missing->unsupported) {
            return Error{"AF-GATE-144",
                         "This project's tests use " + missing->name + ", which the checks of " + of->language + " cannot run.",
                         of->directory, missing->install, ErrorKind::unavailable};
        }
        if (missing->name != missing->program && !missing->probe.empty()) {
            return Error{"AF-GATE-144",
                         "This project's tests use " + missing->name + ", which `" + missing->program + "` does not have.",
                         of->directory, missing->install, ErrorKind::unavailable};
        }
        return Error{
            "AF-GATE-144",
            "The program `" + missing->program + "`, which the checks of " + of->language + " need (" + missing->use +
                "), is not installed.",
            of->directory,
            missing->install.empty() ? "Install it, or name another in the settings under gates.programs." : missing->install,
            ErrorKind::unavailable};
    }
    if (setup != "ask") { return {}; }
    for (const auto& scope : readiness.scopes) {
        for (const auto& step : scope.setup) {
            if (!step.ready && step.required) { return not_fetched(step); }
        }
    }
    return {};
}

}  // namespace agentforge::kernel
