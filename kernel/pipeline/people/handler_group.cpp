// SPDX-License-Identifier: Apache-2.0
#include "pipeline/people/handler_group.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <thread>

#include "escalation/failures.hpp"
#include "pipeline/detachable_context.hpp"
#include "pipeline/guarded_call.hpp"

namespace agentforge::kernel {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds overview{50};
constexpr std::chrono::seconds notification_timeout{10};
constexpr const char* nobody = "deadline";

}  // namespace

HandlerGroup::HandlerGroup(std::vector<GroupedHandler> handlers, HandlerGroupOptions options)
    : handlers_(std::move(handlers)), options_(std::move(options)), notification_log_(options_.store.directory()) {}

Escalation HandlerGroup::without_secrets(Escalation escalation) const {
    const Redactor& redactor = options_.redactor;
    escalation.issue = redactor.redact(std::move(escalation.issue));
    escalation.question = redactor.redact(std::move(escalation.question));
    for (std::string& option : escalation.options) { option = redactor.redact(std::move(option)); }
    redactor.redact(escalation.context);
    return escalation;
}

ApprovalRequest HandlerGroup::without_secrets(ApprovalRequest request) const {
    options_.redactor.redact(request.artifact);
    return request;
}

bool HandlerGroup::passed(const AnswerDeadline& deadline) const {
    if (deadline.time.empty()) { return false; }
    const auto time = parse_time(deadline.time);
    return time.ok() && options_.clock.now() >= *time;
}

template <class T>
std::vector<Result<T>> HandlerGroup::all_at_once(const std::vector<const GroupedHandler*>& which, CallContext& outer,
                                                 const Call<T>& call,
                                                 const std::function<bool(const std::vector<const Result<T>*>&)>& enough,
                                                 const std::function<void()>& poll) const {
    const auto context = std::make_shared<DetachableContext>(outer, outer.deadline());
    std::vector<std::function<Result<T>()>> calls;
    for (const GroupedHandler* one : which) {
        calls.push_back([context, call, handler = one->handler, refused = one->refused] {
            return refused ? Result<T>(*refused) : call(*handler, *context);
        });
    }
    std::optional<steady_clock::time_point> over;  // When waiting ended.
    auto polled = steady_clock::now();
    const auto check = [&](const std::vector<const Result<T>*>& results) {
        const auto now = steady_clock::now();
        if (enough && enough(results)) {
            context->cancel();
            over = now;
        } else if (outer.cancelled() || (outer.deadline() && now >= *outer.deadline())) {
            over = now;
        } else if (poll && now >= polled + options_.poll_interval) {
            poll();
            polled = steady_clock::now();
        }
    };
    std::vector<std::optional<Result<T>>> returned =
        call_guarded<Result<T>>(std::move(calls), [&](const std::vector<const Result<T>*>& results) {
            if (!over) { check(results); }
            return over && steady_clock::now() >= *over + options_.grace;
        });
    if (enough && !over) {  // All have returned, and none has an answer yet. A person may give one by file or command.
        std::vector<const Result<T>*> results;
        for (const auto& result : returned) { results.push_back(&*result); }
        for (check(results); !over; check(results)) { std::this_thread::sleep_for(overview); }
    }
    context->detach();
    std::vector<Result<T>> results;
    for (std::size_t index = 0; index < which.size(); ++index) {
        if (returned[index]) {
            results.push_back(std::move(*returned[index]));
            continue;
        }
        results.push_back(Error{
            "AF-ESC-057", "the escalation handler `" + which[index]->name + "` did not return and was abandoned",
            "escalation.handlers",
            "answer with `agentforge resolve` or `agentforge approve`, and fix the handler: it must watch deadline() and cancelled()",
            ErrorKind::timeout});
        if (options_.left_behind) { options_.left_behind(); }
    }
    return results;
}

