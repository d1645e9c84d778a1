// SPDX-License-Identifier: Apache-2.0
#include "servers/connection.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds cancel_interval{50};
constexpr milliseconds ping_time{1'000};
constexpr milliseconds ping_time_cancelled{50};  // A cancel does not wait.
constexpr milliseconds end_timeout{200};
constexpr std::size_t max_error_bytes = 4UL << 10U;
constexpr std::size_t max_stray_lines = 3;
constexpr int method_not_found = -32601;
constexpr int internal_error = -32603;

json::object params_of(const json::object& message) {
    const json::value* params = message.if_contains("params");
    return params != nullptr && params->is_object() ? params->get_object() : json::object();
}

std::string text_of(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_string() ? sanitize_utf8(value->get_string()) : std::string();
}

}  // namespace

Connection::Connection(std::string name, std::unique_ptr<InteractiveProcess> process, Limits limits, Peer peer)
    : name_(std::move(name)), process_(std::move(process)), limits_(limits), peer_(std::move(peer)) {}

Connection::~Connection() { end(); }

Result<json::value> Connection::request(std::string_view method, json::object params, const RequestLimit& limit) {
    refusal_.reset();
    if (!alive()) { return gone(method); }
    const std::int64_t id = ++last_id_;
    messages_ = 0;
    answer_.reset();
    waiting_for_ = id;
    send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
    auto result = wait_for(id, method, limit);
    waiting_for_ = 0;
    return result;
}

Result<json::value> Connection::wait_for(std::int64_t id, std::string_view method, const RequestLimit& limit) {
    const auto deadline = Clock::now() + limit.timeout;
    while (!answer_) {
        if (broken_) { return *broken_; }
        if (ended_) { return gone(method); }
        const auto now = Clock::now();
        const bool cancelled = limit.cancelled && limit.cancelled();
        if (cancelled || now >= deadline) {
            given_up_.insert(id);
            waiting_for_ = 0;
            notify("notifications/cancelled", {{"requestId", id}, {"reason", cancelled ? "cancelled" : "timeout"}});
            const bool lives = answers_ping(cancelled ? ping_time_cancelled : ping_time);
            if (!lives) { end(); }
            const std::string after = lives ? "it was told to stop" : "it did not answer a ping either and was stopped";
            if (cancelled) {
                return Error{"AF-MCP-019", "the request `" + std::string(method) + "` to " + name_ + " was cancelled; " + after,
                             name_, "ask again once the task continues", ErrorKind::cancelled};
            }
            return Error{"AF-MCP-010",
                         name_ + " did not answer `" + std::string(method) + "` within " + std::to_string(limit.timeout.count()) +
                             " ms; " + after + said(),
                         name_, "try again with less to do, or another tool; a person can raise timeout_seconds of the server",
                         ErrorKind::timeout};
        }
        milliseconds wait = std::chrono::ceil<milliseconds>(deadline - now);
        if (limit.cancelled) { wait = std::min(wait, cancel_interval); }
        pump(wait);
    }
    json::object message = std::move(*answer_);
    answer_.reset();
    if (const json::value* error = message.if_contains("error"); error != nullptr) {
        if (!error->is_object()) {
            return Error{"AF-MCP-008",
                         name_ + " answered `" + std::string(method) +
                             "` with an error that is not an object: " + ellipsis(json::serialize(*error), 200),
                         name_, "report this to the server's author", ErrorKind::invalid};
        }
        const json::value* code = error->get_object().if_contains("code");
        refusal_ = ellipsis(text_of(error->get_object(), "message"), 2000) +
                   (code != nullptr && code->is_int64() ? " (code " + std::to_string(code->get_int64()) + ")" : "");
        return Error{"AF-MCP-013", name_ + " refused `" + std::string(method) + "`: " + *refusal_, name_,
                     "correct the arguments, or use another tool", ErrorKind::invalid};
    }
    json::value* result = message.if_contains("result");
    if (result == nullptr) {
        return Error{"AF-MCP-008", name_ + " answered `" + std::string(method) + "` with neither `result` nor `error`", name_,
                     "report this to the server's author", ErrorKind::invalid};
    }
    return std::move(*result);
}

