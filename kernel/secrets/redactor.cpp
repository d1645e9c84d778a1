// SPDX-License-Identifier: Apache-2.0
#include "secrets/redactor.hpp"

#include <boost/describe/members.hpp>
#include <boost/describe/modifiers.hpp>
#include <boost/mp11/algorithm.hpp>

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "base/hash.hpp"
#include "secrets/forms.hpp"
#include "secrets/text_view.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::string_view opening = "[REDACTED:";
constexpr std::string_view rules_key = "agentforge: shapes of keys, 1";
constexpr std::size_t head_bytes = 3;  ///< Leading bytes of a pattern that the first check of a place compares.
constexpr unsigned table_bits = 15;
constexpr std::size_t shortest_value = 8;  ///< Minimum length of a known value, in bytes.
constexpr std::size_t shortest_run = 16;   ///< Minimum number of characters to decode.
constexpr std::size_t shortest_cut = 6;    ///< Minimum length of a part of a known value at a cut.
constexpr std::string_view left_out_begins = "\n[… ";
constexpr std::string_view left_out_ends = " bytes left out …]\n";

std::string digits_of(std::string_view key, std::string_view name, std::string_view text) {
    std::string inner(key);
    inner.append("\n").append(name).append("\n").append(text);
    return sha256(std::string(key) + "\n" + sha256(inner)).substr(0, 8);
}

std::string placeholder(std::string_view key, const std::string& name, std::string_view text) {
    return std::string(opening) + name + ":" + digits_of(key, name, text) + "]";
}

/// Replaces characters that may not be in a placeholder.
std::string shown_name(std::string_view name) {
    std::string shown;
    for (const char c : name.substr(0, 60)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                           c == '.' || c == '/';
        shown += plain ? c : '_';
    }
    return shown;
}

std::size_t head_of(const char* at) {
    const auto byte = [at](unsigned i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(at[i])); };
    return ((byte(0) | (byte(1) << 8U) | (byte(2) << 16U)) * 2'654'435'761U) >> (32U - table_bits);
}

bool is_object_name(std::string_view text) {
    return (text.size() == 40 || text.size() == 64) &&
           std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

struct Pattern {
    std::string text;
    std::string small;        ///< `text`, folded.
    std::string name;         ///< For a known form: its name in the placeholder.
    std::string placeholder;  ///< For a known form: the placeholder of its exact text.
    std::size_t rule = 0;     ///< For a keyword: 1 + the index of its rule.
    bool encodes = false;     ///< True if the form is an encoding of the value.
};

/// Compiled when its keyword is first found; most runs find none.
struct Rule {
    explicit Rule(SecretRule rule) : says(std::move(rule)) {}
    [[nodiscard]] const RE2& pattern() const {
        std::call_once(once, [this] {
            compiled = std::make_unique<RE2>(says.pattern, RE2::Quiet);
            if (compiled->ok()) { return; }  // Continuing would reveal secrets.
            std::fprintf(stderr, "agentforge: AF-SEC-001: the rule `%s` for secrets is not an RE2 expression: %s\n",
                         says.name.c_str(), compiled->error().c_str());
            std::abort();
        });
        return *compiled;
    }
    SecretRule says;
    mutable std::once_flag once;
    mutable std::unique_ptr<RE2> compiled;
};

struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string placeholder;
};

}  // namespace

struct Redactor::State {
    std::vector<Pattern> patterns;
    std::vector<std::uint64_t> heads = std::vector<std::uint64_t>((1UL << table_bits) / 64);  ///< The heads that begin a pattern.
    std::unordered_map<std::size_t, std::vector<std::uint32_t>> buckets;  ///< By head, the longest pattern first.
    std::deque<Rule> rules;
    std::vector<std::string> values;  ///< The unencoded values, for cut ends.
    std::string key;
    std::size_t reach = 0;  ///< Length of the longest known form.

