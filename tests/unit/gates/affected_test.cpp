// SPDX-License-Identifier: Apache-2.0
// Which tests run after an edit, and which at the end of a phase.
#include "gates/engine/mention_index.hpp"

#include "gates/engine/baseline.hpp"
#include "unit/gates/slug_project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

/// Returns the files of a small repository that depend on `changed`.
std::set<std::string> reached(const Files& repository, const std::vector<std::string>& changed) {
    MentionIndex index;
    std::vector<std::string> names;
    for (const auto& [path, content] : repository) { names.push_back(path); }
    const auto done = index.update(names, {}, [&](const std::string& path) -> Result<std::optional<std::string>> {
        return std::optional(repository.at(path));
    });
    EXPECT_TRUE(done.ok());
    return index.affected(changed);
}

TEST(AffectedTests, include_direct_and_indirect_users_of_a_changed_file) {
    const Files repository{{"src/slug.py", "def slugify(): pass\n"},
                           {"src/page.py", "from slug import slugify\n"},
                           {"src/other.py", "x = 1\n"},
                           {"tests/test_page.py", "import page\n"},
                           {"tests/test_other.py", "import other\n"}};
    EXPECT_THAT(reached(repository, {"src/slug.py"}), ElementsAre("src/page.py", "src/slug.py", "tests/test_page.py"));
}

TEST(AffectedTests, match_an_index_file_by_the_name_of_its_folder) {
    EXPECT_THAT(words_for("app/billing/__init__.py"), ElementsAre("billing"));
    EXPECT_THAT(words_for("src/tree/index.ts"), ElementsAre("tree"));
    EXPECT_THAT(words_for("src/lib.rs"), ElementsAre("src"));
    EXPECT_THAT(words_for("main.py"), ElementsAre("main"));
    EXPECT_THAT(words_for("store/cache.go"), ElementsAre("store", "cache"));
    EXPECT_THAT(words_for("src/my-module.test.ts"), ElementsAre("my_module", "module"));
}

TEST(AffectedTests, follow_the_same_names_into_other_languages) {
    const Files repository{{"src/slug.cpp", "#include \"slug.hpp\"\n"},
                           {"src/slug.hpp", ""},
                           {"src/page.hpp", "#include <slug.hpp>\n"},
                           {"tests/page_test.cpp", "#include \"page.hpp\"\n"},
                           {"tests/far_test.cpp", "#include \"far.hpp\"\n"}};
    EXPECT_THAT(reached(repository, {"src/slug.cpp"}), Contains("tests/page_test.cpp"));
    EXPECT_THAT(reached(repository, {"src/slug.cpp"}), Not(Contains("tests/far_test.cpp")));
}

TEST(AffectedTests, reach_each_file_of_an_import_cycle_once) {
    EXPECT_THAT(reached({{"a.py", "import b"}, {"b.py", "import c"}, {"c.py", "import a"}}, {"b.py"}),
                ElementsAre("a.py", "b.py", "c.py"));
}

TEST(AffectedTests, reread_only_changed_files) {
    Files repository{{"a.py", "import b"}, {"b.py", ""}, {"c.py", ""}};
    std::vector<std::string> names{"a.py", "b.py", "c.py"};
    std::vector<std::string> read;
    const MentionIndex::Read reader = [&](const std::string& path) -> Result<std::optional<std::string>> {
        read.push_back(path);
        return std::optional(repository.at(path));
    };
    MentionIndex index;
    ASSERT_TRUE(index.update(names, {}, reader).ok());
    read.clear();
    repository["c.py"] = "import b";
    ASSERT_TRUE(index.update(names, {"c.py"}, reader).ok());
    EXPECT_THAT(read, ElementsAre("c.py"));
    EXPECT_THAT(index.affected({"b.py"}), ElementsAre("a.py", "b.py", "c.py"));
}

std::string test_of(const std::string& module) {
    return "import unittest, " + module + "\nclass Test" + module +
           "(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(" + module + ")\n";
}

