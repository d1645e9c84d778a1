// SPDX-License-Identifier: Apache-2.0
// Gates on a real repository and its verify worktree.
#include <cstdlib>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

TEST(GatesOnAWorktree, measure_the_commit_and_ignore_stray_files) {
    TemporaryDirectory folder("gates-git");
    const auto root = folder.path() / "repository";
    std::filesystem::create_directories(root / "tests");
    std::ofstream(root / "slug.py") << "def slugify(text):\n    return text.lower()\n";
    std::ofstream(root / "tests/test_slug.py")
        << "import unittest\nfrom slug import slugify\nclass TestSlug(unittest.TestCase):\n"
           "    def test_lower(self):\n        self.assertEqual(slugify('A'), 'a')\n";
    const auto command =
        "cd " + root.string() + " && git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -q -m first";
    ASSERT_EQ(std::system(command.c_str()), 0);
    auto repository = Repository::open(root);
    ASSERT_TRUE(repository.ok()) << repository.error().to_string();
    const auto commit = repository->head_commit().value();
    const auto tree = repository->tree_of(commit).value();
    auto verify = Worktree::ensure(root, folder.path() / "verify", "verify", commit);
    ASSERT_TRUE(verify.ok()) << verify.error().to_string();
    std::ofstream(folder.path() / "verify/slug.py") << "raise SystemExit(0)\n";
    std::ofstream(folder.path() / "verify/unittest.py") << "raise SystemExit(0)\n";

    const auto processes = make_process_runner(std::string(AGENTFORGE_BINARY_DIR) + "/libexec/agentforge-exec");
    GateRunner::Options options;
    options.languages_directory = std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages";
    options.scratch_directory = (folder.path() / "scratch").string();
    options.environment = {{"PATH", "/usr/bin:/bin"}};
    GateRunner runner(*repository, *verify, *processes, options);
    GateCall call;
    call.request.gate = "tests";
    call.tree = tree;
    const auto report = runner.run(call, Stop{});
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    EXPECT_TRUE(report->passed) << joined(report->blocking_issues);
    EXPECT_EQ(report->tests.size(), 1U);
}

TEST(PythonTests, twenty_tests_are_one_run) {
    Project project;
    std::string text = "import unittest\nclass TestA(unittest.TestCase):\n";
    for (int i = 0; i < 20; ++i) { text += "    def test_" + std::to_string(i) + "(self):\n        self.assertEqual(1, 1)\n"; }
    project.tree("t") = {{"tests/test_a.py", text}};
    const auto report = project.gate("tests", "t");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.tests.size(), 20U);
}

}  // namespace
}  // namespace agentforge::kernel::testing
