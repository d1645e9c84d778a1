// SPDX-License-Identifier: Apache-2.0
#include "message.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <agentforge/json_fields.hpp>
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

namespace agentforge::escalation_webhook {
namespace {

constexpr std::size_t longest_text = 2'500;  // Slack accepts 3,000 characters in a block.
constexpr std::size_t longest_option = 200;
constexpr std::size_t most_options = 10;
constexpr std::size_t longest_file = 1U << 20U;

/// Removes control characters and cuts between characters.
std::string clean(std::string_view text, std::size_t longest) {
    std::string shown;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte == '\t') {
            shown += ' ';
        } else if (byte == '\n' || (byte >= ' ' && byte != 0x7f)) {
            shown += letter;
        }
    }
    if (shown.size() <= longest) { return shown; }
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xC0U) == 0x80U) { --end; }
    return shown.substr(0, end) + "…";
}

/// Escapes Slack's three special characters.
std::string escaped(std::string_view text) {
    std::string safe;
    for (const char letter : text) {
        if (letter == '&') {
            safe += "&amp;";
        } else if (letter == '<') {
            safe += "&lt;";
        } else if (letter == '>') {
            safe += "&gt;";
        } else {
            safe += letter;
        }
    }
    return safe;
}

const char* event_in_words(const std::string& event) {
    if (event == "question") { return "has a question"; }
    return event == "action" ? "asks before it acts" : "waits for approval";
}

std::string headline(const Message& message) {
    return (message.reminder == 0 ? "" : "Reminder " + std::to_string(message.reminder) + ": ") + "AgentForge, stage " +
           clean(message.stage, 100) + " " + event_in_words(message.event);
}

std::string what_happens_at_deadline(const Message& message) {
    if (message.at_deadline == "abort") { return "the task is ended"; }
    if (message.at_deadline == "default" && !message.default_answer.empty()) {
        return "the answer is: " + clean(message.default_answer, longest_option);
    }
    return "it stays open";
}

std::string deadline_line(const Message& message) {
    if (message.deadline.empty()) { return ""; }
    return "Until " + message.deadline + "; then " + what_happens_at_deadline(message) + ".";
}

json::object block(std::string_view type, const std::string& text) {
    return {{"type", "section"}, {"text", {{"type", type}, {"text", text}}}};
}

}  // namespace

Message message_of(const Escalation& escalation) {
    Message message;
    message.event = "question";
    message.id = escalation.id;
    message.task_id = escalation.task_id;
    message.stage = escalation.stage;
    message.issue = escalation.issue;
    message.question = escalation.question;
    message.options = escalation.options;
    message.created_at = escalation.created_at;
    return message;
}

Message message_of(const ApprovalRequest& request) {
    Message message;
    message.event = request.id.starts_with("ACT-") ? "action" : "approval";
    message.id = request.id;
    message.task_id = request.task_id;
    message.stage = request.stage;
    message.question = json::serialize(request.artifact);
    message.artifact_hash = request.artifact_hash;
    message.created_at = request.created_at;
    return message;
}

void read_notification_record(Message& message, const std::string& directory) {
    std::ifstream file(directory + "/.told/" + message.id + ".json", std::ios::binary);
    std::string bytes(longest_file, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    boost::system::error_code error;
    const json::value record = json::parse(bytes, error);
    if (error || !record.is_object()) { return; }
    const json::object& object = record.get_object();
    if (const json::value* reminder = object.if_contains("reminder");
        reminder != nullptr && reminder->is_int64() && reminder->get_int64() >= 0) {
        message.reminder = static_cast<unsigned>(reminder->get_int64());
    }
    message.deadline = clean(text_of(object, "deadline"), 40);
    message.at_deadline = text_of(object, "at_deadline");
    message.default_answer = text_of(object, "default_answer");
}

std::vector<std::string> commands(const Message& message) {
    if (message.event == "question") { return {"agentforge resolve " + message.id + " \"…\""}; }
    if (message.event == "action") { return {"agentforge approve " + message.id, "agentforge reject " + message.id}; }
    return {"agentforge approve " + message.task_id, "agentforge feedback " + message.task_id + " \"…\"",
            "agentforge reject " + message.task_id};
}

std::string slack_body(const Message& message, bool reference) {
    json::array blocks;
    const std::string head = headline(message);
    blocks.push_back(block("mrkdwn", "*" + escaped(head) + "*\n" + escaped(message.id)));
    std::string text = escaped(head);
    if (!reference) {
        std::string said;
        if (message.event == "question" && !message.issue.empty() && message.issue != message.question) {
            said = clean(message.issue, longest_text / 2) + "\n";
        }
        said += clean(message.question, longest_text - std::min(said.size(), longest_text / 2));
        blocks.push_back(block("plain_text", said.empty() ? "(no text)" : said));
        if (!message.question.empty() && message.event == "question") { text += ": " + escaped(clean(message.question, 300)); }
        std::string options;
        for (std::size_t index = 0; index < message.options.size() && index < most_options; ++index) {
            options += std::to_string(index + 1) + ") " + clean(message.options[index], longest_option) + "\n";
        }
        if (message.options.size() > most_options) {
            options += "and " + std::to_string(message.options.size() - most_options) + " more\n";
        }
        if (!options.empty()) { blocks.push_back(block("plain_text", options)); }
    }
    std::string how = "Answer:";
    for (const std::string& command : commands(message)) { how += "\n`" + escaped(command) + "`"; }
    const std::string until =
        reference && message.at_deadline == "default" ? "Until " + message.deadline + "." : deadline_line(message);
    if (!message.deadline.empty()) { how += "\n" + escaped(until); }
    blocks.push_back(block("mrkdwn", how));
    return json::serialize(json::object{{"text", text}, {"blocks", std::move(blocks)}});
}

std::string json_body(const Message& message, bool reference) {
    json::array how;
    for (const std::string& command : commands(message)) { how.emplace_back(command); }
    json::object body{{"version", 1},
                      {"event", message.event},
                      {"key", message.key()},
                      {"id", message.id},
                      {"task_id", message.task_id},
                      {"stage", clean(message.stage, 100)},
                      {"created_at", message.created_at},
                      {"reminder", message.reminder},
                      {"deadline", message.deadline},
                      {"at_deadline", message.deadline.empty() ? std::string() : message.at_deadline},
                      {"artifact_hash", message.artifact_hash},
                      {"answer_by", std::move(how)}};
    if (reference) { return json::serialize(body); }
    json::array options;
    for (const std::string& option : message.options) { options.emplace_back(clean(option, longest_text)); }
    body["issue"] = clean(message.issue, longest_text);
    body["question"] = clean(message.question, longest_text);
    body["options"] = std::move(options);
    body["default_answer"] = clean(message.default_answer, longest_text);
    return json::serialize(body);
}

std::string signature(std::string_view secret, std::string_view timestamp, std::string_view body) {
    const std::string text = "v1:" + std::string(timestamp) + ":" + std::string(body);
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    ::HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), reinterpret_cast<const unsigned char*>(text.data()),
           text.size(), bytes.data(), &size);
    std::string hex = "v1=";
    for (unsigned index = 0; index < size; ++index) {
        constexpr std::string_view digits = "0123456789abcdef";
        hex += digits[bytes[index] >> 4U];
        hex += digits[bytes[index] & 15U];
    }
    return hex;
}

}  // namespace agentforge::escalation_webhook
