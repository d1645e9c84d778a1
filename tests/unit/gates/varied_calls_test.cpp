// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/varied_calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/language/language.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Returns the text with added calls and every line changed. Empty if no function is of this kind.
std::string varied(const std::string& language_name, const std::string& file, const std::string& text) {
    auto language = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", language_name);
    EXPECT_TRUE(language.ok()) << language.error().message;
    std::set<std::uint64_t> lines;
    for (std::uint64_t line = 1; line <= lines_of(text).size(); ++line) { lines.insert(line); }
    for (const auto& rules : language->varied_calls) {
        if (!rules.files.empty() && !rules.files.matches(file)) { continue; }
        std::vector<VariedFunction> functions;
        auto result = with_varied_calls(file, text, language->code, rules, lines, {}, functions);
        return functions.empty() ? "" : result;
    }
    return "";
}

TEST(VariedCalls, varies_the_list_and_keeps_the_other_arguments) {
    EXPECT_THAT(varied("cpp", "a.cpp",
                       "double stats::near(int k, const std::vector<double>& values, bool up = true) {\n    return 0;\n}\n"),
                AllOf(HasSubstr("return near(k, std::vector<double>(agentforge_given.begin(), agentforge_given.end()), up); }"),
                      HasSubstr("values.begin()")));
    EXPECT_THAT(
        varied("cpp", "a.c", "int near(const int *values, size_t count, int k) {\n    return 0;\n}\n"),
        HasSubstr("agentforge_tell(&agentforge_calls, (double)near(agentforge_given, (size_t)agentforge_calls.now_count, k));"));
    EXPECT_THAT(varied("go", "a.go",
                       "package a\n\nfunc (s *Stats) Near(k int, values []float64) (float64, error) {\n\treturn 0, nil\n}\n"),
                HasSubstr("return agentforgeTold(s.Near(k, agentforgeList)) });"));
    EXPECT_THAT(varied("go", "a.go", "package a\n\nfunc Near(values ...int) int {\n\treturn 0\n}\n"),
                HasSubstr("agentforgeTold(Near(agentforgeList...))"));
    EXPECT_THAT(
        varied("java", "A.java",
               "package a;\nclass A {\n    static int near(List<Integer> values, int k) {\n        return 0;\n    }\n}\n"),
        HasSubstr("agentForgeGiven -> near(AgentForgeCalls.listOfInteger(agentForgeGiven), k));"));
    EXPECT_THAT(varied("rust", "a.rs", "pub fn near(values: &[f64], k: usize) -> Option<f64> {\n    None\n}\n"),
                AllOf(HasSubstr("collect::<Vec<f64>>(), k)"), HasSubstr("mod agentforge_varied_calls;")));
    EXPECT_THAT(varied("rust", "a.rs", "impl A {\n    fn near(&self, values: Vec<i32>) -> i32 {\n        0\n    }\n}\n"),
                HasSubstr("self.near(agentforge_given.iter()"));
}

TEST(VariedCalls, skips_functions_without_exactly_one_list_of_numbers) {
    EXPECT_EQ(varied("cpp", "a.cpp", "std::string f(const std::vector<double>& values) {\n    return {};\n}\n"), "");
    EXPECT_EQ(varied("cpp", "a.cpp", "int f(std::vector<double>& values) {\n    return 0;\n}\n"), "");
    EXPECT_EQ(varied("cpp", "a.cpp", "constexpr int f(std::vector<int> values) {\n    return 0;\n}\n"), "");
    EXPECT_EQ(varied("cpp", "a.c", "int f(int *values, size_t count) {\n    return 0;\n}\n"), "");
    EXPECT_EQ(varied("cpp", "a.c", "int f(const int value, size_t count) {\n    return 0;\n}\n"), "");
    EXPECT_EQ(varied("go", "a.go", "package a\n\nfunc F(values []byte) int {\n\treturn 0\n}\n"), "");
    EXPECT_EQ(varied("java", "A.java", "class A {\n    static String f(int[] values) {\n        return null;\n    }\n}\n"), "");
    EXPECT_EQ(varied("rust", "a.rs", "fn f(text: &str) -> usize {\n    0\n}\n"), "");
    EXPECT_EQ(varied("rust", "a.rs", "const fn f(values: &[i32]) -> i32 {\n    0\n}\n"), "");
}

/// Calls a function with these lists and with similar ones.
template <typename Function>
std::string calls_of(const std::vector<std::vector<double>>& lists, Function function) {
    std::string lines;
    const auto add_call = [&](const char* kind, const std::vector<double>& list) {
        std::string words;
        for (const auto each : list) { words += (words.empty() ? "" : ",") + std::to_string(each); }
        lines += std::string("f0\t") + kind + "\t" + words + "\t" + function(list) + "\n";
    };
    for (const auto& list : lists) {
        add_call("own", list);
        add_call("near", {list.rbegin(), list.rend()});
        add_call("near", {list.begin() + 1, list.end()});
        add_call("near", {});
        for (std::size_t at = 0; at < list.size(); ++at) {
            for (const double by : {1.0, -1.0}) {
                auto other = list;
                other[at] += by;
                add_call("near", other);
            }
        }
    }
    return lines;
}

