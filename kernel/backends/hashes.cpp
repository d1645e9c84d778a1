// SPDX-License-Identifier: Apache-2.0
#include "backends/hashes.hpp"

#include <array>

#include "backends/model_client.hpp"
#include "base/hash.hpp"
#include "escalation/question.hpp"

namespace agentforge::kernel {

namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_lower_hex(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_hex(char c) noexcept { return is_lower_hex(c) || (c >= 'A' && c <= 'F'); }
bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) noexcept { return is_letter(c) || is_digit(c) || c == '_'; }

/// Counts the characters from `at` on that satisfy `test`.
template <class Test>
std::size_t run(std::string_view text, std::size_t at, Test test) {
    std::size_t length = 0;
    while (at + length < text.size() && test(text[at + length])) { ++length; }
    return length;
}

bool ends_word(std::string_view text, std::size_t at) { return at >= text.size() || !is_word(text[at]); }

/// Returns the length of `task-20260102-words-1f2e`, `ESC-…` or `REQ-20260102-words-1f2e` at the start of `text`.
std::size_t id_length(std::string_view text) {
    constexpr std::string_view task = "task-";
    if (text.starts_with(task)) {
        if (run(text, task.size(), is_digit) != 8) { return 0; }
        std::size_t length = task.size() + 8;
        while (length + 1 < text.size() && text[length] == '-') {
            const std::size_t part = run(text, length + 1, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); });
            if (part == 0) { break; }
            length += 1 + part;
        }
        return length;
    }
    if (const auto kind = kind_of(text); kind && kind != QuestionKind::action) {  // Recorded hashes include the ids of actions.
        const std::size_t rest = run(text, prefix_length, [](char c) { return is_word(c) || c == '-'; });
        return rest == 0 ? 0 : prefix_length + rest;
    }
    for (const std::string_view prefix :
         {"REQ-", "SPEC-", "SUITE-", "IMPL-"}) {  // Ids of one task's artifacts. `REQ-001` is not such an id.
        if (!text.starts_with(prefix) || run(text, prefix.size(), is_digit) != 8 ||
            !text.substr(prefix.size() + 8).starts_with('-')) {
            continue;
        }
        return prefix.size() + run(text, prefix.size(), [](char c) { return is_word(c) || c == '-'; });
    }
    return 0;
}

/// Returns the length of an RFC 3339 time (`2026-01-02T15:30:00.123Z`, also with a space for the T and without a zone).
std::size_t time_length(std::string_view text) {
    constexpr std::string_view shape = "dddd-dd-ddTdd:dd:dd";
    if (text.size() < shape.size()) { return 0; }
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const char c = text[i];
        if (shape[i] == 'd' ? !is_digit(c) : (shape[i] == 'T' ? c != 'T' && c != 't' && c != ' ' : c != shape[i])) { return 0; }
    }
    std::size_t length = shape.size();
    if (length + 1 < text.size() && text[length] == '.' && is_digit(text[length + 1])) {
        length += 1 + run(text, length + 1, is_digit);
    }
    if (length < text.size() && (text[length] == 'Z' || text[length] == 'z')) { return length + 1; }
    if (length + 5 < text.size() && (text[length] == '+' || text[length] == '-') && is_digit(text[length + 1]) &&
        is_digit(text[length + 2]) && text[length + 3] == ':' && is_digit(text[length + 4]) && is_digit(text[length + 5])) {
        return length + 6;
    }
    return length;
}

/// Returns the length of a number with a unit of time.
std::size_t duration_length(std::string_view text) {
    std::size_t length = run(text, 0, is_digit);
    if (length == 0) { return 0; }
    if (length + 1 < text.size() && text[length] == '.' && is_digit(text[length + 1])) {
        length += 1 + run(text, length + 1, is_digit);
    }
    if (length < text.size() && text[length] == ' ') { ++length; }
    static constexpr std::array<std::string_view, 12> units{"seconds", "second", "minutes", "minute",    "secs", "sec",
                                                            "min",     "ms",     "us",      "\xC2\xB5s", "ns",   "s"};
    for (const std::string_view unit : units) {
        if (text.substr(length).starts_with(unit) && ends_word(text, length + unit.size())) { return length + unit.size(); }
    }
    return 0;
}

std::size_t uuid_length(std::string_view text) {
    constexpr std::array<std::size_t, 5> groups{8, 4, 4, 4, 12};
    std::size_t length = 0;
    for (std::size_t group = 0; group < groups.size(); ++group) {
        if (group > 0) {
            if (length >= text.size() || text[length] != '-') { return 0; }
            ++length;
        }
        if (run(text, length, is_hex) != groups[group]) { return 0; }
        length += groups[group];
    }
    return ends_word(text, length) ? length : 0;
}

/// Returns the length of `/a/b`. `text` must start with a slash.
std::size_t path_length(std::string_view text) {
    constexpr std::string_view stops = "\"'`<>|(){}[],;:\\";
    const std::size_t length =
        run(text, 0, [&](char c) { return static_cast<unsigned char>(c) > ' ' && stops.find(c) == std::string_view::npos; });
    const std::string_view path = text.substr(0, length);
    const bool two_parts = path.size() > 2 && path[1] != '/' && path.find('/', 1) != std::string_view::npos;
    return two_parts ? length : 0;
}

}  // namespace

std::string without_volatile_parts(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    std::size_t at = 0;
    while (at < text.size()) {
        const char c = text[at];
        const char before = at == 0 ? ' ' : text[at - 1];
        const std::string_view rest = text.substr(at);
        std::size_t length = 0;
        std::string_view place_holder;
        if (c == '/') {
            if (!is_word(before) && before != '/' && before != '.' && before != ':' && before != '*' && before != '~' &&
                before != '-') {
                length = path_length(rest);
                place_holder = "<path>";
            }
        } else if (is_word(c) && !is_word(before)) {
            if ((length = id_length(rest)) > 0) {
                place_holder = c == 't' ? "<task>" : "<id>";
            } else if (is_digit(c) && (length = time_length(rest)) > 0) {
                place_holder = "<time>";
            } else if (is_hex(c) && (length = uuid_length(rest)) > 0) {
                place_holder = "<uuid>";
            } else if (rest.starts_with("0x") && run(rest, 2, is_hex) >= 6) {
                length = 2 + run(rest, 2, is_hex);
                place_holder = "<address>";
            } else if (is_lower_hex(c) && (length = run(rest, 0, is_lower_hex)) >= 12 && ends_word(rest, length)) {
                place_holder = "<hash>";
            } else {
                length = is_digit(c) && before != '.' && before != '-' ? duration_length(rest) : 0;
                place_holder = "<duration>";
            }
        }
        if (length > 0) {
            result += place_holder;
            at += length;
        } else {
            result += c;
            ++at;
        }
    }
    return result;
}

std::string frame_hash(const CompletionRequest& request) {
    json::array tools;
    for (const ToolDescription& tool : request.tools) {
        tools.push_back(json::object{{"name", tool.name}, {"description", tool.description}, {"parameters", tool.parameters}});
    }
    return hash_of(json::object{{"stage", request.place.stage},
                                {"role", request.place.role},
                                {"system", without_volatile_parts(request.system)},
                                {"tools", std::move(tools)}});
}

std::string context_hash(const CompletionRequest& request) { return sha256(without_volatile_parts(request.user)); }

}  // namespace agentforge::kernel
