// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/skeleton_c.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include <re2/re2.h>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

/// Why an interface cannot be declared.
struct CannotDeclare {
    std::string why;
};

bool is_word(char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') || each == '_';
}
bool is_blank(char each) { return each == ' ' || each == '\t' || each == '\n' || each == '\r'; }

std::string squeezed(std::string_view text) {
    std::string result;
    for (const auto each : text) {
        if (!is_blank(each)) {
            result.push_back(each);
        } else if (!result.empty() && result.back() != ' ') {
            result.push_back(' ');
        }
    }
    while (!result.empty() && result.back() == ' ') { result.pop_back(); }
    return result;
}

/// Returns the text with comments and literals blanked. Positions stay the same.
std::string code_only(std::string_view text) {
    std::string code(text);
    const auto blank = [&](std::size_t from, std::size_t to) {
        for (auto at = from; at < std::min(to, code.size()); ++at) {
            if (code[at] != '\n') { code[at] = ' '; }
        }
    };
    for (std::size_t at = 0; at < text.size();) {
        if (text.substr(at, 2) == "//") {
            const auto end = std::min(text.find('\n', at), text.size());
            blank(at, end);
            at = end;
        } else if (text.substr(at, 2) == "/*") {
            const auto end = text.find("*/", at + 2);
            const auto stop = end == std::string_view::npos ? text.size() : end + 2;
            blank(at, stop);
            at = stop;
        } else if (text.substr(at, 2) == "R\"" && (at == 0 || !is_word(text[at - 1]))) {
            const auto open = text.find('(', at);
            const auto close = open == std::string_view::npos
                                   ? open
                                   : text.find(")" + std::string(text.substr(at + 2, open - at - 2)) + "\"", open);
            const auto stop = close == std::string_view::npos ? text.size() : close + (open - at - 2) + 2;
            blank(at, stop);
            at = stop;
        } else if (text[at] == '"' || (text[at] == '\'' && (at == 0 || !is_word(text[at - 1])))) {
            auto end = at + 1;
            while (end < text.size() && text[end] != text[at] && text[end] != '\n') { end += text[end] == '\\' ? 2 : 1; }
            blank(at, end + 1);
            at = end + 1;
        } else {
            ++at;
        }
    }
    return code;
}

/// Returns the position of the bracket that closes the one at `open`; npos: none.
std::size_t closing(std::string_view code, std::size_t open) {
    std::size_t depth = 0;
    for (auto at = open; at < code.size(); ++at) {
        if (code[at] == '(' || code[at] == '{' || code[at] == '[') { ++depth; }
        if ((code[at] == ')' || code[at] == '}' || code[at] == ']') && --depth == 0) { return at; }
    }
    return std::string_view::npos;
}

/// Returns the position of `word` as a whole word at or after `from`; npos: none.
std::size_t find_word(std::string_view code, std::string_view word, std::size_t from = 0) {
    for (auto at = code.find(word, from); at != std::string_view::npos; at = code.find(word, at + 1)) {
        const auto after = at + word.size();
        if ((at == 0 || !is_word(code[at - 1]) || !is_word(word.front())) &&
            (after >= code.size() || !is_word(code[after]) || !is_word(word.back()))) {
            return at;
        }
    }
    return std::string_view::npos;
}

/// Returns a declaration without these keywords, each with a space behind it.
std::string without_words(std::string text, std::initializer_list<std::string_view> words) {
    for (const auto word : words) {
        if (const auto at = find_word(text, squeezed(std::string(word))); at != std::string::npos) {
            text.erase(at, word.size());
        }
    }
    return text;
}

std::vector<std::string> split_top(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const auto each : text) {
        if (each == '(' || each == '<' || each == '[' || each == '{') { ++depth; }
        if (each == ')' || each == '>' || each == ']' || each == '}') { --depth; }
        if (each == separator && depth == 0) {
            parts.emplace_back();
        } else {
            parts.back().push_back(each);
        }
    }
    for (auto& part : parts) { part = squeezed(part); }
    std::erase(parts, "");
    for (auto& part : parts) {
        if (part.front() == ' ') { part.erase(0, 1); }
    }
    return parts;
}

constexpr std::array<std::string_view, 14> type_words{"void",   "bool",   "char",     "short", "int",     "long",   "float",
                                                      "double", "signed", "unsigned", "auto",  "wchar_t", "size_t", "_Bool"};
constexpr std::array<std::string_view, 8> no_types{"const", "volatile", "struct",   "class",
                                                   "enum",  "typename", "register", "restrict"};

/// Returns the name of a parameter, or empty.
std::string parameter_name(std::string text) {
    text = text.substr(0, split_top(text, '=').empty() ? 0 : split_top(text, '=').front().size());
    if (const auto pointer = text.find("(*"); pointer != std::string::npos) {
        const auto end = text.find_first_of(")[", pointer);
        return squeezed(text.substr(pointer + 2, end == std::string::npos ? end : end - pointer - 2));
    }
    while (!text.empty() && text.back() == ']') { text = squeezed(text.substr(0, text.rfind('['))); }
    auto begin = text.size();
    while (begin > 0 && is_word(text[begin - 1])) { --begin; }
    const auto name = text.substr(begin);
    if (name.empty() || (name.front() >= '0' && name.front() <= '9') || (begin > 0 && text[begin - 1] == ':')) { return {}; }
    if (std::find(type_words.begin(), type_words.end(), name) != type_words.end() ||
        std::find(no_types.begin(), no_types.end(), name) != no_types.end()) {
        return {};
    }
    // A lone word is the type, not the name.
    auto before = squeezed(text.substr(0, begin));
    for (const auto word : no_types) {
        for (auto at = find_word(before, word); at != std::string::npos; at = find_word(before, word)) {
            before.erase(at, word.size());
        }
    }
    return before.find_first_not_of(" ") == std::string::npos ? std::string{} : name;
}

