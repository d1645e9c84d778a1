// SPDX-License-Identifier: Apache-2.0
// The journal's long bodies, stored once each by their hash. They are on disk before a record names them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

#include "base/files.hpp"

namespace agentforge::kernel {

/// Stores long bodies (context sent, the model's answer, tool output) by their SHA-256.
///
/// All are in one file, `<root>/blobs.yaml`, which only grows: `agentforge_blobs: 1`, `blobs:`, then a line for each,
///   - {"sha256": "…", "bytes": 12, "text": "…"}
/// in the form of the journal's lines (`"hex"` instead of `"text"` if the bytes are not UTF-8). One file, because the blobs that
/// a record names must be durable together. In one file they cost one fdatasync; separate files would cost a sync each, and a
/// sync of each folder (measured: two thirds of all syncs of a task).
///
/// A power cut may lose the blobs put after the last `sync`. No record may name those yet: `sync` comes before the append. The
/// next `sync` overwrites an incomplete last line.
///
/// A forked task's store has the blobs of the tasks it was forked from in `<root>/<task>/blobs.yaml` (hard links), which it only
/// reads.
///
/// Several stores may use one folder, in any threads and processes; appends take turns by flock(2). Several threads may use one
/// object.
class BlobStore {
public:
    /// `cached`: `sync` writes without waiting for the disk; for temporary tasks.
    explicit BlobStore(std::filesystem::path root, Durability durability = Durability::synced);
    /// Keeps a blob in memory and returns its hash. `get` of this object finds it at once. Idempotent. Syncs automatically beyond
    /// 8 MiB. Errors: `io` AF-JRNL-010.
    [[nodiscard]] Result<std::string> put(std::string_view bytes);
    /// Syncs the blobs put so far and those that an earlier process left unsynced in the file. Does nothing if there is nothing
    /// to sync. Errors: `io` AF-JRNL-010; then nothing was stored, and the blobs stay in memory for another try.
    [[nodiscard]] Result<void> sync();
    /// Returns the bytes of a blob. Errors: `not_found` AF-JRNL-011 (also if `hash` is not 64 lower-case hexadecimal digits),
    /// `io` AF-JRNL-010, `corrupt` AF-JRNL-012 if the bytes do not have that hash.
    [[nodiscard]] Result<std::string> get(std::string_view hash) const;
    [[nodiscard]] bool contains(std::string_view hash) const;
    /// Makes the blobs of the store at `parent`, and those shared with it, readable through the store at `child`. Copies nothing
    /// if the file system has hard links. Errors: `not_found` AF-JRNL-011 the parent's blobs were freed; `io` AF-JRNL-010.
    [[nodiscard]] static Result<void> share(const std::filesystem::path& parent, std::string_view parent_task,
                                            const std::filesystem::path& child);

private:
    struct State;
    explicit BlobStore(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

}  // namespace agentforge::kernel
