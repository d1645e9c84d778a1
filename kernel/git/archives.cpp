// SPDX-License-Identifier: Apache-2.0
#include "git/archives.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <set>

#include "base/files.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "git/bulk_objects.hpp"
#include "git/durable.hpp"
#include "git/library.hpp"
#include "git/objects.hpp"
#include "git/tree_edit.hpp"

namespace agentforge::kernel {

using namespace git;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view archive_refs = "refs/agentforge/archive/";
constexpr std::string_view archived_blobs = "task/artifacts/blobs/";
/// Larger files are streamed, each as its own object: the journal, and contents that grow with a task.
constexpr std::uint64_t largest_packed = 64ULL << 10U;
constexpr std::uint64_t largest_journal = 4ULL << 30U;
/// Approximate memory for a pack of the smaller files. While it is written, it is in memory three times.
constexpr std::size_t packed_at_once = 1UL << 20U;

std::string archive_ref(std::string_view task_id) { return std::string(archive_refs) + std::string(task_id); }

/// Returns the tree that a ref points to, or empty. Refs point to trees, not commits, so that `git log --all` shows only the
/// user's history.
TreeHandle archived_tree(git_repository* repository, const std::string& ref) {
    git_oid id{};
    git_tree* raw = nullptr;
    if (git_reference_name_to_id(&id, repository, ref.c_str()) < 0 || git_tree_lookup(&raw, repository, &id) < 0) {
        return nullptr;
    }
    return TreeHandle(raw);
}

/// Returns a task's files with their names in the archive: `task/…`, `escalations/…`.
Result<std::vector<std::pair<std::string, fs::path>>> files_of_task(std::string_view task_id, const fs::path& folder,
                                                                    const fs::path& escalations) {
    std::vector<std::pair<std::string, fs::path>> files;
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().lexically_relative(folder).string();
        if (!it->is_regular_file(error) || it->is_symlink(error) || name.front() == '.' || name == "lock" ||
            name == "abort.request" || name == "pause.request" || name == "plugin_call" ||
            name.starts_with("artifacts/.restoring-") || is_unfinished(name)) {
            continue;
        }
        files.emplace_back("task/" + name, it->path());
    }
    if (error) {
        return Error{"AF-GIT-054", "cannot read the task's folder: " + error.message(), folder.string(),
                     "check that it is readable", ErrorKind::io};
    }
    // Folders in there belong to handlers.
    for (fs::directory_iterator it(escalations, error), end; !error && it != end; it.increment(error)) {
        if (!it->is_regular_file(error) || it->is_symlink(error) ||
            !is_question_of_task(it->path().filename().string(), task_id)) {
            continue;
        }
        files.emplace_back("escalations/" + it->path().lexically_relative(escalations).string(), it->path());
    }
    return files;
}

Error not_archived(const fs::path& file, const std::string& why) {
    return Error{"AF-GIT-054", "cannot archive the task: " + why, file.string(), "check that it is readable", ErrorKind::io};
}

/// Records a large file without loading it into memory. Leaves nothing behind if it is already recorded.
Result<git_oid> stream_file(git_repository* repository, const fs::path& file, int descriptor, std::uint64_t size) {
    git_odb* raw_store = nullptr;
    if (const int code = git_repository_odb(&raw_store, repository); code < 0) {
        return failure(code, "archive " + file.string());
    }
    const OdbHandle store(raw_store);
    git_odb_stream* raw = nullptr;
    if (const int code = git_odb_open_wstream(&raw, raw_store, size, GIT_OBJECT_BLOB); code < 0) {
        return failure(code, "archive " + file.string());
    }
    const OdbStreamHandle stream(raw);
    std::array<char, 32UL << 10U> bytes;
    std::uint64_t total = 0;
    while (true) {
        const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) { continue; }
        if (count < 0) { return not_archived(file, std::generic_category().message(errno)); }
        total += static_cast<std::uint64_t>(count);
        if (total > size || (count == 0 && total < size)) { return not_archived(file, "it changed meanwhile"); }
        if (count == 0) { break; }
        if (const int code = git_odb_stream_write(raw, bytes.data(), static_cast<std::size_t>(count)); code < 0) {
            return failure(code, "archive " + file.string());
        }
    }
    git_oid id{};
    if (const int code = git_odb_stream_finalize_write(&id, raw); code < 0) { return failure(code, "archive " + file.string()); }
    return id;
}

