// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/plain/plain_text.hpp"

#include <utility>

namespace agentforge::kernel {

CodeRules bracket_rules() {
    CodeRules rules;
    rules.line_comments = {"//"};
    rules.comment_begins = "/*";
    rules.comment_ends = "*/";
    rules.quotes = {{"`", "`", false, true, false}, {"\"", "\"", true, false, false}, {"'", "'", true, false, true}};
    return rules;
}

std::string without_any_blanks(std::string_view text) {
    std::string result;
    for (const auto each : text) {
        if (each != ' ' && each != '\t' && each != '\n' && each != '\r') { result += each; }
    }
    return result;
}

std::size_t closing_bracket(std::string_view code, std::size_t open) {
    std::size_t depth = 0;
    for (auto at = open; at < code.size(); ++at) {
        if (code[at] == '(' || code[at] == '{' || code[at] == '[') { ++depth; }
        if ((code[at] == ')' || code[at] == '}' || code[at] == ']') && --depth == 0) { return at; }
    }
    return std::string_view::npos;
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char each = text[at];
        if (each == '(' || each == '[' || each == '{' || each == '<') { ++depth; }
        if (each == ')' || each == ']' || each == '}' || (each == '>' && (at == 0 || text[at - 1] != '-'))) { --depth; }
        if (each == ',' && depth == 0) {
            parts.emplace_back();
        } else {
            parts.back() += each;
        }
    }
    for (auto& part : parts) {
        const auto first = part.find_first_not_of(" \t\n");
        part = first == std::string::npos ? std::string{} : part.substr(first, part.find_last_not_of(" \t\n") - first + 1);
    }
    std::erase(parts, "");
    return parts;
}

std::string trimmed_signature(std::string_view text) {
    while (!text.empty() && (text.back() == ';' || text.back() == ' ' || text.back() == '\n')) { text.remove_suffix(1); }
    while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) { text.remove_prefix(1); }
    return std::string(text);
}

std::string last_part(std::string_view name) {
    const auto cut = name.find_last_of(".:");
    return std::string(cut == std::string_view::npos ? name : name.substr(cut + 1));
}

std::string stem_of(std::string_view path) {
    const auto slash = path.rfind('/');
    const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
    return std::string(name.substr(0, name.find('.')));
}

std::string folder_path(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string{} : std::string(path.substr(0, slash));
}

std::size_t closing_angle(std::string_view code, std::size_t open) {
    std::size_t depth = 0;
    for (auto at = open; at < code.size(); ++at) {
        if (code[at] == '<') { ++depth; }
        if (code[at] == '>' && (at == 0 || (code[at - 1] != '-' && code[at - 1] != '=')) && --depth == 0) { return at; }
    }
    return std::string_view::npos;
}

std::string without_outer_blanks(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\n\r");
    return first == std::string_view::npos ? std::string{}
                                           : std::string(text.substr(first, text.find_last_not_of(" \t\n\r") - first + 1));
}

}  // namespace agentforge::kernel
