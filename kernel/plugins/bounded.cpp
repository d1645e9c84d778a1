// SPDX-License-Identifier: Apache-2.0
#include "plugins/bounded.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/thread.hpp"
#include "plugins/call_mark.hpp"

namespace agentforge::kernel {

std::optional<CallWatch::Seen> CallWatch::now() const {
    const std::string* const whom = whom_;
    const char* const function = function_;
    if (whom == nullptr || function == nullptr) { return std::nullopt; }
    return Seen{*whom, function, number_};
}

std::string CallWatch::culprit() const {
    const auto seen = now();
    return seen ? ": the " + seen->whom + " hung in " + seen->function + "()" : "";
}

CallWatch::Call::Call(const std::string& whom, const char* function) noexcept
    : watch_(here), whom_(&whom), function_(function), outer_(innermost) {
    innermost = this;
    CallMark::note(whom_, function_);
    if (watch_ == nullptr) { return; }
    watch_->whom_ = whom_;
    watch_->function_ = function_;
    ++watch_->number_;
}

CallWatch::Call::~Call() {
    innermost = outer_;
    CallMark::note(outer_ == nullptr ? nullptr : outer_->whom_, outer_ == nullptr ? nullptr : outer_->function_);
    if (watch_ == nullptr) { return; }
    watch_->function_ = outer_ == nullptr ? nullptr : outer_->function_;
    watch_->whom_ = outer_ == nullptr ? nullptr : outer_->whom_;
}

std::string CallWatch::of_this_thread() {
    return innermost == nullptr ? "" : std::string(innermost->function_) + "() of the " + *innermost->whom_;
}

const std::string& CallWatch::lasting(std::string_view text) {
    static auto* const mutex = new std::mutex;                          // Never destroyed: abandoned threads
    static auto* const texts = new std::set<std::string, std::less<>>;  // outlive every static object.
    const std::lock_guard lock(*mutex);
    if (const auto known = texts->find(text); known != texts->end()) { return *known; }
    return *texts->emplace(text).first;
}

bool run_bounded(std::function<void()> work, const std::shared_ptr<CallWatch>& watch, const std::function<bool()>& overdue) {
    struct Shared {
        std::mutex mutex;
        std::condition_variable changed;
        bool done = false;
    };
    const auto shared = std::make_shared<Shared>();
    const auto given = std::make_shared<std::function<void()>>(std::move(work));
    const auto body = [shared, watch, given] {
        CallWatch::here = watch.get();
        (*given)();
        *given = nullptr;  // Released before the end is signalled, so the last owner is this thread only if it was abandoned.
        CallWatch::here = nullptr;
        const std::lock_guard lock(shared->mutex);
        shared->done = true;
        shared->changed.notify_all();
    };
    auto worker = try_thread(body);
    if (!worker) { body(); }
    std::unique_lock lock(shared->mutex);
    while (!shared->done) {
        shared->changed.wait_for(lock, std::chrono::milliseconds(50));
        if (shared->done) { break; }
        lock.unlock();
        const bool give_up = overdue();
        lock.lock();
        if (give_up && !shared->done) {
            lock.unlock();
            worker->detach();
            return false;
        }
    }
    lock.unlock();
    if (worker) { worker->join(); }
    return true;
}

}  // namespace agentforge::kernel
