// SPDX-License-Identifier: Apache-2.0
// The result of a host call comes back from the journal unchanged.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "base/yaml.hpp"
#include "pipeline/codec.hpp"

namespace agentforge::kernel {
namespace {

/// In a blob's form: written and read again.
json::object stored(const json::object& value) { return parse_json(json::serialize(value), "blob").value().get_object(); }

/// The second round trip gives the same text as the first, so nothing was lost.
template <class T, class Decode>
void expect_round_trip(const T& value, Decode decode) {
    const json::object first = to_json(value);
    EXPECT_EQ(to_json_canonical(to_json(decode(stored(first)))), to_json_canonical(first));
}

Change change() { return {"src/a.py", "aa", "bb", 3, 1, true}; }
EscalationRequest question() { return {"unclear", "Which?", {"a", "b"}, {{"file", "x.py"}, {"line", 3}}}; }
Completion completion() {
    Completion one;
    one.text = "tab\t, nul \x01, ü";
    one.tool_calls = {{"read_file", {{"path", "a"}, {"depth", 1.5}}}, {"complete", {}}};
    one.stop_reason = StopReason::tool_call;
    one.usage = {10, 20, 5, 1234, true};
    one.model = "m-1";
    one.session_id = "s";
    one.diagnostics = {{"stderr", "warning"}};
    return one;
}

TEST(CodecTest, error_of_every_kind) {
    for (unsigned kind = 1; kind <= static_cast<unsigned>(ErrorKind::internal); ++kind) {
        const Error error =
            error_from_json(stored(to_json(Error{"AF-X-002", "message", "where", "remedy", static_cast<ErrorKind>(kind)})));
        EXPECT_EQ(static_cast<unsigned>(error.kind), kind);
        EXPECT_EQ(error.code + error.message + error.where + error.remedy, "AF-X-002messagewhereremedy");
    }
}

TEST(CodecTest, change) { expect_round_trip(kernel::change(), change_from_json); }

TEST(CodecTest, changes_keep_their_order) {
    Change second = kernel::change();
    second.path = "a.py";
    second.created = false;
    const auto back = changes_from_json(to_json(std::vector<Change>{kernel::change(), second}));
    ASSERT_EQ(back.size(), 2U);
    EXPECT_EQ(back[0].path, "src/a.py");
    EXPECT_EQ(back[1].path, "a.py");
}

TEST(CodecTest, escalation_request) { expect_round_trip(question(), escalation_from_json); }

TEST(CodecTest, completion) {
    expect_round_trip(kernel::completion(), completion_from_json);
    const Completion back = completion_from_json(stored(to_json(kernel::completion())));
    EXPECT_EQ(back.tool_calls[0].arguments.at("depth").as_double(), 1.5);
    EXPECT_EQ(back.usage.cost_microusd, 1234U);
    EXPECT_EQ(back.stop_reason, StopReason::tool_call);
}

TEST(CodecTest, unknown_cost_stays_unknown) {
    Completion free = kernel::completion();
    free.usage.cost_microusd.reset();
    EXPECT_FALSE(completion_from_json(stored(to_json(free))).usage.cost_microusd.has_value());
}

TEST(CodecTest, step_record_with_and_without_its_optional_parts) {
    StepRecord record;
    record.step = 7;
    record.tool = "edit_file";
    record.arguments = {{"path", "a"}};
    record.success = true;
    record.summary = "s";
    record.output = "o";
    record.error = "e";
    record.data = {{"lines", 3}};
    record.changes = {kernel::change()};
    record.completion = kernel::completion();
    record.system = "sys";
    record.context = "ctx";
    record.section_tokens = {{"task_frame", 12}};
    record.tree = "t";
    expect_round_trip(record, step_from_json);
    record.completed = true;
    record.artifact = json::object{{"text", "x"}};
    record.escalation = question();
    expect_round_trip(record, step_from_json);
    EXPECT_TRUE(step_from_json(stored(to_json(record))).artifact.has_value());
}

TEST(CodecTest, agent_outcome) {
    AgentOutcome outcome{{{"text", "x"}}, "said", {{"read_file", {{"path", "a"}}, true, "read"}}, std::nullopt, 3, 100, 20};
    expect_round_trip(outcome, outcome_from_json);
    outcome.escalation = question();
    expect_round_trip(outcome, outcome_from_json);
}

TEST(CodecTest, process_result_ended_by_a_signal) {
    ProcessResult result{-1, true, true, "out", "err", std::chrono::milliseconds(42), {{"landlock", 3}}};
    expect_round_trip(result, process_from_json);
    EXPECT_EQ(process_from_json(stored(to_json(result))).exit_code, -1);
}

TEST(CodecTest, delivery) { expect_round_trip(Delivery{"b", "c", "t", {"x", "y"}}, delivery_from_json); }
TEST(CodecTest, file_view) { expect_round_trip(FileView{"a", "line\n", "hash", 500, 2, 3, 9, true}, view_from_json); }
TEST(CodecTest, listing) { expect_round_trip(Listing{{{"a", true, 0}, {"a/b", false, 12}}, true}, listing_from_json); }
TEST(CodecTest, search_hits) { expect_round_trip(SearchHits{{{"a.py", 3, "x = 1"}}, true}, hits_from_json); }

}  // namespace
}  // namespace agentforge::kernel
