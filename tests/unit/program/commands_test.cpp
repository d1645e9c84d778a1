// SPDX-License-Identifier: Apache-2.0
// The grammar of the whole program, tested from outside: the text of its help, and the handling of a wrong word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "program/log/event_stream.hpp"
#include "program/program.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Answer {
    int code = 0;
    std::string out;
    std::string err;
};

Answer answer(std::vector<std::string> words) {
    words.insert(words.begin(), "agentforge");
    std::vector<const char*> arguments;
    for (const std::string& word : words) { arguments.push_back(word.c_str()); }
    std::ostringstream out;
    std::ostringstream err;
    CancelToken cancel;
    Program program{
        .out = out, .err = err, .environment = {}, .directory = "/", .cancel = &cancel, .settings = {}, .command = {}};
    const int code = run_program(static_cast<int>(arguments.size()), arguments.data(), program);
    return {code, out.str(), err.str()};
}

std::vector<std::string> words_of(const std::string& name) {
    std::vector<std::string> words;
    std::istringstream in(name);
    for (std::string word; in >> word;) {
        if (word != "agentforge") { words.push_back(word); }
    }
    return words;
}

/// Returns every command that does something: the leaves of the grammar.
const std::vector<json::object>& leaves() {
    static const std::vector<json::object> all = [] {
        std::vector<json::object> found;
        std::vector<json::object> todo{parse_json(answer({"help", "--json"}).out, "help").value().as_object()};
        while (!todo.empty()) {
            const json::object command = todo.back();
            todo.pop_back();
            if (command.at("commands").as_array().empty()) { found.push_back(command); }
            for (const json::value& each : command.at("commands").as_array()) { todo.push_back(each.as_object()); }
        }
        return found;
    }();
    return all;
}

std::string name_of(const json::object& command) { return std::string(command.at("name").as_string()); }

std::set<std::string> options_of(const json::object& command) {
    std::set<std::string> names;
    for (const json::value& option : command.at("options").as_array()) {
        for (const json::value& name : option.at("names").as_array()) { names.insert(std::string(name.as_string())); }
    }
    return names;
}

TEST(Grammar, has_every_command_for_running_a_pipeline) {
    std::set<std::string> names;
    for (const json::object& command : leaves()) { names.insert(name_of(command).substr(11)); }
    for (const char* wanted : {"init",
                               "start",
                               "status",
                               "resume",
                               "pause",
                               "abort",
                               "approve",
                               "reject",
                               "feedback",
                               "escalations list",
                               "escalations show",
                               "resolve",
                               "inspect",
                               "logs",
                               "agents list",
                               "agents show",
                               "agents validate",
                               "contracts list",
                               "contracts show",
                               "contracts validate",
                               "pipelines list",
                               "pipelines show",
                               "pipelines validate",
                               "plugins list",
                               "config show",
                               "config get",
                               "config set",
                               "doctor",
                               "completion",
                               "help"}) {
        EXPECT_TRUE(names.contains(wanted)) << wanted;
    }
}

TEST(Grammar, every_command_has_json_output) {
    for (const json::object& command : leaves()) { EXPECT_TRUE(options_of(command).contains("--json")) << name_of(command); }
}

TEST(Grammar, every_command_that_runs_a_task_can_stream_its_events) {
    for (const json::object& command : leaves()) {
        const auto options = options_of(command);
        if (!options.contains("--quiet")) { continue; }
        EXPECT_TRUE(options.contains("-q")) << name_of(command);
        // They continue any number of tasks, and --json returns their own answer.
        if (name_of(command) != "agentforge remind" && name_of(command) != "agentforge run") {
            EXPECT_TRUE(options.contains("--output-format")) << name_of(command) << ": use add_run_output (command_line.hpp)";
        }
    }
}

TEST(Grammar, every_command_has_an_example_that_begins_with_its_name) {
    for (const json::object& command : leaves()) {
        EXPECT_THAT(std::string(command.at("footer").as_string()), HasSubstr(name_of(command))) << name_of(command);
    }
}

TEST(Grammar, every_group_has_an_example_of_its_commands) {
    std::set<std::string> groups;
    for (const json::object& command : leaves()) {
        const auto words = words_of(name_of(command));
        if (words.size() > 1) { groups.insert(words.front()); }
    }
    for (const std::string& group : groups) {
        EXPECT_THAT(answer({group, "--help"}).out, HasSubstr("Examples:\n  agentforge " + group + " ")) << group;
    }
}

