// SPDX-License-Identifier: Apache-2.0
// The tasks of one project on disk: `.agentforge/tasks/<id>/`.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "base/files.hpp"
#include "journal/blob_store.hpp"
#include "journal/journal.hpp"
#include "task/record_observer.hpp"
#include "task/task_lock.hpp"
#include "task/task_paths.hpp"

namespace agentforge::kernel {

/// A line of a listing, from `state.yaml`, or from the journal if that has later records and no process holds the task.
struct TaskSummary {
    std::string task_id;
    std::string request;
    std::string status;  ///< pending, running, paused, awaiting_approval, completed, failed, aborted
    std::string pipeline;
    std::string current_stage;
    std::string created_at;
    std::string updated_at;
    std::string waiting_for;   ///< The decision it waits for: `approval`, `escalation` or empty.
    bool from_journal = true;  ///< True if it matches the journal. False: `state.yaml` may be some records behind.
};

struct TaskState;

[[nodiscard]] TaskSummary summary_of(const TaskState& state);
/// True for completed, failed and aborted.
[[nodiscard]] bool is_end(std::string_view status) noexcept;
[[nodiscard]] bool has_ended(const TaskSummary& task);

struct TaskListing {
    std::vector<TaskSummary> tasks;  ///< Latest first.
    /// Number of ended tasks that were only counted, by status.
    std::map<std::string, std::size_t> left_out;
    std::vector<Error> problems;  ///< One for each folder that cannot be read. None is dropped silently.
    /// Those of `problems` that belong to a task: why its journal cannot be read (TaskStore::damage), by the task's id. A task
    /// that is not in `tasks` has no readable `state.yaml` either.
    std::map<std::string, Error> damaged;
};

/// The contents of the folder of the tasks, except dot files.
struct TaskFolders {
    std::vector<std::string> ids;  ///< Folders that are named like a task, in no order.
    std::vector<Error> problems;   ///< AF-TASK-009 for each other entry, also for a link to a task's folder.
};

/// Checks that a file in the task's folder names that task. Errors: `corrupt` AF-TASK-015.
[[nodiscard]] Result<void> check_names(std::string_view task_id, std::string_view named, const std::filesystem::path& file);

/// Returns AF-TASK-009: an entry among the tasks that is not a task's folder.
[[nodiscard]] Error not_a_tasks_folder(const std::filesystem::path& entry);
/// Returns AF-TASK-014: the journal has no records of the task.
[[nodiscard]] Error no_records(std::string_view task_id, const TaskPaths& paths);

class TaskStore {
public:
    /// `agentforge_directory` is the project's `.agentforge`. `cached`: journals are not synced; for temporary tasks.
    explicit TaskStore(std::filesystem::path agentforge_directory, Durability durability = Durability::synced);

    [[nodiscard]] const std::filesystem::path& root() const noexcept { return root_; }  ///< …/tasks
    [[nodiscard]] Durability durability() const noexcept { return durability_; }
    [[nodiscard]] TaskPaths paths(std::string_view task_id) const;

