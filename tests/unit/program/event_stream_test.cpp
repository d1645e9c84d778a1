// SPDX-License-Identifier: Apache-2.0
#include "program/log/event_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "base/files.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::IsEmpty;

/// Returns the stream of the run that wrote a kept journal.
std::vector<StreamLine> stream_of(const std::string& journal) {
    const auto records = Journal::read(std::string(AGENTFORGE_SOURCE_DIR) + "/tests/journals/" + journal + "/actions.yaml");
    EXPECT_TRUE(records.ok());
    std::vector<StreamLine> lines;
    TaskState state;
    for (const Record& record : *records) {
        const auto read = fold_and_read(state, record.body);
        EXPECT_TRUE(read.ok());
        if (!read.ok()) { return lines; }
        for (StreamLine& line : lines_of(state, *read)) { lines.push_back(std::move(line)); }
    }
    return lines;
}

std::set<std::string> keys_of(const StreamLine& line) {
    std::set<std::string> keys;
    for (const auto& [key, value] : line.fields) { keys.emplace(key); }
    return keys;
}

/// Returns the words in backquotes of each row of docs/stream-json.md, by the first one.
std::map<std::string, std::set<std::string>> documented() {
    std::map<std::string, std::set<std::string>> rows;
    std::istringstream page(read_file(std::string(AGENTFORGE_SOURCE_DIR) + "/docs/stream-json.md").value());
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("| `")) { continue; }
        std::vector<std::string> words;
        for (std::size_t at = line.find('`'); at != std::string::npos; at = line.find('`', line.find('`', at + 1) + 1)) {
            words.push_back(line.substr(at + 1, line.find('`', at + 1) - at - 1));
        }
        rows[words.front()] = {words.begin() + 1, words.end()};
    }
    return rows;
}

class EventStreamOfJournal : public ::testing::TestWithParam<const char*> {};

TEST_P(EventStreamOfJournal, has_only_documented_types_and_fields) {
    const auto rows = documented();
    const auto lines = stream_of(GetParam());
    EXPECT_FALSE(lines.empty());
    for (const StreamLine& line : lines) {
        const auto row = rows.find(std::string(line.type));
        ASSERT_NE(row, rows.end()) << line.type;
        for (const std::string& key : keys_of(line)) {
            const bool as_started = line.type == "stage_resumed" && rows.at("stage_started").contains(key);
            EXPECT_TRUE(row->second.contains(key) || as_started) << line.type << ": " << key;
        }
    }
}

/// The fields that every line of a type has in version 1. If one of them goes or changes its meaning, the version rises.
const std::map<std::string, std::set<std::string>>& fields_of_version_1() {
    static const std::map<std::string, std::set<std::string>> fields{
        {"task_started", {"task_id", "request", "pipeline", "stages"}},
        {"stage_started", {"stage", "index", "of", "attempt", "agent"}},
        {"stage_resumed", {"stage", "index", "of", "attempt", "agent", "step", "task_tokens"}},
        {"stage_skipped", {"stage", "index", "of", "reason"}},
        {"stage_completed", {"stage", "index", "of", "artifact", "duration_ms", "steps", "tokens"}},
        {"stage_failed", {"stage", "attempt", "code", "error"}},
        {"artifact_rejected", {"stage", "errors"}},
        {"review", {"stage", "reviewer", "blocking", "advisory"}},
        {"plan_step", {"stage", "number", "of", "title", "attempt"}},
        {"cycle", {"from", "to", "reason", "count"}},
        {"approval_requested", {"stage", "id"}},
        {"decided", {"id", "approved", "decision", "by"}},
        {"escalation", {"stage", "id", "reason", "question", "options"}},
        {"resolved", {"id", "abort", "by"}},
        {"step", {"stage", "role", "step", "tool", "success", "summary", "task_tokens"}},
        {"gate", {"gate", "stage", "passed", "summary", "duration_ms"}}};
    return fields;
}

TEST_P(EventStreamOfJournal, keeps_the_fields_of_its_version) {
    static_assert(EventStream::version == 1);
    for (const StreamLine& line : stream_of(GetParam())) {
        const auto kept = fields_of_version_1().find(std::string(line.type));
        ASSERT_NE(kept, fields_of_version_1().end()) << line.type;
        for (const std::string& field : kept->second) { EXPECT_TRUE(line.fields.contains(field)) << line.type << ": " << field; }
    }
}

INSTANTIATE_TEST_SUITE_P(Kept, EventStreamOfJournal,
                         ::testing::Values("delivered_and_rebased", "killed_in_green", "paused_at_a_limit", "waiting_for_action",
                                           "waiting_for_approval"),
                         [](const auto& one) { return std::string(one.param); });

TEST(EventStream, describes_a_task_resumed_inside_a_stage_in_two_lines) {
    TaskState state;
    for (const char* name : {"intake", "spec"}) {
        StageTemplate stage;
        stage.name = name;
        stage.agent = "software_architect";
        state.pipeline.stages.push_back(stage);
        StageState entry;
        entry.name = name;
        state.stages.push_back(entry);
    }
    state.stage_index = 1;
    state.stages[1].attempts = 2;
    state.steps = 7;
    state.progress = StageProgress::executing;
    const auto lines = lines_of(state, {{}, records::TaskResumed{}});
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].type, "task_started");
    EXPECT_EQ(lines[1].type, "stage_resumed");
    EXPECT_EQ(lines[1].fields, (json::object{{"stage", "spec"},
                                             {"index", 1},
                                             {"of", 2},
                                             {"attempt", 2},
                                             {"agent", "software_architect"},
                                             {"step", 7},
                                             {"task_tokens", 0}}));
}

TEST(EventStream, reports_the_action_that_needs_a_decision) {
    const auto lines = lines_of({}, {{}, records::ActionAsked{"green", "ACT-1", "h", "edit_file a.py"}});
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].fields, (json::object{{"stage", "green"}, {"id", "ACT-1"}, {"action", "edit_file a.py"}, {"hash", "h"}}));
}

TEST(EventStream, omits_host_calls) { EXPECT_THAT(lines_of({}, {{}, records::CallStarted{}}), IsEmpty()); }

TEST(EventStream, writes_members_of_an_event_as_fields) {
    const StreamLine line = line_of(event::Answering{"green", "software_developer", 3, 120});
    EXPECT_EQ(line.type, "answering");
    EXPECT_EQ(line.fields, (json::object{{"stage", "green"}, {"role", "software_developer"}, {"step", 3}, {"bytes", 120}}));
}

}  // namespace
}  // namespace agentforge::kernel
