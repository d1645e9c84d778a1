// SPDX-License-Identifier: Apache-2.0
// Holds a replay against what was recorded, record by record, as it is written.
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replay/recorded_task.hpp"

namespace agentforge::kernel {

/// Where replay and recording are not the same.
struct ReplayDifference {
    enum class Kind : unsigned char { action = 1, observation, tree, verdict, artifact, missing };
    Kind kind = Kind::action;
    std::string where;  ///< "step 7 (green, software_developer, edit_file)".
    std::string recorded;
    std::string now;
    bool fits = true;  ///< false: what follows was recorded after something else, so the replay stops here.
};
[[nodiscard]] std::string_view to_string(ReplayDifference::Kind kind) noexcept;

/// What an action did then and does now, where that does not fit on any base: it succeeds or fails as it did not, or replaces a
/// whole file that has other contents here.
[[nodiscard]] std::optional<ReplayDifference> misfit_of(const StepRecord& recorded, const StepRecord& now,
                                                        const std::string& where);

/// How much was compared.
struct ReplayCounts {
    std::uint64_t actions = 0, gates = 0, artifacts = 0;
};

/// The first line in which the two differ, of each; what is longer is cut.
[[nodiscard]] std::pair<std::string, std::string> first_difference(const std::string& one, const std::string& other,
                                                                   std::size_t max_bytes);

/// Two artifacts without their envelopes, and without what differs between any two runs: ids of tasks and commits, times,
/// durations, absolute paths.
[[nodiscard]] bool same_artifact(const json::value& one, const json::value& other);

/// What is compared:
/// - an action fits where it succeeds as it did, or fails as it did. On another base an action that replaces a whole file must
/// find the file as it was found
///   then: it would undo what the other base has changed in it;
/// - on the same base the workspace after each action must be the same tree, byte for byte, and what the model was shown, each
/// gate's verdict and each
///   artifact are compared too (they are told, and stop nothing).
///
/// Threads: any; `recorded` is called by the one that records.
class ReplayWatch final : public RecordObserver {
public:
    /// `recorded` and `store` (of the replay) outlive it; `next` is told all that this one is, and may be null.
    ReplayWatch(const RecordedTask& recorded, const TaskStore& store, bool same_base, RecordObserver* next);

    void recorded(const TaskState& state, const StageState* left, const records::AnyRecord& record) override;
    /// Compares what an earlier process of the same replay recorded; all that did not fit is accepted. Errors: those of fold.
    [[nodiscard]] Result<void> catch_up(const std::vector<Record>& records);
    /// Names what was recorded and is not there now. Call once the replay has ended; `state`: the replay's.
    void finish(const TaskState& state);

    /// The first difference that does not fit and was not accepted.
    [[nodiscard]] std::optional<ReplayDifference> misfit() const;
    [[nodiscard]] std::vector<ReplayDifference> differences() const;
    [[nodiscard]] ReplayCounts counts() const;
    /// How many decisions and answers of the stage the replay has.
    [[nodiscard]] std::size_t decided(const std::string& stage) const;
    [[nodiscard]] std::size_t resolved(const std::string& stage) const;
    /// The replay's workspace as recorded last.
    [[nodiscard]] std::string tree() const;

private:
    class Comparison;
    const RecordedTask& recorded_;
    const TaskStore& store_;
    bool same_base_;
    RecordObserver* next_;
    mutable std::mutex mutex_;          ///< Guards what follows.
    std::unique_ptr<BlobStore> blobs_;  ///< Of the replay.
    std::vector<ReplayDifference> differences_;
    std::size_t accepted_ = 0;  ///< Differences before this one were accepted.
    std::set<StepPlace> done_;
    std::map<GatePlace, std::size_t> gates_;
    std::map<std::string, std::size_t> artifacts_;
    std::map<std::string, std::size_t> decided_;
    std::map<std::string, std::size_t> resolved_;
    ReplayCounts counts_;
    std::string tree_;
};

}  // namespace agentforge::kernel
