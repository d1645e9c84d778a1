// SPDX-License-Identifier: Apache-2.0
// Calling a model plugin: one place for retries, limits, hashes and recording.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <agentforge/agentic.hpp>
#include <agentforge/llm_backend.hpp>

#include "base/cancel.hpp"
#include "base/clock.hpp"

namespace agentforge::kernel {

/// What is `transient` is tried again after min(first_delay·2ⁿ, max_delay). Source: shared research, LLM transport.
struct RetryPolicy {
    unsigned attempts = 4;
    std::chrono::milliseconds first_delay{500};
    std::chrono::milliseconds max_delay{8000};
    std::function<double()> random = {};  ///< From 0 to 1, of which a quarter is taken off each delay, so that many clients do
                                          ///< not come back at once; none: nothing is.
};

/// Keeps calls away from a server that failed five times in a row: for 30 s each is refused at once, then one is let through; its
/// success closes the circuit, its failure opens it again. Shared by the clients of one server; any thread.
class CircuitBreaker {
public:
    using Now = std::function<std::chrono::steady_clock::time_point()>;
    explicit CircuitBreaker(Now now = [] { return std::chrono::steady_clock::now(); }) : now_(std::move(now)) {}

    /// Errors (`unavailable`): AF-LLM-108, with the server's last failure.
    [[nodiscard]] Result<void> admit();
    void succeeded();
    void undecided();  ///< The call ended for a reason of its own: cancelled, out of time.
    void failed(const Error& error);

    static constexpr unsigned failures_in_a_row = 5;
    static constexpr std::chrono::seconds rest{30};

private:
    Now now_;
    std::mutex mutex_;
    unsigned failures_ = 0;
    std::string last_;
    std::chrono::steady_clock::time_point open_until_{};
    bool trying_ = false;  ///< One call was let through and has not come back.
};

/// What the journal knows of attempts that failed: none of it is lost when the process dies.
struct SpentAttempts {
    unsigned here = 0;     ///< At this request.
    unsigned of_task = 0;  ///< In the whole task, less one for every two answers, never below 0.
    std::optional<Error> last;

    static constexpr unsigned most_of_task = 12;  ///< With more, no attempt that fails is repeated.
};

/// What a call's context may be besides: it keeps count of the call's attempts and hears the answer come. Where a context is
/// none, attempts before are unknown, and none are kept.
class ModelCall {
public:
    [[nodiscard]] virtual SpentAttempts spent() = 0;
    /// Keeps one more that failed, before the next one is waited for. Errors end the call.
    [[nodiscard]] virtual Result<void> attempt_failed(unsigned attempt, const Error& error) = 0;
    /// A part of the answer's text or of a call's arguments came.
    virtual void answering(std::string_view part) = 0;

protected:
    ~ModelCall() = default;
};

class ModelCallContext : public CallContext, public ModelCall {
protected:
    ~ModelCallContext() = default;
};

/// The same context as what it is where it keeps attempts; null otherwise.
[[nodiscard]] inline ModelCall* model_call(CallContext& context) { return dynamic_cast<ModelCall*>(&context); }

/// Passes everything on to the context of a call; who wraps a client overrides what it wants to see. `inner` outlives it.
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

/// The kernel's own AgenticContext, which can also say what a call did, so that it can be recorded.
class ObservedAgenticContext : public AgenticContext {
public:
    /// `changes` and `artifact`, as an entry of a transcript has them under `workspace` (docs/agents.md); nothing where no
    /// command was run. Before what it did is judged. Errors: AF-LLM-314 it is too large to be recorded, AF-GIT-….
    [[nodiscard]] virtual Result<std::optional<json::object>> work() = 0;
    /// Those that were tried again, in order.
    [[nodiscard]] virtual const std::vector<Error>& failed_attempts() const noexcept = 0;

protected:
    ~ObservedAgenticContext() = default;
};

/// What a wrapped client is given: `wrapping`, but an AgenticContext as it is, for the backend must see that it is one.
[[nodiscard]] inline CallContext& unless_agentic(CallContext& context, CallContext& wrapping) {
    return agentic_context(context) != nullptr ? context : wrapping;
}

class Redactor;

/// A request, with what of it stays.
struct ModelRequest : CompletionRequest {
    ModelRequest() = default;
    ModelRequest(CompletionRequest request, CacheMarks what_stays = {})
        : CompletionRequest(std::move(request)), marks(std::move(what_stays)) {}  // NOLINT: a request without marks is one.
    CacheMarks marks;
};

class ModelClient {
public:
    virtual ~ModelClient() = default;
    /// Fills frame_hash and context_hash of the request where they are empty, calls the backend, retries what is `transient`
    /// within the budget that SpentAttempts says. Errors: AF-LLM-….
    [[nodiscard]] virtual Result<Completion> complete(ModelRequest request, CallContext& context) = 0;
    [[nodiscard]] virtual const BackendInfo& info() const noexcept = 0;
};

/// `sleep` waits (or returns early when cancelled), so that tests need not; nothing is waited for where the backend is offline.
/// Without a breaker no call is refused.
[[nodiscard]] std::unique_ptr<ModelClient> make_model_client(std::shared_ptr<LLMBackendV2> backend, RetryPolicy retries,
                                                             std::function<void(std::chrono::milliseconds)> sleep,
                                                             std::shared_ptr<CircuitBreaker> breaker = nullptr);

/// Whether the model is told of this error and answers again: it answered, but with something that cannot be used (AF-LLM-101,
/// AF-LLM-102, AF-LLM-105).
[[nodiscard]] bool told_to_model(const Error& error) noexcept;

/// A transcript that the `replay` backend reads (YAML, one entry a request), written by any number of clients.
class Recording;
[[nodiscard]] std::shared_ptr<Recording> make_recording(std::string transcript_file);
/// Reads what is in the file from an earlier process, and looks whether it can be written, before anything is asked of a model;
/// nothing is made. Errors: AF-LLM-110 its folder is not there or cannot be written; AF-LLM-111 it is no transcript.
[[nodiscard]] Result<void> open_recording(Recording& recording);

/// Wraps a client and appends every answer to the recording, with all that the journal keeps of it, also one that could not be
/// used
/// (`told_to_model`), and the attempts that failed before it.
[[nodiscard]] std::unique_ptr<ModelClient> make_recorder(std::unique_ptr<ModelClient> inner,
                                                         std::shared_ptr<Recording> recording);

/// Wraps a client so that no secret goes to the model, and none that it answers with, or that its error holds, comes back.
/// Stands inside a recorder, so that what is recorded holds none either, and outside of it, so that its hashes are those of what
/// is sent. `redactor` outlives it.
[[nodiscard]] std::unique_ptr<ModelClient> make_redacting_client(std::unique_ptr<ModelClient> inner, const Redactor& redactor);

/// Hash of what does not depend on earlier answers: stage, role, system prompt, offered tools.
[[nodiscard]] std::string frame_hash(const CompletionRequest& request);
/// Hash of `user` with task ids, times, durations and absolute paths replaced by place holders.
[[nodiscard]] std::string context_hash(const CompletionRequest& request);

}  // namespace agentforge::kernel
