// SPDX-License-Identifier: Apache-2.0
// Python projects, measured by real Python: the report for each way in which a test can end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include <sys/resource.h>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* skeleton_module =
    "def slugify(text):\n    raise NotImplementedError(\"agentforge: skeleton of slugify\")\n";

const char* const unittest_file = R"(import unittest
from slug import slugify

class TestSlug(unittest.TestCase):
    def test_skeleton(self):
        self.assertEqual(slugify("A"), "a")
    def test_assertion(self):
        self.assertEqual(1, 2, "one is not two")
    def test_exit(self):
        raise SystemExit(0)
    @unittest.skip("later")
    def test_skipped(self):
        pass
    @unittest.expectedFailure
    def test_expected(self):
        self.fail()
    @unittest.expectedFailure
    def test_unexpected(self):
        pass
    def test_subtest(self):
        with self.subTest(1):
            self.assertTrue(False)
        with self.subTest(2):
            pass
    def test_other_error(self):
        raise KeyError("k")
    def test_other_not_implemented(self):
        raise NotImplementedError("by the project")
    def test_passes(self):
        pass

class TestFixture(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise ValueError("no database")
    def test_never_run(self):
        pass
)";

TEST(PythonTests, unittest_outcomes_are_distinguished) {
    Project project;
    project.tree("t") = {{"slug.py", skeleton_module}, {"tests/test_slug.py", unittest_file}};
    const auto report = project.gate("tests", "t");
    const std::string prefix = "tests/test_slug.py::TestSlug::";
    EXPECT_EQ(status_of(report, prefix + "test_skeleton"), TestStatus::failed_skeleton);
    EXPECT_EQ(status_of(report, prefix + "test_assertion"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, prefix + "test_exit"), TestStatus::error);
    EXPECT_EQ(status_of(report, prefix + "test_skipped"), TestStatus::skipped);
    EXPECT_EQ(status_of(report, prefix + "test_expected"), TestStatus::skipped);
    EXPECT_EQ(status_of(report, prefix + "test_unexpected"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, prefix + "test_subtest"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, prefix + "test_other_error"), TestStatus::error);
    EXPECT_EQ(status_of(report, prefix + "test_other_not_implemented"), TestStatus::error);
    EXPECT_EQ(status_of(report, prefix + "test_passes"), TestStatus::passed);
    EXPECT_EQ(status_of(report, "tests/test_slug.py::TestFixture::test_never_run"), TestStatus::error);
    EXPECT_EQ(report.tests.size(), 11U);
    EXPECT_FALSE(report.passed);
    EXPECT_EQ(report.facts.at("believed"), json::value(true));
}

TEST(PythonTests, a_failure_names_its_line_and_message) {
    Project project;
    project.tree("t") = {{"slug.py", skeleton_module}, {"tests/test_slug.py", unittest_file}};
    const auto report = project.gate("tests", "t");
    const auto* test = find_test(report, "tests/test_slug.py::TestSlug::test_assertion");
    ASSERT_NE(test, nullptr);
    EXPECT_EQ(test->line, 8U);
    EXPECT_THAT(test->message, HasSubstr("one is not two"));
}

const char* const pytest_file = R"(import pytest
from slug import slugify

def test_skeleton():
    assert slugify("A") == "a"
def test_did_not_raise():
    with pytest.raises(ValueError):
        pass
@pytest.mark.parametrize("value", [1, 2])
def test_parameters(value):
    assert value == 1
@pytest.fixture
def broken():
    assert False
def test_fixture(broken):
    pass
@pytest.mark.xfail
def test_expected():
    assert False
@pytest.mark.xfail
def test_unexpected():
    pass
@pytest.mark.skip
def test_skipped():
    pass
def test_exit():
    raise SystemExit(0)
class TestKlass:
    def test_passes(self):
        pass
)";

TEST(PythonTests, pytest_outcomes_are_distinguished) {
    Project project;
    project.tree("t") = {{"slug.py", skeleton_module}, {"tests/test_slug.py", pytest_file}};
    const auto report = project.gate("tests", "t");
    const std::string prefix = "tests/test_slug.py::";
    EXPECT_EQ(status_of(report, prefix + "test_skeleton"), TestStatus::failed_skeleton);
    EXPECT_EQ(status_of(report, prefix + "test_did_not_raise"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, prefix + "test_parameters[1]"), TestStatus::passed);
    EXPECT_EQ(status_of(report, prefix + "test_parameters[2]"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, prefix + "test_fixture"), TestStatus::error);
    EXPECT_EQ(status_of(report, prefix + "test_expected"), TestStatus::skipped);
    EXPECT_EQ(status_of(report, prefix + "test_unexpected"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, prefix + "test_skipped"), TestStatus::skipped);
    EXPECT_EQ(status_of(report, prefix + "test_exit"), TestStatus::error);
    EXPECT_EQ(status_of(report, prefix + "TestKlass::test_passes"), TestStatus::passed);
    EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
}

