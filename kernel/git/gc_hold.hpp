// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace agentforge::kernel {

/// Keeps `git gc` away from a repository while a process writes objects that no ref leads to yet: `git gc --prune=now` would take
/// them away.
///
/// By git's own means: `gc.pid` in the repository's folder names a process that is at work, and `git gc` ends with a word about
/// it as long as that process lives. `git gc --auto` does so silently. `git prune` and `git repack` heed nobody. Several
/// processes may hold one repository: the file names one of them, and `renew` names this one where that one is gone. Where the
/// file cannot be written nothing is held. A kill leaves at most a `gc.pid` that names a dead process, which git does not
/// believe; a `gc.pid.lock` that a dead process left is removed.
class GcHold {
public:
    /// `git_directory`: the common one. Waits for a `git gc` that is under way, at most a minute.
    explicit GcHold(std::filesystem::path git_directory);
    GcHold(const GcHold&) = delete;
    GcHold& operator=(const GcHold&) = delete;
    ~GcHold();

    /// Before objects are written. Costs one read of a file.
    void renew();

private:
    enum class Holder : unsigned char { nobody = 1, this_process, another };
    /// Whom a file such as `gc.pid` names.
    [[nodiscard]] static Holder holder(const std::filesystem::path& file);
    [[nodiscard]] bool take() const;

    std::filesystem::path file_;
};

}  // namespace agentforge::kernel
