// SPDX-License-Identifier: Apache-2.0
// Live updates: each change of a task to every client that listens, numbered, so that one who comes back misses nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "aggregate/aggregator.hpp"
#include "base/ids.hpp"
#include "dashboard/http.hpp"

namespace agentforge::kernel {

/// Keeps the newest events for all clients together: a slow client costs no memory. One that falls behind the oldest kept event
/// is told so and dropped. Safe to use from several threads; must live longer than its sources.
class EventHub {
public:
    /// `kept`: events that a client may be behind. `most_clients`: at the same time.
    EventHub(IdSource& ids, std::size_t kept = 2048, std::size_t most_clients = 16);

    void publish(const std::vector<TaskChange>& changes);
    /// Wakes all sources, which end. For the server's end.
    void close();

    /// `last_seen`: the id of the last event that the client has, or empty. The first event is `hello` where the client is up to
    /// date or new, and `reset` where events since then are not known any more: it must ask for all again. Null: there are too
    /// many clients.
    [[nodiscard]] std::unique_ptr<EventSource> listen(const std::string& last_seen);
    [[nodiscard]] std::size_t clients() const;

private:
    class Source;
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace agentforge::kernel
