// SPDX-License-Identifier: Apache-2.0
// Records a C++ test program: GoogleTest, Catch2 (2 and 3), or plain. See recorder.h. Compiled with the program's own flags.
extern "C" {
#include "recorder.h"
}

#include <cassert>
#include <string>
#include <vector>

extern "C" int __real_main(int argc, char **argv, char **environment);

namespace {

const char *const agentforge_sources[] = {AGENTFORGE_SOURCES};

#if defined(AGENTFORGE_GOOGLETEST)
const char *const agentforge_kind = "googletest";
#elif defined(AGENTFORGE_CATCH2)
const char *const agentforge_kind = "catch2";
#else
const char *const agentforge_kind = "plain";
#endif

__attribute__((constructor(101))) void agentforge_start() { agentforge_begin(agentforge_kind, agentforge_sources); }

void agentforge_test(const char *type, const std::string &suite, const std::string &name, const char *file, long line) {
    if (!agentforge_open(type)) { return; }
    agentforge_field("suite", suite.c_str());
    agentforge_field("name", name.c_str());
    agentforge_field("file", file);
    agentforge_number("line", line);
    agentforge_close();
}

void agentforge_result(const std::string &suite, const std::string &name, const char *file, long line, const char *status, long failures,
                       const std::string &message) {
    if (!agentforge_open("result")) { return; }
    agentforge_field("suite", suite.c_str());
    agentforge_field("name", name.c_str());
    agentforge_field("file", file);
    agentforge_number("line", line);
    agentforge_field("status", status);
    agentforge_number("failures", failures);
    agentforge_field("message", message.c_str());
    agentforge_close();
}

void agentforge_tests_done() {
    if (agentforge_open("tests")) { agentforge_close(); }
}

}  // namespace

#if defined(AGENTFORGE_GOOGLETEST)
#include <gtest/gtest.h>

namespace {

class AgentForgeRecorder : public ::testing::EmptyTestEventListener {
    void OnTestProgramStart(const ::testing::UnitTest &program) override {
        for (int s = 0; s < program.total_test_suite_count(); ++s) {
            const ::testing::TestSuite *suite = program.GetTestSuite(s);
            for (int t = 0; t < suite->total_test_count(); ++t) {
                const ::testing::TestInfo *test = suite->GetTestInfo(t);
                if (test->should_run()) { agentforge_test("plan", suite->name(), test->name(), test->file(), test->line()); }
            }
        }
    }
    void OnTestStart(const ::testing::TestInfo &test) override {
        agentforge_test("start", test.test_suite_name(), test.name(), test.file(), test.line());
    }
    void OnTestEnd(const ::testing::TestInfo &test) override {
        const ::testing::TestResult *result = test.result();
        std::string message;
        long failures = 0;
        bool exception = false;
        for (int p = 0; p < result->total_part_count(); ++p) {
            const ::testing::TestPartResult &part = result->GetTestPartResult(p);
            if (!part.failed()) { continue; }
            ++failures;
            // GoogleTest tells an exception as a failure of no file.
            exception = exception || part.file_name() == nullptr;
            if (message.size() < 3000) {
                message += (message.empty() ? "" : "\n");
                if (part.file_name() != nullptr) { message += std::string(part.file_name()) + ":" + std::to_string(part.line_number()) + ": "; }
                message += part.message();
            }
        }
        agentforge_result(test.test_suite_name(), test.name(), test.file(), test.line(),
                          failures > 0 ? (exception ? "error" : "failed_assertion") : result->Skipped() ? "skipped" : "passed", failures, message);
    }
    void OnTestProgramEnd(const ::testing::UnitTest &) override { agentforge_tests_done(); }
};

struct AgentForgeRegistration {
    AgentForgeRegistration() {
        if (agentforge_file >= 0) { ::testing::UnitTest::GetInstance()->listeners().Append(new AgentForgeRecorder); }
    }
} agentforge_registration;

}  // namespace

TEST(AgentForgeCanary, fails) {
    EXPECT_EQ(1, 2);
    EXPECT_TRUE(false);
    EXPECT_STREQ("a", "b");
}

#elif defined(AGENTFORGE_CATCH2)
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_assertion_result.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#define AGENTFORGE_CATCH_BASE Catch::EventListenerBase
#define AGENTFORGE_CATCH_VOID void
#define AGENTFORGE_CATCH_ANSWER
#define AGENTFORGE_CATCH_INFO stats.testInfo
#define AGENTFORGE_CATCH_SKIPPED (totals.skipped > 0)
#else
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include AGENTFORGE_CATCH2
#define AGENTFORGE_CATCH_BASE Catch::TestEventListenerBase
#define AGENTFORGE_CATCH_VOID bool
#define AGENTFORGE_CATCH_ANSWER return true
#define AGENTFORGE_CATCH_INFO (&stats.testInfo)
#define AGENTFORGE_CATCH_SKIPPED false
#endif