class SelectedTests : public ::testing::Test {
protected:
    SelectedTests() {
        for (const auto* tree : {"base", "red", "green"}) {
            project.tree(tree)["far.py"] = "";
            project.tree(tree)["tests/test_far.py"] = test_of("far");
        }
    }
    std::vector<std::string> files_run(const GateReport& report) {
        std::set<std::string> files;
        for (const auto& test : report.tests) { files.insert(test.file); }
        return {files.begin(), files.end()};
    }
    SlugProject project;
};

TEST_F(SelectedTests, cover_everything_that_the_task_changed_so_far) {
    const auto report = project.gate("tests", "green", {"slug.py"}, {{"scope", "affected"}});
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_THAT(files_run(report), ElementsAre("tests/test_slug.py"));
    EXPECT_EQ(report.facts.at("test_files_run"), json::value(1));
    EXPECT_EQ(report.facts.at("test_files_total"), json::value(3));
    EXPECT_THAT(report.summary, HasSubstr("1 of 3 test files, those that the change may affect"));
}

TEST_F(SelectedTests, still_show_a_failure_from_an_earlier_edit) {
    project.tree("green")["old.py"] = "def old():\n    return 2\n";
    const auto report = project.gate("tests", "green", {"slug.py"}, {{"scope", "affected"}});
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("tests/test_old.py::TestOld::test_old failed"));
}

TEST_F(SelectedTests, are_all_if_a_file_that_is_not_source_changed) {
    project.tree("green")["data.json"] = "{}";
    EXPECT_THAT(files_run(project.gate("tests", "green", {"data.json"}, {{"scope", "affected"}})),
                ElementsAre("tests/test_far.py", "tests/test_old.py", "tests/test_slug.py"));
}

TEST_F(SelectedTests, are_none_if_only_documentation_changed) {
    project.tree("green")["docs/far.md"] = "old\n";
    EXPECT_THAT(files_run(project.gate("tests", "green", {"docs/far.md"}, {{"scope", "affected"}})),
                ElementsAre("tests/test_slug.py"));
}

class IntegrationTests : public SelectedTests {
protected:
    IntegrationTests() : SelectedTests() {
        for (const auto* tree : {"base", "red", "green"}) {
            project.tree(tree)["tests/integration/test_whole.py"] = test_of("old");
        }
        project.baseline.base_tests.push_back({"tests/integration/test_whole.py::Testold::test_it", "test_it",
                                               "tests/integration/test_whole.py", 3, TestStatus::passed, ""});
        project.configure({{"integration_tests", json::array{"tests/integration/**"}}});
    }
    bool ran(const GateReport& report) {
        return ::testing::Value(files_run(report), Contains("tests/integration/test_whole.py"));
    }
};

TEST_F(IntegrationTests, run_only_at_the_end_of_refactor_and_at_delivery) {
    project.tree("green")["old.py"] = "def old():\n    return 1 + 0\n";
    EXPECT_FALSE(ran(project.gate("tests", "green", {"old.py"}, {{"scope", "affected"}})));
    const auto green = project.gate("green", "green");
    EXPECT_TRUE(green.passed) << joined(green.blocking_issues);
    EXPECT_FALSE(ran(green));
    EXPECT_TRUE(ran(project.gate("refactor", "green")));
    EXPECT_TRUE(ran(project.gate("deliver", "green")));
}

TEST_F(IntegrationTests, are_run_with_the_suite_before_the_task) { EXPECT_TRUE(ran(project.gate("tests", "base"))); }

TEST_F(IntegrationTests, that_break_are_found_at_the_end_of_refactor) {
    project.tree("green")["old.py"] = "import sys\ndef old():\n    return 1\n";
    for (const auto* tree : {"base", "red", "green"}) {
        project.tree(tree)["tests/integration/test_whole.py"] =
            "import unittest, old\nclass Testold(unittest.TestCase):\n    def test_it(self):\n        self.assertNotIn('sys', vars(old))\n";
    }
    EXPECT_TRUE(project.gate("green", "green").passed);
    const auto report = project.gate("refactor", "green");
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(joined(report.blocking_issues),
                HasSubstr("tests/integration/test_whole.py::Testold::test_it passed before the task"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
