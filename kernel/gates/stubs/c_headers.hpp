// SPDX-License-Identifier: Apache-2.0
// The standard headers of C and C++ that a declaration needs.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace agentforge::kernel {

/// Returns the headers of the names in a declaration, each in `<…>`. `c`: those of C.
[[nodiscard]] std::set<std::string> standard_c_headers(std::string_view text, bool c);

}  // namespace agentforge::kernel