TEST(PythonTests, fail_at_a_skeleton_that_their_setup_or_teardown_meets) {
    Project project;
    project.tree("t") = {
        {"slug.py", skeleton_module},
        {"tests/test_cases.py",
         "import unittest\nfrom slug import slugify\n\nclass Cases(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n"
         "        cls.slug = slugify('A')\n    def test_slug(self):\n        self.assertEqual(self.slug, 'a')\n"},
        {"tests/test_fixtures.py",
         "import pytest\nfrom slug import slugify\n\n@pytest.fixture\ndef slug():\n    return slugify('A')\n\n@pytest.fixture\ndef closed():\n"
         "    yield 1\n    slugify('A')\n\ndef test_setup(slug):\n    assert slug == 'a'\n\ndef test_teardown(closed):\n    assert closed == 1\n"}};
    const auto report = project.gate("tests", "t");
    EXPECT_EQ(status_of(report, "tests/test_cases.py::Cases::test_slug"), TestStatus::failed_skeleton);
    EXPECT_EQ(status_of(report, "tests/test_fixtures.py::test_setup"), TestStatus::failed_skeleton);
    EXPECT_EQ(status_of(report, "tests/test_fixtures.py::test_teardown"), TestStatus::failed_skeleton);
    project.tree("unittest") = {{"slug.py", skeleton_module}, {"tests/test_cases.py", project.tree("t")["tests/test_cases.py"]}};
    EXPECT_EQ(status_of(project.gate("tests", "unittest"), "tests/test_cases.py::Cases::test_slug"), TestStatus::failed_skeleton);
}

TEST(PythonTests, a_file_that_does_not_load_is_an_error_and_the_others_run) {
    for (const auto* other :
         {"import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self): pass\n", "def test_a(): pass\n"}) {
        Project project;
        project.tree("t") = {{"tests/test_bad.py", "import nothere\n"}, {"tests/test_good.py", other}};
        const auto report = project.gate("tests", "t");
        const auto* bad = find_test(report, "tests/test_bad.py");
        ASSERT_NE(bad, nullptr) << other;
        EXPECT_EQ(bad->status, TestStatus::error);
        EXPECT_THAT(bad->message, HasSubstr("No module named 'nothere'"));
        EXPECT_EQ(report.tests.size(), 2U);
    }
}

TEST(PythonTests, an_option_that_stops_at_the_first_failure_does_not_stop_the_run) {
    Project project;
    project.tree("t") = {{"pytest.ini", "[pytest]\naddopts = -x -q\n"},
                         {"test_a.py", "def test_a(): assert 0\ndef test_b(): assert 1\n"}};
    const auto report = project.gate("tests", "t");
    EXPECT_EQ(status_of(report, "test_a.py::test_b"), TestStatus::passed);
    EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
}

TEST(PythonTests, packages_source_folders_and_modules_beside_tests_can_be_imported) {
    Project project;
    project.tree("t") = {
        {"src/pkg/__init__.py", "X = 1\n"},
        {"tests/__init__.py", ""},
        {"tests/helper.py", "Y = 2\n"},
        {"tests/test_a.py",
         "import unittest\nfrom pkg import X\nfrom tests.helper import Y\n"
         "class TestA(unittest.TestCase):\n    def test_a(self): self.assertEqual(X + Y, 3)\n"},
        {"other/test_a.py", "import unittest\nimport beside\nclass TestB(unittest.TestCase):\n    def test_b(self): pass\n"},
        {"other/beside.py", ""}};
    const auto report = project.gate("tests", "t");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.tests.size(), 2U);
}

TEST(PythonTests, a_run_that_hits_its_process_limit_names_the_setting) {
    const std::string test =
        "import threading\nimport unittest\n\n\nclass TestMany(unittest.TestCase):\n    def test_many(self):\n"
        "        done = threading.Event()\n        threads = [threading.Thread(target=done.wait, args=(30,)) for _ in range(100)]\n"
        "        try:\n            for each in threads:\n                each.start()\n            STAY\n        finally:\n            done.set()\n";
    const auto with = [&](const std::string& stay) {
        auto text = test;
        return text.replace(text.find("STAY"), 4, stay);
    };
    Project project({{"max_processes", 50}});
    // Waits longer than the polling interval of a sandbox that has to poll. The sandbox ends the run.
    project.tree("t") = {{"tests/test_many.py", with("threading.Event().wait(30)")}};
    const auto report = project.gate("tests", "t");
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(report.summary + json::serialize(report.facts),
                HasSubstr("more than 50 processes and threads at once, the limit that gates.max_processes sets"));
    project.configure({{"max_processes", 500}});
    project.tree("t") = {{"tests/test_many.py", with("pass")}};
    EXPECT_TRUE(project.gate("tests", "t").passed);
}

