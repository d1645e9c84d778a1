// SPDX-License-Identifier: Apache-2.0
// Checks a blob store from end to end, for `agentforge audit`. Reads only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// The result of reading a blob store's file from end to end.
struct BlobCheck {
    std::set<std::string, std::less<>> hashes;  ///< Hashes of the lines whose bytes match their hash.
    /// Faults, each with the offset of its line. Any byte that the store would not write is a fault.
    std::vector<std::string> faults;
    std::uint64_t bytes = 0;
};
/// Checks the store in the folder `root`. A store without a file is empty. Locks and changes nothing. Memory: the longest line.
/// Errors: `io` AF-JRNL-010.
[[nodiscard]] Result<BlobCheck> check_blobs(const std::filesystem::path& root);

}  // namespace agentforge::kernel
