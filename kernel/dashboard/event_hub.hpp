// SPDX-License-Identifier: Apache-2.0
// Live updates: sends each change of a task to every connected client. Changes are numbered, so a client that reconnects misses
// none.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "aggregate/aggregator.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "dashboard/http.hpp"

namespace agentforge::kernel {

/// Keeps one list of the newest events for all clients, so a slow client costs no memory. A client that falls behind the oldest
/// kept event is told so and disconnected. Safe to use from several threads. Must outlive its sources.
class EventHub {
public:
    /// `kept`: how many events a client may be behind. `most_clients`: clients at the same time. `clock` gives the time of events
    /// that are not a record, and must outlive the hub and its sources.
    EventHub(IdSource& ids, const Clock& clock, std::size_t kept = 2048, std::size_t most_clients = 16);

    /// More changes at once than are kept become one event, `reset`: no client could read them in time.
    void publish(const std::vector<TaskChange>& changes);
    /// Wakes all sources; they end. Called when the server stops.
    void close();

    /// Returns a source for a new client, or null if there are too many. `last_seen`: the id of the last event that the client
    /// saw, or empty. The first event is `hello` if the client is new or up to date, and `reset` if later events are no longer
    /// kept: the client must then load everything again.
    [[nodiscard]] std::unique_ptr<EventSource> listen(const std::string& last_seen);
    [[nodiscard]] std::size_t clients() const;

private:
    class Source;
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace agentforge::kernel
