// SPDX-License-Identifier: Apache-2.0
#include "pipeline/garbage.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/ids.hpp"
#include "git/archives.hpp"
#include "git/merges.hpp"
#include "git/objects.hpp"
#include "git/tree_bytes.hpp"
#include "git/worktree.hpp"
#include "pipeline/delivery/drift.hpp"
#include "pipeline/task_session.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t disk_block = 512;

std::uint64_t bytes_on_disk(const fs::path& path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0 && found.st_nlink > 0 ? static_cast<std::uint64_t>(found.st_blocks) * disk_block
                                                                    : 0;
}

/// Counts a folder with its contents. Does not count a file that has another hard link.
std::uint64_t bytes_below(const fs::path& folder) {
    std::uint64_t bytes = bytes_on_disk(folder);
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
         !error && it != end; it.increment(error)) {
        struct stat found {};
        if (::lstat(it->path().c_str(), &found) == 0 && (found.st_nlink == 1 || S_ISDIR(found.st_mode))) {
            bytes += static_cast<std::uint64_t>(found.st_blocks) * disk_block;
        }
    }
    return bytes;
}

fs::path worktrees_of(const GarbagePlace& place) {
    return fs::path(place.state_directory) / "worktrees" / sha256(place.repository.git_directory().string()).substr(0, 12);
}

std::string refs_of_task(const std::string& task) { return "refs/agentforge/" + task + "/"; }

/// True if the task cannot continue. A failed task can be resumed.
bool is_over(const TaskState& state) { return state.status == TaskStatus::completed || state.status == TaskStatus::aborted; }

/// Returns the other tasks whose records the journal continues. For a fork that is being created, the task that its task.yaml
/// names.
Result<std::vector<std::string>> ancestors_of(const TaskStore& tasks_of_project, const std::string& task) {
    const auto read = Journal::files(tasks_of_project.paths(task).journal());
    std::vector<std::string> tasks;
    if (!read.ok()) {
        if (read.error().kind != ErrorKind::not_found) { return read.error(); }
        const auto given = tasks_of_project.load(task);
        const json::value* const origin = given.ok() ? given->if_contains("forked_from") : nullptr;
        const json::value* const parent =
            origin != nullptr && origin->is_object() ? origin->get_object().if_contains("task") : nullptr;
        if (parent != nullptr && parent->is_string()) { tasks.emplace_back(parent->get_string()); }
        return tasks;
    }
    const std::vector<JournalFile>& files = *read;
    for (std::size_t index = 1; index < files.size(); ++index) { tasks.push_back(files[index].path.stem().string()); }
    return tasks;
}

/// Returns why the change of an ended task exists only in its trees, or empty if it exists elsewhere.
Result<std::string> only_place_of_change(const Repository& repository, const TaskState& state) {
    if (state.status == TaskStatus::aborted) { return std::string(); }
    if (state.commit.empty()) {
        AF_TRY(const auto base,
               refs_below(repository.work_directory(), "refs/agentforge/" + ref_of_uncommitted_base(state.task_id)));
        if (!base.empty()) { return std::string("the uncommitted changes that it began with are on no branch"); }
    }
    if (state.tree == state.base_tree) { return std::string(); }
    if (state.commit.empty()) { return std::string("its change is on no branch"); }
    AF_TRY(const auto branch, repository.branch_commit(state.branch));
    if (!branch) { return "the branch " + state.branch + " is gone, so its change is nowhere else"; }
    const auto distance = branch_distance(repository.work_directory(), state.commit, *branch);
    const bool holds_it = distance.ok() && distance->behind == 0;
    return holds_it ? std::string() : "the branch " + state.branch + " no longer holds its commit";
}

/// Returns the tree of the tests before the change, which `rebase` measures again. Empty once HEAD has the change.
std::string tree_for_rebase(const Repository& repository, const TaskState& state) {
    if (state.commit.empty()) { return {}; }
    if (const auto head = repository.head_commit(); head.ok()) {
        const auto distance = branch_distance(repository.work_directory(), state.commit, *head);
        if (distance.ok() && distance->behind == 0) { return {}; }
    }
    return delivery_base(state).red_tree;
}

/// The current facts that decide what may be removed.
struct Needs {
    std::map<std::string, TaskState> ended;
    std::map<std::string, std::string> forks;        ///< A task, and the fork that may continue it.
    std::map<std::string, std::string> young_forks;  ///< A task, and the ended fork that is too young to lose its trees.
    std::set<std::string> open;                      ///< Tasks that can continue, or that cannot be read.
    std::vector<Error> problems;
};

