// SPDX-License-Identifier: Apache-2.0
// Records a C++ test program: GoogleTest, Catch2 (2 and 3), doctest, Boost.Test, or plain. See recorder.h. Compiled with the
// program's own flags.
extern "C" {
#include "recorder.h"
}

#include <atomic>
#include <cassert>
#include <string>
#include <vector>

extern "C" int __real_main(int argc, char** argv, char** environment);

namespace {

const char* const agentforge_sources[] = {AGENTFORGE_SOURCES};

#if defined(AGENTFORGE_GOOGLETEST)
const char* const agentforge_kind = "googletest";
#elif defined(AGENTFORGE_CATCH2)
const char* const agentforge_kind = "catch2";
#elif defined(AGENTFORGE_DOCTEST)
const char* const agentforge_kind = "doctest";
#elif defined(AGENTFORGE_BOOST_TEST)
const char* const agentforge_kind = "boost";
#else
const char* const agentforge_kind = "plain";
#endif

__attribute__((constructor(101))) void agentforge_start() { agentforge_begin(agentforge_kind, agentforge_sources); }

void agentforge_test(const char* type, const std::string& suite, const std::string& name, const char* file, long line) {
    if (!agentforge_open(type)) { return; }
    agentforge_field("suite", suite.c_str());
    agentforge_field("name", name.c_str());
    agentforge_field("file", file);
    agentforge_number("line", line);
    agentforge_close();
}

void agentforge_result(const std::string& suite, const std::string& name, const char* file, long line, const char* status,
                       long failures, const std::string& message) {
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

// True while a test runs that no marked function has failed yet.
std::atomic<bool> agentforge_may_fail{false};

}  // namespace

#if defined(AGENTFORGE_GOOGLETEST)
#include <gtest/gtest.h>

namespace {

class AgentForgeRecorder : public ::testing::EmptyTestEventListener {
    void OnTestProgramStart(const ::testing::UnitTest& program) override {
        for (int s = 0; s < program.total_test_suite_count(); ++s) {
            const ::testing::TestSuite* suite = program.GetTestSuite(s);
            for (int t = 0; t < suite->total_test_count(); ++t) {
                const ::testing::TestInfo* test = suite->GetTestInfo(t);
                if (test->should_run()) { agentforge_test("plan", suite->name(), test->name(), test->file(), test->line()); }
            }
        }
    }
    void OnTestStart(const ::testing::TestInfo& test) override {
        agentforge_may_fail = true;
        agentforge_test("start", test.test_suite_name(), test.name(), test.file(), test.line());
    }
    void OnTestEnd(const ::testing::TestInfo& test) override {
        agentforge_may_fail = false;
        const ::testing::TestResult* result = test.result();
        std::string message;
        long failures = 0;
        bool exception = false;
        for (int p = 0; p < result->total_part_count(); ++p) {
            const ::testing::TestPartResult& part = result->GetTestPartResult(p);
            if (!part.failed()) { continue; }
            ++failures;
            // GoogleTest reports an exception as a failure without a file.
            exception = exception || part.file_name() == nullptr;
            if (message.size() < 3000) {
                message += (message.empty() ? "" : "\n");
                if (part.file_name() != nullptr) {
                    message += std::string(part.file_name()) + ":" + std::to_string(part.line_number()) + ": ";
                }
                message += part.message();
            }
        }
        agentforge_result(test.test_suite_name(), test.name(), test.file(), test.line(),
                          failures > 0        ? (exception ? "error" : "failed_assertion")
                          : result->Skipped() ? "skipped"
                                              : "passed",
                          failures, message);
    }
    void OnTestProgramEnd(const ::testing::UnitTest&) override { agentforge_tests_done(); }
};

struct AgentForgeRegistration {
    AgentForgeRegistration() {
        if (agentforge_file >= 0) { ::testing::UnitTest::GetInstance()->listeners().Append(new AgentForgeRecorder); }
    }
} agentforge_registration;

}  // namespace

#define AGENTFORGE_FAIL(text) ADD_FAILURE() << text

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

