// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/c_signature.hpp"

#include <algorithm>
#include <utility>

#include <re2/re2.h>

namespace agentforge::kernel {

std::string without_semicolon(std::string text) {
    while (!text.empty() && (text.back() == ';' || text.back() == ' ')) { text.pop_back(); }
    return text;
}

namespace {

using c_text::closing;
using c_text::code_only;
using c_text::find_word;
using c_text::is_word;
using c_text::squeezed;

/// Among the parameters, `{}` is a default argument.
bool has_body(std::string_view code) {
    int depth = 0;
    for (const char each : code) {
        if (each == '(') { ++depth; }
        if (each == ')') { --depth; }
        if (each == '{' && depth == 0) { return true; }
    }
    return false;
}

void check_is_one_declaration(const std::string& code, const std::string& signature) {
    if (has_body(code)) { throw CannotDeclare{"the signature `" + signature + "` has a body; give only the declaration"}; }
    if (code.find(';') != std::string::npos) {
        throw CannotDeclare{"the signature `" + signature + "` is more than one declaration"};
    }
    if (code.find('#') != std::string::npos) { throw CannotDeclare{"the signature `" + signature + "` has a preprocessor line"}; }
}

/// Returns where `template<…>` ends; 0: there is none.
std::size_t template_end(const std::string& code) {
    if (code.compare(0, 8, "template") != 0) { return 0; }
    std::size_t at = 0;
    int depth = 0;
    for (; at < code.size(); ++at) {
        if (code[at] == '<') { ++depth; }
        if (code[at] == '>' && --depth == 0) { break; }
    }
    return at;
}

/// Returns where the name of an operator ends: `operator()` has brackets in it.
std::size_t operator_end(const std::string& code, std::size_t begin) {
    const auto behind = code.substr(begin + 8);
    return begin + 8 + (squeezed(behind).find("()") == 0 ? behind.find(')') + 1 : 0);
}

/// Returns the next `(` that is not between `<` and `>`, as that of std::function<int(int)> is.
std::size_t next_bracket(const std::string& code, std::size_t from, bool in_operator) {
    int depth = 0;
    for (auto at = from; at < code.size(); ++at) {
        if (!in_operator && code[at] == '<') { ++depth; }
        if (!in_operator && code[at] == '>' && depth > 0) { --depth; }
        if (code[at] == '(' && depth == 0) { return at; }
    }
    return std::string::npos;
}

/// Returns the opening bracket of the parameters. Attributes and types may also have brackets: [[deprecated("…")]], decltype(…).
std::size_t find_parameters(const std::string& code, std::size_t from, bool in_operator = false) {
    auto open = next_bracket(code, from, in_operator);
    while (open != std::string::npos) {
        const auto word_end = code.find_last_not_of(' ', open - (open > 0 ? 1 : 0));
        const auto keyword = [&](std::string_view word) {
            return word_end + 1 >= word.size() && code.compare(word_end + 1 - word.size(), word.size(), word) == 0;
        };
        if (!keyword("decltype") && !keyword("deprecated") && !keyword("nodiscard") && !keyword("alignas") &&
            !keyword("explicit") && !keyword("requires") && !keyword("__attribute__")) {
            break;
        }
        const auto end = closing(code, open);
        open = end == std::string::npos ? end : next_bracket(code, end, in_operator);
    }
    return open;
}

std::size_t find_name_before(const std::string& code, std::size_t end) {
    auto begin = end;
    while (begin > 0 && code[begin - 1] == ' ') { --begin; }
    while (begin > 0 && (is_word(code[begin - 1]) || code[begin - 1] == '~')) { --begin; }
    return begin;
}

std::size_t find_qualifiers_before(const std::string& code, std::size_t name) {
    auto begin = name;
    while (begin > 2 && code.compare(begin - 2, 2, "::") == 0) {
        begin -= 2;
        // `Grid<T>::at`
        int depth = 0;
        while (begin > 0 && (depth > 0 || code[begin - 1] == '>')) {
            --begin;
            if (code[begin] == '>') { ++depth; }
            if (code[begin] == '<') { --depth; }
        }
        while (begin > 0 && is_word(code[begin - 1])) { --begin; }
    }
    return begin;
}

}  // namespace

CFunction parse_c_function(const std::string& signature) {
    CFunction result;
    result.text = without_semicolon(squeezed(signature));
    const auto code = code_only(result.text);
    check_is_one_declaration(code, signature);
    const auto from = template_end(code);
    const auto call = find_word(code, "operator", from);
    result.open = call == std::string::npos ? find_parameters(code, from) : find_parameters(code, operator_end(code, call), true);
    if (result.open == std::string::npos) {
        throw CannotDeclare{"the signature `" + signature + "` is neither a function nor a class, struct or enum"};
    }
    result.close = closing(code, result.open);
    if (result.close == std::string::npos) {
        throw CannotDeclare{"the brackets in the signature `" + signature + "` do not match"};
    }
    result.name = call != std::string::npos ? call : find_name_before(code, result.open);
    if (result.name == result.open) {
        throw CannotDeclare{"the signature `" + signature + "` has no name before its parameters"};
    }
    result.qualified = find_qualifiers_before(code, result.name);
    static const RE2 no_body(R"(=\s*(?:default|delete|0)\s*$)");
    result.needs_no_body = RE2::PartialMatch(code, no_body);
    if (!result.needs_no_body && code.find('=', result.close) != std::string::npos) {
        throw CannotDeclare{"the signature `" + signature + "` has text after `=`; such a declaration needs no skeleton"};
    }
    return result;
}

bool is_c_method(const std::string& member) {
    const auto code = code_only(member);
    static const RE2 other(R"(^(?:static_assert|using|typedef|friend\s+(?:class|struct))\b)");
    if (RE2::PartialMatch(code, other)) { return false; }
    const auto from = template_end(code);
    const auto call = find_word(code, "operator", from);
    if (call != std::string::npos) { return !parse_c_function(member).needs_no_body; }
    const auto open = find_parameters(code, from);
    if (open == std::string::npos) { return false; }
    static const RE2 pointer(R"(^\(\s*(?:\w+::)*[*&])");
    const bool points = RE2::PartialMatch(re2::StringPiece(code.data() + open, code.size() - open), pointer);
    const auto value = code.find('=', from);
    if (points || (value != std::string::npos && value < open)) { return false; }
    return !parse_c_function(member).needs_no_body;
}

namespace {

/// Returns a name without the arguments of its template: `std::hash<Point>` is `std::hash`.
std::string without_arguments(const std::string& name) {
    const auto open = name.find('<');
    if (open == std::string::npos || name.find("operator") != std::string::npos) { return name; }
    const auto close = name.rfind('>');
    return close == std::string::npos ? name : name.substr(0, open) + name.substr(close + 1);
}

}  // namespace

std::vector<std::string> c_name_parts(const std::string& whole) {
    const std::string name = without_arguments(whole);
    std::vector<std::string> parts(1);
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (name.compare(at, 8, "operator") == 0 && (at == 0 || !is_word(name[at - 1]))) {
            parts.back() = squeezed(name.substr(at));
            break;
        }
        if (name.compare(at, 2, "::") == 0) {
            parts.emplace_back();
            ++at;
        } else if (name[at] == '.') {
            parts.emplace_back();
        } else if (name[at] == '(') {
            break;
        } else {
            parts.back().push_back(name[at]);
        }
    }
    for (const auto& part : parts) {
        const auto plain = part.front() == '~' ? part.substr(1) : part;
        const bool good = !plain.empty() && (plain.starts_with("operator") || (std::all_of(plain.begin(), plain.end(), is_word) &&
                                                                               !(plain.front() >= '0' && plain.front() <= '9')));
        if (!good) { throw CannotDeclare{"`" + name + "` is not a name of C or C++"}; }
    }
    return parts;
}

