// SPDX-License-Identifier: Apache-2.0
// The escalation handlers of a project as one (`escalation.handlers`): all of them tell, and whoever has the answer first gives
// it.
//
// What each has told is kept beside the question (ToldLedger), so that a handler that could not tell owes it: to the next process
// that resumes the task, waits for it or is `agentforge remind`. Reminders and deadlines are looked after in the same places. No
// process waits for any of it; whoever looks next does what is due by then.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/escalation.hpp>

#include "base/clock.hpp"
#include "escalation/store.hpp"
#include "escalation/told.hpp"
#include "secrets/redactor.hpp"

namespace agentforge::kernel {

/// One of them; `refused` in place of the handler where it must not or cannot be used, which is what becomes of each telling
/// then.
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
    std::chrono::milliseconds grace{2'000};       ///< How long after its deadline, or a cancel, a handler may still return.
    std::chrono::milliseconds look_every{1'000};  ///< While an answer is waited for: for what is due.
    std::function<void()> left_behind = {};  ///< A handler hangs on a thread of this process: it must end without destructors.
};

/// What was done for one question.
struct ProcessedDue {
    std::vector<std::string> told;  ///< The handlers that told it now.
    unsigned reminder = 0;          ///< Which telling that was; 0: the question itself.
    std::string settled;            ///< `default` or `abort`: nobody answered by the deadline, and this is the answer now.
    bool overdue = false;           ///< The deadline has passed, and the question stays open.
    std::vector<Error> problems;    ///< Of the handlers that could not tell, and others.
};

/// Handlers are called on threads of their own, all at once; one that does not return is left behind and named (AF-ESC-057). What
/// they are given holds no secrets. Threads: one call at a time.
class HandlerGroup final : public EscalationHandler {
public:
    HandlerGroup(std::vector<GroupedHandler> handlers, HandlerGroupOptions options);

    /// All of theirs, with commas.
    [[nodiscard]] std::string name() const override {
        std::string names;
        for (const GroupedHandler& one : handlers_) { names += (names.empty() ? "" : ", ") + one.name; }
        return names;
    }
    /// Those that have told this already are not called again. Error: the first handler's that failed, with the others' in its
    /// message; `io` AF-ESC-056.
    [[nodiscard]] Result<void> notify(const Escalation& escalation, CallContext& context) override;
    [[nodiscard]] Result<void> notify_approval(const ApprovalRequest& request, CallContext& context) override;
    /// The first answer of any; where the deadline passes meanwhile, what is agreed for that, by `deadline`. Empty once all
    /// handlers have returned and one of them says "not now". A handler's error is logged and none of that: where there are but
    /// refused and failed ones, what is due is looked after until the call ends, since people may answer by file or command.
    [[nodiscard]] Result<std::optional<Resolution>> wait_for_resolution(const Escalation& escalation,
                                                                        CallContext& context) override;
    [[nodiscard]] Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest& request,
                                                                    CallContext& context) override;

    /// Does what is due for a question that is open: answers it where its deadline has passed, tells it where that is owed or a
    /// reminder is due. `at_once`: handlers that failed before are tried again without a pause. A question that has an answer is
    /// left alone.
    [[nodiscard]] ProcessedDue process_due(const std::string& id, CallContext& context, bool at_once);

private:
    template <class T>
    using Call = std::function<Result<T>(EscalationHandler&, CallContext&)>;
    [[nodiscard]] Escalation without_secrets(Escalation escalation) const;
    [[nodiscard]] ApprovalRequest without_secrets(ApprovalRequest request) const;
    /// Without `enough`: until all have returned. With it: until it says so, which cancels them.
    template <class T>
    [[nodiscard]] std::vector<Result<T>> all_at_once(
        const std::vector<const GroupedHandler*>& which, CallContext& outer, const Call<T>& call,
        const std::function<bool(const std::vector<std::optional<Result<T>>>&)>& enough, const std::function<void()>& look) const;
    /// `patient`: waits until the call's deadline for another process that is telling the same.
    [[nodiscard]] ProcessedDue tell(const std::string& id, const std::string& created_at, const AnswerBy& by,
                                    const Call<void>& call, CallContext& context, bool at_once, bool patient) const;
    template <class T>
    [[nodiscard]] Result<std::optional<T>> wait(const std::string& id, const std::string& created_at,
                                                const Call<std::optional<T>>& call, const Call<void>& remind,
                                                const std::function<std::optional<T>(const AnswerBy&)>& at_deadline,
                                                CallContext& context) const;
    [[nodiscard]] bool passed(const AnswerBy& by) const;

    std::vector<GroupedHandler> handlers_;
    HandlerGroupOptions options_;
    ToldLedger ledger_;
};

}  // namespace agentforge::kernel
