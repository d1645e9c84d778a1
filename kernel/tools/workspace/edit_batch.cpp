// SPDX-License-Identifier: Apache-2.0
// Edits of several files at once: all of them, or none.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <set>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "tools/hunks.hpp"
#include "tools/text_edit.hpp"
#include "tools/workspace/role_workspace.hpp"
#include "tools/workspace/workspace_errors.hpp"
#include "tools/workspace/workspace_state.hpp"

namespace agentforge::kernel {
namespace {

/// One file of `apply`, read and computed but not yet written.
struct Planned {
    FileEditKind kind = FileEditKind::change;
    std::string path;
    std::string target;  ///< Where the content goes: `path`, unless the file is moved.
    OpenFile file;
    std::string before;
    std::string after;
    std::vector<LineRange> regions;
    bool tolerant = false;
    bool rewrites = false;  ///< There is new content, not only a new path.
    FileDescriptor parent;
    FileDescriptor target_parent;
    std::string temporary;  ///< In `target_parent`: the new content, and after the exchange the old.

    [[nodiscard]] std::string name() const { return split_path(path).name; }
    [[nodiscard]] std::string target_name() const { return split_path(target).name; }
    [[nodiscard]] bool moves() const { return target != path; }
    [[nodiscard]] bool has_old() const { return kind != FileEditKind::create; }
    [[nodiscard]] bool has_new() const { return kind != FileEditKind::remove; }
};

/// Undoes what was done so far, in reverse order, unless it is kept.
class Undo {
public:
    Undo() = default;
    Undo(const Undo&) = delete;
    Undo& operator=(const Undo&) = delete;
    ~Undo() { run(); }
    void add(std::function<bool()> step) { steps_.push_back(std::move(step)); }
    /// Returns whether everything could be undone.
    bool run() {
        bool all = true;
        for (; !steps_.empty(); steps_.pop_back()) { all = steps_.back()() && all; }
        return all;
    }
    void keep() noexcept { steps_.clear(); }

private:
    std::vector<std::function<bool()>> steps_;
};

}  // namespace

/// One call of `apply`.
class RoleWorkspace::EditBatch {
public:
    EditBatch(State& state, const std::vector<FileEdit>& edits) : state_(state), edits_(edits), plans_(edits.size()) {}

    Result<std::vector<FileEdited>> apply();

private:
    Result<void> check_paths(const FileEdit& edit, Planned& plan);
    Result<void> check_named_once(const std::string& path);
    Result<void> compute_content(const FileEdit& edit, Planned& plan) const;
    Result<void> read_old(Planned& plan) const;
    Result<void> change_content(const FileEdit& edit, Planned& plan) const;
    Result<void> overwrite_content(const FileEdit& edit, Planned& plan) const;
    Result<void> check_target_is_free(const Planned& plan) const;
    Result<void> write_beside(Planned& plan);
    void remember_new_folders(const std::string& folder);
    Result<void> exchange(const Planned& plan);
    Error put_back(Error error);
    int put_in_place(const Planned& plan);
    int move_to_temporary(int parent, const std::string& name);
    int move_unchanged(const Planned& plan);
    int place_new_file(const Planned& plan);
    int replace_old_file(const Planned& plan);
    FileEdited record(Planned& plan);
    void record_move(const Planned& plan, const Change& change);

