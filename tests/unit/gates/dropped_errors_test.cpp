// SPDX-License-Identifier: Apache-2.0
// Where a change catches an error and goes on as if there were none.
#include "gates/removal/dropped_errors.hpp"

#include <gmock/gmock.h>

#include "gates/test_quality/test_quality.hpp"
#include "unit/gates/shipped_language.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<DroppedError> dropped(const std::string& language, const std::string& now, const std::string& before = "") {
    return dropped_errors({{"a", before, now, now}}, rules_of_language(language));
}

/// Returns the text in which the one branch that drops an error ends each test.
std::string ended(const std::string& language, const std::string& now) {
    const auto found = dropped(language, now);
    EXPECT_THAT(found, SizeIs(1));
    return found.empty() ? "" : found.front().files.at("a");
}

constexpr const char* go_loop = "func Sum() (int, error) {\n\tif err != nil {\n\t\tcontinue\n\t}\n}\n";
constexpr const char* python_reader =
    "def load(path):\n    try:\n        return read(path)\n    except OSError:\n        return {}\n";

TEST(DroppedErrors, are_branches_on_an_error_without_a_word_for_it) {
    EXPECT_THAT(ended("go", go_loop), HasSubstr("if err != nil { panic(\"agentforge\"); \n\t\tcontinue"));
    EXPECT_THAT(ended("python", python_reader), HasSubstr("except OSError:\n        raise\n        return {}"));
    EXPECT_THAT(ended("javascript", "function f() {\n  try {\n    g();\n  } catch {\n    return null;\n  }\n}\n"),
                HasSubstr("catch { throw new Error(\"agentforge\"); \n"));
    EXPECT_THAT(ended("java", "class A {\n  void f() {\n    try {\n      g();\n    } catch (IOException e) {\n    }\n  }\n}\n"),
                HasSubstr("catch (IOException e) { if (true) throw new IllegalStateException"));
    EXPECT_THAT(ended("cpp", "void f() {\n  try {\n    g();\n  } catch (const E&) {\n    return;\n  }\n}\n"),
                HasSubstr("catch (const E&) { throw; \n"));
    EXPECT_THAT(ended("rust", "fn f() {\n    match g() {\n        Err(_) => { 0 }\n    }\n}\n"),
                HasSubstr("Err(_) => { panic!(\"agentforge\");  0 }"));
}

TEST(DroppedErrors, are_none_where_the_branch_says_that_there_was_one) {
    EXPECT_THAT(dropped("go", "func F() error {\n\tif err != nil {\n\t\treturn err\n\t}\n}\n"), IsEmpty());
    EXPECT_THAT(dropped("python", "try:\n    f()\nexcept OSError as broken:\n    return broken\n"), IsEmpty());
    EXPECT_THAT(dropped("python", "try:\n    f()\nexcept OSError:\n    print(path)\n"), IsEmpty());
    EXPECT_THAT(dropped("javascript", "try {\n  f();\n} catch {\n  return failed('not JSON');\n}\n"), IsEmpty());
}

TEST(DroppedErrors, are_none_around_a_call_that_cleans_up) {
    EXPECT_THAT(dropped("python", "try:\n    os.unlink(path)\nexcept OSError:\n    pass\n"), IsEmpty());
}

TEST(DroppedErrors, are_none_of_the_change_if_they_were_there_before) {
    EXPECT_THAT(dropped("go", go_loop, go_loop), IsEmpty());
    const std::string passed_on = "func Sum() (int, error) {\n\tif err != nil {\n\t\treturn 0, err\n\t}\n}\n";
    EXPECT_THAT(dropped("go", go_loop, passed_on), SizeIs(1));
}

TEST(TestQuality, a_dropped_error_that_no_test_reaches_blocks_and_names_the_tests_to_rewrite) {
    TestQualityEvidence evidence;
    evidence.fresh = {"t.py::a"};
    evidence.removal.asked_to_remove = false;
    evidence.removal.dropped_errors = {{"a.go", 2, "if err != nil {"}};
    const auto verdict = judge_test_quality(evidence);
    EXPECT_THAT(verdict.blocking, ElementsAre(HasSubstr("does nothing with an error in a.go:2 (`if err != nil {`)")));
    EXPECT_EQ(verdict.facts.at("tests_at_fault"), json::value(json::array{"t.py::a"}));
}

}  // namespace
}  // namespace agentforge::kernel
