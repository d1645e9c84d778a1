// SPDX-License-Identifier: Apache-2.0
#include "telemetry/exporter.hpp"

#include <Poco/DeflatingStream.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <sstream>
#include <thread>

#include <agentforge_http/exchange.hpp>

#include "base/text.hpp"
#include "base/thread.hpp"

namespace agentforge::kernel::telemetry {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds first_pause{1'000};
constexpr milliseconds longest_pause{30'000};
constexpr std::size_t longest_reply = 64UL << 10U;
constexpr std::size_t shown_of_reply = 200;

std::string gzipped(const std::string& body) {
    std::ostringstream out;
    Poco::DeflatingOutputStream deflating(out, Poco::DeflatingStreamBuf::STREAM_GZIP);
    deflating << body;
    deflating.close();
    return out.str();
}

bool may_pass(int status) { return status == 429 || status == 502 || status == 503 || status == 504; }

/// Returns how many items a 200 reply refuses: `partialSuccess` of OTLP.
std::uint64_t rejected_by(const std::string& body, std::string& message) {
    const auto reply = parse_json(body, "the collector");
    if (!reply.ok() || !reply->is_object()) { return 0; }
    const json::value* partial = reply->get_object().if_contains("partialSuccess");
    if (partial == nullptr || !partial->is_object()) { return 0; }
    std::uint64_t count = 0;
    for (const auto& [key, value] : partial->get_object()) {
        if (key == "errorMessage" && value.is_string()) { message = value.get_string(); }
        if (!key.starts_with("rejected")) { continue; }
        if (value.is_string()) {
            std::from_chars(value.get_string().data(), value.get_string().data() + value.get_string().size(), count);
        }
        if (value.is_number()) { count = value.to_number<std::uint64_t>(); }
    }
    return count;
}

}  // namespace

Send send_by_http(std::map<std::string, std::string> environment) {
    return [environment = std::move(environment), connections = std::make_shared<http::Connections>()](
               Signal, const Destination& destination, const std::string& body,
               const std::function<bool()>& cancelled) -> Result<Reply> {
        http::Call call;
        call.server = destination.server;
        call.path = destination.server.path;
        call.headers = {{"content-type", "application/json"}, {"user-agent", "agentforge"}};
        if (destination.compress) { call.headers.emplace_back("content-encoding", "gzip"); }
        call.headers.insert(call.headers.end(), destination.headers.begin(), destination.headers.end());
        call.body = destination.compress ? gzipped(body) : body;
        call.ca_file = destination.ca_file;
        AF_TRY(call.proxy, http::proxy_for(destination.server, [&environment](const std::string& name) {
                   const auto found = environment.find(name);
                   return found == environment.end() ? std::string() : found->second;
               }));
        call.deadline = steady_clock::now() + destination.timeout;
        call.max_body_bytes = longest_reply;
        call.connections = connections;
        Reply reply;
        AF_TRY(const http::Head head,
               http::exchange(call, cancelled, [&reply](const http::Head&, std::string_view part) -> Result<bool> {
                   reply.body += part;
                   return true;
               }));
        reply.status = head.status;
        const std::string after = head.header("retry-after");
        unsigned seconds = 0;
        if (std::from_chars(after.data(), after.data() + after.size(), seconds).ec == std::errc()) {
            reply.retry_after = std::chrono::seconds(seconds);
        }
        return reply;
    };
}

namespace {

/// Hides the values of our own headers, which a collector may quote. Shorter ones say nothing and occur by chance.
std::string without_header_values(std::string text, const Destination& destination) {
    constexpr std::size_t shortest = 6;
    for (const auto& [name, value] : destination.headers) {
        if (value.size() < shortest) { continue; }
        for (std::size_t at = text.find(value); at != std::string::npos; at = text.find(value, at)) {
            text.replace(at, value.size(), "[" + name + "]");
            at += name.size() + 2;
        }
    }
    return text;
}

}  // namespace

struct Exporter::State {
    /// Waiting items of one signal.
    struct Queue {
        std::deque<json::object> waiting;
        Counts counts;
        steady_clock::time_point not_before;  ///< No request to the collector before this time.
        milliseconds pause = first_pause;
    };

