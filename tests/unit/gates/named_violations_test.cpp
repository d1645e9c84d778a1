// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "gates/conformance/conformance_reader.hpp"
#include "gates/conformance/named_violations.hpp"
#include "gates/conformance/sarif.hpp"
#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class NamedViolations : public ::testing::Test {
protected:
    /// Over one tree, `t`.
    std::unique_ptr<ConformanceReader> reader(const Files& files) {
        auto trees = std::make_unique<MemoryTrees>(project_.folder() / "read");
        trees->trees["t"] = files;
        return std::make_unique<ConformanceReader>(std::move(trees), *processes_, project_.options());
    }
    std::vector<Finding> found(const Files& files) {
        auto findings = reader(files)->findings("t", {}, {});
        EXPECT_TRUE(findings.ok()) << (findings.ok() ? "" : findings.error().to_string());
        if (!findings.ok()) { return {}; }
        std::erase_if(*findings, [](const Finding& each) {
            return each.violation.check_id != "no-print-statements" && each.violation.check_id != "sql-injection";
        });
        return *findings;
    }
    std::vector<NamedViolation> named(const std::string& content, const std::vector<NamedViolation>& known = {}) {
        return name_violations(found({{"a.py", content}}), known);
    }
    static std::vector<std::string> ids(const std::vector<NamedViolation>& violations) {
        std::vector<std::string> result;
        for (const auto& each : violations) { result.push_back(each.id); }
        return result;
    }

    Project project_;
    std::unique_ptr<ProcessRunner> processes_ =
        make_process_runner(std::string(AGENTFORGE_BINARY_DIR) + "/libexec/agentforge-exec");
};

constexpr const char* query = "def total(cursor, word):\n    cursor.execute(f\"SELECT {word}\")\n";

TEST_F(NamedViolations, an_id_survives_moved_lines_and_changed_whitespace) {
    const auto before = named(query);
    const auto after =
        named("import os\n\n\nif os:\n    def total(cursor, word):\n        cursor.execute( f\"SELECT {word}\")\n");
    ASSERT_EQ(before.size(), 1U);
    EXPECT_TRUE(is_violation_id(before.front().id)) << before.front().id;
    EXPECT_EQ(ids(before), ids(after));
    EXPECT_NE(before.front().violation.line, after.front().violation.line);
}

TEST_F(NamedViolations, an_id_depends_on_file_check_and_text) {
    const auto all =
        name_violations(found({{"a.py", query}, {"b.py", query}, {"c.py", "cursor.execute(f\"DELETE {word}\")\n"}}), {});
    auto each = ids(all);
    std::sort(each.begin(), each.end());
    each.erase(std::unique(each.begin(), each.end()), each.end());
    EXPECT_EQ(each.size(), 3U);
}

TEST_F(NamedViolations, identical_lines_are_distinguished_by_their_context) {
    const std::string first = "def first(c, w):\n    c.execute(f\"SELECT {w}\")\n    return 1\n\n\n";
    const std::string second = "def second(c, w):\n    c.execute(f\"SELECT {w}\")\n    return 2\n";
    const auto both = named(first + second);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_NE(both[0].id, both[1].id);
    EXPECT_THAT(ids(named(second, both)), ElementsAre(both[1].id));
    EXPECT_THAT(ids(named(second + "\n\n" + first, both)), ElementsAre(both[1].id, both[0].id));
    const auto three = named(first + second + "\n\ndef third(c, w):\n    c.execute(f\"SELECT {w}\")\n", both);
    ASSERT_EQ(three.size(), 3U);
    EXPECT_EQ(three[0].id, both[0].id);
    EXPECT_EQ(three[1].id, both[1].id);
    EXPECT_THAT(ids(both), Not(::testing::Contains(three[2].id)));
}

TEST_F(NamedViolations, an_appended_duplicate_does_not_take_over_the_id) {
    const std::string loop = "for w in words:\n    c.execute(f\"SELECT {w}\")\n";
    auto known = named(loop);
    ASSERT_EQ(known.size(), 1U);
    known.front().violation.line = 0;  // As the baseline has it.
    const auto both = named(loop + loop, known);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both[0].id, known[0].id);
    EXPECT_NE(both[1].id, known[0].id);
}

TEST_F(NamedViolations, the_last_line_keeps_its_id_when_an_earlier_duplicate_is_removed) {
    const std::string loop = "for w in words:\n    c.execute(f\"SELECT {w}\")\n";
    auto known = named(loop + "print(w)\n" + loop);
    std::erase_if(known, [](const NamedViolation& each) { return each.violation.check_id != "sql-injection"; });
    ASSERT_EQ(known.size(), 2U);
    EXPECT_THAT(ids(named(loop, known)), ElementsAre(known[1].id));
}

