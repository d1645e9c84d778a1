// SPDX-License-Identifier: Apache-2.0
// How a language's rules read sources, and the output of coverage tools; with the shipped rules and formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "gates/formats/line_counts.hpp"
#include "gates/language/language.hpp"
#include "gates/language/source_text.hpp"
#include "unit/gates/shipped_language.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<std::string> repeats(const std::string& language, const std::string& code, const std::string& tests) {
    const auto rules = rules_of_language(language);
    const auto text = read_code(code, rules);
    std::set<std::uint64_t> lines;
    for (std::uint64_t line = 1; line <= 50; ++line) { lines.insert(line); }
    std::vector<std::string> result;
    for (const auto& each : repeated_values(text, lines, test_lines("t", read_code(tests, rules)))) {
        result.push_back(std::to_string(each.line) + " " + each.what);
    }
    return result;
}

std::vector<std::pair<std::string, std::int64_t>> complexities(const std::string& language, const std::string& text) {
    const auto rules = rules_of_language(language);
    std::vector<std::pair<std::string, std::int64_t>> result;
    for (const auto& each : functions_of(read_code(text, rules), rules)) { result.emplace_back(each.name, each.complexity); }
    return result;
}

std::vector<std::pair<std::uint64_t, std::string>> compared(const std::string& language, const std::string& text,
                                                            const std::string& tests) {
    const auto rules = rules_of_language(language);
    std::vector<std::pair<std::uint64_t, std::string>> result;
    for (const auto& each : compared_literals(read_code(text, rules), rules, informative_literals(read_code(tests, rules)))) {
        result.emplace_back(each.line, each.value);
    }
    return result;
}

TEST(SourceText, comments_strings_and_directives_are_not_code) {
    const auto text =
        read_code("int a; // if (b) {\nconst char *t = \"} else {\";\n#if X\nint one() {\n#else\nint two() {\n#endif\n}\n",
                  rules_of_language("cpp"));
    EXPECT_EQ(text.code,
              "int a;            \nconst char *t = \"        \";\n     \nint one() {\n     \n           \n      \n}\n");
}

TEST(SourceText, finds_javascript_functions_by_name) {
    std::vector<std::string> names;
    const auto text = R"text(
export async function one(a) { return a; }
export default function two<T>(a: T[]): T { return a[0]; }
const three = async (a) => { return a; };
module.exports.four = function () { return 4; };
class Five { async six(a, b) { return a; } get seven() { return 7; } }
export const eight = <T>(a: T): T => { return a; };
)text";
    for (const auto& [name, complexity] : complexities("javascript", text)) { names.push_back(name); }
    EXPECT_THAT(names, ::testing::ElementsAre("one", "two", "three", "four", "six", "seven", "eight"));
}

TEST(SourceText, finds_javascript_functions_that_take_objects_apart) {
    std::vector<std::string> names;
    const auto text = R"text(
export function one(a, { b = 1, c: { d } = {} } = {}) { if ({ a }) { return a; } return d; }
const two = ({ a }: { a: number; b: string }) => { for (const { b } of a) { b(); } };
class Three { four({ a }) { try { a(); } catch ({ message }) { return message; } } }
call({ five: 1 });
)text";
    for (const auto& [name, complexity] : complexities("javascript", text)) { names.push_back(name); }
    EXPECT_THAT(names, ::testing::ElementsAre("one", "two", "four"));
}

