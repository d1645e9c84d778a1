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
    std::string head;                    ///< Where it stands now.
    std::uint64_t commits = 0;           ///< New ones since the task's base.
    bool rewritten = false;              ///< The task's base is no longer part of it.
    std::vector<std::string> both;       ///< Files that the task and the new commits changed.
    std::vector<std::string> conflicts;  ///< Those of them that do not merge by themselves.
    [[nodiscard]] bool moved() const noexcept { return commits > 0 || rewritten; }
    bool operator==(const BaseDrift&) const = default;
};

/// The first line of the commit that `--include-uncommitted` puts below a task: it is not part of the user's branch, and never
/// was.
inline constexpr std::string_view uncommitted_title = "Uncommitted changes, taken along by AgentForge";

/// Keeps that commit alive, where a task's base is one: no branch leads to it before something is delivered on top. Errors:
/// AF-GIT-….
[[nodiscard]] Result<void> keep_uncommitted_base(const Repository& repository, const std::string& task_id,
                                                 const std::string& base_commit);
/// Its ref, without `refs/agentforge/`.
[[nodiscard]] std::string ref_of_uncommitted_base(const std::string& task_id);

/// Files in which the lines of both sides are kept: the kernel itself adds an entry to them.
[[nodiscard]] const std::vector<std::string>& files_of_both_sides();

/// Compares without touching anything. Errors: AF-GIT-….
[[nodiscard]] Result<BaseDrift> measure_drift(const Repository& repository, const std::string& base_branch,
                                              const std::string& base_commit, const std::string& base_tree,
                                              const std::string& tree);

/// Returns the drift as it is recorded.
[[nodiscard]] records::BaseDrift recorded(const BaseDrift& drift);
[[nodiscard]] json::object to_json(const BaseDrift& drift);
[[nodiscard]] BaseDrift drift_from_json(const json::object& value);
/// Returns `main has 3 new commits since the task began; both sides changed src/a.py, and those changes merge cleanly`.
[[nodiscard]] std::string describe(const BaseDrift& drift);

}  // namespace agentforge::kernel
