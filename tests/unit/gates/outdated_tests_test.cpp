// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/outdated_tests.hpp"

#include <gmock/gmock.h>

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<TestOutcome> tests_of(const std::string& file, const std::vector<std::string>& names) {
    std::vector<TestOutcome> tests;
    for (const std::string& name : names) { tests.push_back({file + "::" + name, name, file, 0, TestStatus::passed, ""}); }
    return tests;
}

std::vector<std::string> ids(const std::vector<ChangedTest>& changed) {
    std::vector<std::string> found;
    for (const ChangedTest& test : changed) { found.push_back(test.id); }
    return found;
}

constexpr const char* python = R"(import f

def helper():
    return 1

@parametrize("n", [1])
def test_a(n):
    assert f.a() == 1

def test_ab():
    assert f.ab() == 1
)";

std::string with(std::string text, std::string_view old, std::string_view now) {
    return text.replace(text.find(old), old.size(), now);
}

TEST(AddedSources, are_no_changed_lines_of_a_list_of_sources) {
    const std::string before = "add_executable(all main.cpp a_test.cpp)\nadd_test(NAME all COMMAND all)\n";
    EXPECT_EQ(without_added_sources(before, with(before, "a_test.cpp", "a_test.cpp more/b_test.cpp")), before);
    for (const char* other : {"b_test.cpp", "a_test.cpp -DOFF", "a_test.cpp ../hook.cpp", "a_test.cpp b_test.cpp) #"}) {
        const std::string now = with(before, "a_test.cpp", other);
        EXPECT_EQ(without_added_sources(before, now), now);
    }
    const std::string now = with(before, "COMMAND all", "COMMAND true");
    EXPECT_EQ(without_added_sources(before, now), now);
}

TEST(ChangedTests, a_line_belongs_to_the_test_that_begins_above_it) {
    const auto tests = tests_of("t.py", {"test_a[1]", "test_ab"});
    const auto changed = changed_tests(python, with(python, "f.ab() == 1", "f.ab() == 2"), tests);
    ASSERT_THAT(ids(changed), ElementsAre("t.py::test_ab"));
    EXPECT_EQ(changed[0].line, 11U);
    EXPECT_THAT(changed[0].before, ElementsAre("assert f.ab() == 1"));
    EXPECT_THAT(changed[0].after, ElementsAre("assert f.ab() == 2"));
}

TEST(ChangedTests, an_annotation_belongs_to_the_test_below_it) {
    EXPECT_THAT(ids(changed_tests(python, with(python, "[1]", "[1, 2]"), tests_of("t.py", {"test_a[1]", "test_ab"}))),
                ElementsAre("t.py::test_a"));
}

TEST(ChangedTests, tests_of_the_same_name_are_distinguished_by_class) {
    const std::string two =
        "class TestA:\n    def test_size(self):\n        assert a() == 1\n\nclass TestB:\n    def test_size(self):\n        assert b() == 1\n";
    const auto tests = tests_of("t.py", {"TestA::test_size", "TestB::test_size"});
    EXPECT_THAT(ids(changed_tests(two, with(two, "a() == 1", "a() == 2"), tests)), ElementsAre("t.py::TestA::test_size"));
    EXPECT_THAT(ids(changed_tests(two, with(two, "b() == 1", "b() == 2"), tests)), ElementsAre("t.py::TestB::test_size"));
}

TEST(ChangedTests, a_change_above_all_tests_belongs_to_no_test) {
    EXPECT_THAT(ids(changed_tests(python, with(python, "return 1", "return 2"), tests_of("t.py", {"test_a[1]", "test_ab"}))),
                ElementsAre(""));
    EXPECT_THAT(ids(changed_tests(python, with(python, "f.a() == 1", "True"), {})), ElementsAre(""))
        << "a file whose tests nobody knows";
}

TEST(ChangedTests, added_lines_change_nothing) {
    EXPECT_THAT(changed_tests(python, std::string(python) + "\ndef test_c():\n    assert f.c()\n",
                              tests_of("t.py", {"test_a[1]", "test_ab"})),
                IsEmpty());
}

TEST(ChangedTests, a_removed_test_has_no_new_lines) {
    const auto changed = changed_tests(python, with(python, "def test_ab():\n    assert f.ab() == 1\n", ""),
                                       tests_of("t.py", {"test_a[1]", "test_ab"}));
    ASSERT_THAT(changed, SizeIs(1));
    EXPECT_THAT(changed[0].after, IsEmpty());
    EXPECT_THAT(
        changed_test_line(changed[0], ""),
        HasSubstr(
            "t.py::test_ab existed before the task and is removed (line 10): `def test_ab():`, `assert f.ab() == 1`; sha256 "));
}

constexpr const char* javascript = R"(describe('render', () => {
  it('writes CSV', () => {
    equal(render('csv'), 'x,1');
    equal(count(), 1);
  });

  it('writes XML', () => {
    equal(render('xml'), '<x>');
    equal(count(), 1);
  });

  it('refuses others', () => {
    throws(() => render('pdf'));
  });
});
)";

