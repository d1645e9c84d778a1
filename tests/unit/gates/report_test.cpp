// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/gates.hpp"

namespace agentforge::kernel {
namespace {

GateReport sample() {
    GateReport report{"green", "abc", false, "1 test fails", {"t.py::a fails"}, {}, {}, {{"conformance_passing", false}, {"checks_total", 4}, {"checks_passing", 3}}, std::chrono::milliseconds(12)};
    report.tests = {{"t.py::a", "a", "t.py", 4, TestStatus::failed_assertion, "1 != 2"}, {"t.py::b", "b", "t.py", 6, TestStatus::passed, ""}};
    report.violations = {{"line-length", "style", "minor", "a.py", 3, "long", "break it"}};
    return report;
}

TEST(GateReports, json_and_back_is_the_same) {
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
    EXPECT_EQ(status.at("next_suggested_action"), json::value("t.py::a fails"));
}

TEST(VerificationStatus, is_ready_when_the_phase_gate_passed) {
    GateReport report{"green", "abc", true, "", {}, {}, {}, {{"conformance_passing", true}}, {}};
    EXPECT_EQ(verification_status({report}).at("phase_exit_ready"), json::value(true));
}

TEST(VerificationStatus, types_that_nobody_checked_are_not_called_passing) {
    GateReport report{"types", "abc", true, "", {}, {}, {}, {{"type_check", "not configured"}, {"type_check_passing", true}}, {}};
    EXPECT_EQ(verification_status({report}).at("type_check").at("status"), json::value("not configured"));
}

}  // namespace
}  // namespace agentforge::kernel
