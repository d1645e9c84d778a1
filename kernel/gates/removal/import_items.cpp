// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/import_items.hpp"

#include <algorithm>
#include <utility>

#include <re2/re2.h>

#include "gates/language/string_piece.hpp"

namespace agentforge::kernel {
namespace {

/// A name in a list, and how the list writes it: `d` and `c as d`.
struct ListedName {
    std::string name;
    std::string written;
};

/// Reads `a, b as c, d: e`. Empty if something else is in the list.
std::vector<ListedName> listed_names(std::string_view list) {
    static const RE2 item(R"(\s*((?:type\s+)?[\w.$]+(?:\s*(?:\bas\b|:)\s*([\w$]+))?)\s*(?:,|$))");
    std::vector<ListedName> names;
    auto rest = string_piece(list);
    std::string written;
    std::string alias;
    while (RE2::Consume(&rest, item, &written, &alias)) {
        const auto last = written.substr(written.find_last_of(" .") + 1);
        names.push_back({alias.empty() ? last : alias, written});
        alias.clear();
    }
    const std::string_view left(rest.data(), rest.size());
    if (left.find_first_not_of(" \t") != std::string_view::npos) { names.clear(); }
    return names;
}

void add_list(const std::string& head, std::string_view list, const std::string& tail, std::vector<ImportItem>& items) {
    for (auto& each : listed_names(list)) { items.push_back({std::move(each.name), head + each.written + tail, 0}); }
}

void read_go(const std::string& statement, std::vector<ImportItem>& items) {
    static const RE2 begins(R"(^import[\s(])");
    static const RE2 spec(R"re((?:\b([A-Za-z]\w*)\s+)?("[^"\s]+"))re");
    static const RE2 last(R"re(([A-Za-z_]\w*)(?:/v\d+|\.v\d+)?"$)re");
    static const RE2 keyword(R"(^import\b)");
    if (!RE2::PartialMatch(statement, begins)) { return; }
    auto text = statement;
    RE2::Replace(&text, keyword, "");
    auto rest = string_piece(text);
    std::string alias;
    std::string path;
    while (RE2::FindAndConsume(&rest, spec, &alias, &path)) {
        auto name = alias;
        if (name.empty()) { RE2::PartialMatch(path, last, &name); }
        items.push_back({name, "import " + (alias.empty() ? "" : alias + " ") + path, 0});
        alias.clear();
    }
}

/// `statement`: in one line. Adds nothing if it is of no known form.
void read_statement(const std::string& statement, std::vector<ImportItem>& items) {
    static const RE2 python_from(R"((from\s+[\w.]+\s+import\s+)\(?([^()]*?),?\s*\)?\s*)");
    static const RE2 python(R"((import\s+)([\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*)\s*)");
    static const RE2 java(R"(import\s+(?:static\s+)?[\w.]+\.(\w+)\s*;)");
    static const RE2 rust_list(R"(((?:pub(?:\([^)]*\))?\s+)?use\s+[\w:]+::)\{([^{}]*?),?\s*\}\s*;)");
    static const RE2 rust(R"((?:pub(?:\([^)]*\))?\s+)?use\s+(?:[\w:]*::)?(\w+)(?:\s+as\s+(\w+))?\s*;)");
    static const RE2 script(R"(import\s+(type\s+)?(?:(\w+)\s*,?\s*)?(?:\{([^{}]*?),?\s*\}\s*)?(from\s*["'][^"']+["']\s*;?)\s*)");
    static const RE2 script_all(R"re(import\s+\*\s+as\s+(\w+)\s+from\s*["'][^"']+["']\s*;?\s*)re");
    static const RE2 required_list(R"(((?:const|let|var)\s+)\{([^{}]*?),?\s*\}(\s*=\s*require\s*\([^()]*\)\s*;?)\s*)");
    static const RE2 required(R"((?:const|let|var)\s+(\w+)\s*=\s*require\s*\([^()]*\)[\w.]*\s*;?\s*)");
    std::string head;
    std::string list;
    std::string tail;
    std::string name;
    std::string alias;
    if (statement.find("__future__") != std::string::npos) { return; }
    if (RE2::FullMatch(statement, java, &name) || RE2::FullMatch(statement, script_all, &name) ||
        RE2::FullMatch(statement, required, &name)) {
        items.push_back({name, statement, 0});
    } else if (RE2::FullMatch(statement, rust, &name, &alias)) {
        items.push_back({alias.empty() ? name : alias, statement, 0});
    } else if (RE2::FullMatch(statement, python_from, &head, &list) || RE2::FullMatch(statement, python, &head, &list)) {
        add_list(head, list, "", items);
    } else if (RE2::FullMatch(statement, rust_list, &head, &list)) {
        add_list(head, list, ";", items);
    } else if (RE2::FullMatch(statement, required_list, &head, &list, &tail)) {
        add_list(head + "{ ", list, " }" + tail, items);
    } else if (RE2::FullMatch(statement, script, &head, &name, &list, &tail)) {
        if (!name.empty()) { items.push_back({name, "import " + head + name + " " + tail, 0}); }
        add_list("import " + head + "{ ", list, " } " + tail, items);
    } else {
        read_go(statement, items);
    }
}

}  // namespace

ImportItems import_items(const SourceLines& text) {
    static const RE2 begins(
        R"(^(?:import\b|from\s+\S+\s+import\b|(?:pub(?:\([^)]*\))?\s+)?use\s|(?:const|let|var)\s+[^=]*=\s*require\s*\())");
    ImportItems result{{}, std::vector<bool>(text.code.size()), std::vector<bool>(text.code.size())};
    for (std::size_t first = 0; first < text.code.size(); ++first) {
        if (!RE2::PartialMatch(text.code[first], begins)) { continue; }
        std::string statement(bare_line(text.code[first]));
        auto last = first;
        int open = bracket_balance(text.blanked[first]);
        while (open > 0 && last + 1 < text.code.size()) {
            open += bracket_balance(text.blanked[++last]);
            statement += " " + std::string(bare_line(text.code[last]));
        }
        std::vector<ImportItem> items;
        read_statement(statement, items);
        if (items.empty()) { continue; }
        for (auto& item : items) {
            item.line = first;
            result.items.push_back(std::move(item));
        }
        for (auto at = first; at <= last; ++at) { result.lines[at] = true; }
        for (auto at = first + 1; at <= last; ++at) { result.inside[at] = true; }
        first = last;
    }
    return result;
}

}  // namespace agentforge::kernel