TEST(PythonTests, reports_that_a_project_has_no_tests) {
    Project project;
    project.tree("t") = {{"slug.py", skeleton_module}};
    const auto report = project.gate("tests", "t");
    EXPECT_TRUE(report.passed);
    EXPECT_EQ(report.summary, "no tests were found");
}

TEST(PythonTests, paths_narrow_the_run_and_an_unknown_one_is_named) {
    Project project;
    project.tree("t") = {{"tests/test_a.py", "def test_a(): pass\n"}, {"tests/test_b.py", "def test_b(): pass\n"}};
    EXPECT_EQ(project.gate("tests", "t", {"tests/test_b.py::test_b"}).tests.size(), 1U);
    EXPECT_EQ(project.gate("tests", "t", {"tests"}).tests.size(), 2U);
    const auto unknown = project.gate("tests", "t", {"tests/test_c.py"});
    EXPECT_FALSE(unknown.passed);
    EXPECT_THAT(joined(unknown.blocking_issues), HasSubstr("tests/test_c.py"));
}

TEST(PythonTests, tests_cannot_write_to_the_tree_and_can_write_to_their_scratch) {
    Project project;
    project.tree("t") = {{"test_a.py",
                          "import tempfile, os\n"
                          "def test_tree():\n    open('x', 'w')\n"
                          "def test_scratch():\n    tempfile.mkdtemp(); open(os.path.expanduser('~/x'), 'w').close()\n"}};
    const auto report = project.gate("tests", "t");
    EXPECT_EQ(status_of(report, "test_a.py::test_tree"), TestStatus::error);
    EXPECT_EQ(status_of(report, "test_a.py::test_scratch"), TestStatus::passed);
    EXPECT_TRUE(report.facts.at("confinement").as_object().contains("mode"));
}

TEST(PythonTests, nothing_is_left_in_scratch) {
    Project project;
    project.tree("t") = {{"test_a.py", "def test_a(): pass\n"}};
    (void)project.gate("tests", "t");
    EXPECT_TRUE(std::filesystem::is_empty(project.folder() / "scratch"));
}

TEST(PythonTests, measures_a_tree_once) {
    Project project;
    project.tree("t") = {{"test_a.py", "def test_a(): pass\n"}};
    (void)project.gate("tests", "t");
    const auto before = project.trees().checkouts;
    (void)project.gate("tests", "t");
    EXPECT_EQ(project.trees().checkouts, before);
}

TEST(PythonSyntax, an_error_names_file_and_line) {
    Project project;
    project.use_baseline = false;
    project.tree("t") = {{"good.py", "x = 1\n"}, {"bad.py", "x = 1\ndef f(:\n"}, {"note.txt", "def f(:\n"}};
    const auto report = project.gate("syntax", "t");
    EXPECT_FALSE(report.passed);
    ASSERT_EQ(report.violations.size(), 1U);
    EXPECT_EQ(report.violations[0].file, "bad.py");
    EXPECT_EQ(report.violations[0].line, 2U);
}

TEST(PythonSyntax, only_what_changed_since_the_users_commit_is_checked) {
    Project project;
    project.tree("base") = {{"legacy.py", "print 'python 2'\n"}};
    project.tree("t") = {{"legacy.py", "print 'python 2'\n"}, {"new.py", "x = 1\n"}};
    EXPECT_TRUE(project.gate("syntax", "t").passed);
}

TEST(PythonTypes, reports_that_no_checker_is_configured) {
    Project project;
    project.tree("base") = {{"a.py", ""}};
    const auto report = project.gate("types", "base");
    EXPECT_TRUE(report.passed);
    EXPECT_EQ(report.summary, "no type checker configured");
    EXPECT_EQ(report.facts.at("type_check"), json::value("not configured"));
}

TEST(PythonTypes, names_a_checker_that_is_not_installed) {
    Project project;
    project.tree("base") = {{"a.py", ""}, {"pyproject.toml", "[tool.pyright]\n"}};
    const auto report = project.gate("types", "base");
    EXPECT_EQ(report.facts.at("type_check"), json::value("not installed"));
    EXPECT_THAT(report.summary, HasSubstr("pyright"));
}

TEST(Gates, an_unknown_gate_or_parameter_is_an_error) {
    Project project;
    project.tree("base") = {{"a.py", ""}};
    EXPECT_EQ(project.try_gate("lint", "base").error().code, "AF-GATE-001");
    EXPECT_EQ(project.try_gate("tests", "base", {}, {{"fast", true}}).error().code, "AF-GATE-006");
    project.use_baseline = false;
    EXPECT_EQ(project.try_gate("red", "base").error().code, "AF-GATE-004");
}