template <class Question>
ProcessedDue HandlerGroup::notify_due(const Question& question, const AnswerDeadline& deadline, CallContext& context,
                                      bool at_once, bool patient) const {
    const std::string& id = question.id;
    ProcessedDue done;
    const auto problem = [&done](const Error& error) {
        done.problems.push_back(error);
        return done;
    };
    auto held = notification_log_.lock(id);
    while (patient && held.ok() && !held->valid() && !context.cancelled() && context.deadline() &&
           steady_clock::now() < *context.deadline()) {
        std::this_thread::sleep_for(overview);
        held = notification_log_.lock(id);
    }
    if (!held.ok()) { return problem(held.error()); }
    if (!held->valid()) { return done; }  // Another process is notifying.
    NotificationState notifications = notification_log_.read(id);
    notifications.remind(question.created_at, options_.clock.now(), options_.reminders);
    std::vector<const GroupedHandler*> due;
    for (const GroupedHandler& handler : handlers_) {
        if (notifications.is_due(handler.name, options_.clock.now(), at_once)) { due.push_back(&handler); }
    }
    if (due.empty()) { return done; }
    done.reminder = notifications.reminder;
    if (const auto kept = notification_log_.write(id, notifications, deadline); !kept.ok()) { return problem(kept.error()); }
    const auto results = all_at_once<void>(due, context, notification(question), {}, {});
    for (std::size_t index = 0; index < due.size(); ++index) {
        if (results[index].ok()) {
            notifications.succeeded(due[index]->name);
            done.notified.push_back(due[index]->name);
        } else {
            const Error error = options_.redactor.redact(results[index].error());
            notifications.failed(due[index]->name, error.code + ": " + error.message, options_.clock.now());
            done.problems.push_back(error);
        }
    }
    if (const auto kept = notification_log_.write(id, notifications, deadline); !kept.ok()) { return problem(kept.error()); }
    return done;
}

namespace {

/// Returns the first error, with the others appended to its message.
Result<void> first_of(const std::vector<Error>& problems) {
    if (problems.empty()) { return {}; }
    Error error = problems.front();
    for (std::size_t index = 1; index < problems.size(); ++index) {
        error.message += "; also " + problems[index].code + ": " + problems[index].message;
    }
    return error;
}

}  // namespace

Result<void> HandlerGroup::notify(const Escalation& escalation, CallContext& context) { return notify_now(escalation, context); }

Result<void> HandlerGroup::notify_approval(const ApprovalRequest& request, CallContext& context) {
    return notify_now(request, context);
}

template <class Question>
Result<void> HandlerGroup::notify_now(const Question& question, CallContext& context) const {
    AF_TRY(const AnswerDeadline deadline, options_.store.answer_deadline(question.id));
    return first_of(notify_due(question, deadline, context, true, true).problems);
}

HandlerGroup::Call<void> HandlerGroup::notification(const Escalation& escalation) const {
    return [asked = without_secrets(escalation)](EscalationHandler& handler, CallContext& leg) {
        return handler.notify(asked, leg);
    };
}

HandlerGroup::Call<void> HandlerGroup::notification(const ApprovalRequest& request) const {
    return [asked = without_secrets(request)](EscalationHandler& handler, CallContext& leg) {
        return handler.notify_approval(asked, leg);
    };
}

namespace {

// The agreed answer if nobody answers, and how it is recorded.

std::optional<Resolution> answer_at_deadline(const Escalation&, const AnswerDeadline& deadline) {
    if (deadline.then == "abort") { return Resolution{true, {}, nobody}; }
    if (deadline.then == "default" && !deadline.default_answer.empty()) {
        return Resolution{false, {{"answer", deadline.default_answer}}, nobody};
    }
    return std::nullopt;
}

std::optional<Approval> answer_at_deadline(const ApprovalRequest& request, const AnswerDeadline& deadline) {
    if (deadline.then != "abort") { return std::nullopt; }
    return Approval{false, std::nullopt, request.artifact_hash, nobody};
}

Result<void> record_answer(const EscalationStore& store, const std::string& id, const Resolution& answer) {
    return store.resolve(id, answer);
}

Result<void> record_answer(const EscalationStore& store, const std::string& id, const Approval& answer) {
    return store.decide(id, answer);
}

}  // namespace

