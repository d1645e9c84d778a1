// SPDX-License-Identifier: Apache-2.0
#include <agentforge_http/refusal.hpp>

#include <Poco/DateTimeFormat.h>
#include <Poco/DateTimeParser.h>
#include <agentforge/json_fields.hpp>
#include <agentforge/process.hpp>
#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <utility>

namespace agentforge::http {
namespace {

constexpr double longest_wait_seconds = 60;

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return result;
}

/// Returns the `title` of an HTML page.
std::string title(std::string_view page) {
    const std::string small = lower(page);
    std::size_t begin = small.find("<title");
    begin = begin == std::string::npos ? begin : small.find('>', begin);
    const std::size_t end = begin == std::string::npos ? begin : small.find("</title", begin);
    return end == std::string::npos ? std::string() : excerpt(page.substr(begin + 1, end - begin - 1), 120);
}

std::optional<double> number(const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value >= 0)) { return std::nullopt; }
    return value;
}

/// Returns seconds since 1970 for a date of RFC 9110, in the form that servers must write.
std::optional<double> date(const std::string& text) {
    Poco::DateTime read;
    int zone = 0;
    if (text.size() < 25 || !Poco::DateTimeParser::tryParse(Poco::DateTimeFormat::HTTP_FORMAT, text, read, zone)) {
        return std::nullopt;
    }
    return static_cast<double>(read.timestamp().epochTime());
}

/// In seconds. A date is compared with the server's own clock if it sends it, else with this machine's. A date in the past gives
/// 0.
std::optional<double> wait_seconds(const Head& head) {
    if (const auto milliseconds = number(head.header("retry-after-ms"))) { return *milliseconds / 1000; }
    const std::string after = head.header("retry-after");
    if (const auto seconds = number(after)) { return seconds; }
    const auto until = date(after);
    if (!until) { return std::nullopt; }
    const auto here = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    return std::max(0.0, *until - date(head.header("date")).value_or(here));
}

/// Returns the status that a type of error stands for, if there is no status.
int status_of(const std::string& type) {
    static const std::initializer_list<std::pair<std::string_view, int>> known{
        {"authentication_error", 401},  {"invalid_api_key", 401}, {"permission_error", 403},
        {"not_found_error", 404},       {"model_not_found", 404}, {"NotFoundError", 404},
        {"invalid_request_error", 400}, {"BadRequestError", 400}, {"context_length_exceeded", 400},
        {"request_too_large", 413},     {"billing_error", 402},   {"insufficient_quota", 429}};
    for (const auto& [name, status] : known) {
        if (type == name) { return status; }
    }
    return 500;  // Overloaded, rate limited, broken: an error after a good beginning is temporary.
}

}  // namespace

std::string excerpt(std::string_view text, std::size_t most) {
    std::string clean = process::to_utf8(text.substr(0, std::min(text.size(), most)));
    // A character split by the cut ends as a replacement character: removes it.
    if (text.size() > most) {
        while (clean.ends_with("\xEF\xBF\xBD")) { clean.resize(clean.size() - 3); }
        clean += "…";
    }
    std::string line;
    for (const char c : clean) {
        if (static_cast<unsigned char>(c) > ' ' && c != '\x7f') {
            line += c;
        } else if (!line.empty() && line.back() != ' ') {
            line += ' ';
        }
    }
    while (line.ends_with(' ')) { line.pop_back(); }
    return line;
}

Complaint read_complaint(const json::value& error) {
    Complaint complaint;
    if (error.is_string()) {
        complaint.message = excerpt({error.get_string().data(), error.get_string().size()});
    } else if (error.is_object()) {
        const json::object& object = error.get_object();
        complaint.type = text_of(object, "type");
        // OpenAI's code says more than its type; others put the status there.
        if (const std::string code = text_of(object, "code"); !code.empty()) { complaint.type = code; }
        if (const json::value* const code = object.if_contains("code");
            code != nullptr && code->is_int64() && code->get_int64() >= 400 && code->get_int64() < 600) {
            complaint.status = static_cast<int>(code->get_int64());
        }
        complaint.message = excerpt(text_of(object, "message"));
    }
    complaint.type = excerpt(complaint.type, 60);
    return complaint;
}