bool is_too_young(const TaskState& state, const GarbagePolicy& policy) {
    const auto last = parse_time(state.updated_at);
    return !last.ok() || *last >= policy.before;
}

Result<Needs> needs_of(const GarbagePlace& place, const GarbagePolicy& policy) {
    AF_TRY(const TaskListing listing, place.tasks.list());
    Needs needs{{}, {}, {}, {}, listing.problems};
    for (const TaskSummary& task : listing.tasks) {
        const bool may_be_over = task.status == to_string(TaskStatus::completed) || task.status == to_string(TaskStatus::aborted);
        if (may_be_over) {
            auto state = read_task_state(place.tasks, task.task_id);
            if (!state.ok()) { needs.problems.push_back(state.error()); }
            if (state.ok() && is_over(*state)) {
                const auto ancestors = ancestors_of(place.tasks, task.task_id);
                if (ancestors.ok() && is_too_young(*state, policy)) {
                    for (const std::string& ancestor : *ancestors) { needs.young_forks.emplace(ancestor, task.task_id); }
                }
                needs.ended.emplace(task.task_id, std::move(*state));
                continue;
            }
        }
        needs.open.insert(task.task_id);
        const auto ancestors = ancestors_of(place.tasks, task.task_id);
        if (!ancestors.ok()) {
            needs.problems.push_back(ancestors.error());
            continue;
        }
        for (const std::string& ancestor : *ancestors) { needs.forks.emplace(ancestor, task.task_id); }
    }
    return needs;
}

/// True if a task that can continue is a fork of this one. Assumes it of a task that cannot be read.
Result<bool> has_open_fork(const GarbagePlace& place, const std::string& parent) {
    AF_TRY(const TaskListing listing, place.tasks.list());
    for (const TaskSummary& task : listing.tasks) {
        if (task.task_id == parent || task.status == to_string(TaskStatus::completed) ||
            task.status == to_string(TaskStatus::aborted)) {
            continue;
        }
        const auto ancestors = ancestors_of(place.tasks, task.task_id);
        if (!ancestors.ok() || std::ranges::find(*ancestors, parent) != ancestors->end()) { return true; }
    }
    return false;
}

/// Returns why everything of a task is kept, or empty if it may be removed.
std::string why_kept(const GarbagePlace& place, const GarbagePolicy& policy, const Needs& needs, const std::string& task,
                     const TaskState& state) {
    if (TaskLock::holder(place.tasks.paths(task))) { return "a process is running it"; }
    if (const auto fork = needs.forks.find(task); fork != needs.forks.end()) {
        return "the task " + fork->second + ", forked from it, may continue";
    }
    if (is_too_young(state, policy)) { return "it is too young"; }
    if (const auto fork = needs.young_forks.find(task); fork != needs.young_forks.end()) {
        return "the task " + fork->second + ", forked from it, is too young";
    }
    return {};
}

/// Returns the blobs of a task that are also in its archive.
std::optional<Garbage> blobs_of(const GarbagePlace& place, const std::string& task) {
    const fs::path folder = place.tasks.paths(task).blobs();
    std::error_code error;
    if (!fs::is_directory(folder, error)) { return std::nullopt; }
    const std::uint64_t bytes = bytes_below(folder);
    return bytes == 0 ? std::nullopt : std::optional(Garbage{GarbageKind::blobs, task, folder.string(), 1, bytes});
}

Result<bool> is_archived(const GarbagePlace& place, const std::string& task) {
    AF_TRY(const auto refs, refs_below(place.repository.work_directory(), "refs/agentforge/archive/" + task));
    return std::ranges::any_of(refs, [&](const RefTarget& ref) { return ref.name == "refs/agentforge/archive/" + task; });
}

