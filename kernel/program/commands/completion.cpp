// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <set>

#include "base/ids.hpp"
#include "config/settings_schema.hpp"
#include "git/archives.hpp"
#include "program/command_line.hpp"
#include "program/commands/definitions.hpp"
#include "program/commands/plugins.hpp"
#include "program/grammar.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

struct CompletionArguments {
    std::string shell;
    std::string candidates;
    std::string begun;  ///< The word typed so far.
};

constexpr std::size_t most_tasks = 200;  ///< The newest ones; nobody chooses among more.

std::vector<std::string> task_ids(const ProjectPlace& place) {
    std::vector<std::string> names;
    const auto listing = TaskStore(place.agentforge).list({}, most_tasks, most_tasks);
    if (listing.ok()) {
        for (const TaskSummary& task : listing->tasks) { names.push_back(task.task_id); }
    }
    return names;
}

/// Adds the short ids, which people also type. Not for an empty word: each task would be offered twice.
std::vector<std::string> with_short_ids(std::vector<std::string> ids, const std::string& begun) {
    const std::size_t whole = ids.size();
    for (std::size_t index = 0; index < whole && !begun.empty(); ++index) { ids.push_back(short_id(ids[index])); }
    return ids;
}

std::vector<std::string> archived_ids(const ProjectPlace& place) {
    std::vector<std::string> names;
    const TaskStore store(place.agentforge);
    const auto archived = archived_tasks(place.root);
    std::error_code error;
    if (archived.ok()) {
        for (const ArchivedTask& task : *archived) {
            if (!std::filesystem::exists(store.paths(task.task_id).task(), error)) { names.push_back(task.task_id); }
        }
    }
    return names;
}

/// Returns the ids of pending items: only questions, or also approvals and actions.
std::vector<std::string> waiting_ids(const ProjectPlace& place, bool only_questions) {
    std::vector<std::string> names;
    const TaskStore tasks(place.agentforge);
    const auto pending = EscalationStore(place.agentforge).pending();
    if (!pending.ok()) { return names; }
    for (const PendingItem& item : pending->items) {
        if ((item.kind == QuestionKind::escalation || !only_questions) && !has_ended(tasks, item.task_id)) {
            names.push_back(item.id);
        }
    }
    return names;
}

std::vector<std::string> setting_names(const SettingsSchema& schema, std::string_view after) {
    std::vector<std::string> names;
    for (const SettingKey& key : schema.keys()) { names.push_back(key.name + std::string(after)); }
    return names;
}

std::vector<std::string> plugins_named(const Program& program, std::optional<PluginKind> kind) {
    std::set<std::string> names;
    const auto opened = open_plugins(program);
    if (!opened.ok()) { return {}; }
    for (const PluginManifest& plugin : (*opened)->registry.plugins()) {
        if (!kind) { names.insert(plugin.id); }
        for (const ManifestEntry& entry : plugin.provides) {
            if (!kind || entry.kind == *kind) { names.insert(entry.name); }
        }
    }
    return {names.begin(), names.end()};
}

std::vector<std::string> backend_names(const Program& program) {
    std::vector<std::string> names = plugins_named(program, PluginKind::llm);
    names.emplace_back("auto");
    return names;
}

/// Returns the possible values of a setting that has a fixed choice; else empty.
std::vector<std::string> setting_values(const Program& program, const SettingsSchema& schema, const std::string& name) {
    const auto segments = split_key(name);
    const SettingKey* key = segments.empty() ? nullptr : schema.find(segments);
    if (key == nullptr) { return {}; }
    if (key->type == SettingKey::Type::boolean) { return {"true", "false"}; }
    return segments.back() == "backend" ? backend_names(program) : key->values;
}

/// Returns the candidates of a kind. Empty on errors: completion in a shell reports none.
std::vector<std::string> candidates(const Program& program, const std::string& kind, const std::string& begun) {
    const auto place = ProjectPlace::find(program);
    const auto product = ProductPaths::find();
    if (!place.ok() || !product.ok()) { return {}; }
    if (kind == "tasks") { return with_short_ids(task_ids(*place), begun); }
    if (kind == "archived") { return with_short_ids(archived_ids(*place), begun); }
    if (kind == "escalations" || kind == "waiting") { return waiting_ids(*place, kind == "escalations"); }
    if (kind == "plugins") { return plugins_named(program, std::nullopt); }
    if (kind == "backends") { return backend_names(program); }
    constexpr std::string_view values = "values:";  // Followed by the setting's name.
    if (kind == "settings" || kind == "assignments" || kind.starts_with(values)) {
        const auto schema = SettingsSchema::load(product->config + "/settings_schema.yaml");
        if (!schema.ok()) { return {}; }
        return kind.starts_with(values) ? setting_values(program, *schema, kind.substr(values.size()))
                                        : setting_names(*schema, kind == "settings" ? "" : "=");
    }
    const auto definitions = load_definitions(program, kind == "stages" ? "pipelines" : kind);
    if (!definitions.ok()) { return {}; }
    if (kind == "agents") { return definitions->agents.roles(); }
    if (kind == "contracts") { return definitions->contracts.names(); }
    if (kind == "pipelines") { return definitions->pipelines.names(); }
    std::vector<std::string> stages;
    for (const std::string& name : definitions->pipelines.names()) {
        const auto pipeline = definitions->pipelines.get(name);
        if (!pipeline.ok()) { continue; }
        for (const StageTemplate& stage : pipeline->stages) {
            if (std::find(stages.begin(), stages.end(), stage.name) == stages.end()) { stages.push_back(stage.name); }
        }
    }
    return stages;
}

int run_completion(Program& program, const CLI::App& app, const CompletionArguments& arguments) {
    if (!arguments.candidates.empty()) {
        for (const std::string& word : candidates(program, arguments.candidates, arguments.begun)) {
            program.out << word << "\n";
        }
        return 0;
    }
    const std::string script = completion_script(read_grammar(app), arguments.shell);
    if (program.json_output) {
        program.print_json({{"shell", arguments.shell}, {"script", script}});
    } else {
        program.out << script;
    }
    return 0;
}

}  // namespace

void add_completion(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<CompletionArguments>();
    const Command command = add_subcommand(
        app, "completion", "Print a script that completes commands, flags, tasks, stages and settings in your shell");
    add_option(*command, "shell", arguments->shell, "Your shell: bash, zsh or fish")
        ->type_name("SHELL")
        ->one_of({"bash", "zsh", "fish"})
        ->required();
    add_option(*command, "--candidates", arguments->candidates, "Print candidates for the scripts")->hidden();
    add_option(*command, "--begun", arguments->begun, "The word typed so far")->hidden();
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer(
        "Examples:\n"
        "  agentforge completion bash > ~/.local/share/bash-completion/completions/agentforge\n"
        "  agentforge completion zsh > ~/.zsh/completions/_agentforge      (a folder of your $fpath)\n"
        "  agentforge completion fish > ~/.config/fish/completions/agentforge.fish");
    command->callback([&program, &app, arguments] {
        program.command = [&program, &app, arguments] { return run_completion(program, app, *arguments); };
    });
}

}  // namespace agentforge::kernel
