// SPDX-License-Identifier: Apache-2.0
// Common parts for reading the answers of both APIs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <agentforge/json_fields.hpp>
#include <agentforge/llm_backend.hpp>

namespace agentforge::http {

/// A tool call as it arrives. Its arguments are parsed only once they are complete.
struct CallPieces {
    std::string id;
    std::string name;
    std::string arguments;  ///< JSON text.
};

/// Parses any JSON object: accepts invalid UTF-8 in texts (the host fixes it) and nesting up to 64. Errors (`transient`,
/// AF-LLM-408).
[[nodiscard]] Result<json::object> read_object(std::string_view text, std::string_view what);

/// Moves the calls into the completion. Empty arguments mean none. If the answer was cut off at its limit, broken ones also mean
/// none (the host refuses that answer by its stop reason). Errors (`invalid`, AF-LLM-105, reported to the model): arguments that
/// are not a JSON object.
[[nodiscard]] Result<void> take_calls(std::vector<CallPieces> pieces, Completion& completion);

/// Returns a count; 0 if it is missing, negative or not a number.
[[nodiscard]] std::uint64_t count_of(const json::object& object, std::string_view key);
/// Returns the object under `key`, or null.
[[nodiscard]] const json::object* object_of(const json::object& object, std::string_view key);

}  // namespace agentforge::http
