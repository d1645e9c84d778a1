// SPDX-License-Identifier: Apache-2.0
// The phases' rules as pure functions of the measurements.
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/requirement_text.hpp"
#include "gates/engine/rules.hpp"
#include "gates/language/globs.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TestOutcome outcome(const std::string& id, TestStatus status, const std::string& message = "m") {
    const auto name = id.find("::") == std::string::npos ? id : id.substr(id.rfind("::") + 2);
    return {id, name, id.substr(0, id.find("::")), 3, status, message};
}

TestRun trusted(std::vector<TestOutcome> tests) {
    TestRun run;
    run.trusted = true;
    run.tests = std::move(tests);
    return run;
}

RedEvidence red() {
    RedEvidence evidence;
    evidence.intent = "create";
    evidence.declared = {{"t.py", "test_a", "REQ-001", TestKind::fresh}};
    evidence.requirements = {"REQ-001"};
    evidence.test_paths = {"t.py"};
    evidence.run = trusted({outcome("t.py::test_a", TestStatus::failed_skeleton)});
    return evidence;
}

GreenEvidence green() {
    GreenEvidence evidence;
    evidence.declared = {{"t.py", "test_a", "REQ-001", TestKind::fresh}};
    evidence.red_files = {"t.py"};
    evidence.red_run = trusted({outcome("t.py::test_a", TestStatus::failed_skeleton)});
    evidence.run = trusted({outcome("t.py::test_a", TestStatus::passed), outcome("old.py::test_o", TestStatus::passed)});
    evidence.base_tests = {outcome("old.py::test_o", TestStatus::passed)};
    return evidence;
}

std::string issues(const Verdict& verdict) {
    std::string all;
    for (const auto& issue : verdict.blocking) { all += issue + "\n"; }
    return all;
}

TEST(DeclaredTestNames, may_be_those_of_googletest_for_parametrised_and_typed_tests) {
    const auto outcome = [](const char* id) { return TestOutcome{id, id, "t.cpp", 1, TestStatus::failed_assertion, ""}; };
    const std::vector<TestOutcome> outcomes{outcome("t.cpp::Suffix::IsKnown[Sizes/0]"), outcome("t.cpp::Handle::Moves[0]"),
                                            outcome("t.cpp::Handle::Moves[All/1]")};
    const std::array<std::array<const char*, 2>, 4> names{{{"Sizes/Suffix.IsKnown/0", "t.cpp::Suffix::IsKnown[Sizes/0]"},
                                                           {"Sizes/Suffix::IsKnown/0", "t.cpp::Suffix::IsKnown[Sizes/0]"},
                                                           {"Handle/0.Moves", "t.cpp::Handle::Moves[0]"},
                                                           {"All/Handle/1.Moves", "t.cpp::Handle::Moves[All/1]"}}};
    for (const auto& [name, id] : names) {
        const auto found = outcomes_of({"t.cpp", name, "REQ-001", TestKind::fresh}, outcomes);
        ASSERT_EQ(found.size(), 1U) << name;
        EXPECT_EQ(found[0]->id, id) << name;
    }
}

TEST(RedRule, a_failing_new_test_for_each_requirement_passes) { EXPECT_THAT(judge_red(red()).blocking, IsEmpty()); }

TEST(RedRule, no_declared_test_blocks) {
    auto evidence = red();
    evidence.declared.clear();
    EXPECT_THAT(issues(judge_red(evidence)), HasSubstr("names no test"));
}

TEST(RedRule, a_test_that_failed_with_the_former_signature_covers_its_requirement) {
    auto evidence = red();
    evidence.run.tests[0].status = TestStatus::passed;
    evidence.failed_before_signature = {evidence.run.tests[0].id};
    EXPECT_THAT(judge_red(evidence).blocking, IsEmpty());
    evidence.failed_before_signature = {"t.py::test_other"};
    EXPECT_THAT(issues(judge_red(evidence)), HasSubstr("REQ-001 is covered by guards only"));
}

