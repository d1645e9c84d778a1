// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

TEST(ToJsonLine, writes_doubles_with_a_dot_and_a_signed_exponent) {
    EXPECT_EQ(to_json_line(json::array{12.5, 0.92, 1e21, 1e-7, 100.0, -0.0}), "[12.5, 0.92, 1.0e+21, 1.0e-07, 100.0, -0.0]");
}

}  // namespace
}  // namespace agentforge::kernel
