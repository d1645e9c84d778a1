// SPDX-License-Identifier: Apache-2.0
// Compares types of C and C++ by their spelling, without a compiler.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace agentforge::kernel {

/// Returns a type in one spelling: without names of namespaces, `struct` and the like, `const` first and not at top level,
/// `[]` as `*`. `renamed`: names to replace, such as those of template parameters.
[[nodiscard]] std::string normal_c_type(std::string_view type, const std::map<std::string, std::string>& renamed = {});

/// Returns all words of a text outside comments and literals.
[[nodiscard]] std::set<std::string> c_words(std::string_view text);

}  // namespace agentforge::kernel