Result<git_oid> archive_file(git_repository* repository, BulkObjects& objects, const fs::path& file) {
    const FileDescriptor in(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat st {};
    if (!in.valid() || ::fstat(in.get(), &st) != 0) { return not_archived(file, std::generic_category().message(errno)); }
    if (const auto size = static_cast<std::uint64_t>(st.st_size); size > largest_packed) {
        return stream_file(repository, file, in.get(), size);
    }
    const auto bytes = read_file(file, largest_packed);
    if (!bytes.ok()) { return not_archived(file, bytes.error().message); }
    return objects.add_blob(*bytes);
}

struct ArchiveFolder {
    std::map<std::string, git_oid> files;
    std::map<std::string, ArchiveFolder> folders;
};

/// Returns the folder that a file of the archive belongs into, created if missing, and the file's name in it.
std::pair<ArchiveFolder*, std::string> folder_of_file(ArchiveFolder& root, const std::string& path) {
    ArchiveFolder* folder = &root;
    std::size_t begin = 0;
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', begin)) {
        folder = &folder->folders[path.substr(begin, slash - begin)];
        begin = slash + 1;
    }
    return {folder, path.substr(begin)};
}

/// Returns its tree in git's form: entries sorted by name, where a folder's name sorts as if it ended in a slash.
Result<git_oid> add_archive_folder(BulkObjects& objects, const ArchiveFolder& folder) {
    std::map<std::string, std::string> entries;
    const auto entry = [](std::string_view mode, const std::string& name, const git_oid& id) {
        std::string bytes(mode);
        bytes += name;
        bytes += '\0';
        return bytes.append(reinterpret_cast<const char*>(id.id), GIT_OID_RAWSZ);
    };
    for (const auto& [name, id] : folder.files) { entries[name] = entry("100644 ", name, id); }
    for (const auto& [name, below] : folder.folders) {
        AF_TRY(const git_oid id, add_archive_folder(objects, below));
        entries[name + "/"] = entry("40000 ", name, id);
    }
    std::string bytes;
    for (const auto& [key, text] : entries) { bytes += text; }
    return objects.add_tree(bytes);
}

/// Adds the blobs of an archive to folders that lack them: a task whose blobs were freed keeps them in its archive.
void add_archived_blobs(git_repository* repository, const TreeHandle& before, ArchiveFolder& root) {
    if (!before) { return; }
    const auto add = [&](const std::string& path, const TreeEntry& entry) {
        if (!path.starts_with(archived_blobs) || entry.mode != GIT_FILEMODE_BLOB) { return; }
        const auto [folder, name] = folder_of_file(root, path);
        folder->files.emplace(name, entry.id);
    };
    static_cast<void>(
        for_each_file(repository, *git_tree_id(before.get()), add).ok());  // An archive that cannot be read has nothing to lose.
}

/// Returns the size of the archived journal; nothing if there is no archive, or none that can be read.
std::optional<std::uint64_t> archived_journal_bytes(git_repository* repository, git_odb* store, std::string_view task_id) {
    const TreeHandle tree = archived_tree(repository, archive_ref(task_id));
    git_tree_entry* raw = nullptr;
    if (!tree || git_tree_entry_bypath(&raw, tree.get(), "task/actions.yaml") < 0) { return std::nullopt; }
    const TreeEntryHandle entry(raw);
    std::size_t bytes = 0;
    git_object_t type = GIT_OBJECT_INVALID;
    if (git_odb_read_header(&bytes, &type, store, git_tree_entry_id(raw)) < 0) { return std::nullopt; }
    return bytes;
}

/// Reads `state.yaml` of an archive. Does nothing if it cannot be read.
void read_archived_state(git_repository* repository, const TreeHandle& tree, ArchivedTask& task) {
    git_tree_entry* raw_entry = nullptr;
    if (!tree || git_tree_entry_bypath(&raw_entry, tree.get(), "task/state.yaml") < 0) { return; }
    const TreeEntryHandle entry(raw_entry);
    git_blob* raw_blob = nullptr;
    if (git_blob_lookup(&raw_blob, repository, git_tree_entry_id(raw_entry)) < 0) { return; }
    const BlobHandle blob(raw_blob);
    const auto state = parse_json(
        {static_cast<const char*>(git_blob_rawcontent(raw_blob)), static_cast<std::size_t>(git_blob_rawsize(raw_blob))},
        "state.yaml");
    if (!state.ok() || !state->is_object()) { return; }
    const auto text = [&](std::string_view key) {
        const json::value* value = state->get_object().if_contains(key);
        return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
    };
    task.status = text("status");
    task.request = first_line(text("request"));
    task.updated_at = text("updated_at");
}

