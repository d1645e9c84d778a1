// SPDX-License-Identifier: Apache-2.0
// The names and words that code consists of.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

/// What a text consists of. Names stand in code; `parts` also has the words of texts.
struct Vocabulary {
    std::set<std::string> names;
    std::set<std::string> parts;
};

/// `code`: without comments.
[[nodiscard]] Vocabulary vocabulary_of(std::string_view code, const CodeRules& rules);

/// Returns the names of a code without texts, and its numbers of two digits or more.
[[nodiscard]] std::vector<std::string> names_of_code(std::string_view code);

/// True if the literal is a text, not a number.
[[nodiscard]] bool is_text(const CodeLiteral& literal);

/// True if the project gives this name to something: a variable, a parameter, a function, a type. Names of libraries link
/// nothing: two checks that both raise `ValueError` have nothing to do with each other.
[[nodiscard]] bool is_own_name(const std::string& name, const std::string& code);

/// True if a line outside functions declares one of these names.
[[nodiscard]] bool declares_one_of(std::string_view blanked, const std::set<std::string>& names);

/// Returns the file's name without its endings.
[[nodiscard]] std::string file_stem(const std::string& path);

}  // namespace agentforge::kernel
