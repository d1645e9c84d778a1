// SPDX-License-Identifier: Apache-2.0
// What the webhook is sent. Pure.
//
//   slack   {"text": …, "blocks": […]}: what an incoming webhook of Slack (or Mattermost, Rocket.Chat) shows. What a model or a
//   file said stands in
//           `plain_text` blocks, where no mark-up and no mention (`<!channel>`) has a meaning; in `text` it is escaped.
//   json    one flat object with all of it, for programs.
// With `reference` neither says what was asked: only the ids, the times and how to answer. Texts are cut at 2,500 bytes, at a
// character's border, and lose their control characters.
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
    std::string artifact_hash;  ///< Of what is to be approved.
    std::string created_at;
    unsigned reminder = 0;    ///< 0: told for the first time.
    std::string deadline;     ///< RFC 3339; empty: none.
    std::string at_deadline;  ///< pause, default, abort
    std::string default_answer;

    /// The same for each time that this telling is tried, and for no other: `<id>/<reminder>`.
    [[nodiscard]] std::string key() const { return id + "/" + std::to_string(reminder); }
};

[[nodiscard]] Message message_of(const Escalation& escalation);
/// An approval of a stage's artifact, or of an action (its id begins with `ACT-`).
[[nodiscard]] Message message_of(const ApprovalRequest& request);
/// Takes the reminder's number and the deadline from the file that the host keeps beside the question (`.told/<id>.json`); leaves
/// them as they are where there is none.
void take_told(Message& message, const std::string& directory);

/// Lines that a person types to answer.
[[nodiscard]] std::vector<std::string> commands(const Message& message);

[[nodiscard]] std::string slack_body(const Message& message, bool reference);
[[nodiscard]] std::string json_body(const Message& message, bool reference);

/// `v1=` and the HMAC-SHA256, in hexadecimal, of `v1:<timestamp>:<body>`.
[[nodiscard]] std::string signature(std::string_view secret, std::string_view timestamp, std::string_view body);

}  // namespace agentforge::escalation_webhook
