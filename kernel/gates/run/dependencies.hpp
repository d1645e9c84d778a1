// SPDX-License-Identifier: Apache-2.0
// Dependencies of a tree: fetched once for each content of its lockfiles, with network, after a person has approved; then
// read-only.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/cancel_token.hpp"
#include "gates/gate_runner.hpp"
#include "gates/language/language.hpp"
#include "gates/run/tree_checkout.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {

/// What one rule fetched, as the gates' commands use it: with paths filled in.
struct Fetched {
    std::string folder;
    std::map<std::string, std::string> environment;
    std::map<std::string, std::string> links;
    std::map<std::string, std::string> programs;
};

/// Returns the rules of a language that apply to a tree. `programs`: those named by the user; skips a rule that only provides
/// these.
[[nodiscard]] Result<std::vector<std::pair<const SetupRule*, SetupStep>>> steps_of(
    const Language& language, const std::string& tree, TreeCheckout& checkout, const std::string& directory,
    const std::map<std::string, std::string, std::less<>>& programs);
/// Returns AF-GATE-100: a lockfile's dependencies are missing, and no one has approved fetching them.
[[nodiscard]] Error not_fetched(const SetupStep& step);
[[nodiscard]] Fetched fetched_by(const SetupRule& rule, const SetupStep& step);

/// What a fetch needs in addition to its rule.
struct FetchPlace {
    std::map<std::string, std::string> toolchains;  ///< Variables that locate toolchains.
    /// The complete environment. The allow-listed part, proxies and package indexes are passed on.
    std::map<std::string, std::string> environment;
    std::vector<std::string> readable;
    std::filesystem::path scratch;    ///< Contains `home` and `tmp`.
    std::chrono::seconds timeout{0};  ///< 0: the rule's.
};

/// Runs the rule's command in the step's folder, which contains only the step's files. Its result counts only after it has
/// succeeded, which writes a mark: a folder without the mark is emptied before the next attempt. If several processes fetch the
/// same, one does the work. Errors: AF-GATE-101, AF-GATE-003, AF-GATE-005; git's, the file system's and the sandbox's own.
[[nodiscard]] Result<void> fetch(const SetupRule& rule, const SetupStep& step, const std::string& tree, TreeCheckout& checkout,
                                 ProcessRunner& processes, const FetchPlace& place, const Stop& stop);

}  // namespace agentforge::kernel
