// SPDX-License-Identifier: Apache-2.0
// The files of a project's violations.
#pragma once

#include <filesystem>

#include "program/project/project_trust.hpp"

namespace agentforge::kernel {

/// Returns `.agentforge/violations`: a record for each violation that the last `check` found. Not committed.
[[nodiscard]] std::filesystem::path records_folder(const ProjectPlace& place);
/// Returns `.agentforge/conformance_baseline.yaml`: the violations that `check` accepts. Committed.
[[nodiscard]] std::filesystem::path baseline_file(const ProjectPlace& place);

}  // namespace agentforge::kernel
