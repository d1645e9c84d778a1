// SPDX-License-Identifier: Apache-2.0
// Finds the definitions in a source (functions, and types with all their members) and its imports.
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

/// Returns the definitions that are missing in `now`, with their decorators. If `before` has several of one name, returns those
/// whose code is not in `now`, unless `now` has a definition of that name with other code.
[[nodiscard]] std::vector<Definition> removed_definitions(const SourceLines& before, const SourceLines& now,
                                                          const CodeRules& rules);

/// Marks the lines of imports and of lists of exported names.
[[nodiscard]] std::vector<bool> lines_of_imports(const SourceLines& text);

}  // namespace agentforge::kernel
