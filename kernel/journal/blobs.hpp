// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Long bodies (context sent, the model's answer, tool output), named by their SHA-256.
///
/// All of them are in one file, `<root>/blobs.yaml`, which only grows: `agentforge_blobs: 1`, `blobs:`, then a line for each,
///   - {"sha256": "…", "bytes": 12, "text": "…"}
/// in the form of the journal's lines (`"hex"` in place of `"text"` where the bytes are not UTF-8). One file, because what must
/// be durable is the group of blobs that a record names: put together they cost one fdatasync, where a file for each costs its
/// own sync and those of the folders around it (measured: two thirds of all syncs of a task).
///
/// What a power cut may lose: blobs put after the last `sync`. No record may name those yet: `sync` comes before the append.
/// A last line that is not whole is overwritten by the next `sync`.
///
/// A forked task's store holds those of the tasks that it goes on from as `<root>/<task>/blobs.yaml` (hard links); they are only
/// read.
///
/// Several stores may stand on one folder, in any threads and processes; appends take turns by flock(2). One object may be used
/// by several threads.
class BlobStore {
public:
    explicit BlobStore(std::filesystem::path root);
    /// Keeps a blob in memory and returns its hash; this object gives it back at once. Idempotent. More than 8 MiB are synced
    /// by themselves. Errors: `io` AF-JRNL-010.
    [[nodiscard]] Result<std::string> put(std::string_view bytes);
    /// Brings what was put, and whatever an earlier process left in the file, to disk. Does nothing where there is nothing to do.
    /// Errors: `io` AF-JRNL-010; then nothing was stored and the blobs stay in memory for another try.
    [[nodiscard]] Result<void> sync();
    /// Errors: `not_found` AF-JRNL-011 (also where `hash` is not 64 lower-case hexadecimal digits),
    /// `io` AF-JRNL-010, `corrupt` AF-JRNL-012 where the bytes do not have that hash.
    [[nodiscard]] Result<std::string> get(std::string_view hash) const;
    [[nodiscard]] bool contains(std::string_view hash) const;
    /// Makes the blobs of the store at `parent`, and those that it shares itself, readable through the one at `child`. Nothing is
    /// copied where the file system has hard links. Errors: `io` AF-JRNL-010.
    [[nodiscard]] static Result<void> share(const std::filesystem::path& parent, std::string_view parent_task,
                                            const std::filesystem::path& child);

private:
    struct State;
    explicit BlobStore(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

}  // namespace agentforge::kernel
