// SPDX-License-Identifier: Apache-2.0
#include "handler.hpp"

#include <agentforge_http/exchange.hpp>
#include <agentforge_http/refusal.hpp>

#include <poll.h>
#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace agentforge::escalation_webhook {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds nap{50};
constexpr std::chrono::seconds longest_attempt{5};
constexpr std::size_t longest_answer = 64UL << 10U;
constexpr std::size_t shown_of_answer = 200;
constexpr std::size_t shortest_secret = 8;

std::string variable(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::string() : std::string(value);
}

std::string text_setting(std::string_view key, const json::value& value) {
    if (!value.is_string() || value.get_string().empty()) {
        throw std::invalid_argument("`" + std::string(key) + "` must be a string");
    }
    return std::string(value.get_string());
}

/// Sleeps, but wakes on a cancel. Returns false if cancelled.
bool rest(milliseconds pause, const CallContext& context) {
    const auto until = steady_clock::now() + pause;
    for (;;) {
        if (context.cancelled()) { return false; }
        const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
        if (left.count() <= 0) { return true; }
        ::poll(nullptr, 0, static_cast<int>(std::min(nap, left).count()));
    }
}

/// Waits only for the end of the call.
void wait_out(const CallContext& context) {
    const auto deadline = context.deadline();
    while (!context.cancelled() && deadline && steady_clock::now() < *deadline) {
        ::poll(nullptr, 0, static_cast<int>(nap.count()));
    }
}

bool may_pass(int status) { return status == 408 || status == 425 || status == 429 || status >= 500; }

/// Returns the server's reply, which may be anything, in one line.
std::string said(const std::string& body) {
    std::string line;
    for (const char letter : body.substr(0, shown_of_answer)) {
        const auto byte = static_cast<unsigned char>(letter);
        line += byte < ' ' || byte >= 0x7f ? ' ' : letter;
    }
    return line.find_first_not_of(' ') == std::string::npos ? "" : ": " + line;
}

}  // namespace

WebhookHandler::WebhookHandler(const json::object& settings) : WebhookHandler(settings, variable, milliseconds(500)) {}

WebhookHandler::WebhookHandler(const json::object& settings, Environment environment, milliseconds first_pause)
    : environment_(std::move(environment)), first_pause_(first_pause) {
    for (const auto& [key, value] : settings) {
        if (key == "url_env") {
            url_variable_ = text_setting(key, value);
        } else if (key == "secret_env") {
            secret_variable_ = text_setting(key, value);
            needs_secret_ = true;
        } else if (key == "ca_file") {
            ca_file_ = text_setting(key, value);
        } else if (key == "format") {
            const std::string format = text_setting(key, value);
            if (format != "slack" && format != "json") {
                throw std::invalid_argument("`format` must be slack or json, not '" + format + "'");
            }
            slack_ = format == "slack";
        } else if (key == "content") {
            const std::string content = text_setting(key, value);
            if (content != "full" && content != "reference") {
                throw std::invalid_argument("`content` must be full or reference, not '" + content + "'");
            }
            reference_ = content == "reference";
        } else if (key == "timeout_seconds") {
            if (!value.is_int64() || value.get_int64() < 1 || value.get_int64() > 60) {
                throw std::invalid_argument("`timeout_seconds` must be a number from 1 to 60");
            }
            timeout_ = std::chrono::seconds(value.get_int64());
        } else {
            throw std::invalid_argument("`" + std::string(key) + "` is unknown to the webhook");
        }
    }
}

