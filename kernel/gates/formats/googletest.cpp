// SPDX-License-Identifier: Apache-2.0
// GoogleTest's JSON report: docs/advanced.md of GoogleTest, "Generating a JSON Report"; 1.10 and later.
#include "gates/formats/format.hpp"

#include <algorithm>

namespace agentforge::kernel {
namespace {

std::string gtest_text(const json::object& value, const char* key) {
    const auto* found = value.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string{};
}

std::int64_t gtest_number(const json::object& value, const char* key) {
    const auto* found = value.if_contains(key);
    return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

const json::array* gtest_list(const json::object& value, const char* key) {
    const auto* found = value.if_contains(key);
    return found == nullptr ? nullptr : found->if_array();
}

/// GoogleTest reports an exception as a failure at "unknown file".
bool is_exception(std::string_view failure) {
    return failure.starts_with("unknown file") || failure.find("\nunknown file") != std::string_view::npos;
}

ReportedTest gtest_case(const std::string& suite, const json::object& value) {
    ReportedTest test;
    gtest_names(suite, gtest_text(value, "name"), test);
    test.file = gtest_text(value, "file");
    test.line = static_cast<std::uint64_t>(std::max<std::int64_t>(0, gtest_number(value, "line")));
    const auto status = gtest_text(value, "status");
    const auto result = gtest_text(value, "result");
    const auto* failures = gtest_list(value, "failures");
    if (failures != nullptr && !failures->empty()) {
        test.status = TestStatus::failed_assertion;
        for (const auto& failure : *failures) {
            if (!failure.is_object()) { continue; }
            const auto text = gtest_text(failure.get_object(), "failure");
            if (is_exception(text)) { test.status = TestStatus::error; }
            test.message += (test.message.empty() ? "" : "\n") + text;
        }
        test.message = failure_text(test.message);
    } else if (status == "NOTRUN" || result == "SKIPPED" || result == "SUPPRESSED") {
        test.status = TestStatus::skipped;
        test.message = status == "NOTRUN" ? "disabled" : "skipped";
    } else if (status == "RUN" && result == "COMPLETED") {
        test.status = TestStatus::passed;
    } else {
        test.message = "GoogleTest reported the status `" + status + "`, the result `" + result + "`";
    }
    return test;
}

/// Appends one program's report. Returns what is wrong with it.
std::string gtest_report(const std::string& name, std::string_view content, std::vector<ReportedTest>& tests) {
    boost::system::error_code error;
    const auto value = json::parse({content.data(), content.size()}, error);
    const auto* report = error ? nullptr : value.if_object();
    const auto* suites = report == nullptr ? nullptr : gtest_list(*report, "testsuites");
    if (suites == nullptr) { return "the report " + name + " is not a complete report of GoogleTest"; }
    std::int64_t count = 0;
    std::int64_t failed = 0;
    for (const auto& suite : *suites) {
        const auto* cases = suite.is_object() ? gtest_list(suite.get_object(), "testsuite") : nullptr;
        if (cases == nullptr) { return "the report " + name + " has a suite without tests"; }
        for (const auto& each : *cases) {
            if (!each.is_object() || gtest_text(each.get_object(), "name").empty()) {
                return "the report " + name + " has a test without a name";
            }
            const auto* failures = gtest_list(each.get_object(), "failures");
            ++count;
            failed += failures != nullptr && !failures->empty() ? 1 : 0;
            tests.push_back(gtest_case(gtest_text(suite.get_object(), "name"), each.get_object()));
        }
    }
    if (gtest_number(*report, "tests") != count || gtest_number(*report, "failures") != failed) {
        return "the counts in the report " + name + " do not agree with its tests";
    }
    return {};
}

}  // namespace

void gtest_names(std::string_view suite, std::string_view name, ReportedTest& test) {
    // `Instance/Suite` and `test/0` are a case of a parametrised test; `Suite/0` or `Instance/Suite/0` and `test` are from a
    // typed suite.
    std::string parameters;
    const auto add = [&](std::string_view part) { parameters += (parameters.empty() ? "" : "/") + std::string(part); };
    std::string_view type;
    if (const auto slash = suite.rfind('/'); slash != std::string_view::npos) {
        if (suite.find_first_not_of("0123456789", slash + 1) == std::string_view::npos) {
            type = suite.substr(slash + 1);
            suite = suite.substr(0, slash);
        }
    }
    if (const auto slash = suite.rfind('/'); slash != std::string_view::npos) {
        add(suite.substr(0, slash));
        suite = suite.substr(slash + 1);
    }
    if (!type.empty()) { add(type); }
    if (const auto slash = name.find('/'); slash != std::string_view::npos) {
        add(name.substr(slash + 1));
        name = name.substr(0, slash);
    }
    test.suite = suite;
    test.name = std::string(name) + (parameters.empty() ? "" : "[" + parameters + "]");
}

FormatResult parse_googletest_json(const RunOutput& output) {
    FormatResult result;
    for (const auto& [name, content] : output.files) {
        if (!name.ends_with(".json")) { continue; }
        auto problem = gtest_report(name, content, result.tests);
        if (result.problem.empty()) { result.problem = std::move(problem); }
    }
    for (auto& test : result.tests) { test.file = path_in_tree(test.file, output.root); }
    return result;
}

}  // namespace agentforge::kernel
