// SPDX-License-Identifier: Apache-2.0
// The pieces that both APIs' answers are read with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <agentforge/json_fields.hpp>
#include <agentforge/llm_backend.hpp>

namespace agentforge::http {

/// A tool call as it comes: its arguments are read only once it is whole.
struct CallPieces {
    std::string id;
    std::string name;
    std::string arguments;  ///< JSON text.
};

/// Any JSON: invalid UTF-8 in texts is let pass (the host mends it), nesting up to 64. Errors (`transient`, AF-LLM-408).
[[nodiscard]] Result<json::object> read_object(std::string_view text, std::string_view what);

/// Moves the calls into the completion. Empty arguments are none; where the answer was cut off at its limit, broken ones are,
/// too (the host refuses that answer by its stop reason).
/// Errors (`invalid`, AF-LLM-105, told to the model): arguments that are no JSON object.
[[nodiscard]] Result<void> take_calls(std::vector<CallPieces> pieces, Completion& completion);

/// A count that may be missing, negative or no number: 0 then.
[[nodiscard]] std::uint64_t count_of(const json::object& object, std::string_view key);
/// The object under `key`, or null.
[[nodiscard]] const json::object* object_of(const json::object& object, std::string_view key);

}  // namespace agentforge::http
