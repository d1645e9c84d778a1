// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "audit/document.hpp"

namespace agentforge::kernel {
namespace {

Document sample_document() {
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

TEST(AuditDocument, escapes_text_in_markdown) {
    const std::string text = to_markdown(sample_document());
    EXPECT_NE(text.find("# Audit &lt;of\\> x\n"), std::string::npos) << text;
    EXPECT_NE(text.find("| a\\|b<br>&lt;script\\> | 3 | yes |"), std::string::npos) << text;
    EXPECT_NE(text.find("There were none\\."), std::string::npos) << text;
}

TEST(AuditDocument, escapes_text_in_html) {
    const std::string text = to_html(sample_document());
    EXPECT_NE(text.find("<td>a|b\n&lt;script&gt;</td><td>3</td><td>yes</td>"), std::string::npos) << text;
    EXPECT_EQ(text.find("<script>"), std::string::npos);
}

TEST(AuditDocument, writes_json_rows_as_objects_keyed_by_column) {
    EXPECT_EQ(json::serialize(to_json(sample_document()).at("gates")), R"([{"gate":"a|b\n<script>","tests":3,"passed":true}])");
    EXPECT_EQ(json::serialize(to_json(sample_document()).at("violations")), "[]");
}

TEST(AuditDocument, prints_a_row_longer_than_a_page_across_pages) {
    Document document = sample_document();
    std::string lines;
    for (int at = 0; at < 200; ++at) { lines += "line\n"; }
    document.sections[0].rows.push_back({json::value(lines), json::value(1), json::value(false)});
    const auto printed = agentforge_print()->print(document);
    ASSERT_TRUE(printed.ok()) << printed.error().to_string();
    EXPECT_TRUE(printed->pdf.starts_with("%PDF-"));
    EXPECT_GE(printed->pages, 3U);
}

TEST(AuditDocument, prints_a_character_that_no_font_has_as_its_code_point) {
    const auto pdf_of = [](const std::string& title) {
        Document document;
        document.title = "Title";
        document.sections.push_back({});
        document.sections[0].title = title;
        auto printed = agentforge_print()->print(document);
        EXPECT_TRUE(printed.ok());
        const std::size_t date = printed->pdf.find("/CreationDate");
        printed->pdf.erase(date, printed->pdf.find('\n', date) - date);
        return std::move(printed).value();
    };
    const PrintedDocument missing = pdf_of("a\U0010FFFDb");
    EXPECT_EQ(missing.missing_glyphs, 1U);
    EXPECT_EQ(missing.pdf, pdf_of("a[U+10FFFD]b").pdf);
}

}  // namespace
}  // namespace agentforge::kernel
