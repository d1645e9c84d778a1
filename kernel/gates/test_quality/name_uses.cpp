// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/name_uses.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include <re2/re2.h>

namespace agentforge::kernel {
namespace {

bool is_part_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80;
}

std::vector<std::size_t> places_of(std::string_view line, std::string_view name) {
    std::vector<std::size_t> places;
    for (auto at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
        const auto end = at + name.size();
        if ((at == 0 || !is_part_of_name(line[at - 1])) && (end == line.size() || !is_part_of_name(line[end]))) {
            places.push_back(at);
        }
    }
    return places;
}

std::size_t indentation_of(std::string_view line) { return std::min(line.find_first_not_of(" \t\r"), line.size()); }

bool is_empty_line(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

/// The names of a list of parameters.
std::vector<std::string> parameters_in(std::string_view list, const NamedCode& text) {
    static const RE2 word(R"(([\w$]+))");
    std::vector<std::string> names;
    int depth = 0;
    std::string piece;
    bool in_name = true;  // Before a default value or a type.
    const auto take = [&] {
        std::vector<std::string> words;
        re2::StringPiece rest(piece);
        for (std::string each; RE2::FindAndConsume(&rest, word, &each);) { words.push_back(each); }
        const bool unnamed = text.is_c && words.size() == 1;
        if (!words.empty() && !unnamed) { names.push_back(text.is_go ? words.front() : words.back()); }
        piece.clear();
        in_name = true;
    };
    for (const char c : list) {
        if (c == '(' || c == '[' || c == '<') { ++depth; }
        if (c == ')' || c == ']' || c == '>') { --depth; }
        if (depth > 0) { continue; }
        if (c == ',' || c == '{' || c == '}') {
            take();
        } else if (c == '=' || c == ':') {
            in_name = false;
        } else if (in_name) {
            piece += c;
        }
    }
    take();
    return names;
}

/// A function around a line.
struct FunctionHeader {
    std::size_t line = 0;
    std::vector<std::string> parameters;
};

class NameSearch {
public:
    NameSearch(const NamedCode& text, const FormerName& former) : text_(text), former_(former) {
        static const RE2 module(R"(\brequire\s*\(|\bfrom\s*['"`])");
        is_script_ = !text.is_indented && !text.is_go &&
                     std::ranges::any_of(text.code, [](const std::string& line) { return RE2::PartialMatch(line, module); });
    }

    [[nodiscard]] bool found() const {
        std::string open;  // Brackets that are open at the line's begin.
        for (std::size_t at = 0; at < text_.blanked.size(); ++at) {
            const auto& line = text_.blanked[at];
            if (!text_.imports[at] && (text_.among == nullptr || (*text_.among)[at])) {
                const auto places = places_of(line, former_.name);
                if (former_.in_texts && places_of(text_.code[at], former_.name).size() > places.size()) { return true; }
                // `f"{name}"`
                const bool fills_in = text_.code[at].find('{') != std::string::npos;
                if (fills_in && places_of(text_.code[at], former_.name).size() > places.size()) { return true; }
                for (const auto place : places) {
                    if (means_it(at, place, open)) { return true; }
                }
            }
            follow(line, line.size(), open);
        }
        return false;
    }

private:
    static void follow(std::string_view line, std::size_t end, std::string& open) {
        for (const char c : line.substr(0, end)) {
            if (c == '(' || c == '[' || c == '{') { open += c; }
            if ((c == ')' || c == ']' || c == '}') && !open.empty()) { open.pop_back(); }
        }
    }

    [[nodiscard]] bool means_it(std::size_t at, std::size_t place, std::string open) const {
        const auto& line = text_.blanked[at];
        const auto before = std::string_view(line).substr(0, place);
        const auto after = std::string_view(line).substr(place + former_.name.size());
        const auto last = before.find_last_not_of(" \t");
        const char previous = last == std::string_view::npos ? '\n' : before[last];
        const auto first = after.find_first_not_of(" \t");
        const auto follows = first == std::string_view::npos ? std::string_view() : after.substr(first);
        const bool is_spread = before.ends_with("...");
        if (!former_.is_member && !is_spread && (previous == '.' || before.ends_with("->"))) { return false; }
        follow(line, place, open);
        const char around = open.empty() ? '\n' : open.back();
        const bool begins = previous == '(' || previous == ',' || previous == '{' || previous == '\n';
        const bool is_given = follows.starts_with('=') && !follows.starts_with("==") && !follows.starts_with("=>");
        if (text_.is_indented && begins && around == '(' && is_given && !is_parameter_of_line(at)) { return false; }
        const bool is_key = follows.starts_with(':') && !follows.starts_with("::");
        if (is_script_ && begins && around == '{' && is_key) { return false; }
        return !is_local(at, place);
    }

    [[nodiscard]] bool has(const std::vector<std::string>& names) const {
        return std::ranges::find(names, former_.name) != names.end();
    }

    /// Fixtures of Python are named by parameters.
    [[nodiscard]] bool is_parameter_of_line(std::size_t at) const {
        const auto header = header_at(at);
        return header && has(header->parameters);
    }

    [[nodiscard]] bool is_local(std::size_t at, std::size_t place) const {
        if (former_.is_member && is_call(at, place)) { return false; }  // Java: a variable hides no method.
        if (const auto own = header_at(at); own && has(own->parameters)) {
            return !former_.is_fixture && places_of(text_.blanked[at], former_.name).size() == 1;
        }
        auto margin = indentation_of(text_.blanked[at]);
        if (margin == 0) { return false; }
        if (declares(at) && places_of(text_.blanked[at], former_.name).size() == 1) { return is_in_function(at); }
        for (auto line = at; line-- > 0 && margin > 0;) {
            const auto& above = text_.blanked[line];
            if (is_empty_line(above)) { continue; }
            const auto here = indentation_of(above);
            if (here > margin) { continue; }
            if (here <= margin && declares(line) && is_in_function(line)) { return true; }
            if (here == margin) { continue; }
            margin = here;
            const auto header = header_at(line);
            if (header && has(header->parameters)) { return !former_.is_fixture; }
        }
        return false;
    }

    [[nodiscard]] bool is_call(std::size_t at, std::size_t place) const {
        const auto after = std::string_view(text_.blanked[at]).substr(place + former_.name.size());
        return after.starts_with('(');
    }

    /// True if the innermost block around a line is that of a function, not of a type.
    [[nodiscard]] bool is_in_function(std::size_t at) const {
        static const RE2 type(R"(\b(?:class|struct|interface|enum|union|trait|impl|namespace|mod)\b)");
        const auto margin = indentation_of(text_.blanked[at]);
        for (auto line = at; line-- > 0;) {
            const auto& above = text_.blanked[line];
            if (is_empty_line(above) || indentation_of(above) >= margin) { continue; }
            static const RE2 closes(R"(^\s*[)\]}])");
            if (RE2::PartialMatch(above, closes)) { continue; }
            return !RE2::PartialMatch(above, type);
        }
        return false;
    }

    /// True if the line declares a variable of this name.
    [[nodiscard]] bool declares(std::size_t at) const {
        const auto& line = text_.blanked[at];
        if (places_of(line, former_.name).empty()) { return false; }
        const auto name = RE2::QuoteMeta(former_.name);
        if (text_.is_indented) {
            return RE2::PartialMatch(line, R"(^\s*(?:[\w.]+\s*,\s*)*)" + name + R"(\s*(?:,\s*[\w.]+\s*)*(?::[^=]+)?=[^=])") ||
                   RE2::PartialMatch(line, R"(^\s*for\s+(?:\w+\s*,\s*)*)" + name + R"(\b[^:]*\sin\s)") ||
                   RE2::PartialMatch(line, R"(\bas\s+)" + name + R"(\s*[:,)])");
        }
        if (text_.is_go && RE2::PartialMatch(line, R"((?:^|[\s,;]))" + name + R"(\s*(?:,\s*\w+\s*)*:=)")) { return true; }
        return RE2::PartialMatch(line, R"(^\s*(?:(?:const|let|var|auto|final|static|mut)\s+)+(?:\w[\w<>:,\[\]]*[\s*&]+)?)" +
                                           name + R"(\s*(?:[;:]|=[^=]))") ||
               RE2::PartialMatch(line, R"(^\s*(?:const|let|var)\s*[\[{][^=]*\b)" + name + R"(\b[^=]*=[^=])") ||
               (!is_script_ &&
                RE2::PartialMatch(line, R"(^\s*(?:[A-Za-z_][\w:]*(?:<[^=;]*>)?(?:\[\])?[\s*&]+))" + name + R"(\s*(?:;|=[^=]))") &&
                !RE2::PartialMatch(line, R"(^\s*(?:return|throw|delete|goto|else|case|new)\b)"));
    }

    /// Returns the function that begins at a line, if one does and its parameters stand there.
    [[nodiscard]] std::optional<FunctionHeader> header_at(std::size_t at) const {
        static const RE2 named(R"(\b(?:def|func|fn|function\*?)\s*(?:\([^()]*\)\s*)?[\w$]*\s*(?:<[^()]*>)?\()");
        static const RE2 arrow(R"((?:\(([^()]*)\)|([\w$]+))\s*(?::[^=]*)?=>)");
        static const RE2 braces(R"(^\s*[\w$<>\[\],.:&*\s~]+?\s*\()");
        static const RE2 control(
            R"(^\s*(?:[}\s]*(?:else\s+)?)(?:if|for|while|switch|catch|match|with|try|return|do|elif|except)\b)");
        const auto& line = text_.blanked[at];
        std::string one;
        std::string other;
        if (RE2::PartialMatch(line, arrow, &one, &other)) {
            return FunctionHeader{at, one.empty() ? std::vector<std::string>{other} : parameters_in(one, text_)};
        }
        re2::StringPiece match;
        const bool is_named = named.Match(line, 0, line.size(), RE2::UNANCHORED, &match, 1);
        static const RE2 ends_as_header(R"(\)[^(){};,=]*\{\s*$)");
        const bool opens = !text_.is_indented && RE2::PartialMatch(line, ends_as_header) && !RE2::PartialMatch(line, control);
        if (!is_named && !(opens && braces.Match(line, 0, line.size(), RE2::UNANCHORED, &match, 1))) { return std::nullopt; }
        const auto begin = static_cast<std::size_t>(match.data() - line.data()) + match.size();
        std::string list;
        int depth = 1;
        for (auto row = at; row < std::min(at + 20, text_.blanked.size()) && depth > 0; ++row) {
            for (const char c : std::string_view(text_.blanked[row]).substr(row == at ? begin : 0)) {
                if (c == '(') { ++depth; }
                if (c == ')' && --depth == 0) { break; }
                list += c;
            }
            list += ' ';
        }
        return FunctionHeader{at, parameters_in(list, text_)};
    }

    const NamedCode& text_;
    const FormerName& former_;
    bool is_script_ = false;
};

}  // namespace

bool may_mean(const NamedCode& text, const FormerName& former) { return NameSearch(text, former).found(); }

}  // namespace agentforge::kernel