TEST_F(NamedViolations, a_baseline_reads_back_and_contains_no_project_text) {
    const auto before = named("def f(c, w):\n    c.execute(f\"SELECT hunter2 {w}\")\n");
    TemporaryDirectory folder("baseline");
    const auto file = folder.path() / "baseline.yaml";
    std::ofstream(file) << baseline_text(before);
    EXPECT_THAT(baseline_text(before), Not(HasSubstr("hunter2")));
    const auto read = read_baseline(file);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_EQ(ids(*read), ids(before));
    EXPECT_EQ(ids(named("\n\ndef f(c, w):\n    c.execute(f\"SELECT hunter2 {w}\")\n", *read)), ids(before));
}

TEST_F(NamedViolations, an_invalid_baseline_is_refused_with_the_position) {
    TemporaryDirectory folder("baseline");
    const auto file = folder.path() / "baseline.yaml";
    EXPECT_TRUE(read_baseline(file).ok());
    std::ofstream(file) << "agentforge_baseline: 1\nviolations:\n  - {id: \"V-123\", check: \"c\", file: \"a.py\", txt: \"x\"}\n";
    const auto read = read_baseline(file);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, "AF-GATE-170");
    EXPECT_THAT(read.error().to_string(), HasSubstr("baseline.yaml:3"));
    EXPECT_THAT(read.error().to_string(), HasSubstr("txt"));
}

TEST_F(NamedViolations, records_are_written_read_and_removed) {
    TemporaryDirectory folder("records");
    const auto before = named(query);
    ASSERT_TRUE(write_records(folder.path() / "violations", before, {}).ok());
    const auto record = read_record(folder.path() / "violations", before.front().id);
    ASSERT_TRUE(record.ok()) << record.error().to_string();
    EXPECT_EQ(to_json(*record), to_json(before.front()));
    ASSERT_TRUE(write_records(folder.path() / "violations", {}, ids(before)).ok());
    EXPECT_THAT(read_records(folder.path() / "violations"), IsEmpty());
    EXPECT_EQ(read_record(folder.path() / "violations", before.front().id).error().code, "AF-GATE-171");
    EXPECT_EQ(read_record(folder.path() / "violations", "../../etc/passwd").error().code, "AF-GATE-171");
}

TEST_F(NamedViolations, sarif_names_the_rule_the_place_and_whether_it_is_new) {
    const auto checks = reader({{"a.py", ""}})->checks();
    ASSERT_TRUE(checks.ok()) << checks.error().to_string();
    const auto violations = name_violations(found({{"src/a b.py", query}}), {});
    const auto log = to_sarif(violations, {violations.front().id}, *checks, "1.2.3");
    EXPECT_EQ(log.at("version"), json::value("2.1.0"));
    const auto& run = log.at("runs").as_array().at(0).as_object();
    const auto& driver = run.at("tool").as_object().at("driver").as_object();
    EXPECT_EQ(driver.at("rules").as_array().size(), checks->size());
    const auto& result = run.at("results").as_array().at(0).as_object();
    const auto index = result.at("ruleIndex").to_number<std::size_t>();
    EXPECT_EQ(driver.at("rules").as_array().at(index).as_object().at("id"), result.at("ruleId"));
    EXPECT_EQ(result.at("baselineState"), json::value("new"));
    EXPECT_EQ(result.at("level"), json::value("warning"));
    EXPECT_EQ(result.at("partialFingerprints").as_object().at("agentforgeViolation/v1"), json::value(violations.front().id));
    const auto& place = result.at("locations").as_array().at(0).as_object().at("physicalLocation").as_object();
    EXPECT_EQ(place.at("artifactLocation").as_object().at("uri"), json::value("src/a%20b.py"));
    EXPECT_EQ(place.at("region").as_object().at("startLine"), json::value(2));
}

TEST_F(NamedViolations, sarif_lists_unmeasured_files_as_notifications) {
    const auto log = to_sarif({}, {}, {}, "1.2.3", {{"src/a b.py", "line 3: SyntaxError: invalid syntax"}});
    const auto& run = log.at("runs").as_array().at(0).as_object();
    const auto& invocation = run.at("invocations").as_array().at(0).as_object();
    EXPECT_EQ(invocation.at("executionSuccessful"), json::value(true));
    const auto& notification = invocation.at("toolExecutionNotifications").as_array().at(0).as_object();
    EXPECT_EQ(notification.at("level"), json::value("warning"));
    EXPECT_EQ(notification.at("message").as_object().at("text"),
              json::value("not measured: src/a b.py (line 3: SyntaxError: invalid syntax)"));
    const auto& place = notification.at("locations").as_array().at(0).as_object().at("physicalLocation").as_object();
    EXPECT_EQ(place.at("artifactLocation").as_object().at("uri"), json::value("src/a%20b.py"));
}

