// SPDX-License-Identifier: Apache-2.0
// Prints what a command has done with a set, as text or JSON.
#pragma once

#include <string>
#include <vector>

#include "program/sets/open_set.hpp"
#include "program/sets/set_preflight.hpp"

namespace agentforge::kernel {

/// Prints what `start` would do. `given`: the file of the specification; empty if a task writes it.
void print_set_plan(const OpenSet& open, const std::vector<PartPlan>& plans, const std::string& given);
/// Prints the set after it was done or undone.
void print_set_result(const OpenSet& open);
/// Prints what the set waits for, one line each, before any branch exists. Returns `code`.
EarlyExit print_waiting_parts(const OpenSet& open, const std::vector<std::string>& waiting, int code);
/// The same, when all branches exist.
void print_undelivered(const OpenSet& open, const std::vector<std::string>& waiting);

}  // namespace agentforge::kernel
