// SPDX-License-Identifier: Apache-2.0
// The names in code, and the words in its string literals.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

/// The names in a source. `parts` also has the words of its string literals.
struct Vocabulary {
    std::set<std::string> names;
    std::set<std::string> parts;
};

/// `code`: without comments.
[[nodiscard]] Vocabulary vocabulary_of(std::string_view code, const CodeRules& rules);

/// Returns the names and the numbers of two or more digits. `blanked`: code without string literals.
[[nodiscard]] std::vector<std::string> names_of_code(std::string_view code);

/// True if the literal is a text, not a number.
[[nodiscard]] bool is_text(const CodeLiteral& literal);

/// True if the project gives this name to something: a variable, a parameter, a function, a type. A name of a library does not
/// relate two lines: two checks that both raise `ValueError` need not belong together.
[[nodiscard]] bool is_own_name(const std::string& name, const std::string& code);

/// True if a line outside functions declares one of these names.
[[nodiscard]] bool declares_one_of(std::string_view blanked, const std::set<std::string>& names);

/// Returns the file's name without its endings.
[[nodiscard]] std::string file_stem(const std::string& path);

}  // namespace agentforge::kernel