TEST(Grammar, every_option_has_a_description_and_a_value_name) {
    for (const json::object& command : leaves()) {
        for (const json::value& option : command.at("options").as_array()) {
            const std::string what = name_of(command) + " " + json::serialize(option.at("names"));
            EXPECT_FALSE(option.at("description").as_string().empty()) << what;
            EXPECT_FALSE(std::string_view(option.at("description").as_string()).ends_with('.')) << what;
            const std::string value(option.at("value").as_string());
            EXPECT_TRUE(value.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos) << what << " " << value;
            // The placeholder is shown, and tells the completions what to offer. The parser's default does neither.
            EXPECT_FALSE(option.at("positional").as_bool() && value == "TEXT") << what << ": say what stands there (type_name)";
        }
    }
}

TEST(Grammar, every_example_is_accepted_by_its_command) {
    for (const json::object& command : leaves()) {
        const std::string name = name_of(command);
        const std::string shown = answer([&] {
                                      auto words = words_of(name);
                                      words.push_back("--help");
                                      return words;
                                  }())
                                      .out;
        std::istringstream lines(std::string(command.at("footer").as_string()));
        for (std::string line; std::getline(lines, line);) {
            if (line.find(name) == std::string::npos) { continue; }
            std::istringstream in(line.substr(line.find(name)));
            for (std::string word; in >> word && word != "|" && word != ">";) {
                if (!word.starts_with("--")) { continue; }
                EXPECT_THAT(shown + answer({"--help"}).out, HasSubstr(word.substr(0, word.find('=')))) << line;
            }
        }
    }
}

TEST(Help, is_the_same_by_command_and_by_flag) {
    for (const json::object& command : leaves()) {
        auto words = words_of(name_of(command));
        auto flag = words;
        flag.emplace_back("--help");
        words.insert(words.begin(), "help");
        EXPECT_EQ(answer(words).out, answer(flag).out) << name_of(command);
    }
}

TEST(Help, is_never_wider_than_132_columns) {
    for (const json::object& command : leaves()) {
        auto words = words_of(name_of(command));
        words.emplace_back("--help");
        std::istringstream lines(answer(words).out);
        for (std::string line; std::getline(lines, line);) { EXPECT_LE(line.size(), 140U) << line; }
    }
}

TEST(Help, names_the_value_of_an_option_and_its_choices) {
    const std::string help = answer({"start", "--help"}).out;
    EXPECT_THAT(help, HasSubstr("Usage: agentforge start [OPTIONS] REQUEST"));
    EXPECT_THAT(help, HasSubstr("--output-format text|json|stream-json"));
    EXPECT_THAT(help, HasSubstr("--exit-after STAGE"));
}

TEST(Help, without_a_command_explains_the_whole_program) { EXPECT_EQ(answer({"help"}).out, answer({"--help"}).out); }

TEST(ManPage, has_the_sections_of_a_manual) {
    const std::string page = answer({"help", "start", "--man"}).out;
    for (const char* section :
         {".TH \"AGENTFORGE-START\" 1", ".SH NAME", ".SH SYNOPSIS", ".SH ARGUMENTS", ".SH OPTIONS", ".SH EXAMPLES"}) {
        EXPECT_THAT(page, HasSubstr(section));
    }
    const std::string whole = answer({"help", "--man"}).out;
    for (const char* section : {".SH COMMANDS", ".SH ENVIRONMENT", ".SH FILES", "AGENTFORGE_STATE_HOME", "Exit codes:"}) {
        EXPECT_THAT(whole, HasSubstr(section));
    }
}

TEST(ManPage, names_arguments_as_in_the_synopsis) {
    const std::string page = answer({"help", "feedback", "--man"}).out;
    EXPECT_THAT(page, HasSubstr(" [TASK] [COMMENT]\n"));
    EXPECT_THAT(page, HasSubstr(".TP\n\\fITASK\\fR\n"));
    EXPECT_THAT(page, HasSubstr(".TP\n\\fICOMMENT\\fR\n"));
}

