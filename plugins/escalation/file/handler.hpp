// SPDX-License-Identifier: Apache-2.0
// The default escalation handler (001 §3.2): the answer is a file beside the question.
#pragma once

#include <agentforge/escalation.hpp>

namespace agentforge::escalation_file {

/// `notify*` tell, as progress, which file to write. The file is the kernel's to read, by whatever way it came there: `wait_*`
/// wait until the deadline has passed or the call is cancelled, and return empty. Without a deadline they do not wait. Error:
/// AF-ESC-101 bad id. Threads: any; it holds no state.
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
