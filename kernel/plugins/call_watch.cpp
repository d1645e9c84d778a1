// SPDX-License-Identifier: Apache-2.0
#include "plugins/call_watch.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/thread.hpp"
#include "plugins/call_mark.hpp"

namespace agentforge::kernel {

std::optional<CallWatch::Seen> CallWatch::now() const {
    const std::string* const callee = callee_;
    const char* const function = function_;
    if (callee == nullptr || function == nullptr) { return std::nullopt; }
    return Seen{*callee, function, number_};
}

std::string CallWatch::culprit() const {
    const auto seen = now();
    return seen ? ": the " + seen->callee + " hung in " + seen->function + "()" : "";
}

CallWatch::Call::Call(const std::string& callee, const char* function) noexcept
    : watch_(here), callee_(&callee), function_(function), outer_(innermost) {
    innermost = this;
    CallMark::note(callee_, function_);
    if (watch_ == nullptr) { return; }
    watch_->callee_ = callee_;
    watch_->function_ = function_;
    ++watch_->number_;
}

CallWatch::Call::~Call() {
    innermost = outer_;
    CallMark::note(outer_ == nullptr ? nullptr : outer_->callee_, outer_ == nullptr ? nullptr : outer_->function_);
    if (watch_ == nullptr) { return; }
    watch_->function_ = outer_ == nullptr ? nullptr : outer_->function_;
    watch_->callee_ = outer_ == nullptr ? nullptr : outer_->callee_;
}

std::string CallWatch::of_this_thread() {
    return innermost == nullptr ? "" : std::string(innermost->function_) + "() of the " + *innermost->callee_;
}

const std::string& CallWatch::lasting(std::string_view text) {
    static auto* const mutex = new std::mutex;                          // Never destroyed: abandoned threads
    static auto* const texts = new std::set<std::string, std::less<>>;  // outlive every static object.
    const std::lock_guard lock(*mutex);
    if (const auto known = texts->find(text); known != texts->end()) { return *known; }
    return *texts->emplace(text).first;
}

std::vector<bool> run_bounded(std::vector<BoundedWork> works,
                              const std::function<bool(const std::vector<bool>& returned)>& overdue) {
    struct Shared {
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<bool> returned;
    };
    const auto shared = std::make_shared<Shared>();
    shared->returned.resize(works.size());
    std::vector<std::optional<std::thread>> threads;
    for (std::size_t index = 0; index < works.size(); ++index) {
        const auto work = std::make_shared<BoundedWork>(std::move(works[index]));
        const auto body = [shared, work, index] {
            CallWatch* const outer = std::exchange(CallWatch::here, work->watch.get());
            work->run();
            work->run =
                nullptr;  // Released before the end is signalled, so the last owner is this thread only if it was abandoned.
            CallWatch::here = outer;
            const std::lock_guard lock(shared->mutex);
            shared->returned[index] = true;
            shared->changed.notify_all();
        };
        threads.push_back(try_thread(body));
        if (!threads.back()) { body(); }
    }
    std::vector<bool> returned(threads.size());
    std::unique_lock lock(shared->mutex);
    const auto all_returned = [&] { return std::ranges::find(shared->returned, false) == shared->returned.end(); };
    for (bool give_up = false; !give_up && !all_returned();) {
        shared->changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return shared->returned != returned; });
        if (all_returned()) { break; }
        returned = shared->returned;
        lock.unlock();
        give_up = overdue(returned);
        lock.lock();
    }
    returned = shared->returned;
    lock.unlock();
    for (std::size_t index = 0; index < threads.size(); ++index) {
        if (threads[index]) { returned[index] ? threads[index]->join() : threads[index]->detach(); }
    }
    return returned;
}

bool run_bounded(std::function<void()> work, const std::shared_ptr<CallWatch>& watch, const std::function<bool()>& overdue) {
    return run_bounded({BoundedWork{std::move(work), watch}}, [&](const auto&) { return overdue(); }).front();
}

}  // namespace agentforge::kernel
