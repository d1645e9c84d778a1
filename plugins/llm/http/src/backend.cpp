// SPDX-License-Identifier: Apache-2.0
#include <agentforge_http/backend.hpp>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include <agentforge_http/refusal.hpp>
#include <agentforge_http/tool_call.hpp>

namespace agentforge::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t longest_complaint = 64UL << 10U;
constexpr std::chrono::seconds check_time{10};
constexpr milliseconds nap{20};
constexpr std::size_t shortest_secret = 6;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string media_type(const Head& head) {
    std::string type = head.header("content-type");
    std::transform(type.begin(), type.end(), type.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return type;
}

bool page(std::string_view body) {
    const std::size_t start = body.find_first_not_of(" \t\r\n");
    return start != std::string_view::npos && body[start] == '<';
}

void replace_all(std::string& text, const std::string& from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

CacheMarks usable(const CacheMarks& marks, std::size_t bytes) {
    CacheMarks kept;
    for (const std::size_t end : marks.user_ends) {
        if (end <= bytes && end > (kept.user_ends.empty() ? 0 : kept.user_ends.back())) { kept.user_ends.push_back(end); }
    }
    return kept;
}

/// A server that hangs once may answer the next time, if the stage has time left after the call.
Error transient_if_time_is_left(Error error, steady_clock::time_point call_deadline,
                                const std::optional<steady_clock::time_point>& stage_deadline) {
    if (error.kind == ErrorKind::timeout && (!stage_deadline || *stage_deadline > call_deadline)) {
        error.kind = ErrorKind::transient;
    }
    return error;
}

}  // namespace

HttpBackend::HttpBackend(const json::object& settings, const Service& service, const std::vector<std::string_view>& known)
    : settings_(read_settings(settings, service, known)), connections_(std::make_shared<Connections>()) {}

Error HttpBackend::without_secrets(Error error) const {
    const auto hide = [&error](const std::string& secret, std::string_view name) {
        if (secret.size() < shortest_secret) { return; }
        for (std::string* text : {&error.message, &error.where, &error.remedy}) { replace_all(*text, secret, name); }
    };
    hide(settings_.key, "[key]");
    for (const auto& [name, value] : settings_.headers) { hide(value, "[" + name + "]"); }
    return error;
}

Result<Call> HttpBackend::prepare(steady_clock::time_point latest, CallContext& context) const {
    if (settings_.needs_key && settings_.key.empty()) {
        return Error{"AF-LLM-401",
                     "no key for " + settings_.server.host + ": the variable " + settings_.key_variable + " is not set",
                     settings_.server.text(), "Set " + settings_.key_variable + ", or name another variable in api_key_env.",
                     ErrorKind::unavailable};
    }
    Call call;
    call.server = settings_.server;
    call.ca_file = settings_.ca_file;
    call.connections = connections_;
    AF_TRY(call.proxy, proxy_for(settings_.server, [](const std::string& name) {
               const char* const value = std::getenv(name.c_str());
               return value == nullptr ? std::string() : std::string(value);
           }));
    call.headers = headers();
    call.headers.emplace_back("User-Agent", "agentforge/0.1");
    for (const auto& header : settings_.headers) { call.headers.push_back(header); }
    call.deadline = latest;
    if (const auto deadline = context.deadline()) { call.deadline = std::min(call.deadline, *deadline); }
    return call;
}

Result<Completion> HttpBackend::complete_marked(const CompletionRequest& request, const CacheMarks& marks, StreamSink* sink,
                                                CallContext& context) {
    const auto latest = steady_clock::now() + settings_.timeout;
    if (auto waited = wait_as_asked(latest, context); !waited.ok()) { return std::move(waited).error(); }
    Head head;
    auto answer = attempt(request, marks, sink, context, latest, head);
    if (answer.ok()) { return answer; }
    Error error = without_secrets(std::move(answer).error());
    if (const milliseconds asked = asked_to_wait(head); error.kind == ErrorKind::transient && asked.count() > 0) {
        const std::lock_guard lock(mutex_);
        not_before_ = steady_clock::now() + asked;
    }
    return error;
}

Result<void> HttpBackend::wait_as_asked(steady_clock::time_point latest, CallContext& context) {
    steady_clock::time_point until;
    {
        const std::lock_guard lock(mutex_);
        until = not_before_;
    }
    const auto left = std::chrono::ceil<std::chrono::seconds>(until - steady_clock::now());
    if (left.count() <= 0) { return {}; }
    const std::string what = settings_.server.host + " asks to be left alone for another " + std::to_string(left.count()) + " s";
    if (const auto deadline = context.deadline(); deadline && until >= *deadline) {
        return Error{"AF-LLM-410", what + ", and the deadline is before that", settings_.server.text(),
                     "Resume then, or raise the stage's timeout.", ErrorKind::timeout};
    }
    if (until >= latest) {
        return Error{"AF-LLM-407", what, settings_.server.text(), "Resume then, or raise llm.timeout_seconds, which is shorter.",
                     ErrorKind::unavailable};
    }
    if (left.count() > 1) { context.progress(what); }
    while (steady_clock::now() < until) {
        if (context.cancelled()) {
            return Error{"AF-LLM-411", "the call of " + settings_.server.host + " was cancelled", "",
                         "Resume the task to continue.", ErrorKind::cancelled};
        }
        std::this_thread::sleep_for(std::min<steady_clock::duration>(nap, until - steady_clock::now()));
    }
    return {};
}

Result<Completion> HttpBackend::attempt(const CompletionRequest& request, const CacheMarks& marks, StreamSink* sink,
                                        CallContext& context, steady_clock::time_point latest, Head& head) {
    const std::string model = request.model.empty() ? settings_.model : request.model;
    if (model.empty()) {
        return Error{"AF-LLM-413", "no model is named for " + settings_.server.host, "llm.model",
                     "Set llm.model; `agentforge doctor` says which the server has.", ErrorKind::unavailable};
    }
    AF_TRY(Call call, prepare(latest, context));
    call.path = settings_.server.path + answer_path();
    call.body = json::serialize(body(request, usable(marks, request.user.size()), model));
    call.headers.emplace_back("Accept", settings_.stream ? "text/event-stream, application/json" : "application/json");
    const std::unique_ptr<AnswerReader> answer = reader();
    EventReader events;
    std::string whole;
    bool ended = false;
    auto exchanged = exchange(
        call, [&context] { return context.cancelled(); },
        [&](const Head& begun, std::string_view part) -> Result<bool> {
            head = begun;
            if (begun.status < 200 || begun.status >= 300) {
                whole += part.substr(0, longest_complaint - std::min(longest_complaint, whole.size()));
                return whole.size() < longest_complaint;
            }
            if (!streams(begun)) {
                whole += part;
                return true;
            }
            AF_TRY(const bool more, events.feed(part, [&](const Event& event) { return answer->event(event, sink); }));
            ended = !more;
            return more;
        });
    if (!exchanged.ok()) { return transient_if_time_is_left(std::move(exchanged).error(), call.deadline, context.deadline()); }
    head = std::move(exchanged).value();
    if (head.status < 200 || head.status >= 300) { return refusal(settings_.server, read_complaint(head.status, whole), head); }
    if (streams(head)) {
        if (!ended && !answer->may_end()) {
            return Error{"AF-LLM-409", "the stream of " + settings_.server.host + " ended before the answer did",
                         settings_.server.text(), "A retry may succeed; resume.", ErrorKind::transient};
        }
    } else {
        if (page(whole)) {
            return not_json(whole, answer_path(), "Check llm.base_url, and whether a proxy wants you to log in; then resume.");
        }
        AF_TRY(const json::object object, read_object(whole, "the answer of " + settings_.server.host));
        AF_CHECK(answer->whole(object));
    }
    AF_TRY(Completion completion, answer->finish());
    if (completion.model.empty()) { completion.model = model; }
    for (const std::string_view name : {"request-id", "x-request-id"}) {
        if (const std::string id = head.header(name); !id.empty()) { completion.diagnostics["request_id"] = excerpt(id, 100); }
    }
    return completion;
}

bool HttpBackend::streams(const Head& head) const {
    const std::string type = media_type(head);
    return has(type, "event-stream") || (settings_.stream && !has(type, "json") && !has(type, "html"));
}

Error HttpBackend::not_json(std::string_view body, const std::string& path, std::string remedy) const {
    return {"AF-LLM-408", settings_.server.host + " answered with " + read_complaint(200, body).message + " instead of JSON",
            settings_.server.text() + path, std::move(remedy), ErrorKind::unavailable};
}

Result<std::string> HttpBackend::check(CallContext& context) {
    AF_TRY(const std::optional<json::array> models, listed_models(context));
    return models ? describe_models(*models) : settings_.server.text() + " answers; it lists no models";
}

Result<std::optional<json::array>> HttpBackend::listed_models(CallContext& context) const {
    auto call = prepare(steady_clock::now() + check_time, context);
    if (!call.ok()) { return without_secrets(std::move(call).error()); }
    if (context.cancelled()) {
        return Error{"AF-LLM-411", "the call of " + settings_.server.host + " was cancelled", "", "Ask again.",
                     ErrorKind::cancelled};
    }
    call.value().method = "GET";
    call.value().path = settings_.server.path + models_path();
    call.value().headers.emplace_back("Accept", "application/json");
    std::string body;
    auto exchanged = exchange(
        call.value(), [&context] { return context.cancelled(); },
        [&body](const Head&, std::string_view part) -> Result<bool> {
            body += part;
            return true;
        });
    if (!exchanged.ok()) { return without_secrets(std::move(exchanged).error()); }
    const Head& head = exchanged.value();
    if (head.status == 404) { return std::optional<json::array>(); }
    if (head.status < 200 || head.status >= 300) {
        return without_secrets(refusal(settings_.server, read_complaint(head.status, body), head));
    }
    if (page(body)) { return not_json(body, models_path(), "Check llm.base_url."); }
    auto listed = read_object(body, "the list of models");
    if (!listed.ok()) { return without_secrets(std::move(listed).error()); }
    json::value* const data = listed.value().if_contains("data");
    if (data == nullptr || !data->is_array()) { return std::optional<json::array>(); }
    return std::optional(std::move(data->get_array()));
}

std::string HttpBackend::describe_models(const json::array& models) const {
    std::string names;
    std::size_t shown = 0;
    bool known = false;
    for (const json::value& one : models) {
        const std::string id = one.is_object() ? excerpt(text_of(one.get_object(), "id"), 80) : std::string();
        known = known || id == settings_.model;
        if (!id.empty() && shown < 5) {
            names += (names.empty() ? "" : ", ") + id;
            ++shown;
        }
    }
    const std::size_t count = models.size();
    const std::string answers =
        settings_.server.text() + " answers, " + std::to_string(count) + (count == 1 ? " model" : " models");
    if (settings_.model.empty()) {
        return answers + "; llm.model is not set" + (names.empty() ? "" : ": " + names + (count > shown ? ", …" : ""));
    }
    return answers + (known ? "; it lists '" : "; it does not list '") + settings_.model + "'" +
           (known || names.empty() ? "" : " but " + names + (count > shown ? ", …" : ""));
}

}  // namespace agentforge::http
