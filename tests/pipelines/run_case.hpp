// SPDX-License-Identifier: Apache-2.0
// Runs a case in this process: the shipped pipeline, contracts, agents and plugins, a real repository, real gates; only the model
// is scripted.
#pragma once

#include <string>

#include "pipelines/case_file.hpp"

namespace agentforge::kernel::pipelines {

/// A program that the case needs and that is not on PATH; empty: all are there.
[[nodiscard]] std::string missing_program(const Case& test);

/// Runs it and adds a failure for everything that is not as the case says, and for what no task may do, whatever its case says:
/// touch the user's checkout, deliver a tree that no gate has passed, deliver other tests than RED's.
void run(const Case& test);

}  // namespace agentforge::kernel::pipelines
