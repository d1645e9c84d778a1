// SPDX-License-Identifier: Apache-2.0
// An answer of the chat completions API, streamed (chunks, then `[DONE]`) or whole. Only its first choice counts.
//
// Servers differ. Arguments may come as text in pieces or as an object. A piece belongs to the call with its index, unless it has
// a new id (some servers give every call index 0). A piece without index belongs to the last call. A stream may end without
// `[DONE]` once a finish reason has arrived. Skips reasoning and every unknown field.
#pragma once

#include <agentforge_http/backend.hpp>
#include <agentforge_http/tool_call.hpp>

namespace agentforge::openai {

class Answer final : public http::AnswerReader {
public:
    explicit Answer(http::Address server) : server_(std::move(server)) {}

    [[nodiscard]] Result<bool> event(const http::Event& event, StreamSink* sink) override;
    [[nodiscard]] Result<void> whole(const json::object& answer) override;
    [[nodiscard]] bool may_end() const override { return stopped_; }
    [[nodiscard]] Result<Completion> finish() override;

private:
    struct Call {
        std::uint64_t index = 0;
        http::CallPieces pieces;
    };

    [[nodiscard]] Result<void> chunk(const json::object& data, std::string_view message_key, StreamSink* sink);
    void message(const json::object& part, StreamSink* sink);
    void call(const json::object& piece, StreamSink* sink);
    void stop(const std::string& reason);

    http::Address server_;
    Completion completion_;
    std::vector<Call> calls_;
    std::string refusal_;
    bool stopped_ = false;
};

}  // namespace agentforge::openai