    void testCaseStarting(const Catch::TestCaseInfo& test) override {
        AgentForgeCatchBase::testCaseStarting(test);
        message_.clear();
        failures_ = 0;
        exception_ = false;
        agentforge_may_fail = true;
        agentforge_test("plan", "", test.name, test.lineInfo.file, static_cast<long>(test.lineInfo.line));
        agentforge_test("start", "", test.name, test.lineInfo.file, static_cast<long>(test.lineInfo.line));
    }
    AGENTFORGE_CATCH_VOID assertionEnded(const Catch::AssertionStats& stats) override {
        const auto& result = stats.assertionResult;
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
                if (result.hasMessage()) {
                    const auto text = result.getMessage();  // A copy in one version, a view in the other.
                    message_.append(text.begin(), text.end());
                }
            }
        }
        AGENTFORGE_CATCH_ANSWER;
    }
    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        agentforge_may_fail = false;
        const auto& test = *AGENTFORGE_CATCH_INFO;
        const auto& totals = stats.totals.testCases;
        const bool skipped = AGENTFORGE_CATCH_SKIPPED;
        // A test that is marked as expected to fail passes if it fails, as in Catch2.
        const char* status = totals.failed > 0                   ? (exception_ ? "error" : "failed_assertion")
                             : skipped || totals.failedButOk > 0 ? "skipped"
                                                                 : "passed";
        agentforge_result("", test.name, test.lineInfo.file, static_cast<long>(test.lineInfo.line), status, failures_, message_);
        AgentForgeCatchBase::testCaseEnded(stats);
    }
    void testRunEnded(const Catch::TestRunStats& stats) override {
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

#define AGENTFORGE_FAIL(text) FAIL_CHECK(text)

TEST_CASE("AgentForgeCanary", "[agentforge-canary]") {
    CHECK(1 == 2);
    CHECK_FALSE(true);
    CHECK(std::string("a") == "b");
}

#elif defined(AGENTFORGE_DOCTEST)
// The project's file has the framework's code and main.
#undef DOCTEST_CONFIG_IMPLEMENT
#undef DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include AGENTFORGE_DOCTEST
#include <mutex>

namespace {

// One version of doctest has its own type of string, the other `const char*`.
const char* agentforge_text(const doctest::String& text) { return text.c_str(); }
const char* agentforge_text(const char* text) { return text == nullptr ? "" : text; }

struct AgentForgeRecorder : doctest::IReporter {
    explicit AgentForgeRecorder(const doctest::ContextOptions&) {}
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override { agentforge_tests_done(); }
    void test_case_start(const doctest::TestCaseData& test) override {
        test_ = &test;
        message_.clear();
        failures_ = 0;
        exception_ = false;
        agentforge_may_fail = true;
        agentforge_test("plan", suite(), test.m_name, agentforge_text(test.m_file), static_cast<long>(test.m_line));
        agentforge_test("start", suite(), test.m_name, agentforge_text(test.m_file), static_cast<long>(test.m_line));
    }
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
        agentforge_may_fail = false;
        const bool marked = (test_->m_should_fail || test_->m_may_fail || test_->m_expected_failures > 0) && failures_ > 0;
        const char* status = !stats.testCaseSuccess ? (exception_ ? "error" : "failed_assertion") : marked ? "skipped" : "passed";
        agentforge_result(suite(), test_->m_name, agentforge_text(test_->m_file), static_cast<long>(test_->m_line), status,
                          failures_, message_);
    }
    void test_case_exception(const doctest::TestCaseException& thrown) override {
        const std::lock_guard<std::mutex> held(mutex_);
        exception_ = true;
        ++failures_;
        say(agentforge_text(thrown.error_string));
    }
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData& data) override {
        if (!data.m_failed || (data.m_at & doctest::assertType::is_warn) != 0) { return; }
        const std::lock_guard<std::mutex> held(mutex_);
        ++failures_;
        exception_ = exception_ || data.m_threw;
        say(std::string(agentforge_text(data.m_file)) + ":" + std::to_string(data.m_line) + ": " + agentforge_text(data.m_expr) +
            " " +
            (data.m_threw ? "threw " + std::string(agentforge_text(data.m_exception))
                          : "(" + std::string(agentforge_text(data.m_decomp)) + ")"));
    }
    void log_message(const doctest::MessageData& data) override {
        const std::lock_guard<std::mutex> held(mutex_);
        if (data.m_severity & doctest::assertType::is_warn) { return; }
        ++failures_;
        say(std::string(agentforge_text(data.m_file)) + ":" + std::to_string(data.m_line) + ": " +
            agentforge_text(data.m_string));
    }
    void test_case_skipped(const doctest::TestCaseData&) override {}

private:
    std::string suite() const { return agentforge_text(test_->m_test_suite); }
    void say(const std::string& text) {
        if (message_.size() < 3000) { message_ += (message_.empty() ? "" : "\n") + text; }
    }
    const doctest::TestCaseData* test_ = nullptr;
    std::mutex mutex_;
    std::string message_;
    long failures_ = 0;
    bool exception_ = false;
};
DOCTEST_REGISTER_LISTENER("agentforge", 1, AgentForgeRecorder);

}  // namespace

