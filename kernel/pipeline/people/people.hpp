// SPDX-License-Identifier: Apache-2.0
// Everything that waits for a person: a question (escalation), an artifact (approval), or an action that a model proposed.
// Records each in the inbox (escalation/escalation_store.hpp), notifies the handlers, waits for the answer and journals it.
#pragma once

#include <functional>
#include <string>

#include "pipeline/acceptance.hpp"
#include "pipeline/open_task.hpp"
#include "pipeline/people/handler_calls.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {

class People {
public:
    People(OpenTask& task, Acceptance& acceptance) : task_(task), acceptance_(acceptance), calls_(task) {}

    /// Makes a question of the current stage: records `stage_escalated`. `partial`: a blob of the stage's work so far. `spent`:
    /// milliseconds of agent time.
    [[nodiscard]] Result<void> ask(EscalationCause cause, const std::string& reason, const EscalationRequest& request,
                                   const std::string& partial = {}, std::uint64_t spent = 0);

    /// Record the item in the inbox and in the journal, and notify the handlers.
    [[nodiscard]] Result<void> raise_escalation();
    [[nodiscard]] Result<void> request_approval();
    [[nodiscard]] Result<void> ask_action();

    /// Waits for a person as long as the settings say. Journals the answer, if any.
    [[nodiscard]] Result<void> wait();
    /// For a task that resumes with an open question: writes lost files again, processes what is due, and journals an existing
    /// answer. `before_answer` runs before the answer is recorded, and only if there is one.
    [[nodiscard]] Result<void> return_to_question(const std::function<Result<void>()>& before_answer);
    /// Answers the open question with a person's guidance to a failed agent. Returns whether it did.
    [[nodiscard]] Result<bool> answer_with(const std::string& guidance);

    /// True if a handler was given up. Its thread may still run.
    [[nodiscard]] bool gave_up_handler() const noexcept { return calls_.gave_up(); }

private:
    /// Returns the kernel's own facts about the task: the person need not believe the agent that asks.
    [[nodiscard]] json::object evidence() const;
    /// Returns the handler to ask. In an interactive task, and for an artifact that iterates, this is the person at the terminal,
    /// whatever else notifies people.
    [[nodiscard]] std::shared_ptr<EscalationHandler>& asker();
    [[nodiscard]] std::chrono::milliseconds answer_timeout() const;
    [[nodiscard]] bool waits_for_people();
    /// True if the person at the terminal is asked first, before anyone else is notified.
    [[nodiscard]] bool asks_at_terminal() const;
    void show_before_decision();
    [[nodiscard]] std::string open_id() const;

    [[nodiscard]] Result<Escalation> question(const std::string& id) const;
    /// Returns the request to approve the artifact or action with this id.
    [[nodiscard]] Result<ApprovalRequest> shown(const std::string& id) const;
    /// Returns the deadline. For a question recorded before a crash: as recorded. If its file was lost: from the journal. Else
    /// from the settings.
    [[nodiscard]] AnswerDeadline answer_deadline(const std::string& id, const std::string& created_at,
                                                 const std::vector<std::string>& options, bool approval) const;
    /// Rewrites the removed files of the open item, and of the artifact that it shows, from the journal.
    [[nodiscard]] Result<void> write_lost_question();

    /// Before a question is raised: sets aside an answer that already exists, and reports it.
    [[nodiscard]] Result<void> refuse_early_answer(const std::string& id) const;

    void notify(std::function<Result<void>(EscalationHandler&, CallContext&)> call);
    [[nodiscard]] Result<void> notify_of_open();
    /// Processes what became due while no process ran: a failed notification, a reminder, a deadline.
    void process_due();
    /// Collects an answer that a handler already has, such as a file in its inbox, on a plain `resume` too. Calls the handler
    /// with a deadline that has passed.
    [[nodiscard]] Result<void> collect_from_handlers();
    /// Waits for the first answer: from the handler, a file or a command.
    [[nodiscard]] Result<void> wait_for_answer();
    [[nodiscard]] Result<void> ask_through(std::shared_ptr<EscalationHandler>& asked, std::chrono::milliseconds answer_timeout,
                                           const std::function<bool()>& answered);
    [[nodiscard]] Result<void> take_approval(const ApprovalRequest& request, const Approval& approval);
    [[nodiscard]] Result<void> first_wins(Result<void> written) const;
    void warn_not_asked(const Error& error) const;

    /// Journal the answer to the open question of that kind, if there is one.
    [[nodiscard]] Result<void> collect_answer(const std::function<Result<void>()>& before);
    [[nodiscard]] Result<void> collect_resolution(const OpenQuestion& open, const std::function<Result<void>()>& before);
    [[nodiscard]] Result<void> collect_approval(const OpenQuestion& open, const std::function<Result<void>()>& before);
    [[nodiscard]] Result<void> collect_action(const OpenQuestion& open, const std::function<Result<void>()>& before);

    OpenTask& task_;
    Acceptance& acceptance_;
    HandlerCalls calls_;
};

}  // namespace agentforge::kernel
