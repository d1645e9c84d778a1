// SPDX-License-Identifier: Apache-2.0
#include "backends/model_client.hpp"

#include <algorithm>
#include <exception>
#include <thread>

#include "backends/tokens.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t max_answer_bytes = 1UL << 20U;

/// Returns the same value in default storage with every string valid UTF-8. A plugin's value may have neither.
json::value clean(const json::value& value) {
    if (value.is_string()) {
        const auto& text = value.get_string();
        return json::value(sanitize_utf8({text.data(), text.size()}));
    }
    if (value.is_array()) {
        json::array result;
        result.reserve(value.get_array().size());
        for (const json::value& item : value.get_array()) { result.push_back(clean(item)); }
        return result;
    }
    if (value.is_object()) {
        json::object result;
        for (const auto& [key, item] : value.get_object()) { result[sanitize_utf8({key.data(), key.size()})] = clean(item); }
        return result;
    }
    return json::value(value, json::storage_ptr());
}

std::size_t answer_bytes(const Completion& answer) {
    std::size_t bytes = answer.text.size();
    for (const ToolCall& call : answer.tool_calls) { bytes += call.name.size() + json::serialize(call.arguments).size(); }
    return bytes;
}

/// Returns the end of the message about an empty answer.
const char* why_empty(StopReason reason) {
    if (reason == StopReason::length) { return ": the limit of output tokens was reached before any text"; }
    return reason == StopReason::refused ? ": the model refused" : "";
}

/// Forwards the parts of an answer to the call's observer.
class Listener final : public StreamSink {
public:
    explicit Listener(ModelCall* context) : context_(context) {}
    void text(std::string_view part) override {
        if (context_ != nullptr) { context_->answering(part); }
    }

private:
    ModelCall* context_;
};

class Client final : public ModelClient {
public:
    Client(std::shared_ptr<LLMBackendV2> backend, RetryPolicy retries, std::function<void(std::chrono::milliseconds)> sleep,
           std::shared_ptr<CircuitBreaker> breaker)
        : backend_(std::move(backend)),
          retries_(std::move(retries)),
          sleep_(std::move(sleep)),
          breaker_(std::move(breaker)),
          info_(backend_->info()) {}

    const BackendInfo& info() const noexcept override { return info_; }

    Result<Completion> complete(ModelRequest request, CallContext& context) override {
        if (request.frame_hash.empty()) { request.frame_hash = frame_hash(request); }
        if (request.context_hash.empty()) { request.context_hash = context_hash(request); }
        ModelCall* const kept = model_call(context);
        SpentAttempts spent = kept != nullptr ? kept->spent() : SpentAttempts();
        const unsigned attempts = std::max(1U, retries_.attempts);
        std::chrono::milliseconds delay = retries_.first_delay;
        for (unsigned before = 0; before < spent.here; ++before) { delay = std::min(delay * 2, retries_.max_delay); }
        if (spent.here >= attempts && spent.last) { return given_up(*std::move(spent.last), spent.here); }
        for (unsigned attempt = spent.here + 1;; ++attempt) {
            AF_CHECK(still_wanted(context));
            if (breaker_) { AF_CHECK(breaker_->admit()); }
            Result<Completion> answer = one_attempt(request, kept, context);
            if (answer.ok() || answer.error().kind != ErrorKind::transient) {
                const bool own =
                    !answer.ok() && (answer.error().kind == ErrorKind::cancelled || answer.error().kind == ErrorKind::timeout);
                if (breaker_ && own) { breaker_->undecided(); }
                if (breaker_ && !own) { breaker_->succeeded(); }  // It answered, if only with a refusal.
                if (answer.ok()) { AF_CHECK(accept(request, answer.value())); }
                return answer;
            }
            Error error = std::move(answer).error();
            if (breaker_) { breaker_->failed(error); }
            AF_CHECK(still_wanted(context));
            if (kept != nullptr) { AF_CHECK(kept->attempt_failed(attempt, error)); }
            if (attempt >= attempts) { return given_up(std::move(error), attempt); }
            if (++spent.of_task > SpentAttempts::most_of_task) {
                return Error{"AF-LLM-109",
                             "'" + info_.name + "' fails too often: " + std::to_string(spent.of_task) +
                                 " attempts of this task failed, too many for the number of answers; the last error: " +
                                 error.code + ": " + error.message,
                             error.where, "Resume when the server recovers, or choose another model.", ErrorKind::unavailable};
            }
            delay = std::min(delay, retries_.max_delay);
            const std::chrono::milliseconds wait = shortened(delay);
            if (const auto deadline = context.deadline(); deadline && std::chrono::steady_clock::now() + wait >= *deadline) {
                return Error{"AF-LLM-103",
                             "the next attempt at '" + info_.name + "' would start after the deadline; the last failed with " +
                                 error.code + ": " + error.message,
                             error.where, "Raise the stage's timeout, or retry when the model answers faster.",
                             ErrorKind::timeout};
            }
            context.log(LogLevel::warning, "the model failed; retrying: " + error.message,
                        {{"backend", info_.name},
                         {"attempt", attempt},
                         {"delay_ms", wait.count()},
                         {"error", error.code + ": " + error.message}});
            if (!info_.offline) { sleep_(wait); }  // A recorded backend needs no pause.
            delay *= 2;
        }
    }

private:
    Result<void> still_wanted(CallContext& context) const {
        if (context.cancelled()) {
            return Error{"AF-LLM-104", "the call to '" + info_.name + "' was cancelled", "", "Resume the task to continue.",
                         ErrorKind::cancelled};
        }
        if (const auto deadline = context.deadline(); deadline && std::chrono::steady_clock::now() >= *deadline) {
            return Error{"AF-LLM-103", "the deadline passed before '" + info_.name + "' answered", "",
                         "Raise the stage's timeout, or use a faster model.", ErrorKind::timeout};
        }
        return {};
    }

