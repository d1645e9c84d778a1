// SPDX-License-Identifier: Apache-2.0
// The context of a model call: counts its attempts, and receives the answer as it arrives.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include <agentforge/agentic.hpp>
#include <agentforge/host.hpp>

namespace agentforge::kernel {

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

}  // namespace agentforge::kernel