#define AGENTFORGE_FAIL(text) DOCTEST_FAIL_CHECK(text)

DOCTEST_TEST_CASE("AgentForgeCanary") {
    DOCTEST_CHECK(1 == 2);
    DOCTEST_CHECK_FALSE(true);
    DOCTEST_CHECK(std::string("a") == "b");
}

#elif defined(AGENTFORGE_BOOST_TEST)
// The project's file has the framework's main.
#undef BOOST_TEST_MODULE
#undef BOOST_TEST_MAIN
#include <boost/test/execution_monitor.hpp>
#include <boost/test/framework.hpp>
#include <boost/test/output/compiler_log_formatter.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/tree/test_unit.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/version.hpp>
#include <sstream>

namespace {

namespace agentforge_boost = boost::unit_test;

class AgentForgeRecorder : public agentforge_boost::test_observer {
public:
#if BOOST_VERSION >= 107000
    void test_start(agentforge_boost::counter_t, agentforge_boost::test_unit_id) override { listen(); }
#endif
    void test_unit_start(const agentforge_boost::test_unit& unit) override {
        if (unit.p_type != agentforge_boost::TUT_CASE) { return; }
        said_.str("");
        thrown_.clear();
        failures_ = 0;
        agentforge_may_fail = true;
        tell("plan", unit);
        tell("start", unit);
    }
    void test_unit_finish(const agentforge_boost::test_unit& unit, unsigned long) override {
        if (unit.p_type != agentforge_boost::TUT_CASE) { return; }
        agentforge_may_fail = false;
        const bool marked = unit.p_expected_failures > 0 && failures_ > 0;
        const char* status = !thrown_.empty() ? "error" : marked ? "skipped" : failures_ > 0 ? "failed_assertion" : "passed";
        const auto said = said_.str().substr(0, 3000);
        agentforge_result(suite_of(unit), unit.p_name, file_of(unit).c_str(), static_cast<long>(unit.p_line_num), status,
                          failures_, thrown_.empty() ? said : thrown_ + "\n" + said);
    }
    void test_finish() override { agentforge_tests_done(); }
    void assertion_result(agentforge_boost::assertion_result result) override {
        if (result == agentforge_boost::AR_FAILED) { ++failures_; }
    }
    void exception_caught(const boost::execution_exception& thrown) override {
        ++failures_;
        thrown_.assign(thrown.what().begin(), thrown.what().end());
        if (thrown_.empty()) { thrown_ = "an exception"; }
    }

private:
#if BOOST_VERSION >= 107000
    /// Collects the messages of failed checks, in addition to the program's own log.
    void listen() {
        auto& log = agentforge_boost::unit_test_log_t::instance();
        log.add_formatter(new agentforge_boost::output::compiler_log_formatter);
        log.set_threshold_level(agentforge_boost::OF_CUSTOM_LOGGER, agentforge_boost::log_all_errors);
        log.set_stream(agentforge_boost::OF_CUSTOM_LOGGER, said_);
        log.configure();
    }
#endif
    static std::string file_of(const agentforge_boost::test_unit& unit) {
        return std::string(unit.p_file_name.begin(), unit.p_file_name.end());
    }
    /// Returns the suites around a test without the outermost, which is the module.
    static std::string suite_of(const agentforge_boost::test_unit& unit) {
        std::string path;
        const agentforge_boost::test_unit* at = &unit;
        while (at->p_parent_id != agentforge_boost::INV_TEST_UNIT_ID) {
            at = &agentforge_boost::framework::get(at->p_parent_id, agentforge_boost::TUT_SUITE);
            if (at->p_parent_id == agentforge_boost::INV_TEST_UNIT_ID) { break; }
            path = at->p_name.get() + (path.empty() ? "" : "::" + path);
        }
        return path;
    }
    static void tell(const char* type, const agentforge_boost::test_unit& unit) {
        agentforge_test(type, suite_of(unit), unit.p_name, file_of(unit).c_str(), static_cast<long>(unit.p_line_num));
    }
    std::ostringstream said_;
    std::string thrown_;
    long failures_ = 0;
};

struct AgentForgeRegistration {
    AgentForgeRegistration() {
        if (agentforge_file >= 0) { agentforge_boost::framework::register_observer(*new AgentForgeRecorder); }
    }
} agentforge_registration;

}  // namespace

