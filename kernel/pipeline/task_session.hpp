// SPDX-License-Identifier: Apache-2.0
// A task that this process owns: its lock, its journal, its state, its blobs.
//
// `record` is the only way to change a task: journal first, then the fold, then the projections. Nothing else writes
// `actions.yaml` or `state.yaml`. Records, blobs and the task's file hold no secrets: the session's redactor hides them before
// they are written.
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
#include "base/event_sink.hpp"
#include "journal/blob_store.hpp"
#include "journal/journal.hpp"
#include "secrets/redactor.hpp"
#include "task/own_journal.hpp"
#include "task/state.hpp"
#include "task/step_index.hpp"
#include "task/task_store.hpp"
#include "task/working_memory.hpp"

namespace agentforge::kernel {

/// The agent that a record is about.
struct RecordAgent {
    std::string role;
    std::string version;
    std::string mode;  ///< `review`, or empty.
};

/// Whether a session needs task.yaml, which has the settings that the task was started with.
enum class RequestFile : unsigned char { required = 1, if_there };

class TaskSession {
public:
    TaskSession(const TaskSession&) = delete;
    TaskSession& operator=(const TaskSession&) = delete;
    /// Updates the projections to the last record.
    ~TaskSession();

    /// Creates the task's folder and journal, records `task_created` and calls `begin` (may be empty); all or nothing. Errors:
    /// AF-TASK-001, AF-TASK-003, `io`, and those of `begin`.
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
    /// Creates a task that continues from there, paused, and records `forked`; all or nothing. The parent's earlier files are
    /// shared, not copied, and survive its folder. The parent may be running. `task`: for task.yaml, with the new id. Errors:
    /// those of create; AF-TASK-010 the parent was not running at that record.
    [[nodiscard]] static Result<std::unique_ptr<TaskSession>> fork(TaskStore& store, const ForkPoint& from,
                                                                   const json::object& task, Clock& clock,
                                                                   std::string_view command,
                                                                   const Redactor& redactor = nothing_hidden());
    /// Takes the lock, opens the journal (records the recovery of a torn tail) and folds it. Errors: AF-TASK-002 no such task,
    /// AF-TASK-003 another process owns it, AF-TASK-004 it has no task.yaml and needs it, AF-JRNL-002 the journal does not
    /// verify, AF-TASK-019 its end is missing.
    [[nodiscard]] static Result<std::unique_ptr<TaskSession>> open(TaskStore& store, std::string_view task_id, Clock& clock,
                                                                   std::string_view command,
                                                                   const Redactor& redactor = nothing_hidden(),
                                                                   RequestFile needs = RequestFile::required);
    /// Takes the journal for this machine's own from here on (OwnJournal). For one whose signed statement holds. Errors:
    /// AF-TASK-018.
    [[nodiscard]] Result<void> adopt();
    /// True if the user's key may sign what this task delivers: the journal is this machine's own, or nobody keeps account of it.
    [[nodiscard]] bool may_sign() const { return is_own_ || store_.own_journals().empty(); }
    /// Call for a new task that repeats what people decided in another one. It is this machine's own only if the other one is.
    /// Errors: AF-TASK-018.
    [[nodiscard]] Result<void> repeats(std::string_view other);

    [[nodiscard]] const TaskState& state() const noexcept { return state_; }
    [[nodiscard]] const JournalHead& head() const noexcept { return journal_.head(); }
    [[nodiscard]] const TaskPaths& paths() const noexcept { return paths_; }
    [[nodiscard]] BlobStore& blobs() noexcept { return blobs_; }
    [[nodiscard]] Clock& clock() noexcept { return clock_; }
    [[nodiscard]] const Redactor& redactor() const noexcept { return redactor_; }

    /// Appends a record and folds it. If the task's status changed, the projections show it when this returns; else within 100
    /// ms. A record that the state refuses is not written. Errors: AF-TASK-010…, AF-JRNL-…, and the error of a projection since
    /// the last call. After an `io` error the session is unusable.
    [[nodiscard]] Result<void> record(const records::Body& record, const RecordAgent* agent = nullptr);

    /// Call when the thread that uses this session is given up in the middle of a call. From then on `record` fails here, and the
    /// returned session continues the same task. This one must live as long as that thread; it keeps the lock, so no other
    /// process takes the task while the thread may still write to its workspace.
    [[nodiscard]] Result<std::unique_ptr<TaskSession>> take_over();

