// SPDX-License-Identifier: Apache-2.0
// A task that this process owns: its lock, its journal, its state, its blobs.
//
// `record` is the only way anything about a task changes: journal first, then the fold, then the
// projections. Nothing else writes `actions.yaml` or `state.yaml`. Records, blobs and the task's file hold no secrets:
// the session's redactor hides them before they are written.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.hpp"
#include "base/events.hpp"
#include "journal/blobs.hpp"
#include "journal/journal.hpp"
#include "secrets/redactor.hpp"
#include "task/state.hpp"
#include "task/step_index.hpp"
#include "task/store.hpp"
#include "task/working_memory.hpp"

namespace agentforge::kernel {

/// Who did what a record tells; shown in North Star 12.9's form.
struct RecordAgent {
    std::string role;
    std::string version;
    std::string mode;  ///< `review`, or empty.
};

class TaskSession {
public:
    TaskSession(const TaskSession&) = delete;
    TaskSession& operator=(const TaskSession&) = delete;
    /// Brings the projections up to the last record.
    ~TaskSession();

    /// Creates the task's folder and journal, records `task_created` and does what else begins it (`begin`; may be empty); all of
    /// it or nothing. Errors: AF-TASK-001, AF-TASK-003, `io`, and those of `begin`.
    [[nodiscard]] static Result<std::unique_ptr<TaskSession>> create(TaskStore& store, const json::object& task,
                                                                     const records::TaskCreated& created, Clock& clock,
                                                                     std::string_view command,
                                                                     const Redactor& redactor = nothing_hidden(),
                                                                     const std::function<Result<void>(TaskSession&)>& begin = {});
    /// Where a fork begins: after `record` of the task `parent` in `store`.
    struct ForkPoint {
        const TaskStore& store;
        std::string_view parent;
        const Record& record;
    };
    /// Creates the task that goes on from there, paused, and records `forked`; all of it or nothing. What the parent did before
    /// is shared, not copied, and stays where the parent's folder goes. The parent may be at work. `task`: for task.yaml, with
    /// the new id. Errors: as create; AF-TASK-010 the parent did not run then.
    [[nodiscard]] static Result<std::unique_ptr<TaskSession>> fork(TaskStore& store, const ForkPoint& from,
                                                                   const json::object& task, Clock& clock,
                                                                   std::string_view command,
                                                                   const Redactor& redactor = nothing_hidden());
    /// Takes the lock, opens the journal (recovering a torn tail, which is recorded) and folds it.
    /// Errors: AF-TASK-002 no such task, AF-TASK-003 another process owns it, AF-JRNL-002 the journal does not verify.
    [[nodiscard]] static Result<std::unique_ptr<TaskSession>> open(TaskStore& store, std::string_view task_id, Clock& clock,
                                                                   std::string_view command,
                                                                   const Redactor& redactor = nothing_hidden());

    [[nodiscard]] const TaskState& state() const noexcept { return state_; }
    [[nodiscard]] const JournalHead& head() const noexcept { return journal_.head(); }
    [[nodiscard]] const TaskPaths& paths() const noexcept { return paths_; }
    [[nodiscard]] BlobStore& blobs() noexcept { return blobs_; }
    [[nodiscard]] Clock& clock() noexcept { return clock_; }
    [[nodiscard]] const Redactor& redactor() const noexcept { return redactor_; }

    /// Appends a record and folds it in. The projections show it when this returns where the task's status changed, else
    /// within 100 ms. A record that the state refuses is not written. Errors: AF-TASK-010…, AF-JRNL-…, and what hindered a
    /// projection since the call before; after an `io` error the session is of no more use.
    [[nodiscard]] Result<void> record(const records::Body& record, const RecordAgent* agent = nullptr);

    /// For when the thread that uses this session is given up in the middle of a call: from now on `record` here fails, and
    /// the session that is returned goes on with the same task. This one must live on as long as that thread does; it keeps
    /// the lock, so that no other process takes the task while the thread may still write to its workspace.
    [[nodiscard]] Result<std::unique_ptr<TaskSession>> take_over();

    /// Stores a value as a blob and returns its hash. It is on disk before the next record is.
    [[nodiscard]] Result<std::string> put(const json::value& value);
    [[nodiscard]] Result<std::string> put_text(std::string_view text);
    [[nodiscard]] Result<json::value> get(std::string_view blob) const;
    /// Makes a value part of a record to be: inside it where it is small and a record can hold it, else as a blob.
    [[nodiscard]] Result<records::Kept> keep(json::value value);
    /// What `keep` kept. Errors: AF-ORCH-020 nothing, AF-JRNL-011, AF-JRNL-012.
    [[nodiscard]] Result<json::value> kept(const records::Kept& kept) const;

