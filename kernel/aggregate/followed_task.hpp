// SPDX-License-Identifier: Apache-2.0
// One task, followed by its journal as it grows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/overview.hpp"
#include "journal/tail.hpp"
#include "task/state.hpp"
#include "task/step_index.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

/// What a person decided on a version of an artifact (North Star 13.13).
struct IterationDecision {
    std::string stage;
    unsigned iteration = 0;  ///< Of its stage, from 1.
    std::string decision;    ///< `approve`, `revise` or `reject`.
    std::string at;
    std::string by;
    std::string feedback;
};

/// What the task had used when a step was done.
struct UsagePoint {
    std::string at;
    std::uint64_t step = 0;
    std::uint64_t tokens = 0;
    std::uint64_t cost_microusd = 0;
};

/// What gates had found when a step was done.
struct CheckPoint {
    std::uint64_t step = 0;   ///< From here on.
    std::uint64_t tests = 0;  ///< 0: no gate had run any.
    std::uint64_t tests_passed = 0;
    std::optional<bool> conformance = {};
};

/// A file that steps of a stage have changed. A stage that was entered again may have changed it back.
struct TouchedFile {
    std::uint64_t lines_added = 0;
    std::uint64_t lines_removed = 0;
    bool created = false;
    std::string last_modified;
};

/// Steps in a row that are of one stage.
struct StepRange {
    std::string stage;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};

/// The state of a task and what can be found by its records' places. Writes nothing but caches. One thread at a time.
///
/// A new record costs the same whatever the journal's length. Memory: the state; an eighth of a byte for each record; bounded
/// lists of the rest. What many records came to is kept beside the journal (docs/adr/0014), so that the next one who follows the
/// task begins there.
class FollowedTask {
public:
    FollowedTask(TaskPaths paths, std::string task_id);
    FollowedTask(const FollowedTask&) = delete;
    FollowedTask& operator=(const FollowedTask&) = delete;

    using Seen = std::function<void(const Record& record)>;
    /// Reads what was appended, and shows each record after it was folded. Who wants to see them says so the first time: else
    /// those in a snapshot are not read. A journal that was replaced is read from its beginning. Errors: those of
    /// JournalTail::read; AF-TASK-010, -011, -012 of the fold; AF-TASK-015 it is another task's journal. What was read before
    /// stays.
    [[nodiscard]] Result<void> refresh(const Seen& seen = {});

    [[nodiscard]] const TaskPaths& paths() const noexcept { return paths_; }
    [[nodiscard]] const TaskState& state() const noexcept { return seen_.state; }
    [[nodiscard]] const LastActivity& activity() const noexcept { return seen_.activity; }
    /// At most the newest 100.
    [[nodiscard]] const std::vector<IterationDecision>& decisions() const noexcept { return seen_.decisions; }
    /// At most 256, evenly spread over the steps.
    [[nodiscard]] const std::vector<UsagePoint>& usage() const noexcept { return seen_.usage; }
    /// Failed visits, refused artifacts and failed model calls since a stage was completed last.
    [[nodiscard]] std::uint64_t recent_errors() const noexcept { return seen_.recent_errors; }
    /// By path; at most 500 of a stage.
    [[nodiscard]] const std::map<std::string, TouchedFile>& touched(const std::string& stage) const;
    /// As gates had found it before the step after `number` began; nothing where none had, or where it is not known any more (the
    /// newest 256 changes are kept).
    [[nodiscard]] std::optional<CheckPoint> checks_after(std::uint64_t number) const;
    /// In order.
    [[nodiscard]] const std::vector<StepRange>& ranges() const noexcept { return seen_.ranges; }
    [[nodiscard]] std::size_t step_count() const noexcept { return seen_.steps; }

    /// What is told of a step that the task does not have.
    [[nodiscard]] Error no_step(std::string_view asked) const;
    /// The record of step `number` and those after it, at most `count`. Errors: `not_found` AF-DASH-015; those of
    /// JournalTail::read_from.
    [[nodiscard]] Result<std::vector<Record>> steps(std::uint64_t number, std::size_t count) const;
    /// Records after sequence number `after`, at most `count`. Errors: those of JournalTail::read_from.
    [[nodiscard]] Result<std::vector<Record>> records(Sequence after, std::size_t count) const;
    /// The newest gate record of this name; empty where there is none.
    [[nodiscard]] Result<std::optional<Record>> newest_gate(const std::string& name) const;
    /// Bodies that records name by hash.
    [[nodiscard]] const BlobStore& blobs() const noexcept { return blobs_; }

private:
    [[nodiscard]] Result<void> take(const Record& record, JournalOffset at);
    void take_decision(const Record& record);
    void take_step(const Record& record);
    void take_usage(const Record& record);
    void take_checks();
    void start_anew();

    /// All that records came to; each field goes into the snapshot.
    struct Findings {
        TaskState state;
        LastActivity activity;
        std::uint64_t steps = 0;
        std::vector<JournalOffset> places;           ///< Of every `records_apart`-th record, from the first.
        std::map<std::string, JournalOffset> gates;  ///< By name, the newest record.
        std::map<std::string, std::map<std::string, TouchedFile>> touched;  ///< By stage.
        std::vector<StepRange> ranges;
        std::vector<IterationDecision> decisions;
        std::vector<UsagePoint> usage;
        std::vector<CheckPoint> checks;  ///< Where they changed.
        std::uint64_t usage_every = 1;
        bool named = false;  ///< The journal is this task's.
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
    JournalTail tail_;
    mutable StepIndex index_;
};

}  // namespace agentforge::kernel
