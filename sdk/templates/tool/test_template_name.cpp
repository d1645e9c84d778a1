// SPDX-License-Identifier: Apache-2.0
#include "template_name.cpp"

#include <agentforge/testing/fake_host.hpp>
#include <gtest/gtest.h>

namespace example {

using agentforge::testing::FakeToolContext;

TEST(TemplateNameTool, finds_marks_with_file_and_line) {
    FakeToolContext host;
    host.files.put("src/a.py", "one = 1\n# TODO: two\n");
    TemplateNameTool tool;
    const ToolResult result = host.call(tool);
    ASSERT_TRUE(result.success) << result.output;
    EXPECT_EQ(result.output, "src/a.py:2: # TODO: two\n");
}

TEST(TemplateNameTool, looks_only_where_the_glob_allows) {
    FakeToolContext host;
    host.files.put("src/a.py", "# FIXME\n").put("docs/b.md", "FIXME\n");
    TemplateNameTool tool;
    EXPECT_EQ(host.call(tool, {{"mark", "FIXME"}, {"glob", "src/**/*.py"}}).output, "src/a.py:1: # FIXME\n");
}

TEST(TemplateNameTool, refuses_a_blank_mark) {
    FakeToolContext host;
    TemplateNameTool tool;
    const ToolResult result = host.call(tool, {{"mark", " "}});
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->where, "mark");
    EXPECT_TRUE(host.functions().empty());
}

TEST(TemplateNameTool, passes_on_what_the_host_refuses) {
    FakeToolContext host;
    host.files.fail_next("search", {"HOST-001", "no", "", "", ErrorKind::denied});
    TemplateNameTool tool;
    EXPECT_EQ(host.call(tool).error->code, "HOST-001");
}

}  // namespace example
