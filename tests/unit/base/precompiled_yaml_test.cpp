// SPDX-License-Identifier: Apache-2.0
#include "base/precompiled_yaml.hpp"

#include <array>

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

/// Its value differs from its text, so a test can see which of the two was used.
constexpr std::array<PrecompiledYaml, 1> other_values{{{"a: 1\n", R"({"a": 2})", std::string_view("\1\1\1\1\1\4\1\1", 8)}}};

class PrecompiledYamlTest : public ::testing::Test {
protected:
    PrecompiledYamlTest() { use_precompiled_yaml(other_values); }
    ~PrecompiledYamlTest() override { use_precompiled_yaml({}); }
};

TEST_F(PrecompiledYamlTest, does_not_parse_a_known_text_again) {
    const auto document = parse_yaml("a: 1\n", "f.yaml");
    ASSERT_TRUE(document.ok());
    EXPECT_EQ(document->value, (json::value{{"a", 2}}));
    EXPECT_EQ(document->where("/a"), "f.yaml:1:4");
    EXPECT_EQ(document->where("/a#"), "f.yaml:1:1");
}

TEST_F(PrecompiledYamlTest, parses_a_text_that_differs_by_one_byte) {
    const auto document = parse_yaml("a: 3\n", "f.yaml");
    ASSERT_TRUE(document.ok());
    EXPECT_EQ(document->value, (json::value{{"a", 3}}));
}

TEST_F(PrecompiledYamlTest, parses_a_known_text_under_other_limits) {
    const auto document = parse_yaml("a: 1\n", "f.yaml", YamlLimits{.max_nodes = 10});
    ASSERT_TRUE(document.ok());
    EXPECT_EQ(document->value, (json::value{{"a", 1}}));
}

TEST(PlacesOfYaml, equal_those_of_the_document) {
    constexpr std::string_view text =
        "a~/b: &x {k: [1, 'two']}\nc: *x\n"
        "é:\n  - long\n";
    const auto document = parse_yaml(text, "f.yaml");
    ASSERT_TRUE(document.ok());
    const std::string value = json::serialize(document->value);
    const std::string places = places_of(*document);
    const std::array<PrecompiledYaml, 1> documents{{{text, value, places}}};
    use_precompiled_yaml(documents);
    const auto again = find_precompiled_yaml(text, "f.yaml");
    use_precompiled_yaml({});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->value, document->value);
    ASSERT_EQ(again->places.size(), document->places.size());
    for (const auto& [pointer, place] : document->places) {
        EXPECT_EQ(again->where(pointer), document->where(pointer)) << pointer;
        EXPECT_EQ(again->where(pointer + "#"), document->where(pointer + "#")) << pointer;
    }
}

}  // namespace
}  // namespace agentforge::kernel
