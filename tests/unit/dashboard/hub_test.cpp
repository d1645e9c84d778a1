// SPDX-License-Identifier: Apache-2.0
#include "dashboard/event_hub.hpp"

#include <gtest/gtest.h>
#include <poll.h>

namespace agentforge::kernel::testing {
namespace {

class DashboardHub : public ::testing::Test {
protected:
    static TaskChange change(Sequence seq) {
        return {"one", "task-20260102-a-b-1f2e3d4c", seq, "step", "green", seq, "in_progress", "2026-01-02T03:04:05.006Z"};
    }
    static std::vector<std::string> types(const std::vector<EventSource::Event>& events) {
        std::vector<std::string> types;
        for (const auto& event : events) { types.push_back(event.type); }
        return types;
    }
    static bool readable(const EventSource& source) {
        pollfd watched{source.descriptor(), POLLIN, 0};
        return ::poll(&watched, 1, 0) == 1;
    }
    CountingIdSource ids_;
    FakeClock clock_;
    EventHub hub_{ids_, clock_, 4, 2};
};

TEST_F(DashboardHub, delivers_each_event_once_with_its_position) {
    const auto source = hub_.listen("");
    EXPECT_EQ(types(source->take()), std::vector<std::string>{"hello"});
    EXPECT_FALSE(readable(*source));
    hub_.publish({change(7)});
    EXPECT_TRUE(readable(*source));
    const auto events = source->take();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(
        events[0].data,
        R"({"type": "step", "repo": "one", "task_id": "task-20260102-a-b-1f2e3d4c", "sequence": 7, "phase": "green", "step": 7, "state": "in_progress", "at": "2026-01-02T03:04:05.006Z"})");
    EXPECT_FALSE(readable(*source));
}

TEST_F(DashboardHub, delivers_missed_events_after_a_reconnect) {
    std::string last;
    {
        const auto source = hub_.listen("");
        hub_.publish({change(1)});
        last = source->take().back().id;
    }
    hub_.publish({change(2), change(3)});
    const auto again = hub_.listen(last);
    const auto events = again->take();
    ASSERT_EQ(types(events), (std::vector<std::string>{"hello", "task", "task"}));
    EXPECT_NE(events[1].data.find("\"sequence\": 2"), std::string::npos);
}

TEST_F(DashboardHub, tells_a_client_that_missed_too_much_to_reload) {
    std::string last;
    {
        const auto source = hub_.listen("");
        hub_.publish({change(1)});
        last = source->take().back().id;
    }
    for (Sequence seq = 2; seq <= 7; ++seq) { hub_.publish({change(seq)}); }
    EXPECT_EQ(types(hub_.listen(last)->take()), std::vector<std::string>{"reset"});
    EXPECT_EQ(types(hub_.listen("another-run-3")->take()), std::vector<std::string>{"reset"});
    EXPECT_EQ(types(hub_.listen(last.substr(0, last.rfind('-')) + "-999")->take()), std::vector<std::string>{"reset"});
}

TEST_F(DashboardHub, stamps_events_without_a_record_with_its_own_time) {
    const auto source = hub_.listen("");
    EXPECT_EQ(source->take()[0].data, R"({"type": "hello", "at": "2026-01-02T00:00:00.000Z"})");
    clock_.advance(std::chrono::seconds(1));
    hub_.publish({{.repo = "one", .type = "repository", .state = "removed"}});
    EXPECT_NE(source->take()[0].data.find(R"("at": "2026-01-02T00:00:01.000Z")"), std::string::npos);
}

TEST_F(DashboardHub, tells_a_fast_client_to_reload_after_too_many_changes) {
    const auto source = hub_.listen("");
    (void)source->take();
    hub_.publish({change(1), change(2), change(3), change(4), change(5)});
    hub_.publish({change(6)});
    EXPECT_EQ(types(source->take()), (std::vector<std::string>{"reset", "task"}));
    EXPECT_FALSE(source->ended());
}

TEST_F(DashboardHub, drops_a_slow_client_with_a_reason_and_frees_its_queue) {
    const auto slow = hub_.listen("");
    (void)slow->take();
    for (Sequence seq = 1; seq <= 6; ++seq) { hub_.publish({change(seq)}); }
    const auto events = slow->take();
    EXPECT_EQ(types(events), std::vector<std::string>{"dropped"});
    EXPECT_NE(events[0].data.find("more slowly"), std::string::npos);
    EXPECT_TRUE(slow->ended());
}

TEST_F(DashboardHub, limits_the_number_of_clients) {
    const auto one = hub_.listen("");
    auto other = hub_.listen("");
    EXPECT_EQ(hub_.listen(""), nullptr);
    other.reset();
    EXPECT_NE(hub_.listen(""), nullptr);
}

TEST_F(DashboardHub, disconnects_its_clients_at_the_end) {
    const auto source = hub_.listen("");
    (void)source->take();
    hub_.close();
    EXPECT_TRUE(readable(*source));
    EXPECT_EQ(types(source->take()), std::vector<std::string>{"closed"});
    EXPECT_TRUE(source->ended());
    EXPECT_EQ(hub_.listen(""), nullptr);
}

}  // namespace
}  // namespace agentforge::kernel::testing
