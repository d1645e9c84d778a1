// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/gate_runner.hpp"

namespace agentforge::kernel {
namespace {

GateReport sample() {
    GateReport report{"green",
                      "abc",
                      false,
                      "1 test fails",
                      {"t.py::a fails"},
                      {},
                      {},
                      {{"conformance_passing", false}, {"checks_total", 4}, {"checks_passing", 3}},
                      std::chrono::milliseconds(12)};
    report.tests = {{"t.py::a", "a", "t.py", 4, TestStatus::failed_assertion, "1 != 2"},
                    {"t.py::b", "b", "t.py", 6, TestStatus::passed, ""}};
    report.violations = {{"line-length", "style", "minor", "a.py", 3, "long", "break it"}};
    return report;
}

TEST(GateReports, round_trip_through_json) {
    const auto json = to_json(sample());
    const auto back = gate_report_from_json(json);
    ASSERT_TRUE(back.ok()) << back.error().to_string();
    EXPECT_EQ(json::value(to_json(*back)), json::value(json));
}

TEST(GateReports, every_missing_field_is_an_error) {
    const auto whole = to_json(sample());
    for (const auto& field : whole) {
        auto damaged = whole;
        damaged.erase(field.key());
        const auto back = gate_report_from_json(damaged);
        ASSERT_FALSE(back.ok()) << field.key();
        EXPECT_EQ(back.error().code, "AF-GATE-007");
    }
}

TEST(GateReports, an_unknown_status_is_an_error) {
    auto json = to_json(sample());
    json["tests"].as_array()[0].as_object()["status"] = "fine";
    EXPECT_FALSE(gate_report_from_json(json).ok());
}

TEST(VerificationStatus, shows_failures_violations_and_the_next_action) {
    const auto status = verification_status({sample()});
    EXPECT_EQ(status.at("tests").at("status"), json::value("failing"));
    EXPECT_EQ(status.at("tests").at("failures").at(0).at("line"), json::value(4U));
    EXPECT_EQ(status.at("conformance").at("failing"), json::value(1));
    EXPECT_EQ(status.at("phase_exit_ready"), json::value(false));
    EXPECT_EQ(status.at("next_suggested_action"), json::value("make a in t.py:4 pass"));
}

TEST(VerificationStatus, suggests_fixes_in_order_of_dependency) {
    auto report = sample();
    report.violations.push_back({"sql-injection", "security", "major", "a.py", 7, "The SQL statement is built from values.",
                                 "Pass the values as parameters of the query."});
    EXPECT_EQ(verification_status({report}).at("next_suggested_action"),
              json::value("in a.py:7: Pass the values as parameters of the query (sql-injection), then make a in t.py:4 pass"));
}

TEST(VerificationStatus, reports_no_warning_count_if_none_was_measured) {
    GateReport report{"types", "abc", true, "", {}, {}, {}, {{"type_check", "checked"}, {"type_check_passing", true}}, {}};
    EXPECT_FALSE(verification_status({report}).at("type_check").as_object().contains("warnings"));
}

TEST(VerificationStatus, lists_build_errors_before_their_consequences_and_each_once) {
    GateReport report{"tests", "abc", false, "", {}, {}, {}, {{"syntax_passing", false}}, {}};
    report.tests = {{"t.cpp::a", "a", "t.cpp", 4, TestStatus::error, "not run: the program ended in b"},
                    {"t.cpp::b", "b", "t.cpp", 6, TestStatus::failed_assertion, "expected 1, got 2"},
                    {"u.cpp", "u.cpp", "u.cpp", 3, TestStatus::error, "does not build: src/a.cpp:3: no member named x"},
                    {"v.cpp", "v.cpp", "v.cpp", 3, TestStatus::error, "does not build: src/a.cpp:3: no member named x"}};
    report.violations = {{"syntax", "syntax", "blocking", "src/a.cpp", 3, "no member named x", ""}};
    const auto status = verification_status({report});
    EXPECT_EQ(status.begin()->key(), "syntax");
    EXPECT_EQ(status.at("syntax").at("violations").at(0).at("line"), json::value(3U));
    const auto& failures = status.at("tests").at("failures").as_array();
    ASSERT_EQ(failures.size(), 3U);
    EXPECT_EQ(failures[0].at("file"), "u.cpp");
    EXPECT_EQ(failures[0].at("also"), json::value(json::array{"v.cpp"}));
    EXPECT_EQ(failures[1].at("test"), "b");
    EXPECT_EQ(failures[2].at("test"), "a");
    EXPECT_EQ(status.at("tests").at("failing"), json::value(4));
}

TEST(VerificationStatus, shows_type_errors_before_tests) {
    GateReport types{"types",
                     "abc",
                     false,
                     "",
                     {},
                     {},
                     {{"types", "types", "blocking", "a.ts", 7, "number is not a string", ""}},
                     {{"type_check", "checked"}, {"type_check_passing", false}},
                     {}};
    const auto status = verification_status({sample(), types});
    EXPECT_EQ(status.begin()->key(), "type_check");
    EXPECT_EQ(status.at("type_check").at("errors"), json::value(1));
    EXPECT_EQ(status.at("type_check").at("violations").at(0).at("message"), "number is not a string");
}

TEST(VerificationStatus, is_ready_when_the_phase_gate_passed) {
    GateReport report{"green", "abc", true, "", {}, {}, {}, {{"conformance_passing", true}}, {}};
    EXPECT_EQ(verification_status({report}).at("phase_exit_ready"), json::value(true));
}

TEST(VerificationStatus, does_not_report_unchecked_types_as_passing) {
    GateReport report{"types", "abc", true, "", {}, {}, {}, {{"type_check", "not configured"}, {"type_check_passing", true}}, {}};
    EXPECT_EQ(verification_status({report}).at("type_check").at("status"), json::value("not configured"));
}

}  // namespace
}  // namespace agentforge::kernel
