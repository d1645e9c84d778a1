// SPDX-License-Identifier: Apache-2.0
// Finds the definitions of a text: functions, and types with all their members. Also its imports.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gates/removal/source_lines.hpp"

namespace agentforge::kernel {

/// A definition by the indexes of its lines.
struct Definition {
    std::string name;
    std::size_t first = 0;
    std::size_t last = 0;
};

[[nodiscard]] std::vector<Definition> definitions_of(const SourceLines& text, const CodeRules& rules);

/// Returns its lines without comments.
[[nodiscard]] std::string code_of_definition(const SourceLines& text, const Definition& extent);

/// Returns the code of all functions with this name.
[[nodiscard]] std::string code_of_functions(const SourceLines& text, const std::string& name);

/// Returns the definitions that `now` lacks, with their decorators. Of several with one name, those that differ from all of
/// them in `now`, if `now` has no other.
[[nodiscard]] std::vector<Definition> removed_definitions(const SourceLines& before, const SourceLines& now,
                                                          const CodeRules& rules);

/// Marks the lines of imports and of lists of exported names.
[[nodiscard]] std::vector<bool> lines_of_imports(const SourceLines& text);

}  // namespace agentforge::kernel
