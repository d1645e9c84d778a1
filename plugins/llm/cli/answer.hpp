// SPDX-License-Identifier: Apache-2.0
// Reading what a command printed. Pure; every byte comes from outside and may be anything.
#pragma once

#include <agentforge/llm_backend.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace agentforge::cli {

/// What was found in the output, before it is known whether the call succeeded.
struct Answer {
    bool found = false;   ///< There was a final answer at all.
    bool failed = false;  ///< The program says that it failed (`is_error`, `turn.failed`).
    std::string
        failure;  ///< In the program's words, where it failed; a server's error object is reduced to its type and message.
    std::optional<ErrorKind> status_kind;  ///< What sort of failure the server's status means, where the program tells it.
    Completion completion;
    std::uint64_t requests =
        1;  ///< Lower bound of requests to its model's server: one, plus one per turn, tool or reconnection it reports.
};

/// Counts, as a lower bound, the requests a program has sent to its model's server so far, from the lines it prints.
class RequestCount {
public:
    void hear(std::string_view part);
    [[nodiscard]] std::uint64_t requests() const noexcept { return 1 + more_; }

private:
    std::string line_;
    std::uint64_t more_ = 0;
};

/// The same from the input tokens it reports. `input_tokens` is the sum over all requests of a call; a single request reads no
/// more than the prompt, at two bytes per token, plus what the program adds.
[[nodiscard]] std::uint64_t requests_by_tokens(std::uint64_t input_tokens, std::size_t prompt_bytes);

/// `claude --output-format json` (one object), `stream-json` (lines) or a list of events. The last
/// `result` event counts; lines that are not JSON and unknown types are passed over and counted in
/// `diagnostics.skipped_lines`.
[[nodiscard]] Answer read_claude(std::string_view output);

/// `codex exec --json`: lines; the text of the last `agent_message`.
[[nodiscard]] Answer read_codex(std::string_view output);

/// The output as it is, without white space at its end; token counts are estimated by the caller.
[[nodiscard]] Answer read_text(std::string_view output);

/// Dollars, as the program prints them, in millionths; nothing where it is no amount of money.
/// A double holds every amount below 9 billion dollars to better than half a millionth, so rounding
/// once gives the amount that was printed.
[[nodiscard]] std::optional<std::uint64_t> microusd(const json::value& dollars);

/// What sort of failure the program's words mean: `denied` (log in, key), `transient` (overloaded, rate limit, network), else
/// `unavailable` (limit of the plan or credit, a model it does not know, anything that a person must look at). The server's
/// status counts for more than words, but for a used-up plan, which comes with the status of an overload.
[[nodiscard]] ErrorKind kind_of_failure(std::string_view words, std::optional<ErrorKind> by_status = std::nullopt);

}  // namespace agentforge::cli
