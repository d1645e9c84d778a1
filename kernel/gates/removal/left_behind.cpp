// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/left_behind.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include <re2/re2.h>

#include "gates/language/string_piece.hpp"
#include "gates/removal/code_vocabulary.hpp"
#include "gates/removal/definitions.hpp"
#include "gates/removal/source_lines.hpp"

namespace agentforge::kernel {
namespace {

/// A name in code, by its place.
struct NamedPlace {
    std::string name;
    std::size_t line = 0;
    std::size_t end = 0;   ///< Of the name, in bytes from the start of the line.
    bool is_text = false;  ///< A string literal; otherwise a member.
};

/// Returns each string literal that holds only a name (`"LOG_COLOUR"`), and each access to a member (`others.retries`).
std::vector<NamedPlace> named_places(const std::string& text, const CodeRules& rules) {
    static const RE2 only_a_name(R"(\w*["'`]-*([A-Za-z_][\w-]*)["'`])");
    static const RE2 member(R"([\w)\]]\s*(?:\.|->)\s*([A-Za-z_]\w*))");
    std::vector<NamedPlace> places;
    const auto read = read_code(text, rules);
    const auto add = [&](std::string name, std::size_t end, bool is_text) {
        const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
        const auto begin = text.rfind('\n', end - 1) + 1;  // 0 on the first line.
        places.push_back({std::move(name), static_cast<std::size_t>(line), end - begin, is_text});
    };
    for (const auto& literal : read.literals) {
        std::string name;
        if (RE2::FullMatch(literal.value, only_a_name, &name)) { add(name, literal.end - 1, true); }
    }
    auto rest = string_piece(read.code);
    re2::StringPiece found;
    while (RE2::FindAndConsume(&rest, member, &found)) {
        const auto begin = static_cast<std::size_t>(found.data() - read.code.data());
        add(std::string(found), begin + found.size(), false);
        rest = string_piece(std::string_view(read.code).substr(begin));  // `a.b.c` has two.
    }
    return places;
}

/// Returns the text with another name at this place.
std::string with_another_name(const std::string& text, const NamedPlace& place) {
    std::size_t begin = 0;
    for (std::size_t line = 0; line < place.line; ++line) { begin = text.find('\n', begin) + 1; }
    auto altered = text;
    return altered.insert(begin + place.end, "_");
}

/// True for names that are no words of English: `LOG_COLOUR`, `dry-run`.
bool is_no_plain_word(std::string_view name) {
    return !std::ranges::all_of(name, [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; });
}

/// True if the request asks to remove what has this name.
bool is_to_go(const RemovalRequest& request, const std::string& name) {
    const auto parts = parts_of_name(name);
    bool is_named = request.names(name);
    if (name.find('-') != std::string::npos) {
        is_named = std::ranges::all_of(parts, [&](const auto& part) { return request.names(part); });
    }
    return is_named && std::ranges::any_of(parts, [&](const auto& part) { return request.is_object(part); }) &&
           std::ranges::none_of(parts, [&](const auto& part) { return request.is_kept(part); });
}

}  // namespace

std::vector<LeftName> names_left_behind(const RemovalRequest& request, const std::vector<ChangedText>& files,
                                        const CodeRules& rules, std::size_t most) {
    std::string before;
    std::string now;
    for (const auto& file : files) {
        if (!file.is_source) { continue; }
        before += without_comments(file.before, rules) + "\n";
        now += without_comments(file.now, rules) + "\n";
    }
    std::vector<LeftName> found;
    for (const auto& file : files) {
        if (!file.is_source || file.now.empty()) { continue; }
        const SourceLines old(file.before, rules);
        const SourceLines text(file.now, rules);
        const auto is_touched = [&](std::size_t line) {
            const auto* function = function_around(text, line);
            return function != nullptr && code_of_functions(text, function->name) != code_of_functions(old, function->name);
        };
        for (const auto& place : named_places(file.now, rules)) {
            if (found.size() == most) { return found; }
            if (!is_to_go(request, place.name)) { continue; }
            const bool is_gone = is_own_name(place.name, before) && !is_own_name(place.name, now) && is_touched(place.line);
            const bool is_left = place.is_text && is_no_plain_word(place.name) && before.find(place.name) != std::string::npos;
            if (!is_gone && !is_left) { continue; }
            LeftName left{place.name, {file.path, place.line + 1, std::string(bare_line(text.written[place.line]))}, {}};
            left.files[file.path] = with_another_name(file.whole, place);
            found.push_back(std::move(left));
        }
    }
    return found;
}

}  // namespace agentforge::kernel