TEST(Completion, offers_what_a_command_takes) {
    const std::string script = answer({"completion", "bash"}).out;
    for (const char* entry :
         {"'diff 1') echo 'tasks'", "'apply 1') echo 'tasks'", "'rebase 1') echo 'tasks'", "'archive restore '*) echo 'archived'",
          "'resolve 1') echo 'escalations'", "'escalations show 1') echo 'waiting'",
          "'plugins new 1') echo 'words:stage,tool,llm,escalation'", "'start --deliver') echo 'words:commit,branch,files,pr'",
          "'config set 2') echo 'values'", "'help plugins') printf "}) {
        EXPECT_THAT(script, HasSubstr(entry));
    }
}

TEST(Completion, needs_the_name_of_the_shell) {
    EXPECT_THAT(answer({"completion"}).err, HasSubstr("`agentforge completion` needs SHELL"));
}

TEST(CommandLineTypingError, names_the_nearest_command) {
    const Answer wrong = answer({"statsu"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("there is no command `statsu`"));
    EXPECT_THAT(wrong.err, HasSubstr("`agentforge status`"));
}

TEST(CommandLineTypingError, names_the_nearest_command_of_a_group) {
    EXPECT_THAT(answer({"pipelines", "lsit"}).err, HasSubstr("did you mean `agentforge pipelines list`?"));
}

TEST(CommandLineTypingError, names_the_nearest_flag) {
    EXPECT_THAT(answer({"start", "x", "--exit-aftr", "spec"}).err, HasSubstr("did you mean `--exit-after`?"));
}

TEST(CommandLineTypingError, names_the_nearest_choice) {
    EXPECT_THAT(answer({"start", "x", "--output-format", "stream-jsno"}).err, HasSubstr("did you mean `stream-json`?"));
}

TEST(CommandLineTypingError, names_the_nearest_status_of_a_task) {
    const Answer wrong = answer({"status", "--state", "runing"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("AF-CLI-001: `runing` is not a value of --state\n  did you mean `running`?"));
    for (auto status = static_cast<unsigned char>(TaskStatus::pending); status <= static_cast<unsigned char>(TaskStatus::aborted);
         ++status) {
        EXPECT_THAT(answer({"status", "--help"}).out, HasSubstr(std::string(to_string(static_cast<TaskStatus>(status)))));
    }
}

TEST(CommandLineTypingError, suggests_no_unrelated_command) {
    for (const char* other : {"replay", "stop", "test", "list", "review"}) {
        EXPECT_THAT(answer({other}).err, Not(HasSubstr("did you mean"))) << other;
    }
}

TEST(CommandLineTypingError, in_help_names_the_nearest_command) {
    EXPECT_THAT(answer({"help", "plugins", "lsit"}).err, HasSubstr("did you mean `agentforge plugins list`?"));
}

TEST(CommandLineTypingError, lists_no_hidden_command) { EXPECT_THAT(answer({"plugins"}).err, Not(HasSubstr("check-child"))); }

TEST(CommandLineWrongUse, has_exit_code_two) {
    for (const auto& words : std::vector<std::vector<std::string>>{{"completion"},
                                                                   {"completion", "tcsh"},
                                                                   {"config"},
                                                                   {"config", "get"},
                                                                   {"run"},
                                                                   {"status", "--step", "0"},
                                                                   {"start", "x", "--detach", "--dry-run"},
                                                                   {"start", "x", "--json", "--output-format", "text"},
                                                                   {"status", "--phase", "red"},
                                                                   {"status", "t", "--all"},
                                                                   {"config", "set", "llm.model"},
                                                                   {"logs", "t", "--follow", "--json"}}) {
        const Answer wrong = answer(words);
        EXPECT_EQ(wrong.code, 2) << words.front() << wrong.out << wrong.err;
        EXPECT_THAT(wrong.out + wrong.err, HasSubstr("AF-CLI-")) << words.front();
    }
}

TEST(CommandLineWrongUse, of_a_setting_is_reported_even_by_commands_that_read_none) {
    for (const auto& words : std::vector<std::vector<std::string>>{{"status"},
                                                                   {"inspect", "x"},
                                                                   {"cost", "x"},
                                                                   {"logs", "x"},
                                                                   {"diff", "x"},
                                                                   {"agents", "list"},
                                                                   {"pipelines", "list"},
                                                                   {"escalations", "list"}}) {
        auto unknown = words;
        unknown.insert(unknown.end(), {"--set", "llm.bakend=x"});
        EXPECT_THAT(answer(unknown).err, HasSubstr("AF-CONF-020")) << words.front();
        EXPECT_EQ(answer(unknown).code, 1) << words.front();
        auto wrong = words;
        wrong.insert(wrong.end(), {"--set", "log.level=bogus"});
        EXPECT_THAT(answer(wrong).err, HasSubstr("AF-CONF-021")) << words.front();
    }
    EXPECT_THAT(answer({"status", "--set", "log.level=debug"}).err, Not(HasSubstr("AF-CONF")));
}

TEST(CommandLineWrongUse, quotes_a_multiline_word_without_starting_a_line_with_it) {
    const Answer wrong = answer({"-C", "/none\nagentforge: all is well", "status"});
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.err, HasSubstr("/none agentforge: all is well"));
    EXPECT_THAT(wrong.err, Not(HasSubstr("\nagentforge:")));
}

TEST(CommandLineWrongUse, uses_the_words_of_the_help) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> said = {
        {{"run"}, "`agentforge run` needs FILE"},
        {{"start", "a", "b"}, "`agentforge start` does not take `b`; put several words in quotes"},
        {{"run", "requests.txt", "nope"}, "`agentforge run` does not take `nope`; it takes one FILE\n"},
        {{"inspect", "t", "--step", "0"}, "--step cannot be 0; it must be above 0"},
        {{"start", "x", "--output-format", "yaml"}, "`yaml` is not a value of --output-format"},
        {{"start", "x", "--output-format", "yaml"}, "use one of text, json, stream-json"},
        {{"trust", "--show", "--revoke"}, "`--show` and `--revoke` cannot be used together"},
        {{"status", "-C"}, "`-C` needs its value, DIR"},
        {{"--set"}, "`--set` needs its value, KEY=VALUE"}};
    for (const auto& [words, wanted] : said) { EXPECT_THAT(answer(words).err, HasSubstr(wanted)) << words.front(); }
}

