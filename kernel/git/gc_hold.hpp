// SPDX-License-Identifier: Apache-2.0
// Blocks `git gc` while objects without a ref are written. Failures are silent: then `git gc` is not blocked.
#pragma once

#include <filesystem>

namespace agentforge::kernel {

/// Keeps `git gc` out of a repository while a process writes objects that no ref reaches yet: `git gc --prune=now` would delete
/// them.
///
/// Uses git's own mechanism. `gc.pid` in the git directory names a running process, and while that process lives `git gc` ends
/// with a message (`git gc --auto` silently). `git prune` and `git repack` ignore it. Several processes may hold one repository:
/// the file names one of them, and `renew` names this process if that one is gone. If the file cannot be written, nothing is
/// held. A killed process leaves at most a `gc.pid` that names it, which git ignores. The hold removes the `gc.pid.lock` of a
/// dead process.
class GcHold {
public:
    /// `git_directory`: the common one. Waits at most a minute for a running `git gc`.
    explicit GcHold(std::filesystem::path git_directory);
    GcHold(const GcHold&) = delete;
    GcHold& operator=(const GcHold&) = delete;
    ~GcHold();

    /// Call it before writing objects. Cost: one read of a file.
    void renew();

private:
    enum class Holder : unsigned char { nobody = 1, this_process, another };
    /// Returns the process that a file such as `gc.pid` names.
    [[nodiscard]] static Holder holder(const std::filesystem::path& file);
    [[nodiscard]] bool take() const;

    std::filesystem::path file_;
};

}  // namespace agentforge::kernel
