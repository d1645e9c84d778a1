// SPDX-License-Identifier: Apache-2.0
// What a request to remove something may take out of the code without a test that notices.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/language/language.hpp"
#include "gates/removal/asked_changes.hpp"
#include "gates/removal/removal_request.hpp"
#include "gates/removal/removal_review.hpp"
#include "gates/test_quality/test_quality.hpp"
#include "unit/gates/shipped_language.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Reaction = RemovalReview::Reaction;

/// A change of one file by a request, and what its review wants to be put back.
struct Change {
    std::string language = "python";
    std::string request;
    std::string before;
    std::string now;
    std::vector<std::string> others = {};

    [[nodiscard]] RemovalReview review() const {
        return {RemovalRequest(request), rules_of_language(language), {{"a", before, now, now}}, others};
    }

    /// Returns the first lines of what needs a test. `noticed`: those that a test notices.
    [[nodiscard]] std::vector<std::string> put_back(const std::map<std::string, Reaction>& noticed = {}) const {
        auto all = review();
        std::vector<std::string> lines;
        while (const auto next = all.next()) {
            lines.push_back(next->lines.text);
            const auto reaction = noticed.find(next->lines.text);
            all.record(reaction == noticed.end() ? Reaction::unnoticed : reaction->second);
        }
        return lines;
    }

    [[nodiscard]] std::vector<std::string> unaccounted(const std::map<std::string, Reaction>& noticed = {}) const {
        auto all = review();
        while (const auto next = all.next()) {
            const auto reaction = noticed.find(next->lines.text);
            all.record(reaction == noticed.end() ? Reaction::unnoticed : reaction->second);
        }
        std::vector<std::string> lines;
        for (const auto& each : all.unaccounted()) { lines.push_back(each.text); }
        return lines;
    }
};

constexpr const char* shop = R"(def total(prices):
    """The sum of all prices."""
    print("debug", prices)
    return sum(prices)


def discount(price, percent):
    if percent > 100:
        raise ValueError("percent is at most 100")
    return price - price * percent / 100
)";

std::string without(std::string text, const std::string& part) {
    const auto at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.erase(at, part.size());
}

std::string replaced(std::string text, const std::string& part, const std::string& instead) {
    const auto at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.replace(at, part.size(), instead);
}

const std::string print_line = "    print(\"debug\", prices)\n";
const std::string check_lines = "    if percent > 100:\n        raise ValueError(\"percent is at most 100\")\n";

TEST(Removal, lines_with_a_vanished_word_of_the_request_need_no_test) {
    EXPECT_THAT((Change{"python", "Remove the debug print from total", shop, without(shop, print_line)}.put_back()), IsEmpty());
}

TEST(Removal, an_unrelated_check_needs_a_test) {
    const Change change{"python", "Remove the debug print from total", shop, without(without(shop, print_line), check_lines)};
    EXPECT_THAT(change.unaccounted(), ElementsAre("if percent > 100:"));
    EXPECT_THAT(change.unaccounted({{"if percent > 100:", Reaction::noticed}}), IsEmpty());
    EXPECT_THAT(change.unaccounted({{"if percent > 100:", Reaction::unknown}}), IsEmpty());
}

TEST(Removal, the_review_names_the_line_before_the_change_and_puts_it_back) {
    const auto now = without(without(shop, print_line), check_lines);
    const auto review = Change{"python", "Remove the debug print from total", shop, now}.review();
    const auto next = review.next();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->lines.line, 8U);
    EXPECT_EQ(next->files.at("a"), without(shop, print_line));
}

TEST(Removal, lines_are_put_back_with_the_removed_names_that_they_need) {
    const std::string before =
        "import os\nimport re\n\nMOST = 7\nletters = re.compile(\"[a-z]+\")\n\n\ndef take(n):\n    print(os.name)\n    if n > MOST:\n        raise ValueError(n)\n    return n\n";
    const std::string now = "\ndef take(n):\n    return n\n";
    auto review = Change{"python", "Remove the print of the system", before, now}.review();
    const auto next = review.next();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->lines.text, "if n > MOST:");
    EXPECT_EQ(next->files.at("a"), "\nMOST = 7\ndef take(n):\n    if n > MOST:\n        raise ValueError(n)\n    return n\n");
    review.record(Reaction::unnoticed);
    EXPECT_EQ(review.unaccounted().size(), 1U);
    const std::string go =
        "package a\n\nimport (\n\t\"errors\"\n\t\"fmt\"\n)\n\nvar errFew = errors.New(\"few\")\n\nfunc Take(n int) error {\n\tif n < 1 {\n\t\treturn errFew\n\t}\n\tfmt.Println(n)\n\treturn nil\n}\n";
    const auto go_next =
        Change{"go", "Remove the output of Take", go, "package a\n\nfunc Take(n int) error {\n\treturn nil\n}\n"}.review().next();
    ASSERT_TRUE(go_next);
    EXPECT_EQ(
        go_next->files.at("a"),
        "package a\nimport \"errors\"\n\nvar errFew = errors.New(\"few\")\nfunc Take(n int) error {\n\tif n < 1 {\n\t\treturn errFew\n\t}\n\treturn nil\n}\n");
}

