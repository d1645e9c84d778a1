// SPDX-License-Identifier: Apache-2.0
// All tasks of all known repositories, kept up to date from their journals (North Star 11.5, "State Aggregator").
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

namespace agentforge::kernel {

/// Why a repository's tasks are left out: its `.agentforge` is a link or belongs to another user (AF-DASH-010), or it is gone
/// (AF-DASH-011).
[[nodiscard]] std::optional<Error> problem_of(const KnownRepository& repository);

/// One thing that happened: a record was appended, a process took a task up or let it go (`type` is `process` then), or a set
/// changed (`set`; SetWatch).
struct TaskChange {
    std::string repo;
    std::string task_id;
    Sequence seq = 0;  ///< The journal's; of `process`, that of the last record.
    std::string type;
    std::string stage;       ///< Current stage after it.
    std::uint64_t step = 0;  ///< Steps of the task so far.
    std::string state;       ///< condition_of.
};

/// It reads and stores nothing. Safe to use from several threads.
///
/// Memory: the figures of each task, and the states of those that have not ended and of the 16 ended ones that were looked at
/// last.
class Aggregator {
public:
    explicit Aggregator(std::vector<KnownRepository> repositories);

    [[nodiscard]] std::vector<KnownRepository> repositories() const;
    /// That of a `Place`.
    [[nodiscard]] KnownRepository repository(std::size_t number) const;
    /// All that there ever were, by their numbers.
    [[nodiscard]] std::vector<KnownRepository> every_repository() const;
    /// From now on these are known. The tasks of others are gone with the next `refresh`; numbers stay what they were.
    void set_repositories(const std::vector<KnownRepository>& known);
    /// Whether a repository has vanished or come back since the last `refresh`. Cost: two stat calls for each.
    [[nodiscard]] bool repositories_moved() const;
    [[nodiscard]] static std::filesystem::path agentforge_of(const KnownRepository& repository) {
        return repository.path / ".agentforge";
    }

    /// Looks at every task whose journal has changed, and for new and removed ones. The first call reads everything and tells of
    /// no change.
    std::vector<TaskChange> refresh();
    /// Looks at one task: costs what its journal grew by. A task that nobody knew is taken in.
    std::vector<TaskChange> refresh(std::size_t repository, const std::string& task_id);
    /// Looks whether the tasks under way still have a process: it may end without a record.
    std::vector<TaskChange> refresh_processes();

    using Figures = std::shared_ptr<const TaskFigures>;
    /// Last activity first.
    [[nodiscard]] std::vector<Figures> tasks() const;
    /// What could not be read, one for each task or repository.
    [[nodiscard]] std::vector<Error> problems() const;
    /// Changes whenever any figure does.
    [[nodiscard]] std::uint64_t version() const;

    /// Where a task lies.
    struct Place {
        std::size_t repository = 0;
        std::string task_id;
    };
    /// `task`: its whole id. `repo`: a repository's name; empty where only one has the task. Errors: `not_found` AF-DASH-014;
    /// `conflict` AF-DASH-018 several have it.
    [[nodiscard]] Result<Place> find(std::string_view task, std::string_view repo = {}) const;
    /// Whether any repository has the task. Errors: `not_found` AF-DASH-014.
    [[nodiscard]] Result<void> find_any(std::string_view task) const;
    [[nodiscard]] Result<Figures> figures(const Place& place) const;
    /// Calls `look` with the task as its journal has it now. `look` must be quick: others wait. Errors: those of
    /// FollowedTask::refresh.
    [[nodiscard]] Result<void> with_task(const Place& place, const std::function<Result<void>(const FollowedTask& task)>& look);

private:
    struct Known {
        std::unique_ptr<FollowedTask> followed;  ///< Null: it has ended, and nobody looked at it for some time.
        Figures figures;    ///< From `state.yaml` where the journal cannot be read; null: not from that either.
        Sequence told = 0;  ///< The last record that `refresh` told of.
        std::optional<Error> problem;
        std::uint64_t size =
            0;  ///< Of its journal, with the time of its last change: while they are the same nothing was appended.
        std::int64_t changed_ns = 0;
    };
    using Key = std::pair<std::size_t, std::string>;

    void look(const Key& key, std::vector<TaskChange>& changes);
    void follow(const Key& key, Known& known, std::vector<TaskChange>& changes);
    void forget_ended(const Key& key, Known& known);
    void project(const Key& key, Known& known, std::optional<Error> problem);
    [[nodiscard]] std::vector<std::string> names_in(std::size_t repository);
    [[nodiscard]] std::filesystem::path folder_of(const Key& key) const;

    mutable std::mutex mutex_;
    std::vector<KnownRepository> repositories_;
    std::set<std::size_t> forgotten_;  ///< Numbers of repositories that are known no more.
    std::map<Key, Known> tasks_;
    std::map<std::size_t, Error> repository_problems_;
    std::map<std::size_t, std::vector<Error>> odd_folders_;  ///< Among the tasks of a repository.
    std::list<Key> looked_at_;                               ///< Ended tasks that are still followed, newest first.
    std::uint64_t version_ = 1;
    bool loaded_ = false;
};

}  // namespace agentforge::kernel
