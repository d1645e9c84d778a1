// SPDX-License-Identifier: Apache-2.0
// Usage errors are made from the type of the parser's exception, from the options and from the words. The parser's own messages
// are never read: each problem is described the same if the parser words it otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "program/command_line.hpp"
#include "program/usage_problem.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* other_words = "Das geht so nicht";

/// A command line with an option, flag or argument of each kind.
struct SmallProgram {
    CLI::App app{"", "small"};
    std::string folder;
    std::string format;
    std::string file;
    std::uint64_t count = 0;
    double seconds = 0;
    std::vector<std::string> names;
    bool json = false;
    bool quiet = false;
    bool all = false;

    SmallProgram() {
        app.require_subcommand(0, 1);
        app.fallthrough();
        add_option(app, "-C", folder, "")->type_name("DIR");
        const Command copy = add_subcommand(app, "copy", "");
        add_option(*copy, "file", file, "")->type_name("FILE")->required();
        const Option json_flag = add_flag(*copy, "--json", json);
        const Option quiet_flag = add_flag(*copy, "--quiet,-q", quiet);
        quiet_flag->excludes(json_flag);
        add_flag(*copy, "--all", all)->needs("--json");
        add_option(*copy, "--format", format, "")->one_of({"text", "yaml"});
        add_option(*copy, "--count", count, "")->type_name("N");
        add_option(*copy, "--seconds", seconds, "")->type_name("SECONDS")->between(0.05, 1000);
        add_option(*copy, "--name", names, "")->type_name("NAME")->repeatable();
        const Command group = add_subcommand(app, "group", "");
        group->require_subcommand();
        add_subcommand(*group, "list", "");
    }
};

/// Returns an exception of the same type with another message. Null: this type is not the parser's.
template <class... Kinds>
std::unique_ptr<CLI::ParseError> in_other_words(const CLI::ParseError& problem) {
    std::unique_ptr<CLI::ParseError> changed;
    const auto change = [&]<class Kind>(const Kind* same) {
        if (same != nullptr) { changed = std::make_unique<Kind>(other_words, CLI::ExitCodes::BaseClass); }
    };
    (change(dynamic_cast<const Kinds*>(&problem)), ...);
    return changed;
}

struct Said {
    std::string text;              ///< The usage error.
    std::string text_if_reworded;  ///< The same with another message of the parser.
};

Said said_of(const std::vector<std::string>& words) {
    SmallProgram program;
    std::vector<const char*> arguments{"small"};
    for (const std::string& word : words) { arguments.push_back(word.c_str()); }
    try {
        program.app.parse(static_cast<int>(arguments.size()), arguments.data());
    } catch (const WrongValue& problem) {
        const std::string text = usage_problem(program.app, problem, words).to_string();
        return {text, text};
    } catch (const CLI::ParseError& problem) {
        const auto changed = in_other_words<CLI::RequiredError, CLI::RequiresError, CLI::ExcludesError, CLI::ExtrasError,
                                            CLI::ArgumentMismatch, CLI::ConversionError, CLI::ValidationError>(problem);
        return {usage_problem(program.app, problem, words).to_string(),
                changed == nullptr ? "" : usage_problem(program.app, *changed, words).to_string()};
    }
    return {};
}

struct WrongLine {
    const char* name;
    std::vector<std::string> words;
    const char* said;
};

class UsageProblem : public ::testing::TestWithParam<WrongLine> {};

TEST_P(UsageProblem, is_told_without_the_parsers_words) {
    const auto [text, text_if_reworded] = said_of(GetParam().words);
    EXPECT_THAT(text, HasSubstr(GetParam().said));
    EXPECT_EQ(text, text_if_reworded);
    EXPECT_THAT(text_if_reworded, Not(HasSubstr(other_words)));
}

INSTANTIATE_TEST_SUITE_P(
    Words, UsageProblem,
    ::testing::Values(
        WrongLine{"MissingArgument", {"copy"}, "`small copy` needs FILE"},
        WrongLine{"MissingCommand", {"group"}, "`small group` needs a command"},
        WrongLine{"MissingValue", {"copy", "f", "--count"}, "`--count` needs its value, N"},
        WrongLine{"MissingValueOfAChoice", {"copy", "f", "--format"}, "`--format` needs its value, text|yaml"},
        WrongLine{"MissingValueAfterFlags", {"copy", "f", "-qC"}, "`-C` needs its value, DIR"},
        WrongLine{"MissingValueAfterARepeatedOption",
                  {"copy", "f", "--count", "1", "--count", "2", "--name"},
                  "`--name` needs its value, NAME"},
        WrongLine{"ValueThatLooksLikeAnOption", {"copy", "f", "--name", "--count", "-C"}, "`-C` needs its value, DIR"},
        WrongLine{"OptionGivenTwice", {"copy", "f", "--count", "1", "--count", "2"}, "`--count` may be given only once"},
        WrongLine{"GroupsOptionGivenTwice", {"-C", "a", "copy", "-C", "b", "f"}, "`-C` may be given only once"},
        WrongLine{"ExcludedFlag", {"copy", "f", "--quiet", "--json"}, "`--json` and `--quiet` cannot be used together"},
        WrongLine{"NeededFlag", {"copy", "f", "--all"}, "`--all` needs `--json`"},
        WrongLine{"ExtraWords", {"copy", "f", "g", "h"}, "`small copy` does not take `g h`; it takes one FILE"},
        WrongLine{"UnknownOption", {"copy", "f", "--cuont"}, "`small copy` has no option `--cuont`\n  did you mean `--count`?"},
        WrongLine{"ValueOfAFlag", {"copy", "f", "--json=text"}, "`--json` takes no value, but `text` is given"},
        WrongLine{"WrongChoice", {"copy", "f", "--format", "pdf"}, "`pdf` is not a value of --format\n  use one of text, yaml; "},
        WrongLine{"MistypedChoice", {"copy", "f", "--format", "ymal"}, "did you mean `yaml`? `small copy --help`"},
        WrongLine{
            "NumberOutOfRange", {"copy", "f", "--seconds", "0"}, "--seconds cannot be 0; it must be between 0.05 and 1000\n"},
        WrongLine{"NotANumber", {"copy", "f", "--count", "five"}, "--count takes a number, not `five`"},
        WrongLine{"NotAWholeNumber", {"copy", "f", "--count", "1.5"}, "--count takes a whole number, not `1.5`"},
        WrongLine{
            "NotEvenANumber", {"copy", "f", "--seconds", "nan"}, "--seconds cannot be nan; it must be between 0.05 and 1000"},
        WrongLine{"EmptyValue", {"copy", "f", "--name", " "}, "the value of --name is empty\n  give it a value, or leave it out"},
        WrongLine{"EmptyArgument", {"copy", ""}, "FILE is empty"},
        WrongLine{"ControlCharacters", {"copy", "f", "--count", "\x1b[31m"}, "--count takes a number, not `\\x1b[31m`"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(UsageProblemText, of_a_long_value_is_cut) {
    EXPECT_LT(said_of({"copy", "f", "--format", std::string(100'000, 'y')}).text.size(), 1000U);
}

}  // namespace
}  // namespace agentforge::kernel