/// Returns the file with the first removed lines and what they need.
std::string put_back(const Change& change) {
    const auto next = change.review().next();
    return next ? next->files.at("a") : "nothing";
}

TEST(Removal, an_import_comes_back_alone_whatever_the_form_of_the_others) {
    const std::string go =
        "package a\n\nimport (\n\t\"errors\"\n\t\"fmt\"\n\t\"os\"\n)\n\nvar errFew = errors.New(\"few\")\n\nfunc Take(n int) error {\n\tif n < 1 {\n\t\treturn fmt.Errorf(\"few\")\n\t}\n\tos.Exit(n)\n\treturn nil\n}\n";
    const std::string go_now =
        "package a\n\nimport \"errors\"\n\nvar errFew = errors.New(\"few\")\n\nfunc Take(n int) error {\n\treturn nil\n}\n";
    EXPECT_THAT(put_back({"go", "Remove the exit from Take", go, go_now}),
                ::testing::StartsWith("package a\nimport \"fmt\"\n\nimport \"errors\"\n"));
    const std::string check = "  if (n < 1) {\n    throw fail(n);\n  }\n";
    const std::string function = "function take(n) {\n  log(n);\n" + check + "  return keep(n);\n}\n";
    const auto script = [&](const std::string& imports, const std::string& now) {
        return put_back({"javascript", "Remove the log from take", imports + function,
                         now + without(without(function, "  log(n);\n"), check)});
    };
    EXPECT_THAT(script("const { fail, keep, log } = require('./tools');\n", "const { keep } = require('./tools');\n"),
                HasSubstr("const { fail } = require('./tools');\n"));
    EXPECT_THAT(script("import {\n  fail as fail,\n  keep,\n  log,\n} from './tools';\n", "import { keep } from './tools';\n"),
                HasSubstr("import { fail as fail } from './tools';\n"));
    EXPECT_THAT(
        put_back(
            {"python", "Remove the print from take",
             "from tools import fail, keep\n\n\ndef take(n):\n    print(n)\n    if n < 1:\n        fail(n)\n    return keep(n)\n",
             "from tools import keep\n\n\ndef take(n):\n    return keep(n)\n"}),
        HasSubstr("from tools import fail\n"));
}

// The block does not build without the parameter, and the parameter not without its argument.
TEST(Removal, a_parameter_comes_back_with_its_arguments) {
    const Change change{
        "go", "Drop the tries of Fetch",
        "package a\n\nfunc Fetch(page string) string {\n\treturn fetch(page, 3, 100)\n}\n\nfunc fetch(page string, tries int, longest int) string {\n\tfor try := 1; try < tries; try++ {\n\t\tread(page)\n\t}\n\tif len(page) > longest {\n\t\tpanic(page)\n\t}\n\treturn page\n}\n",
        "package a\n\nfunc Fetch(page string) string {\n\treturn fetch(page)\n}\n\nfunc fetch(page string) string {\n\treturn page\n}\n"};
    auto review = change.review();
    for (auto next = review.next(); next; next = review.next()) {
        EXPECT_EQ(
            next->files.at("a"),
            "package a\n\nfunc Fetch(page string) string {\n\treturn fetch(page, 100)\n}\n\nfunc fetch(page string, longest int) string {\n\tif len(page) > longest {\n\t\tpanic(page)\n\t}\n\treturn page\n}\n");
        review.record(Reaction::unnoticed);
    }
    EXPECT_THAT(review.unaccounted(), ::testing::SizeIs(3));  // The call, the parameter and the block: one mutant.
}