    /// An accepted artifact of a stage, or the imported one in its place, without its envelope; empty where there is none.
    [[nodiscard]] Result<std::optional<json::object>> artifact(std::string_view stage) const;
    /// All accepted artifacts by stage.
    [[nodiscard]] Result<std::map<std::string, json::object, std::less<>>> artifacts() const;
    /// The same by contract, and those from outside that no stage has; of several with one contract, that of the latest stage.
    [[nodiscard]] Result<std::map<std::string, json::object, std::less<>>> artifacts_by_contract() const;
    /// What the stage that writes tests (writes_tests) handed in; empty before.
    [[nodiscard]] Result<std::optional<json::object>> test_suite() const;
    /// One of them; empty where there is none.
    [[nodiscard]] Result<std::optional<json::object>> artifact_of(std::string_view contract) const;
    /// Writes the artifact files that the state names and that are not there, from their blobs.
    [[nodiscard]] Result<void> write_missing_artifacts() const;

private:
    TaskSession(TaskStore& store, TaskPaths paths, std::optional<TaskLock> lock, Journal journal, Clock& clock,
                const Redactor& redactor);
    [[nodiscard]] Result<std::optional<json::object>> artifact_in(const std::string& blob, const std::string& file) const;
    /// What was imported under a contract; empty where nothing was, or its gate has yet to judge it.
    [[nodiscard]] Result<std::optional<json::object>> imported(std::string_view contract) const;
    [[nodiscard]] records::Envelope envelope_of(const records::Body& record, const RecordAgent* agent) const;
    [[nodiscard]] Result<Record> write(json::object body);
    /// Makes the task's folder and fills it with `begin`; where that fails, nothing of it stays.
    [[nodiscard]] static Result<std::unique_ptr<TaskSession>> make(
        TaskStore& store, const json::object& task,
        const std::function<Result<std::unique_ptr<TaskSession>>(const TaskPaths& paths)>& begin);
    /// The artifact files that the state names, from their blobs.
    [[nodiscard]] Result<void> write_artifacts() const;
    [[nodiscard]] Result<void> write_artifacts(const std::function<bool(const std::filesystem::path& file)>& wanted) const;
    void fold_again();
    /// For the next opener (task/folded_journal.hpp).
    void keep_snapshot_when_due();
    /// A session whose state is what its journal leads to. `check` sees the header and the first record before anything is cut
    /// off the journal.
    [[nodiscard]] static Result<std::unique_ptr<TaskSession>> fold_into_session(
        TaskStore& store, const TaskPaths& paths, std::optional<TaskLock> lock, Clock& clock, const Redactor& redactor,
        const std::function<Result<void>(const json::object&)>& check);
    /// Guarded by `writing_`, but for the destructor.
    [[nodiscard]] Result<void> project();
    [[nodiscard]] bool has_projector();
    void project_when_due(const std::stop_token& stop);

    TaskStore& store_;
    TaskPaths paths_;
    std::optional<TaskLock> lock_;
    Journal journal_;
    BlobStore blobs_;
    Clock& clock_;
    const Redactor& redactor_;
    TaskState state_;
    std::string template_text_;  ///< The end of `state.yaml`; made once, and again where stages were added.
    WorkingMemory memory_;
    StepIndex steps_;
    Sequence snapshot_at_ = 0;  ///< The records up to here are in the snapshot beside the journal.
    std::mutex writing_;        ///< Guards all that `record` changes: the projector reads it.
    bool given_up_ = false;
    bool projection_due_ = false;  ///< The projections are behind the state.
    std::chrono::steady_clock::time_point projected_at_;
    Result<void> projection_failure_;
    std::condition_variable_any projector_wakes_;
    std::jthread projector_;  ///< Started by the first record that waits. Last: it uses the rest.
};

/// The fold of a task that some process may be writing: nothing is locked, recovered or changed. `folded`: gets the records of
/// which it is the fold.
[[nodiscard]] Result<TaskState> read_task_state(const TaskStore& store, std::string_view task_id,
                                                std::vector<Record>* folded = nullptr);

/// `AF-TASK-014`: the task's journal says nothing of it.
[[nodiscard]] Error no_records(std::string_view task_id, const TaskPaths& paths);

}  // namespace agentforge::kernel
