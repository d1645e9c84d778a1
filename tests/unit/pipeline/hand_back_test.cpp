// SPDX-License-Identifier: Apache-2.0
// The way back from GREEN: which evidence counts, what may change on the way, and what happens to the work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/tests/hand_back.hpp"
#include "unit/pipeline/pipeline_fixture.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

json::object parsed(std::string_view text) { return json::parse(text).as_object(); }

const json::object specification = parsed(R"({"requirements": [
    {"id": "REQ-001", "description": "Lower case", "acceptance_criteria": ["'Hello' becomes 'hello'"], "verification_method": "test"},
    {"id": "REQ-002", "description": "Hyphens", "acceptance_criteria": ["'a b' becomes 'a-b'."], "verification_method": "test"}]})");
const json::object suite = parsed(R"({"test_files": [{"path": "tests/test_slug.py", "tests": [
    {"name": "test_lower", "requirement_ref": "REQ-001"}, {"name": "test_spaces", "requirement_ref": "REQ-002"}]}]})");

TestOutcome outcome(const std::string& id, TestStatus status, std::string message = {}) {
    return TestOutcome{id, id.substr(id.rfind(':') + 1), id.substr(0, id.find("::")), 12, status, std::move(message)};
}

const std::string lower = "tests/test_slug.py::TestSlug::test_lower";
const std::string spaces = "tests/test_slug.py::TestSlug::test_spaces";

GateReport one_fails() {
    GateReport report;
    report.tests = {outcome(lower, TestStatus::passed), outcome(spaces, TestStatus::failed_assertion, "'a-b' != 'a_b'"),
                    outcome("tests/test_words.py::TestWords::test_shout", TestStatus::passed)};
    report.facts = {{"believed", true}};
    return report;
}

json::object claim() {
    return parsed(
        R"({"to": "red", "tests": ["test_spaces"], "criterion": "'a b' becomes 'a-b'", "reason": "An underscore is expected"})");
}

Result<records::HandBackEvidence> judged(const json::object& what, const GateReport& report,
                                         std::vector<std::string> changed = {"slug.py"}) {
    return judge_hand_back(what, HandBackGround{specification, suite, report, std::move(changed)});
}

std::string refusal(const json::object& what, const GateReport& report, std::vector<std::string> changed = {"slug.py"}) {
    const auto evidence = judged(what, report, std::move(changed));
    EXPECT_FALSE(evidence.ok());
    if (evidence.ok()) { return {}; }
    EXPECT_EQ(evidence.error().code, "AF-ORCH-033");
    return evidence.error().message;
}

json::object with(json::object what, std::string_view key, json::value value) {
    what[key] = std::move(value);
    return what;
}

TEST(HandBack, evidence_quotes_the_measurement_and_the_specification) {
    const auto evidence = judged(claim(), one_fails());
    ASSERT_TRUE(evidence.ok()) << evidence.error().to_string();
    EXPECT_EQ(evidence->to, "tests") << "the claim has the older word";
    EXPECT_EQ(evidence->tests, std::vector<std::string>{spaces});
    EXPECT_EQ(evidence->requirement, "REQ-002");
    EXPECT_EQ(*evidence->measured->at(0).message, "'a-b' != 'a_b'");
    EXPECT_THAT(hand_back_words(*evidence), HasSubstr("Specified (REQ-002): 'a b' becomes 'a-b'"));
    EXPECT_THAT(hand_back_words(*evidence), HasSubstr("'a-b' != 'a_b'"));
}

TEST(HandBack, a_criterion_is_found_in_the_form_shown_to_agents) {
    EXPECT_TRUE(judged(with(claim(), "criterion", "REQ-002:  'a b' becomes\n 'a-b'."), one_fails()).ok());
}

/// A failed build keeps every file from running.
GateReport does_not_build(const std::string& message) {
    GateReport report;
    report.tests = {outcome("tests/test_slug.py", TestStatus::error, message), outcome(spaces, TestStatus::not_collected),
                    outcome(lower, TestStatus::not_collected), outcome("tests/test_words.py", TestStatus::error, message)};
    report.facts = {{"believed", true}};
    return report;
}

