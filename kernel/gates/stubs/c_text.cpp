// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/c_text.hpp"

#include <algorithm>
#include <array>

#include <re2/re2.h>

namespace agentforge::kernel::c_text {

bool is_word(char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') || each == '_';
}
bool is_blank(char each) { return each == ' ' || each == '\t' || each == '\n' || each == '\r'; }

std::string squeezed(std::string_view text) {
    std::string result;
    for (const auto each : text) {
        if (!is_blank(each)) {
            result.push_back(each);
        } else if (!result.empty() && result.back() != ' ') {
            result.push_back(' ');
        }
    }
    while (!result.empty() && result.back() == ' ') { result.pop_back(); }
    return result;
}

std::string code_only(std::string_view text, char literal) {
    std::string code(text);
    const auto blank = [&](std::size_t from, std::size_t to, char fill = ' ') {
        for (auto at = from; at < std::min(to, code.size()); ++at) {
            if (code[at] != '\n') { code[at] = fill; }
        }
    };
    for (std::size_t at = 0; at < text.size();) {
        if (text.substr(at, 2) == "//") {
            const auto end = std::min(text.find('\n', at), text.size());
            blank(at, end);
            at = end;
        } else if (text.substr(at, 2) == "/*") {
            const auto end = text.find("*/", at + 2);
            const auto stop = end == std::string_view::npos ? text.size() : end + 2;
            blank(at, stop);
            at = stop;
        } else if (text.substr(at, 2) == "R\"" && (at == 0 || !is_word(text[at - 1]))) {
            const auto open = text.find('(', at);
            const auto close = open == std::string_view::npos
                                   ? open
                                   : text.find(")" + std::string(text.substr(at + 2, open - at - 2)) + "\"", open);
            const auto stop = close == std::string_view::npos ? text.size() : close + (open - at - 2) + 2;
            blank(at, stop, literal);
            at = stop;
        } else if (text[at] == '"' || (text[at] == '\'' && (at == 0 || !is_word(text[at - 1])))) {
            auto end = at + 1;
            while (end < text.size() && text[end] != text[at] && text[end] != '\n') { end += text[end] == '\\' ? 2 : 1; }
            blank(at, end + 1, literal);
            at = end + 1;
        } else {
            ++at;
        }
    }
    return code;
}

std::string without_comments(std::string_view text) {
    const auto code = code_only(text, '0');
    std::string result(text);
    for (std::size_t at = 0; at < code.size(); ++at) {
        if (code[at] == ' ') { result[at] = ' '; }
    }
    return result;
}

std::size_t closing(std::string_view code, std::size_t open) {
    std::size_t depth = 0;
    for (auto at = open; at < code.size(); ++at) {
        if (code[at] == '(' || code[at] == '{' || code[at] == '[') { ++depth; }
        if ((code[at] == ')' || code[at] == '}' || code[at] == ']') && --depth == 0) { return at; }
    }
    return std::string_view::npos;
}

std::size_t find_word(std::string_view code, std::string_view word, std::size_t from) {
    for (auto at = code.find(word, from); at != std::string_view::npos; at = code.find(word, at + 1)) {
        const auto after = at + word.size();
        if ((at == 0 || !is_word(code[at - 1]) || !is_word(word.front())) &&
            (after >= code.size() || !is_word(code[after]) || !is_word(word.back()))) {
            return at;
        }
    }
    return std::string_view::npos;
}

std::string without_words(std::string text, std::initializer_list<std::string_view> words) {
    for (const auto word : words) {
        if (const auto at = find_word(text, squeezed(std::string(word))); at != std::string::npos) {
            text.erase(at, word.size());
        }
    }
    return text;
}

std::vector<std::string> split_top(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const auto each : text) {
        if (each == '(' || each == '<' || each == '[' || each == '{') { ++depth; }
        if (each == ')' || each == '>' || each == ']' || each == '}') { --depth; }
        if (each == separator && depth == 0) {
            parts.emplace_back();
        } else {
            parts.back().push_back(each);
        }
    }
    for (auto& part : parts) { part = squeezed(part); }
    std::erase(parts, "");
    for (auto& part : parts) {
        if (part.front() == ' ') { part.erase(0, 1); }
    }
    return parts;
}

