// SPDX-License-Identifier: Apache-2.0
// Versions (`1.4.0`, `v2.0.0-rc.1`) and ranges of them (`>=1.2.0, <2`), as semver.org orders them.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

struct Version {
    std::array<std::uint64_t, 3> numbers{};  ///< Major, minor, patch. 0 if the text has fewer numbers.
    std::string prerelease;                  ///< The part after `-`. Empty for a release.

    /// Parses `1`, `1.4`, `1.4.0`, `v1.4.0`, `1.4.0-rc.1`, `1.4.0+build`. Returns nothing for any other text.
    [[nodiscard]] static std::optional<Version> parse(std::string_view text);
    [[nodiscard]] std::strong_ordering operator<=>(const Version& other) const;
    [[nodiscard]] bool operator==(const Version& other) const { return (*this <=> other) == std::strong_ordering::equal; }
};

/// A range of versions. All its conditions must hold: `>=1.2.0`, `<2`, `=1.4.0` (or `1.4.0`), `^1.2` (the same major), `~1.2`
/// (the same minor). `*` or an empty text matches any version. A prerelease matches only if a condition names a prerelease of the
/// same three numbers.
class VersionRange {
public:
    /// Parses conditions separated by commas or spaces. Returns nothing if the text is not a range.
    [[nodiscard]] static std::optional<VersionRange> parse(std::string_view text);
    [[nodiscard]] bool contains(const Version& version) const;
    [[nodiscard]] bool is_any() const noexcept { return bounds_.empty(); }

private:
    enum class Sign : unsigned char { less = 1, at_most, equal, at_least, above };
    struct Bound {
        Sign sign;
        Version version;
    };
    std::vector<Bound> bounds_;
};

}  // namespace agentforge::kernel
