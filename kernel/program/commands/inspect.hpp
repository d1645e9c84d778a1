// SPDX-License-Identifier: Apache-2.0
// Functions of `inspect` that other commands share.
#pragma once

#include <string>

#include "journal/journal.hpp"
#include "program/program.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

/// Returns a journal's record in one line.
[[nodiscard]] std::string record_line(const Record& record);
/// Returns the files that a step's own command changed, separated by commas. Empty if there are none.
[[nodiscard]] std::string listed_files(const records::Step& step);
/// The same with the time and, if there is room, the role, cut to the terminal's width after `begin`. Shows a failure in full.
[[nodiscard]] std::string record_on_terminal(const Program& program, const Record& record, const std::string& begin);
/// Shows one step with everything that was sent and answered. Errors: AF-CLI-012 there is no step of that number.
int inspect_step(Program& program, const std::string& task, std::uint64_t step);

}  // namespace agentforge::kernel
