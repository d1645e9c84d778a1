// SPDX-License-Identifier: Apache-2.0
// Who has been told of what waits for a person: `.agentforge/escalations/.told/<id>.json`, one file for each question or
// approval.
//
// Together with the records it is the outbox: a handler that could not tell (no network, a process that died, an error) owes that
// telling until it succeeds, whichever process tries again. A file that is missing or cannot be read owes everything: told twice
// rather than never. Handlers may read it, too: `reminder` (0: the question itself), `deadline`, `at_deadline` and
// `default_answer` are what they tell, written before they are called; `id` and `reminder` name one telling for good, so that one
// that is repeated can be known as the same.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "escalation/store.hpp"

namespace agentforge::kernel {

/// What the settings say of reminders (`escalation.remind_after_seconds`, `escalation.reminders`).
struct ReminderPolicy {
    std::chrono::seconds after{0};  ///< Since the question, or since the reminder before; 0: there are none.
    unsigned most = 0;
};

/// One handler's part.
struct Telling {
    unsigned told = 0;     ///< 0: it owes the question; 1: it has told it; 2: the first reminder, too; …
    unsigned tries = 0;    ///< Failures since it told last.
    std::string next_try;  ///< Not before; empty: at once.
    std::string error;     ///< Of the last failure.
};

struct Told {
    unsigned reminder = 0;    ///< The latest that is due.
    std::string reminded_at;  ///< When it became due.
    std::map<std::string, Telling, std::less<>> handlers;

    using Time = std::chrono::system_clock::time_point;
    /// Makes the next reminder due where its time has come. One for however many were missed.
    bool remind(std::string_view created_at, Time now, const ReminderPolicy& policy);
    /// Whether the handler has something to tell. `at_once`: it does not wait longer because it failed before.
    [[nodiscard]] bool owes(std::string_view handler, Time now, bool at_once = false) const;
    void arrived(std::string_view handler);
    /// Tried again after a minute, two, four, …, an hour at most.
    void failed(std::string_view handler, std::string_view error, Time now);
};

/// Safe to use from several processes, each of which holds `lock` while it reads, tells and writes.
class ToldLedger {
public:
    /// `escalations` is the folder of the records (EscalationStore::directory).
    explicit ToldLedger(std::filesystem::path escalations) : escalations_(std::move(escalations)) {}

    /// The right to tell of this question, which one process has at a time; it goes with the descriptor. An invalid one: another
    /// has it. Errors: `io` AF-ESC-056.
    [[nodiscard]] Result<FileDescriptor> lock(std::string_view id) const;
    [[nodiscard]] Told read(std::string_view id) const;
    /// On disk when it returns. Errors: `io` AF-ESC-056.
    [[nodiscard]] Result<void> write(std::string_view id, const Told& told, const AnswerBy& by) const;
    [[nodiscard]] std::filesystem::path file(std::string_view id) const;

private:
    std::filesystem::path escalations_;
};

}  // namespace agentforge::kernel
