// SPDX-License-Identifier: Apache-2.0
#include "answer.hpp"

#include <agentforge_http/refusal.hpp>
#include <algorithm>

namespace agentforge::openai {

using http::object_of;

namespace {

/// Returns a text, or the texts of a list of parts.
std::string content_of(const json::object& part) {
    const json::value* const content = part.if_contains("content");
    if (content == nullptr) { return {}; }
    if (content->is_string()) { return std::string(content->get_string()); }
    std::string text;
    if (content->is_array()) {
        for (const json::value& one : content->get_array()) {
            if (one.is_object()) { text += text_of(one.get_object(), "text"); }
        }
    }
    return text;
}

}  // namespace

void Answer::stop(const std::string& reason) {
    if (reason.empty()) { return; }
    stopped_ = true;
    if (reason == "stop") {
        completion_.stop_reason = StopReason::finished;
    } else if (reason == "tool_calls" || reason == "function_call") {
        completion_.stop_reason = StopReason::tool_call;
    } else if (reason == "length") {
        completion_.stop_reason = StopReason::length;
    } else if (reason == "content_filter") {
        completion_.stop_reason = StopReason::refused;
    } else {
        completion_.stop_reason = StopReason::other;
    }
    completion_.diagnostics["stop_reason"] = http::excerpt(reason, 60);
}

void Answer::call(const json::object& piece, StreamSink* sink) {
    const std::string id = text_of(piece, "id");
    const bool indexed = piece.contains("index") && piece.at("index").is_number();
    const std::uint64_t index = http::count_of(piece, "index");
    auto known = calls_.rbegin();
    if (indexed) {
        known = std::find_if(calls_.rbegin(), calls_.rend(), [index](const Call& one) { return one.index == index; });
    }
    if (known == calls_.rend() || (!id.empty() && !known->pieces.id.empty() && known->pieces.id != id)) {
        calls_.push_back({indexed ? index : calls_.size(), {}});
        known = calls_.rbegin();
    }
    if (!id.empty()) { known->pieces.id = id; }
    const json::object* const function = object_of(piece, "function");
    if (function == nullptr) { return; }
    // The name comes once, but some servers repeat it in every piece.
    if (known->pieces.name.empty()) { known->pieces.name = text_of(*function, "name"); }
    if (const json::object* const arguments = object_of(*function, "arguments")) {
        known->pieces.arguments += json::serialize(*arguments);
    } else {
        const std::string part = text_of(*function, "arguments");
        known->pieces.arguments += part;
        if (sink != nullptr && !part.empty()) { sink->text(part); }
    }
}

void Answer::message(const json::object& part, StreamSink* sink) {
    const std::string text = content_of(part);
    completion_.text += text;
    if (sink != nullptr && !text.empty()) { sink->text(text); }
    refusal_ += text_of(part, "refusal");
    if (const json::value* const calls = part.if_contains("tool_calls"); calls != nullptr && calls->is_array()) {
        for (const json::value& piece : calls->get_array()) {
            if (piece.is_object()) { call(piece.get_object(), sink); }
        }
    }
}

Result<void> Answer::chunk(const json::object& data, std::string_view message_key, StreamSink* sink) {
    if (const json::value* const error = data.if_contains("error"); error != nullptr && !error->is_null()) {
        return http::refusal(server_, http::read_complaint(*error), {});
    }
    if (text_of(data, "object") == "error") { return http::refusal(server_, http::read_complaint(json::value(data)), {}); }
    if (const std::string model = text_of(data, "model"); !model.empty()) { completion_.model = model; }
    if (const std::string id = text_of(data, "id"); !id.empty()) {
        completion_.diagnostics["message_id"] = http::excerpt(id, 100);
    }
    if (const json::object* const usage = object_of(data, "usage")) {
        completion_.usage.input_tokens = http::count_of(*usage, "prompt_tokens");
        completion_.usage.output_tokens = http::count_of(*usage, "completion_tokens");
        if (const json::object* const details = object_of(*usage, "prompt_tokens_details")) {
            completion_.usage.cached_input_tokens = http::count_of(*details, "cached_tokens");
        }
        if (const json::object* const details = object_of(*usage, "completion_tokens_details")) {
            if (const std::uint64_t reasoning = http::count_of(*details, "reasoning_tokens"); reasoning > 0) {
                completion_.diagnostics["reasoning_tokens"] = reasoning;
            }
        }
        // Some servers leave reasoning out of the completion's tokens and count it only in the total.
        const std::uint64_t total = http::count_of(*usage, "total_tokens");
        if (total > completion_.usage.input_tokens + completion_.usage.output_tokens) {
            completion_.usage.output_tokens = total - completion_.usage.input_tokens;
        }
    }
    const json::value* const choices = data.if_contains("choices");
    if (choices == nullptr || !choices->is_array()) { return {}; }
    for (const json::value& one : choices->get_array()) {
        const json::object* const choice = one.if_object();
        if (choice == nullptr || http::count_of(*choice, "index") != 0) { continue; }
        if (const json::object* const part = object_of(*choice, message_key)) { message(*part, sink); }
        stop(text_of(*choice, "finish_reason"));
    }
    return {};
}

Result<bool> Answer::event(const http::Event& event, StreamSink* sink) {
    if (event.data == "[DONE]") { return false; }
    AF_TRY(const json::object data, http::read_object(event.data, "an event of " + server_.host));
    if (event.type == "error" && !data.contains("error")) {
        return http::refusal(server_, http::read_complaint(json::value(data)), {});
    }
    AF_CHECK(chunk(data, "delta", sink));
    return true;
}

Result<void> Answer::whole(const json::object& answer) {
    AF_CHECK(chunk(answer, "message", nullptr));
    const json::value* const choices = answer.if_contains("choices");
    if (choices == nullptr || !choices->is_array() || choices->get_array().empty()) {
        return http::other_answer(server_, "no completion: it has no 'choices'", "chat completions");
    }
    return {};
}

Result<Completion> Answer::finish() {
    if (!refusal_.empty()) {
        completion_.stop_reason = StopReason::refused;
        completion_.text += refusal_;
    }
    std::vector<http::CallPieces> calls;
    for (Call& one : calls_) { calls.push_back(std::move(one.pieces)); }
    // Several servers report `stop` after a tool call.
    if (!calls.empty() && completion_.stop_reason == StopReason::finished) { completion_.stop_reason = StopReason::tool_call; }
    AF_CHECK(http::take_calls(std::move(calls), completion_));
    return std::move(completion_);
}

}  // namespace agentforge::openai
