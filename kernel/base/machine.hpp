// SPDX-License-Identifier: Apache-2.0
// Failures of the machine: a full disk, a broken one. No model and no stage can mend them, and none hears of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Whether an error is the machine's. The task pauses with it, whoever met it, and what failed is done anew when the task resumes.
[[nodiscard]] inline bool is_the_machines(const Error& error) noexcept { return error.kind == ErrorKind::io; }

/// Whether a text holds the system's words for a full or failing disk. They may be any program's own text: a reason to look at the disk, and no more.
[[nodiscard]] bool names_failing_machine(std::string_view output);

/// Writes a megabyte below a directory, to the disk, and takes it away: 0, or the error number. A directory that is not there takes it: 0. One whose
/// disk has less than `enough` bytes left is full (ENOSPC): what filled it may have been taken away meanwhile.
[[nodiscard]] int failure_of_writing(const std::filesystem::path& directory, std::uint64_t enough = 0);

/// Reads plain files to their end: 0, or the error number of the first that the disk does not give (EIO). One that is not there or forbidden is passed over.
[[nodiscard]] int failure_of_reading(const std::vector<std::filesystem::path>& files);

}  // namespace agentforge::kernel
