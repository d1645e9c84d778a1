// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/import_text.hpp"

#include <algorithm>
#include <set>

#include <re2/re2.h>

#include "gates/language/source_text.hpp"

namespace agentforge::kernel {
namespace {

std::string in_one_line(const std::vector<std::string>& lines) {
    static const RE2 spaces(R"(\s+)");
    std::string text;
    for (const auto& line : lines) { text += line + " "; }
    RE2::GlobalReplace(&text, spaces, " ");
    auto content = without_margins(text);
    while (content.ends_with(';')) { content = without_margins(content.substr(0, content.size() - 1)); }
    return std::string(content);
}

/// Adds the names of an import's list. Those within braces are marked, since braces change what a name means.
void add_items(std::string_view clause, std::vector<std::string>& items) {
    bool braces = false;
    std::string item;
    const auto take = [&] {
        if (const auto text = without_margins(item); !text.empty()) { items.push_back((braces ? "{" : "") + std::string(text)); }
        item.clear();
    };
    for (const char c : clause) {
        if (c == ',' || c == '{' || c == '}' || c == '(' || c == ')') {
            take();
            if (c == '{') { braces = true; }
            if (c == '}') { braces = false; }
        } else {
            item += c;
        }
    }
    take();
}

/// `text`: an import in one line.
ImportText read_statement(const std::string& text) {
    ImportText import;
    std::string head;
    std::string names;
    std::string tail;
    static const RE2 include(R"(#\s*include\b.*)");
    static const RE2 python(R"((from \S+ import) (.*))");
    static const RE2 script(R"((import(?: type)?) (.*?) ?(from ?["'`].*))");
    static const RE2 required(R"((const|let|var) (.*?) ?(= ?(?:await )?(?:require|import) ?\(.*\)))");
    static const RE2 braces(R"(((?:pub(?:\([^)]*\))? )?use [\w:]*::)\{([^{}]*)\})");
    static const RE2 path(R"(((?:pub(?:\([^)]*\))? )?use (?:\w+::)*)(\w+(?: as \w+)?))");
    static const RE2 java(R"((import(?: static)?) ([\w.]+))");
    static const RE2 modules(R"((import) ([\w.]+(?: as \w+)?(?:, ?[\w.]+(?: as \w+)?)*))");
    static const RE2 other(R"((using) (\w[\w:]*::\w+))");
    if (RE2::FullMatch(text, include)) {
        import.frame = text;
        import.textual = true;
    } else if (RE2::FullMatch(text, python, &head, &names) || RE2::FullMatch(text, script, &head, &names, &tail) ||
               RE2::FullMatch(text, required, &head, &names, &tail) || RE2::FullMatch(text, modules, &head, &names)) {
        import.frame = head + " " + tail;
        add_items(names, import.items);
    } else if (RE2::FullMatch(text, braces, &head, &names) || RE2::FullMatch(text, path, &head, &names) ||
               RE2::FullMatch(text, java, &head, &names) || RE2::FullMatch(text, other, &head, &names)) {
        import.frame = head;
        add_items(names, import.items);
    } else {
        import.frame = text;
    }
    // With `*` or `_` nobody knows which names it gives.
    if (std::ranges::any_of(import.items, [](const std::string& item) {
            return item == "*" || item == "{*" || item.starts_with("_ ") || item == "_" || item.starts_with("self");
        })) {
        import.frame = text;
        import.items.clear();
    }
    return import;
}

}  // namespace

bool begins_import(std::string_view line) {
    static const RE2 begins(
        R"(^\s*(?:import\b|from\s+\S+\s+import\b|#\s*include\b|(?:pub(?:\([^)]*\))?\s+)?use\s+[\w:]|using\s+[\w:]|(?:const|let|var)\s+[^=]*=\s*(?:await\s+)?(?:require|import)\s*\())");
    return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), begins);
}

std::pair<std::string, ImportText> read_import(const std::vector<std::string>& lines) {
    auto text = in_one_line(lines);
    auto import = read_statement(text);
    return {std::move(text), std::move(import)};
}

