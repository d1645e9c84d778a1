// SPDX-License-Identifier: Apache-2.0
// The delivery log of notifications: `.agentforge/escalations/.told/<id>.json`, one file for each question or approval.
//
// Together with the records it is an outbox. If a handler fails to notify (no network, a process that died, an error), the
// notification stays due until it succeeds, whichever process retries. If a file is missing or unreadable, everything is due:
// twice is better than never. Handlers may also read the file. `reminder` (0: the question itself), `deadline`, `at_deadline` and
// `default_answer` are what they notify about, written before they are called. `id` and `reminder` identify a notification
// permanently, so a repeated one can be recognised.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "escalation/escalation_store.hpp"

namespace agentforge::kernel {

/// The settings for reminders (`escalation.remind_after_seconds`, `escalation.reminders`).
struct ReminderPolicy {
    std::chrono::seconds after{0};  ///< Time since the question, or since the previous reminder. 0: no reminders.
    unsigned most = 0;
};

/// The state of one handler.
struct HandlerState {
    unsigned sent = 0;     ///< 0: the question is due; 1: it was sent; 2: the first reminder, too; …
    unsigned tries = 0;    ///< Failures since the last success.
    std::string next_try;  ///< Earliest next attempt. Empty: at once.
    std::string error;     ///< Message of the last failure.
};

struct NotificationState {
    unsigned reminder = 0;    ///< The latest reminder that is due.
    std::string reminded_at;  ///< When it became due.
    std::map<std::string, HandlerState, std::less<>> handlers;

    using Time = std::chrono::system_clock::time_point;
    /// Makes the next reminder due if its time has come; only one, however many were missed.
    bool remind(std::string_view created_at, Time now, const ReminderPolicy& policy);
    /// True if the handler has something to send. `at_once`: ignores the delay after a failure.
    [[nodiscard]] bool is_due(std::string_view handler, Time now, bool at_once = false) const;
    void succeeded(std::string_view handler);
    /// Schedules a retry after a minute, two, four, …, at most an hour.
    void failed(std::string_view handler, std::string_view error, Time now);
};

/// Several processes may use it. Each holds `lock` while it reads, notifies and writes.
class NotificationLog {
public:
    /// `escalations`: the folder of the records (EscalationStore::directory).
    explicit NotificationLog(std::filesystem::path escalations) : escalations_(std::move(escalations)) {}

    /// Returns the lock for notifying about this question, which one process holds at a time; closing the descriptor releases it.
    /// An invalid descriptor: another process has it. Errors: `io` AF-ESC-056.
    [[nodiscard]] Result<FileDescriptor> lock(std::string_view id) const;
    [[nodiscard]] NotificationState read(std::string_view id) const;
    /// On disk when it returns. Errors: `io` AF-ESC-056.
    [[nodiscard]] Result<void> write(std::string_view id, const NotificationState& notifications,
                                     const AnswerDeadline& deadline) const;
    [[nodiscard]] std::filesystem::path file(std::string_view id) const;

private:
    std::filesystem::path escalations_;
};

}  // namespace agentforge::kernel