TEST(Removal, a_check_that_goes_beside_another_request_needs_a_test) {
    const std::string before =
        "function findUser(id) {\n  const user = byId.get(id);\n  if (user?.left) {\n    return undefined;\n  }\n  return user;\n}\n";
    const std::string direct = "function findUser(id) {\n  return byId.get(id);\n}\n";
    EXPECT_THAT((Change{"javascript", "Rename getUser to findUser", before, direct}.unaccounted()),
                Contains("if (user?.left) {"));
    // A variable less is no check less, and neither is a check that became another one.
    const auto variable = without(before, "  if (user?.left) {\n    return undefined;\n  }\n");
    EXPECT_THAT((Change{"javascript", "Rename getUser to findUser", variable, direct}.unaccounted()), IsEmpty());
    const auto other = replaced(before, "user?.left", "user?.gone");
    EXPECT_THAT((Change{"javascript", "Rename getUser to findUser", before, other}.unaccounted()), IsEmpty());
    EXPECT_THAT((Change{"javascript", "Let findUser return users that left", before, direct}.unaccounted()), IsEmpty());
}

TEST(Removal, one_removed_character_needs_a_test) {
    const auto before = replaced(shop, "percent > 100", "percent >= 101");
    const auto now = replaced(without(before, print_line), "percent >= 101", "percent > 101");
    EXPECT_THAT((Change{"python", "Remove the debug print from total", before, now}.unaccounted()),
                ElementsAre("if percent >= 101:"));
}

TEST(Removal, a_check_that_became_a_statement_without_effect_needs_a_test) {
    const auto now = replaced(without(shop, print_line), "raise ValueError(\"percent is at most 100\")", "pass");
    EXPECT_THAT((Change{"python", "Remove the debug print from total", shop, now}.unaccounted()),
                ElementsAre("raise ValueError(\"percent is at most 100\")"));
}

TEST(Removal, a_check_beside_what_was_asked_needs_a_test_of_its_own) {
    const std::string check = "    if not prices:\n        raise ValueError(\"no prices\")\n";
    const auto before = replaced(shop, print_line, print_line + check);
    EXPECT_THAT((Change{"python", "Remove the debug print from total", before, without(shop, print_line)}.unaccounted()),
                ElementsAre("if not prices:"));
}

TEST(Removal, comments_imports_and_whole_definitions_need_no_test) {
    const std::string before =
        "import os\n\n# Old.\ndef used():\n    \"\"\"Is used.\"\"\"\n    return 1\n\n\ndef other():\n    return os.sep\n";
    const std::string now = "def used():\n    \"\"\"Stays.\"\"\"\n    return 1\n";
    EXPECT_THAT((Change{"python", "Remove other", before, now}.put_back()), IsEmpty());
    const std::string go =
        "package a\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc Used() int {\n\treturn 1\n}\n\nfunc Other() {\n\tfmt.Println(os.Args)\n}\n";
    EXPECT_THAT((Change{"go", "Remove Other", go, "package a\n\nfunc Used() int {\n\treturn 1\n}\n"}.put_back()), IsEmpty());
}

TEST(Removal, a_method_that_shares_its_name_is_a_definition) {
    const std::string one = "class One:\n    def run(self):\n        return 1\n";
    const std::string other = "\n\nclass Other:\n    def run(self):\n        return 2\n";
    EXPECT_THAT((Change{"python", "Remove the old runner", one + other, one}.put_back()), IsEmpty());
}

TEST(Removal, a_vanished_name_links_lines_to_those_that_a_test_notices) {
    const std::string before =
        "def load(path, strict=False):\n    if strict:\n        check(path)\n    return read(path)\n\n\ndef main(path):\n    strict = True\n    return load(path, strict)\n";
    const std::string now = "def load(path):\n    return read(path)\n\n\ndef main(path):\n    return load(path)\n";
    const Change change{"python", "Remove the pedantic mode", before, now};
    EXPECT_THAT(change.unaccounted({{"if strict:", Reaction::noticed}}), IsEmpty());
    EXPECT_EQ(change.unaccounted().size(), 4U);
}

TEST(Removal, an_exception_of_the_language_links_nothing) {
    const std::string limit = "    if len(name) > 40:\n        raise ValueError(\"too long\")\n";
    const std::string empty = "    if len(items) == 0:\n        raise ValueError(\"nothing\")\n";
    const std::string before =
        "def rename(name):\n" + limit + "    return name\n\n\ndef order(items):\n" + empty + "    return items\n";
    const std::string now = "def rename(name):\n    return name\n\n\ndef order(items):\n    return items\n";
    EXPECT_THAT((Change{"python", "Remove the limit of 40 characters", before, now}.unaccounted()),
                ElementsAre("if len(items) == 0:"));
}

