// SPDX-License-Identifier: Apache-2.0
// Reads the names that a file imports, each with a statement that imports only this name. Then removed code can come back with
// exactly the imports that it needs, whatever form the file's imports have now.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gates/removal/source_lines.hpp"

namespace agentforge::kernel {

/// One imported name.
struct ImportItem {
    std::string name;       ///< As the code uses it: `d` of `import {c as d} from 'm'`.
    std::string statement;  ///< Imports only this name. Without a line end.
    std::size_t line = 0;   ///< The index of the line where its statement begins.
};

struct ImportItems {
    std::vector<ImportItem> items;
    std::vector<bool> lines;   ///< Marks the lines of the statements that were read.
    std::vector<bool> inside;  ///< Marks their lines after the first.
};

/// Reads imports of Go, Java, JavaScript, TypeScript, Python and Rust. Leaves out imports that name nothing (`import "m"`,
/// `import m.*`, `use m::*`) and nested lists.
[[nodiscard]] ImportItems import_items(const SourceLines& text);

}  // namespace agentforge::kernel