class ConformanceUnmeasured : public NamedViolations {
protected:
    /// `file: reason`, ordered by file.
    std::vector<std::string> unmeasured(const Files& files) {
        std::vector<UnmeasuredFile> missed;
        const auto found = reader(files)->findings("t", {}, {}, &missed);
        EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().to_string());
        std::vector<std::string> lines;
        for (const auto& each : missed) { lines.push_back(each.file + ": " + each.reason); }
        std::sort(lines.begin(), lines.end());
        return lines;
    }
};

TEST_F(ConformanceUnmeasured, lists_only_sources_with_the_reason) {
    const std::string zero(1, '\0');
    EXPECT_THAT(
        unmeasured({{"a.py", "def a(:\n"},
                    {"b.py", "b = 1\n" + zero},
                    {"c.py", std::string((2UL << 20U) + 1, '#')},
                    {"d.py", "d = 1\n"},
                    {"e.png", zero}}),
        ElementsAre(HasSubstr("a.py: line 1: SyntaxError: "), "b.py: binary: it has a zero byte", "c.py: larger than 2 MiB"));
}

TEST_F(ConformanceUnmeasured, lists_javascript_with_the_line_of_its_syntax_error) {
    EXPECT_THAT(unmeasured({{"package.json", "{}"}, {"a.js", "let a;\nfunction b( {\n"}, {"c.js", "let c;\n"}}),
                ElementsAre(HasSubstr("a.js: line 3: SyntaxError: ")));
}

TEST_F(ConformanceUnmeasured, a_file_of_a_scope_has_its_path_in_the_repository) {
    EXPECT_THAT(unmeasured({{"setup.py", "import os\n"}, {"web/package.json", "{}"}, {"web/a.js", "function b( {\n"}}),
                ElementsAre(HasSubstr("web/a.js: line ")));
}

TEST_F(ConformanceUnmeasured, a_line_of_the_command_without_a_known_file_or_a_reason_is_refused) {
    const auto own = project_.folder() / "languages";
    const std::filesystem::path shipped = project_.options().languages_directory;
    std::filesystem::create_directories(own);
    std::filesystem::copy(shipped / "python.yaml", own / "python.yaml");
    std::filesystem::copy(shipped / "python", own / "python", std::filesystem::copy_options::recursive);
    project_.options().more_languages = {own.string()};
    for (const std::string line : {R"({"file": "0/b.py", "not_measured": "why"})", R"({"not_measured": "why"})",
                                   R"({"file": "0/a.py", "not_measured": ""})", R"({"file": "0/a.py", "not_measured": 1})"}) {
        std::ofstream(own / "python" / "metrics.py") << "print('" << line << "')\nprint('{\"end\": true, \"checked\": 1}')\n";
        const auto found = reader({{"a.py", "a = 1\n"}})->findings("t", {}, {});
        ASSERT_FALSE(found.ok()) << line;
        EXPECT_EQ(found.error().code, "AF-GATE-003") << line;
        EXPECT_EQ(found.error().where, line);
    }
}

class FixGate : public NamedViolations {
protected:
    FixGate() {
        project_.baseline.red_tree.clear();
        project_.tree("base") = {{"store.py", store("c.execute(f\"SELECT {w}\")")}, {"test_store.py", test}};
        for (const auto& each : name_violations(found(project_.tree("base")), {})) {
            if (each.violation.check_id == "sql-injection") { violation_ = to_json(each); }
        }
        EXPECT_FALSE(violation_.empty());
        const auto before = project_.gate("tests", "base");
        EXPECT_TRUE(before.passed);
        project_.baseline.base_tests = before.tests;
    }
    static std::string store(const std::string& line) {
        return "\"\"\"A store.\"\"\"\n\n\ndef total(c, w):\n    \"\"\"Return what is asked for.\"\"\"\n    " + line +
               "\n    return c.done\n";
    }
    GateReport fixed(const Files& files) {
        const std::string tree = "green" + std::to_string(++fixed_);  // What was measured of a tree is kept.
        project_.tree(tree) = files;
        return project_.gate("fix", tree, {}, {{"violation", violation_}});
    }
    unsigned fixed_ = 0;
    json::object violation_;
    static constexpr const char* test =
        "import unittest\n\nfrom store import total\n\n\nclass Cursor:\n    done = 3\n\n    def execute(self, *words):\n        self.words = words\n\n\n"
        "class T(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total(Cursor(), 'a'), 3)\n";
};

TEST_F(FixGate, passes_when_the_violation_is_gone_and_nothing_else_changed) {
    const auto report = fixed({{"store.py", store("c.execute(\"SELECT ?\", (w,))")}, {"test_store.py", test}});
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.facts.at("violation_gone"), json::value(true));
    EXPECT_EQ(report.facts.at("no_new_violations"), json::value(true));
    EXPECT_EQ(report.facts.at("no_regressions"), json::value(true));
}

