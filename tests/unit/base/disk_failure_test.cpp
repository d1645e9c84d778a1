// SPDX-License-Identifier: Apache-2.0
#include "base/disk_failure.hpp"

#include <cerrno>

#include <gtest/gtest.h>

namespace agentforge::kernel::testing {
namespace {

TEST(FailureOfReading, is_the_error_of_a_file_that_the_disk_does_not_give) {
    // Nothing is mapped at the address 0: the kernel answers with EIO, as for a broken disk.
    EXPECT_EQ(failure_of_reading({"/proc/self/mem"}), EIO);
}

TEST(FailureOfReading, passes_over_files_that_are_fine_or_not_there) {
    EXPECT_EQ(failure_of_reading({"/proc/self/status", "/no/such/file"}), 0);
}

TEST(FailureOfWriting, is_none_where_a_folder_takes_files_or_is_not_there) {
    EXPECT_EQ(failure_of_writing("/tmp"), 0);
    EXPECT_EQ(failure_of_writing("/no/such/folder"), 0);
}

TEST(FailureOfWriting, is_a_full_disk_where_less_is_left_than_enough) { EXPECT_EQ(failure_of_writing("/tmp", ~0ULL), ENOSPC); }

}  // namespace
}  // namespace agentforge::kernel::testing
