// SPDX-License-Identifier: Apache-2.0
#include "program/log/log.hpp"
#include "telemetry/trace_ids.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>

#include "base/files.hpp"
#include "base/text.hpp"
#include "program/log/event_stream.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* task_id = "task-20260102-add-login-1f2e3d4c";

class KeptEvents final : public Progress {
public:
    void event(const Event& event) override {
        const StreamLine line = line_of(event);
        all.emplace_back(std::string(line.type), line.fields);
    }
    void recorded(const TaskState&, const StageState*, const records::AnyRecord& record) override {
        records.emplace_back(records::type_of(record.body));
    }
    std::vector<std::pair<std::string, json::object>> all;
    std::vector<std::string> records;
};

class LogTest : public ::testing::Test {
protected:
    LogTest() {
        options_.file = (folder_.path() / "logs" / "a.log").string();
        options_.version = "1.2.3";
        options_.command = "start";
        for (const char* name : {"intake", "spec"}) {
            StageTemplate stage;
            stage.name = name;
            state_.pipeline.stages.push_back(stage);
            StageState of;
            of.name = name;
            state_.stages.push_back(of);
        }
        state_.task_id = task_id;
    }

    Log& log() {
        if (!log_) { log_ = Log::open(options_, next_, clock_).value(); }
        return *log_;
    }
    /// As the journal does: the record is folded by `change`, then reported.
    template <class Change>
    void record(records::Body body, Change change) {
        const StageState left = state_.stage();
        change(state_);
        records::AnyRecord record{{}, std::move(body)};
        record.envelope.type = records::type_of(record.body);
        log().recorded(state_, &left, record);
    }
    void record(records::Body body) {
        record(std::move(body), [](TaskState&) {});
    }
    void enter_first_stage() {
        records::StageStarted started{};
        started.stage = "intake";
        record(started, [](TaskState& state) { state.stages[0].visits = state.stages[0].attempts = 1; });
    }
    void say(std::string text) { log().event(event::Message{"", std::move(text)}); }
    [[nodiscard]] static records::Gate gate(const std::string& stage) {
        records::Gate gate{};
        gate.gate = "red";
        gate.stage = stage;
        gate.passed = true;
        gate.summary = "4 new tests fail";
        gate.duration_ms = 1234U;
        return gate;
    }
    [[nodiscard]] static event::ToolCalled called() { return {"", "", 3, "read_file", true, ""}; }

    [[nodiscard]] std::string text(const std::string& suffix = "") const {
        const auto bytes = read_file(options_.file + suffix);
        return bytes.ok() ? *bytes : std::string();
    }
    [[nodiscard]] std::vector<std::string> lines(const std::string& suffix = "") const {
        std::vector<std::string> all;
        std::istringstream in(text(suffix));
        for (std::string line; std::getline(in, line);) { all.push_back(line); }
        return all;
    }
    [[nodiscard]] std::vector<json::object> objects() const {
        std::vector<json::object> all;
        for (const std::string& line : lines()) { all.push_back(parse_json(line, "log").value().as_object()); }
        return all;
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const json::object& line : objects()) { all.emplace_back(line.at("event").as_string()); }
        return all;
    }
    [[nodiscard]] json::object last() const { return objects().back(); }

    TemporaryDirectory folder_{"log-test"};
    FakeClock clock_;
    KeptEvents next_;
    Log::Options options_;
    TaskState state_;
    std::unique_ptr<Log> log_;
};

TEST_F(LogTest, creates_no_file_before_its_first_line) {
    log();
    EXPECT_FALSE(std::filesystem::exists(options_.file));
}

TEST_F(LogTest, begins_each_process_with_its_version_and_command) {
    say("");
    EXPECT_EQ(objects().at(0).at("event"), "run_started");
    EXPECT_EQ(objects().at(0).at("version"), "1.2.3");
    EXPECT_EQ(objects().at(0).at("command"), "start");
}

