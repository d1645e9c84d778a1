// SPDX-License-Identifier: Apache-2.0
// Machine failures: a full or broken disk. Models and stages cannot fix them and do not see them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// True if the error is the machine's. Such an error pauses the task, wherever it occurred. The failed work is redone when the
/// task resumes.
[[nodiscard]] inline bool is_machine_failure(const Error& error) noexcept { return error.kind == ErrorKind::io; }

/// True if a text contains the system's messages for a full or failing disk. Any program may print them, so this is only a reason
/// to check the disk.
[[nodiscard]] bool mentions_failing_disk(std::string_view output);

/// Writes a megabyte to disk below a directory and removes it. Returns 0 or the errno value; 0 if the directory does not exist. A
/// disk with fewer than `enough` free bytes counts as full (ENOSPC), because the file that filled it may be gone again.
[[nodiscard]] int failure_of_writing(const std::filesystem::path& directory, std::uint64_t enough = 0);

/// Reads plain files to their end. Returns 0, or the errno value for the first file that the disk cannot read (EIO). Skips files
/// that are missing or forbidden.
[[nodiscard]] int failure_of_reading(const std::vector<std::filesystem::path>& files);

}  // namespace agentforge::kernel