Result<void> find_in_task(const GarbagePlace& place, const GarbagePolicy& policy, const Needs& needs, const std::string& task,
                          const TaskState& state, GarbagePlan& plan) {
    AF_TRY(auto refs, refs_below(place.repository.work_directory(), refs_of_task(task)));
    const auto blobs = policy.blobs ? blobs_of(place, task) : std::nullopt;
    if (refs.empty() && !blobs) { return {}; }
    std::string why = why_kept(place, policy, needs, task, state);
    if (why.empty()) { AF_TRY(why, only_place_of_change(place.repository, state)); }
    if (!why.empty()) {
        plan.kept.push_back({task, std::move(why)});
        return {};
    }
    const std::string needed = tree_for_rebase(place.repository, state);
    std::erase_if(refs, [&](const RefTarget& ref) { return ref.id == needed; });
    if (!refs.empty()) { plan.items.push_back({GarbageKind::refs, task, refs_of_task(task), refs.size(), 0, needed}); }
    if (!blobs) { return {}; }
    AF_TRY(const bool archived, is_archived(place, task));
    if (archived) {
        plan.items.push_back(*blobs);
    } else {
        plan.kept.push_back({task, "its archive does not have its blobs"});
    }
    return {};
}

/// True if another checkout of the repository has, or may have, the task: all checkouts share the folder of worktrees, but each
/// has its own tasks.
bool may_be_of_another_checkout(const GarbagePlace& place, const std::string& task) {
    const fs::path own = place.repository.work_directory();
    std::error_code error;
    // This is a linked checkout; the main one is not known for certain.
    if (fs::is_regular_file(own / ".git", error)) { return true; }
    const std::vector<fs::path> others = place.repository.other_checkouts();
    return std::ranges::any_of(
        others, [&](const fs::path& checkout) { return fs::exists(checkout / ".agentforge" / "tasks" / task, error); });
}

constexpr std::string_view verify_suffix = "-verify";  ///< Of git's name for the worktree in which the gates run.

/// Returns the task whose worktree this is, or empty if it is none, or is one of another state directory.
std::string task_of(const WorktreeRecord& record, const fs::path& worktrees) {
    if (!record.path.empty()) {
        const fs::path folder = record.path.parent_path();
        return folder.parent_path() == worktrees ? folder.filename().string() : std::string();
    }
    // A power cut during its removal took the record's files one by one.
    return record.name.ends_with(verify_suffix) ? record.name.substr(0, record.name.size() - verify_suffix.size()) : record.name;
}

/// Returns the tasks that have a worktree, or git's record of one whose folder is gone: a power cut can undo the removal of
/// either.
std::set<std::string> tasks_with_worktrees(const GarbagePlace& place) {
    const fs::path worktrees = worktrees_of(place);
    std::set<std::string> tasks;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(worktrees, error)) {
        if (entry.is_directory(error)) { tasks.insert(entry.path().filename().string()); }
    }
    // git stores the real path of a worktree.
    const fs::path real = fs::weakly_canonical(worktrees, error);
    for (const WorktreeRecord& record : worktree_records(place.repository)) { tasks.insert(task_of(record, real)); }
    std::erase_if(tasks, [](const std::string& task) { return !is_task_id(task); });
    return tasks;
}

/// Finds worktrees whose task has ended but whose process died before it removed them, and worktrees of tasks that are gone.
/// Leaves out worktrees in use: a replay in a scratch worktree has no task folder.
void find_worktrees(const GarbagePlace& place, const Needs& needs, GarbagePlan& plan) {
    for (const std::string& task : tasks_with_worktrees(place)) {
        if (needs.open.contains(task)) { continue; }
        std::error_code error;
        const fs::path folder = worktrees_of(place) / task;
        const bool is_there = fs::exists(place.tasks.paths(task).root, error);
        const bool is_used = fs::exists(folder, error) && !lock_folder(folder).valid();
        if (!is_there && (may_be_of_another_checkout(place, task) || is_used)) { continue; }
        if (is_there && (!needs.ended.contains(task) || TaskLock::holder(place.tasks.paths(task)))) { continue; }
        plan.items.push_back({GarbageKind::worktree, task, folder.string(), 1, bytes_below(folder)});
    }
}

/// Counts the data that only each task's refs keep, once the refs before it are removed.
Result<void> count_refs(const GarbagePlace& place, GarbagePlan& plan) {
    if (std::ranges::none_of(plan.items, [](const Garbage& item) { return item.kind == GarbageKind::refs; })) { return {}; }
    const fs::path repository = place.repository.work_directory();
    AF_TRY(TreeBytes seen, TreeBytes::open(repository));
    AF_TRY(const auto all, refs_below(repository, "refs/"));
    const auto goes = [&](const RefTarget& ref) {
        return std::ranges::any_of(plan.items, [&](const Garbage& item) {
            return item.kind == GarbageKind::refs && ref.name.starts_with(item.place) && ref.id != item.needed;
        });
    };
    for (const RefTarget& ref : all) {
        if (!goes(ref)) { seen.add(ref.id); }
    }
    for (Garbage& item : plan.items) {
        if (item.kind != GarbageKind::refs) { continue; }
        for (const RefTarget& ref : all) {
            if (ref.name.starts_with(item.place) && ref.id != item.needed) { item.bytes += seen.add(ref.id); }
        }
    }
    return {};
}