TEST_F(LogTest, has_the_same_fields_first_on_each_line) {
    say("");
    enter_first_stage();
    record(gate("intake"));
    for (const json::object& line : objects()) {
        std::vector<std::string> first;
        for (const auto& [key, value] : line) {
            if (first.size() < 10) { first.emplace_back(key); }
        }
        EXPECT_THAT(first,
                    ElementsAre("time", "level", "component", "event", "task_id", "stage", "step", "trace_id", "span_id", "pid"));
    }
}

TEST_F(LogTest, writes_null_if_there_is_no_task) {
    say("");
    for (const char* key : {"task_id", "stage", "step", "trace_id", "span_id"}) { EXPECT_TRUE(last().at(key).is_null()) << key; }
}

TEST_F(LogTest, ties_each_line_to_its_task_stage_and_step) {
    enter_first_stage();
    record(records::Step{}, [](TaskState& state) { state.steps = 7; });
    record(gate("intake"));
    EXPECT_EQ(last().at("task_id"), task_id);
    EXPECT_EQ(last().at("stage"), "intake");
    EXPECT_EQ(last().at("step"), 7);
    EXPECT_EQ(last().at("trace_id"), json::value(trace_id_of(task_id)));
    EXPECT_EQ(last().at("span_id"), json::value(span_id_of(task_id, "intake", 1)));
}

TEST_F(LogTest, trace_id_is_stable_for_a_task_and_differs_between_tasks) {
    EXPECT_EQ(trace_id_of(task_id).size(), 32U);
    EXPECT_EQ(trace_id_of(task_id), trace_id_of(task_id));
    EXPECT_NE(trace_id_of(task_id), trace_id_of("task-20260102-add-login-1f2e3d4d"));
}

TEST_F(LogTest, spans_of_visits_stages_and_the_task_differ) {
    const std::set<std::string> spans{span_id_of(task_id), span_id_of(task_id, "spec", 1), span_id_of(task_id, "spec", 2),
                                      span_id_of(task_id, "red", 1)};
    EXPECT_EQ(spans.size(), 4U);
    EXPECT_EQ(spans.begin()->size(), 16U);
}

TEST_F(LogTest, first_transition_has_no_source) {
    enter_first_stage();
    const json::object line = objects().at(1);
    EXPECT_EQ(line.at("event"), "stage_transition");
    EXPECT_TRUE(line.at("from_stage").is_null());
    EXPECT_EQ(line.at("to_stage"), "intake");
}

TEST_F(LogTest, transition_has_the_fields_of_task_012) {
    enter_first_stage();
    state_.stages[0].duration_ms = 12345;
    state_.stages[0].input_tokens = 2000;
    state_.stages[0].output_tokens = 450;
    state_.stages[0].attempts = 3;
    record(records::StageCompleted{"intake", ""}, [](TaskState& state) { state.stage_index = 1; });
    const json::object line = objects().at(objects().size() - 2);  // The line before the record's own.
    EXPECT_EQ(line.at("event"), "stage_transition");
    EXPECT_EQ(line.at("from_stage"), "intake");
    EXPECT_EQ(line.at("to_stage"), "spec");
    EXPECT_EQ(line.at("duration_ms"), 12345);
    EXPECT_EQ(line.at("tokens_used"), 2450);
    EXPECT_EQ(line.at("cycle_count"), 0);
    EXPECT_EQ(line.at("retry_count"), 2);
}

TEST_F(LogTest, passes_records_to_the_display) {
    enter_first_stage();
    EXPECT_THAT(next_.records, ElementsAre("stage_started"));
}

TEST_F(LogTest, distinguishes_agent_steps_from_task_steps) {
    options_.level = "debug";
    record(records::Step{}, [](TaskState& state) { state.steps = 7; });
    log().event(called());
    EXPECT_EQ(last().at("step"), 7);
    EXPECT_EQ(last().at("run_step"), 3);
}

