// SPDX-License-Identifier: Apache-2.0
#include "program/commands/plugins_new.hpp"

#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>
#include <ostream>

#include "base/files.hpp"
#include "base/text.hpp"
#include "config/settings.hpp"
#include "program/command_line.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 64;

/// A plugin with a keyword's name would not compile.
constexpr std::array<std::string_view, 97> keywords{
    "alignas",     "alignof",   "and",        "and_eq",    "asm",      "auto",         "bitand",
    "bitor",       "bool",      "break",      "case",      "catch",    "char",         "char8_t",
    "char16_t",    "char32_t",  "class",      "compl",     "concept",  "const",        "consteval",
    "constexpr",   "constinit", "const_cast", "continue",  "co_await", "co_return",    "co_yield",
    "decltype",    "default",   "delete",     "do",        "double",   "dynamic_cast", "else",
    "enum",        "explicit",  "export",     "extern",    "false",    "float",        "for",
    "friend",      "goto",      "if",         "inline",    "int",      "long",         "mutable",
    "namespace",   "new",       "noexcept",   "not",       "not_eq",   "nullptr",      "operator",
    "or",          "or_eq",     "private",    "protected", "public",   "register",     "reinterpret_cast",
    "requires",    "return",    "short",      "signed",    "sizeof",   "static",       "static_assert",
    "static_cast", "struct",    "switch",     "template",  "this",     "thread_local", "throw",
    "true",        "try",       "typedef",    "typeid",    "typename", "union",        "unsigned",
    "using",       "virtual",   "void",       "volatile",  "wchar_t",  "while",        "xor",
    "xor_eq",      "final",     "override",   "import",    "module",   "main"};

struct Wanted {
    std::string kind;
    std::string name;
    std::string directory;
};

/// Returns why a name is not valid, or empty.
std::string name_problem(std::string_view name) {
    const auto small = [](char letter) { return letter >= 'a' && letter <= 'z'; };
    if (name.empty()) { return "it is empty"; }
    if (name.size() > longest_name) {
        return "it has " + std::to_string(name.size()) + " characters, more than " + std::to_string(longest_name);
    }
    if (!small(name.front())) { return "it does not begin with a lower-case letter"; }
    for (const char letter : name) {
        if (!small(letter) && (letter < '0' || letter > '9') && letter != '_') {
            return "it has characters other than lower-case letters, digits and `_`";
        }
    }
    if (std::find(keywords.begin(), keywords.end(), name) != keywords.end()) { return "it is a C++ keyword"; }
    return {};
}

