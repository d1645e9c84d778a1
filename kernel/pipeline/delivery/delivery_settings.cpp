// SPDX-License-Identifier: Apache-2.0
#include "pipeline/delivery/delivery_settings.hpp"

#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

std::string delivery_text(const json::object& section, std::string_view key, std::string otherwise) {
    const json::value* value = section.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::move(otherwise);
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) { text.remove_prefix(1); }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) { text.remove_suffix(1); }
    return text;
}

/// Returns the title's words in a form that is valid in a branch name.
std::string slug_of(std::string_view title) {
    constexpr std::size_t longest = 48;
    std::string slug;
    for (const char character : title) {
        const char lower = character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
        const bool kept = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
        if (kept) {
            slug += lower;
        } else if (!slug.empty() && slug.back() != '-') {
            slug += '-';
        }
        if (slug.size() >= longest) { break; }
    }
    while (slug.ends_with('-')) { slug.pop_back(); }
    return slug.empty() ? "change" : slug;
}

constexpr std::string_view words[] = {"{task}", "{slug}", "{short}"};

}  // namespace

Result<PersonName> parse_person(std::string_view text, std::string_view what) {
    const std::size_t open = text.find('<');
    const std::string_view name = trimmed(text.substr(0, open == std::string_view::npos ? 0 : open));
    const bool closed = open != std::string_view::npos && text.ends_with('>') &&
                        text.find('<', open + 1) == std::string_view::npos && text.find('>') == text.size() - 1;
    const std::string_view email = closed ? trimmed(text.substr(open + 1, text.size() - open - 2)) : std::string_view();
    bool plain = true;
    for (const char character : text) { plain = plain && static_cast<unsigned char>(character) >= 0x20 && character != 0x7f; }
    if (name.empty() || email.empty() || !plain || email.find(' ') != std::string_view::npos) {
        return Error{"AF-GIT-045", "`" + ellipsis(sanitize_utf8(text), 120) + "` is not a name with an email address",
                     std::string(what), "Write a name and an address: Ada Lovelace <ada@example.org>", ErrorKind::invalid};
    }
    return PersonName{std::string(name), std::string(email)};
}

Result<DeliverySettings> read_delivery_settings(const json::object& section,
                                                const std::function<std::string(const std::string&)>& where) {
    DeliverySettings settings;
    // The settings schema allows no other values.
    settings.type = parse_delivery_type(delivery_text(section, "type", "")).value_or(settings.type);
    settings.branch = delivery_text(section, "branch", settings.branch);
    settings.title = delivery_text(section, "title", settings.title);
    settings.author = delivery_text(section, "author", "");
    settings.co_author = delivery_text(section, "co_author", settings.co_author);
    settings.sign = delivery_text(section, "sign", settings.sign);
    settings.hooks = delivery_text(section, "hooks", settings.hooks);
    settings.remote = delivery_text(section, "remote", settings.remote);
    settings.base = delivery_text(section, "base", "");
    if (const json::value* seconds = section.if_contains("hook_timeout_seconds"); seconds != nullptr && seconds->is_number()) {
        settings.hook_timeout = std::chrono::seconds(seconds->to_number<std::int64_t>());
    }
    if (!settings.author.empty()) { AF_CHECK(parse_person(settings.author, where("delivery.author"))); }
    if (!settings.co_author.empty()) { AF_CHECK(parse_person(settings.co_author, where("delivery.co_author"))); }
    std::string rest = settings.branch;
    bool any = false;
    for (const std::string_view word : words) {
        for (std::size_t at = 0; (at = rest.find(word)) != std::string::npos;) {
            rest.erase(at, word.size());
            any = true;
        }
    }
    if (!any || rest.find_first_of("{}") != std::string::npos || rest.starts_with('-')) {
        return Error{"AF-GIT-046",
                     "`" + ellipsis(sanitize_utf8(settings.branch), 120) + "` would give the branches of all tasks the same name",
                     where("delivery.branch"),
                     "Use {task} (the id), {short} (its end) or {slug} (the title's words), such as feature/{slug}-{short}",
                     ErrorKind::invalid};
    }
    bool one_line = true;
    for (const char character : settings.title) { one_line = one_line && static_cast<unsigned char>(character) >= 0x20; }
    if (!one_line || settings.title.find("{title}") == std::string::npos) {
        return Error{"AF-GIT-046", "`" + ellipsis(sanitize_utf8(settings.title), 120) + "` would give all commits the same title",
                     where("delivery.title"), "Write one line with {title} in it, such as feat: {title}", ErrorKind::invalid};
    }
    return settings;
}

std::string delivery_title(const DeliverySettings& settings, const std::string& title) {
    std::string text = settings.title;
    constexpr std::string_view word = "{title}";
    text.replace(text.find(word), word.size(), ellipsis(title, 100));
    return text;
}

std::string delivery_branch(const DeliverySettings& settings, std::string_view task_id, std::string_view title) {
    if (settings.type == DeliveryType::commit) { return "agentforge/" + std::string(task_id); }
    std::string name = settings.branch;
    const std::string fillings[] = {std::string(task_id), slug_of(title),
                                    std::string(task_id.substr(task_id.size() > 8 ? task_id.size() - 8 : 0))};
    for (std::size_t index = 0; index < std::size(words); ++index) {
        for (std::size_t at = name.find(words[index]); at != std::string::npos;
             at = name.find(words[index], at + fillings[index].size())) {
            name.replace(at, words[index].size(), fillings[index]);
        }
    }
    return name;
}

}  // namespace agentforge::kernel