TEST(CommandLineEmptyValue, is_a_usage_error_instead_of_a_missing_option) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> said = {
        {{"reject", "t", "--feedback", ""}, "the value of --feedback is empty"},
        {{"feedback", "t", "  "}, "COMMENT is empty"},
        {{"resolve", "ESC-1", " \t"}, "ANSWER is empty"},
        {{"start", "x", "--exit-after", ""}, "the value of --exit-after is empty"},
        {{"start", "x", "--exit-after=", "--dry-run"}, "the value of --exit-after is empty"},
        {{"start", "x", "--approve", "spec", "--approve", ""}, "the value of --approve is empty"},
        {{"status", ""}, "TASK is empty"},
        {{"status", "t", "--phase", ""}, "the value of --phase is empty"},
        {{"config", "show", ""}, "KEY is empty"},
        {{"logs", "t", "--tail", ""}, "the value of --tail is empty"},
        {{"-C", "", "status"}, "the value of -C is empty"}};
    for (const auto& [words, wanted] : said) {
        const Answer wrong = answer(words);
        EXPECT_EQ(wrong.code, 2) << wanted;
        EXPECT_THAT(wrong.err, HasSubstr("AF-CLI-001: " + wanted)) << words.front();
    }
}

TEST(CommandLineEmptyValue, is_refused_by_every_command_in_any_position) {
    for (const json::object& command : leaves()) {
        for (const json::value& each : command.at("options").as_array()) {
            const json::object& option = each.as_object();
            if (option.at("value").as_string().empty() ||
                (name_of(command) == "agentforge start" && option.at("positional").as_bool())) {
                continue;
            }
            auto words = words_of(name_of(command));
            if (!option.at("positional").as_bool()) { words.emplace_back(option.at("names").as_array().front().as_string()); }
            words.emplace_back();
            EXPECT_THAT(answer(words).err, HasSubstr("is empty"))
                << name_of(command) << " " << json::serialize(option.at("names"));
        }
    }
}

TEST(CommandLineWrongUse, names_the_unknown_option_before_missing_arguments) {
    EXPECT_THAT(answer({"start", "--suprvised"}).err,
                HasSubstr("`agentforge start` has no option `--suprvised`\n  did you mean `--supervised`?"));
    EXPECT_THAT(answer({"status", "-j"}).err, HasSubstr("`agentforge status` has no option `-j`"));
    EXPECT_THAT(answer({"start", "--reason is missing"}).err,
                HasSubstr("put an argument that begins with `-` after `--`: agentforge start -- "));
    EXPECT_THAT(answer({"abort", "--reason", "-x is wrong", "--nosuch"}).err, HasSubstr("no option `--nosuch`"));
}