/// Returns parameter types without names and defaults, for comparison.
std::string parameter_types(std::string_view parameters) {
    std::string types;
    for (auto part : split_top(parameters, ',')) {
        if (const auto equals = split_top(part, '='); !equals.empty()) { part = equals.front(); }
        const auto name = parameter_name(part);
        if (!name.empty()) {
            if (const auto at = part.rfind(name); at != std::string::npos) { part.erase(at, name.size()); }
        }
        std::erase(part, ' ');
        if (part != "void") { types += part + ","; }
    }
    return types;
}

/// Returns parameter types without names and defaults, as written: a parameter called `key` does not name a type `key`.
std::string types_alone(std::string_view parameters) {
    std::string types;
    for (auto part : split_top(parameters, ',')) {
        if (const auto parts = split_top(part, '='); !parts.empty()) { part = parts.front(); }
        const auto name = parameter_name(part);
        if (const auto at = name.empty() ? std::string::npos : part.rfind(name); at != std::string::npos) {
            part.erase(at, name.size());
        }
        types += (types.empty() ? "" : ", ") + part;
    }
    return types;
}

struct CFunction {
    std::string text;           ///< As given, without `;`.
    std::size_t name = 0;       ///< Start in `text` of the declarator's last name,
    std::size_t qualified = 0;  ///< and of its qualifiers.
    std::size_t open = 0;       ///< The opening bracket of its parameters.
    std::size_t close = 0;
    bool needs_no_body = false;  ///< It ends with `= default`, `= delete` or `= 0`.
    [[nodiscard]] std::string own_name() const { return squeezed(std::string_view(text).substr(name, open - name)); }
    [[nodiscard]] std::string parameters() const { return text.substr(open + 1, close - open - 1); }
    [[nodiscard]] bool aborts() const {
        const auto behind = text.substr(close);
        return own_name().front() == '~' ||
               (behind.find("noexcept") != std::string::npos && behind.find("noexcept(false)") == std::string::npos);
    }
};

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

std::string without_semicolon(std::string text) {
    while (!text.empty() && (text.back() == ';' || text.back() == ' ')) { text.pop_back(); }
    return text;
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
        while (begin > 0 && is_word(code[begin - 1])) { --begin; }
    }
    return begin;
}

