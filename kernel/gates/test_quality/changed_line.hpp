// SPDX-License-Identifier: Apache-2.0
// Finds where two versions of a line of code differ, so that each difference can be reverted on its own. Pure functions over
// texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// One place where two versions of a line differ.
struct LineDifference {
    std::string before;    ///< The code that stood there. Empty: something was added.
    std::string now;       ///< The code that stands there. Empty: something was removed.
    std::string reverted;  ///< The new line with only this place as before.
    bool values = false;   ///< Only operators, numbers, texts and words such as `true`, `and`, `nil` differ.
};

/// Returns the differences, from left to right. Arguments that were removed side by side count one by one. Among several ways to
/// read the change, takes one in which each difference closes the brackets that it opens; without such a way, the whole lines are
/// one difference. Neither line may have comments.
[[nodiscard]] std::vector<LineDifference> line_differences(std::string_view before, std::string_view now);

/// Returns how much of the longer line the two have in common, from 0 to 1, in words and marks. 1 if one contains all of the
/// other in its order.
[[nodiscard]] double line_similarity(std::string_view before, std::string_view now);

}  // namespace agentforge::kernel