    /// Stores a value as a blob and returns its hash. The blob is on disk before the next record is.
    [[nodiscard]] Result<std::string> put(const json::value& value);
    [[nodiscard]] Result<std::string> put_text(std::string_view text);
    [[nodiscard]] Result<json::value> get(std::string_view blob) const;
    /// Prepares a value for a record: inside the record if it is small and a record can hold it, else as a blob.
    [[nodiscard]] Result<records::Kept> keep(json::value value);
    /// Returns a value that `keep` stored. Errors: AF-ORCH-020 nothing was stored, AF-JRNL-011, AF-JRNL-012.
    [[nodiscard]] Result<json::value> kept(const records::Kept& kept) const;

    /// Returns the accepted artifact of a stage, or the import that replaces it, without its envelope. Empty if there is none.
    [[nodiscard]] Result<std::optional<json::object>> artifact(std::string_view stage) const;
    /// Returns all accepted artifacts by stage.
    [[nodiscard]] Result<std::map<std::string, json::object, std::less<>>> artifacts() const;
    /// Returns them by contract, and imports that no stage has produced. If several have one contract, the latest stage's.
    [[nodiscard]] Result<std::map<std::string, json::object, std::less<>>> artifacts_by_contract() const;
    /// Returns the artifact of the stage that writes tests (writes_tests). Empty before.
    [[nodiscard]] Result<std::optional<json::object>> test_suite() const;
    /// Returns one of `artifacts_by_contract`, or empty.
    [[nodiscard]] Result<std::optional<json::object>> artifact_of(std::string_view contract) const;
    /// Writes missing artifact files that the state names, from their blobs.
    [[nodiscard]] Result<void> write_missing_artifacts() const;

private:
    TaskSession(TaskStore& store, TaskPaths paths, std::optional<TaskLock> lock, Journal journal, Clock& clock,
                const Redactor& redactor);
    [[nodiscard]] Result<std::optional<json::object>> artifact_in(const std::string& blob, const std::string& file) const;
    /// Returns the import under a contract. Empty if there is none, or its gate has yet to judge it.
    [[nodiscard]] Result<std::optional<json::object>> imported(std::string_view contract) const;
    [[nodiscard]] records::Envelope envelope_of(const records::Body& record, const RecordAgent* agent) const;
    [[nodiscard]] Result<Record> write(json::object body);
    /// Creates the task's folder and fills it by `begin`. If that fails, removes the folder.
    [[nodiscard]] static Result<std::unique_ptr<TaskSession>> make(
        TaskStore& store, const json::object& task,
        const std::function<Result<std::unique_ptr<TaskSession>>(const TaskPaths& paths)>& begin);
    /// Write the artifact files that the state names, from their blobs.
    [[nodiscard]] Result<void> write_artifacts() const;
    [[nodiscard]] Result<void> write_artifacts(const std::function<bool(const std::filesystem::path& file)>& wanted) const;
    void fold_again();
    /// Writes a snapshot for the next process that opens the task (task/journal_fold.hpp).
    void keep_snapshot_when_due();
    /// Makes a session with the state of its journal. `check` gets the header and the first record before anything is cut off the
    /// journal.
    [[nodiscard]] static Result<std::unique_ptr<TaskSession>> fold_into_session(
        TaskStore& store, const TaskPaths& paths, std::optional<TaskLock> lock, Clock& clock, const Redactor& redactor,
        const std::function<Result<void>(const json::object&)>& check);
    /// Guarded by `writing_`, except in the destructor.
    [[nodiscard]] Result<void> project();
    [[nodiscard]] bool has_projector();
    void project_when_due(const std::stop_token& stop);

    TaskStore& store_;
    TaskPaths paths_;
    std::optional<TaskLock> lock_;
    Journal journal_;
    OwnJournal own_journal_;
    bool is_own_ = false;  ///< This machine wrote all of the journal, so it notes what it adds.
    BlobStore blobs_;
    Clock& clock_;
    const Redactor& redactor_;
    TaskState state_;
    std::string template_text_;  ///< The end of `state.yaml`. Made once, and again when stages are added.
    WorkingMemory memory_;
    StepIndex steps_;
    Sequence snapshot_at_ = 0;  ///< The snapshot beside the journal contains the records up to this one.
    std::mutex writing_;        ///< Guards everything that `record` changes, because the projector reads it.
    bool given_up_ = false;
    bool projection_due_ = false;  ///< The projections lag behind the state.
    std::chrono::steady_clock::time_point projected_at_;
    Result<void> projection_failure_;
    std::condition_variable_any projector_wakes_;
    std::jthread projector_;  ///< Started by the first record that waits. Last member, because it uses the others.
};

/// Folds a task that another process may be writing. Locks, recovers and changes nothing. `folded`: receives the folded records.
[[nodiscard]] Result<TaskState> read_task_state(const TaskStore& store, std::string_view task_id,
                                                std::vector<Record>* folded = nullptr);

}  // namespace agentforge::kernel