TEST_F(LogTest, cycle_is_a_transition_and_is_counted) {
    enter_first_stage();
    state_.stage_index = 1;
    record(records::CycleStarted{"spec", "intake", ""}, [](TaskState& state) {
        state.stage_index = 0;
        state.stages[0].cycles = 1;
    });
    ASSERT_THAT(names(), ElementsAre("run_started", "stage_transition", "stage_started", "stage_transition", "cycle"));
    const json::object line = objects().at(3);
    EXPECT_EQ(line.at("from_stage"), "spec");
    EXPECT_EQ(line.at("to_stage"), "intake");
    EXPECT_EQ(line.at("cycle_count"), 1);
}

TEST_F(LogTest, end_is_a_transition_without_a_target) {
    enter_first_stage();
    record(records::TaskCompleted{"intake", ""});
    ASSERT_THAT(names(), ElementsAre("run_started", "stage_transition", "stage_started", "stage_transition", "task_completed"));
    EXPECT_EQ(objects().at(3).at("from_stage"), "intake");
    EXPECT_TRUE(objects().at(3).at("to_stage").is_null());
}

TEST_F(LogTest, pause_and_its_reason_are_logged) {
    record(records::TaskPaused{"the machine is needed"});
    EXPECT_EQ(last().at("event"), "task_paused");
    EXPECT_EQ(last().at("reason"), "the machine is needed");
}

TEST_F(LogTest, failed_model_call_is_a_warning_of_the_model) {
    records::AttemptFailed failed{};
    failed.code = "AF-LLM-101";
    failed.message = "no answer";
    failed.attempt = 2U;
    record(failed);
    EXPECT_EQ(last().at("level"), "warning");
    EXPECT_EQ(last().at("component"), "model");
    EXPECT_EQ(last().at("code"), "AF-LLM-101");
    EXPECT_EQ(last().at("attempt"), 2);
}

TEST_F(LogTest, answers_are_logged_with_tokens_and_without_text) {
    options_.level = "debug";
    records::Answer answer{};
    answer.answer = records::Kept{json::object{{"text", "long"}}, ""};
    answer.usage.emplace();
    answer.usage->model = "m";
    answer.usage->input_tokens = 10;
    answer.usage->output_tokens = 2;
    record(answer);
    EXPECT_EQ(last().at("event"), "model_answered");
    EXPECT_EQ(last().at("input_tokens"), 10);
    EXPECT_FALSE(last().contains("answer"));
}

TEST_F(LogTest, logs_the_duration_of_a_gate) {
    options_.level = "info";
    record(gate("intake"));
    EXPECT_EQ(last().at("duration_ms"), 1234);
}

TEST_F(LogTest, omits_events_below_its_level) {
    options_.level = "info";
    log().event(called());
    EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(LogTest, component_may_have_a_level_below_the_others) {
    options_.level = "error";
    options_.levels = {{"agent", "debug"}};
    log().event(called());
    records::StageFailed failed{};
    record(failed);
    EXPECT_THAT(names(), ElementsAre("tool"));
}

TEST_F(LogTest, component_may_be_switched_off) {
    options_.levels = {{"gate", "off"}};
    record(gate("intake"));
    EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(LogTest, component_may_be_on_while_the_log_is_off) {
    options_.level = "off";
    options_.levels = {{"people", "info"}};
    record(gate("intake"));
    record(records::EscalationRaised{"intake", "ESC-1"});
    EXPECT_THAT(names(), ElementsAre("escalation"));
}

TEST_F(LogTest, unknown_component_is_refused_with_the_nearest) {
    options_.levels = {{"modle", "debug"}};
    const auto opened = Log::open(options_, next_, clock_);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, "AF-CLI-121");
    EXPECT_THAT(opened.error().remedy, HasSubstr("`model`"));
}

TEST_F(LogTest, unknown_level_is_refused) {
    options_.level = "loud";
    const auto opened = Log::open(options_, next_, clock_);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, "AF-CLI-021");
}

TEST_F(LogTest, unknown_form_is_refused) {
    options_.format = "xml";
    const auto opened = Log::open(options_, next_, clock_);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, "AF-CLI-121");
}