    State& state_;
    const std::vector<FileEdit>& edits_;
    std::vector<Planned> plans_;
    std::set<std::string> paths_;                         ///< Every path that an edit names.
    Undo undo_;                                           ///< Uses the open folders of `plans_`.
    std::vector<std::pair<int, std::string>> old_files_;  ///< Replaced and deleted files wait under temporary names.
};

Result<std::vector<FileEdited>> RoleWorkspace::EditBatch::apply() {
    // Checks every path before reading any file.
    for (std::size_t i = 0; i < edits_.size(); ++i) { AF_CHECK(check_paths(edits_[i], plans_[i])); }
    for (std::size_t i = 0; i < edits_.size(); ++i) { AF_CHECK(compute_content(edits_[i], plans_[i])); }
    for (Planned& plan : plans_) { AF_CHECK(write_beside(plan)); }
    for (const Planned& plan : plans_) { AF_CHECK(exchange(plan)); }
    undo_.keep();
    for (const auto& [parent, name] : old_files_) { ::unlinkat(parent, name.c_str(), 0); }
    std::vector<FileEdited> done;
    for (Planned& plan : plans_) { done.push_back(record(plan)); }
    return done;
}

Result<void> RoleWorkspace::EditBatch::check_paths(const FileEdit& edit, Planned& plan) {
    plan.kind = edit.kind;
    AF_TRY(plan.path, state_.writable(edit.path));
    AF_CHECK(check_named_once(plan.path));
    plan.target = plan.path;
    if (edit.move_to.empty()) { return {}; }
    AF_TRY(plan.target, state_.writable(edit.move_to));
    if (plan.kind != FileEditKind::change) {
        return Error{"AF-TOOL-042", "'" + plan.path + "' can only be moved together with a change. Nothing was changed.",
                     plan.path, "Leave out the move.", ErrorKind::invalid};
    }
    return plan.moves() ? check_named_once(plan.target) : Result<void>();
}

Result<void> RoleWorkspace::EditBatch::check_named_once(const std::string& path) {
    if (paths_.insert(path).second) { return {}; }
    return Error{"AF-TOOL-048", "'" + path + "' is named twice. Nothing was changed.", path,
                 "Put all changes of one file together.", ErrorKind::invalid};
}

Result<void> RoleWorkspace::EditBatch::compute_content(const FileEdit& edit, Planned& plan) const {
    if (plan.has_old()) { AF_CHECK(read_old(plan)); }
    if (plan.kind == FileEditKind::change) {
        AF_CHECK(change_content(edit, plan));
    } else if (plan.kind == FileEditKind::overwrite) {
        AF_CHECK(overwrite_content(edit, plan));
    } else if (plan.kind == FileEditKind::create) {
        AF_TRY(plan.after, state_.restored(edit.content, {}, {}, plan.path));
        plan.rewrites = true;
    }
    if (plan.after.size() > max_file_bytes) { return size_error(plan.target, plan.after.size(), max_file_bytes, "Write less."); }
    return plan.kind == FileEditKind::create || plan.moves() ? check_target_is_free(plan) : Result<void>();
}

Result<void> RoleWorkspace::EditBatch::read_old(Planned& plan) const {
    AF_TRY(plan.file, state_.open_file(plan.path));
    AF_TRY(plan.before, State::contents(plan.file, plan.path));
    if (plan.kind == FileEditKind::overwrite && state_.seen && !state_.seen->contains(plan.path)) {
        return Error{"AF-TOOL-047",
                     "'" + plan.path + "' would be overwritten completely, but you have not read it. Nothing was changed.",
                     plan.path, "Read it first, then repeat the edit.", ErrorKind::conflict};
    }
    return state_.as_seen(plan.path, plan.before);
}

Result<void> RoleWorkspace::EditBatch::change_content(const FileEdit& edit, Planned& plan) const {
    if (edit.hunks.empty() && !plan.moves()) {
        return Error{"AF-TOOL-042", "There is no change for '" + plan.path + "'. Nothing was changed.", plan.path,
                     "Give the change, or leave out the file.", ErrorKind::invalid};
    }
    plan.after = plan.before;
    if (edit.hunks.empty()) { return {}; }
    if (looks_binary(plan.before)) { return binary_error(plan.path, plan.before.size()); }
    std::vector<Hidden> hidden;
    const auto shown = state_.redactor->redacted(plan.before, &hidden);
    const std::string& view = shown ? *shown : plan.before;  // The text that the hunks were written for.
    AF_TRY(auto hunks, apply_hunks(view, edit.hunks, plan.path));
    AF_TRY(plan.after, state_.restored(hunks.content, plan.before, hidden, plan.path));
    plan.regions = std::move(hunks.regions);
    plan.tolerant = hunks.tolerant;
    plan.rewrites = true;
    return {};
}

Result<void> RoleWorkspace::EditBatch::overwrite_content(const FileEdit& edit, Planned& plan) const {
    if (looks_binary(plan.before)) { return binary_error(plan.path, plan.before.size()); }
    std::vector<Hidden> hidden;
    const auto shown = state_.redactor->redacted(plan.before, &hidden);
    const std::string& view = shown ? *shown : plan.before;
    AF_TRY(plan.after, state_.restored(in_the_form_of(view, edit.content), plan.before, hidden, plan.path));
    plan.rewrites = true;
    if (plan.after == plan.before) {
        return Error{"AF-TOOL-043", "'" + plan.path + "' has this content already.", plan.path,
                     "Go on: there is nothing to do here.", ErrorKind::invalid};
    }
    return {};
}

Result<void> RoleWorkspace::EditBatch::check_target_is_free(const Planned& plan) const {
    const auto there = open_beneath(state_.root.get(), plan.target, O_PATH | O_NOFOLLOW);
    struct stat status {};
    if (there.valid() && ::fstat(there.get(), &status) == 0) {
        return in_the_way_error(plan.target, status.st_mode,
                                S_ISLNK(status.st_mode) ? link_target(there.get(), "") : std::string());
    }
    if (errno != ENOENT) { return state_.open_error(plan.target, errno, "write"); }
    return {};
}

/// Writes the new content beside the file. Lack of space, missing permissions and similar errors show here.
Result<void> RoleWorkspace::EditBatch::write_beside(Planned& plan) {
    if (plan.has_new()) {
        const std::string folder = split_path(plan.target).parent;
        remember_new_folders(folder);
        AF_TRY(plan.target_parent, state_.make_folder(folder));
    }
    if (plan.has_old()) { AF_TRY(plan.parent, state_.open_folder(split_path(plan.path).parent, "open")); }
    if (!plan.rewrites) { return {}; }
    AF_TRY(plan.temporary,
           state_.write_sibling(plan.target_parent.get(), plan.target, plan.after, plan.has_old() ? &plan.file.status : nullptr));
    undo_.add([&plan] { return ::unlinkat(plan.target_parent.get(), plan.temporary.c_str(), 0) == 0 || errno == ENOENT; });
    return {};
}

/// Remembers, for the undo, which folders on the way do not exist yet.
void RoleWorkspace::EditBatch::remember_new_folders(const std::string& folder) {
    for (std::size_t end = folder.find('/');; end = folder.find('/', end + 1)) {
        const std::string prefix = folder.substr(0, end);
        if (!open_beneath(state_.root.get(), prefix, O_PATH | O_NOFOLLOW).valid() && errno == ENOENT) {
            undo_.add([this, prefix] {
                const auto [above, last] = split_path(prefix);
                const auto parent = open_beneath(state_.root.get(), above, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
                return !parent.valid() || ::unlinkat(parent.get(), last.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT ||
                       errno == ENOTEMPTY;
            });
        }
        if (end == std::string::npos) { break; }
    }
}

Result<void> RoleWorkspace::EditBatch::exchange(const Planned& plan) {
    if (plan.has_old()) {
        struct stat now {};
        if (::fstatat(plan.parent.get(), plan.name().c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 ||
            !same_file(now, plan.file.status)) {
            return put_back(changed_error(plan.path));
        }
    }
    const int error = put_in_place(plan);
    if (error == EEXIST) { return put_back(exists_error(plan.target)); }
    if (error != 0) { return put_back(file_system_error(plan.target, "write", error)); }
    return {};
}

/// Undoes all changes so far, and returns the error.
Error RoleWorkspace::EditBatch::put_back(Error error) {
    if (!undo_.run()) { error.message += " Some of the earlier changes could not be undone."; }
    return error;
}

/// Returns 0 or the system's error number. So do the functions that it calls.
int RoleWorkspace::EditBatch::put_in_place(const Planned& plan) {
    if (plan.kind == FileEditKind::remove) { return move_to_temporary(plan.parent.get(), plan.name()); }
    if (plan.moves() && !plan.rewrites) { return move_unchanged(plan); }
    if (plan.moves() || plan.kind == FileEditKind::create) { return place_new_file(plan); }
    return replace_old_file(plan);
}

int RoleWorkspace::EditBatch::move_to_temporary(int parent, const std::string& name) {
    std::string moved_to = state_.temporary_name();
    if (const int error = rename_new(parent, name, parent, moved_to); error != 0) { return error; }
    undo_.add([parent, name, moved_to] { return rename_new(parent, moved_to, parent, name) == 0; });
    old_files_.emplace_back(parent, std::move(moved_to));
    return 0;
}

int RoleWorkspace::EditBatch::move_unchanged(const Planned& plan) {
    const int parent = plan.parent.get();
    const int target_parent = plan.target_parent.get();
    const int error = rename_new(parent, plan.name(), target_parent, plan.target_name());
    if (error != 0) { return error; }
    undo_.add([parent, name = plan.name(), target_parent, target_name = plan.target_name()] {
        return rename_new(target_parent, target_name, parent, name) == 0;
    });
    return 0;
}

int RoleWorkspace::EditBatch::place_new_file(const Planned& plan) {
    const int target_parent = plan.target_parent.get();
    const int error = rename_new(target_parent, plan.temporary, target_parent, plan.target_name());
    if (error != 0) { return error; }
    undo_.add(
        [target_parent, target_name = plan.target_name()] { return ::unlinkat(target_parent, target_name.c_str(), 0) == 0; });
    return plan.moves() ? move_to_temporary(plan.parent.get(), plan.name()) : 0;
}

int RoleWorkspace::EditBatch::replace_old_file(const Planned& plan) {
    const int parent = plan.parent.get();
    const std::string name = plan.name();
    if (::renameat2(parent, plan.temporary.c_str(), parent, name.c_str(), RENAME_EXCHANGE) == 0) {
        undo_.add([parent, name, temporary = plan.temporary] {
            return ::renameat2(parent, temporary.c_str(), parent, name.c_str(), RENAME_EXCHANGE) == 0;
        });
        old_files_.emplace_back(parent, plan.temporary);
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) { return errno; }
    // The file system lacks RENAME_EXCHANGE.
    if (const int error = move_to_temporary(parent, name); error != 0) { return error; }
    if (const int error = rename_new(parent, plan.temporary, parent, name); error != 0) { return error; }
    undo_.add([parent, name] { return ::unlinkat(parent, name.c_str(), 0) == 0; });
    return 0;
}

FileEdited RoleWorkspace::EditBatch::record(Planned& plan) {
    FileEdited edited;
    Change& change = edited.change;
    change.path = plan.target;
    if (plan.has_old()) { change.before_sha256 = sha256(plan.before); }
    if (plan.has_new()) { change.after_sha256 = sha256(plan.after); }
    const auto counts = count_changes(plan.before, plan.after);
    change.lines_added = counts.added;
    change.lines_removed = counts.removed;
    change.created = plan.kind == FileEditKind::create;
    edited.regions = std::move(plan.regions);
    edited.tolerant = plan.tolerant;
    if (plan.moves()) {
        edited.moved_from = plan.path;
        record_move(plan, change);
    } else {
        state_.record(change);
    }
    return edited;
}

void RoleWorkspace::EditBatch::record_move(const Planned& plan, const Change& change) {
    Change gone;
    gone.path = plan.path;
    gone.before_sha256 = change.before_sha256;
    gone.lines_removed = count_lines(plan.before);
    state_.record(gone);
    Change come;
    come.path = plan.target;
    come.after_sha256 = change.after_sha256;
    come.lines_added = count_lines(plan.after);
    come.created = true;
    state_.record(come);
}

Result<std::vector<FileEdited>> RoleWorkspace::apply(const std::vector<FileEdit>& edits) {
    if (edits.empty()) {
        return Error{"AF-TOOL-042", "There is no edit to apply.", {}, "Name at least one file.", ErrorKind::invalid};
    }
    return EditBatch(*state_, edits).apply();
}

}  // namespace agentforge::kernel
