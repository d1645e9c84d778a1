// SPDX-License-Identifier: Apache-2.0
// The commands on violations, and where a project keeps them.
#pragma once

#include <filesystem>

#include "host/project_trust.hpp"

namespace CLI {
class App;
}

namespace agentforge::kernel {

struct Program;

void add_check(CLI::App& app, Program& program);
void add_fix(CLI::App& app, Program& program);

/// `.agentforge/violations`: a record for each violation that the last `check` found. Not committed.
[[nodiscard]] std::filesystem::path records_folder(const ProjectPlace& place);
/// `.agentforge/conformance_baseline.yaml`: what `check` does not fail on. Committed.
[[nodiscard]] std::filesystem::path baseline_file(const ProjectPlace& place);

}  // namespace agentforge::kernel
