// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "audit/document.hpp"

namespace agentforge::kernel {
namespace {

Document one() {
    Document document{"Audit <of> x", {}};
    document.sections.push_back({"gates",
                                 "Gates",
                                 "",
                                 {{"gate", "Gate", 1}, {"tests", "Tests", 1}, {"passed", "Passed", 1}},
                                 {{json::value("a|b\n<script>"), json::value(3), json::value(true)}},
                                 "none"});
    document.sections.push_back({"violations", "Violations", "", {{"what", "What", 1}}, {}, "There were none."});
    return document;
}

TEST(AuditDocument, in_markdown_no_text_becomes_markup) {
    const std::string text = to_markdown(one());
    EXPECT_NE(text.find("# Audit &lt;of\\> x\n"), std::string::npos) << text;
    EXPECT_NE(text.find("| a\\|b<br>&lt;script\\> | 3 | yes |"), std::string::npos) << text;
    EXPECT_NE(text.find("There were none\\."), std::string::npos) << text;
}

TEST(AuditDocument, in_html_no_text_becomes_markup) {
    const std::string text = to_html(one());
    EXPECT_NE(text.find("<td>a|b\n&lt;script&gt;</td><td>3</td><td>yes</td>"), std::string::npos) << text;
    EXPECT_EQ(text.find("<script>"), std::string::npos);
}

TEST(AuditDocument, in_json_rows_are_objects_by_the_keys_of_columns) {
    EXPECT_EQ(json::serialize(to_json(one()).at("gates")), R"([{"gate":"a|b\n<script>","tests":3,"passed":true}])");
    EXPECT_EQ(json::serialize(to_json(one()).at("violations")), "[]");
}

TEST(AuditDocument, printed_a_row_longer_than_a_page_goes_on_on_the_next) {
    Document document = one();
    std::string lines;
    for (int at = 0; at < 200; ++at) { lines += "line\n"; }
    document.sections[0].rows.push_back({json::value(lines), json::value(1), json::value(false)});
    const auto printed = agentforge_print()->print(document);
    ASSERT_TRUE(printed.ok()) << printed.error().to_string();
    EXPECT_TRUE(printed->pdf.starts_with("%PDF-"));
    EXPECT_GE(printed->pages, 3U);
}

}  // namespace
}  // namespace agentforge::kernel
