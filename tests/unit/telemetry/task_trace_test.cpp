// SPDX-License-Identifier: Apache-2.0
// The trace of a whole task, from a kept journal.
#include "telemetry/task_trace.hpp"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/files.hpp"
#include "telemetry/metrics.hpp"
#include "telemetry/trace_ids.hpp"

namespace agentforge::kernel::telemetry {
namespace {

struct Trace {
    std::vector<Span> spans;
    std::vector<Measurement> measurements;
    TaskState state;
};

ModelNames names_of(const std::string&) { return {"scripted", ""}; }

/// Exports as the processes that wrote the journal did. Another process begins after record `handover`.
Trace trace_of(const std::string& journal, Sequence handover = 0) {
    Trace trace;
    auto process = std::make_unique<TaskTrace>(names_of);
    const auto records = Journal::read(std::string(AGENTFORGE_SOURCE_DIR) + "/tests/journals/" + journal + "/actions.yaml");
    EXPECT_TRUE(records.ok());
    for (const Record& record : *records) {
        std::optional<StageState> left;
        if (!trace.state.stages.empty()) { left = trace.state.stage(); }
        const auto read = fold_and_read(trace.state, record.body);
        EXPECT_TRUE(read.ok());
        if (!read.ok()) { return trace; }
        trace.state.seq = record.seq;
        Additions additions = process->take(trace.state, left ? &*left : nullptr, *read);
        trace.spans.insert(trace.spans.end(), additions.spans.begin(), additions.spans.end());
        trace.measurements.insert(trace.measurements.end(), additions.measurements.begin(), additions.measurements.end());
        if (record.seq == handover) { process = std::make_unique<TaskTrace>(names_of); }
    }
    return trace;
}

std::map<std::string, Span> by_id(const Trace& trace) {
    std::map<std::string, Span> spans;
    for (const Span& span : trace.spans) {
        EXPECT_TRUE(spans.emplace(span.span_id, span).second) << span.name << " was exported twice";
    }
    return spans;
}

std::size_t count(const Trace& trace, std::string_view beginning) {
    return static_cast<std::size_t>(
        std::ranges::count_if(trace.spans, [&](const Span& span) { return span.name.starts_with(beginning); }));
}

constexpr const char* delivered = "delivered_and_rebased";

TEST(TaskTrace, every_span_belongs_to_the_tasks_trace_and_has_a_parent_in_it) {
    const Trace trace = trace_of(delivered);
    const auto spans = by_id(trace);
    for (const auto& [id, span] : spans) {
        EXPECT_EQ(span.trace_id, trace_id_of(trace.state.task_id));
        if (span.name == "task") {
            EXPECT_EQ(span.parent_id, "");
        } else {
            EXPECT_TRUE(spans.contains(span.parent_id)) << span.name;
        }
    }
}

TEST(TaskTrace, every_span_lies_within_its_parent) {
    const auto spans = by_id(trace_of(delivered));
    for (const auto& [id, span] : spans) {
        EXPECT_LE(span.start, span.end) << span.name;
        if (span.parent_id.empty() || !spans.contains(span.parent_id)) { continue; }
        EXPECT_GE(span.start, spans.at(span.parent_id).start) << span.name;
        EXPECT_LE(span.end, spans.at(span.parent_id).end) << span.name;
    }
}

TEST(TaskTrace, has_a_span_for_each_visit_step_and_gate) {
    const Trace trace = trace_of(delivered);
    unsigned visits = 0;
    for (const StageState& stage : trace.state.stages) { visits += stage.visits; }
    EXPECT_EQ(count(trace, "task"), 1U);
    EXPECT_EQ(count(trace, "stage "), visits);
    EXPECT_EQ(count(trace, "step "), trace.state.steps);
    EXPECT_EQ(count(trace, "chat"), trace.state.ledger.total().calls);
    EXPECT_GT(count(trace, "gate "), 0U);
}

TEST(TaskTrace, model_calls_and_tools_have_the_required_attributes_of_the_conventions) {
    for (const Span& span : trace_of(delivered).spans) {
        if (span.name.starts_with("chat")) {
            EXPECT_EQ(span.attributes.at("gen_ai.operation.name"), "chat");
            EXPECT_EQ(span.attributes.at("gen_ai.provider.name"), "scripted");
            EXPECT_EQ(span.kind, SpanKind::client);
        }
        if (span.name.starts_with("execute_tool ")) {
            EXPECT_EQ(span.attributes.at("gen_ai.operation.name"), "execute_tool");
            EXPECT_EQ(span.name, "execute_tool " + std::string(span.attributes.at("gen_ai.tool.name").as_string()));
        }
    }
}

TEST(TaskTrace, token_metrics_equal_the_ledger) {
    const Trace trace = trace_of(delivered);
    double tokens = 0;
    for (const Measurement& measurement : trace.measurements) {
        if (measurement.instrument == Instrument::token_usage) { tokens += measurement.value; }
    }
    EXPECT_EQ(static_cast<std::uint64_t>(tokens), trace.state.ledger.total().tokens());
}

TEST(TaskTrace, another_process_produces_the_same_span_ids) {
    const auto whole = by_id(trace_of(delivered));
    const auto state = trace_of(delivered).state;
    for (Sequence handover = 1; handover < state.seq; ++handover) {
        const auto parts = by_id(trace_of(delivered, handover));
        ASSERT_EQ(parts.size(), whole.size()) << handover;
        for (const auto& [id, span] : parts) { ASSERT_TRUE(whole.contains(id)) << span.name << " after record " << handover; }
    }
}

/// What a task can export: the trace of a delivered one, and what comes of records that it does not have.
Trace every_export() {
    Trace trace = trace_of(delivered);
    TaskTrace process(names_of);
    const auto take = [&](records::Body body) {
        Additions additions = process.take(trace.state, nullptr, {{}, std::move(body)});
        trace.spans.insert(trace.spans.end(), additions.spans.begin(), additions.spans.end());
        trace.measurements.insert(trace.measurements.end(), additions.measurements.begin(), additions.measurements.end());
    };
    take(records::AttemptFailed{});
    records::CallLost lost{};
    lost.usage.model = std::string("of-the-answer");
    lost.usage.estimated = true;
    lost.usage.cost_microusd = 1;
    take(lost);
    take(records::CycleStarted{});
    take(records::EscalationRaised{});
    records::StageStarted started{};
    started.stage = "red";
    take(started);
    take(records::ArtifactRejected{});
    take(started);
    return trace;
}

using Names = std::set<std::string>;

/// The attributes of each row of a table of docs/telemetry.md, by the row's first word. `column`: counted from 0.
std::map<std::string, Names> attributes_in_page(const std::string& heading, std::size_t column) {
    std::map<std::string, Names> rows;
    std::istringstream page(read_file(std::string(AGENTFORGE_SOURCE_DIR) + "/docs/telemetry.md").value());
    std::string section;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## ")) { section = line.substr(3); }
        if (section != heading || !line.starts_with("| `")) { continue; }
        std::vector<std::string> columns;
        std::istringstream cells(line.substr(1));
        for (std::string cell; std::getline(cells, cell, '|');) { columns.push_back(cell); }
        const std::string first = columns.at(0).substr(2, columns.at(0).find_first_of(" `", 2) - 2);
        const std::regex name("`([a-z_]+\\.[a-z_.]+)`");
        const std::string& cell = columns.at(column);
        Names& names = rows[first];
        for (std::sregex_iterator at(cell.begin(), cell.end(), name), end; at != end; ++at) { names.insert((*at)[1]); }
    }
    return rows;
}

TEST(TaskTrace, documents_exactly_the_attributes_of_each_span) {
    std::map<std::string, Names> exported;
    for (const Span& span : every_export().spans) {
        Names& names = exported[span.name.substr(0, span.name.find(' '))];
        for (const auto& [name, value] : span.attributes) { names.emplace(name); }
    }
    EXPECT_EQ(attributes_in_page("Traces", 2), exported);
}

TEST(TaskTrace, documents_exactly_the_attributes_of_each_metric) {
    std::map<std::string, Names> exported;
    for (const Measurement& measurement : every_export().measurements) {
        Names& names = exported[std::string(form_of(measurement.instrument).name)];
        for (const auto& [name, value] : measurement.attributes) { names.emplace(name); }
    }
    EXPECT_EQ(attributes_in_page("Metrics", 3), exported);
}

/// What is exported of a kept journal by a process that goes on with it and writes this record.
Additions next_after(const std::string& journal, records::Body body) {
    Trace trace = trace_of(journal);
    const StageState left = trace.state.stage();
    return TaskTrace(names_of).take(trace.state, &left, {{}, std::move(body)});
}

TEST(TaskTrace, an_abort_ends_a_visit_started_by_another_process) {
    const Additions additions = next_after("killed_in_green", records::TaskAborted{"enough"});
    ASSERT_EQ(additions.spans.size(), 2U);
    EXPECT_EQ(additions.spans[0].name, "stage green");
    EXPECT_EQ(additions.spans[0].error_type, "aborted");
    EXPECT_EQ(additions.spans[1].name, "task");
}

TEST(TaskTrace, a_call_whose_last_attempt_failed_is_a_span_of_its_visit_with_the_error) {
    const Additions additions = next_after("killed_in_green", records::TaskPaused{"AF-LLM-407: the server answered 500"});
    ASSERT_EQ(additions.spans.size(), 1U);
    EXPECT_EQ(additions.spans[0].name, "chat");
    EXPECT_EQ(additions.spans[0].error_type, "AF-LLM-407");
    const TaskState state = trace_of("killed_in_green").state;
    EXPECT_EQ(additions.spans[0].parent_id, span_id_of(state.task_id, "green", state.stage().visits));
    ASSERT_EQ(additions.measurements.size(), 1U);
    EXPECT_EQ(additions.measurements[0].instrument, Instrument::model_duration);
}

TEST(TaskTrace, a_lost_call_lies_within_the_step_that_repeats_it) {
    Trace trace = trace_of("killed_in_green");
    const StageState left = trace.state.stage();
    TaskTrace process(names_of);
    const auto take = [&](records::Body body, const char* at) {
        records::Envelope envelope;
        envelope.timestamp = at;
        return process.take(trace.state, &left, {envelope, std::move(body)});
    };
    (void)take(records::TaskResumed{}, "2026-11-24T10:00:00.000Z");
    const Span lost = take(records::CallLost{}, "2026-11-24T10:00:01.000Z").spans.at(0);
    (void)take(records::Answer{}, "2026-11-24T10:00:02.000Z");
    const auto spans = take(records::Step{}, "2026-11-24T10:00:03.000Z").spans;
    EXPECT_LE(spans.back().start, lost.start);
    EXPECT_GE(spans.back().end, lost.end);
}

TEST(TaskTrace, a_pause_for_another_reason_is_not_a_model_call) {
    EXPECT_TRUE(next_after("killed_in_green", records::TaskPaused{"at your request"}).spans.empty());
}

TEST(TaskTrace, an_unfinished_task_has_no_task_span) { EXPECT_EQ(count(trace_of("killed_in_green"), "task"), 0U); }

}  // namespace
}  // namespace agentforge::kernel::telemetry