Result<WebhookHandler::Target> WebhookHandler::target() const {
    const auto no_address = [this](const std::string& why) {
        return Error{
            "AF-ESC-051", "the webhook has no address: " + why, url_variable_,
            "Set " + url_variable_ +
                " to the whole address, such as https://hooks.slack.com/services/…; it is read from the environment only.",
            ErrorKind::unavailable};
    };
    const std::string url = environment_(url_variable_);
    if (url.empty()) { return no_address("the variable " + url_variable_ + " is not set"); }
    Target target;
    const std::size_t query = url.find('?');
    const auto server = http::read_address(std::string_view(url).substr(0, query));
    if (!server.ok()) {
        const std::string why = server.error().message;  // "base_url must not contain a user or password; name …"
        return no_address(url_variable_ + why.substr(why.find(' '), why.find(';') - why.find(' ')));
    }
    if (url.find('#') != std::string::npos) { return no_address(url_variable_ + " must not contain a fragment"); }
    target.server = server.value();
    // Keeps the path as given: some servers distinguish `/hook/` and `/hook`.
    const std::size_t path = url.find('/', url.find("://") + 3);
    target.path = path == std::string::npos ? "/" : url.substr(path);
    if (query != std::string::npos && path > query) { target.path = "/" + url.substr(query); }
    const auto odd = [](char letter) {
        return static_cast<unsigned char>(letter) <= ' ' || static_cast<unsigned char>(letter) >= 0x7f;
    };
    if (std::any_of(target.path.begin(), target.path.end(), odd)) {
        return no_address(url_variable_ + " contains a character that does not belong in an address");
    }
    if (!target.server.secure && !target.server.loopback()) {
        return no_address(url_variable_ +
                          " begins with http://, so anyone on the network path can read it; it must begin with https://");
    }
    target.secret = environment_(secret_variable_);
    if (target.secret.empty() && needs_secret_) {
        return Error{"AF-ESC-052", "the webhook cannot sign: the variable " + secret_variable_ + " is not set", secret_variable_,
                     "Set it to the key that the server knows, or take secret_env out of the plugin's settings.",
                     ErrorKind::unavailable};
    }
    if (!target.secret.empty() && target.secret.size() < shortest_secret) {
        return Error{"AF-ESC-052",
                     "the webhook does not sign with the key in " + secret_variable_ + ": it has fewer than " +
                         std::to_string(shortest_secret) + " bytes",
                     secret_variable_, "Use a longer one, such as the output of: openssl rand -hex 32", ErrorKind::unavailable};
    }
    return target;
}

/// One notification, tried until it arrives, is refused or is too late.
class WebhookHandler::Notification {
public:
    Notification(const WebhookHandler& handler, const Target& target, const Message& message, CallContext& context)
        : handler_(handler), target_(target), message_(message), context_(context) {}

    Result<void> send();

private:
    /// A failure after which another attempt may succeed.
    struct Failure {
        std::string why;
        milliseconds asked{0};  ///< How long the server asks to wait.
    };

    Result<void> prepare();
    void set_headers();
    Result<std::optional<Failure>> try_once();
    [[nodiscard]] Result<std::optional<Failure>> judge(const http::Head& head, const std::string& answer) const;
    [[nodiscard]] Result<std::optional<Failure>> judge(const Error& error) const;
    [[nodiscard]] Error cancelled() const;
    [[nodiscard]] Error late(unsigned tries, const std::string& why) const;

    const WebhookHandler& handler_;
    const Target& target_;
    const Message& message_;
    CallContext& context_;
    http::Call call_;
    steady_clock::time_point latest_;
};

Result<void> WebhookHandler::Notification::send() {
    AF_CHECK(prepare());
    if (context_.cancelled()) { return cancelled(); }  // The caller only checks what is missing: sends nothing.
    latest_ = steady_clock::now() + handler_.timeout_;
    if (const auto deadline = context_.deadline()) { latest_ = std::min(latest_, *deadline); }
    milliseconds pause = handler_.first_pause_;
    for (unsigned tries = 1;; ++tries) {
        AF_TRY(const std::optional<Failure> failure, try_once());
        if (!failure) { return {}; }
        const milliseconds next = std::max(pause, failure->asked);
        if (steady_clock::now() + next >= latest_) { return late(tries, failure->why); }
        if (!rest(next, context_)) { return cancelled(); }
        pause *= 2;
    }
}

Result<void> WebhookHandler::Notification::prepare() {
    call_.server = target_.server;
    call_.path = target_.path;
    call_.ca_file = handler_.ca_file_;
    call_.max_body_bytes = longest_answer;
    call_.body = handler_.slack_ ? slack_body(message_, handler_.reference_) : json_body(message_, handler_.reference_);
    auto proxy = http::proxy_for(target_.server, handler_.environment_);
    if (!proxy.ok()) {
        return Error{"AF-ESC-051", "the webhook's proxy cannot be used: " + proxy.error().message, proxy.error().where,
                     proxy.error().remedy, ErrorKind::unavailable};
    }
    call_.proxy = std::move(proxy).value();
    return {};
}

