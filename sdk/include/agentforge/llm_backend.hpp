// SPDX-License-Identifier: Apache-2.0
// A model backend: turns one request into one answer. Stateless: every request stands alone.
//
// Retries, budgets, recording and redaction are the host's; a backend makes one attempt.
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

/// Where in a task a request belongs; `replay` matches by it.
struct RequestPlace {
    std::string task_id;
    std::string stage;
    std::string role;
    unsigned visit = 1;  ///< How often the stage has been entered: retries, iterations, cycles.
    unsigned run = 1;    ///< Which agent run of the visit, from 1.
    unsigned step = 1;   ///< Step of that run, from 1.
};

struct CompletionRequest {
    std::string system;                  ///< The system prompt.
    std::string user;                    ///< The context; exactly one message.
    std::vector<ToolDescription> tools;  ///< Offered as native tool calls where the backend has them.
    std::string model;                   ///< Empty: the backend's default.
    std::uint64_t max_output_tokens = 4096;
    std::optional<int> temperature_permille;  ///< 700 means 0.7.
    RequestPlace place;
    std::string frame_hash;    ///< Of what does not depend on earlier answers: system prompt, tools, request.
    std::string context_hash;  ///< Of `user` without volatile parts (ids, times).
};

struct ToolCall {
    std::string name;
    json::object arguments;
};

struct Usage {
    std::uint64_t input_tokens = 0;
    std::uint64_t output_tokens = 0;
    std::uint64_t cached_input_tokens = 0;
    std::optional<std::uint64_t> cost_microusd;  ///< Unknown is unknown, never 0.
    bool estimated = false;                      ///< Counted by us, not by the model's server.
};

enum class StopReason : unsigned char { finished = 1, tool_call, length, refused, other };

struct Completion {
    std::string text;
    std::vector<ToolCall> tool_calls;
    StopReason stop_reason = StopReason::finished;
    Usage usage;
    std::string model;
    std::string session_id;
    json::object diagnostics;  ///< Recorded: stderr of a CLI, a replay mismatch, a request id.
};

/// Receives parts of the answer while it comes. May be called from the thread of `complete` only.
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
    bool native_tool_calls = false;  ///< false: the host puts the text protocol into the prompt.
    bool offline = false;            ///< Needs no model.
    json::object config_schema;      ///< JSON Schema of its settings.
};

class LLMBackend {
public:
    virtual ~LLMBackend() = default;
    LLMBackend() = default;
    LLMBackend(const LLMBackend&) = delete;
    LLMBackend& operator=(const LLMBackend&) = delete;

    [[nodiscard]] virtual BackendInfo info() const = 0;
    /// Errors: `transient` may be retried; `timeout`, `unavailable`, `invalid`, `denied` may not.
    [[nodiscard]] virtual Result<Completion> complete(const CompletionRequest& request, StreamSink* sink,
                                                      CallContext& context) = 0;
    /// Whether it could answer now (a binary is there, a key is set); for `agentforge doctor`.
    [[nodiscard]] virtual Result<std::string> check(CallContext& context);
};

/// Where a request's text is likely to come again in the next one, for a provider that is told what to keep in its cache.
/// System prompt and tools stay the same over an agent's run, and are not named here.
struct CacheMarks {
    std::vector<std::size_t> user_ends;  ///< Bytes of `user`, ascending: up to the first it stays the same over the run, up to
                                         ///< the others until a file changes.
};

/// Version 2: is told what stays. It offers one call in place of `complete`.
class LLMBackendV2 : public LLMBackend {
public:
    /// As `LLMBackend::complete`, which is this without marks. A backend that cannot use them leaves them aside.
    [[nodiscard]] virtual Result<Completion> complete_marked(const CompletionRequest& request, const CacheMarks& marks,
                                                             StreamSink* sink, CallContext& context) = 0;
    [[nodiscard]] Result<Completion> complete(const CompletionRequest& request, StreamSink* sink, CallContext& context) override {
        return complete_marked(request, {}, sink, context);
    }
};

}  // namespace agentforge
