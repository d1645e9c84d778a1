// SPDX-License-Identifier: Apache-2.0
#include "records/records.hpp"

#include <gtest/gtest.h>

namespace agentforge::kernel::records {
namespace {

/// Adds the fields that every record has.
json::object record(std::string_view type, json::object fields = {}) {
    fields["type"] = type;
    fields["step"] = 3;
    fields["timestamp"] = "2026-01-02T10:00:00.000Z";
    return fields;
}

/// Makes a record with every required field, and no other.
template <class T>
json::object least() {
    return record(T::type, to_fields(T{}));
}

template <class T>
class RecordsOfEachType : public ::testing::Test {};

template <class>
struct TypesOf;
template <class... T>
struct TypesOf<std::variant<T...>> {
    using type = ::testing::Types<T...>;
};
TYPED_TEST_SUITE(RecordsOfEachType, TypesOf<Body>::type);

TYPED_TEST(RecordsOfEachType, reads_back_as_written) {
    const json::object body = least<TypeParam>();
    const auto read = read_record(body);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    ASSERT_TRUE(std::holds_alternative<TypeParam>(read->body));
    EXPECT_EQ(read->envelope.type, TypeParam::type);
    EXPECT_EQ(type_of(read->body), TypeParam::type);
    EXPECT_EQ(to_fields(read->body), to_fields(TypeParam{}));
}

TYPED_TEST(RecordsOfEachType, is_refused_with_a_field_that_it_does_not_have) {
    json::object body = least<TypeParam>();
    body["colour"] = "red";
    const auto read = read_record(body);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, "AF-TASK-011");
    EXPECT_EQ(read.error().message, "the journal contains a record with the unknown field `colour`");
}

TYPED_TEST(RecordsOfEachType, is_refused_if_a_field_has_another_type) {
    const json::object body = least<TypeParam>();
    for (const auto& [key, value] : body) {
        if (key == "type" || value.is_null()) { continue; }  // Has its own type, or accepts any value.
        json::object odd = body;
        odd[key] = value.is_bool() ? json::value("word") : json::value(true);
        const auto read = read_record(odd);
        ASSERT_FALSE(read.ok()) << std::string(key);
        EXPECT_EQ(read.error().code, "AF-TASK-012");
        EXPECT_NE(read.error().message.find(std::string(key)), std::string::npos) << read.error().message;
    }
}

json::object gate() { return record("gate", {{"seq", 7}, {"gate", "tests"}, {"tree", "t"}, {"passed", true}, {"summary", "s"}}); }

TEST(Records, a_required_field_that_is_missing_is_named) {
    json::object body = gate();
    body.erase("tree");
    const auto read = read_record(body);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, "AF-TASK-012");
    EXPECT_EQ(read.error().message, "a journal record is incomplete: field `tree` must be a string");
    EXPECT_EQ(read.error().where, "actions.yaml, record 7, type gate");
}

TEST(Records, fields_missing_in_an_older_version_read_as_absent) {
    const auto read = read_record(gate());
    ASSERT_TRUE(read.ok());
    const Gate& one = std::get<Gate>(read->body);
    EXPECT_EQ(*one.stage, "");
    EXPECT_FALSE(*one.partial);
    EXPECT_TRUE(one.report->empty());
    EXPECT_FALSE(one.failures);
}

TEST(Records, null_counts_as_absent) {
    json::object body = gate();
    body["stage"] = nullptr;
    body["failures"] = nullptr;
    const auto read = read_record(body);
    ASSERT_TRUE(read.ok());
    EXPECT_FALSE(std::get<Gate>(read->body).failures);
}

TEST(Records, a_stored_value_is_inline_or_a_blob) {
    json::object body = gate();
    body["report"] = json::object{{"passed", true}};
    EXPECT_EQ(*std::get<Gate>(read_record(body)->body).report, (Kept{json::value{{"passed", true}}, ""}));
    body.erase("report");
    body["report_blob"] = "h";
    EXPECT_EQ(*std::get<Gate>(read_record(body)->body).report, (Kept{std::nullopt, "h"}));
    EXPECT_EQ(to_fields(read_record(body)->body).at("report_blob"), "h");
}

TEST(Records, absent_fields_are_not_written) {
    const json::object fields = to_fields(Body(TaskPaused{"why"}));
    EXPECT_EQ(fields, (json::object{{"reason", "why"}}));
}

TEST(Records, fields_are_written_in_the_order_of_the_struct) {
    const json::object fields = to_fields(Body(EscalationRaised{"green", "ESC-1", "2026-01-02", "abort"}));
    std::vector<std::string> keys;
    for (const auto& [key, value] : fields) { keys.emplace_back(key); }
    EXPECT_EQ(keys, (std::vector<std::string>{"stage", "escalation_id", "deadline", "at_deadline"}));
}

TEST(Records, a_key_that_is_a_cpp_keyword_is_written_unchanged) {
    Delivered delivered;
    delivered.signed_ = true;
    EXPECT_EQ(to_fields(Body(delivered)).at("signed"), true);
}

