// SPDX-License-Identifier: Apache-2.0
// How one secret value looks in the places where text is encoded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

struct SecretForm {
    std::string name;       ///< Empty: as it is; `base64`, `base64+1`, `hex`, …
    std::string text;
};

/// The value as it is, with `+` for spaces, in hexadecimal, in base64 (both alphabets) at the three places where it may stand in a longer text, and in base32
/// at the five. Of base64 and base32 it is the part that depends on the value alone: the bits at either end that it shares with its neighbours
/// stay. Case does not count where they are looked for, and escapes are undone before (escapes.hpp). Forms that are the same text, or shorter than 8 bytes, are left out.
[[nodiscard]] std::vector<SecretForm> forms_of(std::string_view value);

}  // namespace agentforge::kernel
