// SPDX-License-Identifier: Apache-2.0
#include "dashboard/event_hub.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <charconv>

#include "base/files.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

struct EventHub::State {
    explicit State(const Clock& the_clock) : clock(the_clock) {}
    const Clock& clock;
    std::mutex mutex;
    std::string run;  ///< Identifies this process: event numbers of another process mean nothing here.
    std::size_t kept = 0;
    std::size_t most_clients = 0;
    std::deque<EventSource::Event> events;  ///< The newest events, in order. The last one has the number `newest`.
    std::uint64_t newest = 0;
    bool closed = false;
    std::list<int> wakes;  ///< One descriptor for each client.

    [[nodiscard]] std::uint64_t oldest() const { return newest - events.size() + 1; }
    [[nodiscard]] std::string id_of(std::uint64_t number) const { return run + "-" + std::to_string(number); }
    [[nodiscard]] std::string now() const { return format_time(clock.now()); }
    /// Returns an event about the stream itself.
    [[nodiscard]] EventSource::Event notice(const char* type, const char* reason = nullptr) const {
        json::object data{{"type", type}};
        if (reason != nullptr) { data["reason"] = reason; }
        data["at"] = now();
        return {{}, type, to_json_line(data)};
    }
    void append(EventSource::Event event) {
        event.id = id_of(++newest);
        events.push_back(std::move(event));
        if (events.size() > kept) { events.pop_front(); }
    }
    void wake() const {
        for (const int descriptor : wakes) { (void)::eventfd_write(descriptor, 1); }
    }
};

class EventHub::Source final : public EventSource {
public:
    Source(std::shared_ptr<State> state, std::uint64_t seen, const char* greeting)
        : state_(std::move(state)), wake_(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)), seen_(seen), greeting_(greeting) {
        at_ = state_->wakes.insert(state_->wakes.end(), wake_.get());  // The hub's `listen` holds the mutex here.
    }
    ~Source() override {
        const std::lock_guard lock(state_->mutex);
        state_->wakes.erase(at_);
    }
    [[nodiscard]] int descriptor() const override { return wake_.get(); }
    [[nodiscard]] bool ended() const override { return ended_; }

    [[nodiscard]] std::vector<Event> take() override {
        eventfd_t count = 0;
        (void)::eventfd_read(wake_.get(), &count);
        const std::lock_guard lock(state_->mutex);
        std::vector<Event> taken;
        if (greeting_ != nullptr) {
            taken.push_back(state_->notice(greeting_));
            taken.back().id = state_->id_of(seen_);
        }
        greeting_ = nullptr;
        if (state_->closed) {
            ended_ = true;
            taken.push_back(state_->notice("closed", "the dashboard ends"));
            return taken;
        }
        if (seen_ + 1 < state_->oldest()) {
            ended_ = true;
            taken.push_back(
                state_->notice("dropped", "this client reads more slowly than events come; connect again and ask for all"));
            return taken;
        }
        for (; seen_ < state_->newest; ++seen_) { taken.push_back(state_->events[seen_ + 1 - state_->oldest()]); }
        return taken;
    }

private:
    std::shared_ptr<State> state_;
    FileDescriptor wake_;
    std::list<int>::iterator at_;
    std::uint64_t seen_;
    const char* greeting_;
    bool ended_ = false;
};

EventHub::EventHub(IdSource& ids, const Clock& clock, std::size_t kept, std::size_t most_clients)
    : state_(std::make_shared<State>(clock)) {
    constexpr std::size_t run_digits = 12;
    state_->run = ids.random_hex(run_digits);
    state_->kept = kept;
    state_->most_clients = most_clients;
}

void EventHub::publish(const std::vector<TaskChange>& changes) {
    if (changes.empty()) { return; }
    const std::lock_guard lock(state_->mutex);
    const std::string now = state_->now();
    if (changes.size() > state_->kept) {
        state_->append(state_->notice("reset"));
        return state_->wake();
    }
    for (const TaskChange& change : changes) {
        const json::object data{{"type", change.type},       {"repo", change.repo},
                                {"task_id", change.task_id}, {"sequence", change.seq},
                                {"phase", change.stage},     {"step", change.step},
                                {"state", change.state},     {"at", change.at.empty() ? now : change.at}};
        state_->append({{}, "task", to_json_line(data)});
    }
    state_->wake();
}

void EventHub::close() {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
    state_->wake();
}

std::unique_ptr<EventSource> EventHub::listen(const std::string& last_seen) {
    const std::lock_guard lock(state_->mutex);
    if (state_->wakes.size() >= state_->most_clients || state_->closed) { return nullptr; }
    if (last_seen.empty()) { return std::make_unique<Source>(state_, state_->newest, "hello"); }
    std::uint64_t number = 0;
    const std::string prefix = state_->run + "-";
    const char* const end = last_seen.data() + last_seen.size();
    const bool ours = last_seen.starts_with(prefix) && std::from_chars(last_seen.data() + prefix.size(), end, number).ptr == end;
    const bool known = ours && number <= state_->newest && number + 1 >= state_->oldest();
    if (!known) { return std::make_unique<Source>(state_, state_->newest, "reset"); }
    return std::make_unique<Source>(state_, number, "hello");
}

std::size_t EventHub::clients() const {
    const std::lock_guard lock(state_->mutex);
    return state_->wakes.size();
}

}  // namespace agentforge::kernel
