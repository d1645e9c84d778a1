// SPDX-License-Identifier: Apache-2.0
#include "escalation/escalation_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/files.hpp"

namespace agentforge::kernel {
namespace {

class EscalationStoreTest : public ::testing::Test {
protected:
    EscalationStoreTest() : temporary_("escalation-test"), store_(temporary_.path() / ".agentforge") {}

    static Escalation question(const std::string& id = "ESC-task-1-green-1") {
        Escalation one;
        one.id = id;
        one.task_id = "task-1";
        one.stage = "green";
        one.issue = "tests still fail";
        one.question = "Which \"encoding\": UTF-8\nor Latin-1?";
        one.options = {"utf-8", "yes"};
        one.context = {{"steps", 12}, {"file", "a: b.py"}};
        one.created_at = "2026-01-02T00:00:00.000Z";
        return one;
    }
    static ApprovalRequest approval_request() {
        ApprovalRequest one;
        one.id = "APR-task-1-spec-1";
        one.task_id = "task-1";
        one.stage = "spec";
        one.artifact = {{"title", "Slugs"}, {"requirements", json::array{json::object{{"id", "REQ-001"}}}}};
        one.artifact_hash = std::string(64, 'a');
        one.created_at = "2026-01-01T00:00:00.000Z";
        return one;
    }
    void write(const std::string& name, std::string_view text) const {
        std::filesystem::create_directories(store_.directory());
        std::ofstream(store_.directory() / name, std::ios::binary) << text;
    }
    [[nodiscard]] std::string read(const std::string& name) const {
        const auto text = read_file(store_.directory() / name);
        return text.ok() ? *text : std::string();
    }
    void record() const {
        ASSERT_TRUE(store_.record(question()).ok());
        ASSERT_TRUE(store_.record(approval_request()).ok());
    }
    /// Returns the error of reading a person's answer.
    [[nodiscard]] Error error_of(std::string_view answer) const {
        write("ESC-task-1-green-1.resolution.yaml", answer);
        const auto result = store_.resolution("ESC-task-1-green-1");
        return result.ok() ? Error{} : result.error();
    }
    [[nodiscard]] Error error_of_decision(std::string_view answer) const {
        write("APR-task-1-spec-1.resolution.yaml", answer);
        const auto result = store_.decision("APR-task-1-spec-1");
        return result.ok() ? Error{} : result.error();
    }