TEST(RedRule, a_new_test_that_already_passes_is_a_guard_and_covers_nothing) {
    auto evidence = red();
    evidence.run.tests[0].status = TestStatus::passed;
    const auto verdict = judge_red(evidence);
    EXPECT_THAT(
        verdict.blocking,
        ElementsAre(
            "REQ-001 is covered by guards only (t.py::test_a passed before anything was implemented); write at least one new test "
            "that fails without the implementation."));
    EXPECT_EQ(verdict.facts.at("guard_tests"), json::array{"t.py::test_a"});
    evidence.declared.push_back({"t.py", "test_b", "REQ-001", TestKind::fresh});
    evidence.run.tests.push_back(outcome("t.py::test_b", TestStatus::failed_assertion));
    EXPECT_THAT(judge_red(evidence).blocking, IsEmpty()) << "another test covers it";
    EXPECT_EQ(verdict.facts.at("tests_are_valid"), json::value(true));
}

TEST(RedRule, an_error_is_not_a_failure) {
    auto evidence = red();
    evidence.run.tests[0].status = TestStatus::error;
    EXPECT_THAT(issues(judge_red(evidence)), HasSubstr("not fail at an assertion but with an error"));
}

TEST(RedRule, a_skipped_new_test_blocks) {
    auto evidence = red();
    evidence.run.tests[0].status = TestStatus::skipped;
    EXPECT_FALSE(judge_red(evidence).passed());
}

TEST(RedRule, a_test_that_was_not_collected_is_in_the_report) {
    auto evidence = red();
    evidence.run.tests.clear();
    const auto verdict = judge_red(evidence);
    EXPECT_FALSE(verdict.passed());
    ASSERT_EQ(verdict.tests.size(), 1U);
    EXPECT_EQ(verdict.tests[0].status, TestStatus::not_collected);
}

TEST(RedRule, lists_the_collected_tests_if_a_named_one_is_missing) {
    auto evidence = red();
    evidence.declared.push_back({"t.py", "test_b", "REQ-001", TestKind::fresh});
    EXPECT_THAT(issues(judge_red(evidence)),
                HasSubstr("t.py::test_b was named but not collected; write it, or correct its name. Collected in t.py: test_a."));
    evidence.declared.back().file = "u.py";
    EXPECT_THAT(issues(judge_red(evidence)), HasSubstr("No test was collected in u.py; elsewhere: t.py::test_a."));
}

TEST(RedRule, a_test_of_a_file_that_waits_has_the_id_that_it_will_have) {
    auto evidence = red();
    evidence.declared = {{"t.js", "parses > rounds 3.5", "REQ-001", TestKind::fresh},
                         {"t.js", "Suite.test", "REQ-001", TestKind::fresh}};
    evidence.waiting_files = {"t.js"};
    evidence.run.tests = {outcome("t.js", TestStatus::error)};
    evidence.run.tests[0].file = "t.js";
    const auto verdict = judge_red(evidence);
    EXPECT_EQ(verdict.facts.at("failing_tests"), (json::array{"t.js::parses::rounds 3.5", "t.js::Suite::test"}));
}

TEST(RedRule, reports_the_compiler_error_that_hides_a_named_test) {
    auto evidence = red();
    evidence.declared.push_back({"t.py", "test_b", "REQ-001", TestKind::fresh});
    evidence.run.tests.push_back(outcome("t_part.py", TestStatus::error));
    evidence.run.tests.back().file = "t_part.py";
    evidence.run.tests.back().message = "does not build: t_part.py:3: error: expected ';'";
    EXPECT_THAT(issues(judge_red(evidence)),
                HasSubstr("This did not load: t_part.py (line 3): does not build: t_part.py:3: error: expected ';'."));
}