/// Checks that the journal in the folder continues the archived one: an archive never loses records.
Result<void> check_journal_continues(git_repository* repository, const TreeHandle& archive, const fs::path& journal,
                                     std::string_view task_id) {
    git_tree_entry* raw_entry = nullptr;
    if (!archive || git_tree_entry_bypath(&raw_entry, archive.get(), "task/actions.yaml") < 0) { return {}; }
    const TreeEntryHandle entry(raw_entry);
    git_blob* raw = nullptr;
    if (git_blob_lookup(&raw, repository, git_tree_entry_id(raw_entry)) < 0) { return {}; }  // It cannot be read any more.
    const BlobHandle blob(raw);
    const std::string_view archived(static_cast<const char*>(git_blob_rawcontent(raw)),
                                    static_cast<std::size_t>(git_blob_rawsize(raw)));
    const auto now = read_file(journal, largest_journal);
    if (!now.ok()) { return not_archived(journal, now.error().message); }
    if (now->starts_with(archived)) { return {}; }
    return Error{"AF-GIT-069", "the journal of task " + std::string(task_id) + " lacks records that its archive has",
                 journal.string(),
                 "the archive stays as it was; to get it back, move the task's folder away, then `agentforge archive restore " +
                     short_id(task_id) + "`",
                 ErrorKind::conflict};
}

}  // namespace

Result<void> archive_task(const fs::path& repository, std::string_view task_id, const fs::path& folder,
                          const fs::path& escalations) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(const auto files, files_of_task(task_id, folder, escalations));
    BulkObjects objects(handle.get(), packed_at_once);
    ArchiveFolder root;
    for (const auto& [name, file] : files) {
        const auto [folder_in_archive, file_name] = folder_of_file(root, name);
        AF_TRY(folder_in_archive->files[file_name], archive_file(handle.get(), objects, file));
    }
    const std::string ref = archive_ref(task_id);
    const TreeHandle before = archived_tree(handle.get(), ref);
    AF_CHECK(check_journal_continues(handle.get(), before, folder / "actions.yaml", task_id));
    add_archived_blobs(handle.get(), before, root);
    AF_TRY(const git_oid tree_id, add_archive_folder(objects, root));
    AF_CHECK(objects.flush());
    AF_CHECK(sync_object_folders(handle.get()));
    if (before && git_oid_equal(git_tree_id(before.get()), &tree_id) != 0) { return {}; }
    const int code = retry_while_locked(
        [&] {
            git_reference* made = nullptr;
            const int result = git_reference_create(&made, handle.get(), ref.c_str(), &tree_id, 1, nullptr);
            git_reference_free(made);
            return result;
        },
        lock_of(handle.get(), ref));
    if (code < 0) { return failure(code, "write " + ref); }
    return sync_ref_folders(handle.get(), ref);
}

Result<void> check_continues_archive(const fs::path& repository, std::string_view task_id, const fs::path& folder) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    return check_journal_continues(handle.get(), archived_tree(handle.get(), archive_ref(task_id)), folder / "actions.yaml",
                                   task_id);
}

Result<std::vector<std::string>> without_archive(const fs::path& repository, const std::vector<JournalSize>& journals) {
    std::vector<std::string> tasks;
    if (journals.empty()) { return tasks; }
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    git_odb* raw = nullptr;
    if (const int code = git_repository_odb(&raw, handle.get()); code < 0) { return failure(code, "open the objects"); }
    const OdbHandle store(raw);
    for (const JournalSize& journal : journals) {
        if (archived_journal_bytes(handle.get(), raw, journal.task_id).value_or(0) < journal.bytes) {
            tasks.push_back(journal.task_id);
        }
    }
    return tasks;
}

Result<std::vector<ArchivedTask>> archived_tasks(const fs::path& repository) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    git_reference_iterator* raw = nullptr;
    if (const int code = git_reference_iterator_glob_new(&raw, handle.get(), "refs/agentforge/archive/*"); code < 0) {
        return failure(code, "list refs");
    }
    const ReferenceIteratorHandle iterator(raw);
    std::vector<ArchivedTask> tasks;
    const char* name = nullptr;
    int code = 0;
    while ((code = git_reference_next_name(&name, raw)) == 0) {
        ArchivedTask task;
        task.task_id = std::string_view(name).substr(archive_refs.size());
        read_archived_state(handle.get(), archived_tree(handle.get(), name), task);
        tasks.push_back(std::move(task));
    }
    if (code != GIT_ITEROVER) { return failure(code, "list refs"); }
    std::sort(tasks.begin(), tasks.end(), [](const ArchivedTask& a, const ArchivedTask& b) { return a.task_id < b.task_id; });
    return tasks;
}

