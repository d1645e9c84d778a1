// SPDX-License-Identifier: Apache-2.0
#include "answer.hpp"

#include <agentforge/process.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>

namespace agentforge::cli {
namespace {

std::string_view trimmed(std::string_view text) {
    const auto blank = [](char letter) { return letter == ' ' || letter == '\n' || letter == '\r' || letter == '\t'; };
    while (!text.empty() && blank(text.front())) { text.remove_prefix(1); }
    while (!text.empty() && blank(text.back())) { text.remove_suffix(1); }
    return text;
}

const json::value* member(const json::object& object, std::string_view key) { return object.if_contains(key); }

std::string text_of(const json::object& object, std::string_view key) {
    const json::value* const value = member(object, key);
    return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

std::uint64_t count_of(const json::object& object, std::string_view key) {
    const json::value* const value = member(object, key);
    if (value == nullptr) { return 0; }
    if (value->is_uint64()) { return value->as_uint64(); }
    return value->is_int64() && value->as_int64() > 0 ? static_cast<std::uint64_t>(value->as_int64()) : 0;
}

/// Calls `use(object)` for every JSON object in the output: one, a list, or one on each line.
template <class Use>
std::uint64_t for_each_event(std::string_view output, Use&& use) {
    std::uint64_t skipped = 0;
    boost::system::error_code error;
    const std::string_view whole = trimmed(output);
    json::value value = json::parse(whole, error);
    if (!error && value.is_object()) {
        use(value.as_object());
        return 0;
    }
    if (!error && value.is_array()) {
        for (const json::value& item : value.as_array()) {
            if (item.is_object()) {
                use(item.as_object());
            } else {
                ++skipped;
            }
        }
        return skipped;
    }
    for (std::size_t begin = 0; begin < whole.size();) {
        const std::size_t end = std::min(whole.find('\n', begin), whole.size());
        const std::string_view line = trimmed(whole.substr(begin, end - begin));
        begin = end + 1;
        if (line.empty()) { continue; }
        error.clear();
        value = json::parse(line, error);
        if (!error && value.is_object()) {
            use(value.as_object());
        } else {
            ++skipped;
        }
    }
    return skipped;
}

void note_skipped(Answer& answer, std::uint64_t skipped) {
    if (skipped != 0) { answer.completion.diagnostics["skipped_lines"] = skipped; }
}

/// Reads `error: {"message": …}`, `error: "…"` or `message: "…"`.
std::string stated_words(const json::object& event) {
    if (const json::value* const error = member(event, "error"); error != nullptr) {
        if (error->is_object()) { return text_of(error->as_object(), "message"); }
        if (error->is_string()) { return std::string(error->as_string()); }
    }
    return text_of(event, "message");
}

/// The same. If the text is the server's raw error object, returns the message in it.
std::string words_of(const json::object& event) {
    std::string words = stated_words(event);
    if (!words.starts_with('{')) { return words; }
    boost::system::error_code no_json;
    const json::value inner = json::parse(words, no_json);
    if (no_json || !inner.is_object()) { return words; }
    std::string said = stated_words(inner.as_object());
    if (said.empty()) { return words; }
    const json::value* const error = member(inner.as_object(), "error");
    const std::string type = error != nullptr && error->is_object() ? text_of(error->as_object(), "type") : std::string();
    return type.empty() ? said : type + ": " + said;
}

/// The server's status, if the program reports it, classifies a failure better than any words.
std::optional<ErrorKind> kind_of_status(std::uint64_t status) {
    switch (status) {
        case 401:
        case 403:
            return ErrorKind::denied;
        case 402:
            return ErrorKind::unavailable;
        case 408:
        case 409:
        case 429:
            return ErrorKind::transient;
        default:
            break;
    }
    if (status >= 500 && status < 600) { return ErrorKind::transient; }
    return status >= 400 && status < 500 ? std::optional(ErrorKind::unavailable) : std::nullopt;
}

}  // namespace

namespace {

/// True if an event of `codex exec --json` or `claude --output-format stream-json` shows one more request. A model's text and
/// thoughts belong to a request already counted. A tool's result goes back to the server in another request, and so does a retry
/// after a broken connection.
bool asks_again(const json::object& event) {
    const std::string type = text_of(event, "type");
    if (type == "error") { return text_of(event, "message").starts_with("Reconnecting"); }
    if (type != "item.completed") { return false; }
    const json::value* const item = member(event, "item");
    const std::string kind = item != nullptr && item->is_object() ? text_of(item->as_object(), "type") : std::string();
    return !kind.empty() && kind != "agent_message" && kind != "reasoning" && kind != "error";
}

StopReason claude_stop_reason(const std::string& word) {
    if (word == "max_tokens") { return StopReason::length; }
    return word == "refusal" ? StopReason::refused : StopReason::finished;
}

constexpr std::size_t longest_line = 1UL << 20U;
constexpr std::uint64_t most_own_tokens = 8'000;  ///< What a program adds to our prompt for the model.

}  // namespace

void RequestCount::hear(std::string_view part) {
    while (!part.empty()) {
        const std::size_t end = std::min(part.find('\n'), part.size());
        if (line_.size() < longest_line) { line_.append(part.substr(0, end)); }
        if (end == part.size()) { return; }
        part.remove_prefix(end + 1);
        boost::system::error_code error;
        const json::value event = json::parse(line_, error);
        line_.clear();
        if (!error && event.is_object() && asks_again(event.get_object())) { ++more_; }
    }
}

std::uint64_t requests_by_tokens(std::uint64_t input_tokens, std::size_t prompt_bytes) {
    const std::uint64_t most = prompt_bytes / 2 + most_own_tokens;
    return std::max<std::uint64_t>(1, (input_tokens + most - 1) / most);
}

std::optional<std::uint64_t> microusd(const json::value& dollars) {
    boost::system::error_code error;
    const auto amount = dollars.is_number() ? dollars.to_number<double>(error) : -1.0;
    if (error || !std::isfinite(amount) || amount < 0 || amount > 9e9) { return std::nullopt; }
    return static_cast<std::uint64_t>(std::llround(amount * 1e6));
}

ErrorKind kind_of_failure(std::string_view words, std::optional<ErrorKind> by_status) {
    std::string lower(words.substr(0, 4'096));
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    const auto says = [&lower](std::initializer_list<std::string_view> parts) {
        return std::any_of(parts.begin(), parts.end(),
                           [&lower](std::string_view part) { return lower.find(part) != std::string::npos; });
    };
    // Waiting a moment does not help.
    if (says({"usage limit", "limit reached", "credit balance", "insufficient_quota", "quota", "billing", "hit your limit",
              "spend limit"})) {
        return ErrorKind::unavailable;
    }
    if (by_status) { return *by_status; }
    if (says({"invalid api key", "/login", "not logged in", "log in", "missing environment variable", "unauthorized",
              "authentication", "permission_error", "401", "403"})) {
        return ErrorKind::denied;
    }
    if (says({"overloaded", "rate limit", "rate_limit", "429", "529", "503", "502", "500", "high demand", "timed out",
              "connection", "network", "econnreset"})) {
        return ErrorKind::transient;
    }
    return ErrorKind::unavailable;
}

Answer read_claude(std::string_view output) {
    Answer answer;
    const std::uint64_t skipped = for_each_event(output, [&answer](const json::object& event) {
        if (text_of(event, "type") != "result") { return; }
        answer.found = true;
        Completion& completion = answer.completion;
        completion.text = text_of(event, "result");
        completion.session_id = text_of(event, "session_id");
        completion.usage = {};
        answer.requests = std::max<std::uint64_t>(1, count_of(event, "num_turns"));
        if (const json::value* const usage = member(event, "usage"); usage != nullptr && usage->is_object()) {
            const json::object& counts = usage->as_object();
            completion.usage.cached_input_tokens = count_of(counts, "cache_read_input_tokens");
            completion.usage.input_tokens = count_of(counts, "input_tokens") + count_of(counts, "cache_creation_input_tokens") +
                                            completion.usage.cached_input_tokens;
            completion.usage.output_tokens = count_of(counts, "output_tokens");
        }
        if (const json::value* const cost = member(event, "total_cost_usd"); cost != nullptr) {
            completion.usage.cost_microusd = microusd(*cost);
        }
        if (const json::value* const models = member(event, "modelUsage");
            models != nullptr && models->is_object() && models->as_object().size() == 1) {
            completion.model = std::string(models->as_object().begin()->key());
        }
        completion.stop_reason = claude_stop_reason(text_of(event, "stop_reason"));
        const std::string subtype = text_of(event, "subtype");
        const json::value* const is_error = member(event, "is_error");
        // Checks both: `is_error: true` also comes with subtype `success`.
        answer.failed =
            (is_error != nullptr && is_error->is_bool() && is_error->as_bool()) || (!subtype.empty() && subtype != "success");
        answer.status_kind = kind_of_status(count_of(event, "api_error_status"));
        answer.failure = completion.text;
        if (answer.failure.empty()) { answer.failure = words_of(event); }
        if (answer.failure.empty()) { answer.failure = subtype; }
    });
    note_skipped(answer, skipped);
    return answer;
}

Answer read_codex(std::string_view output) {
    Answer answer;
    const std::uint64_t skipped = for_each_event(output, [&answer](const json::object& event) {
        const std::string type = text_of(event, "type");
        Completion& completion = answer.completion;
        answer.requests += asks_again(event) ? 1 : 0;
        if (type == "thread.started") {
            completion.session_id = text_of(event, "thread_id");
        } else if (type == "item.completed") {
            const json::value* const item = member(event, "item");
            if (item == nullptr || !item->is_object()) { return; }
            const std::string kind = text_of(item->as_object(), "type");
            if (kind == "agent_message") {
                completion.text = text_of(item->as_object(), "text");
                answer.found = true;
            } else if (kind == "error") {
                // Only a warning, unless the turn fails.
                answer.failure = text_of(item->as_object(), "message");
            }
        } else if (type == "turn.completed") {
            answer.failed = false;
            const json::value* const usage = member(event, "usage");
            if (usage == nullptr || !usage->is_object()) { return; }
            completion.usage.input_tokens = count_of(usage->as_object(), "input_tokens");
            completion.usage.cached_input_tokens = count_of(usage->as_object(), "cached_input_tokens");
            completion.usage.output_tokens = count_of(usage->as_object(), "output_tokens");
        } else if (type == "turn.failed" || type == "error") {
            answer.failed = true;
            if (const std::string words = words_of(event); !words.empty()) { answer.failure = words; }
        }
    });
    note_skipped(answer, skipped);
    return answer;
}

Answer read_text(std::string_view output) {
    Answer answer;
    while (!output.empty() && (output.back() == '\n' || output.back() == '\r' || output.back() == ' ')) {
        output.remove_suffix(1);
    }
    answer.found = true;
    answer.completion.text = std::string(output);
    return answer;
}

}  // namespace agentforge::cli
