// SPDX-License-Identifier: Apache-2.0
// How the user's branch has changed since the task began.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>

#include "git/repository.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

struct BaseDrift {
    std::string branch;                  ///< The branch that the task began on; empty: HEAD was detached, or that branch is gone.
    std::string head;                    ///< The branch's current commit.
    std::uint64_t commits = 0;           ///< New commits since the task's base.
    bool rewritten = false;              ///< The task's base is no longer part of it.
    std::vector<std::string> both;       ///< Files that the task and the new commits changed.
    std::vector<std::string> conflicts;  ///< Those of them that do not merge automatically.
    [[nodiscard]] bool moved() const noexcept { return commits > 0 || rewritten; }
    bool operator==(const BaseDrift&) const = default;
};

/// The title of the commit that `--include-uncommitted` makes as a task's base. It was never part of the user's branch.
inline constexpr std::string_view uncommitted_title = "Uncommitted changes, taken along by AgentForge";

/// Keeps a ref to a task's base if it is such a commit: no branch contains it before delivery. Errors: AF-GIT-….
[[nodiscard]] Result<void> keep_uncommitted_base(const Repository& repository, const std::string& task_id,
                                                 const std::string& base_commit);
/// Returns the ref of that commit, without `refs/agentforge/`.
[[nodiscard]] std::string ref_of_uncommitted_base(const std::string& task_id);

/// Files whose merge keeps the lines of both sides, because the kernel adds an entry to them.
[[nodiscard]] const std::vector<std::string>& files_of_both_sides();

/// Compares the branch with the task's base. Changes nothing. Errors: AF-GIT-….
[[nodiscard]] Result<BaseDrift> measure_drift(const Repository& repository, const std::string& base_branch,
                                              const std::string& base_commit, const std::string& base_tree,
                                              const std::string& tree);

/// Returns the drift as it is recorded.
[[nodiscard]] records::BaseDrift recorded(const BaseDrift& drift);
[[nodiscard]] json::object to_json(const BaseDrift& drift);
[[nodiscard]] BaseDrift drift_from_json(const json::object& value);
/// Returns `main has 3 new commits since the task began; both sides changed src/a.py, and those changes merge cleanly`.
/// `since_rebase`: the base is that of an earlier rebase, not the task's first one.
[[nodiscard]] std::string describe(const BaseDrift& drift, bool since_rebase = false);

}  // namespace agentforge::kernel
