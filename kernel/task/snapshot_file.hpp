// SPDX-License-Identifier: Apache-2.0
// A snapshot of the state that a journal folds to. It is stored beside the journal, so that opening the journal need not fold all
// records again (docs/adr/0014).
//
// A snapshot is only a cache. It is valid only while the journal still begins with the bytes that it was made from (JournalMark),
// and only for the build that wrote it: another build may fold the same records differently. If it is missing, truncated or
// damaged, the whole journal is read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "journal/journal.hpp"

namespace agentforge::kernel {

/// A snapshot is written when this many records are not in it. Folding them takes about 20 ms. Shorter journals have no snapshot.
inline constexpr Sequence records_between_snapshots = 512;

/// Fingerprint of the sources that decide how records fold. The build generates it.
extern const char* const fold_fingerprint;

struct SnapshotFile {
    JournalMark mark;
    std::string bytes;  ///< The state at that record (bytes_io.hpp).

    /// Returns nothing if there is no snapshot of this build.
    [[nodiscard]] static std::optional<SnapshotFile> read(const std::filesystem::path& file);
    /// Replaces the file. Not synced. Does nothing if the folder cannot be written.
    void write(const std::filesystem::path& file) const;
};

}  // namespace agentforge::kernel
