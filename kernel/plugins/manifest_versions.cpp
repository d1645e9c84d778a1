// SPDX-License-Identifier: Apache-2.0
#include "plugins/manifest_versions.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/versions.hpp"

namespace agentforge::kernel {

namespace {

/// A manifest's version has only numbers and dots, and no number above 32 bits.
std::optional<Version> numbers_of(std::string_view text) {
    if (text.find_first_not_of("0123456789.") != std::string_view::npos) { return std::nullopt; }
    const auto version = Version::parse(text);
    const auto too_large = [](std::uint64_t number) { return number > std::numeric_limits<std::uint32_t>::max(); };
    return version && std::ranges::none_of(version->numbers, too_large) ? version : std::nullopt;
}

std::optional<Version> version_of(std::string_view text) { return is_version(text) ? Version::parse(text) : std::nullopt; }

}  // namespace

bool is_version(std::string_view text) {
    const auto suffix = text.find_first_of("-+");
    if (suffix != std::string_view::npos && suffix + 1 == text.size()) { return false; }
    return numbers_of(text.substr(0, suffix)).has_value();
}

std::strong_ordering compare_versions(std::string_view left, std::string_view right) {
    const auto one = version_of(left);
    const auto other = version_of(right);
    if (!one || !other) { return one.has_value() <=> other.has_value(); }
    return *one <=> *other;
}

Result<bool> satisfies(std::string_view version, std::string_view range) {
    constexpr std::array<std::string_view, 6> signs{">=", ">", "<=", "<", "=", "=="};
    const auto broken = [](std::string_view word) {
        return Error{"", "`" + std::string(word) + "` is not a comparison such as `>=0.1`", "", "", ErrorKind::invalid};
    };
    const auto have = numbers_of(version.substr(0, version.find_first_of("-+")));
    if (!have) { return broken(version); }
    bool inside = true;
    bool any = false;
    while (true) {
        const auto begin = range.find_first_not_of(" \t");
        if (begin == std::string_view::npos) { break; }
        range.remove_prefix(begin);
        const std::string_view word = range.substr(0, range.find_first_of(" \t"));
        range.remove_prefix(word.size());
        const std::string_view sign = word.substr(0, word.find_first_of("0123456789"));
        const auto comparison = numbers_of(word.substr(sign.size())) ? VersionRange::parse(word) : std::nullopt;
        if (!comparison || std::ranges::find(signs, sign) == signs.end()) { return broken(word); }
        inside = inside && comparison->contains(*have);
        any = true;
    }
    if (!any) { return broken(""); }
    return inside;
}

}  // namespace agentforge::kernel
