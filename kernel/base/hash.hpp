// SPDX-License-Identifier: Apache-2.0
// SHA-256 of bytes and of JSON values. Pure functions: any thread may call them.
#pragma once

#include <string>
#include <string_view>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

/// SHA-256 as 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);
/// A hash that only the owner of the key can make, as 64 lower-case hexadecimal digits. Begin `text` with what it is for, so that
/// a hash for one purpose fits no other.
[[nodiscard]] std::string keyed_sha256(const std::string& key, std::string_view text);
/// SHA-256 of the canonical text of a value: objects sorted by key (bytewise), no spaces.
[[nodiscard]] std::string hash_of(const json::value& value);

}  // namespace agentforge::kernel
