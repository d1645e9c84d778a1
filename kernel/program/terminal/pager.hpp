// SPDX-License-Identifier: Apache-2.0
// Shows long output on a terminal, a page at a time.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>

namespace agentforge::kernel {

/// Returns the command that shows pages: AGENTFORGE_PAGER, else PAGER, else `less` if it is on PATH. Empty: the user wants none
/// (`cat`, or an empty value).
[[nodiscard]] std::string pager_command(const std::map<std::string, std::string>& environment);

/// Runs `command`, collects its output to `out`, and shows it. Uses the pager if the output has more lines than the terminal and
/// a pager can run; otherwise prints directly. Returns the result of `command`; leaving the pager early is not a failure. `rows`:
/// of the terminal.
int paged(std::ostream& out, const std::map<std::string, std::string>& environment, std::size_t rows,
          const std::function<int()>& command);

/// Runs `command` and writes its output to `out` in lines of at most `columns` (folded_lines). Returns the result of `command`.
int wrapped(std::ostream& out, std::size_t columns, const std::function<int()>& command);

/// Returns the rows of standard output's terminal; 24 if unknown.
[[nodiscard]] std::size_t terminal_rows();

}  // namespace agentforge::kernel
