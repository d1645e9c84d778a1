// SPDX-License-Identifier: Apache-2.0
// Durable files. Every function that writes says what survives a power cut.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// A file descriptor that closes itself. Movable.
class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
    FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(other.release()) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept;
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    ~FileDescriptor();

    [[nodiscard]] int get() const noexcept { return descriptor_; }
    [[nodiscard]] bool valid() const noexcept { return descriptor_ >= 0; }
    int release() noexcept;
    void reset() noexcept;

private:
    int descriptor_ = -1;
};

enum class Durability : unsigned char {
    cached = 1,  ///< Atomic for readers. A power cut may restore the old bytes (or none). For projections.
    synced       ///< On disk, including the name, when the call returns.
};

/// Reads the whole file. Errors: `not_found` AF-BASE-010, `io` AF-BASE-011, `invalid` AF-BASE-012 beyond `max_bytes`.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t max_bytes = 64ULL << 20U);
/// Replaces the file atomically: writes a temporary sibling, then renames it. Errors: `io` AF-BASE-013; the old file then
/// remains.
[[nodiscard]] Result<void> write_file_atomic(const std::filesystem::path& path, std::string_view bytes, Durability durability,
                                             unsigned mode = 0644);
/// The same for a file of the user, synced: keeps its permissions, and follows a link to its target. Writes into a device or a
/// pipe instead of replacing it.
[[nodiscard]] Result<void> replace_users_file(const std::filesystem::path& path, std::string_view bytes);
/// Creates the file. Fails with `conflict` AF-BASE-014 if it exists: the first of several writers wins.
[[nodiscard]] Result<void> create_file_exclusive(const std::filesystem::path& path, std::string_view bytes, Durability durability,
                                                 unsigned mode = 0644);
/// Returns a free name beside `path`, under which a file or folder is made before it is renamed to `path`. If this process dies
/// first, `sweep_abandoned_writes` removes it.
[[nodiscard]] std::filesystem::path unfinished_name(const std::filesystem::path& path);
/// True if `path` is below such a name or has it.
[[nodiscard]] bool is_unfinished(const std::filesystem::path& path);
/// True if the process that made a temporary name `<prefix><pid>-…` is gone. The file will never be finished.
[[nodiscard]] bool is_abandoned(std::string_view name, std::string_view prefix);
/// Removes unfinished files and folders of dead processes from this folder and below it. Files that cannot be removed stay for
/// the next time.
void sweep_abandoned_writes(const std::filesystem::path& folder);
/// The same for this folder alone. Runs automatically at a process's first write with `Durability::synced` to a folder.
void sweep_abandoned_writes_in(const std::filesystem::path& folder);
/// Works as mkdir -p. The names of new folders reach the disk only when something in them is synced (`sync_directory`). Errors:
/// `io` AF-BASE-015.
[[nodiscard]] Result<void> make_directories(const std::filesystem::path& path);
/// Syncs the names in the folder, and those of the folders above it that this process made, so that the folder survives a power
/// cut. Errors: `io` AF-BASE-016.
[[nodiscard]] Result<void> sync_directory(const std::filesystem::path& path);
/// Syncs the bytes of the file. Does nothing for a symbolic link. Errors: `io` AF-BASE-013.
[[nodiscard]] Result<void> sync_file(const std::filesystem::path& path);
/// Writes all of `bytes`. Handles EINTR and short writes.
[[nodiscard]] Result<void> write_all(int descriptor, std::string_view bytes, const std::filesystem::path& name);
/// Returns the text of an errno value, such as "No such file or directory". Thread-safe.
[[nodiscard]] std::string errno_text(int error);

/// Opens a folder of this user and locks it until the descriptor closes. Not valid if another descriptor has it locked, or if the
/// folder was removed in the meantime.
[[nodiscard]] FileDescriptor lock_folder(const std::filesystem::path& folder);

/// A folder that is deleted with its contents when the object is destroyed. Locked until then.
class TemporaryDirectory {
public:
    /// Makes it under $TMPDIR or /tmp, named `agentforge-<prefix>-p<pid>-XXXXXX`, mode 0700. Errors: `io` AF-BASE-015.
    [[nodiscard]] static Result<std::unique_ptr<TemporaryDirectory>> make(std::string_view prefix);
    /// Removes the folders there that this user's killed processes left: those that no process has locked. Keeps those with the
    /// prefix `edit`, because they hold what a person wrote. Calls `before` with each, unless it is empty.
    static void remove_abandoned(const std::function<void(const std::filesystem::path& folder)>& before = {});
    /// The same for tests. Aborts if it cannot make the folder.
    explicit TemporaryDirectory(std::string_view prefix);
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    TemporaryDirectory() = default;

    std::filesystem::path path_;
    FileDescriptor lock_;
};

}  // namespace agentforge::kernel
