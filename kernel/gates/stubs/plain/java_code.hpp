// SPDX-License-Identifier: Apache-2.0
// Texts of Java.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace agentforge::kernel {

/// A type in a file.
struct TypeRange {
    std::string kind;  ///< class, interface, enum, record.
    std::string name;
    std::size_t open = 0;
    std::size_t close = 0;
};

[[nodiscard]] std::vector<TypeRange> java_types(const std::string& code);

/// Returns the position of the `;` after an enum's constants; npos: they have none.
[[nodiscard]] std::size_t end_of_constants(const std::string& code, const TypeRange& type);

/// Gives a body to each method of a class, a record or an enum in this declaration that has none.
[[nodiscard]] std::string with_java_bodies(const std::string& text, const std::string& marker);

/// Returns the declaration of a file's package: the folders below `java/`. Empty: none.
[[nodiscard]] std::string package_line(const std::string& path);

/// Imports the types of the standard library that a signature names and the file does not import.
void import_java(std::string& text, const std::string& signature);

}  // namespace agentforge::kernel
