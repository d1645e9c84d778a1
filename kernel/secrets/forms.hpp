// SPDX-License-Identifier: Apache-2.0
// How one secret value looks in the places where text is encoded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

struct SecretForm {
    std::string name;  ///< Empty: as it is; `base64`, `base64+1`, `hex`, …
    std::string text;
};

/// The value as it is, with `+` for spaces, in hexadecimal, in base64 (both alphabets) at the three offsets it may have in a
/// longer text, and in base32 at the five. A base64 or base32 form is only the part that depends on the value alone, without the
/// bits at either end that it shares with its neighbours. The search ignores case and undoes escapes first (escapes.hpp). Forms
/// with the same text, or shorter than 8 bytes, are left out.
[[nodiscard]] std::vector<SecretForm> forms_of(std::string_view value);

}  // namespace agentforge::kernel
