// SPDX-License-Identifier: Apache-2.0
#include "telemetry/telemetry.hpp"

#include <unistd.h>

#include <set>
#include <string_view>

#include "base/json_fields.hpp"

namespace agentforge::kernel {
namespace {

telemetry::Settings with_process(const Telemetry::Options& options) {
    telemetry::Settings settings = options.settings;
    settings.resource.emplace("service.version", options.version);
    settings.resource.emplace("service.instance.id", options.instance);
    settings.resource.emplace("process.pid", static_cast<std::int64_t>(::getpid()));
    settings.resource.emplace("telemetry.sdk.name", "agentforge");
    settings.resource.emplace("telemetry.sdk.language", "cpp");
    settings.resource.emplace("telemetry.sdk.version", options.version);
    return settings;
}

/// Returns what is counted of the signal.
const char* parts_of(telemetry::Signal signal) {
    if (signal == telemetry::Signal::traces) { return "spans"; }
    return signal == telemetry::Signal::logs ? "log lines" : "exports of metrics";
}

}  // namespace

Telemetry::Telemetry(Options options, telemetry::Send send, const Clock& clock)
    : options_(std::move(options)), exporter_(with_process(options_), std::move(send), clock) {}

Telemetry::~Telemetry() = default;

void Telemetry::recorded(const TaskState& state, const StageState* left, const records::AnyRecord& record) {
    {
        const std::lock_guard guard(mutex_);
        auto& trace = traces_.try_emplace(state.task_id, options_.names_of).first->second;
        const telemetry::Additions additions = trace.take(state, left, record);
        for (const auto& span : additions.spans) { exporter_.add(span); }
        for (const auto& measurement : additions.measurements) { exporter_.add(measurement); }
    }
    if (next_ != nullptr) { next_->recorded(state, left, record); }
}

void Telemetry::logged(const json::object& line) {
    static const std::set<std::string_view> of_the_line{"time", "level", "event", "trace_id", "span_id", "pid"};
    telemetry::LogLine out;
    const auto time = parse_time(text_of(line, "time"));
    if (!time.ok()) { return; }
    out.time = *time;
    out.level = text_of(line, "level");
    out.event = text_of(line, "event");
    out.trace_id = text_of(line, "trace_id");
    out.span_id = text_of(line, "span_id");
    for (const auto& [key, value] : line) {
        if (!of_the_line.contains(key)) { out.attributes.emplace("agentforge." + std::string(key), value); }
    }
    exporter_.add(out);
}

std::string Telemetry::end(std::chrono::milliseconds at_most) {
    const auto report = exporter_.stop(at_most);
    std::string lost;
    for (const telemetry::Signal signal : {telemetry::Signal::traces, telemetry::Signal::metrics, telemetry::Signal::logs}) {
        const auto& counts = report.counts.at(static_cast<std::size_t>(signal));
        if (counts.dropped == 0) { continue; }
        lost += (lost.empty() ? "" : ", ") + std::to_string(counts.dropped) + " of " + std::to_string(counts.added) + " " +
                parts_of(signal);
    }
    if (lost.empty()) { return {}; }
    return "telemetry: " + lost + " were not delivered" + (report.problem.empty() ? "" : ": " + report.problem);
}

}  // namespace agentforge::kernel
