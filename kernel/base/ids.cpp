// SPDX-License-Identifier: Apache-2.0
#include "base/ids.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <sys/random.h>

namespace agentforge::kernel {

namespace {

constexpr char hexadecimal[] = "0123456789abcdef";
constexpr std::size_t id_digits = 8;  ///< At the end of a task's id.

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_hex_digit(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_word(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'z'); }

}  // namespace

std::string SystemIdSource::random_hex(std::size_t digits) {
    std::string text;
    text.reserve(digits);
    while (text.size() < digits) {
        unsigned char bytes[32];
        const ssize_t count = ::getrandom(bytes, sizeof bytes, 0);
        if (count < 0) {
            if (errno == EINTR) { continue; }
            std::fputs("agentforge: cannot get random numbers from the system\n", stderr);
            std::abort();
        }
        for (ssize_t i = 0; i < count; ++i) {
            for (const int nibble : {bytes[i] >> 4, bytes[i] & 15}) {
                if (text.size() < digits) { text += hexadecimal[nibble]; }
            }
        }
    }
    return text;
}

std::string CountingIdSource::random_hex(std::size_t digits) {
    std::string text(digits, '0');
    auto rest = ++next_;
    for (std::size_t i = digits; i > 0 && rest != 0; --i, rest >>= 4U) { text[i - 1] = hexadecimal[rest & 15U]; }
    return text;
}

std::string make_task_id(std::string_view request, std::string_view day_yyyymmdd, IdSource& ids) {
    constexpr std::size_t most_words = 5;
    constexpr std::size_t longest_word = 20;
    std::string id = "task-";
    for (std::size_t i = 0; i < 8; ++i) { id += i < day_yyyymmdd.size() && is_digit(day_yyyymmdd[i]) ? day_yyyymmdd[i] : '0'; }
    std::size_t words = 0;
    std::size_t length = 0;
    for (char c : request) {
        if (c >= 'A' && c <= 'Z') { c = static_cast<char>(c - 'A' + 'a'); }
        if (!is_word(c)) {
            length = 0;
            if (words == most_words) { break; }
            continue;
        }
        if (length == 0) {
            id += '-';
            ++words;
        }
        if (length++ < longest_word) { id += c; }
    }
    return id + '-' + ids.random_hex(id_digits);
}

bool is_task_id(std::string_view text) noexcept {
    constexpr std::size_t longest = 200;
    if (text.size() < 13 || text.size() > longest || text.substr(0, 5) != "task-") { return false; }
    for (std::size_t i = 5; i < 13; ++i) {
        if (!is_digit(text[i])) { return false; }
    }
    text.remove_prefix(13);
    if (text.empty()) { return true; }
    if (text.front() != '-' || text.back() == '-') { return false; }
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (!is_word(text[i]) && (text[i] != '-' || text[i - 1] == '-')) { return false; }
    }
    return true;
}

bool is_question_of_task(std::string_view name, std::string_view task_id) noexcept {
    const std::size_t dash = name.find('-');
    if (dash == std::string_view::npos) { return false; }
    name.remove_prefix(dash + 1);
    if (!name.starts_with(task_id)) { return false; }
    name.remove_prefix(task_id.size());
    if (!name.starts_with('-')) { return false; }
    // A longer task id ends with digits such as `-1f2e3d4c`, before the stage.
    for (std::size_t at = name.find('-', 1); at != std::string_view::npos; at = name.find('-', 1)) {
        const std::string_view word = name.substr(1, at - 1);
        if (word.size() == id_digits && std::ranges::all_of(word, is_hex_digit)) { return false; }
        name.remove_prefix(at);
    }
    return true;
}

std::string short_id(std::string_view task_id) {
    const std::size_t dash = task_id.rfind('-');
    return std::string(dash == std::string_view::npos || dash + 1 == task_id.size() ? task_id : task_id.substr(dash + 1));
}

std::vector<std::string> ids_named(const std::vector<std::string>& task_ids, std::string_view named) {
    if (named.size() < shortest_task_name) { return {}; }
    constexpr std::size_t prefix = 5;  // `task-`
    std::vector<std::string> as_shown;
    std::vector<std::string> by_beginning;
    for (const std::string& id : task_ids) {
        const std::string_view whole = id;
        if (whole == named) { return {id}; }
        if (short_id(id).starts_with(named) || whole.ends_with(named)) {
            as_shown.push_back(id);
        } else if (whole.starts_with(named) || (whole.starts_with("task-") && whole.substr(prefix).starts_with(named))) {
            by_beginning.push_back(id);
        }
    }
    return as_shown.empty() ? by_beginning : as_shown;
}

}  // namespace agentforge::kernel