TEST(HandBack, tests_of_a_file_that_does_not_build_can_be_handed_back) {
    const auto evidence = judged(
        claim(), does_not_build(
                     "does not build: tests/test_slug.py:9: cannot borrow `quota` as mutable\ntests/test_slug.py:10: the same"));
    ASSERT_TRUE(evidence.ok()) << evidence.error().to_string();
    EXPECT_EQ(evidence->tests, std::vector<std::string>{"tests/test_slug.py::test_spaces"});
    EXPECT_THAT(hand_back_words(*evidence), HasSubstr("cannot borrow `quota`"));
}

TEST(HandBack, a_build_that_the_code_breaks_is_not_handed_back) {
    EXPECT_THAT(refusal(claim(), does_not_build("does not build: slug.py:9: expected `;`")),
                HasSubstr("is neither a test written"));
    EXPECT_THAT(refusal(claim(), does_not_build("does not build: tests/test_slug.py:9: no method\nslug.py:9: expected `;`")),
                HasSubstr("is neither a test written"));
}

TEST(HandBack, an_unspecified_criterion_is_refused) {
    EXPECT_THAT(refusal(with(claim(), "criterion", "Spaces stay as they are"), one_fails()),
                HasSubstr("REQ-002: 'a b' becomes 'a-b'"));
    EXPECT_THAT(refusal(with(claim(), "criterion", "'a b'"), one_fails()), HasSubstr("not a criterion of the specification"));
}

TEST(HandBack, an_existing_test_that_fails_now_can_be_handed_back_as_outdated) {
    const std::string shout = "tests/test_words.py::TestWords::test_shout";
    GateReport report = one_fails();
    report.tests[1].status = TestStatus::passed;
    report.tests[2] = outcome(shout, TestStatus::failed_assertion, "'A' != 'a'");
    const json::object what = with(claim(), "tests", json::array{shout});
    const auto judge = [&](const std::vector<TestOutcome>& base) {
        return judge_hand_back(what, HandBackGround{specification, suite, report, {"words.py"}, base});
    };
    const auto evidence = judge({outcome(shout, TestStatus::passed)});
    ASSERT_TRUE(evidence.ok()) << evidence.error().to_string();
    EXPECT_EQ(evidence->tests, std::vector<std::string>{shout});
    EXPECT_FALSE(judge({outcome(shout, TestStatus::failed_assertion)}).ok()) << "it failed before the task";
    EXPECT_FALSE(judge({}).ok());
}

TEST(HandBack, a_passing_test_cannot_be_handed_back_as_wrong) {
    EXPECT_THAT(refusal(with(claim(), "tests", json::array{"test_lower", "test_spaces"}), one_fails()),
                HasSubstr("test_lower passes"));
}

TEST(HandBack, a_passing_test_that_asserts_nothing_can_be_handed_back) {
    GateReport report = one_fails();
    report.tests[1] = outcome(spaces, TestStatus::passed);
    report.facts["tests_at_fault"] = json::array{spaces};
    report.blocking_issues = {"lint", spaces + " passes without a single assertion"};
    const auto evidence = judged(claim(), report);
    ASSERT_TRUE(evidence.ok()) << evidence.error().to_string();
    EXPECT_THAT(hand_back_words(*evidence), HasSubstr("passes. " + spaces + " passes without a single assertion"));
    EXPECT_THAT(refusal(with(claim(), "tests", json::array{"test_lower"}), report), HasSubstr("passes"));
}

TEST(HandBack, a_test_not_written_by_red_cannot_be_handed_back) {
    EXPECT_THAT(refusal(with(claim(), "tests", json::array{"test_shout"}), one_fails()), HasSubstr("is neither a test written"));
}

