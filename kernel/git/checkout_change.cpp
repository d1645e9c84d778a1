// SPDX-License-Identifier: Apache-2.0
#include "git/checkout_change.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

#include <agentforge/json.hpp>

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_bytes = 8ULL << 30U;
const std::string missing = "missing";

Error failed(const std::string& what, const fs::path& where, const std::string& why) {
    return apply_failed(what + ": " + why, where,
                        "Free some space there or correct its permissions, then run `agentforge apply` again.");
}

fs::path intent_of(const fs::path& folder) { return folder / "change.json"; }

/// Describes the file at a path: its kind, whether it is executable, and its bytes. Equal texts mean equal files. A folder is no
/// file.
Result<std::string> fingerprint(const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) { return missing; }
        return failed("Cannot inspect a file", path, errno_text(errno));
    }
    if (S_ISLNK(status.st_mode)) {
        std::error_code error;
        const fs::path target = fs::read_symlink(path, error);
        if (error) { return failed("Cannot read a link", path, error.message()); }
        return "link " + target.string();
    }
    if (S_ISDIR(status.st_mode)) { return missing; }
    if (!S_ISREG(status.st_mode)) { return std::string("other"); }
    AF_TRY(const std::string bytes, read_file(path, most_bytes));
    return std::string((status.st_mode & S_IXUSR) != 0 ? "program " : "file ") + sha256(bytes);
}

Result<void> copy_entry(const fs::path& from, const fs::path& to) {
    struct stat status {};
    if (::lstat(from.c_str(), &status) != 0 || (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))) { return {}; }
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    if (!error) { fs::copy(from, to, fs::copy_options::copy_symlinks, error); }
    if (error) { return failed("Cannot copy a file", from, error.message()); }
    return {};
}

/// Replaces the file at `place` by a hard link to the copy, so that the copy stays. `link`: a free name for it meanwhile. Moves
/// the copy where links do not work.
void put_in_place(const fs::path& copy, const fs::path& link, const fs::path& place, std::error_code& error) {
    std::error_code cannot_link;
    fs::remove(link, cannot_link);
    // Not fs::create_hard_link: the copy may itself be a symbolic link.
    const bool linked = ::linkat(AT_FDCWD, copy.c_str(), AT_FDCWD, link.c_str(), 0) == 0;
    fs::rename(linked ? link : copy, place, error);
}

bool is_folder(const fs::path& path) {
    std::error_code error;
    return fs::symlink_status(path, error).type() == fs::file_type::directory;
}

/// Removes folders that the change has emptied, as git does, but never the checkout itself.
void remove_empty_parents(const fs::path& root, fs::path relative) {
    for (relative = relative.parent_path(); !relative.empty(); relative = relative.parent_path()) {
        std::error_code error;
        if (!fs::remove(root / relative, error) || error) { return; }
    }
}

}  // namespace

Result<CheckoutChange> CheckoutChange::hold(fs::path root, fs::path folder) {
    AF_CHECK(make_directories(folder));
    // The project's .gitignore may be older than this folder.
    if (const auto ignored = create_file_exclusive(folder / ".gitignore", "*\n", Durability::cached);
        !ignored.ok() && ignored.error().kind != ErrorKind::conflict) {
        return ignored.error();
    }
    const fs::path name = folder / "lock";
    FileDescriptor lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock.valid()) { return failed("Cannot create a lock", name, errno_text(errno)); }
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        return Error{"AF-GIT-061", "another process is changing this checkout", folder.string(),
                     "Wait until it has ended, then retry.", ErrorKind::conflict};
    }
    return CheckoutChange(std::move(root), std::move(folder), std::move(lock));
}

void CheckoutChange::discard() const {
    std::error_code ignored;  // The next change removes leftovers.
    fs::remove(intent_of(folder_), ignored);
    static_cast<void>(sync_directory(folder_));
    fs::remove_all(folder_ / "files", ignored);
    fs::remove(folder_ / "next", ignored);
}

