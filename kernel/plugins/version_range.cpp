// SPDX-License-Identifier: Apache-2.0
#include "plugins/version_range.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <compare>
#include <optional>
#include <utility>

namespace agentforge::kernel {

namespace {

using Version = std::array<unsigned, 3>;

std::optional<Version> parse(std::string_view text) noexcept {
    Version version{};
    for (std::size_t part = 0; part < version.size(); ++part) {
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), version.at(part));
        if (failure != std::errc{}) { return std::nullopt; }
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (text.empty()) { return version; }
        if (text.front() != '.') { return std::nullopt; }
        text.remove_prefix(1);
    }
    return std::nullopt;
}

}  // namespace

bool is_version(std::string_view text) noexcept {
    const auto suffix = text.find_first_of("-+");
    if (suffix != std::string_view::npos && suffix + 1 == text.size()) { return false; }
    return parse(text.substr(0, suffix)).has_value();
}

std::strong_ordering compare_versions(std::string_view left, std::string_view right) noexcept {
    const auto split = [](std::string_view text) {
        const std::string_view whole = text.substr(0, text.find('+'));
        const std::size_t dash = std::min(whole.find('-'), whole.size());
        return std::pair(parse(whole.substr(0, dash)), whole.substr(dash));
    };
    const auto [left_numbers, left_suffix] = split(left);
    const auto [right_numbers, right_suffix] = split(right);
    if (left_numbers != right_numbers) {
        return left_numbers < right_numbers ? std::strong_ordering::less : std::strong_ordering::greater;
    }
    if (left_suffix.empty() != right_suffix.empty()) {
        return left_suffix.empty() ? std::strong_ordering::greater : std::strong_ordering::less;
    }
    return left_suffix <=> right_suffix;
}

Result<bool> satisfies(std::string_view version, std::string_view range) {
    const auto broken = [](std::string_view word) {
        return Error{"", "`" + std::string(word) + "` is not a comparison such as `>=0.1`", "", "", ErrorKind::invalid};
    };
    const auto have = parse(version.substr(0, version.find_first_of("-+")));
    if (!have) { return broken(version); }
    bool inside = true;
    bool any = false;
    while (true) {
        const auto begin = range.find_first_not_of(" \t");
        if (begin == std::string_view::npos) { break; }
        range.remove_prefix(begin);
        const std::string_view word = range.substr(0, range.find_first_of(" \t"));
        range.remove_prefix(word.size());
        const auto digits = word.find_first_of("0123456789");
        const std::string_view sign = word.substr(0, digits);
        const auto bound = digits == std::string_view::npos ? std::nullopt : parse(word.substr(digits));
        if (!bound) { return broken(word); }
        const auto order = *have <=> *bound;
        if (sign == ">=") {
            inside = inside && order >= 0;
        } else if (sign == ">") {
            inside = inside && order > 0;
        } else if (sign == "<=") {
            inside = inside && order <= 0;
        } else if (sign == "<") {
            inside = inside && order < 0;
        } else if (sign == "=" || sign == "==") {
            inside = inside && order == 0;
        } else {
            return broken(word);
        }
        any = true;
    }
    if (!any) { return broken(""); }
    return inside;
}

}  // namespace agentforge::kernel
