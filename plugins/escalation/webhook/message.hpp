// SPDX-License-Identifier: Apache-2.0
// The messages that the webhook sends. Pure.
//
//   slack   {"text": …, "blocks": […]}: shown by an incoming webhook of Slack (or Mattermost, Rocket.Chat). Text of a model or a
//           file is in `plain_text` blocks, where mark-up and mentions (`<!channel>`) have no meaning; in `text` it is escaped.
//   json    one flat object with everything, for programs.
// With `reference` neither contains the question: only the ids, the times and how to answer. Texts are cut at 2,500 bytes,
// between characters, and lose their control characters.
#pragma once

#include <agentforge/escalation.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace agentforge::escalation_webhook {

struct Message {
    std::string event;  ///< `question`, `approval` or `action`.
    std::string id;
    std::string task_id;
    std::string stage;
    std::string issue;
    std::string question;
    std::vector<std::string> options;
    std::string artifact_hash;  ///< Hash of the artifact to approve.
    std::string created_at;
    unsigned reminder = 0;    ///< 0: the first notification.
    std::string deadline;     ///< RFC 3339. Empty: none.
    std::string at_deadline;  ///< pause, default or abort
    std::string default_answer;

    /// Returns `<id>/<reminder>`: the same for every attempt at this notification, and different for any other.
    [[nodiscard]] std::string key() const { return id + "/" + std::to_string(reminder); }
};

[[nodiscard]] Message message_of(const Escalation& escalation);
/// From an approval of a stage's artifact, or of an action (its id begins with `ACT-`).
[[nodiscard]] Message message_of(const ApprovalRequest& request);
/// Sets the reminder's number and the deadline from the file that the host keeps beside the question (`.told/<id>.json`). Leaves
/// them unchanged if there is no file.
void read_notification_record(Message& message, const std::string& directory);

/// Returns the command lines with which a person can answer.
[[nodiscard]] std::vector<std::string> commands(const Message& message);

[[nodiscard]] std::string slack_body(const Message& message, bool reference);
[[nodiscard]] std::string json_body(const Message& message, bool reference);

/// Returns `v1=` and the HMAC-SHA256, in hexadecimal, of `v1:<timestamp>:<body>`.
[[nodiscard]] std::string signature(std::string_view secret, std::string_view timestamp, std::string_view body);

}  // namespace agentforge::escalation_webhook
