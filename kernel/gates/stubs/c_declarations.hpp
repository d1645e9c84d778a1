// SPDX-License-Identifier: Apache-2.0
// Reads the declarations of a C or C++ file, without a compiler: its functions, classes, enums, aliases and variables, with the
// places of their parts. Plain functions over values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gates/stubs/c_tokens.hpp"

namespace agentforge::kernel {

struct CParameter {
    std::string text;           ///< Without the default value.
    std::string type;           ///< Normalized (normal_c_type).
    std::string name;           ///< Empty: unnamed.
    std::string default_value;  ///< Without `=`.
};

struct CEnumerator {
    std::string name;
    std::string value;  ///< Without `=`. Empty: none.
    CRange range;       ///< From its name to its value's end.
};

/// One declaration or definition. All places are in the file's text.
struct CDeclaration {
    enum class Kind : std::uint8_t { function = 1, type, enumeration, alias, variable };
    Kind kind = Kind::function;
    std::string name;  ///< Unqualified: `at`, `~Grid`, `operator==`.
    /// The namespaces and classes around it, then the qualifiers before its name, without template arguments. Unnamed namespaces
    /// and `extern "C"` are omitted. A friend function is in the namespace around its class.
    std::vector<std::string> scope;
    bool in_class = false;      ///< Written inside a class.
    bool is_qualified = false;  ///< Written as `Grid::at`.
    bool is_friend = false;
    bool is_local = false;   ///< `static` outside classes, or in an unnamed namespace.
    bool is_shared = false;  ///< One of several declarators (`int a, b;`). `range` is that of all of them.
    std::string access;      ///< Of a member: public, protected or private. Of a class with a body: the access at its end.
    CRange range;            ///< With `template <…>`, attributes, and the final `;`.
    CRange body;             ///< From `{` to after the matching `}`. Empty: it has none.
    std::set<std::string> specifiers;         ///< static, virtual, constexpr, explicit, …
    std::vector<std::string> template_names;  ///< Parameters of its last `template <…>`.

    /// Functions and variables: the type between the specifiers and the name. Empty for constructors.
    CRange result;
    CRange name_range;         ///< The name with its qualifiers.
    std::string type;          ///< Normalized result type, or type of the variable. A trailing result type counts.
    std::string written_type;  ///< The same as written.

    /// Functions only.
    CRange parameter_list;  ///< With its brackets.
    std::vector<CParameter> parameters;
    CRange tail;  ///< After the parameters: to the body, the initializers or the final `;`.
    bool is_const = false;
    std::string reference;        ///< `&` or `&&` after the parameters.
    std::string noexcept_clause;  ///< `noexcept`, `noexcept(…)`.
    std::string constraint;       ///< `requires …` after the parameters.
    std::string value;            ///< `0`, `default` or `delete` after `=`. Of a variable: its value, from `=` or `{`.
    std::string attributes;       ///< Attributes and macros after the parameters.
    bool overrides = false;
    bool is_final = false;
    CRange initializers;  ///< Of a constructor, from `:` to before the body.

    /// Types only.
    std::string keyword;             ///< class, struct or union.
    std::vector<std::string> bases;  ///< Names without qualifiers and template arguments.
    std::size_t head_end = 0;        ///< Where the head without its bases ends.

    /// Enumerations only.
    std::vector<CEnumerator> enumerators;
};

/// Returns the declarations outside function bodies, in their order. A type comes before its members. Comments and preprocessor
/// lines are skipped; of an `#if` with `#else` whose branches do not have matching braces, only the first branch is read. Stops
/// at text that it cannot read.
[[nodiscard]] std::vector<CDeclaration> read_c_declarations(std::string_view text);

}  // namespace agentforge::kernel
