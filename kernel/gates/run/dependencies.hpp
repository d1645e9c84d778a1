// SPDX-License-Identifier: Apache-2.0
// Dependencies of a tree: fetched once for each content of its lockfiles, with network, when somebody has approved; then
// read-only.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "gates/gates.hpp"
#include "gates/language/language.hpp"
#include "gates/run/checkout.hpp"
#include "sandbox/process.hpp"

namespace agentforge::kernel {

/// What was fetched by one rule, as the commands of the gates use it: paths filled in.
struct Fetched {
    std::string folder;
    std::map<std::string, std::string> environment;
    std::map<std::string, std::string> links;
    std::map<std::string, std::string> programs;
};

/// The rules of a language that hold for a tree. `programs`: what the user names himself; a rule that only gives such programs is
/// left out.
[[nodiscard]] Result<std::vector<std::pair<const SetupRule*, SetupStep>>> steps_of(
    const Language& language, const std::string& tree, TreeCheckout& checkout, const std::string& directory,
    const std::map<std::string, std::string, std::less<>>& programs);
/// AF-GATE-100: what a lockfile names is not there, and nobody has approved of fetching it.
[[nodiscard]] Error not_fetched(const SetupStep& step);
[[nodiscard]] Fetched fetched_by(const SetupRule& rule, const SetupStep& step);

/// What a fetch is given besides its rule.
struct FetchPlace {
    std::map<std::string, std::string> toolchains;  ///< Variables that say where toolchains are.
    std::map<std::string, std::string>
        environment;  ///< The whole one; the allow-listed part, proxies and package indexes are passed on.
    std::vector<std::string> readable;
    std::filesystem::path scratch;    ///< With `home` and `tmp` in it.
    std::chrono::seconds timeout{0};  ///< 0: the rule's.
};

/// Runs the rule's command in the step's folder, which holds the step's files and nothing else. What it leaves counts once it has
/// ended well: a folder without the mark that is written then is emptied before the next attempt. Of several processes that fetch
/// the same one does. Errors: AF-GATE-101, AF-GATE-003, AF-GATE-005; git's, the file system's and the sandbox's own.
[[nodiscard]] Result<void> fetch(const SetupRule& rule, const SetupStep& step, const std::string& tree, TreeCheckout& checkout,
                                 ProcessRunner& processes, const FetchPlace& place, const Stop& stop);

}  // namespace agentforge::kernel
