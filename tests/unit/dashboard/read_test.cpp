// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <sstream>

#include "aggregate/statistics.hpp"
#include "base/hash.hpp"
#include "dashboard/page.hpp"
#include "escalation/escalation_store.hpp"
#include "task/task_store.hpp"
#include "unit/dashboard/dashboard_of.hpp"

namespace agentforge::kernel::testing {
namespace {

class DashboardReads : public DashboardOf {
protected:
    [[nodiscard]] std::string task(const std::string& rest = "") const { return "/api/tasks/" + ended_.task_id() + rest; }
};

TEST_F(DashboardReads, lists_tasks_with_filters_and_pages) {
    const json::object all = body_of(get("/api/tasks"));
    EXPECT_EQ(all.at("total"), 2);
    EXPECT_EQ(all.at("counts").at("waiting"), 1);
    EXPECT_EQ(body_of(get("/api/tasks", {{"state", "completed"}})).at("total"), 1);
    EXPECT_EQ(body_of(get("/api/tasks", {{"repo", "one"}})).at("total"), 1);
    EXPECT_EQ(body_of(get("/api/tasks", {{"pipeline", "implement"}})).at("total"), 2);
    EXPECT_EQ(body_of(get("/api/tasks", {{"pipeline", "fix"}})).at("total"), 0);
    EXPECT_EQ(body_of(get("/api/tasks", {{"q", "SLUGIFY"}})).at("total"), 2);
    EXPECT_EQ(body_of(get("/api/tasks", {{"q", "no such words"}})).at("total"), 0);
    EXPECT_EQ(body_of(get("/api/tasks", {{"q", " two  Slug "}})).at("total"), 1) << "a repository's name and a word's beginning";
    EXPECT_EQ(body_of(get("/api/tasks", {{"q", "slugify nothing"}})).at("total"), 0);
    EXPECT_EQ(body_of(get("/api/tasks", {{"q", " "}})).at("total"), 2);
    const json::object page = body_of(get("/api/tasks", {{"limit", "1"}}));
    EXPECT_EQ(page.at("tasks").as_array().size(), 1U);
    EXPECT_EQ(page.at("next_offset"), 1);
    EXPECT_TRUE(body_of(get("/api/tasks", {{"limit", "1"}, {"offset", "1"}})).at("next_offset").is_null());
    EXPECT_EQ(code_of(get("/api/tasks", {{"limit", "1000000"}})), "400 AF-DASH-005");
    EXPECT_EQ(code_of(get("/api/tasks", {{"limit", "-1"}})), "400 AF-DASH-005");
    for (const char* none : {"", "0"}) { EXPECT_EQ(code_of(get("/api/tasks", {{"limit", none}})), "400 AF-DASH-005") << none; }
    EXPECT_EQ(code_of(get(task("/steps"), {{"before", "0"}})), "400 AF-DASH-005");
    EXPECT_NE(get(task("/steps/-1")).body.find("there is no step -1"), std::string::npos);
    EXPECT_NE(get(task("/steps/01")).body.find("there is no step 01"), std::string::npos);
}

TEST_F(DashboardReads, refuses_an_unknown_parameter) {
    const HttpResponse refused = get("/api/tasks", {{"limi", "1"}});
    EXPECT_EQ(code_of(refused), "400 AF-DASH-005");
    EXPECT_NE(refused.body.find("it takes limit, offset, pipeline, q, repo, state"), std::string::npos) << refused.body;
    EXPECT_EQ(code_of(get("/api/stats", {{"limit", "1"}})), "400 AF-DASH-005");
}

TEST_F(DashboardReads, refuses_an_unknown_state_or_repository) {
    EXPECT_EQ(code_of(get("/api/tasks", {{"state", "done"}})), "400 AF-DASH-005");
    EXPECT_NE(code_of(get("/api/tasks", {{"repo", "elsewhere"}})).find("AF-CONF-073"), std::string::npos);
    EXPECT_EQ(get("/api/tasks", {{"state", "escalated"}}).status, 200);
    EXPECT_EQ(code_of(get("/api/tasks", {{"state", ""}})), "400 AF-DASH-005");
    EXPECT_EQ(get("/api/tasks", {{"q", ""}}).status, 200);
}

TEST_F(DashboardReads, shows_one_task) {
    const json::object shown = body_of(get(task()));
    EXPECT_EQ(shown.at("task_id"), json::value(ended_.task_id()));
    EXPECT_EQ(shown.at("repo"), "two");
    EXPECT_EQ(shown.at("status").at("state"), "completed");
    EXPECT_EQ(code_of(get("/api/tasks/task-20260101-none-00000000")), "404 AF-DASH-014");
    EXPECT_EQ(code_of(get(task(), {{"repo", "one"}})), "404 AF-DASH-014");
    EXPECT_NE(code_of(get(task(), {{"repo", "nope"}})).find("AF-CONF-073"), std::string::npos);
}

TEST_F(DashboardReads, shows_a_phase_with_its_criteria) {
    const json::object phase = body_of(get(task("/phases/green")));
    EXPECT_EQ(phase.at("status"), "completed");
    bool gate = false;
    for (const json::value& criterion : phase.at("exit_criteria").as_array()) {
        gate = gate || criterion.at("name") == "gate green";
    }
    EXPECT_TRUE(gate);
    EXPECT_FALSE(phase.at("files_touched").as_array().empty());
    EXPECT_FALSE(phase.at("steps").at("recent").as_array().empty());
    for (const json::value& step : phase.at("steps").at("recent").as_array()) { EXPECT_EQ(step.at("phase"), "green"); }
    EXPECT_EQ(code_of(get(task("/phases/nothing"))), "404 AF-DASH-016");
}

TEST_F(DashboardReads, shows_why_a_phase_does_not_pass) {
    KeptJournal killed("killed_in_green");
    killed.begin(folder_.path() / "two" / ".agentforge", killed.records());
    killed.add(failing_gate(), 16);
    (void)tasks_.refresh();
    const json::object phase = body_of(get("/api/tasks/" + killed.task_id() + "/phases/green"));
    std::map<std::string, json::object> criteria;
    for (const json::value& criterion : phase.at("exit_criteria").as_array()) {
        criteria[std::string(criterion.at("name").as_string())] = criterion.as_object();
    }
    EXPECT_EQ(
        criteria["all_tests_pass"],
        (json::object{{"name", "all_tests_pass"}, {"status", "failing"}, {"details", "8/10 tests passing"}, {"blocking", true}}));
    EXPECT_EQ(criteria["conformance_passing"].at("details"), "12/12 checks passing");
    const json::object& judged = criteria["gate green"];
    EXPECT_EQ(judged.at("details"), "2 tests fail");
    EXPECT_EQ(judged.at("issues"), json::array{"test_oauth_token_expiry fails"});
    EXPECT_EQ(judged.at("failures").as_array().size(), 2U);
    EXPECT_EQ(judged.at("failures").at(1), (json::value{{"test", "test_oauth_provider_google"},
                                                        {"status", "failed_assertion"},
                                                        {"file", "tests/test_oauth.py"},
                                                        {"error", "KeyError: 'client_secret'"}}));
}

TEST_F(DashboardReads, pages_through_steps_from_the_newest) {
    std::vector<std::uint64_t> seen;
    std::string before;
    do {
        const json::object page =
            body_of(get(task("/steps"), before.empty() ? std::map<std::string, std::string>{{"limit", "7"}}
                                                       : std::map<std::string, std::string>{{"limit", "7"}, {"before", before}}));
        for (const json::value& step : page.at("steps").as_array()) {
            seen.push_back(step.at("step").to_number<std::uint64_t>());
        }
        before = page.at("next_before").is_null() ? "" : std::to_string(page.at("next_before").to_number<std::uint64_t>());
    } while (!before.empty());
    ASSERT_FALSE(seen.empty());
    for (std::size_t index = 0; index < seen.size(); ++index) { EXPECT_EQ(seen[index], seen.size() - index); }
}

TEST_F(DashboardReads, shows_one_step) {
    const json::object step = body_of(get(task("/steps/3")));
    EXPECT_EQ(step.at("step"), 3);
    EXPECT_FALSE(step.at("action").at("type").as_string().empty());
    EXPECT_GT(step.at("context_sent").at("section_tokens").at("total").to_number<int>(), 0);
    EXPECT_TRUE(step.at("context_sent").at("max_tokens").is_null());
    for (const char* number : {"0", "999999", "abc", "1e3", "-1", "99999999999999999999"}) {
        EXPECT_EQ(code_of(get(task("/steps/" + std::string(number)))), "404 AF-DASH-015") << number;
    }
}

TEST_F(DashboardReads, a_patch_outside_the_tasks_folder_is_not_read) {
    KeptJournal killed("killed_in_green");
    const auto folder = killed.begin(folder_.path() / "two" / ".agentforge", killed.records());
    std::ofstream(folder.parent_path() / "secret") << "a secret";
    for (const char* outside : {"../secret", "artifacts/../../secret"}) { killed.append_steps(1, {{"patch", outside}}); }
    (void)tasks_.refresh();
    const std::string address = "/api/tasks/" + killed.task_id() + "/steps/";
    const auto total = body_of(get("/api/tasks/" + killed.task_id())).at("steps").at("total").to_number<std::uint64_t>();
    for (const std::uint64_t step : {total - 1, total}) {
        const HttpResponse shown = get(address + std::to_string(step));
        EXPECT_NE(shown.status, 200);  // The journal is damaged.
        EXPECT_EQ(shown.body.find("a secret"), std::string::npos);
    }
}

TEST_F(DashboardReads, the_time_of_a_step_runs_from_its_request_through_its_gates) {
    EXPECT_NEAR(body_of(get(task("/steps/16"))).at("duration_seconds").as_double(), 0.298, 1e-6);
    EXPECT_NEAR(body_of(get(task("/steps/15"))).at("duration_seconds").as_double(), 0.002, 1e-6);
}

TEST_F(DashboardReads, shows_the_context_budget_that_the_task_started_with) {
    std::ofstream(folder_.path() / "two" / ".agentforge" / "tasks" / ended_.task_id() / "task.yaml")
        << "format: 1\nconfiguration:\n  agents:\n    max_tokens: 1\n  context:\n    agents_md: true\n    max_tokens: 8000\n  llm:\n    max_tokens: 2\n";
    EXPECT_EQ(body_of(get(task("/steps/3"))).at("context_sent").at("max_tokens"), 8000);
    std::ofstream(folder_.path() / "two" / ".agentforge" / "tasks" / ended_.task_id() / "task.yaml")
        << "format: 1\nconfiguration:\n  context:\n    agents_md: true\n  llm:\n    max_tokens: 2\n";
    EXPECT_TRUE(body_of(get(task("/steps/3"))).at("context_sent").at("max_tokens").is_null());
}

TEST_F(DashboardReads, shows_the_gate_results_at_the_time_of_a_step) {
    EXPECT_TRUE(body_of(get(task("/steps/1"))).at("state_after").at("verification_status").at("tests").at("failing") == 0);
    const auto red =
        body_of(get(task("/phases/red"))).at("steps").at("recent").as_array().front().at("step").to_number<std::uint64_t>();
    EXPECT_EQ(
        body_of(get(task("/steps/" + std::to_string(red)))).at("state_after").at("verification_status").at("tests").at("failing"),
        4);
    const auto total = body_of(get(task())).at("steps").at("total").to_number<std::uint64_t>();
    EXPECT_EQ(body_of(get(task("/steps/" + std::to_string(total))))
                  .at("state_after")
                  .at("verification_status")
                  .at("tests")
                  .at("failing"),
              0);
}

TEST_F(DashboardReads, gives_a_report_that_names_its_records) {
    const HttpResponse answer = get(task("/report"));
    EXPECT_EQ(answer.header("Content-Disposition"), "attachment; filename=\"" + ended_.task_id() + ".json\"");
    const json::object report = body_of(answer);
    EXPECT_EQ(report.at("phases").as_array().size(), body_of(get(task())).at("pipeline").at("stages").as_array().size());
    EXPECT_EQ(report.at("journal").at("records"), ended_.records());
    EXPECT_EQ(report.at("journal").at("hash").as_string().size(), 64U);
}

TEST_F(DashboardReads, shows_the_journal_in_pages) {
    const json::object page = body_of(get(task("/records"), {{"after", "60"}, {"limit", "10"}}));
    EXPECT_EQ(page.at("records").as_array().size(), 10U);
    EXPECT_EQ(page.at("records").as_array()[0].at("seq"), 61);
    EXPECT_EQ(page.at("next_after"), 70);
}

TEST_F(DashboardReads, shows_cost_and_sums) {
    const json::object cost = body_of(get(task("/cost")));
    EXPECT_GT(cost.at("tokens_used").to_number<int>(), 0);
    EXPECT_FALSE(cost.at("by_phase").as_array().empty());
    EXPECT_FALSE(cost.at("over_time").as_array().empty());
    EXPECT_EQ(body_of(get("/api/stats")).at("tasks"), 2);
}

TEST_F(DashboardReads, gives_the_statistics_of_the_stats_command) {
    TaskStatistics all;
    all.repositories = 2;
    all.active = 1;
    for (const auto& [repository, journal] : {std::pair{"one", &waiting_}, {"two", &ended_}}) {
        const auto state = TaskStore(folder_.path() / repository / ".agentforge").state(journal->task_id());
        ASSERT_TRUE(state.ok()) << state.error().to_string();
        all.add(sample_of(*state), [](const TaskSample&) { return std::optional<Rework>(); });  // There is no git here.
    }
    json::object object = body_of(get("/api/stats"));
    for (const auto& [key, value] : to_json(all, std::chrono::system_clock::now())) {
        if (!key.ends_with("_per_week")) { EXPECT_EQ(json::serialize(object.at(key)), json::serialize(value)) << key; }
    }
    EXPECT_EQ(object.at("delivered"), 1);
    EXPECT_EQ(object.at("rework").at("delivered_commits"), 1);
    EXPECT_EQ(body_of(get("/api/stats", {{"repo", "one"}})).at("delivered"), 0);
    EXPECT_EQ(body_of(get("/api/stats", {{"since", "2200-01-01"}})).at("tasks"), 0);
    EXPECT_TRUE(body_of(get("/api/stats", {{"rework", "no"}})).at("rework").is_null());
    EXPECT_EQ(code_of(get("/api/stats", {{"since", "soon"}})), "400 AF-DASH-005");
    EXPECT_EQ(code_of(get("/api/stats", {{"repo", "three"}})), "404 AF-CONF-073");
}

TEST_F(DashboardReads, counts_a_task_with_an_unreadable_journal_separately) {
    std::ofstream(folder_.path() / "one" / ".agentforge" / "tasks" / waiting_.task_id() / "actions.yaml", std::ios::app)
        << "- {\"seq\": 21}\n- {\"seq\": 22}\n";
    (void)tasks_.refresh();
    const json::object object = body_of(get("/api/stats"));
    EXPECT_EQ(object.at("tasks"), 1);
    EXPECT_EQ(object.at("unreadable_tasks"), 1);
    ASSERT_EQ(object.at("problems").as_array().size(), 1U);
    EXPECT_NE(object.at("problems").at(0).at("where").as_string().find(waiting_.task_id()), std::string::npos);
    EXPECT_EQ(object.at("states"), (json::object{{"waiting", 0}, {"completed", 1}})) << "the same tasks as in the sums";
    EXPECT_EQ(object.at("audit_trail_completeness"), 0.5);
}

TEST_F(DashboardReads, says_whether_anything_can_be_changed) {
    EXPECT_EQ(body_of(get("/api/repositories")).at("read_only"), false);
}

TEST_F(DashboardReads, no_path_leaves_the_tasks_artifacts) {
    const std::filesystem::path phases =
        folder_.path() / "two" / ".agentforge" / "tasks" / ended_.task_id() / "artifacts" / "phases" / "spec";
    std::filesystem::create_directories(phases);
    std::ofstream(phases / "specification.yaml") << "a: 1\n";
    std::ofstream(folder_.path() / "secret.yaml") << "secret";
    std::filesystem::create_symlink(folder_.path() / "secret.yaml", phases / "link.yaml");
    EXPECT_EQ(body_of(get(task("/artifacts/spec/specification.yaml"))).at("text"), "a: 1\n");
    EXPECT_EQ(body_of(get(task("/artifacts"))).at("artifacts").as_array().size(), 1U);
    for (const char* path : {"/artifacts/spec/link.yaml", "/artifacts/spec/..", "/artifacts/../task.yaml",
                             "/artifacts/spec/../../../../task.yaml", "/artifacts/spec/none.yaml", "/artifacts/..%2f/task.yaml",
                             "/artifacts/spec/.hidden.yaml", "/artifacts/spec/\nspecification.yaml"}) {
        EXPECT_EQ(get(task(path)).status, 404) << path;
    }
    for (const char* path : {"/../etc/passwd", "/..", "//etc/passwd", "/etc/passwd", "/openapi.yaml", "/index.html"}) {
        EXPECT_EQ(get(path).status, 404) << path;
    }
}

TEST_F(DashboardReads, answers_an_unchanged_resource_without_a_body) {
    const HttpResponse first = get(task());
    const std::string tag = first.header("ETag");
    ASSERT_FALSE(tag.empty());
    HttpRequest again = request("GET", task());
    again.headers["if-none-match"] = tag;
    const HttpResponse second = dashboard_.answer(again);
    EXPECT_EQ(second.status, 304);
    EXPECT_TRUE(second.body.empty());
}

TEST_F(DashboardReads, the_tag_of_an_open_task_is_weak_and_ignores_elapsed_time) {
    const std::string place = "/api/tasks/" + waiting_.task_id();
    const HttpResponse response = get(place);
    json::object records = body_of(response);
    const auto found = tasks_.find(waiting_.task_id());
    ASSERT_TRUE(found.ok());
    records["timing"] = json::parse((*tasks_.figures(*found))->text).at("timing");
    EXPECT_NE(records.at("timing"), body_of(response).at("timing"));
    const std::string tag = "\"" + sha256(to_json_line(records)).substr(0, 32) + "\"";
    EXPECT_EQ(response.header("ETag"), "W/" + tag);
    HttpRequest again = request("GET", place);
    again.headers["if-none-match"] = "W/" + tag;
    EXPECT_EQ(dashboard_.answer(again).status, 304);
    EXPECT_EQ(get(task()).header("ETag").front(), '"') << "an ended task has nothing that time changes";
    EXPECT_EQ(get("/api/tasks").header("ETag").substr(0, 2), "W/");
}

TEST_F(DashboardReads, names_the_methods_of_an_address) {
    const HttpResponse refused = dashboard_.answer(request("DELETE", "/api/tasks"));
    EXPECT_EQ(refused.status, 405);
    EXPECT_EQ(refused.header("Allow"), "GET, HEAD, POST");
    EXPECT_EQ(dashboard_.answer(request("DELETE", "/app.js")).header("Allow"), "GET, HEAD");
    EXPECT_EQ(code_of(get("/api/nothing")), "404 AF-DASH-007");
}

TEST_F(DashboardReads, page_has_no_inline_script_and_no_other_origin) {
    const HttpResponse page = get("/");
    EXPECT_EQ(page.header("Content-Type"), "text/html; charset=utf-8");
    for (const char* never : {"<script>", "onclick", "onload", "style=", "http://", "https://", "innerHTML"}) {
        EXPECT_EQ(page.body.find(never), std::string::npos) << never;
    }
    for (const char* file : {"/api.js", "/app.js", "/code.js", "/diff.js", "/dom.js", "/forms.js", "/views.js", "/words.js",
                             "/style.css", "/icon.svg"}) {
        const HttpResponse part = get(file);
        EXPECT_EQ(part.status, 200) << file;
        for (const char* never :
             {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "https://"}) {
            EXPECT_EQ(part.body.find(never), std::string::npos) << file << " " << never;
        }
    }
}

TEST_F(DashboardReads, lists_pending_decisions_with_the_hash_of_the_shown_artifact) {
    EscalationStore store(folder_.path() / "one" / ".agentforge");
    const std::string id = "APR-" + waiting_.task_id() + "-spec-1";
    ApprovalRequest asked;
    asked.id = id;
    asked.task_id = waiting_.task_id();
    asked.stage = "spec";
    asked.artifact = json::object{{"title", "<script>alert(1)</script>"}};
    asked.artifact_hash = std::string(64, 'a');
    asked.created_at = "2026-01-02T03:04:05.000Z";
    std::filesystem::create_directories(store.directory());
    ASSERT_TRUE(store.record(asked).ok());
    const json::object object = body_of(get("/api/attention"));
    ASSERT_EQ(object.at("items").as_array().size(), 1U);
    const json::value& item = object.at("items").as_array()[0];
    EXPECT_EQ(item.at("id"), json::value(id));
    EXPECT_EQ(item.at("kind"), "approval");
    EXPECT_EQ(item.at("hash"), json::value(std::string(64, 'a')));
    EXPECT_EQ(item.at("artifact"), "specification");
    EXPECT_EQ(item.at("version"), 1);
    EXPECT_EQ(item.at("available_actions"), (json::array{"approve", "revise", "exit", "reject", "abort"}));
    EXPECT_NE(item.at("shown").as_string().find("<script>"),
              std::string::npos);  // Text stays text: JSON, shown as text by the page.
}

TEST_F(DashboardReads, lists_an_unreadable_task_among_those_that_need_attention) {
    EXPECT_TRUE(body_of(get("/api/attention")).at("problems").as_array().empty());
    KeptJournal killed("killed_in_green");
    killed.begin(folder_.path() / "two" / ".agentforge", killed.records());
    killed.append_steps(1, {{"patch", "../outside"}});
    (void)tasks_.refresh();
    const json::array problems = body_of(get("/api/attention")).at("problems").as_array();
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].at("code"), "AF-TASK-010");
}

