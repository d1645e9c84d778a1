// SPDX-License-Identifier: Apache-2.0
#include "telemetry/exporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "base/text.hpp"

namespace agentforge::kernel::telemetry {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

/// A collector with prepared answers, in turn; the last one is repeated.
class Collector {
public:
    std::vector<Result<Reply>> replies{Reply{200, std::chrono::seconds(0), "{}"}};
    bool hangs = false;

    Send send() {
        return [this](Signal signal, const Destination&, const std::string& body,
                      const std::function<bool()>& cancelled) -> Result<Reply> {
            std::unique_lock lock(mutex_);
            requests.emplace_back(signal, parse_json(body, "request").value());
            changed_.notify_all();
            while (hangs && !cancelled()) { changed_.wait_for(lock, milliseconds(1)); }
            if (hangs) { return Error{"AF-LLM-411", "cancelled", "", "", ErrorKind::cancelled}; }
            const auto reply = replies.front();
            if (replies.size() > 1) { replies.erase(replies.begin()); }
            return reply;
        };
    }
    void wait_for_requests(std::size_t count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return requests.size() >= count; });
    }

    std::vector<std::pair<Signal, json::value>> requests;

private:
    std::mutex mutex_;
    std::condition_variable changed_;
};

class ExporterTest : public ::testing::Test {
protected:
    ExporterTest() {
        for (auto& destination : settings_.destinations) { destination.emplace(); }
        settings_.delay = std::chrono::minutes(10);
        settings_.metrics_interval = std::chrono::minutes(10);
    }
    Exporter& exporter() {
        if (!exporter_) { exporter_ = std::make_unique<Exporter>(settings_, collector_.send(), clock_); }
        return *exporter_;
    }
    void add_spans(int count) {
        for (int index = 0; index < count; ++index) {
            exporter().add(Span{.trace_id = "t",
                                .span_id = std::to_string(index),
                                .parent_id = "",
                                .name = "n",
                                .start = {},
                                .end = {},
                                .attributes = {},
                                .error_type = "",
                                .error_message = ""});
        }
    }
    static std::size_t spans_in(const json::value& request) {
        return request.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").as_array().size();
    }

    Settings settings_;
    Collector collector_;
    FakeClock clock_;
    std::unique_ptr<Exporter> exporter_;
};

TEST_F(ExporterTest, sends_queued_data_when_stopped) {
    add_spans(3);
    const auto report = exporter().stop(std::chrono::minutes(1));
    ASSERT_EQ(collector_.requests.size(), 1U);
    EXPECT_EQ(spans_in(collector_.requests.at(0).second), 3U);
    EXPECT_EQ(report.counts.at(0).added, 3U);
    EXPECT_EQ(report.counts.at(0).dropped, 0U);
}

TEST_F(ExporterTest, sends_a_full_batch_at_once) {
    settings_.batch = 2;
    add_spans(2);
    collector_.wait_for_requests(1);
    EXPECT_EQ(spans_in(collector_.requests.at(0).second), 2U);
}

TEST_F(ExporterTest, sends_large_queues_in_batches) {
    settings_.batch = 2;
    settings_.delay = std::chrono::minutes(10);
    add_spans(5);
    const auto report = exporter().stop(std::chrono::minutes(1));
    std::size_t sent = 0;
    for (const auto& [signal, request] : collector_.requests) {
        EXPECT_LE(spans_in(request), 2U);
        sent += spans_in(request);
    }
    EXPECT_EQ(sent, 5U);
    EXPECT_EQ(report.counts.at(0).dropped, 0U);
}

TEST_F(ExporterTest, drops_and_counts_data_that_does_not_fit_the_queue) {
    collector_.hangs = true;
    settings_.queue = 4;
    settings_.batch = 4;
    add_spans(4);
    collector_.wait_for_requests(1);
    add_spans(6);
    const auto report = exporter().stop(milliseconds(0));
    EXPECT_EQ(report.counts.at(0).added, 10U);
    EXPECT_EQ(report.counts.at(0).dropped, 10U);
}