TEST_F(FixGate, does_not_pass_if_the_violation_only_moved) {
    const auto report = fixed(
        {{"store.py",
          "\"\"\"A store.\"\"\"\n\nimport os\n\n\ndef total(c, w):\n    \"\"\"Return what is asked for.\"\"\"\n    if os:\n        c.execute(f\"SELECT {w}\")\n    return c.done\n"},
         {"test_store.py", test}});
    EXPECT_FALSE(report.passed);
    EXPECT_EQ(report.facts.at("violation_gone"), json::value(false));
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("still there"));
}

/// Two functions with the same body: each has the violation, with the same lines around it.
TEST_F(FixGate, distinguishes_a_violation_from_its_duplicate) {
    const auto body = [](const std::string& name, const std::string& line) {
        return "\n\ndef " + name + "(c, w):\n    \"\"\"Return what is asked for.\"\"\"\n    " + line + "\n    return c.done\n";
    };
    const std::string bad = "c.execute(f\"SELECT {w}\")";
    const std::string good = "c.execute(\"SELECT ?\", (w,))";
    const std::string head = "\"\"\"A store.\"\"\"\n";
    project_.tree("twins") = {{"store.py", head + body("total", bad) + body("other", bad)}, {"test_store.py", test}};
    project_.baseline.base_tree = "twins";
    std::vector<json::object> twins;
    for (const auto& each : name_violations(found(project_.tree("twins")), {})) {
        if (each.violation.check_id == "sql-injection") { twins.push_back(to_json(each)); }
    }
    ASSERT_EQ(twins.size(), 2U);
    const Files first{{"store.py", head + body("total", good) + body("other", bad)}, {"test_store.py", test}};
    const Files second{{"store.py", head + body("total", bad) + body("other", good)}, {"test_store.py", test}};
    violation_ = twins[0];
    EXPECT_EQ(fixed(first).facts.at("violation_gone"), json::value(true));
    EXPECT_EQ(fixed(second).facts.at("violation_gone"), json::value(false));
    const Files moved{{"store.py", head + body("total", good) + body("other", bad) + body("third", bad)},
                      {"test_store.py", test}};
    EXPECT_EQ(fixed(moved).facts.at("violation_gone"), json::value(false)) << "it only moved";
    violation_ = twins[1];
    EXPECT_EQ(fixed(first).facts.at("violation_gone"), json::value(false));
    EXPECT_EQ(fixed(second).facts.at("violation_gone"), json::value(true));
}

TEST(PartOfLine, is_the_range_between_unchanged_lines) {
    const auto part = part_of_line("a\nx\nb\nx\nc\n", "new\na\nb\ny\nx\nc\n", 4);
    ASSERT_TRUE(part.has_value());
    EXPECT_EQ(part->first, 4U);
    EXPECT_EQ(part->last, 5U);
    EXPECT_FALSE(part_of_line("a\nx\nb\n", "b\nx\na\n", 2).has_value());
}

TEST_F(FixGate, does_not_pass_with_a_new_violation_however_minor) {
    const auto report = fixed({{"store.py", store("print(c.execute(\"SELECT ?\", (w,)))")}, {"test_store.py", test}});
    EXPECT_FALSE(report.passed);
    EXPECT_EQ(report.facts.at("violation_gone"), json::value(true));
    EXPECT_EQ(report.facts.at("no_new_violations"), json::value(false));
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("no-print-statements"));
}

TEST_F(FixGate, does_not_pass_if_the_violation_moved_to_another_file) {
    const auto report = fixed({{"store.py", "\"\"\"A store.\"\"\"\nfrom ask import total\n\n__all__ = [\"total\"]\n"},
                               {"ask.py", store("c.execute(f\"SELECT {w}\")")},
                               {"test_store.py", test}});
    EXPECT_FALSE(report.passed);
    EXPECT_EQ(report.facts.at("no_new_violations"), json::value(false));
}

TEST_F(FixGate, does_not_pass_when_a_test_fails_or_is_changed) {
    EXPECT_FALSE(fixed({{"store.py",
                         "\"\"\"A store.\"\"\"\n\n\ndef total(c, w):\n    \"\"\"Return what is asked for.\"\"\"\n    return w\n"},
                        {"test_store.py", test}})
                     .passed);
    const auto changed =
        fixed({{"store.py", store("c.execute(\"SELECT ?\", (w,))")}, {"test_store.py", std::string(test) + "\n# changed\n"}});
    EXPECT_FALSE(changed.passed);
    EXPECT_THAT(joined(changed.blocking_issues), HasSubstr("test_store.py"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
