// SPDX-License-Identifier: Apache-2.0
// All tasks of all known repositories, kept up to date from their journals.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "aggregate/figures.hpp"
#include "aggregate/followed_task.hpp"
#include "aggregate/known_repositories.hpp"
#include "escalation/escalation_store.hpp"

namespace agentforge::kernel {

/// Returns why a repository's tasks are left out: its `.agentforge` is a link or belongs to another user (AF-DASH-010), or it is
/// gone (AF-DASH-011).
[[nodiscard]] std::optional<Error> problem_of(const KnownRepository& repository);

/// One change. `type` says which:
/// - the type of a record: the record was appended;
/// - `process`: a process took or released the task;
/// - `problem`: the task's journal can no longer be read, or can be read again. Without a task: a file or folder that is not a
///   task appeared or disappeared;
/// - `removed`: the task is gone;
/// - `repository`: a repository appeared or disappeared;
/// - `set`: a set changed (see SetWatch).
struct TaskChange {
    std::string repo = {};
    std::string task_id = {};  ///< Empty for `repository`, and for a `problem` that is not a task's.
    Sequence seq = 0;          ///< Sequence number in the journal. If the change is not a record, that of the last record.
    std::string type = {};
    std::string stage = {};  ///< Current stage after the change.
    std::uint64_t step = 0;  ///< Steps that the task has taken so far.
    /// See state_name. For `removed`: the last state that was read. For `repository`: `available`, `unavailable` or `removed`.
    std::string state = {};
    std::string at = {};  ///< When the record was written. Empty if the change is not a record.
};

/// Follows all tasks of the repositories. Writes nothing but caches. Safe to use from several threads: while `refresh` reads
/// a long journal, other callers get the previous figures.
///
/// Memory: the figures of each task, the states of tasks that have not ended, and the states of the `most_ended_followed` most
/// recently used ended tasks.
class Aggregator {
public:
    explicit Aggregator(std::vector<KnownRepository> repositories);

    [[nodiscard]] std::vector<KnownRepository> repositories() const;
    /// Returns the repository of a `Place`.
    [[nodiscard]] KnownRepository repository(std::size_t number) const;
    /// Returns all repositories that were ever known, by their numbers.
    [[nodiscard]] std::vector<KnownRepository> every_repository() const;
    /// Replaces the known repositories. The next `refresh` removes the tasks of those that are no longer known. Repositories keep
    /// their numbers.
    void set_repositories(const std::vector<KnownRepository>& known);
    /// Whether a repository has vanished or come back since the last `refresh`. Cost: two stat calls for each.
    [[nodiscard]] bool availability_changed() const;
    [[nodiscard]] static std::filesystem::path agentforge_of(const KnownRepository& repository) {
        return repository.path / ".agentforge";
    }

    /// If a known or new task has more new records than this, `refresh` reports only the newest.
    static constexpr std::size_t most_reported_at_once = 64;
    /// Reads every task whose journal has changed, and finds new and removed tasks and repositories. The first call reads
    /// everything and returns no change.
    std::vector<TaskChange> refresh();
    /// Reads one task. Adds a task that is not known yet. Cost: proportional to the journal's growth.
    std::vector<TaskChange> refresh(std::size_t repository, const std::string& task_id);
    /// Checks whether the tasks in progress still have a process: a process may end without writing a record. Looks at the
    /// `state.yaml` of tasks whose journal cannot be read. Includes `refresh_answers`.
    std::vector<TaskChange> refresh_processes();
    /// Checks which waiting tasks have an answer as a file, as EscalationStore::pending does. Never waits for a `refresh` that
    /// reads a long journal. Cost: a stat call for each repository, and for each waiting task that may have an answer.
    std::vector<TaskChange> refresh_answers();

    using Figures = std::shared_ptr<const TaskFigures>;
    /// Ordered by last activity, newest first.
    [[nodiscard]] std::vector<Figures> tasks() const;
    /// Returns one error for each task and repository that cannot be read, and for each entry of a tasks folder that is not a
    /// task.
    [[nodiscard]] std::vector<Error> problems() const;
    /// Changes whenever any figure changes.
    [[nodiscard]] std::uint64_t version() const;