TEST_F(LogTest, text_is_one_line_for_people) {
    options_.format = "text";
    log().event(event::GateTried{"red", "red", true, "4 new tests fail", 7});
    EXPECT_THAT(lines().back(), StartsWith("2026-01-02T00:00:00.000Z info    gate gate stage=red pid="));
    EXPECT_THAT(lines().back(), HasSubstr(" gate=red passed=true summary=\"4 new tests fail\""));
}

TEST_F(LogTest, escapes_terminal_control_sequences) {
    options_.format = "text";
    say("\x1b[31mred\n2026-01-02 forged \xC2\x9B");
    EXPECT_EQ(lines().size(), 2U);
    EXPECT_EQ(text().find('\x1b'), std::string::npos);
    EXPECT_EQ(text().find('\x9b'), std::string::npos);
}

TEST_F(LogTest, file_is_readable_only_by_the_user) {
    say("");
    struct stat status {};
    ASSERT_EQ(::stat(options_.file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(LogTest, rotates_a_full_file_and_keeps_the_configured_number) {
    options_.max_file_bytes = 400;
    options_.kept_files = 2;
    for (int number = 0; number < 12; ++number) { say(std::to_string(number)); }
    EXPECT_THAT(text(), HasSubstr("\"text\": \"11\""));
    EXPECT_FALSE(text(".1").empty());
    EXPECT_FALSE(text(".2").empty());
    EXPECT_TRUE(text(".3").empty());
}

TEST_F(LogTest, lines_are_whole_in_every_file) {
    options_.max_file_bytes = 700;
    options_.kept_files = 20;
    for (int number = 0; number < 12; ++number) { say(std::to_string(number)); }
    std::size_t found = 0;
    for (const std::string suffix : {"", ".1", ".2", ".3", ".4", ".5", ".6", ".7", ".8", ".9", ".10", ".11", ".12"}) {
        EXPECT_LE(text(suffix).size(), options_.max_file_bytes);
        for (const std::string& line : lines(suffix)) {
            found += parse_json(line, "log").value().as_object().at("event") == "message" ? 1 : 0;
        }
    }
    EXPECT_EQ(found, 12U);
}

TEST_F(LogTest, keeps_no_rotated_file_if_configured) {
    options_.max_file_bytes = 400;
    options_.kept_files = 0;
    for (int number = 0; number < 5; ++number) { say(std::to_string(number)); }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path() / "logs"), {}), 1);
    EXPECT_THAT(text(), HasSubstr("\"text\": \"4\""));
}

TEST_F(LogTest, two_processes_lose_no_line_during_rotation) {
    options_.max_file_bytes = 1500;
    options_.kept_files = 100;
    const auto other = Log::open(options_, next_, clock_).value();
    for (int number = 0; number < 40; ++number) {
        say("a");
        other->event(event::Message{"", "b"});
    }
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "logs")) {
        std::istringstream in(read_file(entry.path()).value());
        for (std::string line; std::getline(in, line);) { found += line.find("\"message\"") != std::string::npos ? 1 : 0; }
    }
    EXPECT_EQ(found, 80U);
}

TEST_F(LogTest, releases_the_lock_if_rotation_fails) {
    options_.max_file_bytes = 400;
    options_.kept_files = 1;
    std::filesystem::create_directories(options_.file + ".1/in the way");
    for (int number = 0; number < 4; ++number) { say("a"); }
    EXPECT_TRUE(std::ranges::any_of(
        next_.all, [](const auto& event) { return json::serialize(event.second).find("AF-CLI-120") != std::string::npos; }));
    const FileDescriptor other(::open(options_.file.c_str(), O_WRONLY | O_CLOEXEC));
    EXPECT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
}

