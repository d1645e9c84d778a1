// SPDX-License-Identifier: Apache-2.0
// A specification changes functions of C and C++ that others call: the callers that no longer compile become stubs.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const char* const strict_list =
    "cmake_minimum_required(VERSION 3.16)\nproject(shop C)\nadd_library(shop STATIC src/stock.c src/order.c)\n"
    "target_include_directories(shop PUBLIC include)\ntarget_compile_options(shop PRIVATE -Wall -Wextra -Werror)\nenable_testing()\n"
    "add_executable(stock_test tests/stock_test.c)\ntarget_link_libraries(stock_test shop)\nadd_test(NAME stock COMMAND stock_test)\n";

Files shop() {
    return {
        {"CMakeLists.txt", strict_list},
        {"include/stock.h", "#pragma once\nenum kind { FRESH, FROZEN };\nint stock_take(int wanted);\nint stock_left(void);\n"},
        {"src/stock.c",
         "#include \"stock.h\"\n\nstatic int left = 3;\n\nint stock_take(int wanted) {\n    left -= wanted;\n    return left;\n}\n\nint stock_left(void) { return left; }\n"},
        {"src/order.c",
         "#include \"stock.h\"\n\nstatic int twice(int count) { return 2 * count; }\n\nint order(int count);\nint order(int count) {\n    return stock_take(twice(count)) > 0;\n}\n\n"
         "int degrees(enum kind kind);\nint degrees(enum kind kind) {\n    switch (kind) {\n    case FRESH: return 4;\n    case FROZEN: return -18;\n    }\n    return 0;\n}\n"},
        {"tests/stock_test.c", "#include \"stock.h\"\nint main(void) { return stock_left() == 3 ? 0 : 1; }\n"}};
}

json::object specification_of(const std::vector<SkeletonInterface>& interfaces) {
    json::array all;
    for (const auto& each : interfaces) {
        all.push_back({{"name", each.name}, {"type", "api"}, {"file", each.file}, {"signature", each.signature}});
    }
    return {{"interfaces", std::move(all)}};
}

std::string text_of(const std::vector<std::pair<std::string, std::string>>& files, const std::string& path) {
    const auto found = std::find_if(files.begin(), files.end(), [&](const auto& each) { return each.first == path; });
    return found == files.end() ? std::string() : found->second;
}

TEST(CallersInC, become_stubs_if_they_no_longer_compile) {
    Project project;
    project.tree("base") = shop();
    const std::vector<SkeletonInterface> interfaces{{"stock_take", "include/stock.h", "void stock_take(int wanted, int *taken)"}};
    const auto files = project.runner().skeleton("base", interfaces, Stop{});
    ASSERT_TRUE(files.ok()) << files.error().to_string();
    EXPECT_THAT(text_of(*files, "include/stock.h"), HasSubstr("\nvoid stock_take(int wanted, int *taken);\n"));
    EXPECT_THAT(
        text_of(*files, "src/stock.c"),
        HasSubstr("void stock_take(int wanted, int *taken) {\n    (void)wanted;\n    (void)taken;\n    (void)left;\n    fputs("));
    EXPECT_THAT(
        text_of(*files, "src/order.c"),
        HasSubstr(
            "int order(int count) {\n    (void)count;\n    (void)twice;\n    fputs(\"agentforge: skeleton of order\\n\", stderr);\n    abort();\n    // return stock_take(twice(count)) > 0;\n}\n"));
    EXPECT_THAT(text_of(*files, "src/order.c"), HasSubstr("    case FROZEN: return -18;\n")) << "it still compiles";
    const auto tried = project.runner().try_specification("base", specification_of(interfaces), Stop{});
    EXPECT_TRUE(tried.ok()) << tried.error().to_string();
}

TEST(CallersInC, an_added_enumerator_may_break_a_function) {
    Project project;
    project.tree("base") = shop();
    const auto files = project.runner().skeleton("base", {{"kind::CANNED", "include/stock.h", "CANNED"}}, Stop{});
    ASSERT_TRUE(files.ok()) << files.error().to_string();
    EXPECT_THAT(text_of(*files, "include/stock.h"), HasSubstr("enum kind { FRESH, FROZEN, CANNED };"));
    EXPECT_THAT(text_of(*files, "src/order.c"), HasSubstr("skeleton of degrees"));
    EXPECT_THAT(text_of(*files, "src/order.c"), Not(HasSubstr("skeleton of order")));
}

TEST(CallersInC, what_no_stub_can_mend_is_refused_with_its_reason) {
    Project project;
    project.tree("base") = shop();
    const auto unknown = project.runner().try_specification(
        "base", specification_of({{"stock_take", "include/stock.h", "quantity stock_take(int wanted)"}}), Stop{});
    ASSERT_FALSE(unknown.ok());
    EXPECT_EQ(unknown.error().code, "AF-GATE-030");
    EXPECT_THAT(unknown.error().message, HasSubstr("include/stock.h:3: error: unknown type name"));
    const auto absent =
        project.runner().try_specification("base", specification_of({{"Kind::CANNED", "include/stock.h", "CANNED"}}), Stop{});
    ASSERT_FALSE(absent.ok());
    EXPECT_THAT(absent.error().message, HasSubstr("include/stock.h has no enum `Kind`"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