    static Error given_up(Error error, unsigned attempts) {
        error.message += "; tried " + std::to_string(attempts) + (attempts == 1 ? " time" : " times");
        return error;
    }

    std::chrono::milliseconds shortened(std::chrono::milliseconds delay) const {
        if (!retries_.random) { return delay; }
        return std::chrono::milliseconds(
            static_cast<std::chrono::milliseconds::rep>(static_cast<double>(delay.count()) * (1 - retries_.random() / 4)));
    }

    Result<Completion> one_attempt(const ModelRequest& request, ModelCall* kept, CallContext& context) {
        Listener listener(kept);
        try {
            return backend_->complete_marked(request, request.marks, &listener, context);
        } catch (const std::exception& failure) {
            return Error{"AF-LLM-106", "the backend '" + info_.name + "' threw an exception: " + sanitize_utf8(failure.what()),
                         "", "Report it to the plugin's author; choose another backend meanwhile.", ErrorKind::internal};
        } catch (...) {
            return Error{"AF-LLM-106", "the backend '" + info_.name + "' threw a value that is not an exception", "",
                         "Report it to the plugin's author; choose another backend meanwhile.", ErrorKind::internal};
        }
    }

    Result<void> accept(const CompletionRequest& request, Completion& answer) const {
        if (const std::size_t bytes = answer_bytes(answer); bytes > max_answer_bytes) {
            return Error{"AF-LLM-101",
                         "'" + info_.name + "' answered with " + std::to_string(bytes) + " bytes; the limit is " +
                             std::to_string(max_answer_bytes),
                         "", "Lower max_output_tokens, or use a model that stops.", ErrorKind::invalid};
        }
        answer.text = sanitize_utf8(answer.text);
        for (ToolCall& call : answer.tool_calls) {
            call.name = sanitize_utf8(call.name);
            call.arguments = clean(json::value(call.arguments)).get_object();
        }
        answer.diagnostics = clean(json::value(answer.diagnostics)).get_object();
        const bool blank = answer.text.find_first_not_of(" \t\r\n") == std::string::npos;
        if (blank && answer.tool_calls.empty()) {
            return Error{"AF-LLM-102", std::string("the answer was empty") + why_empty(answer.stop_reason), "",
                         "Answer with exactly one action.", ErrorKind::invalid};
        }
        if (answer.usage.input_tokens == 0 && answer.usage.output_tokens == 0) {
            std::size_t input = estimate_tokens(request.system) + estimate_tokens(request.user);
            for (const ToolDescription& tool : request.tools) { input += estimate_tokens(tool); }
            std::size_t output = estimate_tokens(answer.text);
            for (const ToolCall& call : answer.tool_calls) {
                output += estimate_tokens(call.name) + estimate_tokens(json::serialize(call.arguments));
            }
            answer.usage.input_tokens = input;
            answer.usage.output_tokens = output;
            answer.usage.estimated = true;
        }
        return {};
    }

    std::shared_ptr<LLMBackendV2> backend_;
    RetryPolicy retries_;
    std::function<void(std::chrono::milliseconds)> sleep_;
    std::shared_ptr<CircuitBreaker> breaker_;
    BackendInfo info_;
};

}  // namespace

bool is_shown_to_model(const Error& error) noexcept {
    return error.code == "AF-LLM-101" || error.code == "AF-LLM-102" || error.code == "AF-LLM-105";
}

std::unique_ptr<ModelClient> make_model_client(std::shared_ptr<LLMBackendV2> backend, RetryPolicy retries,
                                               std::function<void(std::chrono::milliseconds)> sleep,
                                               std::shared_ptr<CircuitBreaker> breaker) {
    return std::make_unique<Client>(std::move(backend), std::move(retries), std::move(sleep), std::move(breaker));
}

}  // namespace agentforge::kernel
