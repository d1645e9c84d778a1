// SPDX-License-Identifier: Apache-2.0
// Removed lines that belong together.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gates/removal/source_lines.hpp"

namespace agentforge::kernel {

/// Removed lines that are put back together, with the lines that replaced them.
struct Hunk {
    std::vector<std::size_t> removed;  ///< Indexes of lines before.
    std::vector<std::size_t> added;    ///< Indexes of lines now.
    std::size_t after = no_line;       ///< The kept line of `now` before them.
    std::size_t until = no_line;       ///< The kept line of `now` behind them.
};

/// Returns the line of `now` before which the hunk stood.
[[nodiscard]] std::size_t place_of(const Hunk& hunk);

/// Returns the removed lines that stay in another form, each with that form, in order.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> alike_lines(const SourceLines& before, const SourceLines& now,
                                                                           const std::vector<std::size_t>& removed,
                                                                           const std::vector<std::size_t>& added);

/// True if some removed lines come back in another form, and none only lost indentation.
[[nodiscard]] bool stay_in_place(const SourceLines& before, const SourceLines& now, const Hunk& hunk);

/// Divides removed lines so that each call of one of these functions that is a line of its own stands alone.
[[nodiscard]] std::vector<std::vector<std::size_t>> apart_from_calls(const SourceLines& before, const Hunk& hunk,
                                                                     const std::set<std::string>& functions);

/// Returns the removed lines of a hunk that no new line is like.
[[nodiscard]] Hunk unpaired_lines(const SourceLines& before, const SourceLines& now, const Hunk& hunk);

}  // namespace agentforge::kernel
