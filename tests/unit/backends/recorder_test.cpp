// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/client.hpp"
#include "base/files.hpp"
#include "base/yaml.hpp"
#include "unit/backends/fakes.hpp"

namespace agentforge::kernel::testing {
namespace {

struct Recording {
    TemporaryDirectory folder{"recorder"};
    std::string file = (folder.path() / "transcript.yaml").string();
    FakeContext context;

    std::unique_ptr<ModelClient> recorder(FakeBackend::Answer answer) {
        return make_recorder(
            make_model_client(std::make_shared<FakeBackend>(std::move(answer)), {}, [](std::chrono::milliseconds) {}),
            make_recording(file));
    }
    static CompletionRequest at(unsigned step, std::string stage = "green") {
        CompletionRequest request;
        request.system = "system";
        request.user = "context of step " + std::to_string(step);
        request.place = {"task-1", std::move(stage), "software_developer", 1, 1, step};
        return request;
    }
    json::array entries() {
        const auto document = load_yaml(file);
        EXPECT_TRUE(document.ok()) << document.error().to_string();
        return document.value().value.at("entries").as_array();
    }
};

const std::string awkward = "yes\n  no: - #\n\ttab \"q\" \\ \x01 é 🙂\n\n---\n";

TEST(Recorder, writes_the_place_and_the_answer) {
    Recording recording;
    const auto recorder = recording.recorder([](const CompletionRequest&) {
        return tool_answer("read_file", {{"path", "a.py"}});
    });
    ASSERT_TRUE(recorder->complete(Recording::at(1), recording.context).ok());
    const json::object entry = recording.entries().at(0).as_object();
    EXPECT_EQ(entry.at("stage"), "green");
    EXPECT_EQ(entry.at("tool_calls").at(0).at("arguments").at("path"), "a.py");
    EXPECT_EQ(entry.at("frame_hash").as_string().size(), 64U);
}

TEST(Recorder, is_valid_after_every_answer) {
    Recording recording;
    const auto recorder = recording.recorder([](const CompletionRequest&) { return text_answer(awkward); });
    for (unsigned step = 1; step <= 5; ++step) {
        ASSERT_TRUE(recorder->complete(Recording::at(step), recording.context).ok());
        ASSERT_EQ(recording.entries().size(), step);
    }
}

TEST(Recorder, keeps_awkward_text_exactly) {
    Recording recording;
    const auto recorder = recording.recorder([](const CompletionRequest&) { return text_answer(awkward); });
    ASSERT_TRUE(recorder->complete(Recording::at(1), recording.context).ok());
    EXPECT_EQ(recording.entries().at(0).at("text"), json::value(awkward));
}

TEST(Recorder, writes_what_every_yaml_reader_reads) {
    Recording recording;
    const auto recorder = recording.recorder([](const CompletionRequest&) {
        Completion answer = tool_answer("complete", {{"confidence", 0.9}, {"version", "1.0"}, {"yes", "no"}, {"octal", "012"}});
        answer.text = awkward;
        return answer;
    });
    ASSERT_TRUE(recorder->complete(Recording::at(1), recording.context).ok());
    const std::string command =
        "/usr/bin/python3 -c \"import yaml,sys; d=yaml.safe_load(open('" + recording.file +
        "',encoding='utf-8')); e=d['entries'][0]; a=e['tool_calls'][0]['arguments'];"
        " assert d['agentforge_transcript']==1; assert a=={'confidence':0.9,'version':'1.0','yes':'no','octal':'012'},a;"
        " assert e['text'].startswith('yes\\\\n  no: - #'), e\"";
    EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(Recorder, goes_on_in_a_file_of_an_earlier_process) {
    Recording recording;
    const auto answer = [](const CompletionRequest&) { return text_answer(awkward); };
    ASSERT_TRUE(recording.recorder(answer)->complete(Recording::at(1), recording.context).ok());
    ASSERT_TRUE(recording.recorder(answer)->complete(Recording::at(2), recording.context).ok());
    EXPECT_EQ(recording.entries().size(), 2U);
}

TEST(Recorder, a_second_answer_to_one_place_takes_the_place_of_the_first) {
    Recording recording;
    ASSERT_TRUE(recording.recorder([](const CompletionRequest&) { return text_answer("first"); })
                    ->complete(Recording::at(1), recording.context)
                    .ok());
    ASSERT_TRUE(recording.recorder([](const CompletionRequest&) { return text_answer("second"); })
                    ->complete(Recording::at(1), recording.context)
                    .ok());
    EXPECT_EQ(recording.entries().size(), 1U);
    EXPECT_EQ(recording.entries().at(0).at("text"), "second");
}

TEST(Recorder, gives_the_same_bytes_for_the_same_run_in_two_processes_as_in_one) {
    Recording one;
    Recording two;
    const auto answer = [](const CompletionRequest&) { return text_answer(awkward); };
    const auto recorder = one.recorder(answer);
    for (unsigned step = 1; step <= 2; ++step) {
        ASSERT_TRUE(recorder->complete(Recording::at(step), one.context).ok());
        ASSERT_TRUE(two.recorder(answer)->complete(Recording::at(step), two.context).ok());
    }
    EXPECT_EQ(read_file(one.file).value(), read_file(two.file).value());
}

TEST(Recorder, refuses_to_overwrite_a_file_that_is_no_transcript) {
    Recording recording;
    ASSERT_TRUE(write_file_atomic(recording.file, "notes: mine\n", Durability::cached).ok());
    const auto answer = recording.recorder([](const CompletionRequest&) { return text_answer("x"); })
                            ->complete(Recording::at(1), recording.context);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-111");
    EXPECT_EQ(read_file(recording.file).value(), "notes: mine\n");
}

TEST(Recorder, says_when_it_cannot_write) {
    Recording recording;
    recording.file = "/proc/nowhere/transcript.yaml";
    const auto answer = recording.recorder([](const CompletionRequest&) { return text_answer("x"); })
                            ->complete(Recording::at(1), recording.context);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-110");
}

TEST(Recorder, says_that_it_cannot_write_before_a_model_is_asked) {
    Recording recording;
    unsigned calls = 0;
    const auto nowhere = make_recording((recording.folder.path() / "nowhere" / "transcript.yaml").string());
    EXPECT_EQ(open_recording(*nowhere).error().code, "AF-LLM-110");
    const auto recorder = make_recorder(make_model_client(std::make_shared<FakeBackend>([&calls](const CompletionRequest&) {
                                                              ++calls;
                                                              return text_answer("x");
                                                          }),
                                                          {}, [](std::chrono::milliseconds) {}),
                                        nowhere);
    EXPECT_EQ(recorder->complete(Recording::at(1), recording.context).error().code, "AF-LLM-110");
    EXPECT_EQ(calls, 0U);
    EXPECT_TRUE(open_recording(*make_recording(recording.file)).ok());
    EXPECT_FALSE(std::filesystem::exists(recording.file));
}

TEST(Recorder, keeps_the_attempts_that_failed_with_the_answer_they_led_to) {
    Recording recording;
    unsigned calls = 0;
    const auto recorder = recording.recorder([&calls](const CompletionRequest&) -> Result<Completion> {
        if (++calls < 3) { return Error{"AF-LLM-409", "busy " + std::to_string(calls), "the server", "", ErrorKind::transient}; }
        return text_answer("x");
    });
    ASSERT_TRUE(recorder->complete(Recording::at(1), recording.context).ok());
    const json::array attempts = recording.entries().at(0).at("failed_attempts").as_array();
    ASSERT_EQ(attempts.size(), 2U);
    EXPECT_EQ(attempts.at(1).at("message"), "busy 2");
}

TEST(Recorder, records_no_failure) {
    Recording recording;
    const auto recorder = recording.recorder([](const CompletionRequest&) -> Result<Completion> {
        return Error{"AF-LLM-903", "no", "", "", ErrorKind::denied};
    });
    ASSERT_FALSE(recorder->complete(Recording::at(1), recording.context).ok());
    EXPECT_FALSE(std::filesystem::exists(recording.file));
}

TEST(Recorder, keeps_all_that_the_journal_keeps_of_an_answer) {
    Recording recording;
    const auto recorder = recording.recorder([](const CompletionRequest&) {
        Completion answer = text_answer("cut");
        answer.stop_reason = StopReason::length;
        answer.usage.cached_input_tokens = 7;
        answer.usage.cost_microusd = 12;
        answer.model = "big";
        answer.session_id = "s-1";
        answer.diagnostics = {{"request_id", "r-1"}};
        return answer;
    });
    ASSERT_TRUE(recorder->complete(Recording::at(1), recording.context).ok());
    const json::object entry = recording.entries().at(0).as_object();
    EXPECT_EQ(entry.at("stop_reason"), "length");
    EXPECT_EQ(entry.at("usage"),
              (json::value{{"input_tokens", 100}, {"output_tokens", 10}, {"cached_input_tokens", 7}, {"cost_microusd", 12}}));
    EXPECT_EQ(entry.at("model"), "big");
    EXPECT_EQ(entry.at("session_id"), "s-1");
    EXPECT_EQ(entry.at("diagnostics"), (json::value{{"request_id", "r-1"}}));
}

TEST(Recorder, records_an_answer_that_could_not_be_used) {
    Recording recording;
    const auto recorder = recording.recorder([](const CompletionRequest&) { return text_answer(" "); });
    ASSERT_FALSE(recorder->complete(Recording::at(1), recording.context).ok());
    EXPECT_EQ(recording.entries().at(0).at("error").at("code"), "AF-LLM-102");
}

TEST(Recorder, two_clients_write_into_one_recording) {
    Recording recording;
    const auto shared = make_recording(recording.file);
    const auto client = [&shared](std::string text, bool native) {
        const auto backend =
            std::make_shared<FakeBackend>([text](const CompletionRequest&) { return text_answer(text); }, native);
        return make_recorder(make_model_client(backend, {}, [](std::chrono::milliseconds) {}), shared);
    };
    ASSERT_TRUE(client("one", true)->complete(Recording::at(1), recording.context).ok());
    ASSERT_TRUE(client("two", false)->complete(Recording::at(1, "red"), recording.context).ok());
    EXPECT_EQ(recording.entries().size(), 2U);
}

TEST(Recorder, names_the_roles_that_were_shown_their_tools_in_the_prompt) {
    Recording recording;
    const auto backend = std::make_shared<FakeBackend>([](const CompletionRequest&) { return text_answer("yes"); }, false);
    for (unsigned process = 1; process <= 2; ++process) {  // The second process takes over the first one's recording.
        const auto recorder =
            make_recorder(make_model_client(backend, {}, [](std::chrono::milliseconds) {}), make_recording(recording.file));
        ASSERT_TRUE(recorder->complete(Recording::at(process), recording.context).ok());
    }
    EXPECT_EQ(load_yaml(recording.file).value().value.at("text_protocol"), (json::value{"software_developer"}));
}

}  // namespace
}  // namespace agentforge::kernel::testing