void Connection::notify(std::string_view method, json::object params) {
    if (ended_) { return; }
    json::object message{{"jsonrpc", "2.0"}, {"method", method}};
    if (!params.empty()) { message["params"] = std::move(params); }
    send(message);
    pump(milliseconds(0));
}

bool Connection::alive() {
    if (!ended_ && !broken_) { pump(milliseconds(0)); }
    return !ended_;
}

void Connection::send(const json::object& message) {
    to_write_ += json::serialize(message);
    to_write_ += '\n';
}

void Connection::pump(milliseconds wait) {
    if (ended_) { return; }
    const auto exchanged = process_->exchange(to_write_, in_, err_, wait);
    if (err_.size() > 2 * max_error_bytes) { err_.erase(0, err_.size() - max_error_bytes); }
    take_lines();
    if (ended_) { return; }
    if (exchanged.ended || !exchanged.out_open) { end(); }
}

void Connection::take_lines() {
    std::size_t begin = 0;
    while (!ended_) {
        const std::size_t found = in_.find('\n', std::max(begin, scanned_));
        if (found == std::string::npos) { break; }
        if (found - begin > limits_.max_message_bytes) { break; }
        take_line(std::string_view(in_).substr(begin, found - begin));
        begin = found + 1;
    }
    if (ended_) {
        in_.clear();
        begin = 0;
    }
    in_.erase(0, begin);
    scanned_ = in_.size();
    if (in_.size() > limits_.max_message_bytes) {
        give_up("AF-MCP-009",
                "wrote more than " + std::to_string(limits_.max_message_bytes) + " bytes without ending the message");
    }
}

void Connection::take_line(std::string_view line) {
    if (line.ends_with('\r')) { line.remove_suffix(1); }
    if (line.find_first_not_of(" \t") == std::string_view::npos) { return; }
    if (++messages_ > limits_.max_messages) {
        give_up("AF-MCP-009", "wrote more than " + std::to_string(limits_.max_messages) + " messages while one request waited");
        return;
    }
    // Invalid UTF-8 would make the whole message unreadable. The original characters are lost either way.
    const bool valid = is_valid_utf8(line);
    auto parsed = valid ? parse_json(line, name_) : parse_json(sanitize_utf8(line), name_);
    if (!valid && peer_.log) { peer_.log(LogLevel::warning, name_ + " wrote bytes that are no UTF-8; they were replaced"); }
    if (parsed.ok() && parsed->is_object()) {
        take_message(parsed->get_object());
    } else if (parsed.ok() && parsed->is_array()) {  // A batch, as in protocol version 2025-03-26.
        for (const json::value& one : parsed->get_array()) {
            if (one.is_object()) {
                take_message(one.get_object());
            } else {
                ignore("an element of a batch that is not a message");
            }
        }
    } else {
        const std::string shown = ellipsis(sanitize_utf8(line), 200);
        if (stray_.size() < max_stray_lines) { stray_.push_back(shown); }
        ignore("a line on its standard output that is not a JSON-RPC message: " + shown);
    }
}

void Connection::take_message(const json::object& message) {
    if (ended_) { return; }
    const json::value* method = message.if_contains("method");
    if (method != nullptr && method->is_string()) {
        if (message.contains("id")) {
            answer(message, method->get_string());
        } else if (peer_.notified) {
            peer_.notified(method->get_string(), params_of(message));
        }
        return;
    }
    if (message.contains("id")) {
        take_answer(message);
    } else {
        ignore("a message with neither `method` nor `id`");
    }
}

void Connection::take_answer(const json::object& message) {
    const json::value& id = message.at("id");
    const std::int64_t number = id.is_int64() ? id.get_int64() : 0;
    if (number != 0 && number == waiting_for_ && !answer_) {
        answer_ = message;
        waiting_for_ = 0;
    } else if (given_up_.erase(number) != 0) {
        ignore("a late answer to request " + std::to_string(number));
    } else {
        ignore("an answer to a request that does not wait for one, id " + ellipsis(json::serialize(id), 80));
    }
}

