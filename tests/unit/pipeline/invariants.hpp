// SPDX-License-Identifier: Apache-2.0
// The invariants of a task, by the numbers in task/fold.hpp. Each check gets one record, the state before it and the state after
// it.
#pragma once

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "config/gate_names.hpp"
#include "task/fold.hpp"
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

/// 2. A stage with an exit gate is completed only if that gate passed, whole, on the tree that was handed in. Tests from outside
/// do not count before it passed either.
inline bool concerns_2(const Folded& folded) {
    const bool counts = folded.type() == "stage_completed" || (folded.type() == "stage_skipped" && adopts_tests(folded.before));
    return folded.taken && counts && !exit_gate(folded.before.stage_template()).empty();
}
inline Broken invariant_2(const Folded& folded) {
    if (!concerns_2(folded)) { return {}; }
    const std::string gate = exit_gate(folded.before.stage_template());
    const auto measured = folded.before.gates.find(gate);
    const bool held = measured != folded.before.gates.end() && measured->second.passed && !measured->second.partial &&
                      measured->second.tree == folded.before.tree;
    return held ? "" : folded.before.stage().name + " was completed without its gate";
}

/// 3. A stage is completed only after all its reviewers passed its artifact and, if required, a person approved it.
inline bool concerns_3(const Folded& folded) {
    return folded.taken && folded.type() == "stage_completed" &&
           (!folded.before.stage_template().reviewers.empty() || !folded.before.stage().approved_hash.empty() ||
            wants_approval(folded.before));
}
inline Broken invariant_3(const Folded& folded) {
    if (!concerns_3(folded)) { return {}; }
    const auto& reviewers = folded.before.stage_template().reviewers;
    const bool reviewed =
        std::ranges::all_of(reviewers, [&](const std::string& reviewer) { return folded.before.reviewed_by.contains(reviewer); });
    if (!reviewed) { return folded.before.stage().name + " was completed without its reviews"; }
    return wants_approval(folded.before) ? folded.before.stage().name + " was completed without an approval" : "";
}

/// 4. After a completed or aborted task, only what happens to its delivered commit is recorded. A completed task that has
/// delivered nothing may continue.
inline bool concerns_4(const Folded& folded) {
    return folded.before.status == TaskStatus::completed || folded.before.status == TaskStatus::aborted;
}
inline Broken invariant_4(const Folded& folded) {
    static const std::set<std::string> allowed{"rebased", "note", "recovered"};
    const bool undelivered = folded.before.status == TaskStatus::completed && !has_delivered(folded.before);
    if (undelivered && folded.type() == "task_continued") { return {}; }
    if (!concerns_4(folded) || !folded.taken || allowed.contains(folded.type())) { return {}; }
    return folded.type() + " was recorded after the task's end";
}

/// 5. Only an executing stage changes the workspace. Exceptions of the kernel: it removes held-out tests and puts them back, a
/// cycle restores its stage's tree, and a task that continues after its end may move to a newer base.
inline bool concerns_5(const Folded& folded) { return folded.before.tree != folded.after.tree; }
inline Broken invariant_5(const Folded& folded) {
    if (!concerns_5(folded) || folded.before.progress == StageProgress::executing) { return {}; }
    static const std::set<std::string> kernels{"task_created", "held_out", "cycle_started", "task_continued"};
    return kernels.contains(folded.type()) ? "" : folded.type() + " changed the workspace of a stage that does not execute";
}

/// 6. A commit is delivered only from a tree on which the deliver gate passed.
inline bool concerns_6(const Folded& folded) {
    return folded.taken && (folded.type() == "delivered" || folded.type() == "delivery_prepared");
}
inline Broken invariant_6(const Folded& folded) {
    if (!concerns_6(folded)) { return {}; }
    const auto measured = folded.before.gates.find(gate_name::deliver);
    const bool held = measured != folded.before.gates.end() && measured->second.passed && !measured->second.partial &&
                      measured->second.tree == folded.record.at("tree").as_string();
    return held ? "" : "a commit was delivered without its gate";
}

/// 7. The task goes back to a stage at most `max_cycles` times between two questions to a person about it.
inline bool concerns_7(const Folded& folded) { return folded.taken && folded.type() == "cycle_started"; }
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
inline bool concerns_8(const Folded& folded) { return !folded.taken; }
inline Broken invariant_8(const Folded& folded) {
    return folded.taken || folded.before == folded.after ? "" : folded.type() + " was refused and changed the state";
}

