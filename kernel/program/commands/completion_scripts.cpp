// SPDX-License-Identifier: Apache-2.0
// Completion for three shells: a table by command path. For candidates that change (tasks, stages, …) the shell asks the program
// itself (`agentforge completion --candidates KIND`).
#include <algorithm>
#include <map>

#include "program/grammar.hpp"

namespace agentforge::kernel {

namespace {

/// Returns the source of each placeholder: `files`, `folders`, or a kind of `--candidates`.
const std::map<std::string, std::string>& sources() {
    static const std::map<std::string, std::string> known{{"FILE", "files"},
                                                          {"DIR", "folders"},
                                                          {"TASK", "tasks"},
                                                          {"STAGE", "stages"},
                                                          {"PIPELINE", "pipelines"},
                                                          {"ROLE", "agents"},
                                                          {"CONTRACT", "contracts"},
                                                          {"KEY", "settings"},
                                                          {"KEY=VALUE", "assignments"},
                                                          {"ESCALATION", "escalations"},
                                                          {"ID", "waiting"},
                                                          {"PLUGIN", "plugins"},
                                                          {"BACKEND", "backends"},
                                                          {"ARCHIVED_TASK", "archived"},
                                                          {"VALUE", "values"}};
    return known;
}

std::string source_of(const GrammarOption& option) {
    const auto found = sources().find(option.value);
    return found == sources().end() ? "" : found->second;
}

/// Quotes with single quotes, for all three shells.
std::string quoted(const std::string& text, bool fish = false) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') {
            out += fish ? "\\'" : "'\\''";
        } else if (c == '\\' && fish) {
            out += "\\\\";
        } else {
            out += c;
        }
    }
    return out + "'";
}

std::string path_of(const GrammarCommand& command) {
    const auto space = command.name.find(' ');
    return space == std::string::npos ? "" : command.name.substr(space + 1);
}

void collect(const GrammarCommand& command, std::vector<const GrammarCommand*>& all) {
    all.push_back(&command);
    for (const GrammarCommand& each : command.commands) { collect(each, all); }
}

std::string joined(const std::vector<std::string>& words, const char* between = " ") {
    std::string text;
    for (const std::string& word : words) { text += (text.empty() ? "" : between) + word; }
    return text;
}

std::vector<const GrammarOption*> flags_of(const GrammarCommand& command, const GrammarCommand& top) {
    std::vector<const GrammarOption*> flags;
    for (const GrammarOption& option : command.options) {
        if (!option.positional) { flags.push_back(&option); }
    }
    if (&command != &top) {
        for (const GrammarOption& option : top.options) {
            if (!option.positional && option.names.front() != "--version") { flags.push_back(&option); }
        }
    }
    return flags;
}

std::string values_of(const GrammarOption& option) {
    if (!option.choices.empty()) { return "words:" + joined(option.choices, ","); }
    const std::string source = source_of(option);
    return source.empty() ? "none" : source;
}

/// Writes the tables for bash and zsh, each as a `case`.
std::string tables(const GrammarCommand& top, const std::string& prefix) {
    std::vector<const GrammarCommand*> all;
    collect(top, all);
    std::string subcommands = prefix + "_commands() {\n    case $1 in\n";
    std::string options = prefix + "_options() {\n    case $1 in\n";
    std::string values =
        prefix + "_value() {     # COMMAND FLAG: the kind of its value; empty if it takes none\n    case \"$1 $2\" in\n";
    std::string arguments = prefix + "_argument() {  # COMMAND NUMBER\n    case \"$1 $2\" in\n";
    for (const GrammarCommand* command : all) {
        const std::string path = path_of(*command);
        std::vector<std::string> words;
        for (const GrammarCommand& each : command->commands) { words.push_back(quoted(each.word() + ":" + each.description)); }
        if (!words.empty()) { subcommands += "        " + quoted(path) + ") printf '%s\\n' " + joined(words) + " ;;\n"; }
        std::vector<std::string> flags;
        for (const GrammarOption* option : flags_of(*command, top)) {
            for (const std::string& name : option->names) {
                flags.push_back(quoted(name + ":" + option->description));
                if (!option->value.empty()) {
                    values += "        " + quoted(path + " " + name) + ") echo " + quoted(values_of(*option)) + " ;;\n";
                }
            }
        }
        flags.push_back(quoted("--help:Print this help message and exit"));
        options += "        " + quoted(path) + ") printf '%s\\n' " + joined(flags) + " ;;\n";
        int number = 0;
        for (const GrammarOption& option : command->options) {
            if (!option.positional) { continue; }
            const std::string where =
                option.repeatable ? quoted(path + " ") + "*" : quoted(path + " " + std::to_string(++number));
            arguments += "        " + where + ") echo " + quoted(values_of(option)) + " ;;\n";
        }
    }
    const std::string end = "    esac\n}\n";
    return subcommands + end + options + end + values + end + arguments + end;
}

