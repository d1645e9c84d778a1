// SPDX-License-Identifier: Apache-2.0
// Versions and ranges as a manifest writes them, stricter than those of base/versions.hpp: `>=0.1 <0.2`.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// True if `version` (`1`, `1.2` or `1.2.3`; missing parts are 0) satisfies every comparison of `range`. Comparisons are
/// separated by blanks: `>=`, `>`, `<=`, `<`, `=` or `==` directly before a version. Errors: the message names the word that is
/// not a comparison; code, place and remedy are up to the caller.
[[nodiscard]] Result<bool> satisfies(std::string_view version, std::string_view range);
/// True if the text is a version in the form above, with an optional suffix `-…` or `+…`.
[[nodiscard]] bool is_version(std::string_view text);
/// Compares two versions number by number: tells which is newer. `1.0.0-rc.1` is older than `1.0.0`. A text that is not a version
/// is the oldest.
[[nodiscard]] std::strong_ordering compare_versions(std::string_view left, std::string_view right);

}  // namespace agentforge::kernel
