// SPDX-License-Identifier: Apache-2.0
// What `inspect` shows, for the commands that show the same.
#pragma once

#include <vector>

#include "gates/run/command_log.hpp"
#include "journal/journal.hpp"
#include "program/program.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

/// What a record of a journal says in one line.
[[nodiscard]] std::string record_line(const Record& record);
/// The files that a step's command changed by itself, with commas; empty if there are none.
[[nodiscard]] std::string listed_files(const records::Step& step);
/// The same with time and, where there is room, role, cut to the terminal's width behind `begin`; what tells of a failure is
/// whole.
[[nodiscard]] std::string record_on_terminal(const Program& program, const Record& record, const std::string& begin);
/// How long gates took, according to a journal.
[[nodiscard]] GateTime gate_time(const std::vector<Record>& records);
/// One step with all that was sent and answered. Errors: AF-CLI-012 there is none of that number.
int inspect_step(Program& program, const std::string& task, std::uint64_t step);

}  // namespace agentforge::kernel
