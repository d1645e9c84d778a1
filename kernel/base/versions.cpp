// SPDX-License-Identifier: Apache-2.0
#include "base/versions.hpp"

#include <algorithm>
#include <charconv>

namespace agentforge::kernel {

namespace {

std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return text.empty() || error != std::errc() || end != text.data() + text.size() ? std::nullopt : std::optional(number);
}

std::string_view take_until(std::string_view& text, char divider) {
    const std::size_t at = std::min(text.find(divider), text.size());
    const std::string_view part = text.substr(0, at);
    text.remove_prefix(std::min(at + 1, text.size()));
    return part;
}

/// Numbers sort before words and are compared as numbers.
std::strong_ordering compare_identifiers(std::string_view one, std::string_view other) {
    const auto left = number_of(one);
    const auto right = number_of(other);
    if (left && right) { return *left <=> *right; }
    if (left || right) { return left ? std::strong_ordering::less : std::strong_ordering::greater; }
    return one.compare(other) <=> 0;
}

std::strong_ordering compare_prereleases(std::string_view one, std::string_view other) {
    if (one.empty() || other.empty()) { return one.empty() <=> other.empty(); }  // A release sorts after its prereleases.
    while (!one.empty() && !other.empty()) {
        if (const auto order = compare_identifiers(take_until(one, '.'), take_until(other, '.'));
            order != std::strong_ordering::equal) {
            return order;
        }
    }
    return !one.empty() <=> !other.empty();
}

}  // namespace

std::optional<Version> Version::parse(std::string_view text) {
    if (text.starts_with('v') || text.starts_with('V')) { text.remove_prefix(1); }
    text = text.substr(0, text.find('+'));
    Version version;
    if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
        version.prerelease = text.substr(dash + 1);
        text = text.substr(0, dash);
        if (version.prerelease.empty()) { return std::nullopt; }
    }
    if (text.empty() || text.ends_with('.')) { return std::nullopt; }
    for (std::size_t index = 0; !text.empty(); ++index) {
        const auto number = number_of(take_until(text, '.'));
        if (!number || index == version.numbers.size()) { return std::nullopt; }
        version.numbers[index] = *number;
    }
    return version;
}

std::strong_ordering Version::operator<=>(const Version& other) const {
    if (const auto order = numbers <=> other.numbers; order != std::strong_ordering::equal) { return order; }
    return compare_prereleases(prerelease, other.prerelease);
}

std::optional<VersionRange> VersionRange::parse(std::string_view text) {
    VersionRange range;
    while (true) {
        const std::size_t begin = text.find_first_not_of(", \t");
        if (begin == std::string_view::npos) { return range; }
        text.remove_prefix(begin);
        const std::size_t signs = std::min(text.find_first_not_of("<>=^~"), text.size());
        const std::string_view sign = text.substr(0, signs);
        text.remove_prefix(signs);
        text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));  // `>= 1.2` is one condition.
        const std::size_t end = std::min(text.find_first_of(", \t"), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(end);
        if (sign.empty() && word == "*") { continue; }
        const auto version = Version::parse(word);
        if (!version) { return std::nullopt; }
        if (sign == "^" || sign == "~") {
            Version above;
            const bool minor = sign == "~" && word.find('.') != std::string_view::npos;
            // `^` fixes everything before the first number that is not zero.
            std::size_t kept = minor ? 1 : 0;
            if (sign == "^") {
                while (kept < 2 && version->numbers[kept] == 0 &&
                       static_cast<std::size_t>(std::ranges::count(word, '.')) > kept) {
                    ++kept;
                }
            }
            std::copy_n(version->numbers.begin(), kept + 1, above.numbers.begin());
            ++above.numbers[kept];
            range.bounds_.push_back({Sign::at_least, *version});
            range.bounds_.push_back({Sign::less, above});
            continue;
        }
        if (sign == "<") {
            range.bounds_.push_back({Sign::less, *version});
        } else if (sign == "<=") {
            range.bounds_.push_back({Sign::at_most, *version});
        } else if (sign == ">") {
            range.bounds_.push_back({Sign::above, *version});
        } else if (sign == ">=") {
            range.bounds_.push_back({Sign::at_least, *version});
        } else if (sign.empty() || sign == "=" || sign == "==") {
            range.bounds_.push_back({Sign::equal, *version});
        } else {
            return std::nullopt;
        }
    }
}

bool VersionRange::contains(const Version& version) const {
    const auto names_its_prereleases = [&](const Bound& bound) {
        return !bound.version.prerelease.empty() && bound.version.numbers == version.numbers;
    };
    if (!version.prerelease.empty() && std::ranges::none_of(bounds_, names_its_prereleases)) { return false; }
    return std::ranges::all_of(bounds_, [&](const Bound& bound) {
        const auto order = version <=> bound.version;
        switch (bound.sign) {
            case Sign::less:
                return order < 0;
            case Sign::at_most:
                return order <= 0;
            case Sign::equal:
                return order == 0;
            case Sign::at_least:
                return order >= 0;
            case Sign::above:
                return order > 0;
        }
        return false;
    });
}

}  // namespace agentforge::kernel
