// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/c_declarations.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "gates/stubs/c_text.hpp"
#include "gates/stubs/c_tokens.hpp"
#include "gates/stubs/c_types.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t none = std::string_view::npos;

/// People nest a few scopes; more could exhaust the stack.
constexpr std::size_t most_scopes = 100;

constexpr std::array<std::string_view, 17> specifier_keywords{
    "static",  "inline",   "extern",       "virtual",   "explicit", "constexpr", "consteval",  "friend",       "constinit",
    "mutable", "register", "thread_local", "_Noreturn", "noreturn", "__inline",  "__inline__", "_Thread_local"};
/// Keywords that take an argument in brackets.
constexpr std::array<std::string_view, 9> keywords_with_argument{
    "decltype", "alignas", "__attribute__", "__declspec", "noexcept", "explicit", "requires", "typeof", "_Alignas"};

/// True for a name such as `EXPORT` or `API_CALL`, which is probably a macro.
bool is_macro_name(std::string_view word) {
    return word.size() > 1 &&
           std::all_of(word.begin(), word.end(),
                       [](char each) { return (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') || each == '_'; }) &&
           word.front() != '0' && !(word.front() >= '1' && word.front() <= '9');
}

/// Where a declaration is.
struct CPlace {
    std::vector<std::string> scope;
    std::size_t classes = 0;  ///< How many of `scope`, from the end, are classes.
    bool is_local = false;
    std::string access;  ///< Empty outside classes.
};

class DeclarationReader : private CTokens {
public:
    using CTokens::CTokens;

    std::vector<CDeclaration> read() {
        read_scope(0, size(), {});
        return std::move(found_);
    }

private:
    // ---- scopes
    /// Returns the access that applies at the end of the scope.
    std::string read_scope(std::size_t token, std::size_t end, CPlace place) {
        if (depth_ == most_scopes) { return place.access; }
        ++depth_;
        while (token < end) {
            const auto next = read_statement(token, end, place);
            token = std::max(next, token + 1);
        }
        --depth_;
        return place.access;
    }

    std::size_t read_statement(std::size_t token, std::size_t end, CPlace& place) {
        if (is(token, ";") || is(token, "}")) { return token + 1; }
        if (!place.access.empty()) {
            for (const std::size_t colon : {token + 1, token + 2}) {
                const bool label = is(colon, ":") && is_word_at(token) && (colon == token + 1 || is_word_at(token + 1));
                const auto word = at(token);
                if (!label || (word != "public" && word != "protected" && word != "private" && !is_macro_name(word))) {
                    continue;
                }
                if (word.front() == 'p') { place.access = word; }
                return colon + 1;
            }
        }
        if (is(token, "inline") && is(token + 1, "namespace")) { return read_namespace(token + 1, place); }
        if (is(token, "namespace")) { return read_namespace(token, place); }
        if (is(token, "extern") && is_literal(token + 1) && is(token + 2, "{")) {
            read_scope(token + 3, after_bracket(token + 2) - 1, place);
            return after_bracket(token + 2);
        }
        if (is(token, "static_assert") || is(token, "_Static_assert")) { return past_semicolon(token, end); }
        if (const auto next = after_macro(token); next != token) { return next; }
        return read_declaration(token, end, place);
    }

    /// Skips `Q_OBJECT` or `DECLARE_THING(x)` on a line of its own.
    [[nodiscard]] std::size_t after_macro(std::size_t token) const {
        if (!is_macro_name(at(token)) || !is_first_on_line(token)) { return token; }
        const auto next = is(token + 1, "(") ? after_bracket(token + 1) : token + 1;
        if (next >= size() || !is_first_on_line(next)) { return token; }
        return is_word_at(next) || is(next, "[") || is(next, "~") || is(next, "}") ? next : token;
    }

    std::size_t past_semicolon(std::size_t token, std::size_t end) const {
        while (token < end && !is(token, ";")) { token = is(token, "{") || is(token, "(") ? after_bracket(token) : token + 1; }
        return token + 1;
    }

    std::size_t read_namespace(std::size_t token, const CPlace& place) {
        CPlace inner = place;
        std::size_t at_token = token + 1;
        bool named = false;
        while (at_token < size() && !is(at_token, "{") && !is(at_token, ";")) {
            if (is(at_token, "=")) { return past_semicolon(at_token, size()); }
            if (is(at_token, "[") || is(at_token, "(")) {  // An attribute, or the arguments of a macro.
                at_token = after_bracket(at_token);
                continue;
            }
            if (is_word_at(at_token) && !is(at_token, "inline") && !is_macro_name(at(at_token))) {
                inner.scope.emplace_back(at(at_token));
                named = true;
            }
            ++at_token;
        }
        if (!is(at_token, "{")) { return at_token + 1; }
        inner.is_local = inner.is_local || !named;
        read_scope(at_token + 1, after_bracket(at_token) - 1, inner);
        return after_bracket(at_token);
    }

    // ---- declarations
    std::size_t read_declaration(std::size_t first, std::size_t end, const CPlace& place) {
        CDeclaration declared;
        declared.scope = place.scope;
        declared.in_class = !place.access.empty();
        declared.is_local = place.is_local;
        declared.access = place.access;
        auto token = first;
        while (is(token, "template")) {
            if (!is(token + 1, "<")) { return past_semicolon(token, end); }  // An instantiation.
            const auto next = after_angle(token + 1);
            declared.template_names = template_names(token + 2, next - 1);
            token = next;
            if (is(token, "requires")) { token = after_constraint(token + 1); }
        }
        if (is(token, "using") || is(token, "typedef")) { return read_alias(std::move(declared), first, token, end); }
        if (is(token, "concept")) { return past_semicolon(token, end); }
        token = after_specifiers(token, end, declared);
        declared.is_friend = declared.specifiers.contains("friend");
        if (declared.is_friend) {
            declared.scope.resize(declared.scope.size() - std::min(place.classes, declared.scope.size()));
            declared.in_class = false;
        }
        declared.is_local = declared.is_local || (declared.specifiers.contains("static") && !declared.in_class);
        if (is(token, "class") || is(token, "struct") || is(token, "union") || is(token, "enum")) {
            if (const auto next = read_type(declared, first, token, end, place); next != none) { return next; }
        }
        return read_function_or_variable(std::move(declared), first, token, end);
    }

    [[nodiscard]] std::vector<std::string> template_names(std::size_t token, std::size_t end) const {
        std::vector<std::string> names;
        std::size_t last = none;
        bool value = false;
        int depth = 0;
        for (; token <= end; ++token) {
            if (is(token, "(")) { token = after_bracket(token) - 1; }
            if (is(token, "<")) { ++depth; }
            if (is(token, ">") && token < end) { --depth; }
            if (token == end || (depth == 0 && is(token, ","))) {
                names.emplace_back(last == none ? std::string_view() : at(last));
                last = none;
                value = false;
            } else if (depth == 0 && is(token, "=")) {
                value = true;
            } else if (depth == 0 && !value && is_word_at(token) && !is(token, "typename") && !is(token, "class")) {
                last = token;
            }
        }
        return names;
    }

    /// Returns the token after a constraint such as `(a) && B<T>`.
    [[nodiscard]] std::size_t after_constraint(std::size_t token) const {
        while (token < size()) {
            if (is(token, "!")) { ++token; }
            if (is(token, "requires")) {
                ++token;
                if (is(token, "(")) { token = after_bracket(token); }
                if (is(token, "{")) { token = after_bracket(token); }
            } else if (is(token, "(")) {
                token = after_bracket(token);
            } else {
                while (is_word_at(token) || is(token, "::")) {
                    ++token;
                    if (is(token, "<")) { token = after_angle(token); }
                    if (!is(token, "::") && !is(token - 1, "::")) { break; }
                }
            }
            const bool more = (is(token, "&") && is(token + 1, "&")) || (is(token, "|") && is(token + 1, "|"));
            if (!more) { return token; }
            token += 2;
        }
        return token;
    }

    /// Skips specifiers, attributes and macros, and records the specifiers.
    std::size_t after_specifiers(std::size_t token, std::size_t end, CDeclaration& declared) const {
        while (token < end) {
            const auto word = at(token);
            if (word == "[" && is(token + 1, "[")) {
                token = after_bracket(token);
            } else if (word == "__attribute__" || word == "__declspec" || word == "alignas" || word == "_Alignas") {
                token = is(token + 1, "(") ? after_bracket(token + 1) : token + 1;
            } else if (word == "explicit" && is(token + 1, "(")) {
                declared.specifiers.emplace(word);
                token = after_bracket(token + 1);
            } else if (c_text::is_one_of(word, specifier_keywords)) {
                declared.specifiers.emplace(word);
                token += word == "extern" && is_literal(token + 1) ? 2 : 1;
            } else if (is_macro_name(word) && is_before_a_type(token + 1)) {
                token = is(token + 1, "(") ? after_bracket(token + 1) : token + 1;
            } else {
                break;
            }
        }
        return token;
    }

    /// True if a type and a name follow. A macro name before them is then a macro.
    [[nodiscard]] bool is_before_a_type(std::size_t token) const {
        if (is(token, "(")) {
            token = after_bracket(token);
            return is_word_at(token);
        }
        std::size_t words = 0;
        bool joined = false;
        while (token < size()) {
            if (is(token, "<") && words > 0) {
                token = after_angle(token);
                continue;
            }
            if (is_word_at(token)) {
                if (!is(token, "const") && !joined) { ++words; }
                joined = false;
            } else if (is(token, "::")) {
                joined = true;
            } else if (!is(token, "*") && !is(token, "&")) {
                break;
            }
            ++token;
        }
        return words > 1 || (words == 1 && (is(token, "{") || is(token, ":")));
    }

    std::size_t read_alias(CDeclaration declared, std::size_t first, std::size_t token, std::size_t end) {
        declared.kind = CDeclaration::Kind::alias;
        const bool is_using = is(token, "using");
        if (!is_using) {
            std::size_t key = token + 1;
            while (is(key, "const") || is(key, "volatile")) { ++key; }
            if (is(key, "struct") || is(key, "union") || is(key, "enum") || is(key, "class")) {
                CPlace place{declared.scope, 0, declared.is_local, declared.access};
                if (const auto next = read_type(declared, first, key, end, place); next != none) { return next; }
            }
        }
        const auto stop = past_semicolon(token, end);
        declared.range = range(first, stop);
        if (is_using && is_word_at(token + 1) && (is(token + 2, "=") || is(token + 2, "["))) {
            auto value = token + 2;
            while (value < stop && !is(value, "=")) { ++value; }
            declared.name = at(token + 1);
            declared.written_type = written(value + 1, stop - 1);
        } else if (!is_using) {
            auto name = stop - 2;
            for (auto each = token + 1; each + 1 < stop; ++each) {
                if (is(each, "(") && is(each + 1, "*")) {
                    name = each + 2;
                    break;
                }
            }
            while (name > token && !is_word_at(name)) { --name; }
            declared.name = at(name);
            declared.written_type = written(token + 1, name) + written(name + 1, stop - 1);
        }
        declared.type = normal_c_type(declared.written_type);
        if (!declared.name.empty()) { found_.push_back(std::move(declared)); }
        return stop;
    }

    /// Reads a class, struct, union or enum. Returns `none` if it is only the type of a function or variable.
    std::size_t read_type(CDeclaration declared, std::size_t first, std::size_t key, std::size_t end, const CPlace& place) {
        const bool is_enum = is(key, "enum");
        declared.kind = is_enum ? CDeclaration::Kind::enumeration : CDeclaration::Kind::type;
        declared.keyword = at(key);
        auto token = key + 1;
        if (is_enum && (is(token, "class") || is(token, "struct"))) { ++token; }
        std::size_t name = none;
        std::size_t words = 0;
        for (; token < end && !is(token, "{") && !is(token, ";") && !is(token, ":") && !is(token, "}"); ++token) {
            if (is(token, "[") ||
                ((c_text::is_one_of(at(token), keywords_with_argument) || is_macro_name(at(token))) && is(token + 1, "("))) {
                token = after_bracket(is(token, "[") ? token : token + 1) - 1;
            } else if (is(token, "<")) {
                token = after_angle(token) - 1;
            } else if (is(token, "(") || is(token, "*") || is(token, "&") || is(token, "=") || is(token, ",")) {
                return none;
            } else if (is_word_at(token) && !is(token, "final")) {
                if (name != none && !is(token - 1, "::")) { ++words; }
                if (is(token - 1, "::") && name != none) { declared.scope.emplace_back(at(name)); }
                name = token;
            }
        }
        if (name != none) { declared.name = at(name); }
        declared.head_end = range(key, token).end;
        if (is(token, ";")) {
            if (words > 0 && !is_macro_name(at(name - 1))) { return none; }  // `struct point p;`
            declared.range = range(first, token + 1);
            if (!declared.is_friend && name != none) { found_.push_back(std::move(declared)); }
            return token + 1;
        }
        const auto bases = token;
        while (token < end && !is(token, "{") && !is(token, ";")) { token = is(token, "(") ? after_bracket(token) : token + 1; }
        if (!is(token, "{")) { return none; }
        if (!is_enum && is(bases, ":")) { declared.bases = base_names(bases + 1, token); }
        return read_type_body(std::move(declared), first, token, end, place);
    }

    std::size_t read_type_body(CDeclaration declared, std::size_t first, std::size_t open, std::size_t end, const CPlace& place) {
        const auto close = after_bracket(open) - 1;
        declared.body = range(open, close + 1);
        const auto stop = past_semicolon(close + 1, end);
        declared.range = range(first, std::min(stop, size()));
        const bool is_typedef = is(first, "typedef");
        // The name of `typedef struct { … } point;` is `point`.
        if (is_typedef && close + 1 < stop - 1) {
            auto name = stop - 2;
            while (name > close && !is_word_at(name)) { --name; }
            if (name > close && declared.name.empty()) {
                declared.name = at(name);
            } else if (name > close && at(name) != declared.name) {
                CDeclaration other = declared;
                other.kind = CDeclaration::Kind::alias;
                other.name = at(name);
                other.written_type = declared.name;
                other.type = declared.name;
                found_.push_back(std::move(other));
            }
        }
        if (declared.kind == CDeclaration::Kind::enumeration) {
            declared.enumerators = enumerators(open + 1, close);
            found_.push_back(std::move(declared));
            return stop;
        }
        CPlace inner = place;
        inner.scope = declared.scope;
        if (!declared.name.empty()) { inner.scope.push_back(declared.name); }
        ++inner.classes;
        inner.access = declared.keyword == "class" ? "private" : "public";
        const auto self = found_.size();
        found_.push_back(std::move(declared));
        found_[self].access = read_scope(open + 1, close, inner);
        return stop;
    }

    [[nodiscard]] std::vector<std::string> base_names(std::size_t token, std::size_t end) const {
        std::vector<std::string> names;
        std::size_t last = none;
        for (; token <= end; ++token) {
            if (token < end && is(token, "<")) { token = after_angle(token); }
            if (token >= end || is(token, ",")) {
                if (last != none) { names.emplace_back(at(last)); }
                last = none;
            } else if (is_word_at(token)) {
                last = token;
            }
        }
        return names;
    }

    [[nodiscard]] std::vector<CEnumerator> enumerators(std::size_t token, std::size_t end) const {
        std::vector<CEnumerator> result;
        while (token < end) {
            const auto name = token;
            while (token < end && !is(token, ",")) {
                token = is(token, "(") || is(token, "{") || is(token, "[") ? after_bracket(token) : token + 1;
            }
            auto value = name + 1;
            while (value < token && !is(value, "=")) { ++value; }
            if (is_word_at(name)) {
                result.push_back(
                    {std::string(at(name)), value < token ? written(value + 1, token) : std::string(), range(name, token)});
            }
            ++token;
        }
        return result;
    }

    // ---- functions and variables
    struct Declarator {
        std::size_t name = none;  ///< The first token of the unqualified name.
        std::size_t open = none;  ///< The `(` of the parameters.
        std::size_t stop = none;  ///< Without parameters: `;`, `=`, `{`, `[`, `,` or `:`.
        bool is_pointer = false;  ///< `int (*name)(int)`.
    };

    [[nodiscard]] Declarator declarator(std::size_t token, std::size_t end) const {
        Declarator result;
        for (; token < end; ++token) {
            if (is(token, "operator")) {
                result.name = token;
                ++token;
                if (is(token, "(") && is(token + 1, ")")) { token += 2; }
                while (token < end && !is(token, "(")) {
                    token = is(token, "<") && is_word_at(token - 1) && token - 1 != result.name ? after_angle(token) : token + 1;
                }
                result.open = token < end ? token : none;
                return result;
            }
            if (is(token, "<") && token > 0 && is_word_at(token - 1)) {
                token = after_angle(token) - 1;
                continue;
            }
            if (is(token, "[") && is(token + 1, "[")) {
                token = after_bracket(token) - 1;
                continue;
            }
            if (is(token, ";") || is(token, "=") || is(token, "{") || is(token, "}") || is(token, "[") || is(token, ",") ||
                (is(token, ":"))) {
                result.stop = token;
                result.name = token;
                while (result.name > 0 && !is_word_at(result.name)) { --result.name; }
                return result;
            }
            if (!is(token, "(")) { continue; }
            const auto next = after_bracket(token);
            if (is(token + 1, "*") || is(token + 1, "&") || is(token + 1, "^") || (is(token + 2, "::") && is(token + 3, "*"))) {
                result.is_pointer = true;
                result.name = token + 1;
                while (result.name < next &&
                       !(is_word_at(result.name) && !is(result.name + 1, "::") && !is(result.name, "const"))) {
                    ++result.name;
                }
                result.open = none;
                result.stop = next;
                return result;
            }
            const bool keyword = c_text::is_one_of(at(token - 1), keywords_with_argument);
            const bool macro = is_macro_name(at(token - 1)) && is_before_a_type(token);
            if (keyword || macro) {
                token = next - 1;
                continue;
            }
            result.open = token;
            result.name = token - 1;
            if (is(result.name, ">")) {  // `f<int>(…)`
                while (result.name > 0 && !is(result.name, "<")) { --result.name; }
                if (result.name > 0) { --result.name; }
            }
            if (result.name > 0 && is(result.name - 1, "~")) { --result.name; }
            return result;
        }
        return result;
    }

    std::size_t read_function_or_variable(CDeclaration declared, std::size_t first, std::size_t token, std::size_t end) {
        const auto found = declarator(token, end);
        if (found.name == none || found.name < token || (found.open == none && found.stop == none)) {
            return past_body(token, end);
        }
        if (found.open == none) { return read_variable(std::move(declared), first, token, end, found); }
        if (!is_word_at(found.name) && !is(found.name, "~")) { return past_body(token, end); }
        declared.name = is(found.name, "operator") || is(found.name, "~") ? std::string() : std::string(at(found.name));
        if (declared.name.empty()) {
            const auto where = range(found.name, found.open);
            declared.name = c_text::operator_name(code(where));
        }
        auto qualified = found.name;
        std::vector<std::string> qualifiers;
        while (qualified > token + 1 && is(qualified - 1, "::")) {
            auto before = qualified - 2;
            if (is(before, ">")) {
                int depth = 0;
                for (; before > token; --before) {
                    if (is(before, ">")) { ++depth; }
                    if (is(before, "<") && --depth == 0) { break; }
                }
                --before;
            }
            if (!is_word_at(before)) { break; }
            qualifiers.insert(qualifiers.begin(), std::string(at(before)));
            qualified = before;
        }
        declared.is_qualified = !qualifiers.empty();
        declared.scope.insert(declared.scope.end(), qualifiers.begin(), qualifiers.end());
        declared.name_range = range(qualified, found.open);
        declared.result = range(token, qualified);
        declared.written_type = written(token, qualified);
        declared.parameter_list = range(found.open, after_bracket(found.open));
        read_parameters(declared, found.open);
        return read_tail(std::move(declared), first, after_bracket(found.open), end);
    }

    /// Reads what follows the parameters, and the body.
    std::size_t read_tail(CDeclaration declared, std::size_t first, std::size_t token, std::size_t end) {
        const auto begins = token;
        while (token < end && !is(token, ";") && !is(token, "{") && !is(token, "=") && !is(token, ":") && !is(token, "}")) {
            token = read_tail_part(declared, token);
        }
        declared.tail = range(begins, token);
        if (begins == token) { declared.tail = {end_of(begins - 1), end_of(begins - 1)}; }
        declared.type = normal_c_type(declared.written_type, parameter_positions(declared));
        if (is(token, "=")) {
            const auto stop = past_semicolon(token, end);
            declared.value = written(token + 1, stop - 1);
            declared.tail = range(begins, stop - 1);
            declared.range = range(first, std::min(stop, size()));
            found_.push_back(std::move(declared));
            return stop;
        }
        if (is(token, ":")) {
            const auto colon = token++;
            while (token < end && !is(token, ";")) {
                if (is(token, "(")) {
                    token = after_bracket(token);
                } else if (is(token, "{") && (is_word_at(token - 1) || is(token - 1, ">")) && !is(token - 1, "try")) {
                    token = after_bracket(token);
                } else if (is(token, "{")) {
                    break;
                } else {
                    ++token;
                }
            }
            declared.initializers = range(colon, token);
        }
        if (!is(token, "{")) {
            declared.range = range(first, std::min(token + 1, size()));
            found_.push_back(std::move(declared));
            return token + 1;
        }
        const auto stop = after_bracket(token);
        declared.body = range(token, stop);
        declared.range = range(first, stop);
        found_.push_back(std::move(declared));
        return stop;
    }

    /// Returns the token after `<…>` or `(…)`, or else the next token.
    [[nodiscard]] std::size_t after_part(std::size_t token) const {
        if (is(token, "<")) { return after_angle(token); }
        return is(token, "(") ? after_bracket(token) : token + 1;
    }
    /// Returns the token after `(…)`, or this one if it is not `(`.
    [[nodiscard]] std::size_t after_arguments(std::size_t token) const { return is(token, "(") ? after_bracket(token) : token; }

    /// Reads one part of the text after the parameters; returns the token after it.
    std::size_t read_tail_part(CDeclaration& declared, std::size_t token) {
        const auto word = at(token);
        if (word == "const") { declared.is_const = true; }
        if (word == "override") { declared.overrides = true; }
        if (word == "final") { declared.is_final = true; }
        if (word == "&") { declared.reference += "&"; }
        if (word == "noexcept") {
            const auto next = is(token + 1, "(") ? after_bracket(token + 1) : token + 1;
            declared.noexcept_clause = written(token, next);
            return next;
        }
        if (word == "->") {
            auto next = token + 1;
            while (next < size() && !is(next, ";") && !is(next, "{") && !is(next, "=") && !is(next, "override") &&
                   !is(next, "final") && !is(next, "requires")) {
                next = after_part(next);
            }
            declared.written_type = written(token + 1, next);
            return next;
        }
        if (word == "requires") {
            const auto next = after_constraint(token + 1);
            declared.constraint = written(token, next);
            return next;
        }
        const bool brackets = is(token, "[");
        if (brackets || is_macro_name(word) || word == "__attribute__" || word == "throw") {
            const auto next = brackets ? after_bracket(token) : after_arguments(token + 1);
            if (word != "throw") { declared.attributes += (declared.attributes.empty() ? "" : " ") + written(token, next); }
            return next;
        }
        return is(token, "(") ? after_bracket(token) : token + 1;
    }

    /// Returns the parameters of a function template as `$0`, `$1`, …, because they are compared by position.
    [[nodiscard]] static std::map<std::string, std::string> parameter_positions(const CDeclaration& declared) {
        std::map<std::string, std::string> names;
        for (std::size_t place = 0; place < declared.template_names.size(); ++place) {
            if (!declared.template_names[place].empty()) { names[declared.template_names[place]] = "$" + std::to_string(place); }
        }
        // The parameters of a class template are compared by name.
        return declared.is_qualified ? std::map<std::string, std::string>{} : names;
    }

    void read_parameters(CDeclaration& declared, std::size_t open) {
        const auto close = after_bracket(open) - 1;
        auto token = open + 1;
        while (token < close) {
            const auto first = token;
            std::size_t value = none;
            while (token < close && !is(token, ",")) {
                if (is(token, "=") && value == none) { value = token; }
                if (is(token, "(") || is(token, "{") || is(token, "[")) {
                    token = after_bracket(token);
                } else if (is(token, "<") && value == none) {
                    token = after_angle(token);
                } else {
                    ++token;
                }
            }
            CParameter parameter;
            const auto last = value == none ? token : value;
            parameter.text = written(first, last);
            if (value != none) { parameter.default_value = written(value + 1, token); }
            parameter.name = c_text::parameter_name(parameter.text);
            auto bare = parameter.text;
            if (const auto place = parameter.name.empty() ? none : bare.rfind(parameter.name); place != none) {
                bare.erase(place, parameter.name.size());
            }
            parameter.type = normal_c_type(bare, parameter_positions(declared));
            if (parameter.text != "void") { declared.parameters.push_back(std::move(parameter)); }
            ++token;
        }
    }

    std::size_t read_variable(CDeclaration declared, std::size_t first, std::size_t token, std::size_t end,
                              const Declarator& found) {
        declared.kind = CDeclaration::Kind::variable;
        const auto stop = past_semicolon(token, end);
        declared.range = range(first, std::min(stop, size()));
        if (is(found.stop, "}") || stop > end + 1) { return found.stop + 1; }
        declared.name = at(found.name);
        declared.result = range(token, found.name);
        declared.name_range = range(found.name, found.name + 1);
        declared.written_type = written(token, found.name);
        if (is(found.name - 1, "::") && is_word_at(found.name - 2)) {
            declared.is_qualified = true;
            declared.scope.emplace_back(at(found.name - 2));
        }
        if (found.is_pointer) {
            declared.written_type += " " + written(found.name + 1, is(found.stop, "(") ? after_bracket(found.stop) : found.stop);
        }
        if (is(found.stop, "[")) { declared.written_type += "[]"; }
        declared.type = normal_c_type(declared.written_type);
        std::vector<std::string> others;
        auto value = found.stop;
        for (auto each = found.stop; each + 1 < stop;) {
            if (is(each, ",") && is_word_at(each + 1)) { others.emplace_back(at(each + 1)); }
            if (is(each, "<") && after_angle(each) < stop) {
                each = after_angle(each);
                continue;
            }
            each = is(each, "(") || is(each, "{") || is(each, "[") ? after_bracket(each) : each + 1;
        }
        while (value + 1 < stop && !is(value, "=") && !is(value, "{")) { ++value; }
        if (is(value, "=") || is(value, "{")) { declared.value = written(value, stop - 1); }
        declared.is_shared = !others.empty();
        if (declared.result.empty()) { return stop; }  // A call of a macro, or a lone word.
        for (const auto& other : others) {
            CDeclaration more = declared;
            more.name = other;
            found_.push_back(std::move(more));
        }
        found_.push_back(std::move(declared));
        return stop;
    }

    /// Skips text that is not a known declaration.
    std::size_t past_body(std::size_t token, std::size_t end) const {
        while (token < end && !is(token, ";") && !is(token, "}")) {
            if (is(token, "{")) { return after_bracket(token); }
            token = is(token, "(") || is(token, "[") ? after_bracket(token) : token + 1;
        }
        return token + 1;
    }

    std::vector<CDeclaration> found_;
    std::size_t depth_ = 0;  ///< How many scopes are being read.
};

}  // namespace

std::vector<CDeclaration> read_c_declarations(std::string_view text) {
    auto found = DeclarationReader(text).read();
    // In text that is not code, brackets may be in any order.
    std::erase_if(found, [&](const CDeclaration& each) {
        const auto is_wrong = [&](const CRange& range) { return range.begin > range.end || range.end > text.size(); };
        return is_wrong(each.range) || is_wrong(each.body) || is_wrong(each.result) || is_wrong(each.name_range) ||
               is_wrong(each.parameter_list) || is_wrong(each.tail) || is_wrong(each.initializers);
    });
    return found;
}

}  // namespace agentforge::kernel