TEST(Removal, calls_of_a_removed_definition_that_raises_no_error_need_no_test) {
    const std::string before =
        "def track(event):\n    events.append(event)\n\n\ndef save(order):\n    track(\"save\")\n    return store(order)\n";
    const std::string now = "def save(order):\n    return store(order)\n";
    EXPECT_THAT((Change{"python", "Remove the telemetry", before, now}.put_back()), IsEmpty());
    EXPECT_TRUE((Change{"python", "Remove the telemetry", before, now}.review().shows_what_was_asked()));
    const std::string checking =
        "def check(order):\n    if not order:\n        raise ValueError(\"empty\")\n\n\ndef save(order):\n    check(order)\n    return store(order)\n";
    EXPECT_THAT((Change{"python", "Remove the telemetry", checking, now}.unaccounted()), ElementsAre("check(order)"));
    EXPECT_THAT((Change{"python", "Remove the check of orders", checking, now}.unaccounted()), IsEmpty());
}

TEST(Removal, a_name_that_other_code_still_has_has_not_vanished) {
    const std::string before = "def f(a):\n    if verbose:\n        show(a)\n    return a\n";
    const std::string now = "def f(a):\n    return a\n";
    const std::string request = "Remove what depends on verbose";
    EXPECT_THAT((Change{"python", request, before, now}.unaccounted()), IsEmpty());
    EXPECT_THAT((Change{"python", request, before, now, {"verbose = False\n"}}.unaccounted()), ElementsAre("if verbose:"));
}

TEST(Removal, the_object_of_the_request_need_only_vanish_from_its_function) {
    const std::string before =
        "def poll(job):\n    time.sleep(1)\n    return job.done\n\n\ndef wait(job):\n    time.sleep(job.left)\n";
    const std::string now = "def poll(job):\n    return job.done\n\n\ndef wait(job):\n    time.sleep(job.left)\n";
    EXPECT_THAT((Change{"python", "Remove the sleep from poll", before, now}.put_back()), IsEmpty());
}

TEST(Removal, unused_code_needs_no_test_where_the_request_says_it_is) {
    const std::string before = "def price(order):\n    if order.kind == 7:\n        return 0\n    return order.sum\n";
    const std::string now = "def price(order):\n    return order.sum\n";
    EXPECT_THAT((Change{"python", "Remove the dead branch in price", before, now}.put_back()), IsEmpty());
    EXPECT_THAT((Change{"python", "Remove the dead branch in total", before, now}.unaccounted()),
                ElementsAre("if order.kind == 7:"));
}

TEST(Removal, reads_languages_with_braces) {
    const std::string before =
        "func Load(path string, strict bool) error {\n\tif strict {\n\t\tlog.Println(path)\n\t}\n\tif path == \"\" {\n\t\treturn errEmpty\n\t}\n\treturn nil\n}\n";
    const std::string asked = "func Load(path string) error {\n\tif path == \"\" {\n\t\treturn errEmpty\n\t}\n\treturn nil\n}\n";
    EXPECT_THAT((Change{"go", "Remove the strict parameter of Load", before, asked}.put_back()), IsEmpty());
    const std::string more = "func Load(path string) error {\n\treturn nil\n}\n";
    EXPECT_THAT((Change{"go", "Remove the strict parameter of Load", before, more}.unaccounted()),
                ElementsAre("if path == \"\" {"));
    const std::string c =
        "struct item {\n    int count;\n    int weight;\n};\n\nint take(struct item *item, int n) {\n    if (n < 0) {\n        return -1;\n    }\n    item->count -= n;\n    return 0;\n}\n";
    const std::string now =
        "struct item {\n    int count;\n};\n\nint take(struct item *item, int n) {\n    item->count -= n;\n    return 0;\n}\n";
    EXPECT_THAT((Change{"cpp", "Remove the weight of items", c, now}.unaccounted()), ElementsAre("if (n < 0) {"));
    const std::string script =
        "export function save(user) {\n  console.log('save', user);\n  if (!user.name) {\n    throw new TypeError('no name');\n  }\n  return user;\n}\n";
    EXPECT_THAT(
        (Change{"javascript", "Remove the log output of save", script, "export function save(user) {\n  return user;\n}\n"}
             .unaccounted()),
        ElementsAre("if (!user.name) {"));
}

constexpr const char* greeting = R"(WORDS = {"en": "Hello", "de": "Hallo"}


def greet(name, shout=False, language="en"):
    word = WORDS["en"]
    if language in WORDS:
        word = WORDS[language]
    if not name:
        raise ValueError("no name")
    text = f"{word}, {name}!"
    if shout:
        text = text.upper()
    return text
)";