template <class T, class Question>
Result<std::optional<T>> HandlerGroup::wait(const Question& question, const Call<std::optional<T>>& call,
                                            CallContext& context) const {
    std::vector<const GroupedHandler*> usable;
    for (const GroupedHandler& handler : handlers_) {
        if (!handler.refused) { usable.push_back(&handler); }
    }
    AF_TRY(const AnswerDeadline deadline, options_.store.answer_deadline(question.id));  // A record never changes.
    std::optional<T> deadline_answer;
    std::set<std::size_t> named;
    const auto enough = [&](const std::vector<const Result<std::optional<T>>*>& results) {
        bool answered = deadline_answer.has_value();
        bool not_now = false;
        bool all_back = true;
        for (std::size_t index = 0; index < results.size(); ++index) {
            if (!results[index]) {
                all_back = false;
            } else if (results[index]->ok()) {
                (results[index]->value() ? answered : not_now) = true;
            } else if (results[index]->error().kind != ErrorKind::cancelled && named.insert(index).second) {
                context.log(LogLevel::warning, options_.redactor.redact(results[index]->error()).to_string());
            }
        }
        return answered || (all_back && not_now);
    };
    const auto poll = [&] {
        if (passed(deadline)) { deadline_answer = answer_at_deadline(question, deadline); }
        if (deadline_answer) { return; }
        DetachableContext leg(context, steady_clock::now() + notification_timeout);
        for (const Error& error : notify_due(question, deadline, leg, false, false).problems) {
            context.log(LogLevel::warning, error.to_string());
        }
    };
    std::vector<Result<std::optional<T>>> results = all_at_once<std::optional<T>>(usable, context, call, enough, poll);
    for (Result<std::optional<T>>& result : results) {
        if (result.ok() && result.value()) { return std::move(*result); }
    }
    if (deadline_answer) { return deadline_answer; }
    for (std::size_t index = 0; index < results.size(); ++index) {
        if (!results[index].ok() && results[index].error().kind != ErrorKind::cancelled && !named.contains(index)) {
            context.log(LogLevel::warning, options_.redactor.redact(results[index].error()).to_string());
        }
    }
    return std::optional<T>();
}

Result<std::optional<Resolution>> HandlerGroup::wait_for_resolution(const Escalation& escalation, CallContext& context) {
    return wait<Resolution>(
        escalation,
        [asked = without_secrets(escalation)](EscalationHandler& handler, CallContext& leg) {
            return handler.wait_for_resolution(asked, leg);
        },
        context);
}

Result<std::optional<Approval>> HandlerGroup::wait_for_approval(const ApprovalRequest& request, CallContext& context) {
    return wait<Approval>(
        request,
        [asked = without_secrets(request)](EscalationHandler& handler, CallContext& leg) {
            return handler.wait_for_approval(asked, leg);
        },
        context);
}

ProcessedDue HandlerGroup::process_due(const std::string& id, CallContext& context, bool at_once) {
    // Answered, or being answered. Errors of reading are reported by the reader.
    if (options_.store.answer_version(id)) { return {}; }
    const auto process = [&](const auto& question) {
        ProcessedDue done;
        const auto deadline = options_.store.answer_deadline(id);
        if (!deadline.ok() || !question.ok()) {
            done.problems.push_back(!deadline.ok() ? deadline.error() : question.error());
            return done;
        }
        const bool overdue = passed(*deadline);
        if (const auto answer = overdue ? answer_at_deadline(*question, *deadline) : std::nullopt) {
            const auto written = record_answer(options_.store, id, *answer);
            if (written.ok()) {
                done.deadline_answer = deadline->then;
            } else if (!is_already_answered(written.error())) {  // No other answer came first.
                done.problems.push_back(written.error());
            }
            return done;
        }
        DetachableContext leg(context, steady_clock::now() + notification_timeout);
        done = notify_due(*question, *deadline, leg, at_once, false);
        done.overdue = overdue;
        return done;
    };
    return kind_of(id) == QuestionKind::escalation ? process(options_.store.escalation(id))
                                                   : process(options_.store.approval(id));
}

}  // namespace agentforge::kernel