Result<CheckoutChange> CheckoutChange::prepare(fs::path root, fs::path folder, std::string task, std::vector<std::string> paths) {
    AF_TRY(CheckoutChange change, hold(std::move(root), std::move(folder)));
    if (fs::exists(intent_of(change.folder_))) {
        return apply_unfinished(unfinished(change.folder_).value_or(UnfinishedChange()), change.folder_);
    }
    change.discard();
    change.task_ = std::move(task);
    AF_CHECK(make_directories(change.copies()));
    std::set<fs::path> attributes;
    for (std::string& path : paths) {
        for (fs::path above = fs::path(path).parent_path();; above = above.parent_path()) {
            attributes.insert(above / ".gitattributes");
            if (above.empty()) { break; }
        }
        AF_TRY(std::string before, fingerprint(change.root_ / path));
        if (const auto copied = copy_entry(change.root_ / path, change.copies() / path); !copied.ok()) {
            change.discard();
            return copied.error();
        }
        change.entries_.push_back({std::move(path), std::move(before), {}});
    }
    for (const fs::path& file : attributes) {
        if (fs::exists(fs::symlink_status(change.copies() / file))) { continue; }
        if (const auto copied = copy_entry(change.root_ / file, change.copies() / file); !copied.ok()) {
            change.discard();
            return copied.error();
        }
    }
    return change;
}

Result<void> CheckoutChange::seal(std::string index_patch) {
    const auto sealed = [&]() -> Result<void> {
        json::array files;
        std::set<fs::path> folders;
        for (Entry& entry : entries_) {
            const fs::path copy = copies() / entry.path;
            AF_TRY(entry.after, fingerprint(copy));
            if (entry.after != missing) { AF_CHECK(sync_file(copy)); }
            folders.insert(copy.parent_path());
            files.push_back(json::object{{"path", entry.path}, {"before", entry.before}, {"after", entry.after}});
        }
        for (const fs::path& each : folders) {
            if (is_folder(each)) { AF_CHECK(sync_directory(each)); }
        }
        index_patch_ = std::move(index_patch);
        const json::object intent{{"agentforge_change", 1},
                                  {"task", task_},
                                  {"undo", undoes_},
                                  {"index_patch", index_patch_},
                                  {"files", std::move(files)}};
        return write_file_atomic(intent_of(folder_), json::serialize(intent), Durability::synced, 0600);
    }();
    if (!sealed.ok()) {
        discard();
        return failed("Cannot record the change", folder_, sealed.error().message);
    }
    return {};
}

std::optional<UnfinishedChange> CheckoutChange::unfinished(const fs::path& folder) {
    const auto text = read_file(intent_of(folder), most_bytes);
    if (!text.ok()) { return std::nullopt; }
    const auto intent = parse_json(*text, intent_of(folder).string());
    if (!intent.ok() || !intent->is_object()) { return UnfinishedChange(); }
    const json::value* undo = intent->get_object().if_contains("undo");
    return UnfinishedChange{.task = text_of(intent->get_object(), "task"),
                            .undoes = undo != nullptr && *undo == json::value(true)};
}

Result<std::optional<CheckoutChange>> CheckoutChange::find(fs::path root, fs::path folder) {
    std::error_code error;
    if (!fs::exists(folder, error)) { return std::optional<CheckoutChange>(); }
    AF_TRY(CheckoutChange change, hold(std::move(root), std::move(folder)));
    if (!fs::exists(intent_of(change.folder_), error)) {
        change.discard();
        return std::optional<CheckoutChange>();
    }
    const fs::path file = intent_of(change.folder_);
    const Error unreadable{"AF-GIT-062", "cannot read the record of an interrupted `apply`", file.string(),
                           "Compare your checkout with `agentforge diff`, then remove this file.", ErrorKind::corrupt};
    AF_TRY(const std::string text, read_file(file, most_bytes));
    const auto intent = parse_json(text, file.string());
    if (!intent.ok() || !intent->is_object()) { return unreadable; }
    const auto text_in = [](const json::object& object, std::string_view key) -> std::optional<std::string> {
        const json::value* value = object.if_contains(key);
        if (value == nullptr || !value->is_string()) { return std::nullopt; }
        return std::string(value->get_string());
    };
    const auto task = text_in(intent->get_object(), "task");
    const auto index_patch = text_in(intent->get_object(), "index_patch");
    const json::value* files = intent->get_object().if_contains("files");
    if (!task || !index_patch || files == nullptr || !files->is_array()) { return unreadable; }
    change.task_ = *task;
    const json::value* undo = intent->get_object().if_contains("undo");
    change.undoes_ = undo != nullptr && undo->is_bool() && undo->get_bool();
    change.index_patch_ = *index_patch;
    for (const json::value& each : files->get_array()) {
        if (!each.is_object()) { return unreadable; }
        const auto path = text_in(each.get_object(), "path");
        const auto before = text_in(each.get_object(), "before");
        const auto after = text_in(each.get_object(), "after");
        if (!path || !before || !after) { return unreadable; }
        change.entries_.push_back({*path, *before, *after});
    }
    return std::optional<CheckoutChange>(std::move(change));
}