TEST(Gates, a_repository_without_a_known_language_is_an_error) {
    Project project;
    project.tree("t") = {{"README", "hello\n"}};
    EXPECT_EQ(project.try_gate("tests", "t").error().code, "AF-GATE-002");
}

/// A command that fails with this message although the disk is healthy. `own` is written to the results as by the kernel's
/// runner.
class FailingCommand final : public ProcessRunner {
public:
    FailingCommand(std::string words, std::string own) : words_(std::move(words)), own_(std::move(own)) {}
    Result<ProcessOutcome> run(const ProcessRequest& request, const Stop&) override {
        if (!own_.empty()) {
            const auto input = json::parse(request.input);
            const auto text = [&](const char* key) { return std::string(input.at(key).as_string()); };
            std::ofstream(text("results")) << json::serialize(json::object{{"n", text("nonce")},
                                                                           {"i", std::int64_t{0}},
                                                                           {"type", "machine"},
                                                                           {"text", own_}})
                                           << '\n';
        }
        ProcessOutcome outcome;
        outcome.exit_code = 3;
        outcome.err = words_;
        return outcome;
    }

private:
    std::string words_;
    std::string own_;
};

Result<GateReport> gate_of_failing_command(const std::string& gate, const std::string& words, const std::string& own = {}) {
    TemporaryDirectory folder("machine");
    FailingCommand command(words, own);
    auto trees = std::make_unique<MemoryTrees>(folder.path() / "verify");
    trees->trees["t"] = {{"a.py", "x = 1\n"}, {"tests/test_a.py", "import unittest\n"}};
    GateRunner::Options options;
    options.languages_directory = std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages";
    options.scratch_directory = (folder.path() / "scratch").string();
    options.environment = {{"PATH", "/usr/bin:/bin"}};
    return GateRunner(std::move(trees), command, options).run(GateCall{{gate, {}, {}}, "t", nullptr}, Stop{});
}

const std::vector<std::string> machine_words{"agentforge: the test runner stopped: OSError: [Errno 28] No space left on device\n",
                                             "OSError: [Errno 5] Input/output error: '/x/y'\n",
                                             "cc1: fatal error: /tmp/a.o: No space left on device\n",
                                             "Error: ENOSPC: no space left on device, write\n"};

/// Runs a check in a child process with a file size limit below one megabyte, as on a full disk.
template <typename Check>
void without_room(Check check) {
    const auto run = [&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit small{256U << 10U, 256U << 10U};
        return ::setrlimit(RLIMIT_FSIZE, &small) == 0 && check() ? 0 : 1;
    };
    EXPECT_EXIT(std::_Exit(run()), ::testing::ExitedWithCode(0), "");
}

bool is_paused(const Result<GateReport>& report) {
    return !report.ok() && report.error().code == "AF-GATE-106" && report.error().kind == ErrorKind::io;
}

TEST(MachineFailure, of_a_gate_command_is_not_a_test_result) {
    for (const auto& words : machine_words) {
        for (const auto* gate : {"tests", "syntax"}) {
            without_room([&] { return is_paused(gate_of_failing_command(gate, words)); });
        }
    }
}

TEST(MachineFailure, is_not_detected_by_its_message_alone) {
    for (const auto& words : machine_words) {
        for (const auto* gate : {"tests", "syntax"}) {
            EXPECT_FALSE(is_paused(gate_of_failing_command(gate, words))) << gate << ": " << words;
        }
    }
}

TEST(MachineFailure, in_the_kernels_runner_is_detected_by_errno) {
    const auto report = gate_of_failing_command("tests", "", "Input/output error");
    ASSERT_TRUE(is_paused(report));
    EXPECT_THAT(report.error().message, ::testing::HasSubstr("Input/output error"));
}

TEST(MachineFailure, is_detected_if_the_scratch_file_system_is_full) {
    without_room([] {
        Project project;
        project.use_baseline = false;
        project.tree("t") = {
            {"tests/test_a.py",
             "import os, unittest\nclass A(unittest.TestCase):\n    def test_a(self):\n        os.kill(os.getpid(), 9)\n"}};
        return is_paused(project.try_gate("tests", "t"));
    });
}

TEST(MachineFailure, is_not_assumed_if_a_test_merely_prints_such_a_message) {
    Project project;
    project.use_baseline = false;
    project.tree("t") = {
        {"tests/test_a.py",
         "import sys, unittest\nclass A(unittest.TestCase):\n    def test_a(self):\n"
         "        print('x: No space left on device', file=sys.stderr)\n        raise OSError(28, 'No space left on device')\n"}};
    const auto report = project.gate("tests", "t");
    EXPECT_FALSE(report.passed);
    EXPECT_EQ(report.facts.at("believed"), json::value(true));
}

}  // namespace
}  // namespace agentforge::kernel::testing