TEST(Removal, what_the_request_keeps_needs_a_test) {
    const std::string request = "Remove the shout option of greet, but keep the language option and the error for no name";
    const auto asked = replaced(without(greeting, "    if shout:\n        text = text.upper()\n"), ", shout=False", "");
    EXPECT_THAT((Change{"python", request, greeting, asked}.put_back()), IsEmpty());
    const auto without_error = without(asked, "    if not name:\n        raise ValueError(\"no name\")\n");
    EXPECT_THAT((Change{"python", request, greeting, without_error}.unaccounted()), ElementsAre("if not name:"));
    const std::string without_language =
        "def greet(name):\n    word = \"Hello\"\n    if not name:\n        raise ValueError(\"no name\")\n    text = f\"{word}, {name}!\"\n    return text\n";
    EXPECT_THAT((Change{"python", request, greeting, without_language}.unaccounted()),
                ::testing::Contains("def greet(name, shout=False, language=\"en\"):"));
    const std::string lookup =
        "const known = new Map();\n\nexport function lookup(list, article) {\n  const found = known.get(article);\n  if (found !== undefined) {\n    return found;\n  }\n  const entry = list.find((each) => each.name === article);\n  if (entry === undefined) {\n    throw new RangeError(`unknown article ${article}`);\n  }\n  known.set(article, entry.price);\n  return entry.price;\n}\n";
    const std::string now =
        "export function lookup(list, article) {\n  const entry = list.find((each) => each.name === article);\n  return entry.price;\n}\n";
    const Change change{"javascript", "Remove the cache from lookup; an unknown article is still an error", lookup, now};
    EXPECT_THAT(change.unaccounted({{"const found = known.get(article);", Reaction::noticed},
                                    {"if (found !== undefined) {", Reaction::noticed}}),
                ElementsAre("if (entry === undefined) {"));
}

TEST(Removal, a_line_that_stays_is_judged_by_each_difference) {
    const std::string request = "Remove the trace option from accept";
    const std::string before =
        "def accept(names, trace=False):\n    for name in names:\n        if check(name, trace=trace) and len(name) >= 3:\n            keep(name)\n    if len(names) > 100:\n        raise ValueError(names)\n";
    const auto asked = replaced(replaced(before, ", trace=False", ""), ", trace=trace", "");
    EXPECT_THAT((Change{"python", request, before, asked}.put_back()), IsEmpty());
    for (const auto& [was, is] : std::map<std::string, std::string>{{">= 3", "> 3"}, {" and len(name) >= 3", ""}}) {
        const auto now = replaced(asked, was, is);
        EXPECT_THAT((Change{"python", request, before, now}.unaccounted()),
                    ElementsAre("if check(name, trace=trace) and len(name) >= 3:"));
        EXPECT_EQ((Change{"python", request, before, now}.review().next()->files.at("a")), asked);
    }
    for (const char* is : {">= 100", "> 1000", "> 100 and names"}) {
        EXPECT_THAT((Change{"python", request, before, replaced(asked, "> 100", is)}.unaccounted()),
                    ElementsAre("if len(names) > 100:"))
            << is;
    }
}

TEST(Removal, a_helper_beside_what_was_asked_needs_a_test) {
    const std::string helper = "def record(kind):\n    history.append(kind)\n\n\n";
    const std::string rest = "def withdraw(amount):\n    print(\"debug\", amount)\n    record(amount)\n    take(amount)\n";
    const std::string now = "def withdraw(amount):\n    take(amount)\n";
    EXPECT_THAT((Change{"python", "Remove the debug print from withdraw", helper + rest, now}.unaccounted()),
                ElementsAre("record(amount)"));
    EXPECT_THAT((Change{"python", "Remove the debug print from withdraw", helper + rest, now}.unaccounted(
                    {{"record(amount)", Reaction::noticed}})),
                IsEmpty());
    const auto unused = "def once():\n    return 1\n\n\n" + rest;
    EXPECT_THAT((Change{"python", "Remove the debug print from withdraw", unused, without(rest, "    print(\"debug\", amount)\n")}
                     .unaccounted()),
                ElementsAre("def once():"));
}

TEST(Removal, a_check_beside_other_new_lines_needs_a_test) {
    const std::string before =
        "def f(n):\n    print(\"debug\", n)\n    if n < 0:\n        raise ValueError(n)\n    total = n * 2\n    return total\n";
    const std::string now = "def f(n):\n    doubled = n * 2\n    return doubled\n";
    EXPECT_THAT((Change{"python", "Remove the debug print from f", before, now}.unaccounted()), ElementsAre("if n < 0:"));
}

