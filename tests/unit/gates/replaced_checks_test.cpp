// SPDX-License-Identifier: Apache-2.0
// Checks that a change weakens in passing, in a function that it changes for another reason.
#include "gates/removal/removal_review.hpp"

#include <gmock/gmock.h>

#include "unit/gates/shipped_language.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns what needs a test, as it was before the change.
std::vector<std::string> weakened(const std::string& language, const std::string& request, const std::string& before,
                                  const std::string& now) {
    RemovalReview review(RemovalRequest(request), rules_of_language(language), {{"a", before, now, now}}, {});
    std::vector<std::string> lines;
    while (const auto next = review.next()) {
        lines.push_back(next->lines.text);
        review.record(RemovalReview::Reaction::unnoticed);
    }
    return lines;
}

constexpr const char* command = R"(function main(args, out) {
  const files = args.filter((arg) => !arg.startsWith('--'));
  if (files.length !== 1) {
    throw new RangeError('one file, please');
  }
  out.write(read(files[0]));
}
)";

std::string with(std::string text, const std::string& part, const std::string& instead) {
    const auto at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.replace(at, part.size(), instead);
}

/// The command with what the requests ask for.
std::string numbered() { return with(command, "out.write(read(files[0]))", "out.write(numbered(read(files[0]), args))"); }

TEST(ReplacedChecks, another_operator_in_a_condition_needs_a_test) {
    const auto now = with(numbered(), "files.length !== 1", "files.length === 0");
    EXPECT_THAT(weakened("javascript", "Add --number to the command", command, now), ElementsAre("if (files.length !== 1) {"));
    EXPECT_THAT(weakened("javascript", "Add --number to the command", command, numbered()), IsEmpty());
}

TEST(ReplacedChecks, the_former_condition_is_put_back_in_its_place) {
    const auto now = with(numbered(), "files.length !== 1", "files.length === 0");
    const RemovalReview review(RemovalRequest("Add --number"), rules_of_language("javascript"), {{"a", command, now, now}}, {});
    const auto next = review.next();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->files.at("a"), numbered());
    EXPECT_EQ(next->lines.now, "if (files.length === 0) {");
}

TEST(ReplacedChecks, a_number_that_the_request_names_needs_none) {
    const std::string before =
        "def add(self, name):\n    if len(self.names) >= 20:\n        raise Full(name)\n    self.names.append(name)\n";
    const auto now = with(with(before, "20", "50"), "append(name)", "append(name.strip())");
    EXPECT_THAT(weakened("python", "Let 50 players join, without blanks around their names", before, now), IsEmpty());
    EXPECT_THAT(weakened("python", "Leave out the blanks around names", before, now), ElementsAre("if len(self.names) >= 20:"));
}

TEST(ReplacedChecks, a_number_of_one_digit_may_be_named_too) {
    const std::string before =
        "function links(page) {\n  const back = page.number > 0;\n  if (page.number > 0) {\n    show(back);\n  }\n}\n";
    const auto now = with(before, "if (page.number > 0)", "if (page.number > 1)");
    EXPECT_THAT(weakened("javascript", "Count pages from 1", before, now), IsEmpty());
    EXPECT_THAT(weakened("javascript", "Count pages otherwise", before, now), ElementsAre("if (page.number > 0) {"));
}

TEST(ReplacedChecks, a_condition_about_other_names_is_another_condition) {
    const auto now = with(numbered(), "files.length !== 1", "files.length !== 1 && !args.help");
    EXPECT_THAT(weakened("javascript", "Add --number to the command", command, now), IsEmpty());
}

TEST(ReplacedChecks, an_error_that_becomes_something_else_needs_a_test) {
    const std::string before =
        "func Bill(t Table) (int, error) {\n\tcents, err := t.Convert(1)\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\treturn cents, nil\n}\n";
    const auto now = with(with(before, "return 0, err", "return 0, nil"), "Convert(1)", "Convert(1, day)");
    EXPECT_THAT(weakened("go", "Let Bill take the day", before, now), ElementsAre("return 0, err"));
}

TEST(ReplacedChecks, an_error_whose_text_is_gone_needs_a_test) {
    const std::string check = "  if (files.length !== 1) {\n    throw new RangeError('one file, please');\n  }\n";
    EXPECT_THAT(weakened("javascript", "Add --number to the command", command, with(numbered(), check, "")),
                ElementsAre("if (files.length !== 1) {"));
    // It only moved.
    const auto moved = with(numbered(), check, "") + "function one(files) {\n" + check + "}\n";
    EXPECT_THAT(weakened("javascript", "Add --number to the command", command, moved), IsEmpty());
}

}  // namespace
}  // namespace agentforge::kernel