TEST(HandBack, refused_if_nothing_is_implemented_yet) {
    EXPECT_THAT(refusal(claim(), one_fails(), {}), HasSubstr("nothing was implemented"));
    GateReport report = one_fails();
    report.tests[1].status = TestStatus::failed_skeleton;
    EXPECT_THAT(refusal(claim(), report), HasSubstr("not written yet"));
}

TEST(HandBack, all_other_tests_must_pass) {
    GateReport report = one_fails();
    report.tests[2].status = TestStatus::error;
    EXPECT_THAT(refusal(claim(), report), HasSubstr("test_shout fails too"));
    report.facts["failed_before"] = json::array{"tests/test_words.py::TestWords::test_shout"};
    EXPECT_TRUE(judged(claim(), report).ok()) << "what failed before the task is nobody's doing";
}

TEST(HandBack, an_untrusted_run_is_no_evidence) {
    GateReport report = one_fails();
    report.facts["believed"] = false;
    EXPECT_THAT(refusal(claim(), report), HasSubstr("not trusted"));
    EXPECT_THAT(refusal(claim(), GateReport{}), HasSubstr("no test could be run"));
}

GateReport has_an_error_of_the_compiler() {
    GateReport report = one_fails();
    report.tests = {outcome("tests/test_slug.py", TestStatus::error, "does not build: `words` is not mutable"),
                    outcome("tests/test_words.py", TestStatus::error, "does not build: could not compile")};
    report.violations.push_back({"cargo", "types", "critical", "tests/test_slug.py", 9, "cannot borrow `words` as mutable", ""});
    return report;
}

TEST(HandBack, a_test_file_that_does_not_build_beside_code_that_does_is_handed_back) {
    const auto evidence = judged(with(claim(), "tests", json::array{"tests/test_slug.py"}), has_an_error_of_the_compiler());
    ASSERT_TRUE(evidence.ok()) << evidence.error().to_string();
    EXPECT_EQ(evidence->tests, (std::vector<std::string>{"tests/test_slug.py::test_lower", "tests/test_slug.py::test_spaces"}));
    EXPECT_EQ(*evidence->measured->at(0).message, "does not build: cannot borrow `words` as mutable");
    EXPECT_EQ(*evidence->measured->at(0).line, 9U);
    GateReport report = has_an_error_of_the_compiler();
    report.violations.push_back({"cargo", "types", "critical", "slug.py", 3, "mismatched types", ""});
    EXPECT_THAT(refusal(with(claim(), "tests", json::array{"tests/test_slug.py"}), report),
                HasSubstr("slug.py:3 does not build either"));
}

TEST(HandBack, a_passing_test_with_type_errors_can_be_handed_back) {
    GateReport report = one_fails();
    report.tests[1].status = TestStatus::passed;
    report.violations.push_back(
        {"tsc", "types", "critical", "tests/test_slug.py", 3, "TS2835: Relative import paths need explicit file extensions", ""});
    EXPECT_TRUE(judged(claim(), report).ok());
}

TEST(HandBack, a_criterion_is_handed_back_with_its_tests) {
    EXPECT_TRUE(judged(with(claim(), "to", "spec"), one_fails()).ok());
    EXPECT_TRUE(judged(with(claim(), "to", "specification"), one_fails()).ok());
    const json::object other = with(with(claim(), "to", "spec"), "criterion", "'Hello' becomes 'hello'");
    EXPECT_THAT(refusal(other, one_fails()), HasSubstr("is of REQ-002"));
}

// ------------------------------------------------------------------------------------------- corrections --

HandBack sent(std::string to) { return HandBack{"green", std::move(to), {spaces}, "REQ-002", "t1", "t2", "b"}; }

std::vector<std::string> faults(std::string_view tests) {
    return faults_of_correction(
        Correction::tests, sent("red"), suite,
        parsed(R"({"test_files": [{"path": "tests/test_slug.py", "tests": )" + std::string(tests) + "}]}"));
}