CFunction parse_function(const std::string& signature) {
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

/// True for a member of a class that needs a body: no data member, no pointer to a function, no alias, no nested type.
bool is_method(const std::string& member) {
    const auto code = code_only(member);
    static const RE2 other(R"(^(?:static_assert|using|typedef|friend\s+(?:class|struct))\b)");
    if (RE2::PartialMatch(code, other)) { return false; }
    const auto from = template_end(code);
    const auto call = find_word(code, "operator", from);
    if (call != std::string::npos) { return !parse_function(member).needs_no_body; }
    const auto open = find_parameters(code, from);
    if (open == std::string::npos) { return false; }
    static const RE2 pointer(R"(^\(\s*(?:\w+::)*[*&])");
    const bool points = RE2::PartialMatch(re2::StringPiece(code.data() + open, code.size() - open), pointer);
    const auto value = code.find('=', from);
    if (points || (value != std::string::npos && value < open)) { return false; }
    return !parse_function(member).needs_no_body;
}

/// Returns a name without the arguments of its template: `std::hash<Point>` is `std::hash`.
std::string without_arguments(const std::string& name) {
    const auto open = name.find('<');
    if (open == std::string::npos || name.find("operator") != std::string::npos) { return name; }
    const auto close = name.rfind('>');
    return close == std::string::npos ? name : name.substr(0, open) + name.substr(close + 1);
}

std::vector<std::string> name_parts(const std::string& whole) {
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

std::string qualified_name(const std::vector<std::string>& parts) {
    std::string whole;
    for (const auto& part : parts) { whole += (whole.empty() ? "" : "::") + part; }
    return whole;
}

/// Removes a leading `template <…>`.
std::string without_template(const std::string& text) {
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

/// True for one line, or lines that all but the last end with a backslash.
bool is_one_line(const std::string& text) {
    for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
        const bool is_end = text.find_first_not_of(" \t\r\n", at) == std::string::npos;
        if (!is_end && (at == 0 || text[at - 1] != '\\')) { return false; }
    }
    return true;
}

/// Returns the name of a constant, a variable or a `#define`: anything with a value and no parameters. Empty for other
/// signatures.
std::string value_name(const std::string& signature) {
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

/// Returns the keyword of `class X`, `struct X`, `enum class X`, `using X` and templates of them. Empty: a function.
std::string type_keyword(const std::string& signature) {
    const auto text = without_template(squeezed(signature));
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

struct StandardHeader {
    std::string_view word;
    std::string_view header;
};
constexpr std::array standard_headers{StandardHeader{"std::string", "string"},
                                      StandardHeader{"std::wstring", "string"},
                                      StandardHeader{"std::u8string", "string"},
                                      StandardHeader{"std::string_view", "string_view"},
                                      StandardHeader{"std::vector", "vector"},
                                      StandardHeader{"std::map", "map"},
                                      StandardHeader{"std::multimap", "map"},
                                      StandardHeader{"std::set", "set"},
                                      StandardHeader{"std::multiset", "set"},
                                      StandardHeader{"std::unordered_map", "unordered_map"},
                                      StandardHeader{"std::unordered_set", "unordered_set"},
                                      StandardHeader{"std::deque", "deque"},
                                      StandardHeader{"std::list", "list"},
                                      StandardHeader{"std::queue", "queue"},
                                      StandardHeader{"std::priority_queue", "queue"},
                                      StandardHeader{"std::stack", "stack"},
                                      StandardHeader{"std::array", "array"},
                                      StandardHeader{"std::span", "span"},
                                      StandardHeader{"std::optional", "optional"},
                                      StandardHeader{"std::variant", "variant"},
                                      StandardHeader{"std::any", "any"},
                                      StandardHeader{"std::expected", "expected"},
                                      StandardHeader{"std::pair", "utility"},
                                      StandardHeader{"std::tuple", "tuple"},
                                      StandardHeader{"std::function", "functional"},
                                      StandardHeader{"std::unique_ptr", "memory"},
                                      StandardHeader{"std::shared_ptr", "memory"},
                                      StandardHeader{"std::weak_ptr", "memory"},
                                      StandardHeader{"std::chrono", "chrono"},
                                      StandardHeader{"std::filesystem", "filesystem"},
                                      StandardHeader{"std::initializer_list", "initializer_list"},
                                      StandardHeader{"std::ostream", "ostream"},
                                      StandardHeader{"std::istream", "istream"},
                                      StandardHeader{"std::size_t", "cstddef"},
                                      StandardHeader{"std::byte", "cstddef"},
                                      StandardHeader{"std::nullptr_t", "cstddef"},
                                      StandardHeader{"std::ptrdiff_t", "cstddef"},
                                      StandardHeader{"std::int8_t", "cstdint"},
                                      StandardHeader{"std::int16_t", "cstdint"},
                                      StandardHeader{"std::int32_t", "cstdint"},
                                      StandardHeader{"std::int64_t", "cstdint"},
                                      StandardHeader{"std::uint8_t", "cstdint"},
                                      StandardHeader{"std::uint16_t", "cstdint"},
                                      StandardHeader{"std::uint32_t", "cstdint"},
                                      StandardHeader{"std::uint64_t", "cstdint"},
                                      StandardHeader{"std::complex", "complex"},
                                      StandardHeader{"std::regex", "regex"},
                                      StandardHeader{"std::mutex", "mutex"},
                                      StandardHeader{"std::atomic", "atomic"},
                                      StandardHeader{"std::future", "future"},
                                      StandardHeader{"std::bitset", "bitset"},
                                      StandardHeader{"std::strong_ordering", "compare"},
                                      StandardHeader{"std::weak_ordering", "compare"},
                                      StandardHeader{"std::partial_ordering", "compare"},
                                      StandardHeader{"operator<=>", "compare"},
                                      StandardHeader{"std::integral", "concepts"},
                                      StandardHeader{"std::floating_point", "concepts"},
                                      StandardHeader{"std::same_as", "concepts"},
                                      StandardHeader{"std::convertible_to", "concepts"},
                                      StandardHeader{"std::derived_from", "concepts"},
                                      StandardHeader{"std::invocable", "concepts"},
                                      StandardHeader{"std::predicate", "concepts"},
                                      StandardHeader{"std::regular", "concepts"},
                                      StandardHeader{"std::totally_ordered", "concepts"},
                                      StandardHeader{"std::equality_comparable", "concepts"},
                                      StandardHeader{"std::copyable", "concepts"},
                                      StandardHeader{"std::movable", "concepts"},
                                      StandardHeader{"std::invoke_result_t", "type_traits"},
                                      StandardHeader{"std::enable_if_t", "type_traits"},
                                      StandardHeader{"std::decay_t", "type_traits"},
                                      StandardHeader{"std::remove_cvref_t", "type_traits"},
                                      StandardHeader{"std::is_same_v", "type_traits"},
                                      StandardHeader{"std::is_integral_v", "type_traits"},
                                      StandardHeader{"std::is_arithmetic_v", "type_traits"},
                                      StandardHeader{"std::is_nothrow_move_constructible_v", "type_traits"},
                                      StandardHeader{"std::underlying_type_t", "type_traits"},
                                      StandardHeader{"std::conditional_t", "type_traits"},
                                      StandardHeader{"std::true_type", "type_traits"},
                                      StandardHeader{"std::false_type", "type_traits"},
                                      StandardHeader{"std::exception", "exception"},
                                      StandardHeader{"std::exception_ptr", "exception"},
                                      StandardHeader{"std::runtime_error", "stdexcept"},
                                      StandardHeader{"std::logic_error", "stdexcept"},
                                      StandardHeader{"std::invalid_argument", "stdexcept"},
                                      StandardHeader{"std::out_of_range", "stdexcept"},
                                      StandardHeader{"std::error_code", "system_error"},
                                      StandardHeader{"std::hash", "functional"},
                                      StandardHeader{"std::less", "functional"},
                                      StandardHeader{"std::equal_to", "functional"},
                                      StandardHeader{"std::reference_wrapper", "functional"},
                                      StandardHeader{"std::numeric_limits", "limits"},
                                      StandardHeader{"std::monostate", "variant"},
                                      StandardHeader{"std::thread", "thread"},
                                      StandardHeader{"std::jthread", "thread"},
                                      StandardHeader{"std::stop_token", "stop_token"},
                                      StandardHeader{"std::condition_variable", "condition_variable"},
                                      StandardHeader{"std::shared_mutex", "shared_mutex"},
                                      StandardHeader{"std::input_iterator_tag", "iterator"},
                                      StandardHeader{"std::forward_iterator_tag", "iterator"},
                                      StandardHeader{"std::bidirectional_iterator_tag", "iterator"},
                                      StandardHeader{"std::random_access_iterator_tag", "iterator"},
                                      StandardHeader{"std::input_iterator", "iterator"},
                                      StandardHeader{"std::forward_iterator", "iterator"},
                                      StandardHeader{"std::reverse_iterator", "iterator"},
                                      StandardHeader{"std::default_sentinel_t", "iterator"},
                                      StandardHeader{"std::ranges", "ranges"},
                                      StandardHeader{"std::source_location", "source_location"},
                                      StandardHeader{"std::ostringstream", "sstream"},
                                      StandardHeader{"std::istringstream", "sstream"},
                                      StandardHeader{"std::ifstream", "fstream"},
                                      StandardHeader{"std::ofstream", "fstream"}};
constexpr std::array c_headers{
    StandardHeader{"size_t", "stddef.h"},   StandardHeader{"ptrdiff_t", "stddef.h"}, StandardHeader{"bool", "stdbool.h"},
    StandardHeader{"int8_t", "stdint.h"},   StandardHeader{"int16_t", "stdint.h"},   StandardHeader{"int32_t", "stdint.h"},
    StandardHeader{"int64_t", "stdint.h"},  StandardHeader{"uint8_t", "stdint.h"},   StandardHeader{"uint16_t", "stdint.h"},
    StandardHeader{"uint32_t", "stdint.h"}, StandardHeader{"uint64_t", "stdint.h"},  StandardHeader{"FILE", "stdio.h"},
    StandardHeader{"time_t", "time.h"},     StandardHeader{"va_list", "stdarg.h"}};

bool ends_with_any(const std::string& path, std::initializer_list<std::string_view> endings) {
    return std::any_of(endings.begin(), endings.end(), [&](auto ending) { return path.ends_with(ending); });
}
bool is_header(const std::string& path) { return ends_with_any(path, {".h", ".hh", ".hpp", ".hxx", ".ipp", ".inl"}); }
bool is_source(const std::string& path) { return ends_with_any(path, {".c", ".cc", ".cpp", ".cxx"}); }

void check_skeleton_path(const std::string& path) {
    if (!is_header(path) && !is_source(path)) {
        throw CannotDeclare{"the file `" + path + "` is neither a header nor a source file of C or C++"};
    }
    bool inside = path.front() != '/' && path.find('\\') == std::string::npos && path.find('\0') == std::string::npos;
    std::string_view rest = path;
    for (bool first = true; inside && !rest.empty(); first = false) {
        const auto slash = rest.find('/');
        const auto part = rest.substr(0, slash);
        inside = !part.empty() && part != "." && part != ".." && !(first && (part == ".git" || part == ".agentforge"));
        rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
    }
    if (!inside) { throw CannotDeclare{"the file `" + path + "` is not a path inside the project, or is in a protected folder"}; }
}

/// Returns ` : std::runtime_error("")` for a class that derives from a standard exception without a default constructor. Empty
/// for others. `head`: the class up to its body.
std::string base_initializer(const std::string& head) {
    static const RE2 base(
        R"([:,]\s*(?:(?:public|protected|private|virtual)\s+)*(std::(?:(?:runtime|logic|range|overflow|underflow|domain|length)_error|invalid_argument|out_of_range))\b)");
    std::string name;
    return RE2::PartialMatch(head, base, &name) ? " : " + name + "(\"\")" : std::string();
}

/// One file that declarations are added to.
class CFile {
public:
    CFile(std::string path, std::string text, bool c) : path_(std::move(path)), text_(std::move(text)), c_(c) {
        crlf_ = text_.find("\r\n") != std::string::npos;
        if (crlf_) { std::erase(text_, '\r'); }
        before_ = text_;
        if (text_.empty() && is_header(path_)) { text_ = "#pragma once\n"; }
    }
    [[nodiscard]] bool changed() const { return wrote_ && text_ != before_; }
    [[nodiscard]] std::string content() const {
        if (!crlf_) { return text_; }
        std::string result;
        for (const auto each : text_) { result += each == '\n' ? "\r\n" : std::string(1, each); }
        return result;
    }
    [[nodiscard]] bool is_c() const { return c_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] bool has_type(const std::string& name) const { return body_of(name).has_value(); }

    /// True if a class, struct, enum or alias of that name is defined here, not only declared.
    [[nodiscard]] bool defines_type(const std::string& name) const {
        if (has_type(name)) { return true; }
        const auto code = code_only(text_);
        for (auto at = find_word(code, name); at != std::string::npos; at = find_word(code, name, at + 1)) {
            const auto lead = squeezed(std::string_view(code).substr(line_begin(at), at - line_begin(at)));
            const auto next = code.find_first_not_of(" \n", at + name.size());
            const char after = next == std::string::npos ? ';' : code[next];
            if ((lead.ends_with("using") || lead.ends_with("using ")) && after == '=') { return true; }
            if (find_word(lead, "enum") != std::string::npos && (after == '{' || after == ':')) { return true; }
            if (find_word(lead, "typedef") != std::string::npos && after == ';') { return true; }
        }
        return false;
    }

    /// True if the name occurs in the file's code.
    [[nodiscard]] bool mentions(const std::string& name) const { return find_word(code_only(text_), name) != std::string::npos; }
    [[nodiscard]] bool has_define(const std::string& name) const { return text_.find("#define " + name) != std::string::npos; }

    /// True if the file has a function of that name with these parameters.
    [[nodiscard]] bool declares(const CFunction& function, const std::string& owner) const {
        const auto code = code_only(text_);
        auto from = std::size_t{0};
        auto until = code.size();
        if (!owner.empty()) {
            const auto body = body_of(owner);
            if (!body) { return false; }
            from = body->first;
            until = body->second;
        }
        const auto name = function.own_name();
        for (auto at = find_word(code, name, from); at != std::string::npos && at < until; at = find_word(code, name, at + 1)) {
            auto open = at + name.size();
            while (open < code.size() && is_blank(code[open])) { ++open; }
            const auto close = open < code.size() && code[open] == '(' ? closing(code, open) : std::string::npos;
            if (close == std::string::npos) { continue; }
            if (parameter_types(std::string_view(code).substr(open + 1, close - open - 1)) ==
                parameter_types(function.parameters())) {
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] bool has_function(const std::string& name) const {
        const auto code = code_only(text_);
        for (auto at = find_word(code, name); at != std::string::npos; at = find_word(code, name, at + 1)) {
            auto open = at + name.size();
            while (open < code.size() && is_blank(code[open])) { ++open; }
            if (open < code.size() && code[open] == '(') { return true; }
        }
        return false;
    }

    [[nodiscard]] bool includes(const std::string& line) const {
        return includes_.contains(line) || text_.find("#include " + line) != std::string::npos;
    }
    void include(const std::string& line) {
        if (text_.find("#include " + line) == std::string::npos) { includes_.insert(line); }
    }
    /// Writes the required includes. Call it after all declarations.
    void finish() {
        if (includes_.empty()) { return; }
        const auto code = code_only(text_);
        // After the last include; else after `#pragma once` or the guard; else at the top.
        auto place = std::size_t{0};
        for (const auto* mark : {"#include", "# include"}) {
            if (const auto last = code.rfind(mark); last != std::string::npos) { place = std::max(place, line_end(last)); }
        }
        if (place == 0) {
            if (const auto pragma = code.find("#pragma once"); pragma != std::string::npos) {
                place = line_end(pragma);
                text_.insert(place, "\n");
                ++place;
            } else if (const auto guard = guard_end(); guard > 0) {
                place = guard;
            }
        }
        std::string lines;
        for (const auto& each : includes_) {
            if (each.front() == '<') { lines += "#include " + each + "\n"; }
        }
        const bool both = !lines.empty() && includes_.begin()->front() == '"';
        if (both) { lines += "\n"; }
        for (const auto& each : includes_) {
            if (each.front() == '"') { lines += "#include " + each + "\n"; }
        }
        if (place == 0 && !text_.empty()) { lines += "\n"; }
        text_.insert(place, lines);
    }

    void append(const std::vector<std::string>& spaces, const std::string& declaration) {
        std::string block = declaration;
        if (!spaces.empty()) {
            // Nested one by one: C++11 and 14 lack a::b.
            std::string head;
            std::string tail;
            for (const auto& each : spaces) {
                head += (head.empty() ? "namespace " : " namespace ") + each + " {";
                tail += "}";
            }
            block = head + "\n\n" + declaration + "\n" + tail + "  // namespace " + qualified_name(spaces) + "\n";
        }
        auto place = text_.size();
        if (guard_end() > 0 && code_only(text_).find("#endif") != std::string::npos) {
            place = line_begin(code_only(text_).rfind("#endif"));
        }
        std::string lead;
        if (place > 0 && text_[place - 1] != '\n') { lead = "\n"; }
        if (place > 0) { lead += "\n"; }
        text_.insert(place, lead + block + (place < text_.size() + lead.size() && guard_end() > 0 ? "\n" : ""));
        wrote_ = true;
    }
    void add_member(const std::string& owner, const std::string& declaration) {
        const auto body = body_of(owner);
        const auto code = code_only(text_);
        const bool is_class = code.rfind("class ", body->first) != std::string::npos &&
                              (code.rfind("struct ", body->first) == std::string::npos ||
                               code.rfind("class ", body->first) > code.rfind("struct ", body->first));
        auto place = body->second;
        while (place > body->first && (text_[place - 1] == ' ' || text_[place - 1] == '\t')) { --place; }
        const bool fresh_line = place > 0 && text_[place - 1] == '\n';
        const auto inside = code.substr(body->first, body->second - body->first);
        const bool open_to_all = !is_class ||
                                 (inside.rfind("public:") != std::string::npos && inside.rfind("public:") + 8 > inside.size()) ||
                                 last_access(inside) == "public";
        text_.insert(place, std::string(fresh_line ? "" : "\n") + (open_to_all ? "" : "\npublic:\n") + declaration);
        wrote_ = true;
    }

private:
    static std::string last_access(const std::string& inside) {
        std::string last;
        auto place = std::size_t{0};
        for (const auto* word : {"public", "protected", "private"}) {
            const auto at = inside.rfind(std::string(word) + ":");
            if (at != std::string::npos && (last.empty() || at > place)) {
                last = word;
                place = at;
            }
        }
        return last;
    }
    [[nodiscard]] std::size_t line_end(std::size_t at) const {
        const auto end = text_.find('\n', at);
        return end == std::string::npos ? text_.size() : end + 1;
    }
    [[nodiscard]] std::size_t line_begin(std::size_t at) const {
        const auto begin = text_.rfind('\n', at);
        return begin == std::string::npos ? 0 : begin + 1;
    }
    /// Returns the position after the `#define` of an include guard; 0: there is none.
    [[nodiscard]] std::size_t guard_end() const {
        const auto code = code_only(text_);
        const auto first = code.find_first_not_of(" \t\n");
        if (first == std::string::npos || code.compare(first, 7, "#ifndef") != 0) { return 0; }
        const auto define = code.find("#define", first);
        return define == std::string::npos ? 0 : line_end(define);
    }
    /// Returns the range from after `{` to `}` of the definition of the class or struct.
    [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> body_of(const std::string& name) const {
        const auto code = code_only(text_);
        for (auto at = find_word(code, name); at != std::string::npos; at = find_word(code, name, at + 1)) {
            const auto lead = squeezed(std::string_view(code).substr(line_begin(at), at - line_begin(at)));
            static const RE2 declares(R"(\b(?:class|struct)\s+(?:alignas\s*\([^)]*\)\s*|\[\[[^\]]*\]\]\s*|\w+\s+|\w+::\s*)*$)");
            const auto next = code.find_first_not_of(" \n", at + name.size());
            // Not a base class, nor the parameter of a template.
            if (!RE2::PartialMatch(lead + " ", declares) ||
                (next != std::string::npos && std::string_view(">,=&*").find(code[next]) != std::string_view::npos)) {
                continue;
            }
            const auto stop = code.find_first_of("{;()", at);
            if (stop == std::string::npos || code[stop] != '{') { continue; }
            if (const auto end = closing(code, stop); end != std::string::npos) { return std::pair{stop + 1, end}; }
        }
        return std::nullopt;
    }

    std::string path_;
    std::string text_;
    std::string before_;
    bool c_;
    bool crlf_ = false;
    bool wrote_ = false;
    std::set<std::string> includes_;
};

class CSkeletonWriter {
public:
    CSkeletonWriter(const std::map<std::string, std::string>& contents, const std::vector<std::string>& existing,
                    const std::string& marker)
        : contents_(contents), existing_(existing), marker_(marker) {
        cpp_project_ = std::any_of(existing.begin(), existing.end(), [](const auto& path) {
            return ends_with_any(path, {".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx"});
        });
    }

    Skeletons write(std::vector<SkeletonInterface> interfaces) {
        for (auto& interface : interfaces) { unwrap(interface); }
        interfaces_ = &interfaces;
        for (const auto& each : interfaces) {
            const auto last = each.name.substr(each.name.find_last_of(".:") + 1);
            if (is_header(each.file) && !type_keyword(each.signature).empty()) { specified_types_[last].insert(each.file); }
        }
        Skeletons result;
        // Types and values first, because methods and parameters need them.
        for (const bool types : {true, false}) {
            for (const auto& interface : interfaces) {
                try {
                    const bool is_type = !type_keyword(interface.signature).empty();
                    const bool is_value = !is_type && !value_name(interface.signature).empty();
                    if ((is_type || is_value) != types) { continue; }
                    check_skeleton_path(interface.file);
                    if (is_type) {
                        type(interface);
                    } else if (is_value) {
                        value(interface);
                    } else {
                        function(interface);
                    }
                } catch (const CannotDeclare& problem) { result.problems.push_back(problem.why); }
            }
        }
        if (!result.problems.empty()) { return result; }
        for (const auto& path : order_) {
            auto& file = files_.at(path);
            if (!file.changed()) { continue; }
            file.finish();
            result.files.emplace_back(path, file.content());
        }
        return result;
    }

private:
    /// `namespace a { class b; }` is `a::b`.
    static void unwrap(SkeletonInterface& interface) {
        std::string spaces;
        auto text = squeezed(interface.signature);
        while (text.starts_with("namespace ")) {
            const auto open = text.find('{');
            const auto close = open == std::string::npos ? open : closing(code_only(text), open);
            if (close == std::string::npos || text.find_first_not_of("; ", close + 1) != std::string::npos) { return; }
            spaces += squeezed(std::string_view(text).substr(10, open - 10)) + "::";
            while (spaces.find(' ') != std::string::npos) { spaces.erase(spaces.find(' '), 1); }
            const auto inside = text.substr(open + 1, close - open - 1);
            text = squeezed(inside.substr(std::min(inside.find_first_not_of(' '), inside.size())));
        }
        if (spaces.empty()) { return; }
        interface.signature = text;
        if (!interface.name.starts_with(spaces)) { interface.name = spaces + interface.name; }
    }

    /// Returns the name of a class in a class that declares methods. Empty for other members.
    static std::string nested_type(const std::string& member) {
        const auto keyword = type_keyword(member);
        const auto open = member.find('{');
        if ((keyword != "class" && keyword != "struct") || open == std::string::npos ||
            member.find('(', open) == std::string::npos || member.back() != '}') {
            return {};
        }
        std::string name;
        RE2::PartialMatch(without_template(member), R"(^(?:class|struct)\s+(\w+))", &name);
        return name;
    }

    /// Returns a data member without its name and value: the types that it needs.
    static std::string without_name(const std::string& member) {
        const auto code = code_only(member);
        auto end = std::min(code.find_first_of("={;"), code.size());
        while (end > 0 && (code[end - 1] == ' ' || code[end - 1] == ']')) {
            end = code[end - 1] == ']' ? std::min(code.rfind('[', end - 1), end - 1) : end - 1;
        }
        while (end > 0 && is_word(code[end - 1])) { --end; }
        return code.substr(0, end);
    }

    /// Returns a class as written, with the skeleton's body for each method that it declares.
    std::string with_bodies(CFile& target, const std::string& text, const std::string& name) {
        const auto code = code_only(text);
        const auto open = code.find('{');
        const auto close = closing(code, open);
        if (close == std::string::npos) { throw CannotDeclare{"the brackets in the signature `" + text + "` do not match"}; }
        auto result = text.substr(0, open + 1) + "\n";
        auto begin = open + 1;
        for (auto at = begin; at <= close; ++at) {
            if (at < close && (code[at] == '(' || code[at] == '{' || code[at] == '[')) { at = closing(code, at); }
            const bool colon = at < close && code[at] == ':' && code[at + 1] != ':' && code[at - 1] != ':';
            // A bit-field, or the base of a nested type.
            const bool label = colon && (code.substr(begin, at - begin).find('(') != std::string::npos ||
                                         RE2::FullMatch(code.substr(begin, at - begin), R"(\s*(?:public|protected|private)\s*)"));
            if (at < close && code[at] != ';' && !label) { continue; }
            auto member = squeezed(std::string_view(text).substr(begin, at - begin));
            member.erase(0, std::min(member.find_first_not_of(' '), member.size()));
            begin = at + 1;
            if (member.empty()) { continue; }
            if (label && (member == "public" || member == "protected" || member == "private")) {
                result += member + ":\n";
            } else if (label) {
                throw CannotDeclare{"the signature `" + text + "` has text after `:` that a skeleton cannot have"};
            } else if (const auto inner = nested_type(member); !inner.empty()) {
                result += "    " + with_bodies(target, member, name + "::" + inner) + ";\n";
            } else if (!is_method(member)) {
                project_includes(target, target.path(), without_name(member));
                result += "    " + member + ";\n";
            } else {
                // A function that can only throw is no constant expression.
                const auto function = parse_function(without_words(member, {"constexpr ", "consteval "}));
                add_failing_includes(target, function);
                project_includes(target, target.path(),
                                 function.text.substr(0, function.name) + types_alone(function.parameters()) +
                                     function.text.substr(function.close));
                const bool constructs = function.own_name() == name_parts(name).back();
                result += "    " + function.text + (constructs ? base_initializer(text.substr(0, open)) : std::string()) +
                          body(function, name + "::" + function.own_name(), target.is_c(), "    ");
            }
        }
        return result + "}";
    }

    CFile& file(const std::string& path) {
        const auto known = files_.find(path);
        if (known != files_.end()) { return known->second; }
        const auto content = contents_.find(path);
        const bool c = path.ends_with(".c") || (path.ends_with(".h") && !cpp_project_);
        order_.push_back(path);
        return files_.emplace(path, CFile(path, content == contents_.end() ? "" : content->second, c)).first->second;
    }
    [[nodiscard]] bool exists(const std::string& path) const {
        return std::find(existing_.begin(), existing_.end(), path) != existing_.end();
    }

    void standard_includes(CFile& target, const std::string& text) {
        if (target.is_c()) {
            for (const auto& each : c_headers) {
                if (find_word(text, each.word) != std::string::npos) { target.include("<" + std::string(each.header) + ">"); }
            }
            return;
        }
        std::set<std::string_view> wanted;
        for (const auto& each : standard_headers) {
            if (find_word(text, each.word) != std::string::npos) { wanted.insert(each.header); }
        }
        for (const auto header : wanted) { target.include("<" + std::string(header) + ">"); }
    }

    /// Returns the path by which a header is included: the part after its `include/` folder, else its whole path.
    static std::string include_path(const std::string& header) {
        const auto folder = header.rfind("include/");
        return folder != std::string::npos && (folder == 0 || header[folder - 1] == '/') ? header.substr(folder + 8) : header;
    }

    /// Includes the project's headers for the types in a declaration. Skips a type that several headers declare.
    void project_includes(CFile& target, const std::string& path, const std::string& text) {
        const auto code = code_only(text);
        std::set<std::string> words;
        for (std::size_t at = 0; at < code.size();) {
            auto end = at;
            while (end < code.size() && is_word(code[end])) { ++end; }
            const bool in_std = at >= 5 && code.compare(at - 5, 5, "std::") == 0;
            if (end > at && !in_std && !(code[at] >= '0' && code[at] <= '9')) { words.insert(code.substr(at, end - at)); }
            at = std::max(end, at + 1);
        }
        for (const auto& word : words) {
            if (std::find(type_words.begin(), type_words.end(), word) != type_words.end() || target.has_type(word)) { continue; }
            std::set<std::string> found;
            for (const auto& [header, content] : contents_) {
                if (header == path || !is_header(header) || content.find(word) == std::string::npos) { continue; }
                if (CFile(header, content, false).defines_type(word)) { found.insert(header); }
            }
            // The specification may declare the type in a header that does not exist yet.
            const auto specified = specified_types_.find(word);
            if (specified != specified_types_.end()) { found.insert(specified->second.begin(), specified->second.end()); }
            if (found.size() != 1 || *found.begin() == path) { continue; }
            const auto other = files_.find(*found.begin());
            const bool returns = other != files_.end() && other->second.includes("\"" + include_path(path) + "\"");
            if (!returns) { target.include("\"" + include_path(*found.begin()) + "\""); }
        }
    }

    /// Returns the namespaces of `a::b::f`, and the class if the last part is one.
    std::pair<std::vector<std::string>, std::string> scope_of(std::vector<std::string> parts, CFile& target) {
        parts.pop_back();
        if (parts.empty()) { return {}; }
        const auto& last = parts.back();
        const bool named = std::any_of(interfaces_->begin(), interfaces_->end(), [&](const SkeletonInterface& each) {
            const auto keyword = type_keyword(each.signature);
            return (keyword == "class" || keyword == "struct") && name_parts(each.name).back() == last;
        });
        if (!named && !target.has_type(last)) { return {parts, ""}; }
        auto owner = last;
        parts.pop_back();
        return {parts, owner};
    }

    void value(const SkeletonInterface& interface) {
        const auto parts = name_parts(interface.name);
        const auto name = value_name(interface.signature);
        if (name != parts.back()) {
            throw CannotDeclare{"the signature `" + interface.signature + "` declares `" + name +
                                "`, but the interface is called `" + interface.name + "`"};
        }
        const auto text = without_semicolon(squeezed(interface.signature));
        auto& target = file(interface.file);
        if (target.mentions(name) || target.has_define(name)) { return; }
        if (text.front() == '#') {
            auto lines = without_semicolon(interface.signature);
            while (lines.back() == '\n') { lines.pop_back(); }
            return target.append({}, lines + "\n");
        }
        standard_includes(target, text);
        auto spaces = parts;
        spaces.pop_back();
        if (!spaces.empty() && target.has_type(spaces.back())) {
            const auto owner = spaces.back();
            return target.add_member(owner, "    " + text + ";\n");
        }
        target.append(spaces, text + ";\n");
    }

    void type(const SkeletonInterface& interface) {
        const auto parts = name_parts(interface.name);
        auto text = without_semicolon(squeezed(interface.signature));
        const auto code = code_only(text);
        if (find_word(code, parts.back()) == std::string::npos) {
            throw CannotDeclare{"the signature `" + interface.signature + "` does not declare `" + parts.back() + "`"};
        }
        if (code.find('#') != std::string::npos) {
            throw CannotDeclare{"the signature `" + interface.signature + "` has a preprocessor line"};
        }
        auto& target = file(interface.file);
        if (target.has_type(parts.back()) || target.defines_type(parts.back())) { return; }
        if (code.starts_with("enum {") && target.mentions(parts.back())) { return; }
        const auto keyword = type_keyword(text);
        standard_includes(target, text);
        const bool is_class = keyword == "class" || keyword == "struct";
        const auto open = code.find('{');
        if (!is_class) { project_includes(target, interface.file, code.substr(std::min(code.find_first_of("={"), code.size()))); }
        if (is_class && open != std::string::npos) {
            static const RE2 bases(R"([^:]:([^:].*)$)");
            std::string base;
            if (RE2::PartialMatch(code.substr(0, open), bases, &base)) { project_includes(target, interface.file, base); }
            const auto filled = with_bodies(target, text, qualified_name(parts));
            const bool has_methods = filled.find(marker_) != std::string::npos;
            if (has_methods && target.is_c()) {
                throw CannotDeclare{"the signature `" + interface.signature + "` has methods, and " + interface.file + " is C"};
            }
            if (has_methods) { text = filled; }
        }
        if (open == std::string::npos && is_class) { text += keyword == "class" ? " {\npublic:\n}" : " {\n}"; }
        auto spaces = parts;
        spaces.pop_back();
        // `template <> struct std::hash<Point>` names its own namespace.
        static const RE2 qualified(R"(^template\s*<\s*>\s*(?:class|struct)\s+\w+::)");
        if (RE2::PartialMatch(text, qualified)) { spaces.clear(); }
        target.append(spaces, text + ";\n");
    }

    std::string body(const CFunction& function, const std::string& name, bool c, const std::string& indent) {
        std::string lines;
        for (const auto& parameter : split_top(function.parameters(), ',')) {
            const auto own = parameter_name(parameter);
            if (!own.empty()) { lines += indent + "    " + (c ? "(void)" + own : "static_cast<void>(" + own + ")") + ";\n"; }
        }
        const auto text = "\"" + marker_ + " " + name;
        if (c) {
            lines += indent + "    fputs(" + text + "\\n\", stderr);\n" + indent + "    abort();\n";
        } else if (function.aborts()) {
            lines += indent + "    std::fputs(" + text + "\\n\", stderr);\n" + indent + "    std::abort();\n";
        } else {
            lines += indent + "    throw std::logic_error(" + text + "\");\n";
        }
        return " {\n" + lines + indent + "}\n";
    }

    void function(const SkeletonInterface& interface) {
        const auto function = parse_function(interface.signature);
        const auto parts = parts_of_name(interface, function);
        auto& target = file(interface.file);
        if (target.is_c() && parts.size() > 1) {
            throw CannotDeclare{"`" + interface.name + "` has a qualified name, and " + interface.file + " is C"};
        }
        const auto [spaces, owner] = scope_of(parts, target);
        if (target.declares(function, owner)) { return; }
        if (target.is_c() && target.has_function(parts.back())) {
            throw CannotDeclare{"`" + interface.name + "` exists in " + interface.file +
                                " with other parameters; C has no overloads"};
        }
        const auto text = declaration_of(function);
        const auto plain = parse_function(text);
        const auto types = text.substr(0, plain.name) + types_alone(plain.parameters());
        standard_includes(target, types + text.substr(plain.close));
        project_includes(target, interface.file, types);
        const auto name = qualified_name(parts);
        if (!owner.empty() && !target.has_type(owner)) { target.append(spaces, "class " + owner + " {\npublic:\n};\n"); }
        if (plain.needs_no_body) {
            const auto line = function.text.substr(0, function.qualified) + function.text.substr(function.name) + ";\n";
            return owner.empty() ? target.append(spaces, line) : target.add_member(owner, "    " + line);
        }
        if (!owner.empty()) {
            add_failing_includes(target, plain);
            target.add_member(owner, "    " + plain.text + body(plain, name, target.is_c(), "    "));
            return;
        }
        // The specification may name the function twice: in a header, and in a source file that defines it.
        if (const auto* partner = partner_of(interface)) {
            const auto& source = is_header(interface.file) ? partner->file : interface.file;
            if (exists(source) && is_header(interface.file)) { return target.append(spaces, plain.text + ";\n"); }
            // No build file lists a new source file, so the header gets the body.
            if (!exists(source) && is_source(interface.file)) { return; }
        }
        add_failing_includes(target, plain);
        target.append(spaces, definition_head(plain, interface.file, target.is_c()) + body(plain, name, target.is_c(), ""));
    }

    /// Returns the parts of the function's name: those of the signature if only the signature is qualified.
    static std::vector<std::string> parts_of_name(const SkeletonInterface& interface, const CFunction& function) {
        auto parts = name_parts(interface.name);
        if (parts.back() != function.own_name()) {
            throw CannotDeclare{"the signature `" + interface.signature + "` declares `" + function.own_name() +
                                "`, but the interface is called `" + interface.name + "`"};
        }
        if (parts.size() == 1 && function.qualified != function.name) {
            return name_parts(function.text.substr(function.qualified, function.open - function.qualified));
        }
        return parts;
    }

    /// Returns the declaration without qualifiers in its name, and without keywords that a skeleton cannot have.
    static std::string declaration_of(const CFunction& function) {
        auto text = function.text;
        text.erase(function.qualified, function.name - function.qualified);
        return without_words(std::move(text), {"constexpr ", "consteval ", "extern "});
    }

    /// Returns the interface of the same function in the other kind of file: the source for a header, the header for a source.
    [[nodiscard]] const SkeletonInterface* partner_of(const SkeletonInterface& interface) const {
        const auto found = std::find_if(interfaces_->begin(), interfaces_->end(), [&](const SkeletonInterface& other) {
            return &other != &interface && other.name == interface.name && is_header(other.file) != is_header(interface.file);
        });
        return found == interfaces_->end() ? nullptr : &*found;
    }

    static std::string definition_head(CFunction function, const std::string& path, bool c) {
        // A definition must not end with an attribute.
        static const RE2 attribute(R"(\s*__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)\s*$)");
        RE2::Replace(&function.text, attribute, "");
        if (is_source(path)) { return without_defaults(function); }
        if (function.text.compare(0, 8, "template") == 0) { return function.text; }
        // A function that can only throw is no constant expression.
        const auto head = without_words(function.text, {"constexpr ", "consteval "});
        if (find_word(head, "inline") != std::string::npos) { return head; }
        const bool local = find_word(head, "static") != std::string::npos;
        if (local && !c) { return head; }
        // `[[nodiscard]]` stands before `inline`.
        std::size_t place = 0;
        while (head.compare(place, 2, "[[") == 0) {
            const auto end = head.find("]]", place);
            if (end == std::string::npos) { break; }
            place = std::min(head.find_first_not_of(' ', end + 2), head.size());
        }
        return head.substr(0, place) + (c && !local ? "static inline " : "inline ") + head.substr(place);
    }

    static std::string without_defaults(const CFunction& function) {
        std::string parameters;
        for (const auto& part : split_top(function.parameters(), ',')) {
            const auto equals = split_top(part, '=');
            parameters += (parameters.empty() ? "" : ", ") + (equals.empty() ? part : equals.front());
        }
        return function.text.substr(0, function.open + 1) + parameters + function.text.substr(function.close);
    }

    static void add_failing_includes(CFile& target, const CFunction& function) {
        if (target.is_c()) {
            target.include("<stdio.h>");
            target.include("<stdlib.h>");
        } else if (function.aborts()) {
            target.include("<cstdio>");
            target.include("<cstdlib>");
        } else {
            target.include("<stdexcept>");
        }
    }

    const std::map<std::string, std::string>& contents_;
    const std::vector<std::string>& existing_;
    const std::string& marker_;
    bool cpp_project_ = false;
    const std::vector<SkeletonInterface>* interfaces_ = nullptr;
    std::map<std::string, CFile> files_;
    std::map<std::string, std::set<std::string>> specified_types_;  ///< Name → headers.
    std::vector<std::string> order_;
};

}  // namespace

Skeletons write_c_skeletons(const std::vector<SkeletonInterface>& interfaces, const std::map<std::string, std::string>& contents,
                            const std::vector<std::string>& existing, const std::string& marker) {
    return CSkeletonWriter(contents, existing, marker).write(interfaces);
}

}  // namespace agentforge::kernel