    /// Creates the folder (whole or not at all) and writes `task.yaml` (immutable) and `artifacts/inputs/original_request.yaml`.
    /// Errors: `conflict` AF-TASK-001, `io`.
    [[nodiscard]] Result<TaskPaths> create(std::string_view task_id, const json::object& task);
    /// Reads `task.yaml`. Errors: `not_found` AF-TASK-002, naming the nearest id; `corrupt` AF-TASK-004 `task.yaml` is missing or
    /// not a map; `invalid` if `task_id` is not an id.
    [[nodiscard]] Result<json::object> load(std::string_view task_id) const;
    /// True if the process that created the task ended before the journal's first record, or before all announced imports: the
    /// folder has a request, but nothing was done.
    [[nodiscard]] bool never_began(std::string_view task_id) const;
    /// Errors: AF-TASK-015 the folder is a copy; AF-TASK-016 the task never began.
    [[nodiscard]] Result<void> check_began(std::string_view task_id) const;
    /// Returns why the journal cannot show its task. Nothing: the task never began, or its process is about to begin it. `read`:
    /// the result of reading the journal; ok if it has no record of this task. Every listing calls this function, so that all
    /// give the same reason: AF-TASK-014, else the error of `read`.
    [[nodiscard]] std::optional<Error> damage(std::string_view task_id, const Result<void>& read) const;
    /// Reads the names in the folder of the tasks. Errors: `io` AF-TASK-007.
    [[nodiscard]] Result<TaskFolders> folders() const;
    /// Reads the journal's records. Errors: those of Journal::read; `corrupt` AF-TASK-015 the journal or `task.yaml` belongs to
    /// another task, AF-TASK-019 the journal's end is missing.
    [[nodiscard]] Result<std::vector<Record>> records(std::string_view task_id, Recovery* recovery = nullptr) const;
    /// Returns the folded state without keeping all records in memory, as `fold_journal` does. Errors: those of `records` and of
    /// `fold`.
    [[nodiscard]] Result<TaskState> state(std::string_view task_id) const;
    /// Replaces `state.yaml` atomically. `text`: the JSON of `to_json(TaskState)`.
    [[nodiscard]] Result<void> save_state(std::string_view task_id, std::string_view text,
                                          Durability durability = Durability::cached) const;
    /// Errors: `not_found` AF-TASK-002, `corrupt` AF-TASK-004 (then fold the journal).
    [[nodiscard]] Result<json::object> load_state(std::string_view task_id) const;
    /// Lists tasks, filtered by status if given, at most `limit` of them (0: all). Compares the end of each journal with
    /// `state.yaml`. Verifies the whole journal of an ended task only if it was written to after that. From 32 tasks on, caches
    /// what it read in `tasks/.listing`; an entry is ignored if the task's journal has changed since. `most_ended`: the caller
    /// needs only so many ended tasks of each status, the newest; others may be left out (0: none are).
    [[nodiscard]] Result<TaskListing> list(const std::optional<std::string>& status = {}, std::size_t limit = 0,
                                           std::size_t most_ended = 0) const;
    /// Expands an abbreviation to a whole id, as `ids_named` reads it. Errors: `not_found` AF-TASK-002, also for one that is too
    /// short; `conflict` AF-TASK-020, naming the candidates; `invalid` AF-TASK-009 only a link or a file has this name.
    [[nodiscard]] Result<std::string> resolve(std::string_view abbreviation) const;
    [[nodiscard]] std::size_t active_count() const;
    /// Removes a task's folder. Errors: `conflict` while its lock is held.
    [[nodiscard]] Result<void> remove(std::string_view task_id);
    /// Removes the folder if the task never began, so that its request can start again as another task. Returns whether it did.
    /// Errors: those of `remove`.
    [[nodiscard]] Result<bool> remove_if_never_began(std::string_view task_id);
    /// Removes folders that processes had not finished creating or deleting when they were killed. `create` calls it. Folders
    /// that cannot be removed stay for the next time.
    void remove_abandoned() const;
    /// Returns the name of a task's folder while it is being deleted.
    [[nodiscard]] std::filesystem::path place_of_removed(std::string_view task_id) const;

    /// Calls the observer for each record from now on. Null: none. It must live as long as the store's sessions.
    void observe(RecordObserver* observer) noexcept { observer_ = observer; }
    [[nodiscard]] RecordObserver* observer() const noexcept { return observer_; }

    /// Sessions note in this folder, outside the repository, which records they write (OwnJournal). Empty: they do not.
    void note_own_journals(std::filesystem::path folder) { own_journals_ = std::move(folder); }
    [[nodiscard]] const std::filesystem::path& own_journals() const noexcept { return own_journals_; }

private:
    /// True if the task has only the files that `create` writes, and none of them names a record.
    [[nodiscard]] bool is_only_a_request(std::string_view task_id) const;

    std::filesystem::path root_;
    Durability durability_;
    RecordObserver* observer_ = nullptr;
    std::filesystem::path own_journals_;
};

/// Reads and writes artifact files with their envelope.
[[nodiscard]] Result<void> save_artifact(const std::filesystem::path& path, const json::object& artifact_with_envelope);
[[nodiscard]] Result<json::object> load_artifact(const std::filesystem::path& path);

}  // namespace agentforge::kernel
