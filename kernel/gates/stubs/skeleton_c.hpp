// SPDX-License-Identifier: Apache-2.0
// Skeletons of C and C++: declarations that compile and link without an implementation.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <agentforge/stage.hpp>

namespace agentforge::kernel {

struct Skeletons {
    std::vector<std::pair<std::string, std::string>> files;  ///< Path and new content. Files that need no change are omitted.
    std::vector<std::string> problems;  ///< One for each interface that cannot be declared. `files` is then empty.
};

/// Declares each interface in its file. `contents`: the current text of these files and of the project's headers and sources.
/// `existing`: all paths of the tree.
///   - A function in a header becomes an inline definition (C: static inline), so no build file has to change. In a source file
///     it becomes a plain definition. A function that the specification names in a header and in an existing source file is
///     declared in the header and defined in the source file. One that only a source file defines is declared in the header.
///   - `a::b::f` is a function in the namespace `a::b`. It is a method if the file or another interface has a class `b`
///     (`class b`, `struct b`). If only one header has such a class, that header gets the method.
///   - The body is `throw std::logic_error("<marker> a::b::f")`. In C, and in noexcept functions and destructors, it prints
///     the text to standard error and calls abort(). The skeleton omits `constexpr`, because such a body cannot be constexpr.
///   - A function that exists with another signature is changed in all files (ExistingDeclarations). One with the same
///     signature is skipped. Classes get missing members and bases, enums missing enumerators, fields and aliases other types.
///   - Includes the standard headers that the signature needs, and the project's header of each type that only one header
///     declares, be it by another interface. A new header gets `#pragma once`.
///   - A signature is one function without a body, one class, struct, enum, using, typedef, field or enumerator. A class may have
///     members; its methods get bodies. `namespace a { class b … }` is `a::b`. A constant, a variable with its value, an
///     `extern` variable, a function that is `= default` and a `#define`, also with parameters, are declared as written.
[[nodiscard]] Skeletons write_c_skeletons(const std::vector<SkeletonInterface>& interfaces,
                                          const std::map<std::string, std::string>& contents,
                                          const std::vector<std::string>& existing, const std::string& marker);

/// Returns the text of a file with the body of each function at these lines replaced by the skeleton's; the old body stays as
/// comments. For functions that do not compile beside a changed declaration. Functions that already are skeletons, and lines
/// outside functions, stay unchanged. `contents` and `existing`: as above.
[[nodiscard]] std::string stub_c_functions(const std::string& path, const std::string& text, const std::set<std::uint64_t>& lines,
                                           const std::map<std::string, std::string>& contents,
                                           const std::vector<std::string>& existing, const std::string& marker);

}  // namespace agentforge::kernel
