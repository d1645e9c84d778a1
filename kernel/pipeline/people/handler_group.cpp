// SPDX-License-Identifier: Apache-2.0
#include "pipeline/people/handler_group.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/thread.hpp"

namespace agentforge::kernel {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds overview{50};
constexpr std::chrono::seconds telling_time{10};
constexpr const char* nobody = "deadline";

/// The caller's context for several threads, with its own deadline and cancel. After it is detached, calls have no effect.
class GroupContext final : public CallContext {
public:
    GroupContext(CallContext& outer, std::optional<steady_clock::time_point> deadline)
        : outer_(&outer), deadline_(deadline), now_(outer.now()) {}
    void cancel() {
        const std::lock_guard lock(mutex_);
        cancelled_ = true;
    }
    void let_go() {
        const std::lock_guard lock(mutex_);
        outer_ = nullptr;
    }
    [[nodiscard]] bool cancelled() const noexcept override {
        const std::lock_guard lock(mutex_);
        return outer_ == nullptr || cancelled_ || outer_->cancelled();
    }
    [[nodiscard]] std::optional<steady_clock::time_point> deadline() const noexcept override { return deadline_; }
    void log(LogLevel level, std::string_view message, const json::object& fields) override {
        const std::lock_guard lock(mutex_);
        if (outer_ != nullptr) { outer_->log(level, message, fields); }
    }
    void progress(std::string_view text) override {
        const std::lock_guard lock(mutex_);
        if (outer_ != nullptr) { outer_->progress(text); }
    }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return now_; }

private:
    mutable std::mutex mutex_;
    CallContext* outer_;
    bool cancelled_ = false;
    std::optional<steady_clock::time_point> deadline_;
    std::chrono::system_clock::time_point now_;
};

/// State that the threads of one call share. The last of them to end frees it.
template <class T>
struct Calls {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::optional<Result<T>>> results;
};

}  // namespace

HandlerGroup::HandlerGroup(std::vector<GroupedHandler> handlers, HandlerGroupOptions options)
    : handlers_(std::move(handlers)), options_(std::move(options)), ledger_(options_.store.directory()) {}

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

bool HandlerGroup::passed(const AnswerBy& by) const {
    if (by.deadline.empty()) { return false; }
    const auto deadline = parse_time(by.deadline);
    return deadline.ok() && options_.clock.now() >= *deadline;
}

template <class T>
std::vector<Result<T>> HandlerGroup::all_at_once(const std::vector<const GroupedHandler*>& which, CallContext& outer,
                                                 const Call<T>& call,
                                                 const std::function<bool(const std::vector<std::optional<Result<T>>>&)>& enough,
                                                 const std::function<void()>& look) const {
    const auto context = std::make_shared<GroupContext>(outer, outer.deadline());
    const auto calls = std::make_shared<Calls<T>>();
    calls->results.resize(which.size());
    std::vector<std::optional<std::thread>> threads;
    for (std::size_t index = 0; index < which.size(); ++index) {
        auto one = [calls, context, work = call, index, handler = which[index]->handler,
                    refused = which[index]->refused]() mutable {
            Result<T> result = refused ? Result<T>(std::move(*refused)) : work(*handler, *context);
            // Released before the end is signalled, so no handler is destroyed on this thread unless it was left behind.
            handler.reset();
            work = nullptr;
            const std::lock_guard lock(calls->mutex);
            calls->results[index] = std::move(result);
            calls->changed.notify_all();
        };
        threads.push_back(try_thread(one));
        if (!threads.back()) { one(); }  // No thread is available: call them one after another.
    }
    std::optional<steady_clock::time_point> over;  // When waiting ended.
    auto looked = steady_clock::now();
    std::unique_lock lock(calls->mutex);
    for (;;) {
        const auto now = steady_clock::now();
        if (!over && enough && enough(calls->results)) {
            context->cancel();
            over = now;
        }
        if (!over && outer.cancelled()) { over = now; }
        if (!over && outer.deadline() && now >= *outer.deadline()) { over = now; }
        if ((over || !enough) && std::ranges::all_of(calls->results, [](const auto& result) { return result.has_value(); })) {
            break;
        }
        if (over && now >= *over + options_.grace) { break; }
        if (look && !over && now >= looked + options_.look_every) {
            lock.unlock();
            look();
            looked = steady_clock::now();
            lock.lock();
        }
        calls->changed.wait_for(lock, overview);
    }
    context->let_go();
    std::vector<Result<T>> results;
    for (std::size_t index = 0; index < which.size(); ++index) {
        const bool back = calls->results[index].has_value();
        if (back) {
            results.push_back(std::move(*calls->results[index]));
        } else {
            results.push_back(Error{
                "AF-ESC-057", "the escalation handler `" + which[index]->name + "` did not return and was abandoned",
                "escalation.handlers",
                "answer with `agentforge resolve` or `agentforge approve`, and fix the handler: it must watch deadline() and cancelled()",
                ErrorKind::timeout});
        }
        lock.unlock();
        if (auto& thread = threads[index]) { back ? thread->join() : thread->detach(); }
        if (!back && options_.left_behind) { options_.left_behind(); }
        lock.lock();
    }
    return results;
}

