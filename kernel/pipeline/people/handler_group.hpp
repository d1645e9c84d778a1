// SPDX-License-Identifier: Apache-2.0
// The escalation handlers of a project (`escalation.handlers`) as one: all of them notify, and the first answer wins.
//
// Each handler's notifications are recorded beside the question (NotificationLog). The next process that resumes the task, waits
// for it, or runs `agentforge remind` retries failed ones. It also handles reminders and deadlines. No process waits for a due
// time: the next one that checks does everything due by then.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/escalation.hpp>

#include "base/clock.hpp"
#include "escalation/escalation_store.hpp"
#include "escalation/notification_log.hpp"
#include "secrets/redactor.hpp"

namespace agentforge::kernel {

/// One handler. `refused`: the error that each notification returns if the handler may not or cannot be used.
struct GroupedHandler {
    std::string name;
    std::shared_ptr<EscalationHandler> handler;
    std::optional<Error> refused = {};
};

struct HandlerGroupOptions {
    const Clock& clock;
    const EscalationStore& store;
    const Redactor& redactor = nothing_hidden();
    ReminderPolicy reminders = {};
    std::chrono::milliseconds grace{2'000};          ///< How long a handler may take to return after its deadline or a cancel.
    std::chrono::milliseconds poll_interval{1'000};  ///< How often to check what is due while waiting for an answer.
    /// Called if a handler hangs on a thread of this process, which must then exit without running destructors.
    std::function<void()> left_behind = {};
};

/// The actions taken for one question.
struct ProcessedDue {
    std::vector<std::string> notified;  ///< The handlers that notified now.
    unsigned reminder = 0;              ///< Number of the reminder. 0: the question itself.
    std::string deadline_answer;  ///< `default` or `abort`: the deadline passed without an answer, and this is the answer now.
    bool overdue = false;         ///< The deadline has passed, and the question stays open.
    std::vector<Error> problems;  ///< Errors of handlers that could not notify, and others.
};

/// Calls all handlers at once, each on its own thread. One that does not return is left behind and named (AF-ESC-057). Handlers
/// receive no secrets. Threads: one call at a time.
class HandlerGroup final : public EscalationHandler {
public:
    HandlerGroup(std::vector<GroupedHandler> handlers, HandlerGroupOptions options);

    /// Returns the names of all handlers, separated by commas.
    [[nodiscard]] std::string name() const override {
        std::string names;
        for (const GroupedHandler& one : handlers_) { names += (names.empty() ? "" : ", ") + one.name; }
        return names;
    }
    /// Notifies, except through handlers that already have. Errors: the first failed handler's, with the others' in its message;
    /// `io` AF-ESC-056.
    [[nodiscard]] Result<void> notify(const Escalation& escalation, CallContext& context) override;
    [[nodiscard]] Result<void> notify_approval(const ApprovalRequest& request, CallContext& context) override;
    /// Returns the first answer of any handler. If the deadline passes first, returns the answer agreed for that case, by
    /// `deadline`. Empty once all handlers have returned and one of them says "not now". A handler's error is logged and is not
    /// an answer. If all handlers are refused or have failed, keeps processing what is due until the call ends, because people
    /// can answer by file or command.
    [[nodiscard]] Result<std::optional<Resolution>> wait_for_resolution(const Escalation& escalation,
                                                                        CallContext& context) override;
    [[nodiscard]] Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest& request,
                                                                    CallContext& context) override;

    /// Processes an open question: answers it if its deadline has passed, notifies if a notification or reminder is due.
    /// `at_once`: retries failed handlers without a pause. Ignores a question that has an answer.
    [[nodiscard]] ProcessedDue process_due(const std::string& id, CallContext& context, bool at_once);

private:
    template <class T>
    using Call = std::function<Result<T>(EscalationHandler&, CallContext&)>;
    [[nodiscard]] Escalation without_secrets(Escalation escalation) const;
    [[nodiscard]] ApprovalRequest without_secrets(ApprovalRequest request) const;
    /// Without `enough`, waits until all have returned. With it, waits until it returns true, then cancels the rest.
    template <class T>
    [[nodiscard]] std::vector<Result<T>> all_at_once(const std::vector<const GroupedHandler*>& which, CallContext& outer,
                                                     const Call<T>& call,
                                                     const std::function<bool(const std::vector<const Result<T>*>&)>& enough,
                                                     const std::function<void()>& poll) const;
    /// `patient`: waits until the call's deadline for another process that is sending the same notification.
    template <class Question>
    [[nodiscard]] ProcessedDue notify_due(const Question& question, const AnswerDeadline& deadline, CallContext& context,
                                          bool at_once, bool patient) const;
    template <class Question>
    [[nodiscard]] Result<void> notify_now(const Question& question, CallContext& context) const;
    template <class T, class Question>
    [[nodiscard]] Result<std::optional<T>> wait(const Question& question, const Call<std::optional<T>>& call,
                                                CallContext& context) const;
    [[nodiscard]] Call<void> notification(const Escalation& escalation) const;
    [[nodiscard]] Call<void> notification(const ApprovalRequest& request) const;
    [[nodiscard]] bool passed(const AnswerDeadline& deadline) const;

    std::vector<GroupedHandler> handlers_;
    HandlerGroupOptions options_;
    NotificationLog notification_log_;
};

}  // namespace agentforge::kernel
