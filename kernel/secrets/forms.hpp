// SPDX-License-Identifier: Apache-2.0
// How one secret value looks in the places where text is encoded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

struct SecretForm {
    std::string name;       ///< Empty: as it is; `base64`, `base64+1`, `url`, `hex`, `json`, …
    std::string text;
};

/// The value as it is, JSON-escaped (also with `\/`, with \uXXXX, and twice), percent-encoded (both cases of the digits, `+` for a space,
/// all of RFC 3986's reserved characters or only what encodeURI encodes), HTML-escaped, in hexadecimal (both cases) and in base64 (both alphabets)
/// at the three places where it may stand in a longer text. Of base64 it is the part that depends on the value alone: the bits at either
/// end that it shares with its neighbours stay. Forms that are the same text, or shorter than 8 bytes, are left out.
[[nodiscard]] std::vector<SecretForm> forms_of(std::string_view value);

}  // namespace agentforge::kernel