namespace {

using AgentForgeCatchBase = AGENTFORGE_CATCH_BASE;

struct AgentForgeRecorder : AgentForgeCatchBase {
    using AgentForgeCatchBase::AgentForgeCatchBase;

    void testCaseStarting(const Catch::TestCaseInfo &test) override {
        AgentForgeCatchBase::testCaseStarting(test);
        message_.clear();
        failures_ = 0;
        exception_ = false;
        agentforge_test("plan", "", test.name, test.lineInfo.file, static_cast<long>(test.lineInfo.line));
        agentforge_test("start", "", test.name, test.lineInfo.file, static_cast<long>(test.lineInfo.line));
    }
    AGENTFORGE_CATCH_VOID assertionEnded(const Catch::AssertionStats &stats) override {
        const auto &result = stats.assertionResult;
        const int type = static_cast<int>(result.getResultType());
        if (!result.isOk()) {
            ++failures_;
            exception_ = exception_ || type == static_cast<int>(Catch::ResultWas::ThrewException) ||
                         type == static_cast<int>(Catch::ResultWas::FatalErrorCondition);
            if (message_.size() < 3000) {
                message_ += message_.empty() ? "" : "\n";
                message_ += result.getSourceInfo().file;
                message_ += ":" + std::to_string(result.getSourceInfo().line) + ": ";
                if (result.hasExpression()) { message_ += std::string(result.getExpression()) + " "; }
                if (result.hasExpandedExpression()) { message_ += "(" + std::string(result.getExpandedExpression()) + ") "; }
                if (result.hasMessage()) { message_ += std::string(result.getMessage().begin(), result.getMessage().end()); }
            }
        }
        AGENTFORGE_CATCH_ANSWER;
    }
    void testCaseEnded(const Catch::TestCaseStats &stats) override {
        const auto &test = *AGENTFORGE_CATCH_INFO;
        const auto &totals = stats.totals.testCases;
        const bool skipped = AGENTFORGE_CATCH_SKIPPED;
        // A test marked as expected to fail passes when it fails, for Catch2 itself too.
        const char *status = totals.failed > 0 ? (exception_ ? "error" : "failed_assertion")
                             : skipped || totals.failedButOk > 0 ? "skipped" : "passed";
        agentforge_result("", test.name, test.lineInfo.file, static_cast<long>(test.lineInfo.line), status, failures_, message_);
        AgentForgeCatchBase::testCaseEnded(stats);
    }
    void testRunEnded(const Catch::TestRunStats &stats) override {
        agentforge_tests_done();
        AgentForgeCatchBase::testRunEnded(stats);
    }

private:
    std::string message_;
    long failures_ = 0;
    bool exception_ = false;
};
CATCH_REGISTER_LISTENER(AgentForgeRecorder)

}  // namespace

TEST_CASE("AgentForgeCanary", "[agentforge-canary]") {
    CHECK(1 == 2);
    CHECK_FALSE(true);
    CHECK(std::string("a") == "b");
}
#endif

namespace {

#if defined(AGENTFORGE_GOOGLETEST)
/// A filter of the project's leaves the canary out; it is added, so that each such process has one.
std::string agentforge_with_canary(const std::string &argument) {
    const std::string option = "--gtest_filter=";
    if (argument.compare(0, option.size(), option) != 0) { return argument; }
    const auto dash = argument.find('-', option.size());
    const auto wanted = argument.substr(option.size(), dash == std::string::npos ? std::string::npos : dash - option.size());
    return option + (wanted.empty() ? "*" : wanted + ":AgentForgeCanary.*") + (dash == std::string::npos ? "" : argument.substr(dash));
}
#endif

}  // namespace

extern "C" int __wrap_main(int argc, char **argv, char **environment) {
    int code = 1;
    if (agentforge_file < 0 && !agentforge_canary) { return __real_main(argc, argv, environment); }
#if defined(AGENTFORGE_GOOGLETEST)
    static std::vector<std::string> arguments;
    static std::vector<char *> pointers;
    for (int i = 0; i < argc; ++i) { arguments.push_back(i == 0 ? argv[i] : agentforge_with_canary(argv[i])); }
    for (auto &argument : arguments) { pointers.push_back(&argument[0]); }
    pointers.push_back(nullptr);
    code = __real_main(argc, pointers.data(), environment);
#elif defined(AGENTFORGE_CATCH2)
    code = __real_main(argc, argv, environment);
#else
    if (agentforge_canary) {
#if AGENTFORGE_ASSERTS
        assert(0 == 1 && "the canary");
        code = 0;       // Assertions are compiled out: what the tests assert is not checked.
#endif
    } else {
        code = __real_main(argc, argv, environment);
    }
#endif
    agentforge_main_returned(code);
    return code;
}
