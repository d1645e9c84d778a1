// SPDX-License-Identifier: Apache-2.0
#include "base/yaml.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

std::string read(std::string_view text) {
    const auto result = parse_yaml(text, "f.yaml");
    return result.ok() ? to_json_line(result->value) : result.error().code + " " + result.error().where;
}

TEST(ParseYaml, reads_a_map_with_each_kind_of_scalar) {
    EXPECT_EQ(read("a: 1\nb: yes\nc: true\nd: ~\ne: 1.5\nf: '5'\ng: 012\nh:\n  - x\n  - {y: z}\n"),
              R"({"a": 1, "b": "yes", "c": true, "d": null, "e": 1.5, "f": "5", "g": "012", "h": ["x", {"y": "z"}]})");
}

TEST(ParseYaml, refuses_what_the_header_names) {
    EXPECT_EQ(read("a: 1\na: 2\n"), "AF-CONF-002 f.yaml:2:1");
    EXPECT_EQ(read("x: &a {b: 1}\ny:\n  <<: *a\n"), "AF-CONF-003 f.yaml:3:3");
    EXPECT_EQ(read("1: x\n"), "AF-CONF-004 f.yaml:1:1");
    EXPECT_EQ(read("a: 1\n---\nb: 2\n"), "AF-CONF-005 f.yaml:2:1");
    EXPECT_EQ(read("a: !foo 1\n"), "AF-CONF-006 f.yaml:1:4");
    EXPECT_EQ(read("&a [*a]\n"), "AF-CONF-007 f.yaml:1:5");
    EXPECT_EQ(read("é: \xE9\n"), "AF-CONF-009 f.yaml:1:4");
}

}  // namespace
}  // namespace agentforge::kernel