TEST(Records, a_list_of_parts_reads_back_as_written) {
    json::object body = gate();
    body["commands"] = json::array{json::object{{"command", "tests"}, {"tree", "t"}, {"duration_ms", 3}, {"purpose", "mutants"}},
                                   json::object{{"command", "build"}, {"tree", "t"}, {"duration_ms", 5}}};
    const auto read = read_record(body);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_EQ(json::serialize(to_fields(read->body).at("commands")), json::serialize(body.at("commands")));
    body["commands"].as_array()[1].as_object()["command"] = 7;
    EXPECT_NE(read_record(body).error().message.find("`command`"), std::string::npos);
    body["commands"] = json::array{"tests"};
    EXPECT_NE(read_record(body).error().message.find("`commands` must be a list of maps"), std::string::npos);
}

TEST(Records, an_unknown_field_inside_a_part_is_reported_as_a_newer_version) {
    json::object body = gate();
    body["commands"] = json::array{json::object{{"command", "tests"}, {"tree", "t"}, {"duration_ms", 3}, {"colour", "red"}}};
    const auto read = read_record(body);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, "AF-TASK-011");
    EXPECT_EQ(read.error().message, "the journal contains a record with the unknown field `colour`");
}

TEST(Records, an_unknown_enum_value_is_refused) {
    const auto read = read_record(record("task_completed", {{"exit_stage", "a"}, {"exit_type", "whim"}}));
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, "AF-TASK-012");
    EXPECT_EQ(
        read.error().message,
        "a journal record is incomplete: field `exit_type` must be one of default_exit, early_exit, user_exit, but is 'whim'");
}

TEST(Records, an_unknown_type_is_reported_as_a_newer_version) {
    const auto read = read_record(record("no_such_type"));
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, "AF-TASK-011");
}

TEST(Records, the_outline_of_a_line_has_the_same_fields_as_its_record) {
    const std::string line = R"(- {"seq": 7, "step": 2, "type": "step", "timestamp": "2026-01-02T03:04:05Z"})";
    const json::value parsed = json::parse(line.substr(2));
    const Envelope read = Reader(parsed.get_object()).read<Envelope>();
    const auto outline = outline_of_line(line);
    ASSERT_TRUE(outline);
    EXPECT_EQ(outline->seq, read.seq);
    EXPECT_EQ(outline->step, read.step);
    EXPECT_EQ(outline->type, read.type);
}

TEST(Records, a_number_that_is_negative_or_too_large_is_refused) {
    json::object body = gate();
    body["failures"] = -1;
    EXPECT_EQ(read_record(body).error().code, "AF-TASK-012");
    const json::object started = record("stage_started", {{"stage", "a"}, {"visit", 1ULL << 32U}});
    EXPECT_EQ(read_record(started).error().code, "AF-TASK-012");
}

TEST(Records, a_field_inside_a_part_is_named) {
    const auto read = read_record(record("stage_failed", {{"stage", "a"}, {"error", {{"code", "X"}}}}));
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.error().message.find("`message`"), std::string::npos);
}

CallUsage usage_read_back(const CallUsage& usage) {
    const CallLost lost{.phase = "a", .visit = 1U, .run = 1U, .run_step = 1U, .reason = std::string(), .usage = usage};
    return std::get<CallLost>(read_record(record(CallLost::type, to_fields(lost)))->body).usage;
}

TEST(Records, the_usage_of_a_call_reads_back_the_same) {
    CallUsage usage{};
    usage.model = "m";
    usage.cache_write_input_tokens = 1U;
    usage.cost_microusd = 0;
    usage.cost_from = cost_from_backend;
    EXPECT_EQ(usage_read_back(usage), usage);
    usage.cost_microusd.reset();
    usage.cost_from.reset();
    EXPECT_EQ(usage_read_back(usage), usage);
}

TEST(Records, the_usage_from_an_older_version_has_no_cached_tokens_and_no_cost) {
    const auto read = read_record(record("answer", {{"phase", "a"}, {"usage", {{"input_tokens", 7}, {"output_tokens", 2}}}}));
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    const CallUsage usage = std::get<Answer>(read->body).usage.value();
    EXPECT_EQ(usage.input_tokens, 7U);
    EXPECT_EQ(*usage.cached_input_tokens, 0U);
    EXPECT_FALSE(usage.cost_microusd);
}

TEST(Records, a_map_of_parts_reads_back_as_written) {
    const json::object in_force{{"limits", {{"max_tokens", 5}, {"stages", {{"green", {{"max_steps", 9}}}}}}}};
    json::object body = record("costing", {{"in_force", in_force}});
    const auto read = read_record(body);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_EQ(json::serialize(to_fields(read->body).at("in_force")), json::serialize(in_force));
    json::object& stages = body["in_force"].as_object()["limits"].as_object()["stages"].as_object();
    stages["green"] = json::object{{"max_steps", "many"}};
    EXPECT_NE(read_record(body).error().message.find("`max_steps`"), std::string::npos);
    stages["green"] = 9;
    EXPECT_NE(read_record(body).error().message.find("`stages` must be a map of maps"), std::string::npos);
}

}  // namespace
}  // namespace agentforge::kernel::records