std::string qualified_c_name(const std::vector<std::string>& parts) {
    std::string whole;
    for (const auto& part : parts) { whole += (whole.empty() ? "" : "::") + part; }
    return whole;
}

std::string without_c_template(const std::string& text) {
    if (!text.starts_with("template")) { return text; }
    int depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '<') { ++depth; }
        if (text[at] == '>' && --depth == 0) {
            return squeezed(std::string_view(text).substr(text.find_first_not_of(' ', at + 1)));
        }
    }
    return text;
}

namespace {

/// True for a single line, or for lines that are joined: each but the last ends with a backslash.
bool is_one_line(const std::string& text) {
    for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
        const bool is_end = text.find_first_not_of(" \t\r\n", at) == std::string::npos;
        if (!is_end && (at == 0 || text[at - 1] != '\\')) { return false; }
    }
    return true;
}

}  // namespace

std::string c_value_name(const std::string& signature) {
    const auto text = squeezed(signature);
    if (text.starts_with("#define ")) {
        auto end = std::size_t{8};
        while (end < text.size() && is_word(text[end])) { ++end; }
        const bool has_end = end < text.size() && (text[end] == ' ' || text[end] == '(');
        return has_end && is_one_line(signature) ? text.substr(8, end - 8) : std::string{};
    }
    const auto code = code_only(text);
    static const RE2 external(R"(^extern\s+[^(){}=]*?(\w+)\s*(?:\[[^\]]*\]\s*)?;?\s*$)");
    std::string name;
    if (RE2::FullMatch(code, external, &name)) { return name; }
    const auto stop = code.find_first_of("={(;", template_end(code));
    if (stop == std::string::npos || code[stop] == '(' || code[stop] == ';' || find_word(code, "operator") != std::string::npos) {
        return {};
    }
    auto end = stop;
    while (end > 0 && (code[end - 1] == ' ' || code[end - 1] == ']')) {
        end = code[end - 1] == ']' ? code.rfind('[', end - 1) : end - 1;
        if (end == std::string::npos) { return {}; }
    }
    auto begin = end;
    while (begin > 0 && is_word(code[begin - 1])) { --begin; }
    return begin > 0 ? code.substr(begin, end - begin) : std::string{};
}

std::string c_type_keyword(const std::string& signature) {
    const auto text = without_c_template(squeezed(signature));
    for (const auto* word : {"class", "struct", "enum", "union", "using", "typedef"}) {
        if (text.starts_with(std::string(word) + " ")) {
            // `struct point make(…)` is a C function.
            static const RE2 attribute(R"(\b(?:alignas|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)|\[\[[^\]]*\]\])");
            std::string plain = text;
            RE2::GlobalReplace(&plain, attribute, "");
            const auto brace = plain.find('{');
            const auto bracket = next_bracket(plain, 0, false);
            if (word != std::string("using") && word != std::string("typedef") && bracket < brace) { return {}; }
            return word;
        }
    }
    return {};
}

}  // namespace agentforge::kernel
