// SPDX-License-Identifier: Apache-2.0
// Conformance of a change and the fix of a violation, in a language whose sources no program measures.
#include "gates/engine/violation_fix.hpp"

#include <gmock/gmock.h>

#include "gates/conformance/conformance_gate.hpp"
#include "gates/conformance/named_violations.hpp"
#include "unit/gates/engine_parts.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* clean_code = "package shop\n\nfunc Add() int {\n\treturn 1\n}\n";
constexpr const char* test_aware_code = "package shop\n\nfunc Add() bool {\n\treturn testing.Testing()\n}\n";

class FixOfAViolation : public ::testing::Test {
protected:
    std::vector<Finding> found(const std::string& tree) {
        auto all = findings_.find(tree, {}, Stop{});
        EXPECT_TRUE(all.ok()) << all.error().to_string();
        return all.ok() ? *all : std::vector<Finding>{};
    }
    GateReport judged(json::object parameters) {
        GateReport report;
        const auto done = fix_.judge(parts_.call("fix", {}, std::move(parameters)), report, Stop{});
        EXPECT_TRUE(done.ok()) << done.error().to_string();
        return report;
    }

    EngineParts parts_{"go"};
    SourceFindings findings_{
        parts_.checkout, parts_.languages, parts_.commands, {std::string(AGENTFORGE_SOURCE_DIR) + "/config/conformance"}};
    CoverageRuns coverage_{parts_.checkout, parts_.languages, parts_.commands};
    ConformanceGate conformance_{parts_.checkout, parts_.languages, parts_.commands, findings_, coverage_};
    ViolationFix fix_{parts_.checkout, findings_};
};

TEST_F(FixOfAViolation, is_complete_once_the_violation_is_gone) {
    parts_.tree("base") = {{"shop.go", test_aware_code}};
    parts_.tree("now") = {{"shop.go", test_aware_code}};
    const auto named = name_violations(found("base"), {});
    ASSERT_THAT(named, SizeIs(1));
    const json::object parameters{{"violation", to_json(named.front())}};
    auto report = judged(parameters);
    EXPECT_EQ(report.facts.at("violation_gone"), false);
    EXPECT_THAT(report.blocking_issues, ElementsAre(HasSubstr("shop.go:4: the violation is still there")));
    parts_.tree("now") = {{"shop.go", clean_code}};
    report = judged(parameters);
    EXPECT_EQ(report.facts.at("violation_gone"), true);
    EXPECT_THAT(report.blocking_issues, IsEmpty());
}

TEST_F(FixOfAViolation, may_not_add_another_one) {
    parts_.tree("base") = {{"shop.go", clean_code}};
    parts_.tree("now") = {{"shop.go", clean_code}, {"other.go", test_aware_code}};
    const auto report = judged({});
    EXPECT_EQ(report.facts.at("no_new_violations"), false);
    EXPECT_THAT(report.blocking_issues, ElementsAre(HasSubstr("other.go:4")));
}

TEST_F(FixOfAViolation, is_needed_only_for_what_the_change_added) {
    parts_.tree("base") = {{"old.go", test_aware_code}};
    parts_.tree("now") = {{"old.go", std::string(test_aware_code) + "\n"}, {"new.go", clean_code}};
    auto report = conformance_.measure(parts_.call("conformance"), Enforcement::every_edit, Stop{});
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    EXPECT_TRUE(report->passed) << joined(report->blocking_issues);
    EXPECT_EQ(report->facts.at("violations_before"), 1);
    parts_.tree("now")["new.go"] = test_aware_code;
    report = conformance_.measure(parts_.call("conformance"), Enforcement::every_edit, Stop{});
    EXPECT_FALSE(report->passed);
    EXPECT_THAT(report->blocking_issues, ElementsAre(HasSubstr("new.go:4")));
    EXPECT_EQ(parts_.programs.runs, 0);
}

}  // namespace
}  // namespace agentforge::kernel::testing
