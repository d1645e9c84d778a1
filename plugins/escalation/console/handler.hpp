// SPDX-License-Identifier: Apache-2.0
// Asks the person at the terminal (001 §3.2).
#pragma once

#include <agentforge/escalation.hpp>

#include "terminal.hpp"

#include <memory>
#include <mutex>

namespace agentforge::escalation_console {

/// `wait_*` show the question and read the answer from /dev/tty (not from standard input, which may
/// be a pipe) until the deadline or a cancel; an empty line and the end of input mean "not answered".
///   - A question: the number of an option, any other text, or `abort`.
///   - An approval: `y`, `n`, or a text, which rejects with that feedback.
/// Without a terminal it says so as progress and returns empty, so that another channel can answer.
/// A deadline that has passed already asks nothing. Text of models is shown with its control
/// characters escaped, and what was typed before the question was shown is no answer.
/// Threads: any; questions are asked one after the other.
class ConsoleHandler final : public EscalationHandler {
public:
    ConsoleHandler() = default;
    /// For tests: a terminal of the caller, who keeps the descriptors open.
    ConsoleHandler(int in, int out) : given_(std::make_unique<Terminal>(in, out)) {}

    [[nodiscard]] std::string name() const override { return "console"; }
    [[nodiscard]] Result<void> notify(const Escalation& escalation, CallContext& context) override;
    [[nodiscard]] Result<std::optional<Resolution>> wait_for_resolution(const Escalation& escalation, CallContext& context) override;
    [[nodiscard]] Result<void> notify_approval(const ApprovalRequest& request, CallContext& context) override;
    [[nodiscard]] Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest& request, CallContext& context) override;

private:
    std::mutex one_question_;
    std::unique_ptr<Terminal> given_;
};

}  // namespace agentforge::escalation_console
