// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "agent/context.hpp"
#include "unit/agent/fakes.hpp"

namespace agentforge::kernel::testing {
namespace {

/// A world with one file, in which edits work.
struct World {
    std::string slug = "def slugify(text):\n    raise NotImplementedError\n";
    FakeHost host;
    FakeContext context;
    NullEventSink events;
    RunSpec spec = usual_spec();

    bool machine_fails = false;

    ToolResult act(std::string_view tool, const json::object& arguments) {
        if (machine_fails) {
            return ToolResult::failed({"AF-TOOL-039", "There is no room on the disk", "", "Free space.", ErrorKind::io});
        }
        if (tool == "read_file") {
            return ToolResult::done(slug, "read 2 lines", {{"first_line", 1}, {"total_lines", 2}, {"sha256", "abc"}});
        }
        if (tool == "edit_file") {
            const std::string search(arguments.at("search").get_string());
            const std::size_t at = slug.find(search);
            if (at == std::string::npos) {
                return ToolResult::failed({"AF-TOOL-001", "the text was not found", "", "Read the file.", ErrorKind::invalid});
            }
            slug.replace(at, search.size(), std::string(arguments.at("replace").get_string()));
            host.changes.push_back({"slug.py", "old", "new", 1, 1, false});
            return ToolResult::done("", "edited slug.py: +1 -1");
        }
        if (tool == "complete") {
            if (const auto taken = host.complete(arguments); !taken.ok()) { return ToolResult::failed(taken.error()); }
            return ToolResult::done("", "accepted");
        }
        if (tool == "escalate_question") {
            if (const auto taken = host.escalate({"unclear", "Which one?", {}, {}}); !taken.ok()) {
                return ToolResult::failed(taken.error());
            }
            return ToolResult::done("", "asked");
        }
        return ToolResult::failed({"AF-TOOL-002", "there is no tool '" + std::string(tool) + "'", "", "", ErrorKind::not_found});
    }