    void add(Pattern pattern) {
        pattern.small = ascii_lower_case(pattern.text);
        const std::size_t head = head_of(pattern.small.data());
        heads[head / 64] |= 1ULL << (head % 64);
        buckets[head].push_back(static_cast<std::uint32_t>(patterns.size()));
        patterns.push_back(std::move(pattern));
    }

    /// Calls `found` for each known form in the text, leftmost and longest first, and marks the rules whose keywords occur.
    template <class Found>
    void scan(std::string_view text, std::vector<bool>& wanted, Found found) const {
        if (text.size() < head_bytes) { return; }
        const std::string small = ascii_lower_case(text);
        const char* const bytes = small.data();
        const std::size_t last = text.size() - head_bytes;
        for (std::size_t i = 0; i <= last; ++i) {
            const std::size_t head = head_of(bytes + i);
            if (((heads[head / 64] >> (head % 64)) & 1U) == 0) { continue; }
            for (const std::uint32_t index : buckets.find(head)->second) {
                const Pattern& pattern = patterns[index];
                if (pattern.small.size() > text.size() - i ||
                    std::memcmp(pattern.small.data(), bytes + i, pattern.small.size()) != 0) {
                    continue;
                }
                if (pattern.rule != 0) {
                    // Keywords are case-sensitive.
                    if (std::memcmp(pattern.text.data(), text.data() + i, pattern.text.size()) != 0) { continue; }
                    if (wanted.empty()) { wanted.resize(rules.size()); }
                    wanted[pattern.rule - 1] = true;
                    continue;
                }
                found(pattern, i, i + pattern.text.size());
                i += pattern.text.size() - 1;
                break;
            }
        }
    }

    void scan_plain(std::string_view text, std::vector<Range>& known, std::vector<bool>& wanted) const {
        scan(text, wanted, [&](const Pattern& pattern, std::size_t begin, std::size_t end) {
            const std::string_view there = text.substr(begin, end - begin);
            known.push_back(
                {begin, end, there == pattern.text ? pattern.placeholder : placeholder(key, pattern.name + ".case", there)});
        });
    }

    /// Returns views of the text with escapes resolved, terminal sequences removed, groups of digits joined and line ends
    /// removed. The latter two may themselves be escaped.
    [[nodiscard]] std::vector<TextView> views_of(std::string_view text) const {
        std::vector<TextView> views = without_escapes(text, reach);
        std::vector<TextView> others = grouped_hexadecimal(text, 2 * shortest_value);
        std::ranges::move(joined_lines(text), std::back_inserter(others));
        for (const TextView& view : views) {
            add_through(view, grouped_hexadecimal(view.text(), 2 * shortest_value), others);
            add_through(view, joined_lines(view.text()), others);
        }
        std::ranges::move(others, std::back_inserter(views));
        return views;
    }

    static void add_through(const TextView& outer, std::vector<TextView> inner, std::vector<TextView>& views) {
        for (TextView& view : inner) {
            view.map_through(outer);
            views.push_back(std::move(view));
        }
    }

    /// Finds known forms in these views, and in what base64, base32 and hexadecimal digits in them or in the text decode to.
    void scan_escaped(std::string_view text, std::vector<Range>& known) const {
        const std::vector<TextView> views = views_of(text);
        std::vector<TextView> decoded = decoded_runs(text, shortest_run);
        for (const TextView& view : views) {
            add_through(view, decoded_runs(view.text(), shortest_run), decoded);
            std::vector<bool> ignored;
            scan(view.text(), ignored, [&](const Pattern& pattern, std::size_t first, std::size_t last) {
                const std::size_t begin = view.source_begin(first);
                const std::size_t end = view.source_end(last);
                if (end - begin == last - first) { return; }  // Nothing was undone in it, so it was already found.
                hide(text, begin, end, pattern.name + ".escaped", known);
            });
        }
        for (const TextView& view : decoded) { hide_encoded(text, view, known); }
    }

