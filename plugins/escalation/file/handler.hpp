// SPDX-License-Identifier: Apache-2.0
// The default escalation handler: the answer is a file beside the question.
#pragma once

#include <agentforge/escalation.hpp>

namespace agentforge::escalation_file {

/// `notify*` report, as progress, which file to write. The kernel reads the file, whatever way it arrived. `wait_*` wait until
/// the deadline or a cancel and return empty; without a deadline they do not wait. Error: AF-ESC-101 bad id. Threads: any; it has
/// no state.
class FileHandler final : public EscalationHandler {
public:
    [[nodiscard]] std::string name() const override { return "file"; }
    [[nodiscard]] Result<void> notify(const Escalation& escalation, CallContext& context) override;
    [[nodiscard]] Result<std::optional<Resolution>> wait_for_resolution(const Escalation& escalation,
                                                                        CallContext& context) override;
    [[nodiscard]] Result<void> notify_approval(const ApprovalRequest& request, CallContext& context) override;
    [[nodiscard]] Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest& request,
                                                                    CallContext& context) override;
};

}  // namespace agentforge::escalation_file