/// word_count → WordCount.
std::string class_name(std::string_view name) {
    std::string made;
    bool begins = true;
    for (const char letter : name) {
        if (letter == '_') {
            begins = true;
            continue;
        }
        made += begins && letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
        begins = false;
    }
    return made;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

/// Installed, the templates are beside the configuration; in the source tree, below sdk/.
Result<fs::path> templates_folder() {
    AF_TRY(const ProductPaths product, ProductPaths::find());
    const fs::path data = fs::path(product.config).parent_path();
    std::error_code ignored;
    for (const fs::path& folder : {data / "templates", data / "sdk" / "templates"}) {
        if (fs::is_directory(folder, ignored)) { return folder; }
    }
    return Error{"AF-PLUG-063", "the templates of plugins are not installed", (data / "templates").string(),
                 "install all of AgentForge, including its SDK", ErrorKind::not_found};
}

/// <prefix>/share/agentforge/templates → <prefix>; a placeholder if the program is not installed.
std::string prefix_of(const fs::path& templates) {
    const fs::path data = templates.parent_path();
    return data.filename() == "agentforge" && data.parent_path().filename() == "share" ? data.parent_path().parent_path().string()
                                                                                       : "AGENTFORGE_PREFIX";
}

/// Returns the files of the finished plugin: relative path → text.
Result<std::map<std::string, std::string>> filled_in(const fs::path& folder, const Wanted& wanted, const fs::path& target,
                                                     const std::string& prefix) {
    const auto fill = [&](std::string text) {
        text = replaced(std::move(text), "template_name", wanted.name);
        text = replaced(std::move(text), "TemplateName", class_name(wanted.name));
        text = replaced(std::move(text), "AGENTFORGE_PLUGIN_FOLDER", target.string());
        return replaced(std::move(text), "AGENTFORGE_PREFIX", prefix);
    };
    std::map<std::string, std::string> files;
    std::error_code problem;
    for (auto entry = fs::recursive_directory_iterator(folder, problem); !problem && entry != fs::recursive_directory_iterator();
         entry.increment(problem)) {
        if (!entry->is_regular_file(problem)) { continue; }
        AF_TRY(std::string text, read_file(entry->path(), 1U << 20U));
        files.emplace(fill(fs::relative(entry->path(), folder, problem).string()), fill(std::move(text)));
    }
    if (problem || files.empty()) {
        return Error{"AF-PLUG-063",
                     "cannot read the template" + (problem ? ": " + problem.message() : std::string(": it is empty")),
                     folder.string(), "install all of AgentForge, including its SDK", ErrorKind::not_found};
    }
    return files;
}

Error name_taken(const fs::path& target) {
    return Error{"AF-PLUG-062", "a file or folder of this name already exists; nothing was overwritten", target.string(),
                 "choose another name, or another place with --directory DIR", ErrorKind::conflict};
}

/// Gives a finished folder its name, unless that is taken, even by an empty folder: it belongs to the user.
Result<void> give_name(const fs::path& made, const fs::path& target) {
    int error = ::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
    // The file system lacks RENAME_NOREPLACE. `make_plugin` has already checked the target.
    if (error == EINVAL || error == ENOSYS) { error = ::rename(made.c_str(), target.c_str()) == 0 ? 0 : errno; }
    if (error == EEXIST || error == ENOTEMPTY || error == ENOTDIR) { return name_taken(target); }
    if (error == 0) { return sync_directory(target.parent_path()); }
    return Error{"AF-PLUG-062", "cannot create the folder: " + errno_text(error), target.string(),
                 "choose another with --directory DIR", ErrorKind::io};
}

Result<void> write_all_files(const fs::path& target, const std::map<std::string, std::string>& files) {
    AF_CHECK(make_directories(target));
    for (const auto& [name, text] : files) {
        AF_CHECK(make_directories((target / name).parent_path()));
        AF_CHECK(create_file_exclusive(target / name, text, Durability::synced));
    }
    return {};
}

/// Whole or not at all: the folder has another name until all files are on disk.
Result<void> make_plugin(const fs::path& target, const std::map<std::string, std::string>& files) {
    AF_CHECK(make_directories(target.parent_path()));
    sweep_abandoned_writes_in(target.parent_path());
    std::error_code problem;
    if (fs::exists(fs::symlink_status(target, problem))) { return name_taken(target); }
    const fs::path unfinished = unfinished_name(target);
    auto made = write_all_files(unfinished, files);
    if (made.ok()) { made = give_name(unfinished, target); }
    if (!made.ok()) { fs::remove_all(unfinished, problem); }
    return made;
}

int run_new(Program& program, const Wanted& wanted) {
    const auto templates = templates_folder();
    if (!templates.ok()) { return program.fail(templates.error()); }
    if (const std::string problem = name_problem(wanted.name); !problem.empty()) {
        program.fail({"AF-PLUG-061", "`" + printable(wanted.name, 80) + "` is not a name for a plugin: " + problem, "",
                      "use lower-case letters, digits and `_`, beginning with a letter, such as word_count", ErrorKind::invalid});
        return 2;
    }
    const fs::path target = (program.directory / wanted.directory / wanted.name).lexically_normal();
    const std::string prefix = prefix_of(*templates);
    const auto files = filled_in(*templates / wanted.kind, wanted, target, prefix);
    if (!files.ok()) { return program.fail(files.error()); }
    if (const auto made = make_plugin(target, *files); !made.ok()) { return program.fail(made.error()); }

    if (program.json_output) {
        json::array names;
        for (const auto& [name, text] : *files) { names.emplace_back(name); }
        program.print_json(
            {{"kind", wanted.kind}, {"name", wanted.name}, {"directory", target.string()}, {"files", std::move(names)}});
        return 0;
    }
    program.out << "Created the " << wanted.kind << " plugin " << wanted.name << " in " << target.string() << ":\n";
    for (const auto& [name, text] : *files) { program.out << "  " << name << "\n"; }
    program.out << "Next:\n"
                << "  cd " << target.string() << "\n"
                << "  cmake -B build -DCMAKE_PREFIX_PATH=" << prefix << "\n"
                << "  cmake --build build && ctest --test-dir build\n"
                << "README.md says how to use it.\n";
    return 0;
}

}  // namespace

void add_plugins_new(CLI::App& group, Program& program) {
    const Command command = add_subcommand(group, "new", "Create a plugin from a template: stage, tool, llm or escalation");
    const auto wanted = std::make_shared<Wanted>();
    add_option(*command, "kind", wanted->kind, "stage, tool, llm or escalation")
        ->type_name("KIND")
        ->one_of({"stage", "tool", "llm", "escalation"})
        ->required();
    add_option(*command, "name", wanted->name, "Its name: lower-case letters, digits and `_`")->type_name("NAME")->required();
    add_option(*command, "--directory", wanted->directory, "Create it in this folder instead of the current one")
        ->type_name("DIR");
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer("Example:  agentforge plugins new tool word_count");
    command->callback([&program, wanted] { program.command = [&program, wanted] { return run_new(program, *wanted); }; });
}

}  // namespace agentforge::kernel
