// SPDX-License-Identifier: Apache-2.0
#include "base/html.hpp"

#include <gmock/gmock.h>

namespace agentforge::kernel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(HtmlText, escapes_markup_and_control_characters) {
    EXPECT_EQ(html_text("<b a=\"1\">&\x1b[2J\u202e"), "&lt;b a=&quot;1&quot;&gt;&amp;\\x1b[2J\\u202e");
    EXPECT_EQ(html_text("żółw 亀\n"), "żółw 亀\n");
}

TEST(HtmlPage, runs_nothing_and_loads_nothing) {
    const std::string page = html_page("<script>", "<p>body</p>\n");
    EXPECT_THAT(page, AllOf(HasSubstr("default-src 'none'"), HasSubstr("<title>&lt;script&gt;</title>"),
                            HasSubstr("<body>\n<p>body</p>\n</body>"), Not(HasSubstr("<script>"))));
}

}  // namespace
}  // namespace agentforge::kernel