TEST_F(LogTest, does_not_wait_for_another_process_to_rotate) {
    options_.max_file_bytes = 400;
    say("a");
    const FileDescriptor other(::open(options_.file.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
    for (int number = 0; number < 4; ++number) { say("b"); }
    EXPECT_THAT(names(), ElementsAre("message", "message", "message", "message",
                                     "message"));  // All lines after the first, which moved run_started into an older file.
}

TEST_F(LogTest, recreates_a_removed_file) {
    say("1");
    std::filesystem::remove(options_.file);
    say("2");
    EXPECT_THAT(text(), HasSubstr("\"2\""));
}

TEST_F(LogTest, recreates_a_removed_folder) {
    say("1");
    std::filesystem::remove_all(folder_.path() / "logs");
    say("2");
    EXPECT_THAT(text(), HasSubstr("\"2\""));
}

TEST_F(LogTest, link_in_the_repository_is_not_followed) {
    options_.follow_links = false;
    const auto victim = folder_.path() / "victim";
    ASSERT_TRUE(write_file_atomic(victim, "mine\n", Durability::cached).ok());
    std::filesystem::create_directory(folder_.path() / "logs");
    std::filesystem::create_symlink(victim, options_.file);
    say("");
    EXPECT_EQ(read_file(victim).value(), "mine\n");
    EXPECT_THAT(next_.all.at(0).second.at("message").as_string().c_str(), HasSubstr("AF-CLI-020"));
}

TEST_F(LogTest, linked_folder_in_the_repository_is_not_followed) {
    options_.follow_links = false;
    std::filesystem::create_directory(folder_.path() / "elsewhere");
    std::filesystem::create_directory_symlink(folder_.path() / "elsewhere", folder_.path() / "logs");
    say("");
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "elsewhere"));
}

TEST_F(LogTest, refuses_a_pipe_in_its_place_at_once) {
    std::filesystem::create_directory(folder_.path() / "logs");
    ASSERT_EQ(::mkfifo(options_.file.c_str(), 0600), 0);
    say("");
    EXPECT_THAT(next_.all.at(0).second.at("message").as_string().c_str(), HasSubstr("AF-CLI-020"));
}

TEST_F(LogTest, reports_an_unopenable_file_once_and_continues) {
    ASSERT_TRUE(write_file_atomic(folder_.path() / "logs", "a file", Durability::cached).ok());
    say("1");
    say("2");
    std::vector<std::string> passed;
    for (const auto& [name, fields] : next_.all) { passed.push_back(name); }
    EXPECT_THAT(passed, ElementsAre("log", "message", "message"));
}

/// Lets no file grow beyond its current size; undone at the end.
class NoRoom {
public:
    explicit NoRoom(std::uint64_t bytes) : ignored_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit less = before_;
        less.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &less);
    }
    ~NoRoom() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, ignored_);
    }
    NoRoom(const NoRoom&) = delete;
    NoRoom& operator=(const NoRoom&) = delete;

private:
    rlimit before_{};
    void (*ignored_)(int);
};

TEST_F(LogTest, reports_lost_lines_once_and_counts_them_in_the_next_line) {
    say("1");
    {
        const NoRoom none(text().size() + 10);
        say("2");
        say("3");
    }
    say("4");
    std::size_t logged = 0;
    for (const auto& [name, fields] : next_.all) { logged += name == "log" ? 1 : 0; }
    EXPECT_EQ(logged, 1U);
    const auto all = lines();
    EXPECT_THAT(all.at(all.size() - 2), HasSubstr("\"lines_lost\""));
    EXPECT_THAT(all.at(all.size() - 2), HasSubstr("\"count\": 2"));
    EXPECT_EQ(parse_json(all.back(), "log").value().as_object().at("text"), "4");
}

TEST_F(LogTest, note_creates_no_folder_in_a_repository_without_one) {
    log().note(Error{"AF-X-001", "", "", ""}, (folder_.path() / "none").string());
    EXPECT_FALSE(std::filesystem::exists(options_.file));
}

TEST_F(LogTest, note_is_not_passed_to_the_display) {
    log().note(Error{"AF-X-001", "", "", ""}, folder_.path().string());
    EXPECT_TRUE(next_.all.empty());
    EXPECT_EQ(last().at("level"), "error");
    EXPECT_EQ(last().at("component"), "program");
}

}  // namespace
}  // namespace agentforge::kernel
