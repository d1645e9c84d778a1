// SPDX-License-Identifier: Apache-2.0
// Classifies a line of code by its text. `blanked`: without comments and string literals.
#pragma once

#include <string>
#include <string_view>

namespace agentforge::kernel {

/// True if the line closes a block or continues one: `}`, `else`.
[[nodiscard]] bool closes_a_block(std::string_view line);

/// True if the code branches, ends its function or raises an error.
[[nodiscard]] bool decides(std::string_view blanked);

/// True if the line branches.
[[nodiscard]] bool decides_between(std::string_view blanked);

/// True if the code is a single name or number.
[[nodiscard]] bool is_one_word(std::string_view code);

/// True if the code raises an error or ends the program.
[[nodiscard]] bool raises(std::string_view blanked);

/// Returns the code without what stands after a word that raises an error.
[[nodiscard]] std::string without_errors(std::string_view code);

}  // namespace agentforge::kernel