TEST(RedRule, a_requirement_without_test_is_named) {
    auto evidence = red();
    evidence.requirements.push_back("REQ-002");
    const auto verdict = judge_red(evidence);
    EXPECT_THAT(issues(verdict), HasSubstr("REQ-002 has no test"));
    EXPECT_EQ(verdict.facts.at("requirement_coverage_percent"), json::value(50));
    EXPECT_EQ(verdict.facts.at("tests_exist"), json::value(false));
}

TEST(RedRule, guards_suffice_only_for_refactor_and_delete) {
    for (const auto& [intent, passes] :
         std::map<std::string, bool>{{"create", false}, {"modify", false}, {"refactor", true}, {"delete", true}}) {
        auto evidence = red();
        evidence.intent = intent;
        evidence.declared[0].kind = TestKind::guard;
        evidence.run.tests[0].status = TestStatus::passed;
        EXPECT_EQ(judge_red(evidence).passed(), passes) << intent;
    }
}

TEST(RedRule, guards_suffice_for_a_requirement_that_something_stays_beside_one_with_a_new_test) {
    auto evidence = red();
    evidence.requirements = {"REQ-001", "REQ-002"};
    evidence.declared.push_back({"t.py", "test_g", "REQ-002", TestKind::guard});
    evidence.run.tests.push_back(outcome("t.py::test_g", TestStatus::passed));
    EXPECT_THAT(issues(judge_red(evidence)), HasSubstr("REQ-002 is covered by guards only"));
    evidence.staying = {"REQ-002"};
    EXPECT_THAT(judge_red(evidence).blocking, IsEmpty());
    evidence.staying = {"REQ-001", "REQ-002"};
    evidence.declared[0].kind = TestKind::guard;
    evidence.run.tests[0].status = TestStatus::passed;
    EXPECT_THAT(issues(judge_red(evidence)), HasSubstr("REQ-001 is covered by guards only"));
}

TEST(RequirementText, says_that_something_stays) {
    for (const auto* staying : {"The figures stay exactly the same", "Other rows remain", "An unknown name still raises KeyError",
                                "Commas are read as before", "The order must not change"}) {
        EXPECT_TRUE(says_that_something_stays(staying)) << staying;
    }
    for (const auto* changing : {"Names are refused", "The total is rounded to cents", "stillness is measured"}) {
        EXPECT_FALSE(says_that_something_stays(changing)) << changing;
    }
}

TEST(RedRule, a_failing_guard_blocks) {
    auto evidence = red();
    evidence.declared.push_back({"t.py", "test_g", "", TestKind::guard});
    evidence.run.tests.push_back(outcome("t.py::test_g", TestStatus::failed_assertion));
    EXPECT_THAT(issues(judge_red(evidence)), HasSubstr("is a guard but failed"));
}

TEST(RedRule, a_foreign_file_blocks) {
    auto evidence = red();
    evidence.foreign_paths = {"src/a.py"};
    EXPECT_THAT(issues(judge_red(evidence)), HasSubstr("src/a.py was changed"));
}

TEST(RedRule, an_undeclared_test_that_passes_is_a_guard) {
    auto evidence = red();
    evidence.run.tests.push_back(outcome("t.py::test_b", TestStatus::passed));
    const auto verdict = judge_red(evidence);
    EXPECT_THAT(verdict.blocking, IsEmpty());
    EXPECT_EQ(verdict.facts.at("guard_tests"), json::array{"t.py::test_b"});
    EXPECT_THAT(red_ids(evidence.declared, evidence.run.tests, {}).guards, ElementsAre("t.py::test_b"))
        << "it must pass afterwards";
}

TEST(RedRule, a_removed_test_blocks_unless_the_request_is_to_delete) {
    auto evidence = red();
    evidence.base_tests = {outcome("t.py::test_old", TestStatus::passed)};
    EXPECT_THAT(issues(judge_red(evidence)), HasSubstr("t.py::test_old passed before and was removed"));
    evidence.intent = "delete";
    EXPECT_TRUE(judge_red(evidence).passed());
    evidence.without_new_test = false;
    EXPECT_THAT(issues(judge_red(evidence)), HasSubstr("t.py::test_old passed before and was removed"))
        << "the model's word for what the task is";
}

