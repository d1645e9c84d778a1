// SPDX-License-Identifier: Apache-2.0
// A call context and a scripted backend for tests around models.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <agentforge/llm_backend.hpp>

namespace agentforge::kernel::testing {

class FakeContext final : public CallContext {
public:
    [[nodiscard]] bool cancelled() const noexcept override { return cancel; }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return until; }
    void log(LogLevel, std::string_view message, const json::object&) override { logged.emplace_back(message); }
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return {}; }

    bool cancel = false;
    std::optional<std::chrono::steady_clock::time_point> until;
    std::vector<std::string> logged;
};

/// Answers from a function, and keeps its requests.
class FakeBackend final : public LLMBackendV2 {
public:
    using Answer = std::function<Result<Completion>(const CompletionRequest&)>;
    explicit FakeBackend(Answer answer, bool native = true, bool offline = false) : answer_(std::move(answer)) {
        info_.name = "fake";
        info_.native_tool_calls = native;
        info_.offline = offline;
    }
    [[nodiscard]] BackendInfo info() const override { return info_; }
    [[nodiscard]] Result<Completion> complete_marked(const CompletionRequest& request, const CacheMarks& what_stays,
                                                     StreamSink* sink, CallContext&) override {
        requests.push_back(request);
        marks.push_back(what_stays.user_ends);
        for (const std::string& part : parts) { sink->text(part); }
        return answer_(request);
    }
    [[nodiscard]] Result<std::string> check(CallContext&) override { return std::string("fake"); }

    std::vector<CompletionRequest> requests;
    std::vector<std::vector<std::size_t>> marks;  ///< The marks of each request.
    std::vector<std::string> parts;               ///< The parts of every answer, in order.

private:
    Answer answer_;
    BackendInfo info_;
};

inline Completion text_answer(std::string text) {
    Completion completion;
    completion.text = std::move(text);
    completion.usage.input_tokens = 100;
    completion.usage.output_tokens = 10;
    return completion;
}

inline Completion tool_answer(std::string name, json::object arguments) {
    Completion completion;
    completion.tool_calls.push_back({std::move(name), std::move(arguments)});
    completion.stop_reason = StopReason::tool_call;
    completion.usage.input_tokens = 100;
    completion.usage.output_tokens = 10;
    return completion;
}

}  // namespace agentforge::kernel::testing