Result<void> remove_worktree(const GarbagePlace& place, const Garbage& item) {
    const fs::path repository = place.repository.work_directory();
    AF_CHECK(Worktree::remove(repository, fs::path(item.place) / "work", item.task));
    AF_CHECK(Worktree::remove(repository, fs::path(item.place) / "verify", item.task + std::string(verify_suffix)));
    std::error_code error;
    fs::remove_all(item.place, error);
    return error ? Result<void>(Error{"AF-ORCH-080", "cannot remove the worktree: " + error.message(), item.place,
                                      "check who owns the files there", ErrorKind::io})
                 : Result<void>();
}

}  // namespace

std::string_view to_string(GarbageKind kind) noexcept {
    switch (kind) {
        case GarbageKind::worktree:
            return "worktree";
        case GarbageKind::refs:
            return "refs";
        case GarbageKind::blobs:
            return "blobs";
    }
    return "unknown";
}

Result<std::vector<std::string>> find_unarchived(const TaskStore& tasks, const fs::path& repository) {
    AF_TRY(const TaskListing listing, tasks.list());
    std::vector<JournalSize> journals;
    for (const TaskSummary& task : listing.tasks) {
        std::error_code error;
        const TaskPaths paths = tasks.paths(task.task_id);
        const std::uint64_t bytes = has_ended(task) ? fs::file_size(paths.journal(), error) : 0;
        if (bytes > 0 && !error) { journals.push_back({task.task_id, bytes}); }
    }
    AF_TRY(std::vector<std::string> found, without_archive(repository, journals));
    std::erase_if(found, [&](const std::string& task) { return TaskLock::holder(tasks.paths(task)).has_value(); });
    return found;
}

Result<GarbagePlan> find_garbage(const GarbagePlace& place, const GarbagePolicy& policy) {
    AF_TRY(Needs needs, needs_of(place, policy));
    GarbagePlan plan;
    find_worktrees(place, needs, plan);
    for (const auto& [task, state] : needs.ended) { AF_CHECK(find_in_task(place, policy, needs, task, state, plan)); }
    AF_CHECK(count_refs(place, plan));
    plan.problems = std::move(needs.problems);
    return plan;
}

Result<bool> remove_garbage(const GarbagePlace& place, const GarbagePolicy& policy, const Garbage& item) {
    const TaskPaths paths = place.tasks.paths(item.task);
    std::error_code error;
    std::optional<TaskLock> lock;
    if (fs::exists(paths.root, error)) {
        auto taken = TaskLock::acquire(paths, gc_command, format_time(SystemClock().now()));
        if (!taken.ok() && taken.error().kind == ErrorKind::io) { return std::move(taken).error(); }
        if (!taken.ok()) { return false; }
        lock.emplace(std::move(*taken));
        const auto state = read_task_state(place.tasks, item.task);
        if (!state.ok() || !is_over(*state)) { return false; }
        const auto last = parse_time(state->updated_at);
        if (item.kind != GarbageKind::worktree && (!last.ok() || *last >= policy.before)) { return false; }
        if (item.kind != GarbageKind::worktree) {
            AF_TRY(const bool forked, has_open_fork(place, item.task));
            if (forked) { return false; }
        }
    } else if (item.kind != GarbageKind::worktree || may_be_of_another_checkout(place, item.task)) {
        return false;
    }
    const FileDescriptor unused = item.kind == GarbageKind::worktree ? lock_folder(item.place) : FileDescriptor();
    if (item.kind == GarbageKind::worktree && !unused.valid() && fs::exists(item.place, error)) { return false; }
    switch (item.kind) {
        case GarbageKind::worktree:
            AF_CHECK(remove_worktree(place, item));
            break;
        case GarbageKind::refs:
            AF_CHECK(place.repository.drop_refs(item.task, item.needed));
            break;
        case GarbageKind::blobs:
            fs::remove_all(item.place, error);
            if (error) {
                return Error{"AF-ORCH-080", "cannot remove the blobs: " + error.message(), item.place,
                             "check who owns the files there", ErrorKind::io};
            }
            break;
    }
    return true;
}

}  // namespace agentforge::kernel
