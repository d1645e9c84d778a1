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
    std::vector<std::pair<std::string, std::string>> files;  ///< Path and new content; files that need no change are left out.
    std::vector<std::string> problems;  ///< One for each interface that cannot be declared; then `files` is empty.
};

/// Declares each interface in its file and nothing else. `contents` are these files and the project's headers as they are,
/// `existing` all paths of the tree.
///   - A function in a header becomes an inline definition (C: static inline), so that no list of sources has to change; in a
///   source
///     file a plain one. A name that is in a header and in a source file of the tree is declared in the first and defined in the
///     second.
///   - `a::b::f` stands in the namespaces, or is a method where `b` is a class of the file or another interface (`class b`,
///   `struct b`).
///   - The body is `throw std::logic_error("<marker> a::b::f")`, or for C, noexcept and destructors the text on standard error
///   and abort().
///     `constexpr` is left out of the skeleton, as such a body cannot have it.
///   - What the file already declares with the same parameters is left alone. Headers of the standard library that the signature
///     names are included, and headers of the project that alone declare a type it names; a new header gets `#pragma once`.
///   - A signature is one function without a body, or one class, struct, enum or using; members may be given; its methods get
///   bodies. `namespace a { class b … }` is `a::b`. A constant, a
///     variable with its value and a `#define` are declared as they are written.
[[nodiscard]] Skeletons write_c_skeletons(const std::vector<SkeletonInterface>& interfaces,
                                          const std::map<std::string, std::string>& contents,
                                          const std::vector<std::string>& existing, const std::string& marker);

}  // namespace agentforge::kernel