TEST_F(DashboardReads, shows_a_file_answer_everywhere_at_once) {
    EscalationStore store(folder_.path() / "one" / ".agentforge");
    const std::string id = EscalationStore::approval_id(waiting_.task_id(), "spec", 1);
    ASSERT_TRUE(store.record(ApprovalRequest{id, waiting_.task_id(), "spec", {{"title", "x"}}, "aa47", "", {}}).ok());
    ASSERT_EQ(body_of(get("/api/attention")).at("items").as_array().size(), 1U);
    ASSERT_EQ(body_of(get("/api/tasks")).at("counts").at("waiting"), 1);
    const auto listener = events_.listen("");
    (void)listener->take();
    std::ofstream(store.directory() / (id + ".resolution.yaml")) << "approved: true\n";
    EXPECT_TRUE(body_of(get("/api/attention")).at("items").as_array().empty());
    EXPECT_EQ(body_of(get("/api/tasks")).at("counts").at("waiting"), 0);
    EXPECT_EQ(body_of(get("/api/stats")).at("states").at("waiting"), 0);
    EXPECT_EQ(body_of(get("/api/tasks/" + waiting_.task_id())).at("status").at("answered"), true);
    const auto events = listener->take();
    ASSERT_EQ(events.size(), 1U) << "and to who listens";
    EXPECT_NE(events[0].data.find("\"process\""), std::string::npos) << events[0].data;
}

