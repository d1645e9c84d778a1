// SPDX-License-Identifier: Apache-2.0
// Failures of the machine: a full disk, a broken one. No model and no stage can mend them, and none hears of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Whether an error is the machine's. The task pauses with it, whoever met it, and what failed is done anew when the task
/// resumes.
[[nodiscard]] inline bool is_the_machines(const Error& error) noexcept { return error.kind == ErrorKind::io; }

/// Whether a text holds the system's words for a full or failing disk. They may be any program's own text: a reason to look at
/// the disk, and no more.
[[nodiscard]] bool names_failing_machine(std::string_view output);

/// Writes a megabyte to disk below a directory and removes it again. Returns 0 or the error number; 0 if the directory does not
/// exist. A disk with fewer than `enough` bytes left counts as full (ENOSPC), because whatever filled it may have been removed
/// since.
[[nodiscard]] int failure_of_writing(const std::filesystem::path& directory, std::uint64_t enough = 0);

/// Reads plain files to their end. Returns 0, or the error number of the first file the disk cannot read (EIO). Skips files that
/// are missing or forbidden.
[[nodiscard]] int failure_of_reading(const std::vector<std::filesystem::path>& files);

}  // namespace agentforge::kernel
