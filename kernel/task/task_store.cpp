// SPDX-License-Identifier: Apache-2.0
#include "task/task_store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ids.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "records/records.hpp"
#include "task/journal_fold.hpp"
#include "task/projected_end.hpp"
#include "task/projected_state.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr YamlLimits artifact_limits{64UL << 20U, 4'000'000, 200};
constexpr std::string_view unfinished_prefix = ".new-";   ///< Prefix of a folder that is being created.
constexpr std::string_view removed_prefix = ".removed-";  ///< Prefix of a folder that is being deleted.

Error not_a_task_id(std::string_view task_id) {
    return Error{"AF-TASK-006", "'" + ellipsis(task_id, 80) + "' is not a task id", "",
                 "Ids look like task-20260102-add-login-1f2e3d4c; `agentforge status` lists them.", ErrorKind::invalid};
}

struct Entry {
    std::string name;
    bool is_folder = false;  ///< False for a link to a folder, too.
};

/// Returns the entries of the folder, without dot files.
Result<std::vector<Entry>> entries_of(const fs::path& folder) {
    std::vector<Entry> entries;
    const auto unreadable = [&](int error) {
        return Error{"AF-TASK-007", "Cannot read the folder of the tasks: " + errno_text(error), folder.string(),
                     "Check the folder's permissions.", ErrorKind::io};
    };
    DIR* const directory = ::opendir(folder.c_str());
    if (directory == nullptr) {
        if (errno == ENOENT) { return entries; }
        return unreadable(errno);
    }
    const auto is_folder = [directory](const dirent& entry) {
        if (entry.d_type != DT_UNKNOWN) { return entry.d_type == DT_DIR; }
        struct stat status {};
        return ::fstatat(::dirfd(directory), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
    };
    struct stat folder_status {};
    if (::fstat(::dirfd(directory), &folder_status) == 0) {
        entries.reserve(std::min<std::size_t>(folder_status.st_nlink, 100'000));  // Most file systems count the folders there.
    }
    errno = 0;
    for (;;) {
        const dirent* const entry = ::readdir(directory);
        if (entry == nullptr) { break; }
        if (entry->d_name[0] != '.') { entries.push_back({entry->d_name, is_folder(*entry)}); }
        errno = 0;
    }
    const int error = errno;
    ::closedir(directory);
    if (error != 0) { return unreadable(error); }
    return entries;
}

}  // namespace

TaskStore::TaskStore(fs::path agentforge_directory, Durability durability)
    : root_(std::move(agentforge_directory) / "tasks"), durability_(durability) {}

TaskPaths TaskStore::paths(std::string_view task_id) const {
    return TaskPaths{root_ / (is_task_id(task_id) ? std::string(task_id) : safe_file_name(task_id))};
}

namespace {

Error task_exists(std::string_view task_id, const TaskPaths& target) {
    return Error{"AF-TASK-001", "The task '" + std::string(task_id) + "' already exists", target.root.string(),
                 "Resume it, or start again to get another id.", ErrorKind::conflict};
}

/// Writes a new task's folders and files, and syncs them.
Result<void> fill_task_folder(const TaskPaths& made, std::string_view task_id, const json::object& task) {
    std::error_code ignored;
    fs::permissions(
        made.root,
        fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec,
        ignored);
    for (const fs::path& folder : {made.inputs(), made.artifacts() / "phases", made.snapshots(), made.blobs()}) {
        AF_CHECK(make_directories(folder));
    }
    AF_CHECK(write_file_atomic(made.task(), to_yaml(task), Durability::synced));
    json::object request{{"task_id", task_id}, {"original_request", text_of(task, "request")}};
    json::object state{{"task_id", task_id}, {"request", text_of(task, "request")}, {"status", "pending"}};
    if (const std::string created = text_of(task, "created_at"); !created.empty()) {
        request.emplace("received_at", created);
        state.emplace("created_at", created);
        state.emplace("updated_at", created);
    }
    if (const std::string pipeline = text_of(task, "pipeline"); !pipeline.empty()) { state.emplace("pipeline", pipeline); }
    AF_CHECK(write_file_atomic(made.inputs() / "original_request.yaml", to_yaml(request), Durability::synced));
    AF_CHECK(write_file_atomic(made.state(), to_json_pretty(state),
                               Durability::synced));  // Distinguishes a task that never began from one whose journal is lost.
    AF_CHECK(sync_directory(made.artifacts()));
    return sync_directory(made.root);
}

/// Gives a filled folder the task's name, unless that is taken.
Result<void> rename_task_folder(const TaskPaths& made, const TaskPaths& target, std::string_view task_id) {
    if (::renameat2(AT_FDCWD, made.root.c_str(), AT_FDCWD, target.root.c_str(), RENAME_NOREPLACE) == 0) { return {}; }
    int error = errno;
    // Without RENAME_NOREPLACE: rename never replaces a non-empty folder, and a task's folder is never empty.
    if (error == EINVAL || error == ENOSYS) { error = ::rename(made.root.c_str(), target.root.c_str()) == 0 ? 0 : errno; }
    if (error == 0) { return {}; }
    if (error == EEXIST || error == ENOTEMPTY) { return task_exists(task_id, target); }
    return Error{"AF-TASK-007", "Cannot rename the task's folder: " + errno_text(error), target.root.string(),
                 "Check the folder's permissions.", ErrorKind::io};
}

}  // namespace

Result<TaskPaths> TaskStore::create(std::string_view task_id, const json::object& task) {
    if (!is_task_id(task_id)) { return not_a_task_id(task_id); }
    const TaskPaths target = paths(task_id);
    std::error_code ignored;
    if (fs::exists(target.root, ignored)) { return task_exists(task_id, target); }
    AF_CHECK(make_directories(root_));

    remove_abandoned();
    std::string name = (root_ / (std::string(unfinished_prefix) + std::to_string(::getpid()) + "-XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) {
        return Error{"AF-TASK-007", "Cannot create the task's folder: " + errno_text(errno), root_.string(),
                     "Check the folder's permissions.", ErrorKind::io};
    }
    const TaskPaths made{fs::path(name)};
    Result<void> done = fill_task_folder(made, task_id, task);
    if (done.ok()) { done = rename_task_folder(made, target, task_id); }
    if (!done.ok()) {
        fs::remove_all(made.root, ignored);
        return std::move(done).error();
    }
    AF_CHECK(sync_directory(root_));
    return target;
}

namespace {

/// Returns the error for a task that does not exist, with the nearest id, or for one without its description.
Error no_such_task(const fs::path& root, std::string_view task_id) {
    std::error_code ignored;
    if (is_task_id(task_id) && fs::is_directory(root / task_id, ignored)) {
        return Error{
            "AF-TASK-004", "The task '" + std::string(task_id) + "' has no `task.yaml`", (root / task_id / "task.yaml").string(),
            "Restore the file from a backup, or end the task with `agentforge abort`. `agentforge inspect` shows its journal.",
            ErrorKind::corrupt};
    }
    std::string remedy = "`agentforge status` lists the tasks.";
    if (const auto entries = entries_of(root); entries.ok()) {
        std::vector<std::string> names;
        for (const Entry& entry : *entries) { names.push_back(entry.name); }
        if (const std::string near = nearest(task_id, names); !near.empty()) { remedy = "Did you mean '" + near + "'?"; }
    }
    return Error{"AF-TASK-002", "There is no task '" + ellipsis(task_id, 200) + "'", root.string(), remedy, ErrorKind::not_found};
}

}  // namespace

Result<void> check_names(std::string_view task_id, std::string_view named, const fs::path& file) {
    if (named == task_id) { return {}; }
    const std::string whose = named.empty() ? "names no task" : "is of the task '" + ellipsis(named, 80) + "'";
    return Error{"AF-TASK-015",
                 "'" + file.filename().string() + "' " + whose + ", but its folder belongs to '" + std::string(task_id) + "'",
                 file.string(),
                 "Remove the folder if it is a copy, or rename it back if it was renamed; otherwise restore the right file.",
                 ErrorKind::corrupt};
}

namespace {

/// Returns the task that the records belong to: that of their last fork, else the one that was created.
std::string named_by(const std::vector<Record>& records) {
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
        if (const auto forked = records::as<records::Forked>(*record)) { return forked->task_id; }
        if (const auto created = records::as<records::TaskCreated>(*record)) { return created->task_id; }
    }
    return {};
}

/// True if the records are those of a task's creation, without some of the imports that it announces.
bool lacks_imports(const std::vector<Record>& records) {
    const auto created = records.empty() ? std::nullopt : records::as<records::TaskCreated>(records.front());
    if (!created || !created->imports) { return false; }
    const auto is_import = [](const Record& record) { return record.type() == records::ExternalArtifactImported::type; };
    return records.size() <= created->imports->size() && std::ranges::all_of(records.begin() + 1, records.end(), is_import);
}

}  // namespace

bool TaskStore::is_only_a_request(std::string_view task_id) const {
    // A truncated journal is another case: then the state names the last record.
    const auto state = load_state(task_id);
    const bool has_begun = state.ok() && state->contains("hash") && !state->contains("imports_due");
    return state.ok() && text_of(*state, "status") == "pending" && !has_begun && load(task_id).ok();
}

bool TaskStore::never_began(std::string_view task_id) const {
    if (!is_task_id(task_id)) { return false; }
    const TaskPaths place = paths(task_id);
    if (TaskLock::holder(place) || !is_only_a_request(task_id)) { return false; }
    bool forked = false;
    std::vector<Record> found;
    const auto header = [&](const json::object& fields) -> Result<void> {
        forked = fields.contains("forked_from");
        return {};
    };
    const auto record = [&](Record one) -> Result<void> {
        found.push_back(std::move(one));
        return {};
    };
    if (const auto read = Journal::read(place.journal(), JournalVisitor{.header = header, .record = record}); !read.ok()) {
        return read.error().kind == ErrorKind::not_found;
    }
    // A fork's journal reads as its parent's until its own first record.
    return found.empty() || (forked && named_by(found) != task_id) || lacks_imports(found);
}

std::optional<Error> TaskStore::damage(std::string_view task_id, const Result<void>& read) const {
    if (never_began(task_id)) { return std::nullopt; }
    const bool is_empty = read.ok() || read.error().kind == ErrorKind::not_found;
    if (is_empty && TaskLock::holder(paths(task_id))) {
        if (is_only_a_request(task_id)) { return std::nullopt; }
        // Its process may have written the first record since it was read.
        const auto now = records(task_id);
        if (now.ok() && !now->empty()) { return std::nullopt; }
    }
    return read.ok() ? no_records(task_id, paths(task_id)) : read.error();
}

Result<TaskFolders> TaskStore::folders() const {
    AF_TRY(std::vector<Entry> entries, entries_of(root_));
    TaskFolders found;
    found.ids.reserve(entries.size());
    for (Entry& entry : entries) {
        if (entry.is_folder && is_task_id(entry.name)) {
            found.ids.push_back(std::move(entry.name));
        } else {
            found.problems.push_back(not_a_tasks_folder(root_ / entry.name));
        }
    }
    return found;
}

Result<void> TaskStore::check_began(std::string_view task_id) const {
    // Nearly always the file names the task on a separate line. Then it is not parsed: parsing takes as long as everything else.
    const auto text = read_file(paths(task_id).task(), artifact_limits.max_bytes);
    const bool names_it = text.ok() && text->find("\ntask_id: \"" + std::string(task_id) + "\"\n") != std::string::npos;
    if (!names_it) {
        const auto described = load(task_id);
        if (!described.ok() && described.error().code == "AF-TASK-015") { return described.error(); }
    }
    if (never_began(task_id)) {
        const bool is_fork = text.ok() && text->find("\nforked_from:") != std::string::npos;
        return Error{"AF-TASK-016",
                     "The task '" + std::string(task_id) + "' never began: its process ended before it could start",
                     paths(task_id).root.string(),
                     "`agentforge abort " + short_id(task_id) + "` removes it; then " +
                         (is_fork ? "repeat `agentforge fork`." : "start the request again."),
                     ErrorKind::not_found};
    }
    return {};
}

Result<std::vector<Record>> TaskStore::records(std::string_view task_id, Recovery* recovery) const {
    AF_CHECK(check_began(task_id));
    const fs::path journal = paths(task_id).journal();
    const ProjectedEnd projected(paths(task_id));
    std::vector<Record> found;
    std::string owner;
    JournalVisitor visitor;
    visitor.header = [&owner](const json::object& header) -> Result<void> {
        owner = text_of(header, "task_id");
        return {};
    };
    visitor.record = [&found](Record record) -> Result<void> {
        found.push_back(std::move(record));
        return {};
    };
    visitor.end = [&](const JournalHead& end) { return projected.check(end, owner); };
    AF_TRY(Recovery recovered, Journal::read(journal, visitor));
    if (recovery != nullptr) { *recovery = std::move(recovered); }
    if (!found.empty() && found.front().type() == records::TaskCreated::type) {
        AF_CHECK(check_names(task_id, named_by(found), journal));
    }
    return found;
}

Result<TaskState> TaskStore::state(std::string_view task_id) const {
    AF_CHECK(check_began(task_id));
    const fs::path journal = paths(task_id).journal();
    AF_TRY(TaskState state, fold_journal(journal));
    if (!state.task_id.empty()) { AF_CHECK(check_names(task_id, state.task_id, journal)); }
    return state;
}

Result<json::object> TaskStore::load(std::string_view task_id) const {
    if (!is_task_id(task_id)) { return not_a_task_id(task_id); }
    const fs::path path = paths(task_id).task();
    auto document = load_yaml(path.string(), artifact_limits);
    if (!document.ok()) {
        if (document.error().kind == ErrorKind::not_found) { return no_such_task(root_, task_id); }
        return std::move(document).error();
    }
    if (!document->value.is_object()) {
        return Error{"AF-TASK-004", "The task's file does not contain a map", path.string(), "Restore the file from a backup.",
                     ErrorKind::corrupt};
    }
    if (const auto* format = document->value.get_object().if_contains("format"); format != nullptr && *format != 1) {
        return Error{"AF-CONF-060",
                     "The task's file is of format " + ellipsis(json::serialize(*format), 40) +
                         ", but this version of agentforge supports only format 1",
                     document->where("/format"),
                     "Use the version of agentforge that wrote it, or a newer one; nothing was changed.", ErrorKind::unavailable};
    }
    AF_CHECK(check_names(task_id, text_of(document->value.get_object(), "task_id"), path));
    return std::move(document->value.get_object());
}

Result<void> TaskStore::save_state(std::string_view task_id, std::string_view text, Durability durability) const {
    if (!is_task_id(task_id)) { return not_a_task_id(task_id); }
    const TaskPaths place = paths(task_id);
    auto written = write_file_atomic(place.state(), text, durability);
    std::error_code ignored;
    if (!written.ok() && !fs::exists(place.root, ignored)) { return no_such_task(root_, task_id); }
    return written;
}

Result<json::object> TaskStore::load_state(std::string_view task_id) const {
    if (!is_task_id(task_id)) { return not_a_task_id(task_id); }
    const TaskPaths place = paths(task_id);
    auto state = read_state(place.state());
    if (!state.ok() && state.error().kind == ErrorKind::not_found) {
        std::error_code ignored;
        if (!fs::exists(place.root, ignored)) { return no_such_task(root_, task_id); }
        return Error{"AF-TASK-004", "The task has no state", place.state().string(),
                     "Resume the task: this rebuilds the state from the journal.", ErrorKind::corrupt};
    }
    if (state.ok() && text_of(*state, "task_id") != task_id) {
        return state_of_another(place, task_id, text_of(*state, "task_id"));
    }
    return state;
}

TaskSummary summary_of(const TaskState& state) {
    return {state.task_id,
            state.request,
            std::string(to_string(state.status)),
            state.pipeline.name,
            state.stages.empty() ? std::string() : state.stage().name,
            state.created_at,
            state.updated_at,
            std::string(state.waiting_for())};
}

Error no_records(std::string_view task_id, const TaskPaths& paths) {
    return Error{"AF-TASK-014",
                 "task " + std::string(task_id) + " was never completely created, or its journal was truncated: it has no record",
                 paths.journal().string(), "restore the journal from a backup, or remove this folder and start again",
                 ErrorKind::corrupt};
}

Error not_a_tasks_folder(const fs::path& entry) {
    const std::string name = sanitize_utf8(entry.filename().string());
    return Error{"AF-TASK-009",
                 "'" + ellipsis(name, 80) + "' is not a task's folder" + (is_task_id(name) ? " but a link or a file" : ""),
                 sanitize_utf8(entry.string()), "Move it away; only tasks belong here.", ErrorKind::invalid};
}

Result<std::string> TaskStore::resolve(std::string_view abbreviation) const {
    AF_TRY(const std::vector<Entry> entries, entries_of(root_));
    if (!abbreviation.empty() && abbreviation.size() < shortest_task_name) {
        return Error{"AF-TASK-002", "'" + ellipsis(abbreviation, 80) + "' is too short to name a task", root_.string(),
                     "Give at least " + std::to_string(shortest_task_name) +
                         " characters of the id that `agentforge status` shows, from its beginning or from its end.",
                     ErrorKind::not_found};
    }
    std::vector<std::string> folders;
    std::vector<std::string> others;
    for (const Entry& entry : entries) {
        if (is_task_id(entry.name)) { (entry.is_folder ? folders : others).push_back(entry.name); }
    }
    std::vector<std::string> found = ids_named(folders, abbreviation);
    if (found.size() == 1) { return found.front(); }
    if (found.empty()) {
        const std::vector<std::string> links = ids_named(others, abbreviation);
        return links.empty() ? no_such_task(root_, abbreviation) : not_a_tasks_folder(root_ / links.back());
    }
    std::sort(found.begin(), found.end());
    std::string candidates;
    for (std::size_t i = 0; i < found.size() && i < 10; ++i) { candidates += (i == 0 ? "" : ", ") + found[i]; }
    if (found.size() > 10) { candidates += " and " + std::to_string(found.size() - 10) + " more"; }
    return Error{"AF-TASK-020",
                 "'" + ellipsis(abbreviation, 80) + "' may be any of " + std::to_string(found.size()) + " tasks: " + candidates,
                 root_.string(), "Give more of the id.", ErrorKind::conflict};
}

std::size_t TaskStore::active_count() const {
    const auto listing = list({}, 0, 1);
    if (!listing.ok()) { return 0; }
    const auto& tasks = listing->tasks;
    return static_cast<std::size_t>(std::count_if(tasks.begin(), tasks.end(), [&](const TaskSummary& task) {
        return !has_ended(task) && !(task.status == "pending" && never_began(task.task_id));
    }));
}

Result<void> TaskStore::remove(std::string_view task_id) {
    if (!is_task_id(task_id)) { return not_a_task_id(task_id); }
    const TaskPaths place = paths(task_id);
    std::error_code error;
    if (!fs::is_directory(place.root, error)) { return no_such_task(root_, task_id); }
    AF_TRY(const TaskLock lock, TaskLock::acquire(place, "remove", ""));
    // Renamed first, so that no process finds half a task.
    const fs::path away = place_of_removed(task_id);
    fs::rename(place.root, away, error);
    if (!error) { fs::remove_all(away, error); }
    if (error) {
        return Error{"AF-TASK-007", "Cannot remove the task's folder: " + error.message(), place.root.string(),
                     "Check the folder's permissions.", ErrorKind::io};
    }
    return sync_directory(root_);
}

Result<bool> TaskStore::remove_if_never_began(std::string_view task_id) {
    if (!never_began(task_id)) { return false; }
    AF_CHECK(remove(task_id));
    return true;
}

fs::path TaskStore::place_of_removed(std::string_view task_id) const {
    return root_ / (std::string(removed_prefix) + std::to_string(::getpid()) + "-" + std::string(task_id));
}

void TaskStore::remove_abandoned() const {
    std::error_code error;
    std::vector<fs::path> found;
    for (fs::directory_iterator at(root_, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (is_abandoned(name, unfinished_prefix) || is_abandoned(name, removed_prefix)) { found.push_back(at->path()); }
    }
    for (const fs::path& each : found) { fs::remove_all(each, error); }
}

Result<void> save_artifact(const fs::path& path, const json::object& artifact_with_envelope) {
    AF_CHECK(make_directories(path.parent_path()));
    return write_file_atomic(path, to_yaml(artifact_with_envelope), Durability::synced);
}

Result<json::object> load_artifact(const fs::path& path) {
    AF_TRY(YamlDocument document, load_yaml(path.string(), artifact_limits));
    if (!document.value.is_object()) {
        return Error{"AF-TASK-005", "The artifact is not a map", path.string(),
                     "Run the stage that makes it again, or correct the file.", ErrorKind::corrupt};
    }
    return std::move(document.value.get_object());
}

}  // namespace agentforge::kernel
