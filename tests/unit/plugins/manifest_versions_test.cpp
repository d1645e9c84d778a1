// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "plugins/manifest_versions.hpp"

namespace agentforge::kernel {
namespace {

struct Case {
    const char* version;
    const char* range;
    int expected;
};  // expected: 1 inside, 0 outside, -1 no range
class ManifestVersionRange : public testing::TestWithParam<Case> {};

TEST_P(ManifestVersionRange, matches_versions) {
    const auto inside = satisfies(GetParam().version, GetParam().range);
    EXPECT_EQ(inside.ok() ? static_cast<int>(*inside) : -1, GetParam().expected)
        << GetParam().version << " in " << GetParam().range;
}

INSTANTIATE_TEST_SUITE_P(Ranges, ManifestVersionRange,
                         testing::Values(Case{"0.1.0", ">=0.1 <0.2", 1}, Case{"0.2.0", ">=0.1 <0.2", 0},
                                         Case{"0.0.9", ">=0.1 <0.2", 0}, Case{"0.1.0", "=0.1", 1}, Case{"0.1.1", "==0.1", 0},
                                         Case{"0.10.0", ">0.9", 1}, Case{"1.0.0-rc1", "<=1", 1}, Case{"0.1.0", "", -1},
                                         Case{"0.1.0", "0.1", -1}, Case{"0.1.0", ">= 0.1", -1}, Case{"0.1.0", "^0.1", -1},
                                         Case{"0.1.0", ">=0.1.0.0", -1}, Case{"0.1.0", ">=99999999999999", -1}));

TEST(Version, accepts_a_suffix) { EXPECT_TRUE(is_version("1.2.3-rc1")); }
TEST(Version, refuses_an_empty_suffix) { EXPECT_FALSE(is_version("1.2.3-")); }
TEST(Version, refuses_a_sign) { EXPECT_FALSE(is_version("-1")); }
TEST(Version, refuses_words) { EXPECT_FALSE(is_version("latest")); }
TEST(Version, a_prerelease_is_ordered_by_its_numbers) {
    EXPECT_EQ(compare_versions("1.0.0-rc.10", "1.0.0-rc.2"), std::strong_ordering::greater);
    EXPECT_EQ(compare_versions("1.0.0-rc.10", "1.0.0"), std::strong_ordering::less);
    EXPECT_EQ(compare_versions("latest", "0.0.1"), std::strong_ordering::less);
}

}  // namespace
}  // namespace agentforge::kernel
