// SPDX-License-Identifier: Apache-2.0
#include "program/grammar.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace agentforge::kernel {

namespace {

std::vector<std::string> words_between(const std::string& text, char open, char close) {
    std::vector<std::string> words;
    const auto begin = text.find(open);
    const auto end = text.find(close, begin == std::string::npos ? 0 : begin);
    if (begin == std::string::npos || end == std::string::npos) { return words; }
    for (std::size_t at = begin + 1; at < end;) {
        const auto comma = std::min(text.find(',', at), end);
        words.push_back(text.substr(at, comma - at));
        at = comma + 1;
    }
    return words;
}

GrammarOption read_option(const CLI::Option& option) {
    GrammarOption out;
    out.positional = option.get_positional() && option.get_lnames().empty() && option.get_snames().empty();
    if (out.positional) {
        out.names.push_back(option.get_single_name());
    } else {
        for (const std::string& name : option.get_lnames()) { out.names.push_back("--" + name); }
        for (const std::string& name : option.get_snames()) { out.names.push_back("-" + name); }
    }
    // "N", "TEXT:{bash,zsh}": the name of the value, then its choices.
    const std::string type = option.get_type_name();
    if (option.get_expected_max() > 0 && option.get_type_size_max() > 0) {
        out.value = type.substr(0, type.find(':'));
        out.choices = words_between(type, '{', '}');
    }
    out.description = option.get_description();
    out.required = option.get_required();
    out.repeatable = (option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll && option.get_expected_max() > 0) ||
                     option.get_expected_max() > 1;
    return out;
}

json::array texts_json(const std::vector<std::string>& texts) {
    json::array array;
    for (const std::string& text : texts) { array.emplace_back(text); }
    return array;
}

/// Escapes text so that troff prints it unchanged.
std::string roff(std::string_view text) {
    std::string out;
    bool line_start = true;
    for (const char c : text) {
        if (line_start && (c == '.' || c == '\'')) { out += "\\&"; }
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else {
            out += c;
        }
        line_start = c == '\n';
    }
    return out;
}

std::string option_heading(const GrammarOption& option) {
    if (option.positional) { return "\\fI" + roff(option.value) + "\\fR"; }
    std::string text;
    for (const std::string& name : option.names) { text += (text.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR"; }
    if (!option.value.empty()) { text += " \\fI" + roff(option.value) + "\\fR"; }
    return text;
}

void add_option_entries(std::string& page, const std::vector<GrammarOption>& options, bool positional) {
    for (const GrammarOption& option : options) {
        if (option.positional != positional) { continue; }
        page += ".TP\n" + option_heading(option) + "\n" + roff(option.description) + ".\n";
        if (!option.choices.empty()) {
            std::string all;
            for (const std::string& choice : option.choices) { all += (all.empty() ? "" : ", ") + choice; }
            page += "One of: " + roff(all) + ".\n";
        }
    }
}

}  // namespace

std::string GrammarCommand::word() const { return name.substr(name.rfind(' ') + 1); }

std::string GrammarCommand::usage() const {
    std::string text = name;
    if (std::any_of(options.begin(), options.end(), [](const GrammarOption& option) { return !option.positional; })) {
        text += " [OPTIONS]";
    }
    for (const GrammarOption& option : options) {
        if (!option.positional) { continue; }
        const std::string shown = option.value + (option.repeatable ? "…" : "");
        text += option.required ? " " + shown : " [" + shown + "]";
    }
    const bool does_something_itself =
        std::any_of(options.begin(), options.end(), [](const GrammarOption& option) { return option.positional; });
    if (!commands.empty()) { text += does_something_itself ? " | COMMAND" : " COMMAND"; }
    return text;
}

GrammarCommand read_grammar(const CLI::App& app) {
    GrammarCommand out;
    out.name = app.get_parent() == nullptr ? app.get_name() : "";
    if (out.name.empty()) {
        for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
            out.name = at->get_name() + (out.name.empty() ? "" : " " + out.name);
        }
    }
    out.description = app.get_description();
    out.aliases = app.get_aliases();
    out.footer = app.get_footer();
    while (out.footer.starts_with("\n")) { out.footer.erase(0, 1); }
    for (const CLI::Option* option : app.get_options()) {
        if (option == app.get_help_ptr() || option->get_group().empty()) { continue; }
        out.options.push_back(read_option(*option));
    }
    std::stable_partition(out.options.begin(), out.options.end(), [](const GrammarOption& option) { return option.positional; });
    for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
        out.commands.push_back(read_grammar(*command));
    }
    return out;
}

const GrammarCommand* find_command(const GrammarCommand& top, const std::vector<std::string>& words) {
    const GrammarCommand* at = &top;
    for (const std::string& word : words) {
        const auto found = std::find_if(at->commands.begin(), at->commands.end(), [&](const GrammarCommand& each) {
            return each.word() == word || std::ranges::find(each.aliases, word) != each.aliases.end();
        });
        if (found == at->commands.end()) { return nullptr; }
        at = &*found;
    }
    return at;
}

json::object to_json(const GrammarCommand& command) {
    json::array options;
    for (const GrammarOption& option : command.options) {
        options.push_back(json::object{{"names", texts_json(option.names)},
                                       {"value", option.value},
                                       {"choices", texts_json(option.choices)},
                                       {"description", option.description},
                                       {"positional", option.positional},
                                       {"required", option.required},
                                       {"repeatable", option.repeatable}});
    }
    json::array commands;
    for (const GrammarCommand& each : command.commands) { commands.push_back(to_json(each)); }
    return {{"name", command.name},     {"usage", command.usage()},      {"description", command.description},
            {"footer", command.footer}, {"options", std::move(options)}, {"commands", std::move(commands)}};
}

