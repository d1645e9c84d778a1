// SPDX-License-Identifier: Apache-2.0
#include "escalation/escalation_store.hpp"
#include "unit/dashboard/dashboard_of.hpp"

namespace agentforge::kernel::testing {
namespace {

using Words = std::vector<std::string>;

class DashboardChange : public DashboardOf {
protected:
    [[nodiscard]] std::string task(const std::string& rest) const { return "/api/tasks/" + waiting_.task_id() + rest; }
    [[nodiscard]] std::string approval() const { return "APR-" + waiting_.task_id() + "-spec-1"; }
    static Error error(const char* code, ErrorKind kind) { return {code, "message", "where", "remedy", kind}; }
};

TEST_F(DashboardChange, starts_a_task_with_its_request_as_input) {
    const HttpResponse started =
        post("/api/tasks",
             {{"request", "--trust me\nand add a flag"}, {"repo", "two"}, {"pipeline", "implement"}, {"supervised", true}});
    EXPECT_EQ(started.status, 201);
    EXPECT_EQ(started.header("Location"), "/api/tasks/task-20260102-new-one-1f2e3d4c");
    EXPECT_EQ(commands_.ran.at(0), (Words{"start", "--detach", "--json", "--pipeline=implement", "--supervised", "-"}));
    EXPECT_EQ(commands_.inputs.at(0), "--trust me\nand add a flag");
    EXPECT_EQ(commands_.repositories.at(0).filename(), "two");
    EXPECT_EQ(code_of(post("/api/tasks", {{"request", "a"}, {"repo", "three"}})), "404 AF-CONF-073");
    EXPECT_EQ(code_of(post("/api/tasks", {{"request", " \n"}})), "400 AF-DASH-013");
}

TEST_F(DashboardChange, approves_the_shown_artifact_and_continues) {
    const HttpResponse approved = post(task("/approve"), {{"id", approval()}, {"hash", "abcdef0123"}});
    EXPECT_EQ(approved.status, 200);
    EXPECT_EQ(body_of(approved).at("resumed"), true);
    EXPECT_EQ(commands_.ran.at(0), (Words{"approve", "--no-resume", "--json", "--hash=abcdef0123", "--", approval()}));
    EXPECT_EQ(commands_.ran.at(1), (Words{"resume", waiting_.task_id(), "--detach", "--json"}));
}

TEST_F(DashboardChange, refuses_a_decision_without_the_hash_of_the_shown_artifact) {
    EXPECT_EQ(code_of(post(task("/approve"), {{"id", approval()}})), "400 AF-DASH-013");
    EXPECT_EQ(code_of(post(task("/approve"), {{"hash", "abcdef"}})), "400 AF-DASH-013");
    EXPECT_EQ(code_of(post(task("/approve"), {{"id", "APR-task-20260101-other-00000000-spec-1"}, {"hash", "abcdef"}})),
              "404 AF-DASH-017");
    EXPECT_TRUE(commands_.ran.empty());
}

TEST_F(DashboardChange, reports_a_changed_artifact_or_an_earlier_decision) {
    for (const char* code : {"AF-ESC-035", "AF-ESC-004"}) {
        commands_.answers.emplace_back(
            *error_of_answer({{"error", {{"code", code}, {"message", "m"}, {"where", ""}, {"remedy", "r"}}}}));
        EXPECT_EQ(code_of(post(task("/approve"), {{"id", approval()}, {"hash", "abcdef"}})), std::string("409 ") + code);
    }
    EXPECT_EQ(commands_.ran.size(), 2U);
}

TEST_F(DashboardChange, keeps_an_answer_if_the_task_cannot_continue) {
    commands_.answers.emplace_back(json::object{{"answered", true}});
    commands_.answers.emplace_back(error("AF-LLM-001", ErrorKind::unavailable));
    const json::object object = body_of(post(task("/approve"), {{"id", approval()}, {"hash", "abcdef"}}));
    EXPECT_EQ(object.at("answered"), true);
    EXPECT_EQ(object.at("resumed"), false);
    EXPECT_EQ(object.at("problem").at("code"), "AF-LLM-001");
}

TEST_F(DashboardChange, leaves_a_task_to_the_process_that_holds_it) {
    commands_.answers.emplace_back(json::object{{"answered", true}});
    commands_.answers.emplace_back(error("AF-TASK-003", ErrorKind::conflict));
    EXPECT_EQ(body_of(post(task("/approve"), {{"id", approval()}, {"hash", "abcdef"}})).at("resumed"), true);
}

TEST_F(DashboardChange, rejects_and_requests_changes) {
    EXPECT_EQ(post(task("/reject"), {{"id", approval()}, {"hash", "abcdef"}}).status, 200);
    EXPECT_EQ(commands_.ran.at(0), (Words{"reject", "--no-resume", "--json", "--hash=abcdef", "--", approval()}));
    commands_.ran.clear();
    EXPECT_EQ(post(task("/feedback"), {{"id", approval()}, {"hash", "abcdef"}, {"feedback", "--abort"}}).status, 200);
    EXPECT_EQ(commands_.ran.at(0), (Words{"feedback", "--no-resume", "--json", "--hash=abcdef", "--", approval(), "--abort"}));
    EXPECT_EQ(code_of(post(task("/feedback"), {{"id", approval()}, {"hash", "abcdef"}})), "400 AF-DASH-013");
}

TEST_F(DashboardChange, answers_a_question_of_this_task_only) {
    const std::string id = "ESC-" + waiting_.task_id() + "-clarify-1";
    EXPECT_EQ(post(task("/escalations/" + id + "/resolve"), {{"answer", "-v is fine"}}).status, 200);
    EXPECT_EQ(commands_.ran.at(0), (Words{"resolve", "--no-resume", "--json", "--", id, "-v is fine"}));
    EXPECT_EQ(code_of(post(task("/escalations/ESC-task-20260101-other-00000000-a-1/resolve"), {{"answer", "a"}})),
              "404 AF-DASH-017");
    EXPECT_EQ(body_of(post(task("/escalations/" + id + "/resolve"), {{"answer", "a"}})).at("resumed"), true);
    EXPECT_EQ(code_of(post(task("/escalations/" + id + "/resolve"), {})), "400 AF-DASH-013");
    EXPECT_EQ(code_of(post(task("/escalations/" + id + "/resolve"), {{"answer", "a"}, {"abort", true}})), "400 AF-DASH-013");
}

TEST_F(DashboardChange, an_answer_that_ends_the_task_does_not_resume_it) {
    const HttpResponse ended = post(task("/escalations/ESC-" + waiting_.task_id() + "-clarify-1/resolve"), {{"abort", true}});
    EXPECT_EQ(body_of(ended).at("answered"), true);
    EXPECT_EQ(body_of(ended).at("resumed"), false);
    EXPECT_TRUE(body_of(ended).at("problem").is_null());
    EXPECT_EQ(commands_.ran.at(1).at(0), "resume") << "a process ends the task";
}

TEST_F(DashboardChange, pauses_resumes_and_aborts) {
    EXPECT_EQ(post(task("/pause"), {{"reason", "the machine is needed"}, {"after_step", true}}).status, 202);
    EXPECT_EQ(post(task("/resume"), {{"guidance", "leave it"}}).status, 202);
    EXPECT_EQ(post(task("/abort"), {}).status, 200);
    EXPECT_EQ(commands_.ran.at(0),
              (Words{"pause", waiting_.task_id(), "--json", "--reason=the machine is needed", "--after-step"}));
    EXPECT_EQ(commands_.ran.at(1), (Words{"resume", waiting_.task_id(), "--detach", "--json", "--say=leave it"}));
    EXPECT_EQ(commands_.ran.at(2), (Words{"abort", waiting_.task_id(), "--json"}));
}

TEST_F(DashboardChange, forks_a_new_task_from_a_step) {
    const HttpResponse forked = post(task("/fork"), {{"step", 3}, {"feedback", "leave it"}});
    EXPECT_EQ(forked.status, 201);
    EXPECT_EQ(forked.header("Location"), "/api/tasks/task-20260102-new-one-1f2e3d4c");
    EXPECT_EQ(body_of(forked).at("parent"), json::value(waiting_.task_id()));
    EXPECT_EQ(commands_.ran.at(0), (Words{"fork", waiting_.task_id(), "--from-step=3", "--no-resume", "--json"}));
    EXPECT_EQ(commands_.ran.at(1), (Words{"resume", "task-20260102-new-one-1f2e3d4c", "--detach", "--json", "--say=leave it"}));
}

TEST_F(DashboardChange, keeps_a_new_task_that_cannot_continue) {
    commands_.answers.emplace_back(json::object{{"task_id", "task-20260102-new-one-1f2e3d4c"}});
    commands_.answers.emplace_back(error("AF-LLM-001", ErrorKind::unavailable));
    const json::object object = body_of(post(task("/fork"), {{"step", 3}}));
    EXPECT_EQ(object.at("resumed"), false);
    EXPECT_EQ(object.at("problem").at("code"), "AF-LLM-001");
}

TEST_F(DashboardChange, refuses_a_fork_from_a_missing_step) {
    commands_.answers.emplace_back(
        *error_of_answer({{"error", {{"code", "AF-TASK-017"}, {"message", "m"}, {"where", ""}, {"remedy", "r"}}}}));
    EXPECT_EQ(code_of(post(task("/fork"), {{"step", 999}})), "404 AF-TASK-017");
    EXPECT_EQ(commands_.ran.size(), 1U) << "no new task is resumed";
}

TEST_F(DashboardChange, refuses_a_fork_from_a_step_that_is_not_a_number) {
    for (const json::value& step : {json::value("3"), json::value(0), json::value(-1), json::value(1.5), json::value(nullptr)}) {
        EXPECT_EQ(code_of(post(task("/fork"), {{"step", step}})), "400 AF-DASH-013") << step;
    }
    EXPECT_EQ(code_of(post(task("/fork"), {})), "400 AF-DASH-013");
    EXPECT_TRUE(commands_.ran.empty());
}

TEST_F(DashboardChange, refuses_unknown_fields) {
    EXPECT_EQ(code_of(post(task("/abort"), {{"resaon", "a"}})), "400 AF-DASH-013");
    EXPECT_EQ(code_of(post(task("/pause"), {{"reason", 7}})), "400 AF-DASH-013");
    EXPECT_EQ(code_of(post(task("/pause"), {{"after_step", "yes"}})), "400 AF-DASH-013");
    HttpRequest asked = request("POST", task("/abort"));
    asked.body = "[]";
    EXPECT_EQ(code_of(dashboard_.answer(asked)), "400 AF-DASH-006");
    asked.body = "{}";
    asked.headers["content-type"] = "text/plain";  // A form on another site can send this.
    EXPECT_EQ(code_of(dashboard_.answer(asked)), "400 AF-DASH-006");
    EXPECT_TRUE(commands_.ran.empty());
}

TEST_F(DashboardChange, extends_only_a_task_with_further_stages) {
    EXPECT_EQ(code_of(post("/api/tasks/" + ended_.task_id() + "/extend", {})), "409 AF-DASH-062") << "it has delivered";
    EXPECT_EQ(code_of(post(task("/extend"), {{"stage", "red"}, {"id", approval()}, {"hash", "abcdef0123"}})), "409 AF-DASH-062")
        << "it goes on after what it shows";
    EXPECT_EQ(code_of(post(task("/extend"), {{"stge", "red"}})), "400 AF-DASH-013");
    EXPECT_TRUE(commands_.ran.empty());
}

/// The question of the task that waits has its file, as after a run of a stage.
class DashboardChangeOfAWaitingTask : public DashboardChange {
protected:
    void ask(const AnswerDeadline& deadline = {}) {
        ASSERT_TRUE(
            store_.record(ApprovalRequest{approval(), waiting_.task_id(), "spec", {{"title", "x"}}, "aa47", "", {}}, deadline)
                .ok());
    }
    EscalationStore store_{folder_.path() / "one" / ".agentforge"};
};

TEST_F(DashboardChangeOfAWaitingTask, refuses_a_resume_that_would_only_wait_again) {
    ask();
    const HttpResponse refused = post(task("/resume"), {});
    EXPECT_EQ(code_of(refused), "409 AF-DASH-023");
    EXPECT_NE(refused.body.find("approval of spec"), std::string::npos) << refused.body;
    EXPECT_NE(refused.body.find(approval()), std::string::npos) << refused.body;
    EXPECT_TRUE(commands_.ran.empty());
}

TEST_F(DashboardChangeOfAWaitingTask, allows_a_resume_once_there_is_an_answer) {
    ask();
    std::ofstream(store_.directory() / (approval() + ".resolution.yaml")) << "approved: true\n";
    EXPECT_EQ(post(task("/resume"), {}).status, 202);
}

TEST_F(DashboardChangeOfAWaitingTask, allows_a_resume_after_the_deadline_of_the_answer) {
    ask({"2026-01-02T03:04:05.000Z", "abort", ""});
    EXPECT_EQ(post(task("/resume"), {}).status, 202);
}

TEST_F(DashboardChangeOfAWaitingTask, allows_a_resume_that_rewrites_a_lost_question) {
    EXPECT_EQ(post(task("/resume"), {}).status, 202);
}

TEST_F(DashboardChange, a_second_abort_says_that_it_was_not_first) {
    commands_.answers.emplace_back(json::object{{"aborted", false}, {"outcome", "already_asked"}});
    EXPECT_EQ(code_of(post(task("/abort"), {})), "409 AF-DASH-024");
    commands_.answers.emplace_back(json::object{{"aborted", true}, {"outcome", "finished"}});
    EXPECT_EQ(code_of(post(task("/abort"), {})), "409 AF-DASH-022");
}

TEST_F(DashboardChange, refuses_a_malformed_hash) {
    for (const char* hash : {"abcde", "ABCDEF", "no hash", "abcdef\n"}) {
        EXPECT_EQ(code_of(post(task("/approve"), {{"id", approval()}, {"hash", hash}})), "400 AF-DASH-013") << hash;
    }
    EXPECT_EQ(code_of(post(task("/reject"), {{"id", approval()}, {"hash", std::string(65, 'a')}})), "400 AF-DASH-013");
    EXPECT_TRUE(commands_.ran.empty());
}

TEST_F(DashboardChange, notifies_listeners_of_a_record_written_by_a_command) {
    const auto listener = events_.listen("");
    (void)listener->take();
    waiting_.add(records::TaskAborted{"no longer wanted"}, 8);
    (void)post(task("/abort"), {});
    const auto events = listener->take();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_NE(events[0].data.find("task_aborted"), std::string::npos) << events[0].data;
}

TEST_F(DashboardChange, refuses_to_resume_an_ended_task) {
    const HttpResponse refused = post("/api/tasks/" + ended_.task_id() + "/resume", {});
    EXPECT_EQ(code_of(refused), "409 AF-DASH-022");
    EXPECT_TRUE(commands_.ran.empty());
}

}  // namespace
}  // namespace agentforge::kernel::testing
