// SPDX-License-Identifier: Apache-2.0
// What the words of a requirement say. For English.
#pragma once

#include <string_view>

namespace agentforge::kernel {

/// True for a requirement such as "The figures stay the same": no test of it can fail before the change, so guards have to do.
[[nodiscard]] bool says_that_something_stays(std::string_view description);

}  // namespace agentforge::kernel
