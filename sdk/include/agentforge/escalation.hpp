// SPDX-License-Identifier: Apache-2.0
// An escalation handler: notifies a person of a question and brings back the answer.
//
// A person never blocks a thread. `wait_for_*` returns an answer that has arrived, or waits no longer than the context's
// deadline; empty means "not yet". The task then pauses at no cost. The first answer wins, whatever channel it comes from. The
// host binds the answer to the hash of what was shown.
#pragma once

#include <agentforge/host.hpp>

namespace agentforge {

struct Escalation {
    std::string id;  ///< `ESC-…`
    std::string task_id;
    std::string stage;
    std::string issue;
    std::string question;
    std::vector<std::string> options;
    json::object context;
    std::string created_at;  ///< RFC 3339, UTC.
    std::string directory;   ///< Absolute path of `.agentforge/escalations`.
};

/// A person's answer.
struct Resolution {
    bool abort = false;
    json::object context;  ///< `answer`, and anything else the person gave.
    std::string resolved_by;
};

struct ApprovalRequest {
    std::string id;  ///< `APR-…`
    std::string task_id;
    std::string stage;
    json::object artifact;
    std::string artifact_hash;  ///< The answer holds for this hash only.
    std::string created_at;
    std::string directory;
};

struct Approval {
    bool approved = false;
    std::optional<std::string> feedback;  ///< Feedback if not approved: the stage runs again with it.
    std::string artifact_hash;
    std::string decided_by;
};

class EscalationHandler {
public:
    virtual ~EscalationHandler() = default;
    EscalationHandler() = default;
    EscalationHandler(const EscalationHandler&) = delete;
    EscalationHandler& operator=(const EscalationHandler&) = delete;

    [[nodiscard]] virtual std::string name() const = 0;
    [[nodiscard]] virtual Result<void> notify(const Escalation& escalation, CallContext& context) = 0;
    [[nodiscard]] virtual Result<std::optional<Resolution>> wait_for_resolution(const Escalation& escalation,
                                                                                CallContext& context) = 0;
    [[nodiscard]] virtual Result<void> notify_approval(const ApprovalRequest& request, CallContext& context) = 0;
    [[nodiscard]] virtual Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest& request,
                                                                            CallContext& context) = 0;
};

}  // namespace agentforge
