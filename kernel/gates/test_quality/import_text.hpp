// SPDX-License-Identifier: Apache-2.0
// What an import statement of a test file gives, in any of the languages, however it is written. Plain functions over texts.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agentforge::kernel {

/// An import: its frame (the module, and what stands around the names) and its names as written (`a as b`).
struct ImportText {
    std::string frame;
    std::vector<std::string> items;  ///< Empty: it gives no single names.
    bool textual = false;            ///< `#include`.
};

/// An import statement by its place in a file.
struct ImportStatement {
    std::size_t first = 0;  ///< Indexes of lines.
    std::size_t last = 0;
    std::size_t margin = 0;
    std::string text;  ///< In one line.
    ImportText import;
};

/// True if an import begins with this line (without comments).
[[nodiscard]] bool begins_import(std::string_view line);

/// Reads a statement, by its lines without comments. Returns its text in one line, and what it gives.
[[nodiscard]] std::pair<std::string, ImportText> read_import(const std::vector<std::string>& lines);

/// The same for Go, where one statement may list packages: their paths are the items, with their other names (`s "strings"`).
[[nodiscard]] std::pair<std::string, ImportText> read_go_import(const std::vector<std::string>& lines);

/// Returns an import of JavaScript, TypeScript or Python (in one line) with only those of its single names that are `used`.
/// Empty: none is. Other imports stay as they are.
[[nodiscard]] std::string import_of_used(const std::string& text, const std::function<bool(const std::string& name)>& used);

/// True if the frame names a module, so that another import with this frame is of the same module.
[[nodiscard]] bool names_module(const ImportText& import);

/// Returns the name that code uses for an imported one: `b` for `a as b`, `span` for `"example.com/span"`. Empty for a package of
/// Go that is imported for its effects, or without its name.
[[nodiscard]] std::string bound_name(const std::string& item);

/// True for the line of a Go file that names its package.
[[nodiscard]] bool is_go_package(std::string_view line);

/// Returns the packages that a line of Go imports, as items.
[[nodiscard]] std::vector<std::string> go_imports_in(std::string_view line);

/// Returns the names that a package may have according to its path: `yaml` and `v3` for `"gopkg.in/yaml.v3"`. Empty for a package
/// that needs no use.
[[nodiscard]] std::vector<std::string> names_of_go_package(const std::string& item);

}  // namespace agentforge::kernel
