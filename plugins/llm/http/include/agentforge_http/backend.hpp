// SPDX-License-Identifier: Apache-2.0
// A model behind an HTTP API: the common part of Anthropic's and OpenAI's. One call is one exchange and one attempt.
//
// The next call honours a server's request to wait (retry-after, up to 60 s) before it sends anything; the wait counts as the
// call's own time. So the wait overlaps with the host's delay between attempts, and costs nothing if no call follows.
//
// Errors: AF-LLM-105 the arguments of a tool call are not a JSON object, AF-LLM-401 the key is missing or refused, AF-LLM-402 no
// connection, AF-LLM-403 TLS, AF-LLM-404 unknown model or address, AF-LLM-405 the request is refused, AF-LLM-406 a limit that
// needs the user, AF-LLM-407 overloaded or broken server, AF-LLM-408 the answer is not the API's, AF-LLM-409 the answer was cut
// off, AF-LLM-410 timeout, AF-LLM-411 cancelled, AF-LLM-412 answer too long, AF-LLM-413 settings or proxy. No error and no
// diagnostic contains the key or the value of a configured header.
//
// Threads: `complete` may run concurrently on one instance.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include <agentforge/llm_backend.hpp>

#include <agentforge_http/settings.hpp>
#include <agentforge_http/sse.hpp>

namespace agentforge::http {

/// Reads one answer, streamed or whole. An error inside the answer goes through `refusal`.
class AnswerReader {
public:
    virtual ~AnswerReader() = default;
    AnswerReader() = default;
    AnswerReader(const AnswerReader&) = delete;
    AnswerReader& operator=(const AnswerReader&) = delete;

    /// Takes an event of the stream. Returns false after the last one.
    [[nodiscard]] virtual Result<bool> event(const Event& event, StreamSink* sink) = 0;
    /// Takes the whole answer, if it was not streamed.
    [[nodiscard]] virtual Result<void> whole(const json::object& answer) = 0;
    /// For a stream that ended without a final event, but in a complete frame: true if it is an answer.
    [[nodiscard]] virtual bool may_end() const = 0;
    [[nodiscard]] virtual Result<Completion> finish() = 0;
};

class HttpBackend : public LLMBackendV2 {
public:
    [[nodiscard]] Result<Completion> complete_marked(const CompletionRequest& request, const CacheMarks& marks, StreamSink* sink,
                                                     CallContext& context) final;
    /// Asks the server for its models. Returns the address, the number of models, and whether the chosen one is among them.
    [[nodiscard]] Result<std::string> check(CallContext& context) final;

protected:
    HttpBackend(const json::object& settings, const Service& service, const std::vector<std::string_view>& known);

    /// Paths below that of base_url.
    [[nodiscard]] virtual std::string answer_path() const = 0;
    [[nodiscard]] virtual std::string models_path() const = 0;
    /// Returns the service's own headers, including the key's.
    [[nodiscard]] virtual Headers headers() const = 0;
    /// `marks` are offsets in `request.user`: ascending, none at its beginning, none past its end.
    [[nodiscard]] virtual json::object body(const CompletionRequest& request, const CacheMarks& marks,
                                            const std::string& model) const = 0;
    [[nodiscard]] virtual std::unique_ptr<AnswerReader> reader() const = 0;

    [[nodiscard]] const Settings& settings() const { return settings_; }
    [[nodiscard]] std::uint64_t max_tokens(const CompletionRequest& request) const {
        return settings_.max_tokens != 0 ? settings_.max_tokens : request.max_output_tokens;
    }

private:
    [[nodiscard]] Result<Completion> attempt(const CompletionRequest& request, const CacheMarks& marks, StreamSink* sink,
                                             CallContext& context, std::chrono::steady_clock::time_point latest, Head& head);
    [[nodiscard]] Result<Call> prepare(std::chrono::steady_clock::time_point latest, CallContext& context) const;
    [[nodiscard]] Result<void> wait_as_asked(std::chrono::steady_clock::time_point latest, CallContext& context);
    /// Also false for a server that does not stream although asked to.
    [[nodiscard]] bool streams(const Head& head) const;
    /// Returns nothing if the server lists no models.
    [[nodiscard]] Result<std::optional<json::array>> listed_models(CallContext& context) const;
    [[nodiscard]] std::string describe_models(const json::array& models) const;
    [[nodiscard]] Error not_json(std::string_view body, const std::string& path, std::string remedy) const;
    [[nodiscard]] Error without_secrets(Error error) const;

    Settings settings_;
    std::shared_ptr<Connections> connections_;  ///< Kept open between calls.
    std::mutex mutex_;
    std::chrono::steady_clock::time_point not_before_;  ///< The server wants no call before this time.
};

}  // namespace agentforge::http