Result<std::string> archived_task(const fs::path& repository, std::string_view name) {
    if (name.starts_with(archive_refs)) { name.remove_prefix(archive_refs.size()); }
    if (name.empty()) { return std::string(); }
    AF_TRY(const auto tasks, archived_tasks(repository));
    std::vector<std::string> ids;
    for (const ArchivedTask& task : tasks) { ids.push_back(task.task_id); }
    const std::vector<std::string> found = ids_named(ids, name);
    return found.size() == 1 ? found.front() : std::string();
}

namespace {

constexpr std::string_view questions = "escalations/";

/// True for `escalations/KIND-<task id>-….yaml`. A question of another task must not come with this one's archive, and neither
/// must a file for a folder beside the questions: such folders belong to handlers. Older versions archived `.told`.
bool is_question_of(std::string_view path, std::string_view task_id) {
    if (!path.starts_with(questions)) { return false; }
    path.remove_prefix(questions.size());
    constexpr std::string_view notified = ".told/";
    if (path.starts_with(notified)) { path.remove_prefix(notified.size()); }
    return path.find('/') == std::string_view::npos && is_question_of_task(path, task_id);
}

/// True for files with which processes communicate. No archive has them, because they would act on the restored task.
bool is_request_to_process(std::string_view path) {
    return path == "task/lock" || path == "task/abort.request" || path == "task/plugin_call";
}

using ArchivedFiles = std::vector<std::pair<std::string, TreeEntry>>;

Result<ArchivedFiles> files_of_archive(git_repository* repository, const TreeHandle& tree, std::string_view task_id) {
    ArchivedFiles files;
    AF_CHECK(for_each_file(repository, *git_tree_id(tree.get()),
                           [&](std::string path, const TreeEntry& entry) { files.emplace_back(std::move(path), entry); }));
    std::set<std::string_view> seen;
    for (const auto& [path, entry] : files) {
        if (!seen.insert(path).second) {
            return Error{"AF-GIT-057", "the archive holds `" + sanitize_utf8(path) + "` twice", archive_ref(task_id),
                         "AgentForge did not create it; nothing was restored", ErrorKind::corrupt};
        }
        const bool is_known = (path.starts_with("task/") && !is_request_to_process(path)) || is_question_of(path, task_id);
        if (!is_recordable_path(path) || !is_known || entry.mode != GIT_FILEMODE_BLOB) {
            return Error{"AF-GIT-057", "the archive holds `" + sanitize_utf8(path) + "`, which no task's folder has",
                         archive_ref(task_id), "AgentForge did not create it; nothing was restored", ErrorKind::corrupt};
        }
    }
    return files;
}

Result<BlobHandle> archived_blob(git_repository* repository, const std::string& path, const TreeEntry& entry) {
    git_blob* raw = nullptr;
    if (const int code = git_blob_lookup(&raw, repository, &entry.id); code < 0) {
        Error error = failure(code, "read the archived " + path);
        if (is_partial_clone(git_repository_workdir(repository))) {
            error.remedy = "This is a partial clone, which lacks objects of the archive. Clone without --filter.";
        }
        return error;
    }
    return BlobHandle(raw);
}

std::string_view bytes_of(const BlobHandle& blob) {
    return {static_cast<const char*>(git_blob_rawcontent(blob.get())), static_cast<std::size_t>(git_blob_rawsize(blob.get()))};
}

/// Writes the archived files below `from` into `folder`. Leaves existing files as they are: one is newer or the same.
Result<void> write_archived(git_repository* repository, const ArchivedFiles& files, std::string_view from,
                            const fs::path& folder) {
    for (const auto& [path, entry] : files) {
        const bool is_request = path == "task/pause.request";  // Older archives may have it.
        if (!path.starts_with(from) || is_request) { continue; }
        AF_TRY(const BlobHandle blob, archived_blob(repository, path, entry));
        const fs::path file = folder / path.substr(from.size());
        AF_CHECK(make_directories(file.parent_path()));
        const auto written = create_file_exclusive(file, bytes_of(blob), Durability::synced);
        if (!written.ok() && written.error().kind != ErrorKind::conflict) { return written.error(); }
    }
    return {};
}

/// Writes the archived files below `from` to a folder beside `place`, then moves that folder to `place`.
Result<void> restore_folder(git_repository* repository, const ArchivedFiles& files, std::string_view from,
                            const fs::path& place) {
    const fs::path half = place.parent_path() / (".restoring-" + place.filename().string());
    std::error_code error;
    fs::remove_all(half, error);
    AF_CHECK(make_directories(half));
    if (auto written = write_archived(repository, files, from, half); !written.ok()) {
        fs::remove_all(half, error);
        return written;
    }
    fs::rename(half, place, error);
    if (error) {
        return Error{"AF-GIT-056", "cannot move the task's folder into place: " + error.message(), place.string(),
                     "check that the folder is writable", ErrorKind::io};
    }
    return sync_directory(place.parent_path());
}

/// Returns the files of a task's folder, other than its blobs, that are missing or differ from the archive. A journal may have
/// grown since; `state.yaml` and other files that the program rewrites follow it.
Result<std::vector<std::string>> different_files(git_repository* repository, const ArchivedFiles& files, const fs::path& place) {
    constexpr std::string_view from = "task/";
    constexpr std::array written_anew{"state.yaml", "working_memory.yaml", "detached.log", "pause.request"};
    std::vector<std::string> different;
    for (const auto& [path, entry] : files) {
        if (!path.starts_with(from) || path.starts_with(archived_blobs)) { continue; }
        const std::string name = path.substr(from.size());
        if (std::ranges::find(written_anew, name) != written_anew.end()) { continue; }
        AF_TRY(const BlobHandle blob, archived_blob(repository, path, entry));
        const std::string_view archived = bytes_of(blob);
        const auto here = read_file(place / name, 4ULL << 30U);
        const bool grows = name == "actions.yaml" || name.starts_with("history/");
        const bool same = here.ok() && (grows ? here->starts_with(archived) : *here == archived);
        if (!same) { different.push_back(name); }
    }
    return different;
}

fs::path blobs_folder(const fs::path& tasks, std::string_view task_id) {
    return tasks / task_id / fs::path(archived_blobs).lexically_relative("task").parent_path();
}

/// True if the folder of a task is missing, or its blobs are.
bool lacks_blobs(const fs::path& tasks, std::string_view task_id) {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(tasks / task_id, error))) { return true; }
    const fs::path blobs = blobs_folder(tasks, task_id);
    return !fs::exists(fs::symlink_status(blobs / "blobs.yaml", error)) && fs::is_directory(blobs.parent_path(), error);
}