    State(Settings of, Send by, const Clock& with)
        : settings(std::move(of)),
          send(std::move(by)),
          clock(with),
          metrics(with.now()),
          metrics_due(steady_clock::now() + settings.metrics_interval) {}

    Settings settings;
    Send send;
    const Clock& clock;
    std::mutex mutex;
    std::condition_variable wakes;
    std::array<Queue, 3> queues;
    Metrics metrics;
    bool metrics_changed = false;
    steady_clock::time_point metrics_due;
    steady_clock::time_point batch_due = steady_clock::time_point::max();
    std::string problem;
    bool stopping = false;
    steady_clock::time_point stop_by = steady_clock::time_point::max();
    std::optional<std::thread> thread;
    bool started = false;

    Queue& queue(Signal signal) { return queues.at(static_cast<std::size_t>(signal)); }

    void add(Signal signal, json::object item) {
        if (!settings.of(signal)) { return; }
        const std::lock_guard guard(mutex);
        Queue& to = queue(signal);
        ++to.counts.added;
        if (stopping || to.waiting.size() >= settings.queue) {
            ++to.counts.dropped;
            return;
        }
        to.waiting.push_back(std::move(item));
        if (batch_due == steady_clock::time_point::max()) { batch_due = steady_clock::now() + settings.delay; }
        if (to.waiting.size() >= settings.batch) { batch_due = steady_clock::now(); }
        start();
        wakes.notify_one();
    }

    /// The caller holds the mutex. Without a thread, everything waits for `stop`.
    void start() {
        if (std::exchange(started, true)) { return; }
        thread = try_thread([this] { run(); });
    }

    void run() {
        std::unique_lock lock(mutex);
        while (!stopping) {
            const auto due = std::min(batch_due, metrics_changed ? metrics_due : steady_clock::time_point::max());
            if (due == steady_clock::time_point::max()) {
                wakes.wait(lock);
            } else if (due > steady_clock::now()) {
                wakes.wait_until(lock, due);
            } else {
                work(lock);
            }
        }
    }

    /// Sends what is due, and sets when to run next.
    void work(std::unique_lock<std::mutex>& lock) {
        const auto now = steady_clock::now();
        if (metrics_changed && (now >= metrics_due || stopping) && now >= queue(Signal::metrics).not_before) {
            metrics_due = now + settings.metrics_interval;
            send_metrics(lock);
        }
        for (const Signal signal : {Signal::traces, Signal::logs}) {
            while (!queue(signal).waiting.empty() && steady_clock::now() >= queue(signal).not_before &&
                   send_batch(lock, signal)) {}
        }
        batch_due = steady_clock::time_point::max();
        for (const Signal signal : {Signal::traces, Signal::logs}) {
            if (!queue(signal).waiting.empty()) {
                batch_due = std::min(batch_due, std::max(queue(signal).not_before, steady_clock::now()));
            }
        }
    }

    /// Returns true if the next batch may be sent.
    bool send_batch(std::unique_lock<std::mutex>& lock, Signal signal) {
        Queue& from = queue(signal);
        const std::size_t count = std::min(from.waiting.size(), settings.batch);
        const auto end = from.waiting.begin() + static_cast<std::ptrdiff_t>(count);
        json::array items(from.waiting.begin(), end);
        const Outcome outcome = exchange(lock, signal, std::move(items));
        if (outcome == Outcome::later) { return false; }
        if (outcome == Outcome::refused) { from.counts.dropped += count; }
        from.waiting.erase(from.waiting.begin(),
                           from.waiting.begin() + static_cast<std::ptrdiff_t>(count));  // Other threads only append.
        return true;
    }