#define AGENTFORGE_FAIL(text) BOOST_ERROR(text)

BOOST_AUTO_TEST_CASE(AgentForgeCanary) {
    BOOST_CHECK_EQUAL(1, 2);
    BOOST_CHECK(false);
    BOOST_CHECK(std::string("a") == "b");
}
#endif

namespace {

#if defined(AGENTFORGE_GOOGLETEST)
/// The project's filter excludes the canary. This adds it to the filter, so that each process runs one.
std::string agentforge_with_canary(const std::string& argument) {
    const std::string option = "--gtest_filter=";
    if (argument.compare(0, option.size(), option) != 0) { return argument; }
    const auto dash = argument.find('-', option.size());
    const auto wanted = argument.substr(option.size(), dash == std::string::npos ? std::string::npos : dash - option.size());
    return option + (wanted.empty() ? "*" : wanted + ":AgentForgeCanary.*") +
           (dash == std::string::npos ? "" : argument.substr(dash));
}
#endif

}  // namespace

// A function that the gates marked and that must not throw calls this: it fails the running test, once. Outside a test it ends
// the program.
extern "C" __attribute__((visibility("default"))) void agentforge_reached(const char* what) {
#if defined(AGENTFORGE_FAIL)
    static std::atomic<bool> in_test{false};
    if (agentforge_may_fail.exchange(false)) {
        in_test = true;
        AGENTFORGE_FAIL(what);
        return;
    }
    if (in_test) { return; }
#endif
    fprintf(stderr, "%s\n", what);
    abort();
}

extern "C" int __wrap_main(int argc, char** argv, char** environment) {
    int code = 1;
    if (agentforge_file < 0 && !agentforge_canary) { return __real_main(argc, argv, environment); }
#if defined(AGENTFORGE_GOOGLETEST)
    static std::vector<std::string> arguments;
    static std::vector<char*> pointers;
    for (int i = 0; i < argc; ++i) { arguments.push_back(i == 0 ? argv[i] : agentforge_with_canary(argv[i])); }
    for (auto& argument : arguments) { pointers.push_back(&argument[0]); }
    pointers.push_back(nullptr);
    code = __real_main(argc, pointers.data(), environment);
#elif defined(AGENTFORGE_CATCH2) || defined(AGENTFORGE_DOCTEST) || defined(AGENTFORGE_BOOST_TEST)
    code = __real_main(argc, argv, environment);
#else
    if (agentforge_canary) {
#if AGENTFORGE_ASSERTS
        assert(0 == 1 && "the canary");
        code = 0;  // Assertions are compiled out, so the tests check nothing.
#endif
    } else {
        code = __real_main(argc, argv, environment);
    }
#endif
    agentforge_main_returned(code);
    return code;
}