TEST_F(ExporterTest, a_hanging_collector_does_not_block_its_stop) {
    collector_.hangs = true;
    add_spans(1);
    const auto report = exporter().stop(milliseconds(20));
    EXPECT_EQ(report.counts.at(0).dropped, 1U);
}

TEST_F(ExporterTest, drops_data_that_the_collector_refuses) {
    collector_.replies = {Reply{400, std::chrono::seconds(0), "no such tenant\nmore"}};
    add_spans(2);
    const auto report = exporter().stop(std::chrono::minutes(1));
    EXPECT_EQ(collector_.requests.size(), 1U);
    EXPECT_EQ(report.counts.at(0).dropped, 2U);
    EXPECT_EQ(report.problem, "the collector answers 400: no such tenant");
}

TEST_F(ExporterTest, hides_its_header_values_in_answers_of_the_collector) {
    for (auto& destination : settings_.destinations) { destination->headers = {{"api-key", "hdrsecret8817263"}}; }
    collector_.replies = {Reply{401, std::chrono::seconds(0), "bad key hdrsecret8817263"}};
    add_spans(1);
    EXPECT_EQ(exporter().stop(milliseconds(1000)).problem, "the collector answers 401: bad key [api-key]");
}

TEST_F(ExporterTest, keeps_data_while_the_collector_is_busy) {
    collector_.replies = {Reply{429, std::chrono::seconds(3600), ""}, Reply{200, std::chrono::seconds(0), ""}};
    settings_.batch = 1;
    add_spans(1);
    collector_.wait_for_requests(1);
    const auto report = exporter().stop(milliseconds(100));
    EXPECT_EQ(collector_.requests.size(), 1U);  // Not before an hour has passed.
    EXPECT_EQ(report.counts.at(0).dropped, 1U);
    EXPECT_EQ(report.problem, "the collector answers 429");
}

TEST_F(ExporterTest, counts_partial_success_of_the_collector) {
    collector_.replies = {
        Reply{200, std::chrono::seconds(0), R"({"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too old"}})"}};
    add_spans(3);
    const auto report = exporter().stop(std::chrono::minutes(1));
    EXPECT_EQ(report.counts.at(0).dropped, 2U);
    EXPECT_THAT(report.problem, HasSubstr("too old"));
}

TEST_F(ExporterTest, sends_metrics_when_it_is_stopped) {
    exporter().add(Measurement{Instrument::tasks, 1, {}});
    const auto report = exporter().stop(std::chrono::minutes(1));
    ASSERT_EQ(collector_.requests.size(), 1U);
    EXPECT_EQ(collector_.requests.at(0).first, Signal::metrics);
    EXPECT_EQ(report.counts.at(1).dropped, 0U);
}

TEST_F(ExporterTest, sends_nothing_for_a_disabled_signal) {
    settings_.destinations.at(static_cast<std::size_t>(Signal::traces)).reset();
    add_spans(2);
    const auto report = exporter().stop(std::chrono::minutes(1));
    EXPECT_TRUE(collector_.requests.empty());
    EXPECT_EQ(report.counts.at(0).added, 0U);
}

TEST_F(ExporterTest, a_log_line_has_its_severity_and_trace) {
    exporter().add(LogLine{.time = Time{std::chrono::seconds(7)},
                           .level = "warning",
                           .event = "stage_failed",
                           .attributes = {{"agentforge.stage", "red"}},
                           .trace_id = "abc",
                           .span_id = "def"});
    static_cast<void>(exporter().stop(std::chrono::minutes(1)));
    const json::value& line =
        collector_.requests.at(0).second.at("resourceLogs").at(0).at("scopeLogs").at(0).at("logRecords").at(0);
    EXPECT_EQ(line.at("severityNumber"), 13);
    EXPECT_EQ(line.at("traceId"), "abc");
    EXPECT_EQ(line.at("spanId"), "def");
    EXPECT_EQ(line.at("timeUnixNano"), "7000000000");
}

}  // namespace
}  // namespace agentforge::kernel::telemetry