TEST(HandBack, a_correction_may_keep_the_suite_or_rename_a_test) {
    EXPECT_THAT(faults_of_correction(Correction::tests, sent("red"), suite, suite), IsEmpty());
    EXPECT_THAT(
        faults(
            R"([{"name": "test_lower", "requirement_ref": "REQ-001"}, {"name": "test_hyphens", "requirement_ref": "REQ-002"}])"),
        IsEmpty());
}

TEST(HandBack, a_correction_must_not_remove_a_test) {
    EXPECT_THAT(faults(R"([{"name": "test_lower", "requirement_ref": "REQ-001"}])"),
                ElementsAre(HasSubstr("REQ-002 has fewer new tests")));
    EXPECT_THAT(
        faults(
            R"([{"name": "test_lower", "requirement_ref": "REQ-001"}, {"name": "test_spaces", "requirement_ref": "REQ-002", "kind": "guard"}])"),
        ElementsAre(HasSubstr("REQ-002 has fewer new tests")));
}

TEST(HandBack, a_correction_must_not_change_another_test) {
    EXPECT_THAT(
        faults(
            R"([{"name": "test_small", "requirement_ref": "REQ-001"}, {"name": "test_spaces", "requirement_ref": "REQ-002"}])"),
        ElementsAre(HasSubstr("test_lower (REQ-001) was not handed back")));
}

json::object corrected(std::size_t requirement, std::string_view key, json::value value) {
    json::object after = specification;
    after.at("requirements").as_array().at(requirement).as_object()[key] = std::move(value);
    return after;
}

TEST(HandBack, a_correction_may_change_only_the_handed_back_requirement) {
    EXPECT_THAT(faults_of_correction(Correction::specification, sent("spec"), specification,
                                     corrected(1, "acceptance_criteria", json::array{"'a b' becomes 'a_b'"})),
                IsEmpty());
    EXPECT_THAT(faults_of_correction(Correction::specification, sent("spec"), specification,
                                     corrected(0, "acceptance_criteria", json::array{"anything"})),
                ElementsAre(HasSubstr("REQ-001 has changed")));
    EXPECT_THAT(faults_of_correction(Correction::specification, sent("spec"), specification,
                                     corrected(1, "verification_method", "inspection")),
                ElementsAre(HasSubstr("REQ-002 has a different verification_method")));
    json::object shorter = specification;
    shorter.at("requirements").as_array().pop_back();
    EXPECT_THAT(faults_of_correction(Correction::specification, sent("spec"), specification, shorter),
                ElementsAre(HasSubstr("REQ-002 is missing")));
}

// ---------------------------------------------------------------------------------------------- the task --

