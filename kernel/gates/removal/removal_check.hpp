// SPDX-License-Identifier: Apache-2.0
// Measures a change whose request asks to remove something: puts its removed lines back, and runs the tests.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

#include "base/cancel_token.hpp"
#include "gates/gate_runner.hpp"
#include "gates/language/language.hpp"
#include "gates/removal/removal_evidence.hpp"
#include "gates/run/language_commands.hpp"

namespace agentforge::kernel {

/// The tests of which at least one must fail.
struct RemovalTests {
    std::vector<std::string> files;
    std::vector<std::string> passing;         ///< Ids of those that pass on the changed tree.
    std::chrono::milliseconds suite_time{0};  ///< Limits all runs together: this, or 30 s if that is longer.
};

/// Puts removed lines back, one place at a time (ten at most), and runs the tests and the held-out ones. Errors: AF-GATE-005
/// cancelled; git's and the sandbox's own.
[[nodiscard]] Result<RemovalEvidence> check_removal(LanguageCommands& commands, const Language& language, const GateCall& call,
                                                    const RemovalTests& tests, const Stop& stop);

/// The same for a request that does not ask to remove anything. Only lost and weakened checks are put back (`RemovalReview`),
/// three places at most. Branches that drop an error must be reached by a test (`dropped_errors`), three at most.
[[nodiscard]] Result<RemovalEvidence> check_lost_checks(LanguageCommands& commands, const Language& language,
                                                        const GateCall& call, const RemovalTests& tests, const Stop& stop);

/// Returns why a documentation task must not be delivered: nothing differs from the user's commit but the changelog, locked tests
/// and whitespace. Applies to requests for documentation, and to tasks in which no stage wrote tests, so only documents could
/// change. If the request names the changelog, an entry there is enough. Errors: git's own.
[[nodiscard]] Result<std::optional<std::string>> missing_documentation(TreeCheckout& whole, const GateCall& call);

}  // namespace agentforge::kernel
