// SPDX-License-Identifier: Apache-2.0
// The forms of a secret value in encoded text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

struct SecretForm {
    std::string name;  ///< Empty: unencoded. Otherwise `base64`, `base64+1`, `hex`, …
    std::string text;
};

/// Returns the value unencoded, with `+` for spaces, in hexadecimal, in base64 (both alphabets) at the three offsets possible in
/// a longer text, and in base32 at the five. A base64 or base32 form is only the part that depends on the value alone, without
/// the bits at either end that it shares with its neighbours. The search ignores case and undoes escapes first (text_view.hpp).
/// Leaves out duplicates and forms shorter than 8 bytes.
[[nodiscard]] std::vector<SecretForm> forms_of(std::string_view value);

}  // namespace agentforge::kernel
