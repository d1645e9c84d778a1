// SPDX-License-Identifier: Apache-2.0
// Where a project keeps its violations.
#pragma once

#include <filesystem>

#include "program/project/project_trust.hpp"

namespace agentforge::kernel {

/// `.agentforge/violations`: a record for each violation that the last `check` found. Not committed.
[[nodiscard]] std::filesystem::path records_folder(const ProjectPlace& place);
/// `.agentforge/conformance_baseline.yaml`: what `check` does not fail on. Committed.
[[nodiscard]] std::filesystem::path baseline_file(const ProjectPlace& place);

}  // namespace agentforge::kernel
