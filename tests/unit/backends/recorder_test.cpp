// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/model_client.hpp"
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

TEST(Recorder, writes_the_position_and_the_answer) {
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

TEST(Recorder, keeps_special_characters_exactly) {
    Recording recording;
    const auto recorder = recording.recorder([](const CompletionRequest&) { return text_answer(awkward); });
    ASSERT_TRUE(recorder->complete(Recording::at(1), recording.context).ok());
    EXPECT_EQ(recording.entries().at(0).at("text"), json::value(awkward));
}

TEST(Recorder, writes_yaml_that_every_parser_reads) {
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

TEST(Recorder, continues_a_file_of_an_earlier_process) {
    Recording recording;
    const auto answer = [](const CompletionRequest&) { return text_answer(awkward); };
    ASSERT_TRUE(recording.recorder(answer)->complete(Recording::at(1), recording.context).ok());
    ASSERT_TRUE(recording.recorder(answer)->complete(Recording::at(2), recording.context).ok());
    EXPECT_EQ(recording.entries().size(), 2U);
}

TEST(Recorder, a_second_answer_at_a_position_replaces_the_first) {
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

TEST(Recorder, writes_the_same_bytes_whether_one_process_or_two_make_the_run) {
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

TEST(Recorder, refuses_to_overwrite_a_file_that_is_not_a_transcript) {
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

TEST(Recorder, reports_an_unwritable_file_before_calling_a_model) {
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

TEST(Recorder, keeps_failed_attempts_with_the_final_answer) {
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

TEST(Recorder, does_not_record_a_failed_call) {
    Recording recording;
    const auto recorder = recording.recorder([](const CompletionRequest&) -> Result<Completion> {
        return Error{"AF-LLM-903", "no", "", "", ErrorKind::denied};
    });
    ASSERT_FALSE(recorder->complete(Recording::at(1), recording.context).ok());
    EXPECT_FALSE(std::filesystem::exists(recording.file));
}

TEST(Recorder, keeps_everything_the_journal_keeps_of_an_answer) {
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

TEST(Recorder, records_an_unusable_answer) {
    Recording recording;
    const auto recorder = recording.recorder([](const CompletionRequest&) { return text_answer(" "); });
    ASSERT_FALSE(recorder->complete(Recording::at(1), recording.context).ok());
    EXPECT_EQ(recording.entries().at(0).at("error").at("code"), "AF-LLM-102");
}

TEST(Recorder, two_clients_share_one_recording) {
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

TEST(Recorder, names_roles_whose_tools_are_in_the_prompt) {
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
