// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <set>

#include "host/command_line.hpp"
#include "host/definitions.hpp"
#include "host/grammar.hpp"
#include "host/plugins.hpp"

namespace agentforge::kernel {

namespace {

struct CompletionArguments {
    std::string shell;
    std::string candidates;
};

constexpr std::size_t most_tasks = 200;      ///< The newest; nobody chooses among more.

std::vector<std::string> task_ids(const ProjectPlace& place) {
    std::vector<std::string> names;
    const auto listing = TaskStore(place.agentforge).list({}, most_tasks);
    if (listing.ok()) { for (const TaskSummary& task : listing->tasks) { names.push_back(task.task_id); } }
    return names;
}

std::vector<std::string> escalation_ids(const ProjectPlace& place) {
    std::vector<std::string> names;
    const auto pending = EscalationStore(place.agentforge).pending();
    if (pending.ok()) { for (const PendingItem& item : pending->items) { names.push_back(item.id); } }
    return names;
}

std::vector<std::string> setting_names(const Program& program, const ProjectPlace& place, std::string_view after) {
    std::vector<std::string> names;
    const auto product = ProductPaths::find();
    if (!product.ok()) { return names; }
    const auto loaded = load_settings(program, place, *product);
    if (!loaded.ok()) { return names; }
    for (const json::value& entry : loaded->settings->known()) { names.push_back(std::string(entry.as_object().at("key").as_string()) + std::string(after)); }
    return names;
}

std::vector<std::string> plugins_named(const Program& program, std::optional<PluginKind> kind) {
    std::set<std::string> names;
    const auto opened = open_plugins(program);
    if (!opened.ok()) { return {}; }
    for (const PluginManifest& plugin : (*opened)->registry.plugins()) {
        if (!kind) { names.insert(plugin.id); }
        for (const ManifestEntry& entry : plugin.provides) { if (!kind || entry.kind == *kind) { names.insert(entry.name); } }
    }
    return {names.begin(), names.end()};
}

/// Empty where it cannot be known: a shell that completes says nothing of problems.
std::vector<std::string> candidates(const Program& program, const std::string& kind) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return {}; }
    if (kind == "tasks") { return task_ids(*place); }
    if (kind == "escalations") { return escalation_ids(*place); }
    if (kind == "settings") { return setting_names(program, *place, ""); }
    if (kind == "assignments") { return setting_names(program, *place, "="); }
    if (kind == "plugins") { return plugins_named(program, std::nullopt); }
    if (kind == "backends") {
        std::vector<std::string> names = plugins_named(program, PluginKind::llm);
        names.emplace_back("auto");
        return names;
    }
    const auto definitions = load_definitions(program);
    if (!definitions.ok()) { return {}; }
    if (kind == "agents") { return definitions->agents.roles(); }
    if (kind == "contracts") { return definitions->contracts.names(); }
    if (kind == "pipelines") { return definitions->pipelines.names(); }
    std::vector<std::string> stages;
    for (const std::string& name : definitions->pipelines.names()) {
        const auto pipeline = definitions->pipelines.get(name);
        if (!pipeline.ok()) { continue; }
        for (const StageTemplate& stage : pipeline->stages) { if (std::find(stages.begin(), stages.end(), stage.name) == stages.end()) { stages.push_back(stage.name); } }
    }
    return stages;
}

int run_completion(Program& program, const CLI::App& app, const CompletionArguments& arguments) {
    if (!arguments.candidates.empty()) {
        for (const std::string& word : candidates(program, arguments.candidates)) { program.out << word << "\n"; }
        return 0;
    }
    if (arguments.shell.empty()) {
        program.fail(Error{"AF-CLI-001", "`agentforge completion` needs the name of the shell", "", "there is `agentforge completion bash`, `agentforge completion zsh`, `agentforge completion fish`",
                           ErrorKind::invalid});
        return 2;
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
    const Command command = add_subcommand(app, "completion", "Print a script that completes commands, flags, tasks, stages and settings in your shell");
    add_option(*command, "shell", arguments->shell, "Your shell")->type_name("SHELL")->one_of({"bash", "zsh", "fish"});
    add_option(*command, "--candidates", arguments->candidates, "What the scripts ask")
        ->one_of({"tasks", "escalations", "settings", "assignments", "plugins", "backends", "agents", "contracts", "pipelines", "stages"})->hidden();
    add_flag(*command, "--json", program.json_output, "Answer as JSON");
    command->footer("Examples:\n"
                    "  agentforge completion bash > ~/.local/share/bash-completion/completions/agentforge\n"
                    "  agentforge completion zsh > ~/.zsh/completions/_agentforge      (a folder of your $fpath)\n"
                    "  agentforge completion fish > ~/.config/fish/completions/agentforge.fish");
    command->callback([&program, &app, arguments] { program.command = [&program, &app, arguments] { return run_completion(program, app, *arguments); }; });
}

}  // namespace agentforge::kernel
