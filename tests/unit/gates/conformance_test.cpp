// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "gates/conformance/conformance_search.hpp"
#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;

class Conformance : public ::testing::Test {
protected:
    void rule(const std::string& text) {
        std::filesystem::create_directories(project_.folder() / "conformance");
        std::ofstream(project_.folder() / "conformance/own.yaml") << "agentforge_conformance: 1\ncategory: \"style\"\nchecks:\n"
                                                                  << text;
    }
    static bool has(const GateReport& report, const std::string& check) {
        return std::any_of(report.violations.begin(), report.violations.end(),
                           [&](const auto& each) { return each.check_id == check; });
    }
    Project project_;
};

TEST_F(Conformance, minor_violations_are_reported_and_do_not_block) {
    project_.tree("base") = {};
    project_.tree("t") = {{"a.py", "def f():\n    print(1)\n"}};
    const auto report = project_.gate("conformance", "t");
    EXPECT_TRUE(report.passed);
    EXPECT_TRUE(has(report, "no-print-statements"));
    EXPECT_TRUE(has(report, "documentation-required"));
}

TEST_F(Conformance, counts_existing_violations_without_blocking) {
    project_.tree("base") = {{"a.py", "password = \"hunter2hunter2\"\n"}};
    project_.tree("t") = {{"a.py", "import os\n\npassword = \"hunter2hunter2\"\n"}};
    const auto report = project_.gate("conformance", "t");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.facts.at("violations_before"), json::value(1));
    EXPECT_EQ(report.facts.at("violations_new"), json::value(0));
}

TEST_F(Conformance, a_second_identical_violation_is_new) {
    project_.tree("base") = {{"a.py", "password = \"hunter2hunter2\"\n"}};
    project_.tree("t") = {{"a.py", "password = \"hunter2hunter2\"\npassword = \"hunter2hunter2\"\n"}};
    EXPECT_FALSE(project_.gate("conformance", "t").passed);
}

TEST_F(Conformance, quality_is_checked_only_at_the_end_of_a_phase) {
    project_.tree("base") = {};
    std::string body = "def f(x):\n";
    for (int i = 0; i < 90; ++i) { body += "    x += 1\n"; }
    project_.tree("t") = {{"a.py", body}};
    EXPECT_FALSE(has(project_.gate("conformance", "t"), "max-function-length"));
    const auto all = project_.gate("conformance", "t", {}, {{"enforcement", "all"}});
    EXPECT_TRUE(has(all, "max-function-length"));
    EXPECT_FALSE(all.passed);
}

TEST_F(Conformance, python_names_imports_interfaces_copies_and_swallowed_errors_are_reported) {
    project_.tree("base") = {};
    const std::string body = "    b = a\n    c = b\n    if c:\n        return 1\n    return 2\n";
    std::string interface = "class Wide(ABC):\n";
    for (int i = 0; i < 11; ++i) { interface += "    @abstractmethod\n    def m" + std::to_string(i) + "(self): ...\n"; }
    project_.tree("t") = {{"a.py", "import requests\nimport os\n\n\nclass lower:\n    pass\n\n\ndef one(a):\n" + body +
                                       "\n\ndef two(a):\n" + body + "\n\ntry:\n    one(1)\nexcept Exception:\n    pass\n\n\n" +
                                       interface}};
    const auto report = project_.gate("conformance", "t", {}, {{"enforcement", "all"}});
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    for (const char* check :
         {"naming-conventions", "import-order", "no-duplicate-code", "error-handling", "interface-segregation"}) {
        EXPECT_TRUE(has(report, check)) << check;
    }
}

TEST_F(Conformance, python_names_from_a_base_class_and_sorted_imports_are_accepted) {
    project_.tree("base") = {};
    project_.tree("t") = {
        {"a.py",
         "import os\n\nimport requests\n\n\nclass Visitor(Base):\n    def visitName(self):\n        try:\n            os.remove('a')\n        except FileNotFoundError:\n            pass\n"}};
    const auto report = project_.gate("conformance", "t", {}, {{"enforcement", "all"}});
    for (const char* check : {"naming-conventions", "import-order", "error-handling"}) {
        EXPECT_FALSE(has(report, check)) << check;
    }
}

