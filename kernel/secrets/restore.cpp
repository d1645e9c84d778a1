// SPDX-License-Identifier: Apache-2.0
#include "secrets/restore.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::string_view opening = "[REDACTED:";
constexpr std::size_t longest_name = 120;
constexpr std::size_t digits = 8;

bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' ||
           c == '/' || c == '+';
}

/// Returns the size of the placeholder at `at`, or 0.
std::size_t whole_size(std::string_view text, std::size_t at) {
    std::size_t end = at + opening.size();
    const std::size_t name = end;
    while (end < text.size() && is_name(text[end])) { ++end; }
    if (end == name || end - name > longest_name || end + digits + 2 > text.size() || text[end] != ':' ||
        text[end + 1 + digits] != ']') {
        return 0;
    }
    const std::string_view hash = text.substr(end + 1, digits);
    const bool hexadecimal =
        std::all_of(hash.begin(), hash.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    return hexadecimal ? end + digits + 2 - at : 0;
}

}  // namespace

PlaceholderAt find_placeholder(std::string_view text, std::size_t from) {
    for (std::size_t at = text.find(opening, from); at != std::string_view::npos; at = text.find(opening, at + 1)) {
        if (const std::size_t size = whole_size(text, at); size > 0) { return {at, size}; }
    }
    return {};
}

bool may_hold_placeholder(std::string_view text) { return text.find(opening) != std::string_view::npos; }

bool equals_but_for_secrets(std::string_view redacted, std::string_view text) {
    bool is_first = true;
    for (PlaceholderAt next = find_placeholder(redacted); next.size > 0; next = find_placeholder(redacted)) {
        const std::string_view before = redacted.substr(0, next.begin);
        const std::size_t at = is_first ? 0 : text.find(before);
        if (at == std::string_view::npos || !text.substr(at).starts_with(before)) { return false; }
        text.remove_prefix(at + before.size());
        redacted.remove_prefix(next.begin + next.size);
        is_first = false;
    }
    return is_first ? text == redacted : text.ends_with(redacted);
}

Result<std::string> restore_secrets(std::string_view text, std::string_view before, const std::vector<Hidden>& hidden,
                                    const FindHidden& elsewhere, const std::string& path) {
    std::string made;
    std::size_t at = 0;
    for (std::size_t next = text.find(opening); next != std::string_view::npos; next = text.find(opening, at)) {
        made += text.substr(at, next - at);
        const std::size_t size = whole_size(text, next);
        if (size == 0) {
            const std::string_view line = text.substr(next, std::min<std::size_t>(text.find_first_of("]\n", next) - next, 80));
            if (!hidden.empty() && before.find(line) == std::string_view::npos) {
                return Error{"AF-SEC-004",
                             "'" + ellipsis(sanitize_utf8(line), 80) + "' is not a complete placeholder, and '" + path +
                                 "' contains secrets that are shown as placeholders.",
                             path, "Write placeholders exactly as they were shown, or leave these lines as they are.",
                             ErrorKind::invalid};
            }
            made += opening;
            at = next + opening.size();
            continue;
        }
        const std::string_view found = text.substr(next, size);
        at = next + size;
        const auto own =
            std::find_if(hidden.begin(), hidden.end(), [found](const Hidden& one) { return one.placeholder == found; });
        const bool literal = before.find(found) != std::string_view::npos;
        if (own != hidden.end()) {
            if (literal) {
                return Error{"AF-SEC-005",
                             "'" + path + "' contains the text '" + std::string(found) +
                                 "' and also the secret that is shown as this text; AgentForge cannot tell them apart.",
                             path, "Leave this file as it is. escalate_question asks a person about it.", ErrorKind::invalid};
            }
            made += own->text;
            continue;
        }
        if (literal) {
            made += found;
            continue;
        }
        const auto secret = elsewhere ? elsewhere(found) : std::nullopt;
        if (!secret) {
            return Error{"AF-SEC-003",
                         "The secret behind '" + std::string(found) + "' is not in the workspace, so it cannot be written to '" +
                             path + "'.",
                         path, "Make the code read it from the environment or a secret store; never write it into a file.",
                         ErrorKind::denied};
        }
        made += *secret;
    }
    made += text.substr(at);
    return made;
}

}  // namespace agentforge::kernel
