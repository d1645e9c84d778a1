// SPDX-License-Identifier: Apache-2.0
// Changes files of the user's checkout all or none, even if the disk is full or the process dies midway.
//
// The files are copied to a separate folder and changed there. If the disk fills up there, the checkout is unchanged. `seal`
// records the change and syncs it. From then on the change will be completed: this process, or the next command that calls `find`
// and `install`, renames each file into place. It leaves a file that the user has edited in between and reports it. It puts a
// file that the user has restored in place again.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

#include "base/files.hpp"

namespace agentforge::kernel {

/// A change of the checkout that an ended process did not complete.
struct UnfinishedChange {
    std::string task;     ///< Empty: its description cannot be read.
    bool undoes = false;  ///< The change was removing the task's change.

    [[nodiscard]] std::string description() const;
    [[nodiscard]] std::string remedy() const;  ///< Without a full stop.
};

class CheckoutChange {
public:
    /// Copies `paths` (relative, existing or not) and the .gitattributes above them. Only one change may be in progress. Errors
    /// (nothing was changed): `conflict` AF-GIT-061 another process is changing the checkout or left a change unfinished, `io`
    /// AF-GIT-060.
    [[nodiscard]] static Result<CheckoutChange> prepare(std::filesystem::path root, std::filesystem::path folder,
                                                        std::string task, std::vector<std::string> paths);
    /// Returns a change that was sealed but not finished. Removes one that was only prepared. `conflict` AF-GIT-061 if another
    /// process is working on it; `corrupt` AF-GIT-062 if its description cannot be read.
    [[nodiscard]] static Result<std::optional<CheckoutChange>> find(std::filesystem::path root, std::filesystem::path folder);
    /// The same without locking the change.
    [[nodiscard]] static std::optional<UnfinishedChange> unfinished(const std::filesystem::path& folder);

    [[nodiscard]] const std::string& task() const noexcept { return task_; }
    /// True if the change removes the task's change from the checkout. Set it before `seal`.
    [[nodiscard]] bool undoes() const noexcept { return undoes_; }
    void set_undoes(bool undoes) noexcept { undoes_ = undoes; }
    /// The folder in which the caller changes the copies.
    [[nodiscard]] std::filesystem::path copies() const { return folder_ / "files"; }
    /// A patch for the index, applied after the files; or empty.
    [[nodiscard]] const std::string& index_patch() const noexcept { return index_patch_; }

    /// The changed paths.
    [[nodiscard]] std::vector<std::string> paths() const;
    /// True if at least one file is as the change leaves it. Otherwise no file was put in place, or a person has undone it.
    [[nodiscard]] Result<bool> is_begun() const;

    /// The change is on disk when it returns. Errors (nothing was changed, nothing is left behind): `io` AF-GIT-060.
    [[nodiscard]] Result<void> seal(std::string index_patch);
    /// Renames every file into place, and skips those already in place. Calls `put` after each file; false stops (tests simulate
    /// a killed process this way). Returns the files that were edited in between: their new text stays in `copies()`. Errors:
    /// `io` AF-GIT-060; files in place stay, and the change can still be finished.
    [[nodiscard]] Result<std::vector<std::string>> install(const std::function<bool()>& put = {});
    /// Discards the change. Copies of `kept` stay in a folder, whose path is returned; empty if there is no copy of any of them.
    [[nodiscard]] Result<std::filesystem::path> finish(const std::vector<std::string>& kept);

private:
    struct Entry {
        std::string path;
        std::string before;
        std::string after;
    };

    CheckoutChange(std::filesystem::path root, std::filesystem::path folder, FileDescriptor lock)
        : root_(std::move(root)), folder_(std::move(folder)), lock_(std::move(lock)) {}
    /// True if the copy of a changed file exists and is as the change leaves it.
    [[nodiscard]] bool is_whole(const Entry& entry) const;
    [[nodiscard]] static Result<CheckoutChange> hold(std::filesystem::path root, std::filesystem::path folder);
    void discard() const;

    std::filesystem::path root_;
    std::filesystem::path folder_;
    FileDescriptor lock_;
    std::string task_;
    bool undoes_ = false;
    std::string index_patch_;
    std::vector<Entry> entries_;
};

/// Returns the folder below `.agentforge` in which `apply` keeps its copies.
[[nodiscard]] inline std::filesystem::path apply_folder(const std::filesystem::path& agentforge) { return agentforge / "apply"; }
/// Returns AF-GIT-060: `what` failed at `where`.
[[nodiscard]] Error apply_failed(std::string what, const std::filesystem::path& where, std::string remedy);
/// Returns AF-GIT-061.
[[nodiscard]] Error apply_unfinished(const UnfinishedChange& change, const std::filesystem::path& where);

}  // namespace agentforge::kernel