TEST_F(Conformance, finds_concatenated_queries_and_calls_that_run_their_argument) {
    project_.tree("base") = {};
    const std::vector<std::pair<std::string, std::string>> cases{
        {"cursor.execute(f\"SELECT {x}\")", "sql-injection"},
        {"db.Query(\"SELECT a FROM t WHERE n = \" + n)", "sql-injection"},
        {"db.ExecContext(ctx, `DELETE FROM t WHERE n = ` + n)", "sql-injection"},
        {"eval(request)", "input-validation"},
        {"pickle.loads(data)", "input-validation"},
        {"yaml.load(data)", "input-validation"}};
    for (const auto& [line, check] : cases) {
        project_.tree(line) = {{"a.py", line + "\n"}};
        EXPECT_TRUE(has(project_.gate("conformance", line), check.c_str())) << line;
    }
    for (const char* line :
         {"cursor.execute(\"SELECT ?\", (x,))", "db.Query(\"SELECT a FROM t WHERE n = ?\", n + 1)", "ast.literal_eval(x)",
          "yaml.load(data, Loader=yaml.SafeLoader)", "def eval(node): ...", "pattern.exec(x)"}) {
        project_.tree(line) = {{"a.py", std::string(line) + "\n"}};
        const auto report = project_.gate("conformance", line);
        EXPECT_FALSE(has(report, "sql-injection") || has(report, "input-validation")) << line;
    }
}

TEST_F(Conformance, a_project_adds_a_rule) {
    rule(
        "  - {id: \"no-todo\", severity: \"major\", enforcement: \"every_edit\", applies_to: [\"*.py\"], pattern: \"TODO\", message: \"No TODO.\"}\n");
    project_.tree("base") = {};
    project_.tree("t") = {{"a.py", "# TODO\n"}};
    EXPECT_THAT(joined(project_.gate("conformance", "t").blocking_issues), HasSubstr("a.py:1: No TODO. (no-todo)"));
}

TEST_F(Conformance, a_project_changes_and_removes_rules_by_id) {
    rule("  - {id: \"line-length\", severity: \"major\", threshold: 5}\n  - {id: \"no-bare-except\", enabled: false}\n");
    project_.tree("base") = {};
    project_.tree("t") = {{"a.py", "\ntry:\n  f()\nexcept:\n  \xC3\xA9\xC3\xA9\xC3\xA9\n  123456\n"}};
    const auto report = project_.gate("conformance", "t");
    EXPECT_FALSE(has(report, "no-bare-except"));
    ASSERT_EQ(std::count_if(report.violations.begin(), report.violations.end(),
                            [](const auto& v) { return v.check_id == "line-length"; }),
              2);
    EXPECT_FALSE(report.passed);
}

TEST_F(Conformance, an_invalid_rule_is_an_error_with_its_position) {
    project_.tree("t") = {{"a.py", ""}};
    project_.use_baseline = false;
    rule(
        "  - {id: \"x\", severity: \"huge\", enforcement: \"every_edit\", applies_to: [\"*\"], pattern: \"a\", message: \"m\"}\n");
    const auto report = project_.try_gate("conformance", "t");
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().code, "AF-GATE-020");
    EXPECT_THAT(report.error().where, HasSubstr("own.yaml:4"));
}

TEST_F(Conformance, an_unknown_field_is_an_error_that_names_the_nearest) {
    project_.tree("t") = {{"a.py", ""}};
    project_.use_baseline = false;
    rule("  - {id: \"line-length\", treshold: 5}\n");
    EXPECT_THAT(project_.try_gate("conformance", "t").error().remedy, HasSubstr("threshold"));
}

TEST_F(Conformance, a_threshold_for_an_unknown_check_is_an_error) {
    const auto checks = load_checks({std::string(AGENTFORGE_SOURCE_DIR) + "/config/conformance"}, {{"max-complexety", 5}});
    ASSERT_FALSE(checks.ok());
    EXPECT_THAT(checks.error().remedy, HasSubstr("max-complexity"));
}

TEST_F(Conformance, secrets_are_found_and_examples_are_not) {
    const auto checks = load_checks({std::string(AGENTFORGE_SOURCE_DIR) + "/config/conformance"}, {}).value();
    const auto language = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", "python").value();
    const auto found = [&](const std::string& line) {
        const auto findings = find_violations(checks, language, "src/a.py", line, {});
        return std::any_of(findings.begin(), findings.end(),
                           [](const auto& each) { return each.violation.contract == "security"; });
    };
    EXPECT_TRUE(
        found("-----BEGIN RSA PRIVATE "
              "KEY-----"));
    EXPECT_TRUE(found("API_KEY = \"0123456789abcdef\""));
    EXPECT_TRUE(found("cursor.execute(f\"SELECT {x}\")"));
    EXPECT_FALSE(found("password = \"changeme-please-1\""));
    EXPECT_FALSE(found("password = os.environ[\"DB_PASSWORD\"]"));
    EXPECT_FALSE(found("PASSWORD_FIELD = \"user password\""));
    EXPECT_FALSE(found("cursor.execute(\"SELECT ?\", (x,))"));
}

TEST_F(Conformance, a_binary_file_is_not_searched) {
    project_.tree("base") = {};
    project_.tree("t") = {{"a.py", ""},
                          {"x.bin", std::string("AKIA"
                                                "ABCDEFGHIJKLMNOP\0\xFF",
                                                22)}};
    EXPECT_TRUE(project_.gate("conformance", "t").passed);
}

}  // namespace
}  // namespace agentforge::kernel::testing