    TemporaryDirectory temporary_;
    EscalationStore store_;
};

TEST_F(EscalationStoreTest, ids_are_made_of_task_stage_and_counter) {
    EXPECT_EQ(EscalationStore::escalation_id("task-20260102-x", "green", 2), "ESC-task-20260102-x-green-2");
    EXPECT_EQ(EscalationStore::approval_id("task-1", "my/stage", 1), "APR-task-1-my-stage-1");
}

class ActionStoreTest : public EscalationStoreTest {
protected:
    ActionStoreTest() {
        ApprovalRequest one = approval_request();
        one.id = id;
        one.artifact = {{"role", "dev"}, {"tool", "edit_file"}, {"arguments", {{"path", "a.py"}, {"replace", "x\ny\n"}}}};
        EXPECT_TRUE(store_.record(one).ok());
        hash = one.artifact_hash;
    }
    [[nodiscard]] Result<std::optional<ActionDecision>> said(std::string_view text) const {
        write(id + ".resolution.yaml", text);
        return store_.action_decision(id);
    }
    const std::string id = "ACT-task-1-green-3";
    std::string hash;
};

TEST_F(ActionStoreTest, a_decision_reads_back) {
    EXPECT_FALSE(store_.answer_version(id).has_value());
    ASSERT_TRUE(
        store_.decide_action(id, {true, json::object{{"arguments", {{"path", "b.py"}, {"ratio", 0.5}}}}, "", hash, "ann"}).ok());
    const auto decision = store_.action_decision(id);
    ASSERT_TRUE(decision.ok()) << decision.error().to_string();
    EXPECT_EQ((*decision)->edited, (json::object{{"arguments", {{"path", "b.py"}, {"ratio", 0.5}}}, {"tool", "edit_file"}}));
    EXPECT_EQ((*decision)->decided_by, "ann");
    EXPECT_TRUE(store_.answer_version(id).has_value());
}

TEST_F(ActionStoreTest, a_handlers_answer_to_an_action_becomes_a_decision) {
    const Approval rejection{false, "not there", hash, "console"};
    EXPECT_TRUE(store_.check_unanswered(id).ok());
    ASSERT_TRUE(store_.decide(id, rejection).ok());
    EXPECT_FALSE((*store_.action_decision(id))->approved);
    EXPECT_EQ((*store_.action_decision(id))->feedback, "not there");
    EXPECT_EQ(store_.check_unanswered(id).error().code, "AF-ESC-004");
    EXPECT_EQ(store_.decide(id, rejection).error().code, "AF-ESC-004");
}

TEST_F(ActionStoreTest, an_invalid_answer_is_refused_with_its_position) {
    EXPECT_EQ(said("approved: true\nedited:\n  content: x\n").error().code, "AF-ESC-032");
    EXPECT_EQ(said("approved: true\nedited: {arguments: 3}\n").error().code, "AF-ESC-032");
    EXPECT_EQ(said("approved: true\nedited: {tool: \"\", arguments: {}}\n").error().code, "AF-ESC-032");
    EXPECT_NE(said("approved: true\nfeedback: no\n").error().where.find(":2:"), std::string::npos);
    EXPECT_EQ(said("edited: {arguments: {}}\n").error().code, "AF-ESC-005");
    EXPECT_EQ(said("approved: true\nartifact_hash: \"0\"\n").error().code, "AF-ESC-006");
    EXPECT_EQ(store_.action_decision("APR-task-1-spec-1").error().code, "AF-ESC-002");
}

TEST_F(ActionStoreTest, pending_items_are_listed_with_their_kind) {
    const auto pending = store_.pending();
    ASSERT_EQ(pending->items.size(), 1U);
    EXPECT_EQ(pending->items[0].kind, QuestionKind::action);
    EXPECT_EQ(pending->items[0].question, "edit_file path=a.py replace=x…");
    ASSERT_TRUE(said("approved: false\n").ok());
    EXPECT_TRUE(store_.pending()->items.empty());
}

TEST_F(ActionStoreTest, an_item_of_any_kind_has_a_usable_answer_or_none_or_an_error) {
    record();
    for (const std::string& one : {question().id, approval_request().id, id}) {
        EXPECT_EQ(store_.item(one)->kind, kind_of(one));
        EXPECT_FALSE(*store_.has_answer(one)) << one;
        write(one + ".resolution.yaml", "answer: a\napproved: false\n");
        EXPECT_EQ(store_.has_answer(one).error().code, "AF-ESC-005") << one;
        write(one + ".resolution.yaml", kind_of(one) == QuestionKind::escalation ? "answer: a\n" : "approved: false\n");
        EXPECT_TRUE(*store_.has_answer(one)) << one;
    }
    EXPECT_EQ(store_.item("task-1").error().code, "AF-ESC-002");
    EXPECT_EQ(store_.has_answer("task-1").error().code, "AF-ESC-002");
}

TEST_F(ActionStoreTest, an_empty_file_counts_as_no_answer_yet) {
    write(id + ".resolution.yaml", "");
    EXPECT_FALSE(store_.answer_version(id).has_value());
}

TEST(ActionText, shows_every_argument_whole) {
    const std::string text =
        action_text({{"role", "dev"},
                     {"tool", "edit_file"},
                     {"arguments", {{"path", "a.py"}, {"replace", "x\n  y\n"}, {"lines", json::array{1, 2}}}}});
    EXPECT_EQ(text, "role: dev\ntool: edit_file\npath: a.py\nreplace:\n    x\n      y\nlines:\n    - 1\n    - 2\n");
}

TEST_F(EscalationStoreTest, a_recorded_question_reads_back) {
    record();
    const auto read_back = store_.escalation("ESC-task-1-green-1");
    ASSERT_TRUE(read_back.ok()) << read_back.error().to_string();
    EXPECT_EQ(read_back->question, question().question);
    EXPECT_EQ(read_back->options, question().options);
    EXPECT_EQ(read_back->context, question().context);
    EXPECT_EQ(read_back->directory, store_.directory().string());
}

TEST_F(EscalationStoreTest, a_recorded_approval_request_reads_back) {
    record();
    const auto read_back = store_.approval("APR-task-1-spec-1");
    ASSERT_TRUE(read_back.ok()) << read_back.error().to_string();
    EXPECT_EQ(read_back->artifact, approval_request().artifact);
    EXPECT_EQ(read_back->artifact_hash, approval_request().artifact_hash);
}

TEST_F(EscalationStoreTest, recording_the_same_question_again_is_no_error_but_another_one_is) {
    record();
    EXPECT_TRUE(store_.record(question()).ok());
    Escalation other = question();
    other.question = "Something else?";
    const auto again = store_.record(other);
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().code, "AF-ESC-003");
    EXPECT_EQ(store_.escalation(other.id)->question, question().question);
}

TEST_F(EscalationStoreTest, an_id_that_is_a_path_is_refused) {
    for (const char* id : {"ESC-../../x", "ESC-", "x", "APR-a/b", "ESC-a.resolution"}) {
        const auto result = store_.escalation(id);
        ASSERT_FALSE(result.ok());
        EXPECT_EQ(result.error().code, "AF-ESC-002") << id;
    }
}

TEST_F(EscalationStoreTest, an_unknown_id_names_the_nearest) {
    record();
    const auto result = store_.escalation("ESC-task-1-green-2");
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, "AF-ESC-001");
    EXPECT_NE(result.error().message.find("ESC-task-1-green-1"), std::string::npos);
}