TEST(RedRule, an_existing_test_may_change_only_if_outdated) {
    auto evidence = red();
    evidence.base_tests = {outcome("t.py::test_old", TestStatus::passed)};
    evidence.run.tests.push_back(outcome("t.py::test_old", TestStatus::failed_assertion));
    evidence.changed = {
        {.id = "t.py::test_old", .line = 7, .before = {"assert f() == 1"}, .after = {"assert f() == 2"}, .file = "t.py"}};
    EXPECT_THAT(issues(judge_red(evidence)), HasSubstr("t.py:7 existed before and was changed or removed"));
    evidence.outdated = {"t.py::test_old"};
    EXPECT_TRUE(judge_red(evidence).passed()) << issues(judge_red(evidence));
    EXPECT_THAT(judge_red(evidence).facts.at("new_tests").as_array(), ::testing::Contains(json::value("t.py::test_old")));
    evidence.run.tests.back().status = TestStatus::passed;
    EXPECT_THAT(issues(judge_red(evidence)),
                HasSubstr("t.py::test_old was changed and still passes without the requested change"));
}

TEST(RedRule, one_failing_case_is_enough_for_an_outdated_parameterized_test) {
    auto evidence = red();
    evidence.base_tests = {outcome("t.py::test_old[1]", TestStatus::passed), outcome("t.py::test_old[2]", TestStatus::passed)};
    evidence.outdated = {"t.py::test_old[1]", "t.py::test_old[2]"};
    evidence.changed = {{.id = "t.py::test_old", .line = 7, .before = {"[1, 2]"}, .after = {"[3, 2]"}, .file = "t.py"}};
    evidence.run.tests.push_back(outcome("t.py::test_old[3]", TestStatus::failed_assertion));
    evidence.run.tests.push_back(outcome("t.py::test_old[2]", TestStatus::passed));
    EXPECT_TRUE(judge_red(evidence).passed()) << issues(judge_red(evidence));
    evidence.run.tests[evidence.run.tests.size() - 2].status = TestStatus::passed;
    EXPECT_THAT(issues(judge_red(evidence)), HasSubstr("t.py::test_old was changed and still passes"));
}

TEST(RedRule, lines_outside_tests_must_not_change) {
    auto evidence = red();
    evidence.changed = {{.id = "", .line = 1, .before = {"import f"}, .after = {}, .file = "t.py"}};
    evidence.outdated = {"t.py::test_old"};
    EXPECT_THAT(issues(judge_red(evidence)), HasSubstr("t.py:1 existed before and was changed or removed"));
}

TEST(RedRule, an_outdated_test_may_be_removed) {
    auto evidence = red();
    evidence.base_tests = {outcome("t.py::test_old", TestStatus::passed)};
    evidence.outdated = {"t.py::test_old"};
    EXPECT_TRUE(judge_red(evidence).passed()) << issues(judge_red(evidence));
    EXPECT_EQ(judge_red(evidence).facts.at("removed_tests"), json::array{"t.py::test_old"});
}

TEST(RedRule, a_deleted_file_that_no_test_was_run_from_blocks) {
    auto evidence = red();
    evidence.base_tests = {outcome("t.py::test_old", TestStatus::passed)};
    evidence.intent = "delete";
    evidence.deleted_paths = {"t.py"};
    EXPECT_THAT(issues(judge_red(evidence)), Not(HasSubstr("was deleted")));
    evidence.deleted_paths = {"cases/2.txt"};
    EXPECT_THAT(issues(judge_red(evidence)), HasSubstr("cases/2.txt was deleted, but no test ran from it"));
}

