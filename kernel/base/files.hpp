// SPDX-License-Identifier: Apache-2.0
// Durable files. Every function that writes says what survives a power cut.
#pragma once

#include <cstdint>
#include <filesystem>
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
    cached = 1,  ///< Atomic for readers; a power cut may bring the old bytes back (or none). For projections.
    synced       ///< On disk, name included, when the call returns.
};

/// Whole file. Errors: `not_found` AF-BASE-010, `io` AF-BASE-011, `invalid` AF-BASE-012 beyond `max_bytes`.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t max_bytes = 64ULL << 20U);
/// Replaces the file atomically: temporary sibling, rename. Errors: `io` AF-BASE-013; then the old file stands.
[[nodiscard]] Result<void> write_file_atomic(const std::filesystem::path& path, std::string_view bytes, Durability durability,
                                             unsigned mode = 0644);
/// Creates the file, or fails with `conflict` AF-BASE-014 where it exists: the first of several writers wins.
[[nodiscard]] Result<void> create_file_exclusive(const std::filesystem::path& path, std::string_view bytes, Durability durability,
                                                 unsigned mode = 0644);
/// The process that made a temporary name `<prefix><pid>-…` is gone: what bears it will never be finished.
[[nodiscard]] bool is_abandoned(std::string_view name, std::string_view prefix);
/// Removes what writes of processes that are gone left in this folder and below it. What cannot be removed stays for the next
/// time.
void sweep_abandoned_writes(const std::filesystem::path& folder);
/// The same in this folder alone. A process does so itself where it first writes with `Durability::synced` to a folder.
void sweep_abandoned_writes_in(const std::filesystem::path& folder);
/// mkdir -p. The names of new folders are on disk when something in them is synced (`sync_directory`), not before. Errors: `io`
/// AF-BASE-015.
[[nodiscard]] Result<void> make_directories(const std::filesystem::path& path);
/// Brings the names in the folder to disk, and those of the folders above it that this process made, so that the folder is found
/// again. Errors: `io` AF-BASE-016.
[[nodiscard]] Result<void> sync_directory(const std::filesystem::path& path);
/// Writes all of `bytes`, through EINTR and short writes.
[[nodiscard]] Result<void> write_all(int descriptor, std::string_view bytes, const std::filesystem::path& name);
/// "No such file or directory" for an errno value; thread-safe.
[[nodiscard]] std::string errno_text(int error);

/// A folder that is deleted, with all in it, when the object goes.
class TemporaryDirectory {
public:
    /// Under $TMPDIR or /tmp, named `agentforge-<prefix>-XXXXXX`, mode 0700. Errors: `io` AF-BASE-015.
    [[nodiscard]] static Result<std::unique_ptr<TemporaryDirectory>> make(std::string_view prefix);
    /// The same for tests. Aborts where none can be made.
    explicit TemporaryDirectory(std::string_view prefix);
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    TemporaryDirectory() = default;

    std::filesystem::path path_;
};

}  // namespace agentforge::kernel
