// SPDX-License-Identifier: Apache-2.0
// Alters one line of code. Private to gates/test_quality.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gates/language/source_text.hpp"
#include "gates/test_quality/mutants.hpp"

namespace agentforge::kernel {

/// Rules with this name apply only when all results of a function are altered at once.
inline constexpr std::string_view another_value = "another value";
/// The rule of an alteration inside a text.
inline constexpr std::string_view another_text = "another text";

struct CodeLine {
    std::string_view text;  ///< As written.
    std::string_view code;  ///< The same bytes with texts and comments blanked.
};

struct Alteration {
    std::string rule;
    std::string text;
    std::string description = {};
};

/// Adds what a rule makes of the line, at most two alterations.
void alterations_by_rule(const MutationRule& rule, const CodeLine& line, std::vector<Alteration>& found);
/// Returns another value for a literal of this line. `begin`: the line's place in the text. Returns nothing for a line that
/// begins with a string: documentation or a directive.
[[nodiscard]] std::optional<Alteration> other_literal(const CodeLiteral& literal, std::size_t begin, const CodeLine& line);
/// The same for an expected value. Keeps the length of a text, because a test that only compares lengths compares too little.
[[nodiscard]] std::optional<Alteration> other_expected(const CodeLiteral& literal, std::size_t begin, const CodeLine& line);
/// The same for a literal in an exact comparison. Changes a decimal by 1, because a smaller change may be within a tolerance.
[[nodiscard]] std::optional<Alteration> other_exact(const CodeLiteral& literal, std::size_t begin, const CodeLine& line);

}  // namespace agentforge::kernel
