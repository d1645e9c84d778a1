// SPDX-License-Identifier: Apache-2.0
#include "gates/outdated_tests.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "gates/meaning.hpp"
#include "gates/source_text.hpp"

namespace agentforge::kernel {

namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || static_cast<unsigned char>(c) >= 0x80; }

std::string_view stripped(std::string_view line) {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) { line.remove_prefix(1); }
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) { line.remove_suffix(1); }
    return line;
}

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(text.size(), end + 1));
    }
    return lines;
}

bool has_word(std::string_view line, std::string_view word) {
    for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
        const auto end = at + word.size();
        if ((at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end]))) { return true; }
    }
    return false;
}

/// What a test may be called where it is written, the likeliest first: all of its name, or its innermost or (for subtests) outermost part.
std::vector<std::string> written_names(const TestOutcome& test) {
    const std::string whole = without_parameters(test.name);
    std::vector<std::string> names{whole};
    for (const std::string_view separator : {"::", " > ", ".", "/"}) {
        if (const auto at = whole.rfind(separator); at != std::string_view::npos) { names.push_back(whole.substr(at + separator.size())); }
        if (const auto at = whole.find(separator); at != std::string_view::npos) { names.push_back(whole.substr(0, at)); }
    }
    std::erase_if(names, [](const std::string& name) { return name.empty(); });
    return names;
}

/// An annotation or a comment.
bool belongs_to_the_next(std::string_view line) {
    line = stripped(line);
    return line.starts_with('@') || line.starts_with('#') || line.starts_with("//") || line.starts_with("/*") || line.starts_with('*');
}

/// Where each test begins, by number of its line (from 1).
std::map<std::uint64_t, std::string> beginnings(const std::vector<std::string_view>& lines, const std::vector<TestOutcome>& tests) {
    std::map<std::uint64_t, std::string> begin;
    for (const TestOutcome& test : tests) {
        if (test.id == test.file) { continue; }
        for (const std::string& name : written_names(test)) {
            const auto found = std::ranges::find_if(lines, [&](std::string_view line) { return !belongs_to_the_next(line) && has_word(line, name); });
            if (found == lines.end()) { continue; }
            auto first = static_cast<std::size_t>(found - lines.begin());
            while (first > 0 && belongs_to_the_next(lines[first - 1])) { --first; }
            begin.try_emplace(first + 1, without_parameters(test.id));
            break;
        }
    }
    return begin;
}

std::string owner(const std::map<std::uint64_t, std::string>& begin, std::uint64_t line) {
    const auto after = begin.upper_bound(line);
    return after == begin.begin() ? std::string() : std::prev(after)->second;
}

std::string quoted(const std::vector<std::string>& lines) {
    constexpr std::size_t most_lines = 12;
    constexpr std::size_t most_bytes = 200;
    std::string text;
    for (std::size_t at = 0; at < std::min(most_lines, lines.size()); ++at) { text += (at == 0 ? "`" : ", `") + ellipsis(lines[at], most_bytes) + "`"; }
    return text + (lines.size() > most_lines ? " and " + std::to_string(lines.size() - most_lines) + " more" : "");
}

std::string hash_of(const ChangedTest& test) {
    std::string text;
    for (const auto* lines : {&test.before, &test.after}) {
        for (const std::string& line : *lines) { text += line + "\n"; }
        text += '\0';
    }
    return sha256(text);
}

}  // namespace

std::vector<ChangedTest> changed_tests(std::string_view before, std::string_view now, const std::vector<TestOutcome>& tests) {
    const auto old_lines = split_lines(before);
    const auto new_lines = split_lines(now);
    const auto old_begin = beginnings(old_lines, tests);
    const auto new_begin = beginnings(new_lines, tests);
    std::vector<ChangedTest> changed;
    const auto of = [&](const std::string& id) { return std::ranges::find(changed, id, &ChangedTest::id); };
    for (const std::uint64_t number : changed_line_numbers(before, now)) {
        const std::string id = owner(old_begin, number);
        if (of(id) == changed.end()) { changed.push_back({.id = id, .line = number}); }
        of(id)->before.emplace_back(stripped(old_lines[number - 1]));
    }
    for (const std::uint64_t number : changed_line_numbers(now, before)) {
        const auto test = of(owner(new_begin, number));
        if (test != changed.end()) { test->after.emplace_back(stripped(new_lines[number - 1])); }
    }
    return changed;
}

std::vector<std::string> tests_named(const std::vector<std::string>& names, const std::vector<TestOutcome>& tests) {
    std::vector<std::string> ids;
    for (const TestOutcome& test : tests) {
        if (test.id == test.file) { continue; }
        const std::string id = without_parameters(test.id);
        const bool named = std::ranges::any_of(names, [&](std::string_view name) {
            if (name.empty() || !id.ends_with(name)) { return name == test.id; }
            return name.size() == id.size() || !is_word(id[id.size() - name.size() - 1]);
        });
        if (named) { ids.push_back(test.id); }
    }
    return ids;
}

std::string changed_test_line(const ChangedTest& test, std::string_view why) {
    std::string line = test.id + " was there before the task and is ";
    line += test.after.empty() ? "removed" : "changed";
    line += " (line " + std::to_string(test.line) + "): " + quoted(test.before);
    if (!test.after.empty()) { line += " is now " + quoted(test.after); }
    if (!why.empty()) { line += "; the specification calls it outdated: " + ellipsis(why, 300); }
    return line + "; sha256 " + hash_of(test);
}

}  // namespace agentforge::kernel