    /// Hides the whole run if it decodes to a known form that is itself encoded. A form that is not was already found.
    void hide_encoded(std::string_view text, const TextView& run, std::vector<Range>& known) const {
        const std::string name = name_within(run.text());
        if (name.empty()) { return; }
        const std::size_t begin = run.source_begin(0);
        const std::size_t end = run.source_end(run.text().size());
        hide(text, begin, end, name + ".encoded", known);
    }

    /// If a secret spans several lines, each line's part becomes its own placeholder.
    void hide(std::string_view text, std::size_t begin, std::size_t end, const std::string& name,
              std::vector<Range>& known) const {
        const std::size_t line_end = text.find('\n', begin);
        if (line_end >= end) {
            known.push_back({begin, end, placeholder(key, name, text.substr(begin, end - begin))});
            return;
        }
        constexpr std::string_view blank = " \t\r\n";
        for (std::size_t at = begin; at < end; at = std::min(text.find('\n', at), end - 1) + 1) {
            const std::size_t first = text.find_first_not_of(blank, at);
            const std::size_t part_end = std::min(text.find('\n', at), end);
            if (first >= part_end) { continue; }
            const std::size_t last = text.find_last_not_of(blank, part_end - 1) + 1;
            known.push_back({first, last, placeholder(key, "part", text.substr(first, last - first))});
        }
    }

    /// Returns the name of a known form in the text that is encoded or behind escapes. Empty: none.
    [[nodiscard]] std::string name_within(std::string_view text) const {
        std::string name;
        std::vector<bool> ignored;
        const auto note = [&name](const Pattern& pattern, std::size_t, std::size_t) { name = pattern.name; };
        for (const TextView& view : views_of(text)) { scan(view.text(), ignored, note); }
        scan(text, ignored, [&](const Pattern& pattern, std::size_t first, std::size_t last) {
            const bool as_it_is = !pattern.encodes && text.substr(first, last - first) == pattern.text;
            if (!as_it_is) { name = pattern.name; }
        });
        return name;
    }

    /// True for a hash or git object id of the kernel's own. It matches a known value only by chance.
    [[nodiscard]] bool is_ours(std::string_view text) const {
        return is_object_name(text) && std::find(values.begin(), values.end(), text) == values.end();
    }

    /// Hides the longest beginning of a known value that ends at `end`.
    void hide_beginning(std::string& text, std::size_t end) const {
        hide_part(text, [&](std::string_view value, std::size_t size) {
            return size <= end && text.compare(end - size, size, value.substr(0, size)) == 0 ? end - size : std::string::npos;
        });
    }
    void hide_ending(std::string& text, std::size_t begin) const {
        hide_part(text, [&](std::string_view value, std::size_t size) {
            return text.compare(begin, size, value.substr(value.size() - size)) == 0 ? begin : std::string::npos;
        });
    }
    template <class Find>
    void hide_part(std::string& text, Find find) const {
        std::size_t longest = 0;
        std::size_t place = 0;
        for (const std::string& value : values) {
            for (std::size_t size = value.size() - 1; size >= shortest_cut && size > longest; --size) {
                if (const std::size_t at = find(value, size); at != std::string::npos) {
                    longest = size;
                    place = at;
                }
            }
        }
        if (longest > 0) {
            text.replace(place, longest, placeholder(key, "part", std::string_view(text).substr(place, longest)));
        }
    }

    [[nodiscard]] bool fits(const SecretRule& rule, std::string_view secret) const {
        if (secret.find(opening) != std::string_view::npos) { return false; }
        if (rule.digits > 0 && static_cast<unsigned>(std::count_if(secret.begin(), secret.end(),
                                                                   [](char c) { return c >= '0' && c <= '9'; })) < rule.digits) {
            return false;
        }
        return rule.entropy <= 0 || shannon_entropy(secret) >= rule.entropy;
    }

