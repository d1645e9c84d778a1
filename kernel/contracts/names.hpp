// SPDX-License-Identifier: Apache-2.0
// Contracts whose artifacts the kernel itself reads. The kernel identifies the stage by the contract of its artifact, not by its
// name.
#pragma once

#include <string_view>
#include <utility>

namespace agentforge::kernel::contract_name {

inline constexpr std::string_view intake_record = "intake_record";
inline constexpr std::string_view specification = "specification";
inline constexpr std::string_view test_suite = "test_suite";
inline constexpr std::string_view delivery_report = "delivery_report";

}  // namespace agentforge::kernel::contract_name

/// Who an implementation is handed back to (`hand_back.to` of the contract `implementation`), whatever the names of these stages.
namespace agentforge::kernel::hand_back_to {

inline constexpr std::string_view tests = "tests";                  ///< The stage that wrote the tests.
inline constexpr std::string_view specification = "specification";  ///< The stage that wrote the specification.

/// Returns the word that replaced an older one. Artifacts and journals may still have the older. Returns others unchanged.
[[nodiscard]] constexpr std::string_view current_word(std::string_view word) noexcept {
    constexpr std::pair<std::string_view, std::string_view> older[] = {{"red", tests}, {"spec", specification}};
    for (const auto& [before, now] : older) {
        if (word == before) { return now; }
    }
    return word;
}

}  // namespace agentforge::kernel::hand_back_to
