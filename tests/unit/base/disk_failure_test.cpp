// SPDX-License-Identifier: Apache-2.0
#include "base/disk_failure.hpp"

#include <cerrno>

#include <gtest/gtest.h>

namespace agentforge::kernel::testing {
namespace {

TEST(FailureOfReading, returns_the_error_of_an_unreadable_file) {
    // Nothing is mapped at the address 0: the kernel answers with EIO, as for a broken disk.
    EXPECT_EQ(failure_of_reading({"/proc/self/mem"}), EIO);
}

TEST(FailureOfReading, ignores_files_that_are_readable_or_missing) {
    EXPECT_EQ(failure_of_reading({"/proc/self/status", "/no/such/file"}), 0);
}

TEST(FailureOfWriting, is_none_if_a_folder_is_writable_or_missing) {
    EXPECT_EQ(failure_of_writing("/tmp"), 0);
    EXPECT_EQ(failure_of_writing("/no/such/folder"), 0);
}

TEST(FailureOfWriting, is_a_full_disk_if_too_little_space_is_left) { EXPECT_EQ(failure_of_writing("/tmp", ~0ULL), ENOSPC); }

}  // namespace
}  // namespace agentforge::kernel::testing
