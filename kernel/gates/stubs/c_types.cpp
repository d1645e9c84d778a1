// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/c_types.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "gates/stubs/c_text.hpp"
#include "gates/stubs/c_tokens.hpp"

namespace agentforge::kernel {
namespace {

std::string with_spaces(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& each : words) { text += (text.empty() ? "" : " ") + each; }
    return text;
}

/// The words of a type before its first `*` or `&`, in one order: `const`, then the others.
std::string normal_base(std::vector<std::string> words, bool keeps_const) {
    int depth = 0;
    bool is_const = false;
    bool sized = false;
    std::vector<std::string> others;
    for (const auto& each : words) {
        if (each == "<") { ++depth; }
        if (each == ">") { --depth; }
        if (depth == 0 && each == "const") {
            is_const = true;
            continue;
        }
        if (depth == 0 && (each == "unsigned" || each == "short" || each == "long" || each == "signed")) { sized = true; }
        others.push_back(each);
    }
    if (sized) {
        std::erase(others, "int");
        std::erase(others, "signed");
        std::sort(others.begin(), others.end(), std::greater<>());
        if (others.empty()) { others.emplace_back("int"); }
    }
    return (is_const && keeps_const ? "const " : "") + with_spaces(others);
}

}  // namespace

std::string normal_c_type(std::string_view type, const std::map<std::string, std::string>& renamed) {
    static constexpr std::array<std::string_view, 11> skipped{
        "struct", "class", "enum", "union", "typename", "register", "restrict", "__restrict", "volatile", "static", "template"};
    const auto code = c_text::code_only(type);
    std::vector<std::string> base;
    std::vector<std::string> marks;
    int depth = 0;
    for (const auto& token : c_tokens_of(code)) {
        std::string word = code.substr(token.begin, token.end - token.begin);
        if (c_text::is_one_of(word, skipped)) { continue; }
        if (const auto other = renamed.find(word); other != renamed.end()) { word = other->second; }
        if (word == "::") {
            // `a::b` is compared as `b`.
            if (!base.empty() && (c_text::is_word(base.back().front()))) { base.pop_back(); }
            continue;
        }
        if (word == "<" || word == "(") { ++depth; }
        if (word == ">" || word == ")") { --depth; }
        const bool marked = depth == 0 && (word == "*" || word == "&" || word == "[");
        if (marked || (!marks.empty() && depth == 0)) {
            if (word == "[") { word = "*"; }
            // A `const` after the last `*` applies to the parameter itself.
            if (word == "*" || word == "&" || word == "const") { marks.push_back(word); }
        } else {
            base.push_back(word);
        }
    }
    if (!marks.empty() && marks.back() == "const") { marks.pop_back(); }
    auto text = normal_base(std::move(base), !marks.empty());
    for (const auto& each : marks) { text += each == "const" ? " const" : each; }
    return text;
}

std::set<std::string> c_words(std::string_view text) {
    std::set<std::string> words;
    const auto code = c_text::code_only(text);
    for (const auto& token : c_tokens_of(code)) {
        if (c_text::is_word(code[token.begin])) { words.insert(code.substr(token.begin, token.end - token.begin)); }
    }
    return words;
}

}  // namespace agentforge::kernel