// Walks the words typed so far. Finds the path of the command, the number of its arguments, and the flag that waits for its
// value.
constexpr std::string_view walk =
    "    local place='' number=0 flag='' word seen\n"
    "    for word in \"${typed[@]}\"; do\n"
    "        if [ -n \"$flag\" ]; then flag=''; continue; fi\n"
    "        case $word in\n"
    "            --*=*) ;;\n"
    "            -*) [ -z \"$(_agentforge_value \"$place\" \"$word\")\" ] || flag=$word ;;\n"
    "            *)\n"
    "                seen=\"${place:+$place }$word\"\n"
    "                case \"\n$(_agentforge_commands \"$place\")\" in\n"
    "                    *\"\n$word:\"*) place=$seen ;;\n"
    "                    *) number=$((number + 1)) ;;\n"
    "                esac ;;\n"
    "        esac\n"
    "    done\n";

std::string bash_script(const GrammarCommand& top) {
    return "# bash completion for agentforge, made by `agentforge completion bash`\n"
           "# shellcheck shell=bash\n" +
           tables(top, "_agentforge") +
           "_agentforge() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} at=$COMP_CWORD want line\n"
           "    local typed=(\"${COMP_WORDS[@]:1:COMP_CWORD-1}\")\n"
           "    COMPREPLY=()\n"
           "    # bash splits --flag=value at the equals sign.\n"
           "    if [ \"$current\" = = ]; then current=''; typed=(\"${COMP_WORDS[@]:1:at-1}\")\n"
           "    elif [ \"$at\" -gt 1 ] && [ \"${COMP_WORDS[at-1]}\" = = ]; then typed=(\"${COMP_WORDS[@]:1:at-2}\"); fi\n" +
           std::string(walk) +
           "    if [ -n \"$flag\" ]; then want=$(_agentforge_value \"$place\" \"$flag\")\n"
           "    elif [[ $current == -* ]]; then want=options\n"
           "    elif [ -n \"$(_agentforge_commands \"$place\")\" ]; then want=commands\n"
           "    else want=$(_agentforge_argument \"$place\" $((number + 1))); fi\n"
           "    [ \"$want\" != values ] || want=values:$word\n"
           "    local IFS=$'\\n'\n"
           "    case $want in\n"
           "        options | commands) for line in $(\"_agentforge_$want\" \"$place\"); do [[ ${line%%:*} != \"$current\"* ]] || COMPREPLY+=(\"${line%%:*} \"); done ;;\n"
           "        words:*) want=${want#words:}; for line in ${want//,/$'\\n'}; do [[ $line != \"$current\"* ]] || COMPREPLY+=(\"$line \"); done ;;\n"
           "        files) compopt +o nospace 2>/dev/null; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$current\")) ;;\n"
           "        folders) compopt +o nospace 2>/dev/null; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$current\")) ;;\n"
           "        none | '') ;;\n"
           "        *) for line in $(\"${COMP_WORDS[0]}\" completion bash --candidates \"$want\" ${current:+\"--begun=$current\"} 2>/dev/null); do\n"
           "               [[ $line != \"$current\"* ]] || COMPREPLY+=(\"$line$([[ $line == *= ]] || echo ' ')\")\n"
           "           done ;;\n"
           "    esac\n"
           "}\n"
           "complete -o nospace -F _agentforge agentforge\n";
}

std::string zsh_script(const GrammarCommand& top) {
    return "#compdef agentforge\n# zsh completion for agentforge, made by `agentforge completion zsh`\n" +
           tables(top, "_agentforge") +
           "_agentforge() {\n"
           "    local -a typed found\n"
           "    local want\n"
           "    typed=(\"${(@)words[2,CURRENT-1]}\")\n" +
           std::string(walk) +
           "    if [[ $words[CURRENT] == --*=* ]]; then flag=${words[CURRENT]%%=*}; compset -P '*='; fi\n"
           "    if [[ -n $flag ]]; then want=$(_agentforge_value \"$place\" \"$flag\")\n"
           "    elif [[ $words[CURRENT] == -* ]]; then want=options\n"
           "    elif [[ -n $(_agentforge_commands \"$place\") ]]; then want=commands\n"
           "    else want=$(_agentforge_argument \"$place\" $((number + 1))); fi\n"
           "    [[ $want != values ]] || want=values:$word\n"
           "    case $want in\n"
           "        options) found=(${(f)\"$(_agentforge_options \"$place\")\"}); _describe -o option found ;;\n"
           "        commands) found=(${(f)\"$(_agentforge_commands \"$place\")\"}); _describe command found ;;\n"
           "        words:*) found=(${(s:,:)${want#words:}}); compadd -a found ;;\n"
           "        files) _files ;;\n"
           "        folders) _files -/ ;;\n"
           "        none | '') _message 'text' ;;\n"
           "        *) found=(${(f)\"$($words[1] completion zsh --candidates \"$want\" ${words[CURRENT]:+\"--begun=$words[CURRENT]\"} 2>/dev/null)\"}); compadd -a found ;;\n"
           "    esac\n"
           "}\n"
           "compdef _agentforge agentforge 2>/dev/null || true\n"
           "if [ \"$funcstack[1]\" = \"_agentforge\" ]; then _agentforge \"$@\"; fi\n";
}

