// SPDX-License-Identifier: Apache-2.0
// The inputs that `plugins check` gives to a plugin's methods: valid, empty, huge and broken ones.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

enum class CheckInput : unsigned char {
    valid = 1,
    required,
    empty,
    huge,
    entries,
    nulls,
    wrong_types,
    invalid_utf8,
    host_fails,
    cancelled
};

struct CheckInputCase {
    CheckInput input;
    const char* name;  ///< For reports.
    /// The host refuses such input before a plugin sees it. A plugin may throw on it, but must not crash or hang.
    bool broken;
};
/// In the order of CheckInput.
inline constexpr std::array<CheckInputCase, 10> check_inputs = {
    {{CheckInput::valid, "valid", false},
     {CheckInput::required, "required only", false},
     {CheckInput::empty, "empty", false},
     {CheckInput::huge, "1 MiB texts, lists of 1000", false},
     {CheckInput::entries, "an object of 1000 entries", false},
     {CheckInput::nulls, "null in place of every value", true},
     {CheckInput::wrong_types, "values of other types", true},
     {CheckInput::invalid_utf8, "invalid UTF-8", true},
     {CheckInput::host_fails, "valid, every host call fails", false},
     {CheckInput::cancelled, "valid, cancelled from the beginning", false}}};

inline constexpr std::size_t huge_entries = 1000;  ///< The length of a huge list or object.

/// Makes a valid value huge or broken. Changes nothing for the inputs that are valid.
void spoil(json::value& value, CheckInput input);
[[nodiscard]] json::object spoiled(json::object object, CheckInput input);

/// Returns an empty, huge or broken text. `plain` for all other inputs.
[[nodiscard]] std::string text_for(CheckInput input, std::string_view plain);

}  // namespace agentforge::kernel