TEST_F(DashboardReads, sends_listeners_the_events_since_their_position) {
    HttpResponse stream = get("/api/events");
    ASSERT_TRUE(stream.events);
    EXPECT_FALSE(stream.web_socket);
    EXPECT_EQ(stream.events->take().at(0).type, "hello");
    HttpRequest asked = request("GET", "/ws/updates");
    asked.headers["origin"] = "http://127.0.0.1:8420";
    asked.query["last_event_id"] = "gone-1";
    HttpResponse socket = dashboard_.answer(asked);
    ASSERT_TRUE(socket.events && socket.web_socket);
    EXPECT_EQ(socket.events->take().at(0).type, "reset");
}

TEST_F(DashboardReads, has_totals_for_prometheus) {
    const HttpResponse response = get("/metrics");
    EXPECT_EQ(response.header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
    const json::object stats = body_of(get("/api/stats"));
    std::map<std::string, double> sums;
    std::istringstream lines(response.body);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# ")) { continue; }
        const std::size_t space = line.rfind(' ');
        sums[line.substr(0, line.find_first_of("{ "))] += std::stod(line.substr(space + 1));
    }
    EXPECT_EQ(sums.at("agentforge_tasks"), stats.at("tasks").to_number<double>());
    EXPECT_EQ(sums.at("agentforge_tokens"), stats.at("tokens_used").to_number<double>());
    EXPECT_EQ(sums.at("agentforge_stage_steps"), stats.at("steps").to_number<double>());
    EXPECT_EQ(sums.at("agentforge_waiting_tasks"), 1);
    EXPECT_NE(response.body.find("agentforge_tasks{repo=\"two\",pipeline=\"implement\",state=\"completed\"} 1\n"),
              std::string::npos)
        << response.body;
}

}  // namespace
}  // namespace agentforge::kernel::testing