/// 9. The files that the state names are below the task's folder.
inline bool concerns_9(const Folded& folded) {
    return std::ranges::any_of(folded.after.stages, [](const StageState& stage) { return !stage.artifact.empty(); });
}
inline Broken invariant_9(const Folded& folded) {
    const auto leads_out = [](const std::string& file) {
        return file.starts_with('/') || ("/" + file + "/").find("/../") != std::string::npos;
    };
    for (const StageState& stage : folded.after.stages) {
        if (leads_out(stage.artifact)) {
            return "the artifact of " + stage.name + " is not below the task's folder: " + stage.artifact;
        }
    }
    for (const auto& [contract, input] : folded.after.external_inputs) {
        if (leads_out(input.artifact)) {
            return "the imported " + contract + " is not below the task's folder: " + input.artifact;
        }
    }
    for (const Resumption::PastHandBack& past : folded.after.resumption.hand_backs) {
        if (leads_out(*past.evidence.patch)) {
            return "the patch that " + past.from + " handed back is not below the task's folder: " + *past.evidence.patch;
        }
    }
    if (const std::string patch = folded.after.delivery.patch_file.value_or(""); leads_out(patch)) {
        return "the delivered patch is not below the task's folder: " + patch;
    }
    return {};
}

/// 10. The template of a completed stage never changes, whatever stages are added after it.
inline bool concerns_10(const Folded& folded) {
    return folded.taken && folded.record.contains("extension") &&
           (folded.type() == "task_continued" || folded.type() == "approval_decided");
}
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

/// 11. The task's state changes only as `task_transitions` says.
inline bool concerns_11(const Folded& folded) { return folded.taken && folded.before.status != folded.after.status; }
inline Broken invariant_11(const Folded& folded) {
    if (folded.before.task_id.empty()) { return {}; }
    const std::string type = folded.type();
    const auto is_this = [&](const TaskTransition& each) { return each.record == type; };
    const auto fits = [&](const TaskTransition& each) {
        return is_this(each) && each.from == folded.before.status && each.to == folded.after.status;
    };
    const bool moves = std::ranges::any_of(task_transitions, is_this) || folded.before.status != folded.after.status;
    if (!folded.taken || !moves || std::ranges::any_of(task_transitions, fits)) { return {}; }
    return type + " led from " + std::string(to_string(folded.before.status)) + " to " +
           std::string(to_string(folded.after.status));
}

/// 12. A stage that delivers is completed only after the task's change was delivered.
inline bool concerns_12(const Folded& folded) {
    return folded.taken && folded.type() == "stage_completed" && makes_delivery(folded.before.stage_template());
}
inline Broken invariant_12(const Folded& folded) {
    if (!concerns_12(folded)) { return {}; }
    return has_delivered(folded.before) ? "" : folded.before.stage().name + " was completed without a delivery";
}

struct Invariant {
    unsigned number;
    Broken (*broken)(const Folded& folded);
    bool (*concerns)(const Folded& folded);  ///< True if this record could have broken it.
};

inline bool concerns_1(const Folded& folded) { return folded.taken; }

inline constexpr std::array<Invariant, 12> invariants{{{1, invariant_1, concerns_1},
                                                       {2, invariant_2, concerns_2},
                                                       {3, invariant_3, concerns_3},
                                                       {4, invariant_4, concerns_4},
                                                       {5, invariant_5, concerns_5},
                                                       {6, invariant_6, concerns_6},
                                                       {7, invariant_7, concerns_7},
                                                       {8, invariant_8, concerns_8},
                                                       {9, invariant_9, concerns_9},
                                                       {10, invariant_10, concerns_10},
                                                       {11, invariant_11, concerns_11},
                                                       {12, invariant_12, concerns_12}}};

/// How many records could have broken each invariant, by its number.
using Tried = std::array<std::uint64_t, invariants.size() + 1>;

/// Returns `3: green was completed without its reviews`, for each broken invariant.
inline std::string broken_invariants(const Folded& folded, Tried* tried = nullptr) {
    std::string all;
    for (const Invariant& one : invariants) {
        if (tried != nullptr) { (*tried)[one.number] += one.concerns(folded) ? 1 : 0; }
        if (const Broken broken = one.broken(folded); !broken.empty()) {
            all += std::to_string(one.number) + ": " + broken + "\n";
        }
    }
    return all;
}

}  // namespace agentforge::kernel::testing