TEST_F(EscalationStoreTest, no_answer_is_reported_as_not_yet) {
    record();
    EXPECT_FALSE(store_.resolution("ESC-task-1-green-1")->has_value());
    EXPECT_FALSE(store_.decision("APR-task-1-spec-1")->has_value());
}

TEST_F(EscalationStoreTest, an_answer_reads_back) {
    record();
    Resolution answer;
    answer.context = {{"answer", "true"}, {"hint", "see docs"}};
    answer.resolved_by = "ada";
    ASSERT_TRUE(store_.resolve("ESC-task-1-green-1", answer).ok());
    const auto read_back = store_.resolution("ESC-task-1-green-1");
    ASSERT_TRUE(read_back.ok()) << read_back.error().to_string();
    EXPECT_EQ((*read_back)->context, answer.context);
    EXPECT_EQ((*read_back)->resolved_by, "ada");
    EXPECT_FALSE((*read_back)->abort);
}

TEST_F(EscalationStoreTest, the_first_answer_wins) {
    record();
    Resolution answer;
    answer.context = {{"answer", "first"}};
    ASSERT_TRUE(store_.resolve("ESC-task-1-green-1", answer).ok());
    answer.context = {{"answer", "second"}};
    const auto late = store_.resolve("ESC-task-1-green-1", answer);
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().code, "AF-ESC-004");
    EXPECT_EQ((*store_.resolution("ESC-task-1-green-1"))->context.at("answer"), "first");
}

TEST_F(EscalationStoreTest, an_unreadable_answer_is_not_reported_as_accepted) {
    record();
    for (const std::string id : {"ESC-task-1-green-1", "APR-task-1-spec-1"}) {
        write(id + ".resolution.yaml", "approved: ye\n");
        Resolution answer;
        answer.context = {{"answer", "yes"}};
        const auto late = id.starts_with("ESC-") ? store_.resolve(id, answer)
                                                 : store_.decide(id, {true, std::nullopt, std::string(64, 'a'), "ada"});
        ASSERT_FALSE(late.ok());
        EXPECT_EQ(late.error().code, "AF-ESC-005");
        EXPECT_NE(late.error().where.find(id + ".resolution.yaml"), std::string::npos);
        EXPECT_NE(late.error().remedy.find("remove it"), std::string::npos);
    }
}