TEST(CommandLineWrongUse, explains_a_misplaced_option) {
    EXPECT_THAT(answer({"start", "--", "--foo", "--dry-run"}).err,
                HasSubstr("`--dry-run` is after `--`, where everything is text"));
    EXPECT_THAT(answer({"--detail", "status"}).err,
                HasSubstr("`--detail` is before its command\n  put it after the command: agentforge status --detail"));
    EXPECT_THAT(answer({"doctor", "x"}).err, HasSubstr("`agentforge doctor` does not take `x`\n"));
    EXPECT_THAT(answer({"start", "x", "--pipeline", "a", "--pipeline", "b"}).err,
                HasSubstr("`--pipeline` may be given only once"));
}

TEST(CommandLineWrongUse, of_no_command_is_reported) {
    for (const auto& words : std::vector<std::vector<std::string>>{{"--trust"}, {"-C", "status"}, {"--", "status"}}) {
        const Answer wrong = answer(words);
        EXPECT_EQ(wrong.code, 2);
        EXPECT_THAT(wrong.err, HasSubstr("AF-CLI-001: no command is given")) << words.front();
        EXPECT_THAT(wrong.out, IsEmpty()) << words.front();
    }
    EXPECT_THAT(answer({"-C", "status"}).err, HasSubstr("`status` was read as the folder of -C"));
    EXPECT_THAT(answer({}).out, HasSubstr("Usage: agentforge"));
}

TEST(CommandLineWrongUse, is_json_if_json_was_requested) {
    for (const auto& words : std::vector<std::vector<std::string>>{{"strat", "--json"},
                                                                   {"start", "--nosuch", "--output-format", "json"},
                                                                   {"start", "--nosuch", "--output-format=json"},
                                                                   {"--json", "status"}}) {
        const Answer wrong = answer(words);
        EXPECT_EQ(parse_json(wrong.out, "answer").value().at("error").at("code"), "AF-CLI-001") << words.front();
        EXPECT_THAT(wrong.err, IsEmpty()) << words.front();
    }
}

TEST(CommandLineWrongUse, refuses_a_transcript_together_with_a_backend) {
    for (const auto& words : std::vector<std::vector<std::string>>{{"start", "x", "--backend", "openai", "--transcript", "t"},
                                                                   {"start", "x", "--transcript", "t", "--backend", "openai"}}) {
        EXPECT_THAT(answer(words).err, HasSubstr("`--backend` and `--transcript` cannot be used together"));
    }
}

TEST(EventStream, begins_with_its_format_and_version) {
    std::ostringstream out;
    FakeClock clock;
    EventStream stream(out, clock);
    EXPECT_EQ(
        out.str(),
        "{\"time\": \"2026-01-02T00:00:00.000Z\", \"type\": \"stream_started\", \"format\": \"agentforge-stream\", \"version\": 1}\n");
}

TEST(EventStream, writes_each_event_as_one_line_that_fields_cannot_forge) {
    std::ostringstream out;
    FakeClock clock;
    EventStream stream(out, clock);
    out.str("");
    stream.event(event::Message{"red", "a\n{\"type\": \"result\"}"});
    EXPECT_EQ(
        out.str(),
        "{\"time\": \"2026-01-02T00:00:00.000Z\", \"type\": \"message\", \"stage\": \"red\", \"text\": \"a\\n{\\\"type\\\": \\\"result\\\"}\"}\n");
}

TEST(EventStream, ends_with_the_result) {
    std::ostringstream out;
    end_event_stream(out, {{"success", true}});
    EXPECT_EQ(out.str(), "{\"type\": \"result\", \"success\": true}\n");
}

TEST(EventStream, ends_with_the_error_if_nothing_started) {
    const Answer wrong = answer({"start", "x", "--output-format", "stream-json"});
    EXPECT_EQ(wrong.code, 1);
    std::istringstream lines(wrong.out);
    std::vector<std::string> types;
    for (std::string line; std::getline(lines, line);) {
        types.emplace_back(parse_json(line, "stream").value().at("type").as_string());
    }
    EXPECT_THAT(types, ElementsAre("stream_started", "result"));
    EXPECT_THAT(wrong.err, IsEmpty());
}

}  // namespace
}  // namespace agentforge::kernel
