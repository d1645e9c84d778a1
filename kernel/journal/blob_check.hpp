// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// A blob store's file, read from end to end.
struct BlobCheck {
    std::set<std::string, std::less<>> hashes;  ///< Of the lines whose bytes have the hash that they name.
    std::vector<std::string>
        faults;  ///< Each with the byte where its line begins. Any byte that is not as the store writes it is one.
    std::uint64_t bytes = 0;
};
/// `root`: the store's folder; one without a file holds nothing. Nothing is locked or changed. Memory: the longest line. Errors:
/// `io` AF-JRNL-010.
[[nodiscard]] Result<BlobCheck> check_blobs(const std::filesystem::path& root);

}  // namespace agentforge::kernel
