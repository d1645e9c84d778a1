// SPDX-License-Identifier: Apache-2.0
// Long output on a terminal, a page at a time.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>

namespace agentforge::kernel {

/// The command that shows pages: AGENTFORGE_PAGER, else PAGER, else `less` where PATH has it. Empty: none is wanted (`cat`, or
/// nothing).
[[nodiscard]] std::string pager_command(const std::map<std::string, std::string>& environment);

/// Runs `command`, collects its output to `out`, and shows it: in the pager if it has more lines than the terminal,
/// else, or if no pager can be run, directly. Returns what `command` returned; a pager that was left early is not a
/// failure. `rows`: of the terminal.
int paged(std::ostream& out, const std::map<std::string, std::string>& environment, std::size_t rows,
          const std::function<int()>& command);

/// Runs `command` and writes its output to `out` in lines of at most `columns` (folded_lines). Returns what `command` returned.
int folded(std::ostream& out, std::size_t columns, const std::function<int()>& command);

/// Returns the rows of standard output's terminal; 24 if unknown.
[[nodiscard]] std::size_t terminal_rows();

}  // namespace agentforge::kernel
