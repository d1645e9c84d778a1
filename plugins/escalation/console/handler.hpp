// SPDX-License-Identifier: Apache-2.0
// Asks the person at the terminal.
#pragma once

#include <agentforge/escalation.hpp>

#include "terminal.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace agentforge::escalation_console {

/// `wait_*` show the question and read the answer from /dev/tty (not from standard input, which may be a pipe) until the deadline
/// or a cancel. An empty line and the end of input mean "not answered".
///   - A question: the number of an option, any other text, or `abort`.
///   - An approval: `y`, `n`, or a text, which rejects with that feedback. `x` (the task ends with it) and `c`, `c STAGE` (more
///     stages follow) become the `feedback` `exit`, `extend`, `extend STAGE` with `approved` true.
///   - An action (an approval whose id begins with `ACT-`): the same, and `e` opens it in the person's editor. The result
///     becomes the answer's `feedback` with `approved` true, as YAML. A refused answer is opened again with its last text.
/// What is longer than a screen is cut, with a note; `v` shows all of it. Without a terminal, reports that as progress and waits
/// like any other handler, so that another channel can answer. If the deadline has already passed, asks nothing. Shows text of
/// models with its control characters escaped. Ignores what was typed before the question was shown. Threads: any; questions are
/// asked one after the other.
class ConsoleHandler final : public EscalationHandler {
public:
    ConsoleHandler() = default;
    /// For tests: uses the caller's terminal, whose descriptors the caller keeps open, and an editor.
    ConsoleHandler(int in, int out, std::string editor = "")
        : given_(std::make_unique<Terminal>(in, out)), editor_(std::move(editor)) {}

    [[nodiscard]] std::string name() const override { return "console"; }
    [[nodiscard]] Result<void> notify(const Escalation& escalation, CallContext& context) override;
    [[nodiscard]] Result<std::optional<Resolution>> wait_for_resolution(const Escalation& escalation,
                                                                        CallContext& context) override;
    [[nodiscard]] Result<void> notify_approval(const ApprovalRequest& request, CallContext& context) override;
    [[nodiscard]] Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest& request,
                                                                    CallContext& context) override;

private:
    std::mutex one_question_;
    std::unique_ptr<Terminal> given_;
    std::string editor_;
    std::map<std::string, std::string> drafts_;  ///< A person's edits of an action, by its id.
};

}  // namespace agentforge::escalation_console
