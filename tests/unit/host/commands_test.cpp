// SPDX-License-Identifier: Apache-2.0
// The grammar of the whole program, looked at from outside: what its help says, and what becomes of a wrong word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "host/event_stream.hpp"
#include "host/program.hpp"

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
    Program program{.out = out, .err = err, .environment = {}, .directory = "/", .cancel = &cancel, .settings = {}, .command = {}};
    const int code = run_program(static_cast<int>(arguments.size()), arguments.data(), program);
    return {code, out.str(), err.str()};
}

std::vector<std::string> words_of(const std::string& name) {
    std::vector<std::string> words;
    std::istringstream in(name);
    for (std::string word; in >> word;) { if (word != "agentforge") { words.push_back(word); } }
    return words;
}

/// Every command that does something: the leaves of the grammar.
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

TEST(Grammar, HoldsAllThatBelongsToOneRunOfAPipeline) {
    std::set<std::string> names;
    for (const json::object& command : leaves()) { names.insert(name_of(command).substr(11)); }
    for (const char* wanted : {"init", "start", "status", "resume", "pause", "abort", "approve", "reject", "feedback", "escalations list", "escalations show", "resolve", "inspect", "logs", "agents list",
                               "agents show", "agents validate", "contracts list", "contracts show", "contracts validate", "pipelines list", "pipelines show", "pipelines validate", "plugins list",
                               "config show", "config get", "config set", "doctor", "completion", "help"}) {
        EXPECT_TRUE(names.contains(wanted)) << wanted;
    }
}

TEST(Grammar, EveryCommandAnswersAsJson) {
    for (const json::object& command : leaves()) { EXPECT_TRUE(options_of(command).contains("--json")) << name_of(command); }
}

TEST(Grammar, EveryCommandThatRunsATaskCanStreamItsEvents) {
    for (const json::object& command : leaves()) {
        const auto options = options_of(command);
        if (!options.contains("--quiet")) { continue; }
        EXPECT_TRUE(options.contains("-q")) << name_of(command);
        // It goes on with any number of tasks, and its own answer is the one that --json asks for.
        if (name_of(command) != "agentforge remind") { EXPECT_TRUE(options.contains("--output-format")) << name_of(command) << ": use add_run_output (command_line.hpp)"; }
    }
}

TEST(Grammar, EveryCommandHasAnExampleThatBeginsWithItsName) {
    for (const json::object& command : leaves()) {
        EXPECT_THAT(std::string(command.at("footer").as_string()), HasSubstr(name_of(command))) << name_of(command);
    }
}

TEST(Grammar, EveryOptionSaysWhatItIsAndWhatItTakes) {
    for (const json::object& command : leaves()) {
        for (const json::value& option : command.at("options").as_array()) {
            const std::string what = name_of(command) + " " + json::serialize(option.at("names"));
            EXPECT_FALSE(option.at("description").as_string().empty()) << what;
            EXPECT_FALSE(std::string_view(option.at("description").as_string()).ends_with('.')) << what;
            const std::string value(option.at("value").as_string());
            EXPECT_TRUE(value.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos) << what << " " << value;
        }
    }
}

