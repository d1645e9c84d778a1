// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/definitions.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <re2/re2.h>

namespace agentforge::kernel {
namespace {

/// Returns the index of the last line of a block whose header is at `first`.
std::size_t end_of_block(const SourceLines& text, std::size_t first, bool by_indentation) {
    if (by_indentation) {
        auto last = first;
        for (auto at = first + 1; at < text.blanked.size(); ++at) {
            const auto margin = margin_of(text.code[at]);
            if (margin == std::string::npos) { continue; }
            if (margin <= margin_of(text.code[first])) { break; }
            last = at;
        }
        return last;
    }
    int open = 0;
    bool opened = false;
    for (auto at = first; at < text.blanked.size(); ++at) {
        open += bracket_balance(text.blanked[at]);
        opened = opened || text.blanked[at].find('{') != std::string::npos;
        if (open <= 0 && (opened || text.blanked[at].ends_with(';') || (at > first && text.blanked[at].empty()))) { return at; }
    }
    return text.blanked.empty() ? 0 : text.blanked.size() - 1;
}

}  // namespace

std::vector<Definition> definitions_of(const SourceLines& text, const CodeRules& rules) {
    static const RE2 type(
        R"(^\s*(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|internal|abstract|final|sealed|static|data|unsafe|declare|typedef|const)\s+)*(class|struct|interface|enum|union|trait|impl|record|type|mod|namespace)\b\s*([^{:;(=]*))");
    std::vector<Definition> found;
    const bool by_indentation = rules.comment_begins.empty();
    for (std::size_t at = 0; at < text.blanked.size(); ++at) {
        std::string kind;
        std::string name;
        if (!RE2::PartialMatch(text.blanked[at], type, &kind, &name) || bare_line(name).empty()) { continue; }
        if (by_indentation && kind != "class") { continue; }
        found.push_back({kind + " " + std::string(bare_line(name)), at, end_of_block(text, at, by_indentation)});
    }
    for (const auto& function : text.functions) {
        if (function.first == 0 || function.last > text.code.size()) { continue; }
        found.push_back({function.name, function.first - 1, function.last - 1});
    }
    return found;
}

std::string code_of_definition(const SourceLines& text, const Definition& extent) {
    std::string code;
    for (auto at = extent.first; at <= extent.last && at < text.code.size(); ++at) {
        if (!text.code[at].empty()) { code += text.code[at] + "\n"; }
    }
    return code;
}

std::string code_of_functions(const SourceLines& text, const std::string& name) {
    std::string code;
    for (const auto& function : text.functions) {
        if (function.name == name && function.first > 0) {
            code += code_of_definition(text, {name, function.first - 1, function.last - 1});
        }
    }
    return code;
}

std::vector<Definition> removed_definitions(const SourceLines& before, const SourceLines& now, const CodeRules& rules) {
    std::map<std::string, std::vector<Definition>> were;
    std::map<std::string, std::multiset<std::string>> are;
    for (auto& each : definitions_of(before, rules)) { were[each.name].push_back(std::move(each)); }
    for (const auto& each : definitions_of(now, rules)) { are[each.name].insert(code_of_definition(now, each)); }
    std::vector<Definition> removed;
    for (auto& [name, extents] : were) {
        auto& left = are[name];
        std::vector<Definition> changed;
        for (auto& extent : extents) {
            const auto same = left.find(code_of_definition(before, extent));
            if (same == left.end()) {
                changed.push_back(std::move(extent));
            } else {
                left.erase(same);
            }
        }
        if (left.empty()) { std::ranges::move(changed, std::back_inserter(removed)); }
    }
    static const RE2 decorator(R"(^\s*(?:@\w|#\[|template\s*<))");
    for (auto& extent : removed) {
        for (auto at = extent.first; at-- > 0;) {
            if (before.code[at].empty()) { continue; }
            if (!RE2::PartialMatch(before.code[at], decorator)) { break; }
            extent.first = at;
        }
    }
    return removed;
}

std::vector<bool> lines_of_imports(const SourceLines& text) {
    static const RE2 begins(
        R"(^\s*(?:import\b|from\s+\S+\s+import\b|#\s*(?:include|import)\b|(?:pub(?:\([^)]*\))?\s+)?(?:use|mod|extern crate)\s+[\w:]|using\s|package\s|(?:const|let|var)\s+[^=]*=\s*(?:await\s+)?(?:require|import)\s*\(|export\s*(?:type\s*)?[{*]|export\s+default\s*\{|__all__\s*\+?=|(?:module\.)?exports\b(?:\.\w+)?\s*=\s*(?:\{|\w+;?$)))");
    std::vector<bool> marked(text.blanked.size());
    for (std::size_t at = 0; at < text.blanked.size(); ++at) {
        if (!RE2::PartialMatch(text.code[at], begins)) { continue; }
        marked[at] = true;
        int open = bracket_balance(text.blanked[at]);
        while (open > 0 && at + 1 < text.blanked.size()) {
            open += bracket_balance(text.blanked[++at]);
            marked[at] = true;
        }
    }
    return marked;
}

}  // namespace agentforge::kernel