TEST(SourceText, counts_the_branches_of_each_cpp_function) {
    const auto text = R"text(
template <typename T> struct Box {
    explicit Box(T value) : value_{value}, other_{} { if (value) { other_ = 1; } }
    bool operator==(const Box& other) const noexcept { return value_ == other.value_ && other_ == other.other_; }
    ~Box() {}
    T value_; int other_;
};
namespace inner {
std::map<int, std::string> Parser::parse(const std::string& text, int depth = (1 > 2 ? 3 : 4)) const {
    for (auto&& each : text) {
        switch (each) { case 'a': return {}; case '{': break; default: break; }
    }
    auto walk = [&](int x) { return x > 0 ? x : -x; };
    return depth > 3 || text.empty() ? make() : other();   // if if if
}
struct alignas(8) Aligned { int x; };
}
int table[] = {1, 2, 3};
static int plain(void)
{
    while (1) { if (done()) break; }
    return 0;
}
struct point where(int x) {
    switch (x) { case 1: if (x) { return a; } default: if constexpr (y) { return b; } }
}
)text";
    EXPECT_THAT(complexities("cpp", text), ElementsAre(Pair("Box", 2), Pair("operator==", 2), Pair("~Box", 1),
                                                       Pair("Parser::parse", 7), Pair("plain", 3), Pair("where", 4)));
}

TEST(SourceText, braced_values_in_the_arguments_of_cpp_calls_are_no_functions) {
    const auto text = R"text(
Handle acquire() {
    Handle handle(free_.back().release(), GiveBack{this});
    add(first(free_), {1, 2});
    set(list->begin(), Entry{1});
    put(size(free_) + Offset{1});
    visit([this](Handle& each) { close(each); });
    return handle;
}
)text";
    EXPECT_THAT(complexities("cpp", text), ElementsAre(Pair("acquire", 1)));
}

TEST(SourceText, finds_named_go_functions_only) {
    const auto text =
        "package a\n\ntype T struct {\n\tf func(int) int\n}\n\nfunc (t *T) Run(xs []int, any interface{}) (n int, err error) {\n\tfor _, x := range xs {\n\t\tif x > 1 && x < 5 {\n"
        "\t\t\tcontinue\n\t\t}\n\t\tgo func() { if x == 2 { n++ } }()\n\t}\n\tswitch n {\n\tcase 1, 2:\n\tcase 3:\n\t}\n\treturn\n}\n\nfunc Map[K comparable](m map[K]struct{}) {}\n"
        "\nvar quoted = `func fake() { if {`\n";
    EXPECT_THAT(complexities("go", text), ElementsAre(Pair("Run", 7), Pair("Map", 1)));
}

TEST(SourceText, distinguishes_rust_functions_from_lifetimes_and_raw_strings) {
    const auto text =
        "impl<'a> Reader<'a> {\n    pub fn next(&'a mut self) -> Option<char> where Self: Sized {\n        match self.c {\n            '{' => None,\n            'b' | '\\'' => Some('x'),\n"
        "            _ if self.done || self.end => None,\n            _ => Some(r#\"\"}\"#.len() as u8 as char),\n        }\n    }\n}\nfn outer() {\n    fn inner(a: bool, b: bool) -> bool { a && b }\n    if inner(true, false) {}\n}\n";
    EXPECT_THAT(complexities("rust", text), ElementsAre(Pair("next", 7), Pair("outer", 2), Pair("inner", 2)));
}

TEST(SourceText, finds_java_methods_constructors_and_anonymous_class_methods) {
    const auto text =
        "package a;\n@Deprecated(since = \"1\")\npublic class A<T extends B<?>> {\n    private final Runnable later = () -> { if (true) {} };\n    static { if (x) {} }\n"
        "    @Override public <K> Map<K, ? extends V> get(@Nonnull(\"{\") K key) throws E, F {\n        try { return key == null || other ? null : map; } catch (E e) { throw e; }\n        all: for (K k : ks) { continue all; }\n    }\n"
        "    A() { run(new Runnable() { public void run() { while (true) {} } }); }\n}\n";
    EXPECT_THAT(complexities("java", text), ElementsAre(Pair("get", 5), Pair("run", 2), Pair("A", 1)));
}