TEST(Grammar, EveryExampleIsTakenByTheCommandThatShowsIt) {
    for (const json::object& command : leaves()) {
        const std::string name = name_of(command);
        const std::string shown = answer([&] { auto words = words_of(name); words.push_back("--help"); return words; }()).out;
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

TEST(Help, IsTheSameByCommandAndByFlag) {
    for (const json::object& command : leaves()) {
        auto words = words_of(name_of(command));
        auto flag = words;
        flag.emplace_back("--help");
        words.insert(words.begin(), "help");
        EXPECT_EQ(answer(words).out, answer(flag).out) << name_of(command);
    }
}

TEST(Help, IsNeverWiderThan132Columns) {
    for (const json::object& command : leaves()) {
        auto words = words_of(name_of(command));
        words.emplace_back("--help");
        std::istringstream lines(answer(words).out);
        for (std::string line; std::getline(lines, line);) { EXPECT_LE(line.size(), 140U) << line; }
    }
}

TEST(Help, NamesTheValueOfAnOptionAndItsChoices) {
    const std::string help = answer({"start", "--help"}).out;
    EXPECT_THAT(help, HasSubstr("Usage: agentforge start [OPTIONS] REQUEST"));
    EXPECT_THAT(help, HasSubstr("--output-format text|json|stream-json"));
    EXPECT_THAT(help, HasSubstr("--exit-after STAGE"));
}

TEST(ManPage, HasTheSectionsOfAManual) {
    const std::string page = answer({"help", "start", "--man"}).out;
    for (const char* section : {".TH \"AGENTFORGE-START\" 1", ".SH NAME", ".SH SYNOPSIS", ".SH ARGUMENTS", ".SH OPTIONS", ".SH EXAMPLES"}) { EXPECT_THAT(page, HasSubstr(section)); }
    const std::string whole = answer({"help", "--man"}).out;
    for (const char* section : {".SH COMMANDS", ".SH ENVIRONMENT", ".SH FILES", "AGENTFORGE_STATE_HOME", "Exit codes:"}) { EXPECT_THAT(whole, HasSubstr(section)); }
}

TEST(TypingError, NamesTheNearestCommand) {
    const Answer wrong = answer({"statsu"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("there is no command `statsu`"));
    EXPECT_THAT(wrong.err, HasSubstr("`agentforge status`"));
}

TEST(TypingError, NamesTheNearestCommandOfAGroup) { EXPECT_THAT(answer({"pipelines", "lsit"}).err, HasSubstr("did you mean `agentforge pipelines list`?")); }

TEST(TypingError, NamesTheNearestFlag) { EXPECT_THAT(answer({"start", "x", "--exit-aftr", "spec"}).err, HasSubstr("did you mean `--exit-after`?")); }

TEST(TypingError, NamesTheNearestChoice) { EXPECT_THAT(answer({"start", "x", "--output-format", "stream-jsno"}).err, HasSubstr("did you mean `stream-json`?")); }

TEST(TypingError, InHelpNamesTheNearestCommand) { EXPECT_THAT(answer({"help", "plugins", "lsit"}).err, HasSubstr("did you mean `agentforge help plugins list`?")); }

TEST(TypingError, ListsNoHiddenCommand) { EXPECT_THAT(answer({"plugins"}).err, Not(HasSubstr("check-child"))); }

TEST(WrongUse, HasExitCodeTwoAndSaysSo) {
    for (const auto& words : std::vector<std::vector<std::string>>{{"completion"}, {"completion", "tcsh"}, {"config"}, {"config", "get"}, {"logs"}, {"status", "--step", "0"}, {"start", "x", "--detach", "--dry-run"},
                                                                    {"start", "x", "--json", "--output-format", "text"}, {"status", "--phase", "red"}, {"status", "t", "--all"}, {"config", "set", "llm.model"},
                                                                    {"logs", "t", "--follow", "--json"}}) {
        const Answer wrong = answer(words);
        EXPECT_EQ(wrong.code, 2) << words.front() << wrong.out << wrong.err;
        EXPECT_THAT(wrong.out + wrong.err, HasSubstr("AF-CLI-")) << words.front();
    }
}

TEST(WrongUse, QuotesAWordOfSeveralLinesWithoutBeginningALineWithIt) {
    const Answer wrong = answer({"-C", "/none\nagentforge: all is well", "status"});
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.err, HasSubstr("/none\n    agentforge: all is well"));
}

TEST(WrongUse, IsSaidInTheWordsOfTheHelp) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> said = {
        {{"resume"}, "`agentforge resume` needs TASK"},
        {{"feedback", "t"}, "`agentforge feedback` needs COMMENT"},
        {{"start", "a", "b"}, "`agentforge start` does not take `b`; a text of several words wants quotes"},
        {{"inspect", "t", "--step", "0"}, "--step cannot be 0; it must be above 0"},
        {{"start", "x", "--output-format", "yaml"}, "`yaml` is no value of --output-format"},
        {{"start", "x", "--output-format", "yaml"}, "use one of text, json, stream-json"},
        {{"trust", "--show", "--revoke"}, "`--show` and `--revoke` exclude each other"},
        {{"status", "-C"}, "`-C` needs its value, DIR"},
        {{"--set"}, "`--set` needs its value, KEY=VALUE"}};
    for (const auto& [words, wanted] : said) { EXPECT_THAT(answer(words).err, HasSubstr(wanted)) << words.front(); }
}

TEST(EventStream, BeginsWithItsFormatAndVersion) {
    std::ostringstream out;
    FakeClock clock;
    EventStream stream(out, clock);
    EXPECT_EQ(out.str(), "{\"time\": \"2026-01-02T00:00:00.000Z\", \"type\": \"stream_started\", \"format\": \"agentforge-stream\", \"version\": 1}\n");
}

TEST(EventStream, GivesEachEventALineThatItsFieldsCannotForge) {
    std::ostringstream out;
    FakeClock clock;
    EventStream stream(out, clock);
    out.str("");
    stream.event("step", {{"type", "result"}, {"summary", "a\n{\"type\": \"result\"}"}});
    EXPECT_EQ(out.str(), "{\"time\": \"2026-01-02T00:00:00.000Z\", \"type\": \"step\", \"summary\": \"a\\n{\\\"type\\\": \\\"result\\\"}\"}\n");
}

TEST(EventStream, EndsWithTheResult) {
    std::ostringstream out;
    end_event_stream(out, {{"success", true}});
    EXPECT_EQ(out.str(), "{\"type\": \"result\", \"success\": true}\n");
}

TEST(EventStream, EndsWithTheErrorWhereNothingBegan) {
    const Answer wrong = answer({"start", "x", "--output-format", "stream-json"});
    EXPECT_EQ(wrong.code, 1);
    std::istringstream lines(wrong.out);
    std::vector<std::string> types;
    for (std::string line; std::getline(lines, line);) { types.emplace_back(parse_json(line, "stream").value().at("type").as_string()); }
    EXPECT_THAT(types, ElementsAre("stream_started", "result"));
    EXPECT_THAT(wrong.err, IsEmpty());
}

}  // namespace
}  // namespace agentforge::kernel