TEST(RedRule, an_untrusted_run_blocks) {
    auto evidence = red();
    evidence.run.trusted = false;
    evidence.run.distrust = "the canary passed";
    const auto verdict = judge_red(evidence);
    EXPECT_THAT(issues(verdict), HasSubstr("the canary passed"));
    EXPECT_EQ(verdict.facts.at("all_tests_fail"), json::value(false));
}

TEST(GreenRule, all_passing_passes) {
    const auto verdict = judge_green(green());
    EXPECT_THAT(verdict.blocking, IsEmpty());
    EXPECT_EQ(verdict.facts.at("fails_without_change"), json::value(true));
}

TEST(GreenRule, a_skipped_test_does_not_pass) {
    auto evidence = green();
    evidence.run.tests[0].status = TestStatus::skipped;
    EXPECT_THAT(issues(judge_green(evidence)), HasSubstr("was skipped"));
}

TEST(GreenRule, a_missing_test_does_not_pass) {
    auto evidence = green();
    evidence.run.tests.erase(evidence.run.tests.begin());
    EXPECT_THAT(issues(judge_green(evidence)), HasSubstr("no longer collected"));
}

TEST(GreenRule, a_waiting_test_that_no_file_has_names_what_was_collected) {
    auto evidence = green();
    evidence.declared.push_back({"t.py", "test_misnamed[1]", "REQ-001", TestKind::fresh});
    EXPECT_THAT(issues(judge_green(evidence)),
                HasSubstr("t.py::test_misnamed[1] was named but not collected. Collected in t.py: test_a"));
}

TEST(GreenRule, an_additional_type_that_no_run_without_the_change_had_blocks) {
    auto evidence = green();
    evidence.declared.push_back({"t.cpp", "keeps", "REQ-001", TestKind::fresh});
    evidence.red_files.push_back("t.cpp");
    evidence.red_run.tests.push_back(outcome("t.cpp::keeps<int>", TestStatus::failed_assertion));
    evidence.run.tests.push_back(outcome("t.cpp::keeps<int>", TestStatus::passed));
    EXPECT_TRUE(judge_green(evidence).passed()) << issues(judge_green(evidence));
    evidence.run.tests.push_back(outcome("t.cpp::keeps<long int>", TestStatus::passed));
    EXPECT_THAT(issues(judge_green(evidence)), HasSubstr("t.cpp::keeps<long int> did not exist before the change"));
}

TEST(GreenRule, an_additional_test_from_unchanged_files_blocks) {
    auto evidence = green();
    evidence.run.tests.push_back(outcome("t.py::test_extra", TestStatus::passed));
    EXPECT_THAT(issues(judge_green(evidence)), HasSubstr("did not exist before the change"));
}

TEST(GreenRule, an_existing_test_that_did_not_load_in_red_is_not_new) {
    auto evidence = green();
    evidence.base_tests.push_back(outcome("t.py::test_old", TestStatus::passed));
    evidence.run.tests.push_back(outcome("t.py::test_old", TestStatus::passed));
    EXPECT_THAT(issues(judge_green(evidence)), Not(HasSubstr("did not exist before the change")));
}

TEST(GreenRule, a_test_that_passes_with_the_change_reverted_blocks) {
    auto evidence = green();
    evidence.red_run.tests[0].status = TestStatus::passed;
    const auto verdict = judge_green(evidence);
    EXPECT_EQ(verdict.facts.at("fails_without_change"), json::value(false));
    EXPECT_THAT(issues(verdict), HasSubstr("does not fail without the change"));
}

TEST(GreenRule, a_regression_blocks_and_an_old_failure_does_not) {
    auto evidence = green();
    evidence.run.tests[1].status = TestStatus::failed_assertion;
    EXPECT_EQ(judge_green(evidence).facts.at("no_regressions"), json::value(false));
    evidence.base_tests[0].status = TestStatus::failed_assertion;
    EXPECT_TRUE(judge_green(evidence).passed());
}

