// SPDX-License-Identifier: Apache-2.0
// Reads the signatures of C and C++ that a specification names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gates/stubs/c_text.hpp"

namespace agentforge::kernel {

/// Why an interface cannot be declared.
struct CannotDeclare {
    std::string why;
};

struct CFunction {
    std::string text;           ///< As given, without `;`.
    std::size_t name = 0;       ///< Start in `text` of the declarator's last name,
    std::size_t qualified = 0;  ///< and of its qualifiers.
    std::size_t open = 0;       ///< The opening bracket of its parameters.
    std::size_t close = 0;
    bool needs_no_body = false;  ///< It ends with `= default`, `= delete` or `= 0`.
    [[nodiscard]] std::string own_name() const { return c_text::squeezed(std::string_view(text).substr(name, open - name)); }
    [[nodiscard]] std::string parameters() const { return text.substr(open + 1, close - open - 1); }
    [[nodiscard]] bool aborts() const {
        const auto behind = text.substr(close);
        return own_name().front() == '~' ||
               (behind.find("noexcept") != std::string::npos && behind.find("noexcept(false)") == std::string::npos);
    }
};

/// Throws CannotDeclare.
[[nodiscard]] CFunction parse_c_function(const std::string& signature);

[[nodiscard]] std::string without_semicolon(std::string text);

/// True for a member of a class that needs a body: no data member, no pointer to a function, no alias, no nested type.
[[nodiscard]] bool is_c_method(const std::string& member);

/// Returns the parts of `a::b.c`, without the arguments of templates. Throws CannotDeclare.
[[nodiscard]] std::vector<std::string> c_name_parts(const std::string& whole);
[[nodiscard]] std::string qualified_c_name(const std::vector<std::string>& parts);

/// Removes a leading `template <…>`.
[[nodiscard]] std::string without_c_template(const std::string& text);

/// Returns the name of a constant, a variable or a `#define`: anything with a value and no parameters. Empty for other
/// signatures.
[[nodiscard]] std::string c_value_name(const std::string& signature);

/// Returns the keyword of `class X`, `struct X`, `enum class X`, `using X` and templates of them. Empty: a function.
[[nodiscard]] std::string c_type_keyword(const std::string& signature);

}  // namespace agentforge::kernel