ProcessedDue HandlerGroup::tell(const std::string& id, const std::string& created_at, const AnswerBy& by, const Call<void>& call,
                                CallContext& context, bool at_once, bool patient) const {
    ProcessedDue done;
    const auto problem = [&done](const Error& error) {
        done.problems.push_back(error);
        return done;
    };
    auto held = ledger_.lock(id);
    while (patient && held.ok() && !held->valid() && !context.cancelled() && context.deadline() &&
           steady_clock::now() < *context.deadline()) {
        std::this_thread::sleep_for(overview);
        held = ledger_.lock(id);
    }
    if (!held.ok()) { return problem(held.error()); }
    if (!held->valid()) { return done; }  // Another process is notifying.
    Told told = ledger_.read(id);
    told.remind(created_at, options_.clock.now(), options_.reminders);
    std::vector<const GroupedHandler*> owing;
    for (const GroupedHandler& handler : handlers_) {
        if (told.owes(handler.name, options_.clock.now(), at_once)) { owing.push_back(&handler); }
    }
    if (owing.empty()) { return done; }
    done.reminder = told.reminder;
    if (const auto kept = ledger_.write(id, told, by); !kept.ok()) { return problem(kept.error()); }
    const auto results = all_at_once<void>(owing, context, call, {}, {});
    for (std::size_t index = 0; index < owing.size(); ++index) {
        if (results[index].ok()) {
            told.arrived(owing[index]->name);
            done.told.push_back(owing[index]->name);
        } else {
            const Error error = options_.redactor.redact(results[index].error());
            told.failed(owing[index]->name, error.code + ": " + error.message, options_.clock.now());
            done.problems.push_back(error);
        }
    }
    if (const auto kept = ledger_.write(id, told, by); !kept.ok()) { return problem(kept.error()); }
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

Result<void> HandlerGroup::notify(const Escalation& escalation, CallContext& context) {
    const Call<void> call = [asked = without_secrets(escalation)](EscalationHandler& handler, CallContext& leg) {
        return handler.notify(asked, leg);
    };
    AF_TRY(const AnswerBy by, options_.store.answer_by(escalation.id));
    return first_of(tell(escalation.id, escalation.created_at, by, call, context, true, true).problems);
}

Result<void> HandlerGroup::notify_approval(const ApprovalRequest& request, CallContext& context) {
    const Call<void> call = [asked = without_secrets(request)](EscalationHandler& handler, CallContext& leg) {
        return handler.notify_approval(asked, leg);
    };
    AF_TRY(const AnswerBy by, options_.store.answer_by(request.id));
    return first_of(tell(request.id, request.created_at, by, call, context, true, true).problems);
}

template <class T>
Result<std::optional<T>> HandlerGroup::wait(const std::string& id, const std::string& created_at,
                                            const Call<std::optional<T>>& call, const Call<void>& remind,
                                            const std::function<std::optional<T>(const AnswerBy&)>& at_deadline,
                                            CallContext& context) const {
    using Results = std::vector<std::optional<Result<std::optional<T>>>>;
    std::vector<const GroupedHandler*> usable;
    for (const GroupedHandler& handler : handlers_) {
        if (!handler.refused) { usable.push_back(&handler); }
    }
    AF_TRY(const AnswerBy by, options_.store.answer_by(id));  // A record never changes.
    std::optional<T> settled;
    std::set<std::size_t> named;
    const auto enough = [&](const Results& results) {
        bool answered = settled.has_value();
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
    const auto look = [&] {
        if (passed(by)) { settled = at_deadline(by); }
        if (settled) { return; }
        GroupContext leg(context, steady_clock::now() + telling_time);
        for (const Error& error : tell(id, created_at, by, remind, leg, false, false).problems) {
            context.log(LogLevel::warning, error.to_string());
        }
    };
    std::vector<Result<std::optional<T>>> results = all_at_once<std::optional<T>>(usable, context, call, enough, look);
    for (Result<std::optional<T>>& result : results) {
        if (result.ok() && result.value()) { return std::move(*result); }
    }
    if (settled) { return settled; }
    for (std::size_t index = 0; index < results.size(); ++index) {
        if (!results[index].ok() && results[index].error().kind != ErrorKind::cancelled && !named.contains(index)) {
            context.log(LogLevel::warning, options_.redactor.redact(results[index].error()).to_string());
        }
    }
    return std::optional<T>();
}

namespace {

std::optional<Resolution> resolution_at_deadline(const AnswerBy& by) {
    if (by.then == "abort") { return Resolution{true, {}, nobody}; }
    if (by.then == "default" && !by.default_answer.empty()) { return Resolution{false, {{"answer", by.default_answer}}, nobody}; }
    return std::nullopt;
}

std::optional<Approval> decision_at_deadline(const AnswerBy& by, const std::string& hash) {
    if (by.then != "abort") { return std::nullopt; }
    return Approval{false, std::nullopt, hash, nobody};
}

}  // namespace

Result<std::optional<Resolution>> HandlerGroup::wait_for_resolution(const Escalation& escalation, CallContext& context) {
    const Escalation asked = without_secrets(escalation);
    return wait<Resolution>(
        escalation.id, escalation.created_at,
        [asked](EscalationHandler& handler, CallContext& leg) { return handler.wait_for_resolution(asked, leg); },
        [asked](EscalationHandler& handler, CallContext& leg) { return handler.notify(asked, leg); }, resolution_at_deadline,
        context);
}

Result<std::optional<Approval>> HandlerGroup::wait_for_approval(const ApprovalRequest& request, CallContext& context) {
    const ApprovalRequest asked = without_secrets(request);
    return wait<Approval>(
        request.id, request.created_at,
        [asked](EscalationHandler& handler, CallContext& leg) { return handler.wait_for_approval(asked, leg); },
        [asked](EscalationHandler& handler, CallContext& leg) { return handler.notify_approval(asked, leg); },
        [hash = request.artifact_hash](const AnswerBy& by) { return decision_at_deadline(by, hash); }, context);
}

ProcessedDue HandlerGroup::process_due(const std::string& id, CallContext& context, bool at_once) {
    ProcessedDue done;
    const auto problem = [&done](const Error& error) {
        done.problems.push_back(error);
        return done;
    };
    // Answered, or being answered. Errors of reading are reported by the reader.
    if (options_.store.answer_version(id)) { return done; }
    const auto by = options_.store.answer_by(id);
    if (!by.ok()) { return problem(by.error()); }
    GroupContext leg(context, steady_clock::now() + telling_time);
    const auto finish = [&](const auto& answer, Result<void> written) {
        if (written.ok()) {
            done.settled = answer;
        } else if (written.error().code != "AF-ESC-004") {
            // Another answer came first.
            done.problems.push_back(written.error());
        }
        return done;
    };
    if (id.starts_with("ESC-")) {
        const auto asked = options_.store.escalation(id);
        if (!asked.ok()) { return problem(asked.error()); }
        if (passed(*by)) {
            if (const auto answer = resolution_at_deadline(*by)) { return finish(by->then, options_.store.resolve(id, *answer)); }
            done.overdue = true;
        }
        const Call<void> call = [asked = without_secrets(*asked)](EscalationHandler& handler, CallContext& inner) {
            return handler.notify(asked, inner);
        };
        const bool overdue = done.overdue;
        done = tell(id, asked->created_at, *by, call, leg, at_once, false);
        done.overdue = overdue;
        return done;
    }
    const auto asked = options_.store.approval(id);
    if (!asked.ok()) { return problem(asked.error()); }
    if (passed(*by)) {
        if (const auto answer = decision_at_deadline(*by, asked->artifact_hash)) {
            return finish(by->then, options_.store.decide(id, *answer));
        }
        done.overdue = true;
    }
    const Call<void> call = [asked = without_secrets(*asked)](EscalationHandler& handler, CallContext& inner) {
        return handler.notify_approval(asked, inner);
    };
    const bool overdue = done.overdue;
    done = tell(id, asked->created_at, *by, call, leg, at_once, false);
    done.overdue = overdue;
    return done;
}

}  // namespace agentforge::kernel