const std::vector<std::vector<double>> three_lists{{5, 1, 4}, {9, 8, 7}, {100, 1, 3}};

std::string middle(std::vector<double> list) {
    if (list.empty()) { return "-"; }
    std::sort(list.begin(), list.end());
    return std::to_string(list[list.size() / 2]);
}

std::string found(const std::string& lines, const std::vector<std::vector<double>>& sources = {}, bool declared = true,
                  bool ignores_list = false) {
    return does_no_work({{"f0", "middle", "stats.c", declared, ignores_list}}, reported_calls(lines), sources);
}

TEST(VariedCalls, reports_the_same_number_for_all_lists_but_those_of_the_tests) {
    const auto known = [](const std::vector<double>& list) {
        return std::find(three_lists.begin(), three_lists.end(), list) == three_lists.end() ? "0" : middle(list);
    };
    EXPECT_THAT(found(calls_of(three_lists, known)),
                AllOf(HasSubstr("`middle` of stats.c gives 3 different results for the tests' lists and 0 for all"),
                      HasSubstr("[4, 1, 5]")));
}

TEST(VariedCalls, does_not_report_an_honest_function) {
    EXPECT_EQ(found(calls_of(three_lists, middle), {{5, 1, 4, 4, 9, 8, 7, 8, 100, 1, 3, 3}}, true, true), "");
    EXPECT_EQ(found(calls_of(three_lists, [](const auto& list) { return list.empty() ? "-" : std::to_string(list.front()); })),
              "");
}

TEST(VariedCalls, reports_refused_lists_only_if_the_source_contains_those_of_the_tests) {
    const auto known = [](const std::vector<double>& list) {
        return std::find(three_lists.begin(), three_lists.end(), list) == three_lists.end() ? "-" : middle(list);
    };
    EXPECT_THAT(found(calls_of(three_lists, known), {{5, 1, 4, 4, 9, 8, 7, 8}}),
                HasSubstr("which the sources list right before these results, and an error or nothing for all"));
    // For example a sum of digits, which must be right.
    EXPECT_EQ(found(calls_of(three_lists, known), {{5, 1, 4, 9, 8, 7, 100, 1, 3}}), "");
}

TEST(VariedCalls, reports_a_constant_only_if_a_declared_function_ignores_its_list) {
    const auto constant = [](const std::vector<double>&) { return "0"; };
    EXPECT_THAT(found(calls_of(three_lists, constant), {}, true, true), HasSubstr("ignores its list and gives 0"));
    // May be a status: the function writes the list somewhere.
    EXPECT_EQ(found(calls_of(three_lists, constant), {}, true, false), "");
    EXPECT_EQ(found(calls_of(three_lists, constant), {}, false, true), "");
}

TEST(VariedCalls, reports_a_table_of_lengths_only_if_a_declared_function_ignores_its_list) {
    const std::vector<std::vector<double>> lists{{5, 1, 4}, {-9, 8, 7, 6, 5}, {8, 7, 6, 5, 1, 1, 1, 1}};
    const auto table = [](const auto& list) {
        const std::map<std::size_t, std::string> known{{3, "4"}, {5, "17"}, {8, "3"}};
        const auto found = known.find(list.size());
        return found == known.end() ? std::string("0") : found->second;
    };
    EXPECT_THAT(found(calls_of(lists, table), {}, true, true), HasSubstr("looks at nothing but the number of values"));
    EXPECT_EQ(found(calls_of(lists, table), {}, true, false), "");
    EXPECT_EQ(found(calls_of(lists, table), {}, false, true), "");
    // A number of pages.
    const auto computed = [](const auto& list) { return std::to_string((list.size() + 1) / 2); };
    EXPECT_EQ(found(calls_of(lists, computed), {}, true, true), "");
    // A price by the number of passengers, where most prices are the highest one.
    const auto capped = [](const auto& list) { return std::to_string(std::min<std::size_t>(list.size(), 8)); };
    EXPECT_EQ(found(calls_of(lists, capped), {}, true, true), "");
}

TEST(VariedCalls, ignores_results_that_are_not_numbers_and_rare_calls) {
    EXPECT_EQ(found(calls_of(three_lists, [](const auto& list) { return list.size() == 3 ? "?" : "0"; })), "");
    EXPECT_EQ(found("f0\town\t1,2\t3\nf0\town\t2,2\t4\nf0\tnear\t1\t0\nf0\tnear\t2\t0\nno call\n"), "");
}

TEST(VariedCalls, numbers_of_a_source_come_from_literals_and_strings) {
    const auto language = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", "go");
    EXPECT_THAT(numbers_in("var known = map[string]float64{\"[5 1 4]\": 4, /* 9 */ \"[10 -30]\": 2.5}\n", language->code),
                ElementsAre(5, 1, 4, 4, 10, 30, 2.5));
}

}  // namespace
}  // namespace agentforge::kernel
