// SPDX-License-Identifier: Apache-2.0
// Whether an artifact still tells of the code as it is (North Star 13.8): which of the files that it names were changed since it
// was made, and by which commits.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "git/history.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

struct StaleFile {
    std::string path;
    char change = 'M';                  ///< As in TreeChange: what became of it since.
    std::vector<std::string> named_by;  ///< The artifacts, by the names they were given under.
    bool uncommitted = false;           ///< As the checkout has it, no commit has it.
    std::vector<CommitLine>
        commits;  ///< That changed it, the newest first; empty where none of them is found (a base with uncommitted changes).
    bool operator==(const StaleFile&) const = default;
};

struct Staleness {
    std::string base;  ///< The commit that the artifacts were made on.
    std::string head;  ///< The commit that it was compared with.
    std::string head_tree;
    bool uncommitted_base = false;  ///< `base` holds what a user had not committed: it is no part of a branch.
    std::vector<StaleFile> files;   ///< By path.
    [[nodiscard]] bool stale() const noexcept { return !files.empty(); }
};

/// Whether a text of the artifact, at whatever place, names the path: as a word of its own, or a folder above it (`src/auth/`,
/// with the slash) as a whole text.
[[nodiscard]] bool names_path(const json::object& artifact, std::string_view path);

/// `artifacts`: by any names, a stage's or a contract's. `base`, `head`: commits. `checkout`: the uncommitted changes of the
/// checkout lie on `head`. Nothing is touched. Errors: AF-GIT-….
[[nodiscard]] Result<Staleness> measure_staleness(const Repository& repository,
                                                  const std::map<std::string, json::object, std::less<>>& artifacts,
                                                  const std::string& base, const std::string& head, bool checkout = false);

/// As a record keeps it: `path`, `change`, `named_by`, `commits` (`id subject`).
[[nodiscard]] json::array to_json(const std::vector<StaleFile>& files);
/// "src/a.py (in specification): 1f2e3d4c Rename the parser, and 2 more", a line each.
[[nodiscard]] std::vector<std::string> describe(const std::vector<StaleFile>& files);

}  // namespace agentforge::kernel