namespace {

struct DescribedVariable {
    std::string_view name;
    std::string_view what;
};

constexpr DescribedVariable environment_variables[] = {
    {"AGENTFORGE_HOME", "The folder that contains config/ and plugins/, if the program is not fully installed."},
    {"AGENTFORGE_PAGER", "The pager for long output on a terminal; else PAGER, else less; cat or an empty value turns it off."},
    {"AGENTFORGE_PLUGIN_PATH", "Folders with plugins, separated by colons."},
    {"AGENTFORGE_STATE_HOME",
     "The folder for worktrees and the list of trusted projects; else $XDG_STATE_HOME/agentforge, else ~/.local/state/agentforge."},
    {"AGENTFORGE_TRUST_PROJECT", "1: lets the project's own files run plugins, servers and commands, as with --trust."},
    {"AGENTFORGE_WEBHOOK_SECRET", "The webhook's signing key; plugins.settings.webhook.secret_env names another variable."},
    {"AGENTFORGE_WEBHOOK_URL", "The webhook's address; plugins.settings.webhook.url_env names another variable."},
    {"ANTHROPIC_API_KEY", "The key of the anthropic backend, unless llm.api_key_env names another variable."},
    {"HOME", "The folder of your own .agentforge/config.yaml."},
    {"HTTP_PROXY, HTTPS_PROXY, NO_PROXY",
     "Proxies for model servers, in lower case, too; docs/models.md says which applies when."},
    {"LC_ALL, LC_CTYPE, LANG", "The first that is set says whether the terminal shows UTF-8."},
    {"NO_COLOR", "No colour if it is not empty."},
    {"OPENAI_API_KEY", "The key of the openai backend, unless llm.api_key_env names another variable."},
    {"OTEL_EXPORTER_OTLP_ENDPOINT",
     "The OpenTelemetry collector that tasks are exported to; docs/telemetry.md has the other variables."},
    {"PAGER", "See AGENTFORGE_PAGER."},
    {"PATH", "Where AgentForge looks for git and the programs of gates and models."},
    {"TERM", "No colour and no live line if it is unset or dumb."},
    {"TMPDIR", "The folder for temporary files; else /tmp."},
    {"XDG_STATE_HOME", "See AGENTFORGE_STATE_HOME."}};

std::string page_heading(const GrammarCommand& command, std::string_view version) {
    std::string title = command.name;
    std::replace(title.begin(), title.end(), ' ', '-');
    std::string upper = title;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return ".\\\" SPDX-License-Identifier: Apache-2.0\n.\\\" Made by `agentforge help --man`.\n.TH \"" + upper +
           "\" 1 \"\" \"agentforge " + std::string(version) + "\" \"AgentForge\"\n.SH NAME\n" + roff(title) + " \\- " +
           roff(command.description) + "\n.SH SYNOPSIS\n\\fB" + roff(command.name) + "\\fR" +
           roff(command.usage().substr(command.name.size())) + "\n";
}

void add_option_section(std::string& page, const std::vector<GrammarOption>& options, bool positional) {
    if (!std::ranges::any_of(options, [&](const GrammarOption& option) { return option.positional == positional; })) { return; }
    page += positional ? ".SH ARGUMENTS\n" : ".SH OPTIONS\n";
    add_option_entries(page, options, positional);
}

void add_command_section(std::string& page, const std::vector<GrammarCommand>& commands) {
    if (commands.empty()) { return; }
    page += ".SH COMMANDS\n";
    for (const GrammarCommand& each : commands) {
        page += ".TP\n\\fB" + roff(each.name) + "\\fR\n" + roff(each.description) + ".\n";
    }
}

void add_environment_section(std::string& page) {
    page +=
        ".SH ENVIRONMENT\n.TP\n\\fBAGENTFORGE_\\fR\\fISETTING\\fR\nEach setting, in capitals and with underscores: llm.backend is AGENTFORGE_LLM_BACKEND. "
        "AgentForge warns of an unknown variable of that form, and names the nearest setting.\n";
    for (const auto& [name, what] : environment_variables) {
        page += ".TP\n\\fB" + std::string(name) + "\\fR\n" + roff(what) + "\n";
    }
}

constexpr std::string_view files_section =
    ".SH FILES\n.TP\n\\fI.agentforge/config/settings.yaml\\fR\nThe settings of a project.\n.TP\n\\fI~/.agentforge/config.yaml\\fR\nYour own settings.\n"
    ".TP\n\\fI.agentforge/tasks/\\fR\nThe tasks with their journals and artifacts.\n";

}  // namespace

std::string man_page(const GrammarCommand& command, const GrammarCommand& top, std::string_view version) {
    const bool whole = command.name == top.name;
    std::string page = page_heading(command, version);
    add_option_section(page, command.options, true);
    add_option_section(page, command.options, false);
    if (!whole) { page += ".PP\nThe options of \\fBagentforge\\fR(1) apply here, too.\n"; }
    add_command_section(page, command.commands);
    if (!command.footer.empty()) {
        page += ".SH " + std::string(whole ? "NOTES" : "EXAMPLES") + "\n.nf\n" + roff(command.footer) + "\n.fi\n";
    }
    if (whole) {
        add_environment_section(page);
        page += files_section;
    }
    return page;
}

}  // namespace agentforge::kernel
