// SPDX-License-Identifier: Apache-2.0
// The invariants of a task, by the numbers in task/fold.hpp. Each check gets one record, the state before it and the state after
// it.
#pragma once

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "config/gate_names.hpp"
#include "task/state.hpp"

namespace agentforge::kernel::testing {

/// A record that the fold accepted or refused.
struct Folded {
    const TaskState& before;
    const json::object& record;
    const TaskState& after;
    bool taken = true;

    [[nodiscard]] std::string type() const { return std::string(record.at("type").as_string()); }
};

/// What is broken, in words. Empty if the invariant holds.
using Broken = std::string;

/// 1. At most one stage is running, and it is the current one.
inline Broken invariant_1(const Folded& folded) {
    for (std::size_t index = 0; index < folded.after.stages.size(); ++index) {
        if (folded.after.stages[index].status == StageStatus::running && index != folded.after.stage_index) {
            return folded.after.stages[index].name + " runs and is not the current stage";
        }
    }
    return {};
}

/// 2. A stage with an exit gate is completed only if that gate passed, whole, on the tree that was handed in.
inline Broken invariant_2(const Folded& folded) {
    if (!folded.taken || folded.type() != "stage_completed") { return {}; }
    const std::string gate = exit_gate(folded.before.stage_template());
    if (gate.empty()) { return {}; }
    const auto measured = folded.before.gates.find(gate);
    const bool held = measured != folded.before.gates.end() && measured->second.passed && !measured->second.partial &&
                      measured->second.tree == folded.before.tree;
    return held ? "" : folded.before.stage().name + " was completed without its gate";
}

/// 3. A stage is completed only after all its reviewers passed its artifact and, if required, a person approved it.
inline Broken invariant_3(const Folded& folded) {
    if (!folded.taken || folded.type() != "stage_completed") { return {}; }
    const auto& reviewers = folded.before.stage_template().reviewers;
    const bool reviewed =
        std::ranges::all_of(reviewers, [&](const std::string& reviewer) { return folded.before.reviewed_by.contains(reviewer); });
    if (!reviewed) { return folded.before.stage().name + " was completed without its reviews"; }
    return wants_approval(folded.before) ? folded.before.stage().name + " was completed without an approval" : "";
}

/// 4. After a completed or aborted task, only what happens to its delivered commit is recorded. A completed task that has
/// delivered nothing may continue.
inline Broken invariant_4(const Folded& folded) {
    const bool over = folded.before.status == TaskStatus::completed || folded.before.status == TaskStatus::aborted;
    static const std::set<std::string> allowed{"rebased", "note", "recovered"};
    const bool undelivered =
        folded.before.status == TaskStatus::completed && folded.before.commit.empty() && folded.before.delivery.empty();
    if (undelivered && folded.type() == "task_continued") { return {}; }
    if (!over || !folded.taken || allowed.contains(folded.type())) { return {}; }
    return folded.type() + " was recorded after the task's end";
}

/// 5. Only an executing stage changes the workspace. Exceptions of the kernel: it removes held-out tests and puts them back, and
/// a cycle restores its stage's tree.
inline Broken invariant_5(const Folded& folded) {
    if (folded.before.tree == folded.after.tree || folded.before.progress == StageProgress::executing) { return {}; }
    static const std::set<std::string> kernels{"task_created", "held_out", "cycle_started", "stage_started", "task_continued"};
    return kernels.contains(folded.type()) ? "" : folded.type() + " changed the workspace of a stage that does not execute";
}

/// 6. A commit is delivered only from a tree on which the deliver gate passed.
inline Broken invariant_6(const Folded& folded) {
    if (!folded.taken || folded.type() != "delivered") { return {}; }
    const auto measured = folded.before.gates.find(gate_name::deliver);
    const bool held = measured != folded.before.gates.end() && measured->second.passed && !measured->second.partial &&
                      measured->second.tree == folded.record.at("tree").as_string();
    return held ? "" : "a commit was delivered without its gate";
}

/// 7. The task goes back to a stage at most `max_cycles` times between two questions to a person about it.
inline Broken invariant_7(const Folded& folded) {
    for (std::size_t index = 0; index < folded.after.stages.size(); ++index) {
        if (folded.after.stages[index].cycles - folded.after.stages[index].cycles_before >
            folded.after.pipeline.stages[index].max_cycles) {
            return folded.after.stages[index].name + " was gone back to too often";
        }
    }
    return {};
}

/// 8. A refused record changes nothing.
inline Broken invariant_8(const Folded& folded) {
    return folded.taken || folded.before == folded.after ? "" : folded.type() + " was refused and changed the state";
}

/// 9. The files that the state names are below the task's folder.
inline Broken invariant_9(const Folded& folded) {
    for (const StageState& stage : folded.after.stages) {
        const bool leads_out = stage.artifact.starts_with('/') || ("/" + stage.artifact + "/").find("/../") != std::string::npos;
        if (leads_out) { return "the artifact of " + stage.name + " is not below the task's folder: " + stage.artifact; }
    }
    return {};
}

/// 10. The template of a completed stage never changes, whatever stages are added after it.
inline Broken invariant_10(const Folded& folded) {
    const auto& before = folded.before.pipeline.stages;
    const auto& after = folded.after.pipeline.stages;
    for (std::size_t index = 0; index < before.size() && index < folded.before.stages.size(); ++index) {
        if (folded.before.stages[index].status != StageStatus::completed) { continue; }
        if (index >= after.size() || after[index] != before[index]) {
            return before[index].name + " has another template than it was done by";
        }
    }
    return {};
}

struct Invariant {
    unsigned number;
    Broken (*broken)(const Folded& folded);
};

inline constexpr std::array<Invariant, 10> invariants{{{1, invariant_1},
                                                       {2, invariant_2},
                                                       {3, invariant_3},
                                                       {4, invariant_4},
                                                       {5, invariant_5},
                                                       {6, invariant_6},
                                                       {7, invariant_7},
                                                       {8, invariant_8},
                                                       {9, invariant_9},
                                                       {10, invariant_10}}};

/// Returns `3: green was completed without its reviews`, for each broken invariant.
inline std::string broken_invariants(const Folded& folded) {
    std::string all;
    for (const Invariant& one : invariants) {
        if (const Broken broken = one.broken(folded); !broken.empty()) {
            all += std::to_string(one.number) + ": " + broken + "\n";
        }
    }
    return all;
}

}  // namespace agentforge::kernel::testing
