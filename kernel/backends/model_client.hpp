// SPDX-License-Identifier: Apache-2.0
// Calls a model plugin: the one place for retries, limits, hashes and recording.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <agentforge/agentic.hpp>
#include <agentforge/llm_backend.hpp>

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

/// Stops calls to a server that failed five times in a row. For 30 s each call is refused at once, then one is let through; its
/// success closes the circuit, its failure opens it again. Shared by the clients of one server. Any thread.
class CircuitBreaker {
public:
    using Now = std::function<std::chrono::steady_clock::time_point()>;
    explicit CircuitBreaker(Now now = [] { return std::chrono::steady_clock::now(); }) : now_(std::move(now)) {}

    /// Errors (`unavailable`): AF-LLM-108, with the server's last failure.
    [[nodiscard]] Result<void> admit();
    void succeeded();
    void undecided();  ///< The call ended for its own reason: cancelled or out of time.
    void failed(const Error& error);

    static constexpr unsigned failures_in_a_row = 5;
    static constexpr std::chrono::seconds rest{30};

private:
    Now now_;
    std::mutex mutex_;
    unsigned failures_ = 0;
    std::string last_;
    std::chrono::steady_clock::time_point open_until_{};
    bool trying_ = false;  ///< One call was let through and has not returned.
};

/// Failed attempts in the journal. None is lost when the process dies.
struct SpentAttempts {
    unsigned here = 0;     ///< Attempts at this request.
    unsigned of_task = 0;  ///< Attempts in the whole task, minus one for every two answers, never below 0.
    std::optional<Error> last;

    static constexpr unsigned most_of_task = 12;  ///< Beyond this, no failed attempt is repeated.
};

/// Optional interface of a call's context: counts the call's attempts and receives the answer as it arrives. With another
/// context, earlier attempts are unknown and none are recorded.
class ModelCall {
public:
    [[nodiscard]] virtual SpentAttempts spent() = 0;
    /// Records another failed attempt before waiting for the next one. An error ends the call.
    [[nodiscard]] virtual Result<void> attempt_failed(unsigned attempt, const Error& error) = 0;
    /// Receives a part of the answer's text or of a call's arguments.
    virtual void answering(std::string_view part) = 0;

protected:
    ~ModelCall() = default;
};

class ModelCallContext : public CallContext, public ModelCall {
protected:
    ~ModelCallContext() = default;
};

/// Returns the context as a ModelCall, or null if it does not record attempts.
[[nodiscard]] inline ModelCall* model_call(CallContext& context) { return dynamic_cast<ModelCall*>(&context); }

/// Forwards everything to the context of a call. A wrapper of a client overrides what it wants to observe. `inner` must outlive
/// it.
class ForwardingCallContext : public ModelCallContext {
public:
    explicit ForwardingCallContext(CallContext& inner) : inner_(inner), model_(model_call(inner)) {}
    [[nodiscard]] bool cancelled() const noexcept override { return inner_.cancelled(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        return inner_.deadline();
    }
    void log(LogLevel level, std::string_view message, const json::object& fields) override {
        inner_.log(level, message, fields);
    }
    void progress(std::string_view text) override { inner_.progress(text); }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return inner_.now(); }
    [[nodiscard]] SpentAttempts spent() override { return model_ != nullptr ? model_->spent() : SpentAttempts(); }
    [[nodiscard]] Result<void> attempt_failed(unsigned attempt, const Error& error) override {
        return model_ != nullptr ? model_->attempt_failed(attempt, error) : Result<void>();
    }
    void answering(std::string_view part) override {
        if (model_ != nullptr) { model_->answering(part); }
    }

protected:
    ~ForwardingCallContext() = default;

private:
    CallContext& inner_;
    ModelCall* model_;
};

/// The kernel's own AgenticContext, which can also report what a call did, for recording.
class ObservedAgenticContext : public AgenticContext {
public:
    /// Returns `changes` and `artifact` in the form of a transcript entry's `workspace` (docs/agents.md). Nothing if no command
    /// was run. Called before its changes are judged. Errors: AF-LLM-314 too large to record, AF-GIT-….
    [[nodiscard]] virtual Result<std::optional<json::object>> work() = 0;
    /// Returns the failed attempts that were repeated, in order.
    [[nodiscard]] virtual const std::vector<Error>& failed_attempts() const noexcept = 0;

protected:
    ~ObservedAgenticContext() = default;
};

/// Returns the context for a wrapped client: `wrapping`, unless the context is an AgenticContext, which the backend must
/// recognise.
[[nodiscard]] inline CallContext& unless_agentic(CallContext& context, CallContext& wrapping) {
    return agentic_context(context) != nullptr ? context : wrapping;
}

class Redactor;

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

/// Wraps a client so that no secret goes to the model, and none in its answer or error comes back. Put one inside a recorder, so
/// that the recording has no secrets, and one outside, so that its hashes are those of what is sent. `redactor` must outlive it.
[[nodiscard]] std::unique_ptr<ModelClient> make_redacting_client(std::unique_ptr<ModelClient> inner, const Redactor& redactor);

/// Hash of what does not depend on earlier answers: stage, role, system prompt, offered tools.
[[nodiscard]] std::string frame_hash(const CompletionRequest& request);
/// Hash of `user` with task ids, times, durations and absolute paths replaced by placeholders.
[[nodiscard]] std::string context_hash(const CompletionRequest& request);

}  // namespace agentforge::kernel
