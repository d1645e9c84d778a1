// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace agentforge::testing {

/// FIPS 180-4, in small hexadecimal letters. Here so that a plugin's test needs no cryptographic library.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace agentforge::testing