TEST_F(EscalationStoreTest, an_answer_that_is_not_utf8_is_refused_and_not_replaced) {
    record();
    Resolution answer;
    answer.context = {{"answer", "\xff\xfe"}};
    EXPECT_EQ(store_.resolve("ESC-task-1-green-1", answer).error().code, "AF-ESC-048");
    EXPECT_EQ(store_.decide("APR-task-1-spec-1", {false, "caf\xe9", std::string(64, 'a'), "ada"}).error().code, "AF-ESC-048");
    EXPECT_EQ(store_.pending()->items.size(), 2U);
}

TEST_F(EscalationStoreTest, exactly_one_of_many_writers_wins) {
    record();
    std::atomic<int> winners{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
            Resolution answer;
            answer.context = {{"answer", std::to_string(i) + " says yes"}};
            if (store_.resolve("ESC-task-1-green-1", answer).ok()) { ++winners; }
        });
    }
    for (std::thread& thread : threads) { thread.join(); }
    EXPECT_EQ(winners.load(), 1);
    EXPECT_TRUE(store_.resolution("ESC-task-1-green-1").ok());
}

TEST_F(EscalationStoreTest, an_empty_answer_is_refused) {
    record();
    const auto result = store_.resolve("ESC-task-1-green-1", Resolution{});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, "AF-ESC-007");
    EXPECT_FALSE(store_.resolution("ESC-task-1-green-1")->has_value());
}

TEST_F(EscalationStoreTest, an_abort_needs_no_answer) {
    record();
    Resolution answer;
    answer.abort = true;
    ASSERT_TRUE(store_.resolve("ESC-task-1-green-1", answer).ok());
    EXPECT_TRUE((*store_.resolution("ESC-task-1-green-1"))->abort);
}

TEST_F(EscalationStoreTest, a_person_may_write_the_file_by_hand) {
    record();
    write("ESC-task-1-green-1.resolution.yaml", "# mine\nanswer: 42\ncontext:\n  ratio: 0.5\n");
    const auto answer = store_.resolution("ESC-task-1-green-1");
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    EXPECT_EQ((*answer)->context.at("answer"), "42");
    EXPECT_TRUE((*answer)->context.at("ratio").is_string());
}

TEST_F(EscalationStoreTest, an_unknown_key_is_named_with_its_line) {
    record();
    const Error error = error_of("answer: yes\nanwser_by: me\n");
    EXPECT_EQ(error.code, "AF-ESC-005");
    EXPECT_NE(error.message.find("anwser_by"), std::string::npos);
    EXPECT_NE(error.where.find("resolution.yaml:2"), std::string::npos);
}

TEST_F(EscalationStoreTest, hostile_answers_are_refused_and_kept) {
    record();
    for (const char* text :
         {"", "[1, 2]", "answer: [a]", "abort: maybe\n", "answer: a\nanswer: b\n", "context: text\n", "a: &a [*a]\n",
          "answer: \"open", "!!python/object/apply:os.system ['x']", "answer: a\n---\nanswer: b\n", "abort: false\n",
          "answer: \xff\n", "answer: 1.5\n", "answer: a\ncontext: {answer: b}\n"}) {
        EXPECT_EQ(error_of(text).code, "AF-ESC-005") << text;
        EXPECT_EQ(read("ESC-task-1-green-1.resolution.yaml"), text);
    }
}

TEST_F(EscalationStoreTest, a_huge_answer_is_refused) {
    record();
    EXPECT_EQ(error_of("answer: " + std::string(2UL << 20U, 'x')).code, "AF-ESC-005");
}

TEST_F(EscalationStoreTest, an_answer_that_is_a_pipe_does_not_block) {
    record();
    ASSERT_EQ(::mkfifo((store_.directory() / "ESC-task-1-green-1.resolution.yaml").c_str(), 0644), 0);
    const auto answer = store_.resolution("ESC-task-1-green-1");
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-ESC-005");
}

TEST_F(EscalationStoreTest, a_decision_is_bound_to_the_artifact) {
    record();
    const auto refused = store_.decide("APR-task-1-spec-1", {true, std::nullopt, std::string(64, 'b'), "ada"});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "AF-ESC-006");
    ASSERT_TRUE(store_.decide("APR-task-1-spec-1", {false, "Smaller, please", std::string(64, 'a'), "ada"}).ok());
    const auto decision = store_.decision("APR-task-1-spec-1");
    ASSERT_TRUE(decision.ok()) << decision.error().to_string();
    EXPECT_FALSE((*decision)->approved);
    EXPECT_EQ((*decision)->feedback, std::optional<std::string>("Smaller, please"));
    EXPECT_EQ((*decision)->decided_by, "ada");
}

