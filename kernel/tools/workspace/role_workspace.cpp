// SPDX-License-Identifier: Apache-2.0
#include "tools/workspace/role_workspace.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "tools/file_view.hpp"
#include "tools/text_edit.hpp"
#include "tools/workspace/opened_file.hpp"
#include "tools/workspace/workspace_errors.hpp"
#include "tools/workspace/workspace_state.hpp"

namespace agentforge::kernel {

RoleWorkspace::RoleWorkspace(std::unique_ptr<State> state) : state_(std::move(state)) {}
RoleWorkspace::~RoleWorkspace() = default;

Result<std::unique_ptr<RoleWorkspace>> RoleWorkspace::open(const std::string& root, RolePaths rules, const Redactor& redactor) {
    const auto refused = [&](std::string why, std::string remedy) {
        return Error{"AF-TOOL-030", "The workspace '" + root + "' cannot be opened: " + std::move(why) + ".", root,
                     std::move(remedy), ErrorKind::io};
    };
    auto state = std::make_unique<State>();
    state->root = FileDescriptor(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!state->root.valid()) {
        const int error = errno;
        struct stat status {};
        if (::lstat(root.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
            return refused("it is a symbolic link", "Give the folder itself.");
        }
        return refused(errno_text(error), "Check that the folder exists and can be read.");
    }
    if (!open_beneath(state->root.get(), ".", O_RDONLY | O_DIRECTORY).valid()) {
        return refused("openat2 failed: " + errno_text(errno),
                       "AgentForge needs Linux 5.6 or later, and a container that allows openat2.");
    }
    state->rules = std::move(rules);
    state->redactor = &redactor;
    return std::unique_ptr<RoleWorkspace>(new RoleWorkspace(std::move(state)));
}

Result<FileView> RoleWorkspace::read(std::string_view path, const ReadOptions& options) {
    AF_TRY(const auto normal, normalize_path(path));
    AF_TRY(const auto file, state_->open_file(normal));
    const auto size = static_cast<std::uint64_t>(file.status.st_size);
    if (size > max_whole_read_bytes && options.first_line <= 1 && options.last_line == 0) {
        return size_error(normal, size, max_whole_read_bytes, "Give a line range: first_line and last_line.");
    }
    AF_TRY(auto bytes, State::contents(file, normal));
    if (looks_binary(bytes)) { return binary_error(normal, bytes.size()); }
    const std::string hash = sha256(bytes);
    const std::uint64_t whole = bytes.size();
    // Redacts the whole text, so that no range cuts a secret in two.
    if (auto shown = state_->redactor->redacted(bytes)) { bytes = *std::move(shown); }
    AF_TRY(FileView view, view_of_lines(normal, bytes, options));
    view.sha256 = hash;
    view.size_bytes = whole;
    return view;
}

Result<Listing> RoleWorkspace::list(std::string_view directory, const ListOptions& options) {
    AF_TRY(const auto normal, normalize_path(directory));
    AF_TRY(const auto folder, state_->open_folder(normal, "list"));
    std::optional<PathRule> filter;
    if (!options.glob.empty()) { AF_TRY(filter, PathRule::parse(options.glob)); }
    Listing listing;
    const auto visit = [&](int parent, const FolderEntry& entry, const std::string& path) {
        const bool is_folder = S_ISDIR(entry.mode);
        if (filter && (is_folder || !filter->allows(path))) { return true; }
        if (listing.entries.size() >= options.limit) {
            listing.truncated = true;
            return false;
        }
        std::string shown = path;
        if (S_ISLNK(entry.mode)) {
            shown += " -> " + ellipsis(sanitize_utf8(link_target(parent, entry.name)), 200);
        } else if (!is_folder && !S_ISREG(entry.mode)) {
            shown += std::string(" (") + special_kind(entry.mode) + ")";
        }
        listing.entries.push_back({std::move(shown), is_folder, entry.size});
        return true;
    };
    AF_TRY(const bool all, state_->walk(folder.get(), normal == "." ? "" : normal, 0, options.recursive, visit));
    listing.truncated = listing.truncated || !all;
    return listing;
}

bool RoleWorkspace::exists(std::string_view path) {
    const auto normal = normalize_path(path);
    return normal.ok() && open_beneath(state_->root.get(), *normal, O_PATH).valid();
}

Result<Change> RoleWorkspace::create(std::string_view path, std::string_view content, bool overwrite) {
    AF_TRY(const auto normal, state_->writable(path));
    if (content.size() > max_file_bytes) { return size_error(normal, content.size(), max_file_bytes, "Write less."); }
    const auto [folder, name] = split_path(normal);
    AF_TRY(const auto parent, state_->make_folder(folder));
    struct stat old {};
    Change change;
    change.path = normal;
    if (::fstatat(parent.get(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT) { return file_system_error(normal, "write", errno); }
        AF_TRY(const std::string whole, state_->restored(content, {}, {}, normal));
        content = whole;
        change.after_sha256 = sha256(content);
        AF_CHECK(state_->replace(parent.get(), name, normal, content, nullptr));
        change.created = true;
        change.lines_added = count_lines(content);
        state_->record(change);
        return change;
    }
    if ((!overwrite && !state_->rules.created(normal)) || !S_ISREG(old.st_mode)) {
        return in_the_way_error(normal, old.st_mode, S_ISLNK(old.st_mode) ? link_target(parent.get(), name) : std::string());
    }
    AF_TRY(const auto file, state_->open_file(normal));
    AF_TRY(const auto before, State::contents(file, normal));
    AF_CHECK(state_->as_seen(normal, before));
    std::vector<Hidden> hidden;
    static_cast<void>(state_->redactor->redacted(before, &hidden));
    AF_TRY(const std::string whole, state_->restored(content, before, hidden, normal));
    content = whole;
    change.after_sha256 = sha256(content);
    AF_CHECK(state_->replace(parent.get(), name, normal, content, &file.status));
    change.before_sha256 = sha256(before);
    const auto counts = count_changes(before, content);
    change.lines_added = counts.added;
    change.lines_removed = counts.removed;
    state_->record(change);
    return change;
}

Result<Change> RoleWorkspace::edit(std::string_view path, std::string_view search, std::string_view replace) {
    AF_TRY(const auto normal, state_->writable(path));
    const auto [folder, name] = split_path(normal);
    AF_TRY(const auto file, state_->open_file(normal));
    AF_TRY(const auto before, State::contents(file, normal));
    if (looks_binary(before)) { return binary_error(normal, before.size()); }
    AF_CHECK(state_->as_seen(normal, before));
    std::vector<Hidden> hidden;
    const auto shown = state_->redactor->redacted(before, &hidden);
    AF_TRY(auto edit, replace_once(shown ? *shown : before, search, replace, normal));
    AF_TRY(edit.content, state_->restored(edit.content, before, hidden, normal));
    AF_TRY(const auto parent, state_->open_folder(folder, "open"));
    AF_CHECK(state_->replace(parent.get(), name, normal, edit.content, &file.status));
    Change change;
    change.path = normal;
    change.before_sha256 = sha256(before);
    change.after_sha256 = sha256(edit.content);
    const auto counts = count_changes(before, edit.content);
    change.lines_added = counts.added;
    change.lines_removed = counts.removed;
    state_->record(change);
    return change;
}

Result<Change> RoleWorkspace::move(std::string_view from, std::string_view to) {
    AF_TRY(const auto source, state_->writable(from));
    AF_TRY(const auto target, state_->writable(to));
    if (source == target) {
        return Error{"AF-TOOL-043", "'" + source + "' is already there; nothing would change.", source,
                     "Give another path to move it to.", ErrorKind::invalid};
    }
    AF_TRY(const auto file, state_->open_file(source));
    AF_TRY(const auto bytes, State::contents(file, source));
    AF_CHECK(state_->as_seen(source, bytes));
    const auto [source_folder, source_name] = split_path(source);
    const auto [target_folder, target_name] = split_path(target);
    AF_TRY(const auto source_parent, state_->open_folder(source_folder, "open"));
    AF_TRY(const auto target_parent, state_->make_folder(target_folder));
    struct stat now {};
    if (::fstatat(target_parent.get(), target_name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISLNK(now.st_mode)) { return link_error(target, target, link_target(target_parent.get(), target_name)); }
        if (S_ISDIR(now.st_mode)) {
            return Error{"AF-TOOL-034", "'" + target + "' is a folder.", target, "Give the new path with the file's name.",
                         ErrorKind::invalid};
        }
        return exists_error(target);
    }
    if (::fstatat(source_parent.get(), source_name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 || !same_file(now, file.status)) {
        return changed_error(source);
    }
    const int error = rename_new(source_parent.get(), source_name, target_parent.get(), target_name);
    if (error == EEXIST) { return exists_error(target); }
    if (error != 0) { return file_system_error(target, "move to", error); }
    const std::string hash = sha256(bytes);
    const auto lines = count_lines(bytes);
    Change gone;
    gone.path = source;
    gone.before_sha256 = hash;
    gone.lines_removed = lines;
    Change come;
    come.path = target;
    come.after_sha256 = hash;
    come.lines_added = lines;
    come.created = true;
    state_->record(gone);
    state_->record(come);
    return come;
}

Result<Change> RoleWorkspace::remove(std::string_view path) {
    AF_TRY(const auto normal, state_->writable(path));
    AF_TRY(const auto file, state_->open_file(normal));
    AF_TRY(const auto bytes, State::contents(file, normal));
    AF_CHECK(state_->as_seen(normal, bytes));
    const auto [folder, name] = split_path(normal);
    AF_TRY(const auto parent, state_->open_folder(folder, "open"));
    struct stat now {};
    if (::fstatat(parent.get(), name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 || !same_file(now, file.status)) {
        return changed_error(normal);
    }
    if (::unlinkat(parent.get(), name.c_str(), 0) != 0) { return file_system_error(normal, "delete", errno); }
    Change change;
    change.path = normal;
    change.before_sha256 = sha256(bytes);
    change.lines_removed = count_lines(bytes);
    state_->record(change);
    return change;
}

void RoleWorkspace::expect(std::map<std::string, std::string, std::less<>> seen) { state_->seen = std::move(seen); }
std::vector<Change> RoleWorkspace::take_changes() { return std::exchange(state_->changes, {}); }
void RoleWorkspace::allow_writes(bool allowed) noexcept { state_->writes_allowed = allowed; }

Result<void> RoleWorkspace::check_write(std::string_view path) const {
    AF_TRY(const auto normal, normalize_path(path));
    return state_->check_write(normal);
}

void RoleWorkspace::pin(std::vector<std::string> submodules) { state_->pinned = std::move(submodules); }
std::shared_ptr<const PathSymbols> RoleWorkspace::symbols() const { return state_->rules.symbols(); }

}  // namespace agentforge::kernel
