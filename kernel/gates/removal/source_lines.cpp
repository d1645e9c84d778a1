// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/source_lines.hpp"

#include <algorithm>

#include <re2/re2.h>

#include "gates/language/string_piece.hpp"
#include "gates/removal/code_vocabulary.hpp"

namespace agentforge::kernel {
namespace {

std::string_view trimmed_end(std::string_view line) {
    const auto last = line.find_last_not_of(" \t\r\n");
    return last == std::string_view::npos ? std::string_view() : line.substr(0, last + 1);
}

}  // namespace

std::string_view bare_line(std::string_view line) {
    const auto first = line.find_first_not_of(" \t\r\n");
    return first == std::string_view::npos ? std::string_view() : trimmed_end(line.substr(first));
}

std::size_t margin_of(std::string_view line) { return line.find_first_not_of(" \t"); }

std::string without_comments(std::string_view text, const CodeRules& rules) {
    const auto read = read_code(text, rules);
    std::string result = read.code;
    int open = 0;
    std::size_t counted = 0;
    const auto line_is_blank_around = [&](const CodeLiteral& literal) {
        const auto begin = literal.begin == 0 ? 0 : read.code.rfind('\n', literal.begin - 1) + 1;
        const auto end = std::min(read.code.find('\n', literal.end), read.code.size());
        return bare_line(std::string_view(read.code).substr(begin, literal.begin - begin)).empty() &&
               bare_line(std::string_view(read.code).substr(literal.end, end - literal.end)).empty() &&
               (begin < 2 || read.code[begin - 2] != '\\');
    };
    for (const auto& literal : read.literals) {
        open += bracket_balance(std::string_view(read.code).substr(counted, literal.begin - counted));
        counted = literal.begin;
        const bool docstring = rules.comment_begins.empty() && is_text(literal) && open == 0 && line_is_blank_around(literal);
        for (auto at = literal.begin; at < literal.end; ++at) {
            if (text[at] != '\n') { result[at] = docstring ? ' ' : text[at]; }
        }
    }
    if (!rules.preprocessor) { return result; }
    std::size_t begin = 0;
    for (const auto line : lines_of(text)) {
        if (bare_line(line).starts_with('#')) { result.replace(begin, line.size(), line); }
        begin += line.size() + 1;
    }
    return result;
}

SourceLines::SourceLines(std::string_view text, const CodeRules& rules) : bare(without_comments(text, rules)) {
    for (const auto line : lines_of(text)) { written.emplace_back(line); }
    for (const auto line : lines_of(bare)) { code.emplace_back(trimmed_end(line)); }
    const auto without_texts = read_code(bare, rules);
    for (const auto line : lines_of(without_texts.code)) { blanked.emplace_back(trimmed_end(line)); }
    code.resize(written.size());
    blanked.resize(written.size());
    functions = function_lines(text, rules);
}

std::string joined_lines(const std::vector<std::string>& lines, const std::vector<std::size_t>& numbers) {
    std::string text;
    for (const auto number : numbers) { text += lines[number] + "\n"; }
    return text;
}

const FunctionLines* function_around(const SourceLines& text, std::size_t line) {
    const FunctionLines* found = nullptr;
    for (const auto& function : text.functions) {
        if (function.first <= line + 1 && line + 1 <= function.last) { found = &function; }
    }
    return found;
}

std::string without_idle_lines(std::string_view code) {
    static const RE2 idle(R"(^\s*(?:pass|\.\.\.|;|\(void\)\s*\w+;)\s*$)");
    std::string text;
    for (const auto line : lines_of(code)) {
        if (!RE2::PartialMatch(string_piece(line), idle)) { text += std::string(line) + "\n"; }
    }
    return text;
}

}  // namespace agentforge::kernel
