// SPDX-License-Identifier: Apache-2.0
// Whether an artifact still matches the code: which of the files that it names have changed since it was made, and in which
// commits.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "git/history.hpp"
#include "git/repository.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

struct StaleFile {
    std::string path;
    char change = 'M';                  ///< Kind of the change, as in TreeChange.
    std::vector<std::string> named_by;  ///< The artifacts that name it.
    bool uncommitted = false;           ///< The change is in the checkout, but in no commit.
    /// The commits that changed it, newest first. Empty if none is found (a base with uncommitted changes).
    std::vector<CommitLine> commits;
    bool operator==(const StaleFile&) const = default;
};

struct Staleness {
    std::string base;  ///< The commit that the artifacts were made on.
    std::string head;  ///< The commit compared with it.
    std::string head_tree;
    bool base_is_gone = false;      ///< git has removed `base`, so nothing is known of what changed since.
    bool uncommitted_base = false;  ///< `base` contains uncommitted changes of a user, so it is on no branch.
    std::vector<StaleFile> files;   ///< Sorted by path.
    [[nodiscard]] bool stale() const noexcept { return base_is_gone || !files.empty(); }
};

using Folders = std::set<std::string, std::less<>>;

/// True if any text of the artifact names the path: as a separate word, or by a parent folder that is the whole text. Such a
/// folder ends with a slash (`src/auth/`) or is one of `folders`, which exist in the code.
[[nodiscard]] bool names_path(const json::object& artifact, std::string_view path, const Folders& folders = {});

/// Finds the files that the artifacts name and that differ between the two commits. `artifacts`: keyed by stage or contract.
/// `base`, `head`: commits. `checkout`: also compares the uncommitted changes on `head`. Changes nothing. Errors: AF-GIT-….
[[nodiscard]] Result<Staleness> measure_staleness(const Repository& repository,
                                                  const std::map<std::string, json::object, std::less<>>& artifacts,
                                                  const std::string& base, const std::string& head, bool checkout = false);

/// Returns the files as they are recorded.
[[nodiscard]] std::vector<records::StaleFile> recorded(const std::vector<StaleFile>& files);
/// Returns lines such as "src/a.py (in specification): 1f2e3d4c Rename the parser, and 2 more".
[[nodiscard]] std::vector<std::string> describe(const std::vector<StaleFile>& files);

}  // namespace agentforge::kernel
