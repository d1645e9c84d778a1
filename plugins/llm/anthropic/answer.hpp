// SPDX-License-Identifier: Apache-2.0
// An answer of the Messages API, streamed (message_start … message_stop) or whole.
//
// Text blocks become text, and tool_use blocks become calls. Skips thinking, and events and blocks of unknown types, which the
// API may add. Usage is cumulative: the last figures count. Input includes tokens read from and written to the cache.
#pragma once

#include <map>

#include <agentforge_http/backend.hpp>
#include <agentforge_http/tool_call.hpp>

namespace agentforge::anthropic {

class Answer final : public http::AnswerReader {
public:
    explicit Answer(http::Address server) : server_(std::move(server)) {}

    [[nodiscard]] Result<bool> event(const http::Event& event, StreamSink* sink) override;
    [[nodiscard]] Result<void> whole(const json::object& answer) override;
    [[nodiscard]] bool may_end() const override { return false; }
    [[nodiscard]] Result<Completion> finish() override;

private:
    struct Block {
        bool call = false;
        http::CallPieces pieces;
        json::object input;  ///< Input at the start of the block. Most servers leave it empty and send pieces.
        std::string text;
    };

    void begin(const json::object& message);
    void open(std::int64_t index, const json::object& block);
    void count(const json::object& usage);
    void stop(const std::string& reason);

    http::Address server_;
    Completion completion_;
    std::map<std::int64_t, Block> blocks_;
    std::uint64_t uncached_ = 0;
    std::uint64_t written_ = 0;
    std::uint64_t read_ = 0;
    bool stopped_ = false;
};

}  // namespace agentforge::anthropic
