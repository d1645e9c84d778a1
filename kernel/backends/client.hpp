// SPDX-License-Identifier: Apache-2.0
// Calling a model plugin: one place for retries, limits, hashes and recording.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <agentforge/llm_backend.hpp>

#include "base/cancel.hpp"
#include "base/clock.hpp"

namespace agentforge::kernel {

struct RetryPolicy {
    unsigned attempts = 4;
    std::chrono::milliseconds first_delay{500};
    std::chrono::milliseconds max_delay{8000};
};

class ModelClient {
public:
    virtual ~ModelClient() = default;
    /// Fills frame_hash and context_hash of the request where they are empty, calls the backend, retries what is `transient`.
    /// Errors: AF-LLM-….
    [[nodiscard]] virtual Result<Completion> complete(CompletionRequest request, CallContext& context) = 0;
    [[nodiscard]] virtual const BackendInfo& info() const noexcept = 0;
};

/// `sleep` waits (or returns early when cancelled), so that tests need not.
[[nodiscard]] std::unique_ptr<ModelClient> make_model_client(std::shared_ptr<LLMBackend> backend, RetryPolicy retries,
                                                             std::function<void(std::chrono::milliseconds)> sleep);

/// Wraps a client and appends every answer to a transcript that the `replay` backend reads (YAML, one entry a request).
[[nodiscard]] std::unique_ptr<ModelClient> make_recorder(std::unique_ptr<ModelClient> inner, std::string transcript_file);

/// Hash of what does not depend on earlier answers: stage, role, system prompt, offered tools.
[[nodiscard]] std::string frame_hash(const CompletionRequest& request);
/// Hash of `user` with task ids, times, durations and absolute paths replaced by place holders.
[[nodiscard]] std::string context_hash(const CompletionRequest& request);

}  // namespace agentforge::kernel