bool lacks_questions(const ArchivedFiles& files, const fs::path& escalations) {
    return std::ranges::any_of(files, [&](const auto& file) {
        std::error_code error;
        const bool is_in_folder = file.first.find('/', questions.size()) != std::string::npos;  // Older archives have these.
        return file.first.starts_with(questions) && !is_in_folder &&
               !fs::exists(fs::symlink_status(escalations / file.first.substr(questions.size()), error));
    });
}

}  // namespace

Result<std::vector<std::string>> restore_task(const fs::path& repository, std::string_view task_id, const fs::path& tasks,
                                              const fs::path& escalations) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    const TreeHandle tree = archived_tree(handle.get(), archive_ref(task_id));
    if (!tree) {
        return Error{"AF-GIT-055", "the repository has no archive of task " + std::string(task_id), archive_ref(task_id),
                     "`agentforge archive list` lists all archives", ErrorKind::not_found};
    }
    AF_TRY(const ArchivedFiles files, files_of_archive(handle.get(), tree, task_id));
    const fs::path place = tasks / task_id;
    AF_CHECK(make_directories(tasks));
    const FileDescriptor one_at_a_time(::open(tasks.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (one_at_a_time.get() >= 0) { ::flock(one_at_a_time.get(), LOCK_EX); }
    const bool wants_blobs = lacks_blobs(tasks, task_id);
    if (!wants_blobs && !lacks_questions(files, escalations)) {
        return Error{"AF-GIT-056",
                     "task " + std::string(task_id) + " has its folder, blobs and questions, so nothing was restored",
                     place.string(), "to restore its other files, move its folder away first", ErrorKind::conflict};
    }
    std::error_code error;
    AF_CHECK(write_archived(handle.get(), files, questions, escalations));
    if (!fs::exists(fs::symlink_status(place, error))) {
        AF_CHECK(restore_folder(handle.get(), files, "task/", place));
        return std::vector<std::string>();
    }
    if (!wants_blobs) { return different_files(handle.get(), files, place); }
    const fs::path blobs = blobs_folder(tasks, task_id);
    if (!fs::exists(fs::symlink_status(blobs, error))) {
        AF_CHECK(restore_folder(handle.get(), files, archived_blobs, blobs));
    } else {
        AF_CHECK(write_archived(handle.get(), files, archived_blobs, blobs));  // Only files of the folder are gone.
        AF_CHECK(sync_directory(blobs));
    }
    return different_files(handle.get(), files, place);
}

}  // namespace agentforge::kernel
