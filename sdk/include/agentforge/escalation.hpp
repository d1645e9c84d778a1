// SPDX-License-Identifier: Apache-2.0
// An escalation handler: how a person learns of a question and how the answer comes back.
//
// People never block a thread: `wait_for_*` answers what is there now, or waits no longer than the
// context's deadline, and returns empty for "not yet"; the task then pauses at no cost. Whatever
// channel answers first wins; the host binds the answer to the hash of what was shown.
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
    std::string directory;   ///< `.agentforge/escalations`, absolute.
};

/// A person's answer (001 §3.2).
struct Resolution {
    bool abort = false;
    json::object context;  ///< `answer` and whatever else the person gave.
    std::string resolved_by;
};

struct ApprovalRequest {
    std::string id;  ///< `APR-…`
    std::string task_id;
    std::string stage;
    json::object artifact;
    std::string artifact_hash;  ///< What an answer is bound to.
    std::string created_at;
    std::string directory;
};

struct Approval {
    bool approved = false;
    std::optional<std::string> feedback;  ///< Not approved, with feedback: the stage runs again.
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
