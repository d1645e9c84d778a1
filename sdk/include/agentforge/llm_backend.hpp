// SPDX-License-Identifier: Apache-2.0
// A model backend: turns one request into one answer. Backends are stateless: every request stands alone.
//
// A backend makes one attempt. The host handles retries, budgets, recording and redaction.
//
// Threads: `complete` may run concurrently on one instance.
#pragma once

#include <agentforge/host.hpp>

namespace agentforge {

struct ToolDescription {
    std::string name;
    std::string description;
    json::object parameters;  ///< JSON Schema.
};

/// The place of a request in a task. `replay` matches requests by it.
struct RequestPlace {
    std::string task_id;
    std::string stage;
    std::string role;
    unsigned visit = 1;  ///< Counts how often the stage was entered: retries, iterations, cycles.
    unsigned run = 1;    ///< Counts the agent runs of the visit, from 1.
    unsigned step = 1;   ///< Counts the steps of that run, from 1.
};

struct CompletionRequest {
    std::string system;                  ///< The system prompt.
    std::string user;                    ///< The context. A request has exactly one user message.
    std::vector<ToolDescription> tools;  ///< Offered as native tool calls if the backend supports them.
    std::string model;                   ///< Empty: the backend's default model.
    std::uint64_t max_output_tokens = 4096;
    std::optional<int> temperature_permille;  ///< 700 means 0.7.
    RequestPlace place;
    std::string frame_hash;    ///< Hash of the parts that do not depend on earlier answers: system prompt, tools, request.
    std::string context_hash;  ///< Hash of `user` without its volatile parts (ids, times).
};

struct ToolCall {
    std::string name;
    json::object arguments;
};

struct Usage {
    std::uint64_t input_tokens = 0;
    std::uint64_t output_tokens = 0;
    std::uint64_t cached_input_tokens = 0;
    std::optional<std::uint64_t> cost_microusd;  ///< Empty if unknown, never 0.
    bool estimated = false;                      ///< True if the tokens were estimated, not reported by the model's server.
};

enum class StopReason : unsigned char { finished = 1, tool_call, length, refused, other };

struct Completion {
    std::string text;
    std::vector<ToolCall> tool_calls;
    StopReason stop_reason = StopReason::finished;
    Usage usage;
    std::string model;
    std::string session_id;
    json::object diagnostics;  ///< Recorded: standard error of a CLI, a replay mismatch, a request id.
};

/// Receives parts of the answer as they arrive. Call it only from the thread of `complete`.
class StreamSink {
public:
    virtual void text(std::string_view part) = 0;

protected:
    ~StreamSink() = default;
};

struct BackendInfo {
    std::string name;
    std::string version = "1.0";
    std::string description;
    bool native_tool_calls = false;  ///< If false, the host puts the text protocol into the prompt.
    bool offline = false;            ///< True if it needs no model.
    json::object config_schema;      ///< JSON Schema of the backend's settings.
};

class LLMBackend {
public:
    virtual ~LLMBackend() = default;
    LLMBackend() = default;
    LLMBackend(const LLMBackend&) = delete;
    LLMBackend& operator=(const LLMBackend&) = delete;

    [[nodiscard]] virtual BackendInfo info() const = 0;
    /// Errors: `transient` may be retried; `timeout`, `unavailable`, `invalid` and `denied` may not.
    [[nodiscard]] virtual Result<Completion> complete(const CompletionRequest& request, StreamSink* sink,
                                                      CallContext& context) = 0;
    /// Reports whether the backend could answer now (the binary exists, a key is set), for `agentforge doctor`.
    [[nodiscard]] virtual Result<std::string> check(CallContext& context);
};

/// The parts of a request that the next one probably repeats, for a provider that must be told what to cache. System prompt and
/// tools stay the same during an agent run and are not listed here.
struct CacheMarks {
    std::vector<std::size_t> user_ends;  ///< Offsets in `user`, in bytes, ascending. The part before the first stays the same for
                                         ///< the whole run; the parts before the others stay the same until a file changes.
};

/// Version 2 of the backend interface: also receives cache marks. It offers one call in place of `complete`.
class LLMBackendV2 : public LLMBackend {
public:
    /// Does what `LLMBackend::complete` does, which equals this without marks. A backend that cannot use the marks ignores them.
    [[nodiscard]] virtual Result<Completion> complete_marked(const CompletionRequest& request, const CacheMarks& marks,
                                                             StreamSink* sink, CallContext& context) = 0;
    [[nodiscard]] Result<Completion> complete(const CompletionRequest& request, StreamSink* sink, CallContext& context) override {
        return complete_marked(request, {}, sink, context);
    }
};

}  // namespace agentforge