/// SPEC, RED and GREEN without a model: GREEN's second test fails until the tests' file contains `right`.
class HandBackTask : public ::testing::Test {
protected:
    HandBackTask() {
        fixture.memory.gate = [](const GateCall& call, const Files& files) -> Result<GateReport> {
            const bool code = files.contains("slug.py");
            const auto tests = files.find("tests/test_slug.py");
            const bool right = tests != files.end() && tests->second == "right\n";
            const bool green = call.request.gate == "green";
            GateReport report = gate_report(call, !green || (code && right), facts());
            report.tests = {outcome(lower, code ? TestStatus::passed : TestStatus::failed_assertion),
                            outcome(spaces, code && right ? TestStatus::passed : TestStatus::failed_assertion, "'a-b' != 'a_b'")};
            return report;
        };
        fixture.stage("spec", [this](StageContext& context) {
            json::object whole = parsed(
                R"({"title": "Slugs", "description": "Slugs", "components": [{"name": "slug", "type": "module"}], "requirements": [
                {"id": "REQ-001", "description": "Lower case", "acceptance_criteria": ["'Hello' becomes 'hello'"], "verification_method": "test"},
                {"id": "REQ-002", "description": "Hyphens", "acceptance_criteria": ["'a b' becomes 'a-b'"], "verification_method": "test"}]})");
            seen_by_spec.push_back(context.input().previous_errors.empty() ? "" : context.input().previous_errors.front());
            const std::size_t changed = seen_by_spec.size() == 2 && spec_strays ? 0 : 1;
            if (seen_by_spec.size() > 1) {
                whole["requirements"].as_array().at(changed).as_object()["description"] = "Otherwise";
            }
            return StageResult::completed(std::move(whole));
        });
        fixture.stage("red", [this](StageContext& context) {
            seen_by_red = context.input().previous_errors;
            const bool again = context.workspace().exists("tests/test_slug.py");
            EXPECT_FALSE(context.workspace().exists("slug.py")) << "tests are written before the code";
            EXPECT_TRUE(context.write_skeleton({{"slugify", "words.py", "def slugify(text)"}}).ok());
            EXPECT_TRUE(
                context.workspace()
                    .create("tests/test_slug.py", (again && mends) || seen_by_spec.size() > 1 ? "right\n" : "wrong\n", true)
                    .ok());
            return measured(context, "red", suite);
        });
        fixture.stage("green", [this](StageContext& context) {
            const bool again = context.workspace().exists("slug.py");
            works.push_back(again);
            if (!again && tries) { EXPECT_TRUE(context.workspace().create("slug.py", "the code\n", false).ok()); }
            if (again && mends) { return measured(context, "green", {{"summary", "done"}}); }
            StageResult result = measured(context, "green",
                                          {{"summary", "a test is wrong"}, {"hand_back", with(claim(), "to", json::string(to))}});
            result.status = StageStatus::pending;
            result.cycle_to = to;
            result.cycle_reason = "it is wrong";
            return result;
        });
    }
    /// Adds the delivery.
    void deliver() {
        delivers = true;
        fixture.stage("deliver", [](StageContext& context) {
            DeliveryRequest request;
            request.title = "Add slugs";
            EXPECT_TRUE(context.deliver(request).ok());
            return note();
        });
    }
    static json::object facts() {
        return parsed(
            R"({"believed": true, "all_tests_fail": true, "no_implementation_exists": true, "all_tests_pass": true, "conformance_passing": true, "no_regressions": true,
                          "test_results": {"total": 2, "passed": 1, "failed": 1}, "failing_tests": ["x"], "passing_tests": ["x"], "coverage_mapping": {}})");
    }
    static StageResult measured(StageContext& context, const char* gate, json::object artifact) {
        GateRequest request;
        request.gate = gate;
        EXPECT_TRUE(context.run_gate(request).ok());
        return StageResult::completed(std::move(artifact));
    }
    [[nodiscard]] PipelineResult start() {
        StartOptions options = delivers ? PipelineFixture::with({"spec", "red", "green", "deliver"})
                                        : PipelineFixture::with({"spec", "red", "green"});
        if (delivers) { options.pipeline.stages.back().delivers = true; }
        const char* const contracts[] = {"specification", "test_suite", "implementation"};
        const char* const agents[] = {"software_architect", "test_engineer", "software_developer"};
        for (std::size_t at = 0; at < 3; ++at) {
            options.pipeline.stages[at].contract = contracts[at];
            options.pipeline.stages[at].agent = agents[at];
            options.pipeline.stages[at].max_retries = 0;
            if (at > 0) { options.pipeline.stages[at].config["exit_gate"] = options.pipeline.stages[at].name; }
        }
        return fixture.start(options);
    }

    PipelineFixture fixture;
    bool mends = true;
    bool tries = true;
    bool delivers = false;
    bool spec_strays = false;
    std::string to = "red";
    std::vector<std::string> seen_by_spec;
    std::vector<std::string> seen_by_red;
    std::vector<bool> works;
};

TEST_F(HandBackTask, red_corrects_the_test_on_its_tree_and_green_keeps_its_work) {
    const auto result = start();
    ASSERT_TRUE(result.success) << (result.error ? result.error->to_string() : "");
    EXPECT_THAT(works, ElementsAre(false, true));
    EXPECT_THAT(seen_by_red, ElementsAre(HasSubstr("'a-b' != 'a_b'")));
    EXPECT_EQ(fixture.memory.trees.at(fixture.state(result.task_id).tree).at("slug.py"), "the code\n");
    EXPECT_FALSE(fixture.state(result.task_id).hand_back) << "GREEN is done";
}