namespace {

constexpr std::array<std::string_view, 14> type_words{"void",   "bool",   "char",     "short", "int",     "long",   "float",
                                                      "double", "signed", "unsigned", "auto",  "wchar_t", "size_t", "_Bool"};
constexpr std::array<std::string_view, 8> no_types{"const", "volatile", "struct",   "class",
                                                   "enum",  "typename", "register", "restrict"};

}  // namespace

bool is_type_word(std::string_view word) { return std::find(type_words.begin(), type_words.end(), word) != type_words.end(); }

std::string parameter_name(std::string text) {
    text = text.substr(0, split_top(text, '=').empty() ? 0 : split_top(text, '=').front().size());
    if (const auto pointer = text.find("(*"); pointer != std::string::npos) {
        const auto end = text.find_first_of(")[", pointer);
        return squeezed(text.substr(pointer + 2, end == std::string::npos ? end : end - pointer - 2));
    }
    while (!text.empty() && text.back() == ']' && text.find('[') != std::string::npos) {
        text = squeezed(text.substr(0, text.rfind('[')));
    }
    auto begin = text.size();
    while (begin > 0 && is_word(text[begin - 1])) { --begin; }
    const auto name = text.substr(begin);
    if (name.empty() || (name.front() >= '0' && name.front() <= '9') || (begin > 0 && text[begin - 1] == ':')) { return {}; }
    if (std::find(type_words.begin(), type_words.end(), name) != type_words.end() ||
        std::find(no_types.begin(), no_types.end(), name) != no_types.end()) {
        return {};
    }
    // A lone word is the type, not the name.
    auto before = squeezed(text.substr(0, begin));
    for (const auto word : no_types) {
        for (auto at = find_word(before, word); at != std::string::npos; at = find_word(before, word)) {
            before.erase(at, word.size());
        }
    }
    return before.find_first_not_of(" ") == std::string::npos ? std::string{} : name;
}

std::string types_alone(std::string_view parameters) {
    std::string types;
    for (auto part : split_top(parameters, ',')) {
        if (const auto parts = split_top(part, '='); !parts.empty()) { part = parts.front(); }
        const auto name = parameter_name(part);
        if (const auto at = name.empty() ? std::string::npos : part.rfind(name); at != std::string::npos) {
            part.erase(at, name.size());
        }
        types += (types.empty() ? "" : ", ") + part;
    }
    return types;
}

std::string operator_name(std::string_view text) {
    const auto name = squeezed(text);
    std::string result;
    for (std::size_t at = 0; at < name.size(); ++at) {
        const bool between_words = at > 0 && at + 1 < name.size() && is_word(name[at - 1]) && is_word(name[at + 1]);
        if (name[at] != ' ' || between_words) { result.push_back(name[at]); }
    }
    return result;
}

bool is_standard_error(std::string_view type) {
    static const RE2 error(
        R"(\s*std::(?:(?:runtime|logic|range|overflow|underflow|domain|length)_error|invalid_argument|out_of_range)\s*)");
    return RE2::FullMatch(re2::StringPiece(type.data(), type.size()), error);
}

bool ends_with_any(const std::string& path, std::initializer_list<std::string_view> endings) {
    return std::any_of(endings.begin(), endings.end(), [&](auto ending) { return path.ends_with(ending); });
}
bool is_header(const std::string& path) { return ends_with_any(path, {".h", ".hh", ".hpp", ".hxx", ".ipp", ".inl"}); }
bool is_source(const std::string& path) { return ends_with_any(path, {".c", ".cc", ".cpp", ".cxx"}); }

}  // namespace agentforge::kernel::c_text
