// SPDX-License-Identifier: Apache-2.0
// What a journal's records come to, kept beside it so that whoever opens it need not fold them all again (docs/adr/0014).
//
// A snapshot is a cache and never the truth. It counts only while the journal still begins with the very bytes that it was made
// from (JournalMark), and only for the build that wrote it: another one may fold the same records to something else. One that is
// missing, cut off or damaged is no snapshot, and the journal is read whole.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "journal/journal.hpp"

namespace agentforge::kernel {

/// A snapshot is due when so many records are not in it: they are folded in about 20 ms. Shorter journals have none.
inline constexpr Sequence records_between_snapshots = 512;

/// Of the sources that decide what records are folded to; made by the build.
extern const char* const fold_fingerprint;

struct SnapshotFile {
    JournalMark mark;
    std::string bytes;  ///< What was made of the records up to there (state_bytes.hpp).

    /// Nothing where there is none of this build.
    [[nodiscard]] static std::optional<SnapshotFile> read(const std::filesystem::path& file);
    /// Replaces the file; not synced. A folder that cannot be written stays as it is.
    void write(const std::filesystem::path& file) const;
};

}  // namespace agentforge::kernel