TEST(Removal, a_request_that_also_makes_something_has_to_do_both) {
    const std::string before =
        "const limit = 40\n\nfunc Label(name string) string {\n\tif len(name) > limit {\n\t\treturn \"\"\n\t}\n\treturn trim(name)\n}\n";
    const std::string asked = "func Label(name string) string {\n\treturn trim(name)\n}\n";
    const std::string initials = "\nfunc Initials(name string) string {\n\treturn name[:1]\n}\n";
    const RemovalRequest request("Remove the limit of 40 characters from Label and add Initials(name)");
    const auto rules = rules_of_language("go");
    const auto leaves = [&](const std::string& now) {
        return RemovalReview(request, rules, {{"a.go", before, now, now}}, {}).leaves_what_was_asked();
    };
    EXPECT_FALSE(leaves(asked + initials));
    EXPECT_TRUE(leaves(before + initials));
    EXPECT_TRUE(leaves(replaced(before, "40", "400") + initials));
    const auto makes = [&](const std::string& now, const char* words) {
        return !makes_nothing_of(RemovalRequest(words).also_makes().front(), {{"a.go", before, now, now}}, {}, rules);
    };
    const auto local = replaced(asked, "return trim(name)", "trimmed := trim(name)\n\treturn trimmed");
    for (const char* words : {"Remove the limit and add Initials(name)", "Remove the limit and add initials of a name"}) {
        EXPECT_TRUE(makes(asked + initials, words)) << words;
        EXPECT_FALSE(makes(asked, words)) << words;
        EXPECT_FALSE(makes(local, words)) << words;
    }
}

TEST(Removal, leaves_out_no_function_that_the_request_names) {
    const auto rules = rules_of_language("python");
    const std::string label = "def label(name):\n    if len(name) > LIMIT:\n        raise ValueError\n    return name\n";
    const std::string title = "def title(name):\n    if len(name) > LIMIT:\n        raise ValueError\n    return name.upper()\n";
    const std::string free_label = "def label(name):\n    return name\n";
    const auto left_out = [&](const char* request, const std::string& before, const std::string& now,
                              const std::vector<std::string>& others = {}) {
        return function_left_out(RemovalRequest(request), {{"a.py", before, now, now, true}}, others, rules);
    };
    const char* const both = "Remove the limit from label and title and add initials()";
    EXPECT_EQ(left_out(both, label + title, free_label + title), "title");
    EXPECT_EQ(left_out(both, label, free_label, {title}), "title") << "in a file that did not change";
    EXPECT_EQ(left_out(both, label + title, free_label + "def title(name):\n    return name.upper()\n"), "");
    EXPECT_EQ(left_out("Remove the limit from label", label + title, free_label + title), "");
    const std::string go =
        "package label\n\nconst limit = 40\n\n// Label labels.\nfunc Label(name string) (string, error) {\n\tif len(name) > limit {\n\t\treturn \"\", ErrLong\n\t}\n\treturn name, nil\n}\n";
    const std::string go_title =
        "\nfunc Title(name string) (string, error) {\n\tif len(name) > limit {\n\t\treturn \"\", ErrLong\n\t}\n\treturn name, nil\n}\n";
    const std::string go_now =
        "package label\n\nconst limit = 40\n\n// Label labels.\nfunc Label(name string) (string, error) {\n\treturn name, nil\n}\n";
    EXPECT_EQ(
        function_left_out(RemovalRequest("Remove the limit of 40 characters from Label and Title and add Initials(name)"),
                          {{"a.go", go + go_title, go_now + go_title, go_now + go_title, true}}, {}, rules_of_language("go")),
        "Title");
    EXPECT_EQ(left_out("Remove the limit from label, but keep that of title", label + title, free_label + title), "");
    EXPECT_EQ(left_out("Remove the name limit of label, which title calls", label + "def title(name):\n    return name\n",
                       free_label + "def title(name):\n    return name\n"),
              "");
}

TEST(Removal, shows_whether_anything_asked_was_removed) {
    const std::string before = "import json\n\n\ndef login(user):\n    return user.id\n";
    const std::string now = "def login(user):\n    return user.id\n";
    EXPECT_FALSE((Change{"python", "Delete expired sessions on login", before, now}.review().shows_what_was_asked()));
    EXPECT_TRUE((Change{"python", "Remove the json import", before, now}.review().shows_what_was_asked()));
}