TEST_F(HandBackTask, red_always_creates_the_skeleton_from_the_users_commit) {
    const auto result = start();
    ASSERT_TRUE(result.success) << (result.error ? result.error->to_string() : "");
    const std::string base = fixture.state(result.task_id).base_tree;
    EXPECT_THAT(fixture.memory.skeleton_trees, ElementsAre(base, base));
}

TEST_F(HandBackTask, spec_corrects_its_requirement_and_red_restarts_with_the_work_kept) {
    to = "spec";
    const auto result = start();
    ASSERT_TRUE(result.success) << (result.error ? result.error->to_string() : "");
    EXPECT_THAT(seen_by_spec, ElementsAre("", HasSubstr("'a-b' != 'a_b'")));
    EXPECT_THAT(seen_by_red, IsEmpty()) << "it writes tests of the corrected specification";
    EXPECT_THAT(works, ElementsAre(false, true));
}

TEST_F(HandBackTask, wrong_tests_go_to_the_stage_that_wrote_them) {
    to = "tests";
    EXPECT_TRUE(start().success);
    EXPECT_THAT(fixture.events.texts("cycle_requested", "to"), ElementsAre("red"));
}

TEST_F(HandBackTask, a_wrong_specification_goes_to_the_stage_that_wrote_it) {
    to = "specification";
    EXPECT_TRUE(start().success);
    EXPECT_THAT(fixture.events.texts("cycle_requested", "to"), ElementsAre("spec"));
}

TEST_F(HandBackTask, spec_that_changes_another_requirement_is_refused) {
    to = "spec";
    spec_strays = true;
    const auto result = start();
    ASSERT_TRUE(result.success) << (result.error ? result.error->to_string() : "");
    EXPECT_THAT(seen_by_spec, ElementsAre("", HasSubstr("'a-b' != 'a_b'"), HasSubstr("REQ-001 has changed")));
    EXPECT_EQ(fixture.count(result.task_id, "artifact_rejected"), 1U);
}

TEST_F(HandBackTask, the_work_is_kept_as_a_patch) {
    const auto result = start();
    bool found = false;
    for (const Record& record : fixture.records(result.task_id)) {
        if (record.type() != "cycle_requested") { continue; }
        const std::string patch(record.body.at("hand_back").at("patch").as_string());
        found = read_file(fixture.task_folder(result.task_id) / patch).value_or("").find("the code") != std::string::npos;
    }
    EXPECT_TRUE(found);
}

TEST_F(HandBackTask, the_commit_says_what_was_handed_back) {
    deliver();
    ASSERT_TRUE(start().success);
    ASSERT_FALSE(fixture.memory.messages.empty());
    EXPECT_THAT(
        fixture.memory.messages.back(),
        HasSubstr("- GREEN handed " + spaces + " back to RED: An underscore is expected. Changed since: tests/test_slug.py."));
}

TEST_F(HandBackTask, endless_hand_backs_become_a_question) {
    mends = false;
    const auto waiting = start();
    EXPECT_EQ(waiting.exit_code, ExitCode::cycle_limit);
    EXPECT_EQ(fixture.count(waiting.task_id, "cycle_started"), 3U);
    EXPECT_THAT(works, ElementsAre(false, true, true, true)) << "its work is there each time";
}

TEST_F(HandBackTask, a_stage_that_hands_back_without_evidence_fails) {
    tries = false;
    const auto result = start();
    EXPECT_EQ(result.status, TaskStatus::failed);
    EXPECT_EQ(result.error->code, "AF-ORCH-033");
    EXPECT_EQ(fixture.count(result.task_id, "cycle_requested"), 0U);
}

}  // namespace
}  // namespace agentforge::kernel::testing
