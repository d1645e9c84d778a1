// SPDX-License-Identifier: Apache-2.0
// The default escalation handler (001 §3.2): the answer is a file beside the question.
#pragma once

#include <agentforge/escalation.hpp>

namespace agentforge::escalation_file {

/// `notify*` tell, as progress, which file to write. `wait_*` look for `<directory>/<id>.resolution.yaml`
/// (see resolution.hpp), at most four times a second, until it is there, the deadline has passed or
/// the call is cancelled; then they return empty. A deadline that has passed already means one look.
/// A file that is empty is not written yet. The file is never changed or removed.
/// Errors: AF-ESC-101 bad id, AF-ESC-102 the file cannot be read, AF-ESC-103 and 104 see resolution.hpp.
/// Threads: any; it holds no state.
class FileHandler final : public EscalationHandler {
public:
    [[nodiscard]] std::string name() const override { return "file"; }
    [[nodiscard]] Result<void> notify(const Escalation& escalation, CallContext& context) override;
    [[nodiscard]] Result<std::optional<Resolution>> wait_for_resolution(const Escalation& escalation, CallContext& context) override;
    [[nodiscard]] Result<void> notify_approval(const ApprovalRequest& request, CallContext& context) override;
    [[nodiscard]] Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest& request, CallContext& context) override;
};

}  // namespace agentforge::escalation_file
