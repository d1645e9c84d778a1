// SPDX-License-Identifier: Apache-2.0
// The specification of a set: lets a task of the first repository write it, unless it was given, and divides it among the parts.
#pragma once

#include <filesystem>
#include <vector>

#include "pipeline/set_parts.hpp"
#include "program/sets/open_set.hpp"

namespace agentforge::kernel {

/// Gives each part its specification and orders the parts by their dependencies. Errors: those of divide_specification.
[[nodiscard]] Result<EarlyExit> specify(OpenSet& open);
/// Returns the part of each repository. `given`: the file of the specification; empty if the set's task wrote it. Errors: those
/// of parts_of and of the contract.
[[nodiscard]] Result<std::vector<PartSpecification>> divide_specification(const OpenSet& open,
                                                                          const std::filesystem::path& given);

}  // namespace agentforge::kernel
