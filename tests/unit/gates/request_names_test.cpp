// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/request_names.hpp"

#include <gmock/gmock.h>

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ExactNames, are_numbers_options_files_and_names_of_code) {
    EXPECT_THAT(exact_names("Add --dry-run to sync (max_items, 30 by default). bin/sync.js and README stay, as does maxAge."),
                ElementsAre("--dry-run", "max_items", "30", "bin/sync.js", "maxAge"));
}

TEST(ExactNames, stand_side_by_side) { EXPECT_THAT(exact_names("Take 2, 3 and 1.5 seconds"), ElementsAre("2", "3", "1.5")); }

TEST(ExactNames, are_words_in_backticks) {
    EXPECT_THAT(exact_names("Remove `pretty` from `report`"), ElementsAre("pretty", "report"));
}

TEST(ExactNames, are_no_parts_of_other_words) {
    EXPECT_THAT(exact_names("Read 1h30m, utf8 and 2024-03-01 with HTTP, like \"a=1\"-texts, in the well-known way"),
                ElementsAre("1"));
}

TEST(ExactNames, are_listed_once) { EXPECT_THAT(exact_names("50 at most; 50 by default"), ElementsAre("50")); }

TEST(HasName, needs_the_whole_name) {
    EXPECT_TRUE(has_name("limit=30;", "30"));
    EXPECT_FALSE(has_name("limit=300;", "30"));
    EXPECT_TRUE(has_name("sync --dry-run", "--dry-run"));
}

TEST(ExactNames, a_request_in_plain_words_has_none) { EXPECT_THAT(exact_names("Make the logger faster."), IsEmpty()); }

}  // namespace
}  // namespace agentforge::kernel
