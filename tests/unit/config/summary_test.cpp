// SPDX-License-Identifier: Apache-2.0
#include "config/summary.hpp"

#include "unit/config/fixtures.hpp"

namespace agentforge::kernel {

namespace {

const json::object artifact{{"title", "Slugs"},
                            {"analysis", json::object{{"summary", "small"}}},
                            {"requirements", json::array{json::object{{"id", "REQ-001"}}, json::object{{"id", "REQ-002"}}}}};

}  // namespace

TEST(PipelineSummary, fields_are_replaced_by_values_of_the_artifact) {
    EXPECT_EQ(render_summary("It is {title}: {analysis.summary}\n", artifact), "It is Slugs: small\n");
}

TEST(PipelineSummary, a_line_about_a_list_is_repeated_for_each_item) {
    EXPECT_EQ(render_summary("- {requirements[].id} of {title}", artifact), "- REQ-001 of Slugs\n- REQ-002 of Slugs\n");
}

TEST(PipelineSummary, a_line_whose_fields_are_all_missing_is_omitted) {
    EXPECT_EQ(render_summary("{nothing}\nplain {braces here}\n", artifact), "plain {braces here}\n");
}

TEST(PipelineSummary, an_unknown_field_is_refused_with_its_line) {
    const auto checked = check_summary({"{title}\n{titel}\n", "mine.md"}, contracts().get("specification").value());
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, "AF-PIPE-022");
    EXPECT_EQ(checked.error().where, "mine.md:2");
    EXPECT_EQ(checked.error().remedy, "Did you mean `title`?");
}

}  // namespace agentforge::kernel