TEST(GreenRule, a_test_that_is_run_or_judged_differently_than_in_red_blocks) {
    const TestInvocation before{true, false, "command: [a]\n"};
    for (const auto& now : {TestInvocation{false, false, "WILL_FAIL: true\ncommand: [a]\n"},
                            TestInvocation{true, false, "command: [b]\n"}, TestInvocation{false, false, "command: [a]\n"}}) {
        for (const auto* id : {"t.py::test_a", "old.py::test_o"}) {
            auto evidence = green();
            evidence.red_run.invocations[id] = {before};
            evidence.run.invocations[id] = {before};
            EXPECT_TRUE(judge_green(evidence).passed());
            evidence.run.invocations[id] = {now};
            EXPECT_THAT(issues(judge_green(evidence)),
                        HasSubstr(std::string(id) + " is run or judged differently than before the change"));
            EXPECT_FALSE(judge_deliver(evidence).passed());
        }
    }
}

TEST(GreenRule, a_test_that_the_build_now_names_must_keep_its_own_verdict) {
    auto evidence = green();
    evidence.red_run.invocations["t.py::test_a"] = {{true, true, "command: [kernel's]\n"}};
    evidence.run.invocations["t.py::test_a"] = {{true, false, "command: [project's]\n"}};
    EXPECT_TRUE(judge_green(evidence).passed());
    evidence.run.invocations["t.py::test_a"] = {{false, false, "command: [true]\n"}};
    EXPECT_FALSE(judge_green(evidence).passed());
    evidence.run.invocations["t.py::test_a"] = {{true, true, "command: [another]\n"}};
    EXPECT_FALSE(judge_green(evidence).passed());
}

TEST(GreenRule, a_build_with_inputs_that_red_did_not_read_blocks) {
    auto evidence = green();
    evidence.red_run.reads = {"version.txt"};
    evidence.run.reads = {"version.txt"};
    EXPECT_TRUE(judge_green(evidence).passed());
    evidence.run.reads.insert("src/outcome.txt");
    EXPECT_THAT(issues(judge_green(evidence)), HasSubstr("The build reads src/outcome.txt"));
}

TEST(GreenRule, changed_tests_and_configuration_block) {
    auto evidence = green();
    evidence.changed_tests = {"t.py"};
    evidence.changed_configuration = {"pytest.ini"};
    EXPECT_EQ(judge_lock(evidence).blocking.size(), 2U);
    EXPECT_EQ(judge_deliver(evidence).facts.at("tests_unchanged"), json::value(false));
}

TEST(DeclaredTests, names_are_found_in_every_form) {
    const std::vector<TestOutcome> tests{
        outcome("t.py::TestA::test_x", TestStatus::passed), outcome("t.py::test_p[a.b]", TestStatus::passed),
        outcome("t.py::test_p[c]", TestStatus::passed), outcome("u.py::test_x", TestStatus::passed)};
    for (const auto* name : {"test_x", "TestA::test_x", "TestA.test_x", "t.py::TestA::test_x"}) {
        EXPECT_EQ(outcomes_of({"t.py", name, "", TestKind::fresh}, tests).size(), 1U) << name;
    }
    EXPECT_EQ(outcomes_of({"t.py", "test_p", "", TestKind::fresh}, tests).size(), 2U);
    EXPECT_EQ(outcomes_of({"t.py", "test_p[a.b]", "", TestKind::fresh}, tests).size(), 1U);
    EXPECT_EQ(outcomes_of({"t.py", "test", "", TestKind::fresh}, tests).size(), 0U);
}

