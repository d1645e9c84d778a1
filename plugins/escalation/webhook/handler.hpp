// SPDX-License-Identifier: Apache-2.0
// Notifies a person by an HTTP request (webhook): Slack's incoming webhooks, or any server that accepts JSON.
//
// The address is a secret, because anyone who knows it can post. So it comes from the environment, as does the key that signs
// requests. Neither is in a settings file, and no error or progress names the address or the key.
#pragma once

#include <agentforge/escalation.hpp>

#include <agentforge_http/address.hpp>

#include "message.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace agentforge::escalation_webhook {

/// `notify*` sends one POST and returns once the server has accepted it (2xx). Retries after half a second, one, two, …, or as
/// the server asks (retry-after), until the call's deadline or `timeout_seconds`. After that, the host calls again later. Each
/// request has
///   Idempotency-Key         <id>/<reminder>: the same for every attempt at this notification, by any process
///   X-AgentForge-Timestamp  seconds since 1970 at which it was sent
///   X-AgentForge-Signature  see `signature`; only if a key is set
/// TLS is checked against the system's authorities and `ca_file`; `http://` is for this machine only. Redirections are not
/// followed. The proxy comes from the environment, as for models. `wait_*` return nothing, at the deadline: an answer comes by
/// `agentforge resolve`, by file, or through another handler.
///
/// Settings: `url_env` (AGENTFORGE_WEBHOOK_URL), `secret_env` (AGENTFORGE_WEBHOOK_SECRET; a variable named here must be set),
/// `ca_file`, `format` (slack, json), `content` (full, reference), `timeout_seconds` (10). Throws std::invalid_argument that
/// names the key. Errors: AF-ESC-051 no usable address, AF-ESC-052 no usable key (both `unavailable`), AF-ESC-053 not reached,
/// too late or temporarily unable (`transient`), AF-ESC-054 refused (`unavailable`), `cancelled`. Threads: any; it has no state.
class WebhookHandler final : public EscalationHandler {
public:
    using Environment = std::function<std::string(const std::string&)>;
    explicit WebhookHandler(const json::object& settings);
    /// For tests: another environment, and the pause after the first failure.
    WebhookHandler(const json::object& settings, Environment environment, std::chrono::milliseconds first_pause);

    [[nodiscard]] std::string name() const override { return "webhook"; }
    [[nodiscard]] Result<void> notify(const Escalation& escalation, CallContext& context) override;
    [[nodiscard]] Result<std::optional<Resolution>> wait_for_resolution(const Escalation& escalation,
                                                                        CallContext& context) override;
    [[nodiscard]] Result<void> notify_approval(const ApprovalRequest& request, CallContext& context) override;
    [[nodiscard]] Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest& request,
                                                                    CallContext& context) override;

private:
    struct Target {
        http::Address server;
        std::string path;    ///< Including its query.
        std::string secret;  ///< Empty: requests are not signed.
    };
    class Notification;
    [[nodiscard]] Result<Target> target() const;
    [[nodiscard]] Result<void> send(Message message, const std::string& directory, CallContext& context) const;

    Environment environment_;
    std::chrono::milliseconds first_pause_;
    std::string url_variable_ = "AGENTFORGE_WEBHOOK_URL";
    std::string secret_variable_ = "AGENTFORGE_WEBHOOK_SECRET";
    bool needs_secret_ = false;
    std::string ca_file_;
    bool slack_ = true;
    bool reference_ = false;
    std::chrono::seconds timeout_{10};
};

}  // namespace agentforge::escalation_webhook
