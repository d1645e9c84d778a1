// SPDX-License-Identifier: Apache-2.0
// Parses a command's output. Pure. Every byte comes from outside and may be anything.
#pragma once

#include <agentforge/llm_backend.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace agentforge::cli {

/// What the output contains, before it is known whether the call succeeded.
struct Answer {
    bool found = false;   ///< There was a final answer.
    bool failed = false;  ///< The program reports a failure (`is_error`, `turn.failed`).
    std::string failure;  ///< The failure in the program's words. A server's error object is reduced to its type and message.
    std::optional<ErrorKind> status_kind;  ///< The kind of failure by the server's status, if the program reports it.
    Completion completion;
    /// Lower bound on requests to the model's server: one, plus one for each turn, tool or reconnection reported.
    std::uint64_t requests = 1;
};

/// Counts, as a lower bound, the requests that a program has sent to its model's server so far, from the lines it prints.
class RequestCount {
public:
    void hear(std::string_view part);
    [[nodiscard]] std::uint64_t requests() const noexcept { return 1 + more_; }

private:
    std::string line_;
    std::uint64_t more_ = 0;
};

/// The same from the input tokens that it reports. `input_tokens` is the sum over all requests of a call. A single request reads
/// no more than the prompt, at two bytes per token, plus what the program adds.
[[nodiscard]] std::uint64_t requests_by_tokens(std::uint64_t input_tokens, std::size_t prompt_bytes);

/// Parses `claude --output-format json` (one object), `stream-json` (lines) or a list of events. The last `result` event counts.
/// Skips lines that are not JSON and unknown types, and counts them in `diagnostics.skipped_lines`.
[[nodiscard]] Answer read_claude(std::string_view output);

/// Parses the lines of `codex exec --json`: the text of the last `agent_message`.
[[nodiscard]] Answer read_codex(std::string_view output);

/// Returns the output without white space at its end. The caller estimates token counts.
[[nodiscard]] Answer read_text(std::string_view output);

/// Converts dollars, as the program prints them, to millionths. Returns nothing if it is not an amount of money. A double holds
/// every amount below 9 billion dollars to better than half a millionth, so one rounding gives the printed amount.
[[nodiscard]] std::optional<std::uint64_t> microusd(const json::value& dollars);

/// Classifies a failure by the program's words: `denied` (log in, key), `transient` (overloaded, rate limit, network), else
/// `unavailable` (limit of the plan or credit, an unknown model, anything that needs a person). The server's status takes
/// precedence over words, except for a used-up plan, which comes with the status of an overload.
[[nodiscard]] ErrorKind kind_of_failure(std::string_view words, std::optional<ErrorKind> by_status = std::nullopt);

}  // namespace agentforge::cli
