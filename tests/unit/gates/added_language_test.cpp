// SPDX-License-Identifier: Apache-2.0
// Runs the language file in docs/languages.md, unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;

/// A folder with the one file, taken from the page.
class LanguageAdded : public ::testing::Test {
protected:
    LanguageAdded() : folder_("languages") {
        const auto page = *read_file(std::string(AGENTFORGE_SOURCE_DIR) + "/docs/languages.md");
        const auto begin = page.find("```yaml\nagentforge_language: 1\n") + 8;
        std::ofstream(folder_.path() / "perl.yaml", std::ios::binary) << page.substr(begin, page.find("```\n", begin) - begin);
        project_ = std::make_unique<Project>(json::object{}, std::vector<std::string>{folder_.path().string()});
    }

    TemporaryDirectory folder_;
    std::unique_ptr<Project> project_;
};

const Files perl_project{
    {"lib/Slug.pm", "package Slug;\nsub slugify { return $_[0] }\n1;\n"},
    {"t/slug.t", "use strict;\nuse Test::More tests => 2;\nuse_ok('Slug');\nis(Slug::slugify('A'), 'a', 'lower case');\n"}};

TEST_F(LanguageAdded, needs_only_its_file) {
    if (!std::filesystem::exists("/usr/bin/perl")) { GTEST_SKIP() << "not run: Perl is not installed"; }
    project_->tree("t") = perl_project;
    const auto report = project_->gate("tests", "t");
    EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
    EXPECT_EQ(status_of(report, "t/slug.t::use Slug;"), TestStatus::passed);
    EXPECT_EQ(status_of(report, "t/slug.t::lower case"), TestStatus::failed_assertion);
    EXPECT_EQ(report.tests.size(), 2U) << joined(report.blocking_issues);
}

TEST_F(LanguageAdded, finds_syntax_errors_by_its_pattern) {
    if (!std::filesystem::exists("/usr/bin/perl")) { GTEST_SKIP() << "not run: Perl is not installed"; }
    project_->tree("t") = {{"lib/Slug.pm", "package Slug;\nsub slugify {\n"}};
    const auto report = project_->gate("syntax", "t");
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("lib/Slug.pm:"));
}

TEST_F(LanguageAdded, an_unknown_key_is_named_with_its_line) {
    std::ofstream(folder_.path() / "perl.yaml", std::ios::app) << "canari: x\n";
    project_->tree("t") = perl_project;
    const auto report = project_->try_gate("tests", "t");
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().code, "AF-GATE-010");
    EXPECT_THAT(report.error().to_string(), HasSubstr("perl.yaml:"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
