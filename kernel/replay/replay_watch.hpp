// SPDX-License-Identifier: Apache-2.0
// Compares a replay with the recording, record by record, as it is written.
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replay/recorded_task.hpp"

namespace agentforge::kernel {

/// A difference between replay and recording.
struct ReplayDifference {
    enum class Kind : unsigned char { action = 1, observation, tree, verdict, artifact, missing, not_reached };
    Kind kind = Kind::action;
    std::string where;  ///< "step 7 (green, software_developer, edit_file)".
    std::string recorded;
    std::string now;
    bool fits = true;  ///< False: later records depend on this difference, so the replay stops here.
};
[[nodiscard]] std::string_view to_string(ReplayDifference::Kind kind) noexcept;

/// Returns what an action did then and does now, if it fits on no base: its success or failure differs, or it replaces a whole
/// file whose contents differ here.
[[nodiscard]] std::optional<ReplayDifference> mismatch_of(const StepRecord& recorded, const StepRecord& now,
                                                          const std::string& where);

/// How much was compared.
struct ReplayCounts {
    std::uint64_t actions = 0, gates = 0, artifacts = 0;
};

/// Returns the first line of each text in which the two differ, shortened.
[[nodiscard]] std::pair<std::string, std::string> first_difference(const std::string& one, const std::string& other,
                                                                   std::size_t max_bytes);

/// Compares two artifacts. Ignores their envelopes and everything that differs between any two runs: ids of tasks and commits,
/// times, durations, absolute paths.
[[nodiscard]] bool same_artifact(const json::value& one, const json::value& other);

/// Compares as follows:
///   - An action fits if it succeeds or fails as recorded. On another base, an action that replaces a whole file must also find
///     the same content as then, because it would otherwise undo the other base's changes in it.
///   - On the same base, the workspace after each action must be the same tree, byte for byte. The model's input, each gate's
///     verdict and each artifact are also compared; their differences are reported but stop nothing.
///
/// Threads: any; the thread that records calls `recorded`.
class ReplayWatch final : public RecordObserver {
public:
    /// `recorded` and `store` (of the replay) must outlive it. `next` receives everything that this receives, and may be null.
    ReplayWatch(const RecordedTask& recorded, const TaskStore& store, bool same_base, RecordObserver* next);

    void recorded(const TaskState& state, const StageState* left, const records::AnyRecord& record) override;
    /// Compares what an earlier process of the same replay recorded, and accepts everything that did not fit. Errors: those of
    /// fold.
    [[nodiscard]] Result<void> catch_up(const std::vector<Record>& records);
    /// Reports recorded events that are missing now or were not reached. Call it once the replay has ended or stopped. `state`:
    /// the replay's.
    void finish(const TaskState& state);

    /// Returns the first difference that does not fit and was not accepted.
    [[nodiscard]] std::optional<ReplayDifference> mismatch() const;
    [[nodiscard]] std::vector<ReplayDifference> differences() const;
    [[nodiscard]] ReplayCounts counts() const;
    /// Returns how many decisions and answers of the stage the replay has.
    [[nodiscard]] std::size_t decided(const std::string& stage) const;
    [[nodiscard]] std::size_t resolved(const std::string& stage) const;
    /// Returns the replay's workspace as last recorded.
    [[nodiscard]] std::string tree() const;

private:
    class Comparison;
    const RecordedTask& recorded_;
    const TaskStore& store_;
    bool same_base_;
    RecordObserver* next_;
    mutable std::mutex mutex_;          ///< Guards the members below.
    std::unique_ptr<BlobStore> blobs_;  ///< Blobs of the replay.
    std::vector<ReplayDifference> differences_;
    std::size_t accepted_ = 0;  ///< Differences before this index were accepted.
    std::set<StepPlace> done_;
    std::map<GatePlace, std::size_t> gates_;
    std::map<std::string, std::size_t> artifacts_;
    std::map<std::string, std::size_t> decided_;
    std::map<std::string, std::size_t> resolved_;
    ReplayCounts counts_;
    std::string tree_;
};

}  // namespace agentforge::kernel