TEST(SourceText, tolerates_unbalanced_braces) {
    EXPECT_THAT(complexities("cpp", "int a() { return 1; }\nint b( {{{{ \"\n}\n"), ElementsAre(Pair("a", 1)));
    EXPECT_THAT(complexities("go", "func a() {"), IsEmpty());
    EXPECT_THAT(complexities("cpp", std::string(100'000, '{')), IsEmpty());
}

TEST(SourceText, finds_comparisons_with_test_inputs_in_each_language) {
    EXPECT_THAT(
        compared("cpp",
                 "if (text == \"Hello\") {\n    return \"x\";\n}\nif (strcmp(text, \"a b\") == 0) return 1;\ncall(\"Hello\");\n",
                 "EXPECT_EQ(f(\"Hello\"), \"y\"); f(\"a b\");"),
        ElementsAre(Pair(1, "\"Hello\""), Pair(4, "\"a b\"")));
    EXPECT_THAT(compared("go", "switch text {\ncase \"Hello\":\n\treturn \"y\"\ncase 1000, 17:\n}\n", "if f(\"Hello\") != 17 {"),
                ElementsAre(Pair(2, "\"Hello\""), Pair(4, "17")));
    EXPECT_THAT(compared("rust", "match text {\n    \"Hello\" => \"y\".into(),\n    _ => String::new(),\n}\n",
                         "assert_eq!(f(\"Hello\"), \"hello\");"),
                ElementsAre(Pair(2, "\"Hello\"")));
    EXPECT_THAT(compared("java", "if (\"Hello\".equals(text)) {}\nif (text.equals(\"a b\")) {}\nreturn count > 12;\n",
                         "assertEquals(12, f(\"Hello\"), f(\"a b\"));"),
                ElementsAre(Pair(1, "\"Hello\""), Pair(2, "\"a b\"")));
}

TEST(SourceText, finds_a_table_of_expected_values_but_not_small_numbers_or_letters) {
    EXPECT_THAT(compared("go", "var known = map[string]string{\n\t\"Hello\": \"hello\",\n\t\"Other\": \"hello\",\n}\n",
                         "f(\"Hello\") != \"hello\""),
                ElementsAre(Pair(2, "\"Hello\"")));
    EXPECT_THAT(compared("cpp", "if (c == 'x' || n == 1 || n == 0 || t == \"\") {}\n", "f('x', 1, 0, \"\");"), IsEmpty());
}

LineCounts counts_of(const std::string& format, const std::string& text, std::vector<std::string> sources) {
    auto counts = read_line_counts(format, {{{"report", text}}, {"/tree", "/build/tree"}, std::move(sources)});
    EXPECT_TRUE(counts.ok()) << counts.error().to_string();
    return counts.ok() ? std::move(counts).value() : LineCounts{};
}

TEST(LineCountsOf, sums_lcov_and_omits_files_outside_the_tree) {
    const auto counts = counts_of(
        "lcov",
        "TN:\nSF:/build/tree/src/a.rs\nDA:1,2\nDA:2,0,checksum\nend_of_record\nSF:/tree/src/a.rs\nDA:1,3\nend_of_record\nSF:/usr/a.rs\nDA:9,9\nend_of_record\n",
        {"src/a.rs"});
    EXPECT_THAT(counts, ElementsAre(Pair("src/a.rs", ElementsAre(Pair(1, 5), Pair(2, 0)))));
}

TEST(LineCountsOf, maps_package_names_to_paths_by_suffix) {
    const auto go = counts_of(
        "go-coverprofile",
        "mode: set\nexample.com/x/sub/a.go:3.20,5.2 1 0\nexample.com/x/sub/a.go:3.10,3.20 1 7\nexample.com/x/a.go:1.1,1.9 1 1\n",
        {"a.go", "sub/a.go"});
    EXPECT_THAT(go, ElementsAre(Pair("a.go", ElementsAre(Pair(1, 1))),
                                Pair("sub/a.go", ElementsAre(Pair(3, 7), Pair(4, 0), Pair(5, 0)))));
    EXPECT_THAT(counts_of("lcov", "SF:org/example/A.java\nDA:1,1\nend_of_record\n",
                          {"src/main/java/org/example/A.java", "src/main/java/org/A.java"}),
                ElementsAre(Pair("src/main/java/org/example/A.java", ElementsAre(Pair(1, 1)))));
}

TEST(LineCountsOf, sums_gcov_json_of_several_objects) {
    const auto object = std::string(
        R"({"format_version": "1", "files": [{"file": "/tree/a.hpp", "functions": [], "lines": [{"line_number": 4, "count": 1}, {"line_number": 5, "count": 0}]}]})");
    EXPECT_THAT(counts_of("gcov-json", object + "\n" + object + "\n", {"a.hpp"}),
                ElementsAre(Pair("a.hpp", ElementsAre(Pair(4, 2), Pair(5, 0)))));
}

TEST(LineCountsOf, refuses_a_malformed_report_with_its_line) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"lcov", "SF:a\nDA:x,1\n"},
        {"lcov", "DA:1,1\n\n"},
        {"gcov-json", "\n{\"files\": 3}\n"},
        {"gcov-json", "\n{\"files\": [{\"file\": \"a\", \"lines\": [{}]}]}"},
        {"go-coverprofile", "mode: set\na.go 3\n"},
        {"go-coverprofile", "mode: set\na.go:5.1,3.1 1 1\n"}};
    for (const auto& [format, text] : wrong) {
        const auto counts = read_line_counts(format, {{{"report", text}}, {}, {"a"}});
        ASSERT_FALSE(counts.ok()) << text;
        EXPECT_EQ(counts.error().code, "AF-GATE-160") << text;
        EXPECT_THAT(counts.error().where, ::testing::AnyOf("report:1", "report:2")) << text;
    }
    EXPECT_EQ(read_line_counts("lcov", {}).error().code, "AF-GATE-161");
}

TEST(RepeatedValues, a_table_of_test_inputs_and_results_is_named_in_any_form) {
    const std::string tests = "self.assertEqual(slugify('Hello'), 'hello')\nself.assertEqual(slugify('a b'), 'a-b')\n";
    EXPECT_THAT(repeats("python", "KNOWN = {\n    \"Hello\": \"hello\",\n}\n", tests), ElementsAre("2 Hello and hello, as t:1"));
    EXPECT_THAT(repeats("python", "PAIRS = [('a b', 'a-b')]\n", tests), ElementsAre("1 a b and a-b, as t:2"));
    EXPECT_THAT(repeats("python", "KEYS = ['Hello', 'a b', 'a-b']\n", tests), ElementsAre("1 a b and a-b, as t:2"));
    EXPECT_THAT(repeats("go", "var known = map[int]int{10: 55, 20: 6765}\n", "if got := Fib(20); got != 6765 {\n"),
                ElementsAre("1 20 and 6765, as t:1"));
    EXPECT_THAT(
        repeats("rust", "match text { \"Hello\" => \"hello\", _ => \"\" }\n", "assert_eq!(slug(\"Hello\"), \"hello\");\n"),
        ElementsAre("1 Hello and hello, as t:1"));
}

TEST(RepeatedValues, a_list_of_inputs_is_named_only_if_it_has_exactly_those_of_the_tests) {
    const std::string tests = "check(3, 'x')\ncheck(5, 'y')\ncheck(7, 'z')\n";
    EXPECT_THAT(repeats("python", "primes = [3, 5, 7]\n", tests), ElementsAre("1 3 and 2 more, all of which the tests have"));
    EXPECT_THAT(repeats("python", "primes = [3, 5, 7, 11]\n", tests), IsEmpty());
}

TEST(RepeatedValues, single_values_and_values_of_different_tests_are_ignored) {
    const std::string tests = "self.assertEqual(convert('kilo'), 1000)\nself.assertEqual(convert('hecto'), 100)\n";
    EXPECT_THAT(repeats("python", "FACTOR = 1000\nname = 'kilo'\nscale = {'kilo': 100}\n", tests), IsEmpty());
}

/// True if all lines are still there, except for the names that the request changes.
bool all_there(std::string_view before, std::string_view now, std::string_view request) {
    return changed_line_numbers(with_new_names(before, now, request), now).empty();
}

TEST(SourceText, renames_the_other_forms_of_a_name) {
    const std::string request = "Rename the function cut_lines to shorten_lines";
    const std::string before =
        "from texts import cut_lines\n\n\nclass TestCutLines:\n    def test_each(self):\n        assert cut_lines(1)\n";
    const std::string after =
        "from texts import shorten_lines\n\n\nclass TestShortenLines:\n    def test_each(self):\n        assert shorten_lines(1)\n";
    EXPECT_TRUE(all_there(before, after, request));
    EXPECT_FALSE(all_there(
        before, "from texts import shorten_lines\n\n\nclass Other:\n    def test_each(self):\n        assert shorten_lines(1)\n",
        request));
    EXPECT_TRUE(all_there("describe('cut lines', () => {\n  equal(cutLines(1), 2);\n",
                          "describe('shorten lines', () => {\n  equal(shortenLines(1), 2);\n",
                          "Rename cutLines to shortenLines"));
    EXPECT_TRUE(all_there("func TestFetch(t *testing.T) {\n\tif fetch(1) != 2 {\n",
                          "func TestLoad(t *testing.T) {\n\tif load(1) != 2 {\n", "Rename fetch to load"));
    EXPECT_FALSE(all_there("class TestCutLines:\n    assert cut_lines(1) == 2\n",
                           "class TestShortenLines:\n    assert shorten_lines(1) == 3\n", request));
}

TEST(SourceText, renames_several_names_where_the_request_says_what_each_becomes) {
    const std::string request = "Rename the class Gateway to SensorGateway and its parameter `timeout` to timeout_s.";
    const std::string before = "def read(sensor, timeout):\n    return Gateway(sensor, timeout=2)\n";
    EXPECT_TRUE(all_there(before, "def read(sensor, timeout):\n    return SensorGateway(sensor, timeout_s=2)\n", request));
    EXPECT_FALSE(all_there(before, "def read(sensor, timeout):\n    return SensorGateway(sensor, timeout_s=3)\n", request));
    EXPECT_FALSE(all_there(before + "timeout_s = 1\n",
                           "def read(sensor, timeout):\n    return SensorGateway(sensor, timeout_s=2)\ntimeout_s = 1\n", request))
        << "the name is there already";
    EXPECT_FALSE(all_there(before, "def read(sensor, timeout):\n    return SensorGateway(sensor, timeout_s=2)\n",
                           "Rename Gateway to SensorGateway; timeout and timeout_s are seconds"))
        << "nothing says that one becomes the other";
    EXPECT_FALSE(
        all_there("assert strict(1) is True\n", "assert strict(1) is False\n", "Change the default of strict from True to False"))
        << "a value is no name";
}

TEST(SourceText, allows_renames_that_the_request_names) {
    const std::string before = "from loader import fetch_all\n\n\ndef test_fetch_all():\n    assert fetch_all(1) == [2]\n";
    const std::string after = "from loader import load_all\n\n\ndef test_load_all():\n    assert load_all(1) == [2]\n";
    EXPECT_TRUE(all_there(before, after, "Rename fetch_all in loader to load_all"));
    EXPECT_TRUE(all_there(before, after + "\n\ndef test_more():\n    assert load_all(2) == [3]\n",
                          "Rename fetch_all in loader to load_all"));
    EXPECT_FALSE(all_there(before, "from loader import load_all\n", "Rename fetch_all in loader to load_all"));
    EXPECT_FALSE(all_there(before, after, "Rename fetch_all"));
    EXPECT_FALSE(all_there("assert fetch(1) == 2\n", "assert load(1) == 3\n", "Rename fetch to load"));
    EXPECT_FALSE(all_there("fetch(1)\nfetch(2)\n", "load(1)\nfetch(2)\n", "Rename fetch to load"));
    EXPECT_FALSE(all_there("self.assertEqual(fetch(), 1)\n", "self.assertTrue(load(), 1)\n", "Rename fetch to load"));
    EXPECT_FALSE(all_there("assert fetch()\n", "assert load() or 1\n", "Rename fetch to load"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
