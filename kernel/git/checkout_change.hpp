// SPDX-License-Identifier: Apache-2.0
// Changes files of the user's checkout whole or not at all, though the disk is full or the process dies in its middle.
//
// The files are copied to a folder of their own and changed there; that is where a disk fills up, and the checkout is as it was.
// `seal` writes down what is to come and has it on disk. From then on the change is finished: each file is put in its place by a
// rename, by this process or by the next command that calls `find` and `install`. A file that the user has edited in between is
// left, and named.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

#include "base/files.hpp"

namespace agentforge::kernel {

class CheckoutChange {
public:
    /// Copies `paths` (relative; those that are not there too) and the .gitattributes above them. Nobody else may have one under
    /// way. Errors: `conflict` AF-GIT-061 another process works here or left a change unfinished, `io` AF-GIT-060; nothing was
    /// changed.
    [[nodiscard]] static Result<CheckoutChange> prepare(std::filesystem::path root, std::filesystem::path folder,
                                                        std::string task, std::vector<std::string> paths);
    /// A change that was sealed and not finished. What was only prepared is removed. `conflict` AF-GIT-061 where another process
    /// is at it; `corrupt` AF-GIT-062 where what was written down cannot be read.
    [[nodiscard]] static Result<std::optional<CheckoutChange>> find(std::filesystem::path root, std::filesystem::path folder);
    /// The same without taking hold of it: the task whose change is unfinished, for who only looks.
    [[nodiscard]] static std::optional<std::string> unfinished(const std::filesystem::path& folder);

    [[nodiscard]] const std::string& task() const noexcept { return task_; }
    /// Where the caller changes the copies.
    [[nodiscard]] std::filesystem::path copies() const { return folder_ / "files"; }
    /// A patch for the index that is applied after the files, or empty.
    [[nodiscard]] const std::string& index_patch() const noexcept { return index_patch_; }

    /// On disk when it returns. Errors: `io` AF-GIT-060; then nothing was changed and nothing is left behind.
    [[nodiscard]] Result<void> seal(std::string index_patch);
    /// Puts every file in its place; those of before that are there already are passed over. `put` is asked after each file
    /// whether to go on (tests end there, as a killed process does). Returns the files that somebody edited in between: their new
    /// text stays in `copies()`. Errors: `io` AF-GIT-060; what was put stays, and the change is still there to be finished.
    [[nodiscard]] Result<std::vector<std::string>> install(const std::function<bool()>& put = {});
    /// Forgets the change; copies of `kept` stay in a folder whose path is returned.
    [[nodiscard]] Result<std::filesystem::path> finish(const std::vector<std::string>& kept);

private:
    struct Entry {
        std::string path;
        std::string before;
        std::string after;
    };

    CheckoutChange(std::filesystem::path root, std::filesystem::path folder, FileDescriptor lock)
        : root_(std::move(root)), folder_(std::move(folder)), lock_(std::move(lock)) {}
    [[nodiscard]] static Result<CheckoutChange> hold(std::filesystem::path root, std::filesystem::path folder);
    void discard() const;

    std::filesystem::path root_;
    std::filesystem::path folder_;
    FileDescriptor lock_;
    std::string task_;
    std::string index_patch_;
    std::vector<Entry> entries_;
};

/// Where `apply` keeps its copies, below `.agentforge`.
[[nodiscard]] inline std::filesystem::path apply_folder(const std::filesystem::path& agentforge) { return agentforge / "apply"; }
/// AF-GIT-060: `what` could not be done at `where`.
[[nodiscard]] Error apply_failed(std::string what, const std::filesystem::path& where, std::string remedy);
/// AF-GIT-061: the change of this task was not finished.
[[nodiscard]] Error apply_unfinished(const std::string& task, const std::filesystem::path& where);
/// What a person is told of an `apply` that was not finished.
[[nodiscard]] std::string interrupted_apply(const std::string& task);

}  // namespace agentforge::kernel
