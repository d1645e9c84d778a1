// SPDX-License-Identifier: Apache-2.0
// People: what waits for a person, of whatever kind: a question (escalation), an artifact (approval), an action that a model
// proposed. Each is recorded in the inbox (escalation/store.hpp), notified through the handlers, waited for, and its answer is
// journaled.
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

    /// Makes a question of the current stage: records `stage_escalated`. `partial`: a blob of what the stage had so far; `spent`:
    /// milliseconds of agent time.
    [[nodiscard]] Result<void> ask(EscalationCause cause, const std::string& reason, const EscalationRequest& request,
                                   const std::string& partial = {}, std::uint64_t spent = 0);

    /// Put what waits before a person: in the inbox, in the journal, and to the handlers.
    [[nodiscard]] Result<void> raise_escalation();
    [[nodiscard]] Result<void> request_approval();
    [[nodiscard]] Result<void> ask_action();

    /// Waits for a person as long as the settings say, and journals the answer if there is one.
    [[nodiscard]] Result<void> wait();
    /// For a task that resumes with an open question: writes lost files again, does what is due, and journals an answer that is
    /// there. `before_answer` runs before the answer is recorded, and only if there is one.
    [[nodiscard]] Result<void> return_to_question(const std::function<Result<void>()>& before_answer);
    /// What a person says to an agent that could not do it answers the question how the task should go on. Returns whether it
    /// did.
    [[nodiscard]] Result<bool> answer_with(const std::string& guidance);

    /// Whether a handler was given up: its thread may still run.
    [[nodiscard]] bool gave_up_handler() const noexcept { return calls_.gave_up(); }

private:
    /// What the kernel itself knows of where the task stands: who is asked need not believe whoever asks.
    [[nodiscard]] json::object evidence() const;
    /// In an interactive task, and of an artifact that iterates, the one at the terminal is asked, whatever notifies people
    /// otherwise.
    [[nodiscard]] std::shared_ptr<EscalationHandler>& asker();
    [[nodiscard]] std::chrono::milliseconds patience() const;
    [[nodiscard]] bool waits_for_people();
    /// Whether whoever sits at the terminal is asked, and nobody else before they have left it open.
    [[nodiscard]] bool asks_at_terminal() const;
    void tell_before_decision();
    [[nodiscard]] const std::string& open_id() const;

    [[nodiscard]] Result<Escalation> question(const std::string& id) const;
    [[nodiscard]] Result<ApprovalRequest> shown_artifact(const std::string& id) const;
    [[nodiscard]] Result<ApprovalRequest> shown_action(const std::string& id) const;
    /// Of a question that was recorded before a crash, what was recorded; of one whose file was lost, what the journal has; else
    /// by the settings.
    [[nodiscard]] AnswerBy answer_by(const std::string& id, const std::string& created_at,
                                     const std::vector<std::string>& options, bool approval) const;
    /// Whoever removed the file of what waits, or the artifact that it shows, finds both again: the journal has all of it.
    [[nodiscard]] Result<void> write_lost_question();

    /// Before a question is raised: an answer to it that is there already is set aside, and named.
    [[nodiscard]] Result<void> refuse_early_answer(const std::string& id) const;

    void notify(std::function<Result<void>(EscalationHandler&, CallContext&)> call);
    [[nodiscard]] Result<void> notify_of_open();
    /// What became due while no process ran: a failed notification, a reminder, a deadline.
    void do_what_is_due();
    /// An answer that a handler has already, an inbox's file for instance, counts on a plain `resume` too: its deadline has
    /// passed when it is called.
    [[nodiscard]] Result<void> hear_handlers();
    /// Waits for the first answer: the handler's person, a file, a command.
    [[nodiscard]] Result<void> wait_for_answer();
    [[nodiscard]] Result<void> ask_through(std::shared_ptr<EscalationHandler>& whom, std::chrono::milliseconds patience,
                                           const std::function<bool()>& answered);
    [[nodiscard]] Result<void> take_approval(const ApprovalRequest& request, const Approval& approval);
    [[nodiscard]] Result<void> first_wins(Result<void> written) const;
    void unheard(const Error& error) const;

    /// Each journals the answer to the open question of its kind, if there is one by now.
    [[nodiscard]] Result<void> collect_answer(const std::function<Result<void>()>& before);
    [[nodiscard]] Result<void> collect_resolution(const std::function<Result<void>()>& before);
    [[nodiscard]] Result<void> collect_approval(const std::function<Result<void>()>& before);
    [[nodiscard]] Result<void> collect_action(const std::function<Result<void>()>& before);

    OpenTask& task_;
    Acceptance& acceptance_;
    HandlerCalls calls_;
};

}  // namespace agentforge::kernel