TEST(RemovalRequest, knows_requests_about_texts_and_unused_code) {
    EXPECT_TRUE(RemovalRequest("Remove the outdated comment in load").is_about_text());
    EXPECT_TRUE(RemovalRequest("Delete docs/old.md").is_about_text());
    EXPECT_TRUE(RemovalRequest("Remove the flaky test of poll").is_about_text());
    EXPECT_FALSE(RemovalRequest("Delete expired sessions on login").is_about_text());
    EXPECT_TRUE(RemovalRequest("Remove unused helpers").calls_it_unused());
    EXPECT_FALSE(RemovalRequest("Remove the helpers").calls_it_unused());
}

TEST(RemovalRequest, knows_what_else_it_asks_for) {
    const auto both = RemovalRequest("Remove the limit on names and add initials(name); names are still trimmed").also_makes();
    ASSERT_EQ(both.size(), 1U);
    EXPECT_EQ(both.front().verb, "add");
    EXPECT_THAT(both.front().words, ElementsAre("initials", "name"));
    EXPECT_THAT(both.front().calls, ElementsAre("initials"));
    EXPECT_EQ(RemovalRequest("Drop XML; implement JSON instead").also_makes().front().verb, "implement");
    EXPECT_EQ(RemovalRequest("Remove the limit and add Notes.find(title)").also_makes().size(), 1U);
    for (const char* only : {"Drop support for XML", "Drop Python 2 and support for its strings", "Remove the add button",
                             "Remove the limit and add a test for it", "Remove insert and add from the API"}) {
        EXPECT_THAT(RemovalRequest(only).also_makes(), IsEmpty()) << only;
    }
}

TEST(RemovalRequest, knows_what_stays) {
    const auto kept = [](const char* request, const char* word) { return RemovalRequest(request).is_kept(word); };
    for (const char* request :
         {"Remove the cache, but keep the error for no name", "Remove the cache; unknown names are still an error",
          "Remove the cache without touching the error", "Remove the cache, not the error", "Remove the cache. Keep the error.",
          "Remove the cache while keeping the error", "Remove the cache but do not change the error",
          "Remove every cache except for the error cache", "Remove the cache but not the error",
          "Remove the cache; the error stays, and add initials()"}) {
        EXPECT_TRUE(kept(request, "error")) << request;
        EXPECT_FALSE(kept(request, "cache")) << request;
        EXPECT_FALSE(RemovalRequest(request).mentions("errors")) << request;
        EXPECT_TRUE(RemovalRequest(request).is_object("cache")) << request;
    }
    for (const char* request :
         {"Remove the keep button and the error", "Remove the cache and the error that still uses it",
          "Remove the keep-alive error", "Remove the bare except from the error handler", "Remove the leave error"}) {
        EXPECT_FALSE(kept(request, "error")) << request;
    }
}

TEST(RemovalRequest, recognises_forms_of_its_words) {
    const RemovalRequest request("Remove the debug prints and the caching from load_rows");
    for (const char* word : {"debug", "print", "cache", "load", "rows"}) { EXPECT_TRUE(request.mentions(word)) << word; }
    for (const char* word : {"the", "code", "from", "printer_name", "loud"}) { EXPECT_FALSE(request.mentions(word)) << word; }
    EXPECT_TRUE(request.is_object("print"));
    EXPECT_FALSE(request.is_object("rows"));
    EXPECT_FALSE(RemovalRequest("Remove the Verbose and Log options of Sync").is_object("options"));
    EXPECT_TRUE(request.names("load_rows"));
    EXPECT_FALSE(request.names("load"));
}

TEST(Removal, comments_and_docstrings_add_no_code) {
    const auto rules = rules_of_language("python");
    const auto added = replaced(without(shop, print_line), "The sum of all prices.", "What all of them cost together.");
    EXPECT_TRUE(adds_no_code({{"a.py", shop, added, added}}, rules));
    const auto code = replaced(shop, "return sum(prices)", "return sum(prices) + 1");
    EXPECT_FALSE(adds_no_code({{"a.py", shop, code, code}}, rules));
}

TestQualityEvidence removal_with_guard() {
    TestQualityEvidence evidence;
    evidence.guards = {"t.py::T::a[1]"};
    evidence.removal.only_removes = true;
    return evidence;
}

TEST(TestQuality, an_unnoticed_removal_blocks_and_names_the_tests_to_rewrite) {
    auto evidence = removal_with_guard();
    EXPECT_THAT(judge_test_quality(evidence).blocking, IsEmpty());
    evidence.removal.unnoticed = {{"a.py", 7, "if n < 0:"}};
    evidence.removal.tried = 1;
    const auto verdict = judge_test_quality(evidence);
    EXPECT_THAT(verdict.blocking,
                ElementsAre(::testing::AllOf(HasSubstr("`if n < 0:` (a.py:7 before the task)"), HasSubstr("put it back"))));
    EXPECT_EQ(verdict.facts.at("tests_at_fault"), (json::value{"t.py::T::a"}));
    EXPECT_EQ(verdict.facts.at("removals_tried"), json::value(1));
}