TEST(DeclaredTests, a_nested_class_may_be_named_with_or_without_its_outer_classes) {
    const std::string file = "src/test/java/a/MoneyTest.java";
    const std::vector<TestOutcome> tests{outcome(file + "::MoneyTest::Plus::adds", TestStatus::passed),
                                         outcome(file + "::MoneyTest::Minus::adds", TestStatus::passed),
                                         outcome(file + "::MoneyTest::Plus::ofMany[1]", TestStatus::passed)};
    for (const auto* name : {"Plus.adds", "Plus::adds", "MoneyTest.Plus.adds", "MoneyTest$Plus.adds", "MoneyTest$Plus#adds",
                             "a.MoneyTest$Plus.adds", "Plus > adds", "Plus.adds()", "Plus.ofMany", "ofMany"}) {
        EXPECT_EQ(outcomes_of({file, name, "", TestKind::fresh}, tests).size(), 1U) << name;
    }
    EXPECT_EQ(outcomes_of({file, "adds", "", TestKind::fresh}, tests).size(), 2U);
    EXPECT_EQ(outcomes_of({file, "Other.adds", "", TestKind::fresh}, tests).size(), 0U);
}

TEST(DeclaredTestId, a_name_may_contain_dots_and_match_the_runners_output) {
    const std::vector<TestOutcome> tests{outcome("s.test.ts::slugify::words::rounds 3.5 to 4", TestStatus::passed),
                                         outcome("s.test.ts::rounds 3.5", TestStatus::passed)};
    for (const auto* name : {"slugify > words > rounds 3.5 to 4", "slugify \u203a words \u203a rounds 3.5 to 4",
                             "slugify::words::rounds 3.5 to 4", "rounds 3.5 to 4", "rounds 3.5", "s.test.ts::rounds 3.5"}) {
        EXPECT_EQ(outcomes_of({"s.test.ts", name, "", TestKind::fresh}, tests).size(), 1U) << name;
    }
}

std::vector<std::string> ids_of(const std::string& file, const std::string& name, const std::vector<std::string>& names) {
    std::vector<TestOutcome> tests;
    for (const auto& each : names) { tests.push_back(outcome(file + "::" + each, TestStatus::passed)); }
    std::vector<std::string> ids;
    for (const auto* found : outcomes_of({file, name, "", TestKind::fresh}, tests)) {
        ids.push_back(found->id.substr(file.size() + 2));
    }
    return ids;
}

TEST(DeclaredTests, a_test_of_many_types_values_or_rows_means_all_its_cases) {
    using Names = std::vector<std::string>;
    const Names doctest{"keeps<int>", "keeps<long int>", "keeps well<int>", "keeps"};
    EXPECT_EQ(ids_of("t.cpp", "keeps", {doctest[0], doctest[1], doctest[2]}), (Names{"keeps<int>", "keeps<long int>"}));
    EXPECT_EQ(ids_of("t.cpp", "keeps", doctest), (Names{"keeps"})) << "a test of exactly this name excludes the others";
    EXPECT_EQ(ids_of("t.cpp", "keeps", {"keeps - int", "keeps - std::vector<int>", "keepsake - int"}),
              (Names{"keeps - int", "keeps - std::vector<int>"}));
    EXPECT_EQ(ids_of("t.cpp", "data", {"sums::data::_0", "sums::data::_1", "sums::data::x"}),
              (Names{"sums::data::_0", "sums::data::_1"}));
    EXPECT_EQ(ids_of("t.cpp", "keeps", {"sums::keeps<std::string>"}), (Names{"sums::keeps<std::string>"}));
    EXPECT_EQ(ids_of("src/a.rs", "adds", {"tests::adds::case_1", "tests::adds::case_2_negative", "tests::adds::helper"}),
              (Names{"tests::adds::case_1", "tests::adds::case_2_negative"}));
    EXPECT_EQ(ids_of("a_test.go", "TestAdds/two numbers", {"TestAdds", "TestAddsMore"}), (Names{"TestAdds"}));
    EXPECT_EQ(ids_of("a.test.ts", "sums > adds %i and $b", {"sums::adds 1 and 2", "sums::adds 3 and 4", "sums::adds"}),
              (Names{"sums::adds 1 and 2", "sums::adds 3 and 4"}));
    EXPECT_EQ(ids_of("a.test.mjs", "adds ${a.first} and ${b}", {"adds 1 and 2", "subtracts 1 and 2"}), (Names{"adds 1 and 2"}));
    EXPECT_EQ(ids_of("t.py", "keeps", {"keeps<int>", "keeps - int", "keeps::_0"}), Names{}) << "names that only C++ makes";
}

