// SPDX-License-Identifier: Apache-2.0
#include "answer.hpp"

#include <agentforge_http/refusal.hpp>

namespace agentforge::anthropic {

using http::object_of;

namespace {

std::int64_t index_of(const json::object& event) { return static_cast<std::int64_t>(http::count_of(event, "index")); }

}  // namespace

void Answer::begin(const json::object& message) {
    completion_.model = text_of(message, "model");
    if (const std::string id = text_of(message, "id"); !id.empty()) {
        completion_.diagnostics["message_id"] = http::excerpt(id, 100);
    }
    if (const json::object* const usage = object_of(message, "usage")) { count(*usage); }
}

void Answer::open(std::int64_t index, const json::object& content) {
    Block& block = blocks_[index];
    const std::string type = text_of(content, "type");
    if (type == "text") {
        block.text = text_of(content, "text");
    } else if (type == "tool_use") {
        block.call = true;
        block.pieces.id = text_of(content, "id");
        block.pieces.name = text_of(content, "name");
        if (const json::object* const input = object_of(content, "input")) { block.input = *input; }
    }
}

void Answer::count(const json::object& usage) {
    const auto take = [&usage](std::string_view key, std::uint64_t& figure) {
        if (const json::value* const value = usage.if_contains(key); value != nullptr && value->is_number()) {
            figure = http::count_of(usage, key);
        }
    };
    take("input_tokens", uncached_);
    take("cache_creation_input_tokens", written_);
    take("cache_read_input_tokens", read_);
    take("output_tokens", completion_.usage.output_tokens);
    completion_.usage.input_tokens = uncached_ + written_ + read_;
    completion_.usage.cached_input_tokens = read_;
    if (written_ > 0) { completion_.diagnostics["cache_write_input_tokens"] = written_; }  // More expensive than other input.
}

void Answer::stop(const std::string& reason) {
    if (reason.empty()) { return; }
    stopped_ = true;
    if (reason == "end_turn" || reason == "stop_sequence") {
        completion_.stop_reason = StopReason::finished;
    } else if (reason == "tool_use") {
        completion_.stop_reason = StopReason::tool_call;
    } else if (reason == "max_tokens" || reason == "model_context_window_exceeded") {
        completion_.stop_reason = StopReason::length;
    } else if (reason == "refusal") {
        completion_.stop_reason = StopReason::refused;
    } else {
        completion_.stop_reason = StopReason::other;
    }
    completion_.diagnostics["stop_reason"] = http::excerpt(reason, 60);
}

Result<bool> Answer::event(const http::Event& event, StreamSink* sink) {
    AF_TRY(const json::object data, http::read_object(event.data, "an event of " + server_.host));
    const std::string type = text_of(data, "type");
    if (type == "error" || event.type == "error") {
        const json::value* const error = data.if_contains("error");
        return http::refusal(server_, http::read_complaint(error != nullptr ? *error : json::value(data)), {});
    }
    if (type == "message_start") {
        if (const json::object* const message = object_of(data, "message")) { begin(*message); }
    } else if (type == "content_block_start") {
        if (const json::object* const block = object_of(data, "content_block")) { open(index_of(data), *block); }
    } else if (type == "content_block_delta") {
        const json::object* const delta = object_of(data, "delta");
        const std::string kind = delta == nullptr ? std::string() : text_of(*delta, "type");
        if (kind == "text_delta") {
            const std::string text = text_of(*delta, "text");
            blocks_[index_of(data)].text += text;
            if (sink != nullptr) { sink->text(text); }
        } else if (kind == "input_json_delta") {
            const std::string part = text_of(*delta, "partial_json");
            blocks_[index_of(data)].pieces.arguments += part;
            if (sink != nullptr && !part.empty()) { sink->text(part); }
        }
    } else if (type == "message_delta") {
        if (const json::object* const delta = object_of(data, "delta")) { stop(text_of(*delta, "stop_reason")); }
        if (const json::object* const usage = object_of(data, "usage")) { count(*usage); }
    } else if (type == "message_stop") {
        return false;
    }
    return true;
}

Result<void> Answer::whole(const json::object& answer) {
    if (const json::value* const error = answer.if_contains("error"); error != nullptr && !error->is_null()) {
        return http::refusal(server_, http::read_complaint(*error), {});
    }
    const json::value* const content = answer.if_contains("content");
    if (content == nullptr || !content->is_array()) {
        return http::other_answer(server_, "no message: it has no list 'content'", "the Messages API");
    }
    begin(answer);
    stop(text_of(answer, "stop_reason"));
    std::int64_t index = 0;
    for (const json::value& block : content->get_array()) {
        if (block.is_object()) { open(index, block.get_object()); }
        ++index;
    }
    return {};
}

Result<Completion> Answer::finish() {
    std::vector<http::CallPieces> calls;
    for (auto& [index, block] : blocks_) {
        if (block.call) {
            if (block.pieces.arguments.empty() && !block.input.empty()) { block.pieces.arguments = json::serialize(block.input); }
            calls.push_back(std::move(block.pieces));
        } else {
            completion_.text += block.text;
        }
    }
    if (!stopped_) { completion_.stop_reason = calls.empty() ? StopReason::finished : StopReason::tool_call; }
    AF_CHECK(http::take_calls(std::move(calls), completion_));
    return std::move(completion_);
}

}  // namespace agentforge::anthropic