    void add_lines(const std::string& name, std::string_view text, std::size_t begin, std::size_t end,
                   std::vector<Range>& found) const {
        while (begin < end) {
            std::size_t line_end = std::min(text.find('\n', begin), end);
            std::size_t first = begin;
            begin = line_end + 1;
            while (first < line_end && (text[first] == ' ' || text[first] == '\t')) { ++first; }
            while (line_end > first && (text[line_end - 1] == '\r' || text[line_end - 1] == ' ')) { --line_end; }
            const std::string_view line = text.substr(first, line_end - first);
            if (line.empty() || line.find(opening) != std::string_view::npos) { continue; }
            found.push_back({first, line_end, placeholder(rules_key, name, line)});
        }
    }

    [[nodiscard]] std::vector<Range> matches(const Rule& rule, std::string_view text) const {
        std::vector<Range> found;
        const int group = rule.pattern().NumberOfCapturingGroups() > 0 ? 1 : 0;
        std::array<re2::StringPiece, 2> parts;
        const re2::StringPiece whole(text.data(), text.size());
        std::size_t at = 0;
        while (at < text.size() && rule.pattern().Match(whole, at, text.size(), RE2::UNANCHORED, parts.data(), group + 1)) {
            const re2::StringPiece secret = parts[static_cast<std::size_t>(group)];
            const auto begin = static_cast<std::size_t>(secret.data() - text.data());
            const std::size_t end = begin + secret.size();
            if (rule.says.lines) {
                add_lines(rule.says.name, text, begin, end, found);
            } else if (!secret.empty() && fits(rule.says, {secret.data(), secret.size()})) {
                found.push_back({begin, end, placeholder(rules_key, rule.says.name, {secret.data(), secret.size()})});
            }
            at = std::max(end, at + 1);
        }
        return found;
    }
};

namespace {

/// Inserts the placeholders. Skips ranges that begin inside an earlier one, or at the same place as a longer one.
std::string replaced(std::string_view text, std::vector<Range>& ranges, std::vector<Hidden>* hidden) {
    std::stable_sort(ranges.begin(), ranges.end(),
                     [](const Range& a, const Range& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
    std::string made;
    made.reserve(text.size());
    std::size_t at = 0;
    for (const Range& range : ranges) {
        if (range.begin < at) { continue; }
        made += text.substr(at, range.begin - at);
        made += range.placeholder;
        if (hidden != nullptr) {
            hidden->push_back({range.placeholder, std::string(text.substr(range.begin, range.end - range.begin))});
        }
        at = range.end;
    }
    made += text.substr(at);
    return made;
}

}  // namespace

Redactor::Redactor() : state_(std::make_unique<const State>()) {}
Redactor::~Redactor() = default;

Redactor::Redactor(const std::vector<Secret>& known, const std::vector<SecretRule>& rules, std::string key) {
    auto state = std::make_unique<State>();
    state->key = std::move(key);
    for (const Secret& secret : known) {
        for (const SecretForm& form : forms_of(secret.value)) {
            const auto same = [&form](const Pattern& pattern) { return pattern.text == form.text; };
            // If two names have the same value, the first one counts.
            if (std::any_of(state->patterns.begin(), state->patterns.end(), same)) { continue; }
            const std::string name = shown_name(secret.name) + (form.name.empty() ? "" : "." + form.name);
            state->add({.text = form.text,
                        .small = {},
                        .name = name,
                        .placeholder = placeholder(state->key, name, form.text),
                        .rule = 0,
                        .encodes = !form.name.empty()});
            state->reach = std::max(state->reach, form.text.size());
        }
        state->values.push_back(secret.value);
    }
    for (const SecretRule& rule : rules) {
        state->rules.emplace_back(rule);
        for (const std::string& keyword : rule.keywords) {
            state->add(
                {.text = keyword, .small = {}, .name = {}, .placeholder = {}, .rule = state->rules.size(), .encodes = false});
        }
    }
    const auto longer = [&state](std::uint32_t a, std::uint32_t b) {
        return state->patterns[a].text.size() > state->patterns[b].text.size();
    };
    for (auto& [head, bucket] : state->buckets) { std::stable_sort(bucket.begin(), bucket.end(), longer); }
    state_ = std::move(state);
}

std::optional<std::string> Redactor::redacted(std::string_view text, std::vector<Hidden>* hidden) const {
    if (state_->patterns.empty()) { return std::nullopt; }
    std::vector<Range> known;
    std::vector<bool> wanted;
    state_->scan_plain(text, known, wanted);
    if (!state_->values.empty()) { state_->scan_escaped(text, known); }
    std::optional<std::string> made;
    if (!known.empty()) { made = replaced(text, known, hidden); }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!wanted[i]) { continue; }
        const std::string_view now = made ? std::string_view(*made) : text;
        std::vector<Range> found = state_->matches(state_->rules[i], now);
        if (!found.empty()) { made = replaced(now, found, hidden); }
    }
    return made;
}