    /// Which repository has a task.
    struct Place {
        std::size_t repository = 0;
        std::string task_id;
    };
    /// Finds a task by its full id. `repo`: a repository's name; may be empty if only one has the task. Errors: `not_found`
    /// AF-DASH-014; `conflict` AF-DASH-018 several have it.
    [[nodiscard]] Result<Place> find(std::string_view task, std::string_view repo = {}) const;
    /// Succeeds if any repository has the task. Errors: `not_found` AF-DASH-014.
    [[nodiscard]] Result<void> find_any(std::string_view task) const;
    [[nodiscard]] Result<Figures> figures(const Place& place) const;
    /// Calls `visit` with the task, read up to the end of its journal. `visit` must be quick, because it blocks other callers.
    /// Errors: those of FollowedTask::refresh.
    [[nodiscard]] Result<void> with_task(const Place& place, const std::function<Result<void>(const FollowedTask& task)>& visit);
    static constexpr std::size_t most_ended_followed = 16;
    /// Tasks whose states are in memory.
    [[nodiscard]] std::size_t followed_count() const;

private:
    struct Known {
        std::unique_ptr<FollowedTask> followed;  ///< Null: it has ended, and nobody looked at it for some time.
        Figures figures;        ///< See projected_task if the journal cannot be read. Null: it is being read for the first time.
        Figures last_read;      ///< The last from the journal, while it cannot be read.
        Sequence reported = 0;  ///< The last record that `refresh` reported.
        std::optional<Error> problem;
        /// False while it is read for the first time.
        [[nodiscard]] bool is_read() const { return figures || problem; }
        /// Size of the journal. If this and the time of the last change are the same, nothing was appended.
        std::uint64_t size = 0;
        std::int64_t changed_ns = 0;
        std::optional<std::int64_t> state_changed_ns;  ///< Of `state.yaml`, if the figures are from it.
    };
    using Key = std::pair<std::size_t, std::string>;
    using Lock = std::unique_lock<std::mutex>;
    class NewRecords;

    void refresh_task(Lock& lock, const Key& key, std::vector<TaskChange>& changes);
    void follow(Lock& lock, const Key& key, Known& known, std::vector<TaskChange>& changes);
    [[nodiscard]] Result<void> read_from_disk(Lock& lock, const Key& key, Known& known, NewRecords& new_records) const;
    [[nodiscard]] TaskChange change_of(const Key& key, const Known& known, std::string type) const;
    void report_repositories(std::vector<TaskChange>& changes);
    void limit_followed_ended_tasks(const Key& key, Known& known);
    void use_projection(const Key& key, Known& known, std::optional<Error> problem);
    [[nodiscard]] bool is_projection_outdated(const Key& key, const Known& known) const;
    void forget_removed(const Key& key, std::vector<TaskChange>& changes);
    void find_answers(std::vector<TaskChange>& changes);
    void look_for_answer_files();
    [[nodiscard]] std::vector<std::string> names_in(std::size_t repository);
    [[nodiscard]] std::filesystem::path folder_of(const Key& key) const;

    std::mutex refreshing_;  ///< Held by one `refresh` at a time, which gives up `mutex_` during long reads.
    mutable std::mutex mutex_;
    std::vector<KnownRepository> repositories_;
    std::map<std::size_t, std::string> availability_;  ///< The state in the last change of type `repository`.
    std::set<std::size_t> forgotten_;                  ///< Numbers of repositories that are no longer known.
    std::map<Key, Known> tasks_;
    std::map<std::size_t, Error> repository_problems_;
    std::map<std::size_t, std::vector<Error>> non_task_entries_;  ///< Entries of its tasks folder that are not tasks.
    /// The files with answers of one repository, by its number.
    struct Answers {
        std::int64_t folder_changed_ns = -1;
        AnsweredQuestions files;
        bool changed = false;  ///< A file was added or removed since the last look.
    };
    std::map<std::size_t, Answers> answers_;
    std::list<Key> recent_ended_;  ///< Ended tasks that are still followed, newest first.
    std::uint64_t version_ = 1;
    bool loaded_ = false;
};

}  // namespace agentforge::kernel
