// SPDX-License-Identifier: Apache-2.0
// A snapshot of the state that a journal folds to. It is stored beside the journal, so that opening the journal need not fold all
// records again (docs/adr/0014).
//
// A snapshot is only a cache. It is valid only while the journal still begins with the bytes that it was made from (JournalMark),
// and only for the build that wrote it: another build may fold the same records differently. It has a hash made with this
// installation's key, which no repository contains, because a task's folder may come from someone else. If it is missing,
// truncated, damaged or someone else's, the whole journal is read.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "journal/journal.hpp"

namespace agentforge::kernel {

/// A snapshot is written when this many records are not in it. Folding them takes about 20 ms. Shorter journals have no snapshot.
inline constexpr Sequence records_between_snapshots = 512;

/// Fingerprint of the sources that decide how records fold. The build generates it.
extern const char* const fold_fingerprint;

/// Sets where the key comes from; `source` is called when a snapshot is first read or written, and returns an empty text if there
/// is no key. Without a key, snapshots are neither read nor written. Call it before other threads use snapshots.
void set_snapshot_key(std::function<std::string()> source);

struct SnapshotFile {
    JournalMark mark;
    std::string bytes;  ///< The state at that record (bytes_io.hpp).

    /// Returns nothing if there is no snapshot of this build and installation.
    [[nodiscard]] static std::optional<SnapshotFile> read(const std::filesystem::path& file);
    /// Replaces the file. Not synced. Does nothing if the folder cannot be written.
    void write(const std::filesystem::path& file) const;
};

}  // namespace agentforge::kernel