std::string Redactor::redact(std::string text) const {
    auto made = redacted(text);
    return made ? *std::move(made) : std::move(text);
}

std::string Redactor::redact_cut(std::string text) const {
    std::string made = redact(std::move(text));
    if (state_->values.empty()) { return made; }
    state_->hide_beginning(made, made.size());
    const std::size_t mark = made.find(left_out_begins);
    const std::size_t end = mark == std::string::npos ? mark : made.find(left_out_ends, mark);
    if (end != std::string::npos) {
        state_->hide_ending(made, end + left_out_ends.size());
        state_->hide_beginning(made, mark);
    }
    return made;
}

bool Redactor::finds(const json::value& value) const {
    if (value.is_string()) {
        const std::string_view view(value.get_string().data(), value.get_string().size());
        return !state_->is_ours(view) && redacted(view).has_value();
    }
    if (value.is_array()) {
        return std::any_of(value.get_array().begin(), value.get_array().end(),
                           [this](const json::value& item) { return finds(item); });
    }
    if (value.is_object()) {
        return std::any_of(value.get_object().begin(), value.get_object().end(), [this](const auto& field) {
            return redacted({field.key().data(), field.key().size()}).has_value() || finds(field.value());
        });
    }
    return false;
}

void Redactor::redact(json::value& value) const {
    if (value.is_string()) {
        json::string& text = value.get_string();
        const std::string_view view(text.data(), text.size());
        if (state_->is_ours(view)) { return; }
        if (const auto made = redacted(view)) { text = *made; }
    } else if (value.is_array()) {
        for (json::value& item : value.get_array()) { redact(item); }
    } else if (value.is_object()) {
        redact(value.get_object());
    }
}

void Redactor::redact(json::object& object) const {
    bool keys = false;
    for (auto& [key, value] : object) {
        keys = keys || redacted({key.data(), key.size()}).has_value();
        redact(value);
    }
    if (!keys) { return; }
    json::object renamed(object.storage());
    for (auto& [key, value] : object) { renamed[redact(std::string(key))] = std::move(value); }
    object = std::move(renamed);
}

Error Redactor::redact(Error error) const {
    for (std::string* text : {&error.message, &error.where, &error.remedy}) { *text = redact(std::move(*text)); }
    return error;
}

const Redactor& nothing_hidden() {
    static const Redactor none;
    return none;
}

namespace {

void hide(const Redactor& redactor, std::string& text) { text = redactor.redact(std::move(text)); }
void hide(const Redactor& redactor, json::object& fields) { redactor.redact(fields); }
void hide(const Redactor&, const std::uint64_t&) {}
void hide(const Redactor&, const std::int64_t&) {}
void hide(const Redactor&, const bool&) {}
template <class T>
void hide(const Redactor& redactor, std::optional<T>& value) {
    if (value) { hide(redactor, *value); }
}

}  // namespace

void RedactingSink::event(const Event& event) {
    Event clean = event;
    std::visit(
        [this]<class One>(One& one) {
            boost::mp11::mp_for_each<boost::describe::describe_members<One, boost::describe::mod_public>>(
                [&](auto member) { hide(redactor_, one.*member.pointer); });
        },
        clean);
    next_.event(clean);
}

}  // namespace agentforge::kernel
