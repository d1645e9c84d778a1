// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

/// Returns the lines of the functions whose body was a skeleton (it had `marker`) in `before`. All of them are new, also those
/// that another function had before: a renamed function gets a skeleton first, and then its old body. Leaves out a function that
/// only has its marker still, and names that do not occur equally often in both texts.
[[nodiscard]] std::set<std::uint64_t> lines_of_filled_skeletons(std::string_view before, std::string_view now,
                                                                const CodeRules& rules, const std::string& marker);

}  // namespace agentforge::kernel