    Result<AgentOutcome> run(const std::shared_ptr<FakeBackend>& backend) {
        FakeActions actions(usual_tools(),
                            [this](std::string_view tool, const json::object& arguments) { return act(tool, arguments); });
        const auto client = client_of(backend);
        auto outcome = run_steps(spec, actions, *client, host, context, events);
        tool_calls = actions.calls;
        return outcome;
    }
    unsigned tool_calls = 0;
};

Result<Completion> scripted(const CompletionRequest& request) {
    switch (request.place.step) {
        case 1:
            return tool_answer("read_file", {{"path", "slug.py"}});
        case 2:
            return tool_answer(
                "edit_file", {{"path", "slug.py"}, {"search", "raise NotImplementedError"}, {"replace", "return text.lower()"}});
        default:
            return tool_answer("complete", {{"summary", "done"}});
    }
}

TEST(AgentLoop, journals_the_cost_and_stops_if_a_command_keeps_calling_its_server) {
    World world;
    const auto backend = std::make_shared<FakeBackend>([](const CompletionRequest& request) -> Result<Completion> {
        auto answer = scripted(request);
        answer->diagnostics["requests"] = 2500;
        answer->diagnostics["requests_limit"] = 5;
        return answer;
    });
    const auto outcome = world.run(backend);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-LLM-315");
    EXPECT_EQ(outcome.error().kind, ErrorKind::unavailable) << "the task pauses";
    EXPECT_NE(outcome.error().message.find("at least 2500 requests"), std::string::npos);
    EXPECT_EQ(world.host.answers.size(), 1U);
    EXPECT_EQ(world.tool_calls, 0U);
}

TEST(AgentLoop, runs_until_complete_is_accepted) {
    World world;
    const auto outcome = world.run(std::make_shared<FakeBackend>(scripted));
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_EQ(outcome.value().artifact.at("summary"), "done");
}

TEST(AgentLoop, counts_steps_and_tokens_of_the_whole_run) {
    World world;
    const auto outcome = world.run(std::make_shared<FakeBackend>(scripted));
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(std::tuple(outcome.value().steps, outcome.value().input_tokens, outcome.value().output_tokens),
              std::tuple(3U, 300U, 30U));
}

TEST(AgentLoop, names_every_tool_use_in_the_outcome) {
    World world;
    const auto outcome = world.run(std::make_shared<FakeBackend>(scripted));
    ASSERT_TRUE(outcome.ok());
    ASSERT_EQ(outcome.value().tool_uses.size(), 3U);
    EXPECT_EQ(outcome.value().tool_uses[1].summary, "edited slug.py: +1 -1");
}

TEST(AgentLoop, journals_the_answer_before_the_action_and_the_step_after_it) {
    World world;
    ASSERT_TRUE(world.run(std::make_shared<FakeBackend>(scripted)).ok());
    EXPECT_EQ(world.host.answers, (std::vector<unsigned>{1, 2, 3}));
    ASSERT_EQ(world.host.records.size(), 3U);
    EXPECT_EQ(world.host.records[1].changes.size(), 1U);
}

TEST(AgentLoop, verifies_after_every_edit) {
    World world;
    ASSERT_TRUE(world.run(std::make_shared<FakeBackend>(scripted)).ok());
    EXPECT_EQ(world.host.edited, std::vector<std::string>{"slug.py"});
}

TEST(AgentLoop, shows_the_last_result_to_the_next_step) {
    World world;
    const auto backend = std::make_shared<FakeBackend>(scripted);
    ASSERT_TRUE(world.run(backend).ok());
    EXPECT_NE(backend->requests[1].user.find("raise NotImplementedError"), std::string::npos);
}

TEST(AgentLoop, shows_the_new_content_after_an_edit) {
    World world;
    const auto backend = std::make_shared<FakeBackend>(scripted);
    ASSERT_TRUE(world.run(backend).ok());
    const std::string& third = backend->requests[2].user;
    EXPECT_NE(third.find("def slugify(text):\n"), std::string::npos) << third;
    EXPECT_NE(third.find("return text.lower()"), std::string::npos) << third;
    EXPECT_EQ(third.find("NotImplementedError"), std::string::npos) << third;
}

TEST(AgentLoop, warns_of_a_count_over_budget_and_shrinks_later_contexts) {
    World world;
    world.spec.run.state = {{"text", std::string(200'000, 'x')}};
    const auto backend = std::make_shared<FakeBackend>([](const CompletionRequest& request) {
        auto answer = scripted(request);
        answer->usage.input_tokens = request.place.step == 1 ? 9000 : 1;
        return answer;
    });
    ASSERT_TRUE(world.run(backend).ok());
    EXPECT_LT(backend->requests[1].user.size(), backend->requests[0].user.size());
    const auto warned = std::count_if(world.host.logged.begin(), world.host.logged.end(), [](const FakeHost::Line& line) {
        return line.level == LogLevel::warning && line.message.find("9000 input tokens for step 1") != std::string::npos;
    });
    EXPECT_EQ(warned, 1);
}

TEST(AgentLoop, logs_cuts_to_the_context) {
    World world;
    world.spec.run.state = {{"text", std::string(200'000, 'x')}};
    ASSERT_TRUE(world.run(std::make_shared<FakeBackend>(scripted)).ok());
    ASSERT_FALSE(world.host.logged.empty());
    EXPECT_EQ(world.host.logged.front().fields.at("section_tokens").at("truncated").at(0).as_string(), "current_state.state");
}

TEST(AgentLoop, does_not_repeat_finished_steps) {
    World first;
    ASSERT_TRUE(first.run(std::make_shared<FakeBackend>(scripted)).ok());
    World second;
    second.host.journal = {first.host.records[0], first.host.records[1]};
    const auto backend = std::make_shared<FakeBackend>(scripted);
    ASSERT_TRUE(second.run(backend).ok());
    EXPECT_EQ(std::pair(backend->requests.size(), second.tool_calls), std::pair(std::size_t{1}, 1U));
}

TEST(AgentLoop, a_resumed_run_asks_the_very_same_question) {
    World first;
    const auto whole = std::make_shared<FakeBackend>(scripted);
    ASSERT_TRUE(first.run(whole).ok());
    World second;
    second.host.journal = {first.host.records[0], first.host.records[1]};
    const auto rest = std::make_shared<FakeBackend>(scripted);
    ASSERT_TRUE(second.run(rest).ok());
    EXPECT_EQ(rest->requests[0].user, whole->requests[2].user);
}

TEST(AgentLoop, a_resumed_run_reports_the_totals_of_all_steps) {
    World first;
    ASSERT_TRUE(first.run(std::make_shared<FakeBackend>(scripted)).ok());
    World second;
    second.host.journal = first.host.records;
    const auto outcome = second.run(std::make_shared<FakeBackend>(scripted));
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome.value().input_tokens, 300U);
}

TEST(AgentLoop, a_run_whose_steps_are_all_journaled_asks_nothing) {
    World first;
    ASSERT_TRUE(first.run(std::make_shared<FakeBackend>(scripted)).ok());
    World second;
    second.host.journal = first.host.records;
    const auto backend = std::make_shared<FakeBackend>(scripted);
    ASSERT_TRUE(second.run(backend).ok());
    EXPECT_TRUE(backend->requests.empty());
}

TEST(AgentLoop, a_machine_failure_ends_the_run_before_a_step_is_recorded) {
    World world;
    const auto backend = std::make_shared<FakeBackend>(scripted);
    world.machine_fails = true;
    const auto failed = world.run(backend);
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code, "AF-TOOL-039");
    EXPECT_EQ(failed.error().kind, ErrorKind::io);
    EXPECT_TRUE(world.host.records.empty());
    EXPECT_EQ(world.host.answers, (std::vector<unsigned>{1})) << "no model was asked about it";

    // Resumed: the action is repeated from the journaled answer.
    world.machine_fails = false;
    world.host.pending = scripted(backend->requests.at(0)).value();
    world.host.pending_step = 1;
    const auto outcome = world.run(backend);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_EQ(world.host.answers, (std::vector<unsigned>{1, 2, 3}));
    ASSERT_EQ(world.host.records.size(), 3U);
    EXPECT_TRUE(world.host.records[0].success);
}

TEST(AgentLoop, uses_a_journaled_answer_instead_of_asking_again) {
    World world;
    world.host.pending = tool_answer("complete", {{"summary", "from the journal"}});
    world.host.pending_step = 1;
    const auto backend = std::make_shared<FakeBackend>(scripted);
    const auto outcome = world.run(backend);
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome.value().artifact.at("summary"), "from the journal");
    EXPECT_TRUE(backend->requests.empty());
}

TEST(AgentLoop, refuses_a_journal_with_a_missing_step) {
    World world;
    StepRecord record;
    record.step = 2;
    world.host.journal = {record};
    const auto outcome = world.run(std::make_shared<FakeBackend>(scripted));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-AGENT-016");
}

TEST(AgentLoop, ends_with_the_escalation_requested_by_the_agent) {
    World world;
    const auto outcome = world.run(std::make_shared<FakeBackend>([](const CompletionRequest&) {
        return tool_answer("escalate_question", {{"question", "Which one?"}, {"reason", "unclear"}});
    }));
    ASSERT_TRUE(outcome.ok());
    ASSERT_TRUE(outcome.value().escalation.has_value());
    EXPECT_EQ(outcome.value().escalation->question, "Which one?");
}

TEST(AgentLoop, ends_when_the_steps_are_used_up) {
    World world;
    world.spec.run.max_steps = 4;
    const auto outcome = world.run(std::make_shared<FakeBackend>([](const CompletionRequest&) {
        return tool_answer("read_file", {{"path", "slug.py"}});
    }));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-AGENT-010");
    EXPECT_EQ(world.host.records.size(), 4U);
}

TEST(AgentLoop, makes_no_call_that_the_host_refuses) {
    World world;
    world.host.refuse_call = Error{"AF-COST-011", "enough", "", "", ErrorKind::unavailable};
    const auto backend = std::make_shared<FakeBackend>([](const CompletionRequest&) { return text_answer("x"); });
    const auto outcome = world.run(backend);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-COST-011");
    EXPECT_TRUE(backend->requests.empty());
}

TEST(AgentLoop, a_limit_on_time_is_the_deadline_of_the_call) {
    World world;
    world.host.end_of_time = std::chrono::steady_clock::now() - std::chrono::seconds(1);
    const auto outcome = world.run(std::make_shared<FakeBackend>([](const CompletionRequest&) { return text_answer("x"); }));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-LLM-103");
    EXPECT_THAT(world.host.failed_calls, ::testing::ElementsAre("AF-LLM-103"));
}

TEST(AgentLoop, ends_when_the_same_action_fails_three_times_in_a_row) {
    World world;
    const auto outcome = world.run(std::make_shared<FakeBackend>([](const CompletionRequest&) {
        return tool_answer("edit_file", {{"path", "slug.py"}, {"search", "nowhere"}, {"replace", "x"}});
    }));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-AGENT-011");
    EXPECT_EQ(world.host.records.size(), 3U);
}

TEST(AgentLoop, ends_when_the_artifact_is_refused_four_times_for_the_same_reason) {
    World world;
    world.host.refusal = Error{"AF-ORCH-034", "only the handed-back parts may change", "", "", ErrorKind::invalid};
    const auto outcome = world.run(std::make_shared<FakeBackend>([](const CompletionRequest& request) {
        if (request.place.step % 2 == 0) { return tool_answer("read_file", {{"path", "slug.py"}}); }
        return tool_answer("complete", {{"summary", request.place.step}});
    }));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-AGENT-011");
    EXPECT_EQ(world.host.records.size(), 7U);
}

TEST(AgentLoop, different_failing_actions_do_not_end_the_run) {
    World world;
    world.spec.run.max_steps = 6;
    const auto outcome = world.run(std::make_shared<FakeBackend>([](const CompletionRequest& request) {
        return tool_answer("edit_file",
                           {{"path", "slug.py"}, {"search", "nowhere" + std::to_string(request.place.step)}, {"replace", "x"}});
    }));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-AGENT-010");
}

TEST(AgentLoop, feeds_the_exact_error_back_after_an_unreadable_answer) {
    World world;
    const auto backend = std::make_shared<FakeBackend>([](const CompletionRequest& request) -> Result<Completion> {
        if (request.place.step == 1) { return text_answer("I will now think about it."); }
        return tool_answer("complete", {{"summary", "done"}});
    });
    ASSERT_TRUE(world.run(backend).ok());
    EXPECT_NE(backend->requests[1].user.find("AF-AGENT-020: the answer calls no tool"), std::string::npos)
        << backend->requests[1].user;
}

TEST(AgentLoop, ends_after_three_unreadable_answers_in_a_row) {
    World world;
    const auto outcome =
        world.run(std::make_shared<FakeBackend>([](const CompletionRequest&) { return text_answer("no action here"); }));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-AGENT-012");
    EXPECT_EQ(world.host.records.size(), 3U);
}

TEST(AgentLoop, an_empty_answer_counts_as_unreadable) {
    World world;
    const auto outcome = world.run(std::make_shared<FakeBackend>([](const CompletionRequest&) { return text_answer(""); }));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-AGENT-012");
}

TEST(AgentLoop, tells_the_model_that_its_call_arguments_are_not_json) {
    World world;
    const auto backend = std::make_shared<FakeBackend>([](const CompletionRequest& request) -> Result<Completion> {
        if (request.place.step == 1) {
            return Error{"AF-LLM-105", "the arguments are no JSON object", "", "", ErrorKind::invalid};
        }
        return tool_answer("complete", {{"summary", "done"}});
    });
    ASSERT_TRUE(world.run(backend).ok());
    EXPECT_NE(backend->requests[1].user.find("AF-LLM-105: the arguments are no JSON object"), std::string::npos)
        << backend->requests[1].user;
}

TEST(AgentLoop, takes_no_action_from_a_refused_answer) {
    World world;
    const auto backend = std::make_shared<FakeBackend>([](const CompletionRequest& request) -> Result<Completion> {
        if (request.place.step > 1) { return tool_answer("complete", {{"summary", "done"}}); }
        Completion half = tool_answer("escalate_question", {{"question", "half a"}, {"reason", "?"}});
        half.text = "I cannot help with that.";
        half.stop_reason = StopReason::refused;
        return half;
    });
    ASSERT_TRUE(world.run(backend).ok());
    EXPECT_NE(backend->requests[1].user.find("AF-AGENT-025: the model refused to answer: I cannot help with that."),
              std::string::npos)
        << backend->requests[1].user;
}

TEST(AgentLoop, ends_after_three_refusals_in_a_row) {
    World world;
    const auto outcome = world.run(std::make_shared<FakeBackend>([](const CompletionRequest&) {
        Completion refusal = text_answer("No.");
        refusal.stop_reason = StopReason::refused;
        return refusal;
    }));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-AGENT-012");
    EXPECT_EQ(world.host.records.size(), 3U);
}

TEST(AgentLoop, takes_no_action_from_a_truncated_answer) {
    World world;
    const auto outcome = world.run(std::make_shared<FakeBackend>([](const CompletionRequest&) {
        Completion half = tool_answer("complete", {{"summary", "ha"}});
        half.stop_reason = StopReason::length;
        return half;
    }));
    ASSERT_FALSE(outcome.ok());
    EXPECT_NE(outcome.error().message.find("AF-AGENT-024"), std::string::npos) << outcome.error().message;
    EXPECT_EQ(world.tool_calls, 0U);
}

TEST(AgentLoop, takes_no_action_if_an_answer_has_several) {
    World world;
    const auto outcome = world.run(std::make_shared<FakeBackend>([](const CompletionRequest&) {
        Completion both = tool_answer("complete", {{"summary", "one"}});
        both.tool_calls.push_back(both.tool_calls.front());
        return both;
    }));
    ASSERT_FALSE(outcome.ok());
    EXPECT_NE(outcome.error().message.find("AF-AGENT-021"), std::string::npos) << outcome.error().message;
    EXPECT_EQ(world.tool_calls, 0U);
}

TEST(AgentLoop, journals_an_attempt_that_failed_with_its_step) {
    World world;
    unsigned asked = 0;
    const auto outcome =
        world.run(std::make_shared<FakeBackend>([&asked](const CompletionRequest& request) -> Result<Completion> {
            if (++asked == 2) { return Error{"AF-LLM-407", "overloaded", "", "", ErrorKind::transient}; }
            return scripted(request);
        }));
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(world.host.failed, (std::vector<std::string>{"step 2, attempt 1: AF-LLM-407"}));
}

TEST(AgentLoop, reports_progress_while_an_answer_streams) {
    class Sink final : public EventSink {
    public:
        void event(const Event& event) override {
            if (const auto* const answering = std::get_if<event::Answering>(&event);
                answering != nullptr && answering->step == 1) {
                bytes.push_back(static_cast<unsigned>(answering->bytes));
            }
        }
        std::vector<unsigned> bytes;
    };
    World world;
    Sink sink;
    FakeActions actions(usual_tools(),
                        [&world](std::string_view tool, const json::object& arguments) { return world.act(tool, arguments); });
    const auto backend = std::make_shared<FakeBackend>(scripted);
    backend->parts = {"half of "};
    const auto client = client_of(backend);
    ASSERT_TRUE(run_steps(world.spec, actions, *client, world.host, world.context, sink).ok());
    EXPECT_EQ(sink.bytes, (std::vector<unsigned>{0, 8}));
}

TEST(AgentLoop, returns_a_backend_error_unchanged) {
    World world;
    const auto outcome = world.run(std::make_shared<FakeBackend>([](const CompletionRequest&) -> Result<Completion> {
        return Error{"AF-LLM-201", "nothing recorded", "", "", ErrorKind::not_found};
    }));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-LLM-201");
}

TEST(AgentLoop, a_text_run_takes_the_text_as_the_outcome) {
    World world;
    world.spec.run.text_answer = true;
    const auto backend = std::make_shared<FakeBackend>([](const CompletionRequest&) { return text_answer("title: yes\n"); });
    const auto outcome = world.run(backend);
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome.value().text, "title: yes\n");
    EXPECT_EQ(backend->requests.size(), 1U);
}

TEST(AgentLoop, a_text_run_offers_no_tools) {
    World world;
    world.spec.run.text_answer = true;
    const auto backend = std::make_shared<FakeBackend>([](const CompletionRequest&) { return text_answer("yes"); });
    ASSERT_TRUE(world.run(backend).ok());
    EXPECT_TRUE(backend->requests[0].tools.empty());
}

TEST(AgentLoop, stops_before_the_model_is_asked_when_cancelled) {
    World world;
    world.context.cancel = true;
    const auto backend = std::make_shared<FakeBackend>(scripted);
    const auto outcome = world.run(backend);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().kind, ErrorKind::cancelled);
    EXPECT_TRUE(backend->requests.empty());
}

TEST(AgentLoop, keeps_the_answer_but_takes_no_action_when_cancelled_meanwhile) {
    World world;
    const auto outcome = world.run(std::make_shared<FakeBackend>([&](const CompletionRequest& request) {
        world.context.cancel = true;
        return scripted(request);
    }));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-AGENT-014");
    EXPECT_EQ(std::pair(world.host.answers.size(), world.tool_calls), std::pair(std::size_t{1}, 0U));
}

TEST(AgentLoop, stops_after_the_tool_when_cancelled_meanwhile) {
    World world;
    world.host.on_step = [&](const StepRecord&) { world.context.cancel = true; };
    const auto outcome = world.run(std::make_shared<FakeBackend>(scripted));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-AGENT-014");
    EXPECT_EQ(world.host.records.size(), 1U);
}

TEST(AgentLoop, stops_at_the_deadline) {
    World world;
    world.context.until = std::chrono::steady_clock::now() - std::chrono::seconds(1);
    const auto outcome = world.run(std::make_shared<FakeBackend>(scripted));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().kind, ErrorKind::timeout);
}

TEST(AgentLoop, reads_the_text_protocol_if_the_backend_has_no_tool_calls) {
    World world;
    const auto backend = std::make_shared<FakeBackend>(
        [](const CompletionRequest&) {
            return text_answer("Done.\n\nACTION complete\n<<<artifact\nsummary: it works\n>>>artifact\nEND\n");
        },
        false);
    const auto outcome = world.run(backend);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_EQ(outcome.value().artifact.at("summary"), "it works");
}

TEST(AgentLoop, describes_the_text_protocol_only_if_needed) {
    World with;
    const auto native = std::make_shared<FakeBackend>(scripted, true);
    ASSERT_TRUE(with.run(native).ok());
    World without;
    const auto text = std::make_shared<FakeBackend>(scripted, false);
    ASSERT_TRUE(without.run(text).ok());
    EXPECT_EQ(native->requests[0].user.find("available_actions"), std::string::npos);
    EXPECT_NE(text->requests[0].user.find("available_actions"), std::string::npos);
}

TEST(AgentLoop, two_runs_of_one_script_have_equal_hashes_under_any_task_id) {
    World first;
    ASSERT_TRUE(first.run(std::make_shared<FakeBackend>(scripted)).ok());
    World second;
    second.spec.place.task_id = "task-20270304-add-a-slug-ffffffff";
    ASSERT_TRUE(second.run(std::make_shared<FakeBackend>(scripted)).ok());
    EXPECT_EQ(first.host.frame_hashes, second.host.frame_hashes);
    EXPECT_EQ(first.host.context_hashes, second.host.context_hashes);
}

TEST(AgentLoop, marks_the_stable_part_of_a_request_for_the_backend) {
    World world;
    const auto backend = std::make_shared<FakeBackend>(scripted);
    ASSERT_TRUE(world.run(backend).ok());
    ASSERT_GT(backend->requests.size(), 1U);
    const std::size_t end = backend->marks[0].at(0);
    for (std::size_t step = 0; step < backend->requests.size(); ++step) {
        ASSERT_FALSE(backend->marks[step].empty());
        EXPECT_EQ(backend->requests[step].user.substr(0, backend->marks[step][0]), backend->requests[0].user.substr(0, end));
    }
}

TEST(AgentLoop, cuts_an_error_to_500_characters) {
    World world;
    world.spec.run.max_steps = 1;
    FakeActions actions(usual_tools(), [](std::string_view, const json::object&) {
        return ToolResult::failed({"AF-TOOL-009", std::string(4000, 'x'), "", "", ErrorKind::invalid});
    });
    const auto client = client_of(std::make_shared<FakeBackend>(scripted));
    ASSERT_FALSE(run_steps(world.spec, actions, *client, world.host, world.context, world.events).ok());
    EXPECT_LE(world.host.records[0].error.size(), 500U);
}

}  // namespace
}  // namespace agentforge::kernel::testing
