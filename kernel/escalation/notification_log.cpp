// SPDX-License-Identifier: Apache-2.0
#include "escalation/notification_log.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::chrono::minutes first_pause{1};
constexpr std::chrono::minutes longest_pause{60};
constexpr std::size_t max_log_bytes = 1UL << 20U;

Error cannot_keep(const std::string& why, const std::filesystem::path& file) {
    return Error{"AF-ESC-056", "Cannot record the notifications of a question: " + why, file.string(),
                 "Check the folder's permissions and the space on its disk; nobody was notified", ErrorKind::io};
}

unsigned small_number(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    if (value == nullptr || !value->is_int64() || value->get_int64() < 0) { return 0; }
    return static_cast<unsigned>(std::min<std::int64_t>(value->get_int64(), 1'000'000));
}

std::string text_in(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace

bool NotificationState::remind(std::string_view created_at, Time now, const ReminderPolicy& policy) {
    if (policy.after.count() == 0 || reminder >= policy.most) { return false; }
    const auto before = parse_time(reminded_at.empty() ? created_at : std::string_view(reminded_at));
    if (!before.ok() || now < *before + policy.after) { return false; }
    reminder += 1;
    reminded_at = format_time(now);
    return true;
}

bool NotificationState::is_due(std::string_view handler, Time now, bool at_once) const {
    const auto found = handlers.find(handler);
    if (found == handlers.end()) { return true; }
    if (found->second.sent > reminder) { return false; }
    if (at_once || found->second.next_try.empty()) { return true; }
    const auto next = parse_time(found->second.next_try);
    // A time further away than any pause comes from a clock that was wrong.
    return !next.ok() || now >= *next || *next > now + longest_pause;
}

void NotificationState::succeeded(std::string_view handler) {
    handlers.insert_or_assign(std::string(handler), HandlerState{.sent = reminder + 1, .tries = 0, .next_try = {}, .error = {}});
}

void NotificationState::failed(std::string_view handler, std::string_view error, Time now) {
    HandlerState& handler_state = handlers[std::string(handler)];
    const auto pause = std::min(longest_pause, first_pause * (1U << std::min(handler_state.tries, 10U)));
    handler_state.tries += 1;
    handler_state.next_try = format_time(now + pause);
    handler_state.error = ellipsis(error, 500);
}

std::filesystem::path NotificationLog::file(std::string_view id) const {
    return escalations_ / ".told" / (std::string(id) + ".json");
}

Result<FileDescriptor> NotificationLog::lock(std::string_view id) const {
    // The record itself, which exists and is never replaced.
    const std::filesystem::path record = escalations_ / (std::string(id) + ".yaml");
    FileDescriptor held(::open(record.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!held.valid()) { return cannot_keep(errno_text(errno), record); }
    if (::flock(held.get(), LOCK_EX | LOCK_NB) == 0) { return held; }
    if (errno == EWOULDBLOCK || errno == EINTR) { return FileDescriptor(); }
    return cannot_keep(errno_text(errno), record);
}

NotificationState NotificationLog::read(std::string_view id) const {
    NotificationState notifications;
    const auto bytes = read_file(file(id), max_log_bytes);
    if (!bytes.ok()) { return notifications; }
    boost::system::error_code error;
    const json::value value = json::parse(*bytes, error);
    if (error || !value.is_object()) { return notifications; }
    const json::object& object = value.get_object();
    notifications.reminder = small_number(object, "reminder");
    notifications.reminded_at = text_in(object, "reminded_at");
    const json::value* handlers = object.if_contains("handlers");
    if (handlers == nullptr || !handlers->is_object()) { return notifications; }
    for (const auto& [name, part] : handlers->get_object()) {
        if (!part.is_object()) { continue; }
        const json::object& of = part.get_object();
        notifications.handlers.emplace(name, HandlerState{small_number(of, "told"), small_number(of, "tries"),
                                                          text_in(of, "next_try"), text_in(of, "error")});
    }
    return notifications;
}

Result<void> NotificationLog::write(std::string_view id, const NotificationState& notifications,
                                    const AnswerDeadline& deadline) const {
    json::object handlers;
    for (const auto& [name, part] : notifications.handlers) {
        handlers[name] =
            json::object{{"told", part.sent}, {"tries", part.tries}, {"next_try", part.next_try}, {"error", part.error}};
    }
    const json::object object{{"id", id},
                              {"reminder", notifications.reminder},
                              {"reminded_at", notifications.reminded_at},
                              {"deadline", deadline.time},
                              {"at_deadline", deadline.then},
                              {"default_answer", deadline.default_answer},
                              {"handlers", std::move(handlers)}};
    const std::filesystem::path place = file(id);
    Result<void> made = make_directories(place.parent_path());
    if (made.ok()) { made = write_file_atomic(place, to_json_pretty(object), Durability::synced); }
    return made.ok() ? made : Result<void>(cannot_keep(made.error().message, place));
}

}  // namespace agentforge::kernel