TEST_F(EscalationStoreTest, a_decision_by_hand_needs_no_hash_but_must_not_have_a_wrong_one) {
    record();
    EXPECT_EQ(error_of_decision("approved: true\n").code, "");
    EXPECT_EQ((*store_.decision("APR-task-1-spec-1"))->artifact_hash, std::string(64, 'a'));
    EXPECT_EQ(error_of_decision("approved: true\nartifact_hash: bbbb\n").code, "AF-ESC-006");
    EXPECT_EQ(error_of_decision("approved: yes\n").code, "AF-ESC-005");
    EXPECT_EQ(error_of_decision("feedback: fine\n").code, "AF-ESC-005");
}

TEST_F(EscalationStoreTest, pending_lists_open_items_oldest_first) {
    record();
    Escalation other = question("ESC-task-2-spec-1");
    other.task_id = "task-2";
    ASSERT_TRUE(store_.record(other).ok());
    const auto all = store_.pending();
    ASSERT_TRUE(all.ok());
    ASSERT_EQ(all->items.size(), 3U);
    EXPECT_EQ(all->items[0].id, "APR-task-1-spec-1");
    EXPECT_TRUE(all->problems.empty());
    EXPECT_EQ(store_.pending("task-2")->items.size(), 1U);
    Resolution answer;
    answer.abort = true;
    ASSERT_TRUE(store_.resolve("ESC-task-2-spec-1", answer).ok());
    EXPECT_TRUE(store_.pending("task-2")->items.empty());
}

TEST_F(EscalationStoreTest, pending_is_empty_if_nothing_was_asked) {
    const auto all = store_.pending();
    ASSERT_TRUE(all.ok());
    EXPECT_TRUE(all->items.empty());
}

TEST_F(EscalationStoreTest, pending_names_unreadable_items_and_lists_the_rest) {
    record();
    write("ESC-broken.yaml", "id: [");
    write("notes.txt", "hello");
    write("ESC-gone.resolution.yaml", "abort: true\n");
    write("ESC-task-1-green-1.resolution.yaml", "nonsense: 1\n");
    const auto all = store_.pending();
    ASSERT_TRUE(all.ok());
    EXPECT_EQ(all->items.size(), 2U);
    EXPECT_EQ(all->problems.size(), 4U);
}

TEST_F(EscalationStoreTest, pending_ignores_the_folder_of_a_handler) {
    record();
    std::filesystem::create_directories(store_.directory() / "inbox");
    EXPECT_TRUE(store_.pending()->problems.empty());
    EXPECT_EQ(store_.pending()->items.size(), 2U);
}

TEST_F(EscalationStoreTest, a_record_renamed_to_another_id_is_refused) {
    record();
    write("ESC-other.yaml", read("ESC-task-1-green-1.yaml"));
    const auto result = store_.escalation("ESC-other");
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, "AF-ESC-005");
}

TEST_F(EscalationStoreTest, every_yaml_reader_reads_the_files) {
    record();
    Resolution answer;
    answer.context = {{"answer", "yes: no\nsecond line"}};
    answer.resolved_by = "on";
    ASSERT_TRUE(store_.resolve("ESC-task-1-green-1", answer).ok());
    const std::string command =
        "cd '" + store_.directory().string() +
        "' && /usr/bin/python3 -c 'import yaml\nr = yaml.safe_load(open(\"ESC-task-1-green-1.yaml\"))\nassert r[\"options\"] == [\"utf-8\", \"yes\"], r\n"
        "a = yaml.safe_load(open(\"ESC-task-1-green-1.resolution.yaml\"))\nassert a == {\"abort\": False, \"answer\": \"yes: no\\nsecond line\", \"resolved_by\": \"on\"}, a'";
    EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace agentforge::kernel
