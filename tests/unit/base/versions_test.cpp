// SPDX-License-Identifier: Apache-2.0
#include "base/versions.hpp"

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

Version version(std::string_view text) { return Version::parse(text).value(); }
bool fits(std::string_view range, std::string_view text) { return VersionRange::parse(range).value().contains(version(text)); }

TEST(Versions, are_ordered_numerically) {
    EXPECT_LT(version("1.2.0"), version("1.10.0"));
    EXPECT_EQ(version("v1.2"), version("1.2.0+build.7"));
    EXPECT_LT(version("0.9.9"), version("1"));
}

TEST(Versions, a_prerelease_comes_before_its_release) {
    EXPECT_LT(version("1.0.0-alpha"), version("1.0.0-alpha.1"));
    EXPECT_LT(version("1.0.0-alpha.2"), version("1.0.0-alpha.10"));
    EXPECT_LT(version("1.0.0-2"), version("1.0.0-alpha"));
    EXPECT_LT(version("1.0.0-rc.1"), version("1.0.0"));
}

TEST(Versions, refuse_text_that_is_not_a_version) {
    for (const char* text : {"", "v", "1.", "1..2", "1.2.3.4", "one", "1.2.x", "1.0.0-", "-1", "99999999999999999999"}) {
        EXPECT_FALSE(Version::parse(text)) << text;
    }
}

TEST(VersionRange, requires_all_its_conditions) {
    EXPECT_TRUE(fits(">=1.2.0, <2", "1.10.0"));
    EXPECT_FALSE(fits(">=1.2.0, <2", "2.0.0"));
    EXPECT_FALSE(fits(">=1.2.0 <2", "1.1.9"));
    EXPECT_TRUE(fits(">= 1.2", "1.2.0"));
    EXPECT_TRUE(fits("1.4.0", "1.4.0"));
    EXPECT_FALSE(fits("=1.4.0", "1.4.1"));
    EXPECT_FALSE(fits(">1.4.0", "1.4.0"));
    EXPECT_TRUE(fits("<=1.4.0", "1.4.0"));
}

TEST(VersionRange, a_caret_keeps_the_first_non_zero_number) {
    EXPECT_TRUE(fits("^1.2", "1.9.0"));
    EXPECT_FALSE(fits("^1.2", "2.0.0"));
    EXPECT_FALSE(fits("^1.2", "1.1.0"));
    EXPECT_TRUE(fits("^0.2.3", "0.2.9"));
    EXPECT_FALSE(fits("^0.2.3", "0.3.0"));
    EXPECT_TRUE(fits("^0", "0.9.0"));
}

TEST(VersionRange, a_tilde_keeps_the_minor_number) {
    EXPECT_TRUE(fits("~1.2.3", "1.2.9"));
    EXPECT_FALSE(fits("~1.2.3", "1.3.0"));
    EXPECT_TRUE(fits("~1", "1.9.0"));
}

TEST(VersionRange, an_empty_text_and_a_star_match_any_release) {
    EXPECT_TRUE(fits("", "0.1.0"));
    EXPECT_TRUE(fits("*", "7"));
    EXPECT_TRUE(VersionRange::parse(" * ").value().is_any());
}

TEST(VersionRange, a_prerelease_matches_only_if_the_range_names_one) {
    EXPECT_FALSE(fits(">=1.0.0", "2.0.0-rc.1"));
    EXPECT_TRUE(fits(">=2.0.0-alpha", "2.0.0-rc.1"));
}

TEST(VersionRange, refuses_text_that_is_not_a_range) {
    for (const char* text : {"latest", ">=", "=>1", "1.2 || 2", ">=1.2.0, beta"}) {
        EXPECT_FALSE(VersionRange::parse(text)) << text;
    }
}

}  // namespace
}  // namespace agentforge::kernel
