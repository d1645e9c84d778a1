// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace agentforge::testing {

/// SHA-256 (FIPS 180-4) in lower-case hexadecimal. Included here to spare a plugin's tests a cryptographic library.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace agentforge::testing
