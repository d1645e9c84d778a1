// SPDX-License-Identifier: Apache-2.0
// Calls a model plugin: the one place for retries, limits, hashes and recording.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <agentforge/agentic.hpp>
#include <agentforge/llm_backend.hpp>

#include "backends/circuit_breaker.hpp"
#include "backends/model_call.hpp"
#include "base/cancel_token.hpp"
#include "base/clock.hpp"

namespace agentforge::kernel {

/// A `transient` failure is retried after min(first_delay·2ⁿ, max_delay).
struct RetryPolicy {
    unsigned attempts = 4;
    std::chrono::milliseconds first_delay{500};
    std::chrono::milliseconds max_delay{8000};
    /// Returns a random number from 0 to 1. Up to a quarter of each delay is subtracted accordingly, to keep many clients from
    /// retrying at once. None: delays are exact.
    std::function<double()> random = {};
};

/// A request and its cache marks.
struct ModelRequest : CompletionRequest {
    ModelRequest() = default;
    ModelRequest(CompletionRequest request, CacheMarks what_stays = {})
        : CompletionRequest(std::move(request)), marks(std::move(what_stays)) {}  // NOLINT: a request without marks is one.
    CacheMarks marks;
};

class ModelClient {
public:
    virtual ~ModelClient() = default;
    /// Fills in frame_hash and context_hash of the request if they are empty, calls the backend, and retries `transient` failures
    /// within the budget of SpentAttempts. Errors: AF-LLM-….
    [[nodiscard]] virtual Result<Completion> complete(ModelRequest request, CallContext& context) = 0;
    [[nodiscard]] virtual const BackendInfo& info() const noexcept = 0;
};

/// `sleep` waits (or returns early when cancelled); tests replace it. There is no wait if the backend is offline. Without a
/// breaker no call is refused.
[[nodiscard]] std::unique_ptr<ModelClient> make_model_client(std::shared_ptr<LLMBackendV2> backend, RetryPolicy retries,
                                                             std::function<void(std::chrono::milliseconds)> sleep,
                                                             std::shared_ptr<CircuitBreaker> breaker = nullptr);

/// True if the model sees this error and answers again: it answered, but the answer was unusable (AF-LLM-101, AF-LLM-102,
/// AF-LLM-105).
[[nodiscard]] bool is_shown_to_model(const Error& error) noexcept;

/// A transcript that the `replay` backend reads (YAML, one entry for each request). Any number of clients may write to it.
class Recording;
[[nodiscard]] std::shared_ptr<Recording> make_recording(std::string transcript_file);
/// Reads entries of an earlier process from the file, and checks that it can be written, before any model is asked. Creates
/// nothing. Errors: AF-LLM-110 its folder is missing or cannot be written; AF-LLM-111 it is not a transcript.
[[nodiscard]] Result<void> open_recording(Recording& recording);

/// Wraps a client and appends every answer to the recording, with everything that the journal keeps of it, including unusable
/// ones (`is_shown_to_model`) and the failed attempts before it.
[[nodiscard]] std::unique_ptr<ModelClient> make_recorder(std::unique_ptr<ModelClient> inner,
                                                         std::shared_ptr<Recording> recording);

/// Hash of what does not depend on earlier answers: stage, role, system prompt, offered tools.
[[nodiscard]] std::string frame_hash(const CompletionRequest& request);
/// Hash of `user` with task ids, times, durations and absolute paths replaced by placeholders.
[[nodiscard]] std::string context_hash(const CompletionRequest& request);

}  // namespace agentforge::kernel