std::vector<std::string> CheckoutChange::paths() const {
    std::vector<std::string> changed;
    for (const Entry& entry : entries_) {
        if (entry.after != entry.before) { changed.push_back(entry.path); }
    }
    return changed;
}

Result<bool> CheckoutChange::is_begun() const {
    for (const Entry& entry : entries_) {
        if (entry.after == entry.before) { continue; }
        AF_TRY(const std::string now, fingerprint(root_ / entry.path));
        if (now == entry.after) { return true; }
    }
    return false;
}

namespace {

/// Adds the folders of a file, up to the checkout's. Any of them may have been made, or be removed.
void add_folders_of(const fs::path& place, const fs::path& root, std::set<fs::path>& folders) {
    for (fs::path folder = place.parent_path(); folder != root && folder.has_relative_path(); folder = folder.parent_path()) {
        folders.insert(folder);
    }
    folders.insert(root);
}

}  // namespace

Result<std::vector<std::string>> CheckoutChange::install(const std::function<bool()>& put) {
    std::vector<std::string> edited;
    std::set<fs::path> folders;
    // Removals come first: a folder may take the place of a file.
    for (const bool removals : {true, false}) {
        for (const Entry& entry : entries_) {
            if ((entry.after == missing) != removals || entry.after == entry.before) { continue; }
            const fs::path place = root_ / entry.path;
            AF_TRY(const std::string now, fingerprint(place));
            add_folders_of(place, root_, folders);
            if (now == entry.after) { continue; }  // A killed process may have put it in place without syncing its folder.
            // A link to the copy is put in place, so the copy still exists if a person restores the file and the change is put in
            // place again. The copy is useless if a program has written into the file in place, or if it was moved because links
            // do not work here.
            if (now != entry.before || (!removals && !is_whole(entry))) {
                edited.push_back(entry.path);
                continue;
            }
            std::error_code error;
            if (removals) {
                fs::remove(place, error);
                if (error) { return failed("Cannot remove a file", place, error.message()); }
                remove_empty_parents(root_, entry.path);
            } else {
                if (is_folder(place) && !fs::remove(place, error)) {  // It has files that are not in the change.
                    edited.push_back(entry.path);
                    continue;
                }
                fs::create_directories(place.parent_path(), error);
                if (error == std::errc::not_a_directory || error == std::errc::file_exists) {  // A kept file is in the way.
                    edited.push_back(entry.path);
                    continue;
                }
                if (!error) { put_in_place(copies() / entry.path, folder_ / "next", place, error); }
                if (error) { return failed("Cannot move a file into place", place, error.message()); }
            }
            if (put && !put()) { return edited; }
        }
    }
    for (const fs::path& each : folders) {
        if (is_folder(each)) { AF_CHECK(sync_directory(each)); }
    }
    return edited;
}

bool CheckoutChange::is_whole(const Entry& entry) const {
    const auto copy = fingerprint(copies() / entry.path);
    return copy.ok() && *copy == entry.after;
}

Result<fs::path> CheckoutChange::finish(const std::vector<std::string>& kept) {
    fs::path left;
    if (!kept.empty()) {
        left = folder_ / ("left-" + task_);
        std::error_code error;
        fs::remove_all(left, error);
        for (const Entry& entry : entries_) {
            if (std::ranges::find(kept, entry.path) == kept.end() || !is_whole(entry)) { continue; }
            AF_CHECK(copy_entry(copies() / entry.path, left / entry.path));
        }
        if (!fs::exists(left, error)) { left.clear(); }
    }
    discard();
    return left;
}

Error apply_failed(std::string what, const fs::path& where, std::string remedy) {
    return {"AF-GIT-060", std::move(what), where.string(), std::move(remedy), ErrorKind::io};
}

std::string UnfinishedChange::description() const {
    return "the change of task " + short_id(task) + (undoes ? " was only partly removed from" : " was only partly applied to") +
           " the checkout: its process ended";
}

std::string UnfinishedChange::remedy() const {
    return std::string("`agentforge ") + (undoes ? "undo " : "apply ") + short_id(task) + "` finishes it";
}

Error apply_unfinished(const UnfinishedChange& change, const fs::path& where) {
    return {"AF-GIT-061", change.description(), where.string(), change.remedy() + ".", ErrorKind::conflict};
}

}  // namespace agentforge::kernel