Complaint read_complaint(int status, std::string_view body) {
    Complaint complaint;
    boost::system::error_code failed;
    json::parse_options options;
    options.allow_invalid_utf8 = true;
    json::value value = json::parse(body, failed, {}, options);
    if (!failed && value.is_array() && value.get_array().size() == 1) { value = json::value(value.get_array().front()); }
    if (!failed && value.is_object()) {
        const json::object& object = value.get_object();
        if (const json::value* const error = object.if_contains("error")) {
            complaint = read_complaint(*error);
        } else {
            complaint = read_complaint(value);
            if (complaint.message.empty()) { complaint.message = excerpt(text_of(object, "detail")); }
        }
        if (complaint.message.empty()) { complaint.message = excerpt(body); }
    } else {
        std::string_view start = body;
        while (!start.empty() && static_cast<unsigned char>(start.front()) <= ' ') { start.remove_prefix(1); }
        if (start.empty()) {
            complaint.message = "an empty body";
        } else if (start.front() == '<') {
            const std::string called = title(body);
            complaint.message = "an HTML page" + (called.empty() ? std::string() : " titled '" + called + "'");
        } else {
            complaint.message = excerpt(body);
        }
    }
    complaint.status = status;
    return complaint;
}

Error refusal(const Address& server, const Complaint& complaint, const Head& head) {
    const int status = complaint.status != 0 ? complaint.status : status_of(complaint.type);
    const std::string what =
        server.host +
        (complaint.status != 0 ? " answered " + std::to_string(complaint.status) : std::string(" broke its answer off")) +
        (complaint.type.empty() ? "" : " (" + complaint.type + ")") + (complaint.message.empty() ? "" : ": " + complaint.message);
    const auto fail = [&](std::string code, std::string remedy, ErrorKind kind = ErrorKind::unavailable) {
        return Error{std::move(code), what, server.text(), std::move(remedy), kind};
    };
    const std::string words = lower(complaint.type + " " + complaint.message);
    const auto says = [&words](std::initializer_list<std::string_view> parts) {
        return std::any_of(parts.begin(), parts.end(),
                           [&words](std::string_view part) { return words.find(part) != std::string::npos; });
    };
    if (status == 402 || says({"insufficient_quota", "billing", "credit balance", "spend limit"})) {
        return fail("AF-LLM-406", "Raise the account's limit or choose another model, then resume.");
    }
    if (status == 401 || status == 403) {
        return fail("AF-LLM-401", "Set the right key in the variable that api_key_env names, then resume.");
    }
    if (status == 404) {
        return fail("AF-LLM-404",
                    "Check llm.model and llm.base_url (an OpenAI-compatible one usually ends in /v1), then resume.");
    }
    const auto wait = wait_seconds(head);
    if (wait && *wait > longest_wait_seconds && (status == 429 || status >= 500)) {
        Error error = fail("AF-LLM-406", "Resume then, or choose another model.");
        error.message += "; it asks to wait " + std::to_string(static_cast<std::uint64_t>(std::min(*wait, 1e9))) + " s";
        return error;
    }
    const std::string asked = lower(head.header("x-should-retry"));
    const bool passes = status == 408 || status == 409 || status == 429 || status >= 500;
    if (asked == "true" || (passes && asked != "false")) {
        return fail("AF-LLM-407", "A retry may succeed; resume.", ErrorKind::transient);
    }
    if (passes) { return fail("AF-LLM-406", "The server asks for no retries; resume later."); }
    if (status < 400) {
        return fail("AF-LLM-405", "AgentForge does not follow redirects from llm.base_url: set it to the new address" +
                                      (head.header("location").empty() ? std::string(".")
                                                                       : ", " + excerpt(head.header("location"), 200) + "."));
    }
    return fail("AF-LLM-405", "Check the model's limits and the settings under llm.settings, then resume.");
}

Error other_answer(const Address& server, std::string_view found, std::string_view api) {
    return {"AF-LLM-408", server.host + " answered with JSON that is " + std::string(found), server.text(),
            "Check llm.base_url (an OpenAI-compatible one usually ends in /v1): does the server speak " + std::string(api) + "?",
            ErrorKind::unavailable};
}

std::chrono::milliseconds asked_to_wait(const Head& head) {
    const auto wait = wait_seconds(head);
    if (!wait || *wait > longest_wait_seconds) { return std::chrono::milliseconds(0); }
    return std::chrono::milliseconds(static_cast<std::chrono::milliseconds::rep>(*wait * 1000));
}

}  // namespace agentforge::http