TEST(DeclaredTests, a_type_may_be_spelled_as_in_the_source) {
    const std::vector<std::string> names{"keeps<int>", "keeps<long int>", "keeps<std::__cxx11::basic_string<char> >",
                                         "keeps<std::vector<unsigned int>>", "keeps<n::Point>"};
    const std::vector<std::pair<std::string, std::size_t>> spelled{
        {"keeps<long>", 1}, {"keeps<std::string>", 2}, {"keeps<std::vector<unsigned>>", 3}, {"keeps<Point>", 4}};
    for (const auto& [name, at] : spelled) {
        EXPECT_EQ(ids_of("t.cpp", name, names), std::vector<std::string>{names[at]}) << name;
    }
    EXPECT_THAT(ids_of("t.cpp", "keeps<short>", names), IsEmpty()) << "the implementation must not decide which types are tested";
    EXPECT_THAT(ids_of("t.cpp", "keeps<long>", {"keeps<int>"}), IsEmpty());
}

TEST(DeclaredTests, malformed_entries_are_reported) {
    std::vector<std::string> problems;
    const auto suite =
        json::parse(R"({"test_files": [{"path": "t.py", "tests": [{"name": "a", "kind": "odd"}, {}]}, {"tests": []}, 3]})");
    EXPECT_THAT(declared_tests(suite.as_object(), problems), IsEmpty());
    EXPECT_EQ(problems.size(), 4U);
}

TEST(Globs, match_like_gitignore) {
    EXPECT_TRUE(path_matches("tests/**/test_*.py", "tests/test_a.py"));
    EXPECT_TRUE(path_matches("tests/**/test_*.py", "tests/a/b/test_a.py"));
    EXPECT_FALSE(path_matches("tests/**/test_*.py", "src/tests/test_a.py"));
    EXPECT_TRUE(path_matches("*_test.py", "a/b/x_test.py"));
    EXPECT_FALSE(path_matches("a/*.py", "a/b/c.py"));
    EXPECT_TRUE(path_matches("**/cli/**", "src/cli/a.py"));
    EXPECT_TRUE(path_matches("tests/**", "tests/a/b"));
    EXPECT_FALSE(path_matches("tests/**", "tests2/a"));
}

TEST(Globs, brackets_list_characters) {
    EXPECT_TRUE(path_matches("spec/**/*[sS]pec.js", "spec/cartSpec.js"));
    EXPECT_FALSE(path_matches("app/[id]/page.ts", "app/[id]/page.ts"));
    EXPECT_TRUE(path_matches("app/\\[id]/page.ts", "app/[id]/page.ts"));
}

TEST(Globs, match_files_and_not_what_is_in_a_matching_folder) {
    EXPECT_FALSE(path_matches("tests", "tests/a.py"));
    EXPECT_FALSE(path_matches("tests/", "tests/a.py"));
    EXPECT_FALSE(path_matches("tests/", "tests"));
    EXPECT_FALSE(Globs({"!tests/"}).empty());
    EXPECT_TRUE(Globs({"!tests/"}).matches("tests/a.py"));
}

TEST(Globs, an_exclusion_wins) {
    EXPECT_FALSE(Globs({"*.py", "!test_*.py"}).matches("test_a.py"));
    EXPECT_TRUE(Globs({"*.py", "!test_*.py"}).matches("a.py"));
    EXPECT_FALSE(Globs{}.matches("a.py"));
}

}  // namespace
}  // namespace agentforge::kernel
