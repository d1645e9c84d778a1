// SPDX-License-Identifier: Apache-2.0
// What the summaries of gates that checked nothing say, for those who show gates to people.
#pragma once

#include <string_view>

#include "config/gate_names.hpp"

namespace agentforge::kernel {

/// Summaries of gate `types` that say why it checked nothing.
inline constexpr std::string_view no_type_checker = "no type checker configured";
inline constexpr std::string_view types_not_checked = "types were not checked";

/// True if a gate with this summary passed only because no program checked anything.
[[nodiscard]] constexpr bool was_skipped(std::string_view gate, std::string_view summary) noexcept {
    return gate == gate_name::types && (summary == no_type_checker || summary.ends_with(types_not_checked));
}

/// True if a gate with this summary passed because there was no file to check.
[[nodiscard]] constexpr bool had_no_file(std::string_view gate, std::string_view summary) noexcept {
    return (gate == gate_name::syntax && summary.starts_with("0 files ")) ||
           (gate == gate_name::conformance && summary.find(" on 0 files, ") != std::string_view::npos);
}

/// A skipped gate's summary for people, after the gate's name.
[[nodiscard]] constexpr std::string_view why_skipped(std::string_view summary) noexcept {
    return summary == no_type_checker ? "none configured" : summary;
}

}  // namespace agentforge::kernel