/// Returns the flags that take a value, each once.
std::vector<std::string> flags_with_value(const std::vector<const GrammarCommand*>& all) {
    std::vector<std::string> flags;
    for (const GrammarCommand* command : all) {
        for (const GrammarOption& option : command->options) {
            if (option.positional || option.value.empty()) { continue; }
            for (const std::string& name : option.names) {
                if (std::find(flags.begin(), flags.end(), name) == flags.end()) { flags.push_back(name); }
            }
        }
    }
    return flags;
}

/// Writes the functions of fish that find the command on the line and ask the program.
std::string fish_functions(const std::vector<const GrammarCommand*>& all, const GrammarCommand& top) {
    std::string paths;
    for (const GrammarCommand* command : all) {
        if (command != &top) { paths += " " + quoted(path_of(*command), true); }
    }
    return "# fish completion for agentforge, made by `agentforge completion fish`\n"
           "function __agentforge_path    # the command that stands on the line so far\n"
           "    set -l known" +
           paths +
           "\n"
           "    set -l path ''\n"
           "    set -l skip no\n"
           "    for word in (commandline -opc)[2..-1]\n"
           "        if test $skip = yes; set skip no; continue; end\n"
           "        if contains -- $word " +
           joined(flags_with_value(all)) +
           "; set skip yes; continue; end\n"
           "        set -l longer (string trim -- \"$path $word\")\n"
           "        if contains -- $longer $known; set path $longer; end\n"
           "    end\n"
           "    echo $path\n"
           "end\n"
           "function __agentforge_at; test (__agentforge_path) = \"$argv\"; end\n"
           "function __agentforge_candidates\n"
           "    set -l begun (commandline -ct)\n"
           "    if test -n \"$begun\"; set begun --begun=$begun; else; set -e begun; end\n"
           "    command agentforge completion fish --candidates $argv[1] $begun 2>/dev/null\n"
           "end\n"
           "complete -c agentforge -f\n";
}

/// Returns the words of a `complete` line that say where an option's values come from.
std::string fish_values(const GrammarOption& option) {
    if (!option.choices.empty()) { return " -a " + quoted(joined(option.choices), true); }
    const std::string source = source_of(option);
    if (source == "files") { return " -F"; }
    if (source == "folders") { return " -a '(__fish_complete_directories)'"; }
    if (source == "values") { return " -a '(__agentforge_candidates values:(commandline -opc)[-1])'"; }
    return source.empty() ? std::string() : " -a '(__agentforge_candidates " + source + ")'";
}

/// Returns the words of a `complete` line for a flag.
std::string fish_flag(const GrammarOption& option) {
    std::string words;
    for (const std::string& name : option.names) {
        words += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (!option.value.empty()) { words += (source_of(option) == "files" ? " -r" : " -x") + fish_values(option); }
    return words + " -d " + quoted(option.description, true);
}

std::string fish_lines(const GrammarCommand& command, const GrammarCommand& top) {
    const std::string at = "complete -c agentforge -n " + quoted("__agentforge_at " + path_of(command), true);
    std::string lines;
    for (const GrammarCommand& each : command.commands) {
        lines += at + " -a " + each.word() + " -d " + quoted(each.description, true) + "\n";
    }
    for (const GrammarOption& option : command.options) {
        if (option.positional) {
            if (const std::string values = fish_values(option); !values.empty()) { lines += at + values + "\n"; }
            continue;
        }
        lines += (&command == &top ? "complete -c agentforge" : at) + fish_flag(option) + "\n";
    }
    return lines;
}

std::string fish_script(const GrammarCommand& top) {
    std::vector<const GrammarCommand*> all;
    collect(top, all);
    std::string script = fish_functions(all, top);
    for (const GrammarCommand* command : all) { script += fish_lines(*command, top); }
    return script;
}

/// Returns a command as an argument of `help`, with the flags of `help`.
GrammarCommand explained(const GrammarCommand& command, const GrammarCommand& help) {
    GrammarCommand out;
    out.name = help.name + " " + path_of(command);
    out.description = command.description;
    for (const GrammarOption& option : help.options) {
        if (!option.positional) { out.options.push_back(option); }
    }
    for (const GrammarCommand& each : command.commands) { out.commands.push_back(explained(each, help)); }
    return out;
}

}  // namespace

std::string completion_script(const GrammarCommand& program, std::string_view shell) {
    GrammarCommand top = program;
    for (GrammarCommand& help : top.commands) {
        if (help.word() == "help") {
            for (const GrammarCommand& each : program.commands) { help.commands.push_back(explained(each, help)); }
        }
    }
    if (shell == "bash") { return bash_script(top); }
    if (shell == "zsh") { return zsh_script(top); }
    return fish_script(top);
}

}  // namespace agentforge::kernel