    void send_metrics(std::unique_lock<std::mutex>& lock) {
        if (!settings.of(Signal::metrics)) {
            metrics_changed = false;
            return;
        }
        Queue& from = queue(Signal::metrics);
        metrics_changed = false;
        const Outcome outcome = exchange(lock, Signal::metrics, metrics.to_otlp(clock.now()));
        if (outcome == Outcome::taken) { ++from.counts.added; }
        if (outcome == Outcome::refused) { ++from.counts.added, ++from.counts.dropped; }
        if (outcome == Outcome::later) {
            metrics_changed = true;  // Metrics are sums: nothing is lost until the end.
            metrics_due = from.not_before;
        }
    }

    enum class Outcome : unsigned char { taken, refused, later };
    Outcome exchange(std::unique_lock<std::mutex>& lock, Signal signal, json::array items) {
        lock.unlock();
        const Destination& destination = *settings.of(signal);
        const std::string body = to_json_line(export_request(signal, settings.resource, std::move(items)));
        const auto reply = send(signal, destination, body, [this] {
            const std::lock_guard guard(mutex);
            return stopping && steady_clock::now() >= stop_by;
        });
        lock.lock();
        Queue& of = queue(signal);
        if (reply.ok() && reply->status >= 200 && reply->status < 300) {
            of.pause = first_pause;
            std::string message;
            if (const std::uint64_t rejected = rejected_by(reply->body, message); rejected > 0) {
                of.counts.dropped += signal == Signal::metrics
                                         ? 1
                                         : rejected;  // We count exports of metrics; the collector rejects single data points.
                problem = without_header_values("the collector rejected some: " + ellipsis(message, shown_of_reply), destination);
            }
            return Outcome::taken;
        }
        problem = reply.ok()
                      ? "the collector answers " + std::to_string(reply->status) +
                            (reply->body.empty() ? "" : ": " + ellipsis(first_line(sanitize_utf8(reply->body)), shown_of_reply))
                      : reply.error().message;
        problem = without_header_values(std::move(problem), destination);
        if (reply.ok() && !may_pass(reply->status)) { return Outcome::refused; }
        const milliseconds asked = reply.ok() ? std::chrono::duration_cast<milliseconds>(reply->retry_after) : milliseconds(0);
        of.not_before = steady_clock::now() + std::max(of.pause, asked);
        of.pause = std::min(of.pause * 2, longest_pause);
        return Outcome::later;
    }
};

Exporter::Exporter(Settings settings, Send send, const Clock& clock)
    : state_(std::make_unique<State>(std::move(settings), std::move(send), clock)) {}

Exporter::~Exporter() { static_cast<void>(stop(milliseconds(0))); }

void Exporter::add(const Span& span) { state_->add(Signal::traces, to_otlp(span)); }
void Exporter::add(const LogLine& line) { state_->add(Signal::logs, to_otlp(line)); }

void Exporter::add(const Measurement& measurement) {
    if (!state_->settings.of(Signal::metrics)) { return; }
    const std::lock_guard guard(state_->mutex);
    if (state_->stopping) { return; }
    state_->metrics.add(measurement);
    if (std::exchange(state_->metrics_changed, true)) { return; }
    state_->start();
    state_->wakes.notify_one();
}

Exporter::Report Exporter::stop(milliseconds at_most) {
    State& state = *state_;
    std::unique_lock lock(state.mutex);
    if (!state.stopping) {
        state.stopping = true;
        state.stop_by = steady_clock::now() + at_most;
        state.wakes.notify_one();
        if (state.thread) {
            lock.unlock();
            state.thread->join();
            lock.lock();
        }
        // A collector that refused a moment ago gets a last attempt.
        if (at_most > milliseconds(0)) { state.work(lock); }
        for (auto& queue : state.queues) {
            queue.counts.dropped += queue.waiting.size();
            queue.waiting.clear();
        }
        if (auto& of_metrics = state.queue(Signal::metrics); state.metrics_changed && state.settings.of(Signal::metrics)) {
            ++of_metrics.counts.added;
            ++of_metrics.counts.dropped;
        }
    }
    Report report;
    for (std::size_t signal = 0; signal < state.queues.size(); ++signal) {
        report.counts.at(signal) = state.queues.at(signal).counts;
    }
    report.problem = state.problem;
    return report;
}

}  // namespace agentforge::kernel::telemetry