std::pair<std::string, ImportText> read_go_import(const std::vector<std::string>& lines) {
    ImportText import{.frame = "import", .items = {}};
    for (const auto& line : lines) {
        for (auto& item : go_imports_in(line)) { import.items.push_back(std::move(item)); }
    }
    return {in_one_line(lines), std::move(import)};
}

std::string import_of_used(const std::string& text, const std::function<bool(const std::string& name)>& used) {
    static const RE2 python(R"((from \S+ import) .*)");
    static const RE2 script(R"((import(?: type)?) [^"'`]*?(from ?["'`].*))");
    static const RE2 required(R"(((?:const|let|var)) [^=]*?(= ?(?:await )?(?:require|import) ?\(.*\)))");
    std::string head;
    std::string tail;
    const bool is_python = RE2::FullMatch(text, python, &head);
    const bool is_script =
        !is_python && (RE2::FullMatch(text, script, &head, &tail) || RE2::FullMatch(text, required, &head, &tail));
    const auto items = read_statement(text).items;
    if ((!is_python && !is_script) || items.empty()) { return text; }
    std::string outside;  // Braces.
    std::string within;
    for (const auto& item : items) {
        if (const auto name = bound_name(item); !name.empty() && !used(name)) { continue; }
        auto& list = item.starts_with('{') ? within : outside;
        list += (list.empty() ? "" : ", ") + (item.starts_with('{') ? item.substr(1) : item);
    }
    if (outside.empty() && within.empty()) { return {}; }
    if (is_python) { return head + " " + outside; }
    const std::string comma = outside.empty() || within.empty() ? "" : ", ";
    return head + " " + outside + comma + (within.empty() ? "" : "{ " + within + " }") + " " + tail + ";";
}

bool names_module(const ImportText& import) {
    static const std::set<std::string_view> general{"import", "import static", "using", "use", "pub use"};
    return !general.contains(without_margins(import.frame));
}

std::string bound_name(const std::string& item) {
    static const RE2 go(R"re(([\w.]+) "[^"]+")re");
    static const RE2 last(R"(([\w$]+)\W*$)");
    std::string name;
    if (RE2::FullMatch(item, go, &name)) { return name == "_" || name == "." ? std::string() : name; }
    RE2::PartialMatch(item, last, &name);
    return name;
}

bool is_go_package(std::string_view line) {
    static const RE2 package(R"(package\s+\w+\s*)");
    return RE2::FullMatch(re2::StringPiece(line.data(), line.size()), package);
}

std::vector<std::string> go_imports_in(std::string_view line) {
    static const RE2 one(R"re(((?:[\w.]+\s+)?["`][^"`]+["`]))re");
    static const RE2 spaces(R"(\s+)");
    std::vector<std::string> items;
    re2::StringPiece rest(line.data(), line.size());
    for (std::string item; RE2::FindAndConsume(&rest, one, &item);) {
        if (item.starts_with("import ")) { item.erase(0, item.find_first_of("\"`")); }
        RE2::GlobalReplace(&item, spaces, " ");
        items.push_back(item);
    }
    return items;
}

std::vector<std::string> names_of_go_package(const std::string& item) {
    const auto quote = item.find_first_of("\"`");
    if (quote == std::string::npos || item == "\"C\"") { return {}; }
    if (quote > 0) {
        const auto name = bound_name(item);
        return name.empty() ? std::vector<std::string>() : std::vector<std::string>{name};
    }
    std::vector<std::string> names;
    static const RE2 segment(R"(([^/"`]+)[/"`])");
    static const RE2 word(R"((\w+))");
    std::vector<std::string> segments;
    re2::StringPiece rest(item.data() + 1, item.size() - 1);
    for (std::string each; RE2::FindAndConsume(&rest, segment, &each);) { segments.push_back(each); }
    for (auto at = segments.size() > 2 ? segments.size() - 2 : 0; at < segments.size(); ++at) {
        re2::StringPiece words(segments[at]);
        for (std::string each; RE2::FindAndConsume(&words, word, &each);) { names.push_back(each); }
    }
    return names;
}

}  // namespace agentforge::kernel