void Connection::answer(const json::object& message, std::string_view method) {
    json::object reply{{"jsonrpc", "2.0"}, {"id", message.at("id")}};
    --messages_;  // Bounded by the number of answers that it must read.
    auto result = peer_.asked ? peer_.asked(method, params_of(message)) : std::optional<Result<json::value>>();
    if (!result) {
        ignore("a request for `" + ellipsis(sanitize_utf8(method), 80) + "`, which is not offered here");
        reply["error"] = json::object{{"code", method_not_found}, {"message", "method not found"}};
    } else if (!result->ok()) {
        const Error& error = result->error();
        reply["error"] = json::object{
            {"code", internal_error},
            {"message", sanitize_utf8(error.message)},
            {"data",
             json::object{{"code", error.code}, {"where", sanitize_utf8(error.where)}, {"remedy", sanitize_utf8(error.remedy)}}}};
    } else {
        reply["result"] = std::move(**result);
    }
    send(reply);
    if (to_write_.size() > limits_.max_message_bytes + (1UL << 20U)) {
        give_up("AF-MCP-009", "sends requests without reading the answers");
    }
}

void Connection::ignore(const std::string& what) {
    ++ignored_;
    // The first ones show what kind of child it is; all of them would flood the log.
    if (ignored_ <= 20 && peer_.log) {
        peer_.log(LogLevel::warning, name_ + " sent " + what + (ignored_ == 20 ? " (further ones are only counted)" : ""));
    }
}

void Connection::give_up(std::string code, std::string why) {
    if (broken_) { return; }
    broken_ = Error{std::move(code), name_ + " " + why + " and was stopped", name_,
                    "use another tool; a person can raise max_message_bytes of the server, or report this to its author",
                    ErrorKind::unavailable};
    end();
}

bool Connection::answers_ping(milliseconds timeout) {
    if (ended_) { return false; }
    const std::int64_t id = ++last_id_;
    waiting_for_ = id;
    answer_.reset();
    send({{"jsonrpc", "2.0"}, {"id", id}, {"method", "ping"}});
    const auto deadline = Clock::now() + timeout;
    while (!answer_ && !ended_ && Clock::now() < deadline) { pump(std::chrono::ceil<milliseconds>(deadline - Clock::now())); }
    const bool answered = answer_.has_value();
    waiting_for_ = 0;
    answer_.reset();
    return answered;
}

std::string Connection::end() {
    if (ended_) { return ended_how_; }
    ended_ = true;
    const auto outcome = process_->end(end_timeout);
    if (!outcome.ok()) {
        ended_how_ = outcome.error().message + (outcome.error().remedy.empty() ? "" : " (" + outcome.error().remedy + ")");
    } else {
        err_ += outcome->err;
        if (err_.size() > 2 * max_error_bytes) { err_.erase(0, err_.size() - max_error_bytes); }
        ended_how_ = outcome->signal != 0 ? "ended by signal " + std::to_string(outcome->signal)
                                          : "exit code " + std::to_string(outcome->exit_code);
    }
    return ended_how_;
}

std::string Connection::said() const {
    std::string text;
    const std::string_view tail =
        std::string_view(err_).substr(err_.size() > max_error_bytes ? err_.size() - max_error_bytes : 0);
    std::string readable = sanitize_utf8(tail);
    while (!readable.empty() && (readable.back() == '\n' || readable.back() == '\r')) { readable.pop_back(); }
    if (!readable.empty()) { text += "; its standard error: " + head_and_tail(readable, 1500); }
    for (std::size_t i = 0; i < stray_.size(); ++i) {
        text += (i == 0 ? "; not JSON on its standard output: " : " | ") + stray_[i];
    }
    return text;
}

Error Connection::gone(std::string_view method) const {
    if (broken_) { return *broken_; }
    return Error{"AF-MCP-011", name_ + " ended during `" + std::string(method) + "` (" + ended_how_ + ")" + said(), name_,
                 "what it did before that remains; check before you call it again", ErrorKind::unavailable};
}

}  // namespace agentforge::kernel