std::vector<TestOutcome> tests_of_javascript() {
    return tests_of("r.test.js", {"render > writes CSV", "render > writes XML", "render > refuses others"});
}

TEST(ChangedTests, lines_that_occur_in_other_tests_belong_to_the_removed_test) {
    const std::string removed = "  it('writes XML', () => {\n    equal(render('xml'), '<x>');\n    equal(count(), 1);\n  });\n\n";
    const auto changed = changed_tests(javascript, with(javascript, removed, ""), tests_of_javascript());
    ASSERT_THAT(ids(changed), ElementsAre("r.test.js::render > writes XML"));
    EXPECT_THAT(changed[0].before, SizeIs(5));
}

TEST(ChangedTests, a_line_removed_from_one_test_is_not_counted_for_an_equal_one) {
    std::string now = with(javascript, "    equal(count(), 1);\n", "");
    now = with(now, "'<x>'", "'<y>'");
    EXPECT_THAT(ids(changed_tests(javascript, now, tests_of_javascript())),
                ElementsAre("r.test.js::render > writes CSV", "r.test.js::render > writes XML"));
}

TEST(ChangedTests, a_moved_test_is_not_changed) {
    const std::string csv = "  it('writes CSV', () => {\n    equal(render('csv'), 'x,1');\n    equal(count(), 1);\n  });\n\n";
    const std::string now = with(with(javascript, csv, ""), "  it('refuses", csv + "  it('refuses");
    EXPECT_THAT(changed_tests(javascript, now, tests_of_javascript()), IsEmpty());
}

TEST(ChangedTests, a_line_that_a_moved_test_lost_counts_for_each_test_that_may_have_lost_it) {
    const std::string csv = "  it('writes CSV', () => {\n    equal(render('csv'), 'x,1');\n    equal(count(), 1);\n  });\n\n";
    const std::string xml = "  it('writes XML', () => {\n    equal(render('xml'), '<x>');\n    equal(count(), 1);\n  });\n\n";
    std::string now = with(with(javascript, csv, ""), xml, "");
    const std::string weaker = with(csv, "    equal(count(), 1);\n", "");
    now = with(now, "    throws(() => render('pdf'));\n  });\n", "    throws(() => render('pdf'));\n  });\n\n" + xml + weaker);
    EXPECT_THAT(ids(changed_tests(javascript, now, tests_of_javascript())),
                ::testing::Contains("r.test.js::render > writes CSV"));
}

TEST(ChangedTests, tests_are_found_in_each_language) {
    const std::string mocha = "describe('pages', () => {\n  it('has twenty', () => {\n    equal(size(), 20);\n  });\n});\n";
    EXPECT_THAT(ids(changed_tests(mocha, with(mocha, "20)", "50)"), tests_of("p.test.js", {"pages > has twenty"}))),
                ElementsAre("p.test.js::pages > has twenty"));
    const std::string go = "func TestSize(t *testing.T) {\n\tt.Run(name, func() { want(20) })\n}\n";
    EXPECT_THAT(ids(changed_tests(go, with(go, "20", "50"), tests_of("p_test.go", {"TestSize/given"}))),
                ElementsAre("p_test.go::TestSize/given"));
    const std::string catch2 = "TEST_CASE(\"has twenty\") {\n    CHECK(size() == 20);\n}\n";
    EXPECT_THAT(ids(changed_tests(catch2, with(catch2, "== 20", "== 50"), tests_of("p.cpp", {"has twenty"}))),
                ElementsAre("p.cpp::has twenty"));
}

TEST(ChangedTests, different_changes_have_different_hashes) {
    const auto tests = tests_of("t.py", {"test_a[1]", "test_ab"});
    const auto one =
        changed_test_line(changed_tests(python, with(python, "f.ab() == 1", "f.ab() == 2"), tests)[0], "REQ-001, it asserts 1");
    const auto other =
        changed_test_line(changed_tests(python, with(python, "f.ab() == 1", "f.ab() == 3"), tests)[0], "REQ-001, it asserts 1");
    EXPECT_NE(one.substr(one.rfind(' ')), other.substr(other.rfind(' ')));
    EXPECT_THAT(one,
                HasSubstr("is now `assert f.ab() == 2`; the specification calls it outdated: REQ-001, it asserts 1; sha256 "));
}

TEST(OutdatedTestsNamed, a_name_matches_whole_ids_or_their_last_parts) {
    const auto tests = tests_of("t.py", {"TestX::test_a[1]", "TestX::test_a[2]", "test_ab"});
    EXPECT_THAT(tests_named({"test_a"}, tests), ElementsAre("t.py::TestX::test_a[1]", "t.py::TestX::test_a[2]"));
    EXPECT_THAT(tests_named({"t.py::test_ab"}, tests), ElementsAre("t.py::test_ab"));
    EXPECT_THAT(tests_named({"t.py::TestX::test_a[2]"}, tests), ElementsAre("t.py::TestX::test_a[2]"));
    EXPECT_THAT(tests_named({"b", "", "t.py"}, tests), IsEmpty());
}

}  // namespace
}  // namespace agentforge::kernel