void WebhookHandler::Notification::set_headers() {
    const std::string timestamp = std::to_string(
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count());
    call_.headers = {{"User-Agent", "agentforge"}, {"Idempotency-Key", message_.key()}, {"X-AgentForge-Timestamp", timestamp}};
    if (!target_.secret.empty()) {
        call_.headers.emplace_back("X-AgentForge-Signature", signature(target_.secret, timestamp, call_.body));
    }
}

/// Returns nothing if the notification arrived. An error is final.
Result<std::optional<WebhookHandler::Notification::Failure>> WebhookHandler::Notification::try_once() {
    set_headers();
    call_.deadline = std::min(latest_, steady_clock::now() + longest_attempt);
    std::string answer;
    const auto head = http::exchange(
        call_, [this] { return context_.cancelled(); },
        [&answer](const http::Head&, std::string_view part) -> Result<bool> {
            answer.append(part);
            return answer.size() < longest_answer;
        });
    return head.ok() ? judge(*head, answer) : judge(head.error());
}

Result<std::optional<WebhookHandler::Notification::Failure>> WebhookHandler::Notification::judge(
    const http::Head& head, const std::string& answer) const {
    if (head.status >= 200 && head.status < 300) { return std::optional<Failure>(); }
    const std::string why = "it answered " + std::to_string(head.status) + said(answer);
    if (may_pass(head.status)) { return std::optional(Failure{why, http::asked_to_wait(head)}); }
    const bool moved = head.status >= 300 && head.status < 400;
    return Error{"AF-ESC-054",
                 "the webhook at " + target_.server.host + " refused " + message_.id + ": " + why +
                     (moved ? " (a redirection, which is not followed)" : ""),
                 target_.server.host,
                 "Check the address in " + handler_.url_variable_ + ", the server's key and `format`; then `agentforge remind`.",
                 ErrorKind::unavailable};
}

Result<std::optional<WebhookHandler::Notification::Failure>> WebhookHandler::Notification::judge(const Error& error) const {
    if (error.kind == ErrorKind::cancelled) { return cancelled(); }
    if (error.code != "AF-LLM-403" && error.code != "AF-LLM-415") { return std::optional(Failure{error.message}); }
    return Error{"AF-ESC-054", "the webhook was not notified of " + message_.id + ": " + error.message, target_.server.host,
                 error.code == "AF-LLM-415"
                     ? error.remedy
                     : "Check the address; for a private certificate authority name its file in the plugin's setting ca_file.",
                 ErrorKind::unavailable};
}

Error WebhookHandler::Notification::cancelled() const {
    return Error{"AF-ESC-053", "the notification of the webhook was cancelled", target_.server.host, "AgentForge sends it later.",
                 ErrorKind::cancelled};
}

Error WebhookHandler::Notification::late(unsigned tries, const std::string& why) const {
    return Error{"AF-ESC-053",
                 "the webhook at " + target_.server.host + " was not notified of " + message_.id + " (tried " +
                     std::to_string(tries) + (tries == 1 ? " time): " : " times): ") + why,
                 target_.server.host, "Nothing is lost: `agentforge remind` or resuming the task notifies it again.",
                 ErrorKind::transient};
}

Result<void> WebhookHandler::send(Message message, const std::string& directory, CallContext& context) const {
    AF_TRY(const Target target, this->target());
    read_notification_record(message, directory);
    return Notification(*this, target, message, context).send();
}

Result<void> WebhookHandler::notify(const Escalation& escalation, CallContext& context) {
    return send(message_of(escalation), escalation.directory, context);
}
Result<void> WebhookHandler::notify_approval(const ApprovalRequest& request, CallContext& context) {
    return send(message_of(request), request.directory, context);
}

Result<std::optional<Resolution>> WebhookHandler::wait_for_resolution(const Escalation&, CallContext& context) {
    wait_out(context);
    return std::optional<Resolution>();
}

Result<std::optional<Approval>> WebhookHandler::wait_for_approval(const ApprovalRequest&, CallContext& context) {
    wait_out(context);
    return std::optional<Approval>();
}

}  // namespace agentforge::escalation_webhook
