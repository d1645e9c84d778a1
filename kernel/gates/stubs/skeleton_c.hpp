// SPDX-License-Identifier: Apache-2.0
// Skeletons of C and C++: declarations that compile and link before anything is implemented.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <agentforge/stage.hpp>

namespace agentforge::kernel {

struct Skeletons {
    std::vector<std::pair<std::string, std::string>> files;  ///< Path and new content. Files that need no change are omitted.
    std::vector<std::string> problems;  ///< One for each interface that cannot be declared. `files` is then empty.
};

/// Declares each interface in its file and nothing else. `contents` are these files and the project's headers as they are;
/// `existing` are all paths of the tree.
///   - A function in a header becomes an inline definition (C: static inline), so that no list of sources has to change; in a
///     source file a plain one. A name that is in both a header and a source file of the tree is declared in the first and
///     defined in the second.
///   - `a::b::f` is in these namespaces, or is a method if `b` is a class of the file or another interface (`class b`,
///     `struct b`).
///   - The body is `throw std::logic_error("<marker> a::b::f")`. For C, noexcept and destructors it prints the text to standard
///     error and calls abort(). The skeleton omits `constexpr`, which such a body cannot have.
///   - Skips what the file already declares with the same parameters. Includes headers of the standard library that the
///     signature needs, and headers of the project that alone declare one of its types. A new header gets `#pragma once`.
///   - A signature is one function without a body, or one class, struct, enum or using. It may contain members; its methods get
///     bodies. `namespace a { class b … }` is `a::b`. A constant, a variable with its value and a `#define` are declared as
///     written.
[[nodiscard]] Skeletons write_c_skeletons(const std::vector<SkeletonInterface>& interfaces,
                                          const std::map<std::string, std::string>& contents,
                                          const std::vector<std::string>& existing, const std::string& marker);

}  // namespace agentforge::kernel
