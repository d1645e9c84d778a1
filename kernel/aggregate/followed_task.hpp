// SPDX-License-Identifier: Apache-2.0
// Follows one task by its journal as it grows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/overview.hpp"
#include "journal/journal_tail.hpp"
#include "task/state.hpp"
#include "task/step_index.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// A person's decision on a version of an artifact.
struct IterationDecision {
    std::string stage;
    unsigned iteration = 0;  ///< Within its stage, from 1.
    std::string decision;    ///< `approve`, `revise` or `reject`.
    std::string at;
    std::string by;
    std::string feedback;
};

/// The task's totals after a step.
struct UsagePoint {
    std::string at;
    std::uint64_t step = 0;
    std::uint64_t tokens = 0;
    std::uint64_t cost_microusd = 0;
};

/// The results of gates after a step.
struct CheckPoint {
    std::uint64_t step = 0;   ///< The first step that these results apply to.
    std::uint64_t tests = 0;  ///< 0: no gate has run tests.
    std::uint64_t tests_passed = 0;
    std::optional<bool> conformance = {};
    std::optional<std::uint64_t> checks = {};  ///< As in LastActivity.
    std::optional<std::uint64_t> checks_passed = {};
};

/// A file that the steps of a stage have changed. If the stage was entered again, it may have undone the change.
struct TouchedFile {
    std::uint64_t lines_added = 0;
    std::uint64_t lines_removed = 0;
    bool created = false;
    std::string last_modified;
};

/// Consecutive steps of one stage.
struct StepRange {
    std::string stage;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};

/// The state of a task, and an index of its records. Writes only caches. One thread at a time.
///
/// A new record costs the same whatever the journal's length. Memory: the state; an eighth of a byte for each record; bounded
/// lists of the rest. A snapshot is kept beside the journal (docs/adr/0014), so the next reader of the task begins there.
class FollowedTask {
public:
    FollowedTask(TaskPaths paths, std::string task_id);
    FollowedTask(const FollowedTask&) = delete;
    FollowedTask& operator=(const FollowedTask&) = delete;

    using Seen = std::function<void(const Record& record)>;
    /// Reads the appended records, and calls `seen` with each after folding it. To see the records of a snapshot too, pass `seen`
    /// in the first call; without it, they are not read. Reads a replaced journal from its beginning. Errors: those of
    /// JournalTail::read; AF-TASK-010, -011, -012 of the fold; AF-TASK-015 the journal belongs to another task; AF-TASK-019 its
    /// end is missing. After an error, everything read before stays.
    [[nodiscard]] Result<void> refresh(const Seen& seen = {});

    [[nodiscard]] const TaskPaths& paths() const noexcept { return paths_; }
    /// True if the task's model answers came from a transcript. Reads `task.yaml` once.
    [[nodiscard]] bool from_transcript() const;
    [[nodiscard]] const TaskState& state() const noexcept { return seen_.state; }
    [[nodiscard]] const LastActivity& activity() const noexcept { return seen_.activity; }
    /// The newest 100 at most.
    [[nodiscard]] const std::vector<IterationDecision>& decisions() const noexcept { return seen_.decisions; }
    /// At most 256, evenly spread over the steps.
    [[nodiscard]] const std::vector<UsagePoint>& usage() const noexcept { return seen_.usage; }
    /// Failed visits, refused artifacts and failed model calls since a stage was last completed.
    [[nodiscard]] std::uint64_t recent_errors() const noexcept { return seen_.recent_errors; }
    /// Files by path, at most 500 for each stage.
    [[nodiscard]] const std::map<std::string, TouchedFile>& touched(const std::string& stage) const;
    /// Returns the gate results as they were before the step after `number` began. Returns nothing if no gate had run, or if the
    /// result is no longer kept (the newest 256 changes are).
    [[nodiscard]] std::optional<CheckPoint> checks_after(std::uint64_t number) const;
    /// In order.
    [[nodiscard]] const std::vector<StepRange>& ranges() const noexcept { return seen_.ranges; }
    [[nodiscard]] std::size_t step_count() const noexcept { return seen_.steps; }

    /// Returns the error for a step that the task does not have.
    [[nodiscard]] Error no_step(std::string_view asked) const;
    /// Returns the record of step `number` and those after it, at most `count`. Errors: `not_found` AF-DASH-015; those of
    /// JournalTail::read_from.
    [[nodiscard]] Result<std::vector<Record>> steps(std::uint64_t number, std::size_t count) const;
    /// Returns the records after sequence number `after`, at most `count`. Errors: those of JournalTail::read_from.
    [[nodiscard]] Result<std::vector<Record>> records(Sequence after, std::size_t count) const;
    /// Returns the newest gate record of this name, or empty.
    [[nodiscard]] Result<std::optional<Record>> newest_gate(const std::string& name) const;
    /// Returns what a step is about, as LastActivity has it. Reads the arguments of old records, which do not say it.
    [[nodiscard]] std::string target_of(const Record& step) const;
    /// The contents that records refer to by hash.
    [[nodiscard]] const BlobStore& blobs() const noexcept { return blobs_; }

private:
    [[nodiscard]] Result<void> take(const Record& record, JournalOffset at);
    void take_decision(const Record& record);
    void take_step(const Record& record);
    void take_usage(const Record& record);
    void take_checks();
    void restart();
    [[nodiscard]] Result<void> read_tail(const JournalTail::Take& take);

    /// Everything read from the records. Each field goes into the snapshot.
    struct Findings {
        TaskState state;
        LastActivity activity;
        std::uint64_t steps = 0;
        std::vector<JournalOffset> places;           ///< The offset of every `records_apart`-th record, from the first.
        std::map<std::string, JournalOffset> gates;  ///< The newest record of each gate, by the gate's name.
        std::map<std::string, std::map<std::string, TouchedFile>> touched;  ///< By stage.
        std::vector<StepRange> ranges;
        std::vector<IterationDecision> decisions;
        std::vector<UsagePoint> usage;
        std::vector<CheckPoint> checks;  ///< One for each change of the results.
        std::uint64_t usage_every = 1;
        bool named = false;  ///< True once the journal is known to be this task's.
        std::uint64_t recent_errors = 0;
    };
    void begin_at_snapshot();
    void keep_snapshot_when_due();

    TaskPaths paths_;
    std::string task_id_;
    BlobStore blobs_;
    Findings seen_;
    Sequence snapshot_at_ = 0;
    bool began_ = false;
    bool is_whole_ = false;  ///< True once the journal is known to have its end.
    JournalTail tail_;
    mutable StepIndex index_;
    mutable std::optional<bool> from_transcript_;
};

}  // namespace agentforge::kernel