TEST(TestQuality, a_removal_that_changes_no_code_blocks) {
    auto evidence = removal_with_guard();
    evidence.code_changed = false;
    evidence.removal.changes_no_code = true;
    EXPECT_THAT(judge_test_quality(evidence).blocking,
                ElementsAre(HasSubstr("asks to remove something, but only documentation")));
}

TEST(TestQuality, a_removal_that_leaves_out_what_else_was_asked_blocks) {
    auto evidence = removal_with_guard();
    evidence.removal.made_nothing = "add";
    EXPECT_THAT(judge_test_quality(evidence).blocking, ElementsAre(HasSubstr("The request also says `add`")));
}

TEST(TestQuality, a_change_that_only_adds_blocks_if_the_request_asks_for_both) {
    auto evidence = removal_with_guard();
    evidence.fresh = {"t.py::T::b"};
    evidence.removal.removed_nothing = true;
    EXPECT_THAT(judge_test_quality(evidence).blocking,
                ElementsAre(HasSubstr("nothing that has to do with the first part is gone")));
}

TEST(TestQuality, a_changed_line_is_named_in_both_versions) {
    auto evidence = removal_with_guard();
    evidence.removal.unnoticed = {{"a.py", 7, "if n > 1:", "if n >= 1:"}};
    EXPECT_THAT(judge_test_quality(evidence).blocking,
                ElementsAre(HasSubstr("makes `if n > 1:` `if n >= 1:` (a.py:7 before the task)")));
}

TEST(TestQuality, a_removal_of_something_else_blocks_unless_a_new_test_shows_it) {
    auto evidence = removal_with_guard();
    evidence.removal.shows_what_was_asked = false;
    EXPECT_THAT(judge_test_quality(evidence).blocking, ElementsAre(HasSubstr("No removed line has to do with the request")));
    evidence.fresh = {"t.py::T::b"};
    EXPECT_THAT(judge_test_quality(evidence).blocking, IsEmpty());
}

bool removed_by_name(const std::string& request, const std::vector<ChangedText>& files) {
    const RemovalRequest words(request);
    return RemovalReview(words, rules_of_language("python"), files, {"from legacy import other\n"}).removed_by_name(words);
}

TEST(RemovedByName, needs_the_exact_name_of_each_removed_file_or_of_what_belongs_to_it) {
    const std::string old = "def parse_legacy(text):\n    return helper(text)\n\n\ndef helper(text):\n    return text\n";
    const ChangedText file{"legacy.py", old, "", "", true};
    EXPECT_TRUE(removed_by_name("Remove the function parse_legacy", {file}));
    EXPECT_TRUE(removed_by_name("Remove the module legacy", {file}));
    EXPECT_FALSE(removed_by_name("Remove the old parser", {file}));
    const ChangedText parser{"parser.py", "def parse(text):\n    return text\n", "", "", true};
    EXPECT_FALSE(removed_by_name("Remove the function parse_legacy", {file, parser})) << "it only shares a word";
    const ChangedText user{"user.py", "def use(text):\n    return parse_legacy(text)\n", "", "", true};
    EXPECT_FALSE(removed_by_name("Remove the function parse_legacy", {user})) << "it is still defined";
}

TEST(TestQuality, a_removal_by_name_that_leaves_nothing_to_alter_needs_no_noticed_mutant) {
    auto evidence = removal_with_guard();
    evidence.mutated = true;
    evidence.tried.clear();
    EXPECT_THAT(judge_test_quality(evidence).blocking, ElementsAre(HasSubstr("no guard fails when the changed code is altered")));
    evidence.nothing_to_alter = true;
    EXPECT_FALSE(judge_test_quality(evidence).passed());
    evidence.removal.removed_by_name = true;
    EXPECT_THAT(judge_test_quality(evidence).blocking, IsEmpty());
}

TEST(AlsoRemoves, is_about_any_part_of_the_request) {
    EXPECT_TRUE(also_removes("Remove the limit and add initials()"));
    EXPECT_TRUE(also_removes("Add initials() and drop the limit"));
    EXPECT_FALSE(also_removes("Add initials()"));
}

}  // namespace
}  // namespace agentforge::kernel
