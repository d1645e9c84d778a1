// SPDX-License-Identifier: Apache-2.0
// The ways to deliver a task: the words of the setting `delivery.type` and of the field `deliverable_type` in records.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace agentforge::kernel {

enum class DeliveryType : std::uint8_t {
    commit = 1,  ///< A commit on `agentforge/<task>`.
    branch,      ///< A commit on the branch that `delivery.branch` names.
    pr,          ///< That branch, pushed, with a pull request.
    files,       ///< A patch file; no commit.
};

inline constexpr std::array<std::pair<DeliveryType, std::string_view>, 4> delivery_type_names{{
    {DeliveryType::commit, "commit"},
    {DeliveryType::branch, "branch"},
    {DeliveryType::pr, "pr"},
    {DeliveryType::files, "files"},
}};

[[nodiscard]] constexpr std::string_view to_string(DeliveryType type) noexcept {
    for (const auto& [known, name] : delivery_type_names) {
        if (known == type) { return name; }
    }
    return {};
}

/// Returns nothing for an unknown word, and for the empty one: nothing was delivered.
[[nodiscard]] constexpr std::optional<DeliveryType> parse_delivery_type(std::string_view word) noexcept {
    for (const auto& [type, name] : delivery_type_names) {
        if (name == word) { return type; }
    }
    return std::nullopt;
}

}  // namespace agentforge::kernel
