// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/c_tokens.hpp"

#include <algorithm>
#include <utility>

#include "gates/stubs/c_text.hpp"

namespace agentforge::kernel {
namespace {

using c_text::is_word;

/// Blanks preprocessor lines, `#if 0`, and all branches but the first of an `#if` whose branches have unmatched braces.
class Directives {
public:
    explicit Directives(std::string code) : code_(std::move(code)) {}

    std::string blanked() {
        for (std::size_t at = 0; at < code_.size();) {
            auto end = std::min(code_.find('\n', at), code_.size());
            const auto first = code_.find_first_not_of(" \t", at);
            if (first < end && code_[first] == '#') {
                while (end < code_.size() && end > 0 && code_[end - 1] == '\\') {
                    end = std::min(code_.find('\n', end + 1), code_.size());
                }
                directive(at, first, end);
                blank(at, end);
            }
            at = end + 1;
        }
        return std::move(code_);
    }

private:
    struct Group {
        std::vector<std::size_t> starts;  ///< Where each branch begins,
        std::vector<std::size_t> ends;    ///< and ends.
        bool is_off = false;              ///< `#if 0`.
    };

    void directive(std::size_t line, std::size_t first, std::size_t end) {
        auto word = code_.find_first_not_of(" \t", first + 1);
        auto stop = word;
        while (stop < end && is_word(code_[stop])) { ++stop; }
        const auto name = word < end ? code_.substr(word, stop - word) : std::string();
        if (name == "if" || name == "ifdef" || name == "ifndef") {
            groups_.push_back({{end}, {}, c_text::squeezed(std::string_view(code_).substr(stop, end - stop)) == "0"});
        } else if ((name == "else" || name == "elif") && !groups_.empty()) {
            groups_.back().ends.push_back(line);
            groups_.back().starts.push_back(end);
        } else if (name == "endif" && !groups_.empty()) {
            groups_.back().ends.push_back(line);
            close(groups_.back());
            groups_.pop_back();
        }
    }

    void close(const Group& group) {
        if (group.is_off) { blank(group.starts.front(), group.ends.front()); }
        if (group.starts.size() < 2) { return; }
        bool balanced = true;
        for (std::size_t at = 0; at < group.starts.size(); ++at) {
            int depth = 0;
            for (auto place = group.starts[at]; place < group.ends[at]; ++place) {
                if (code_[place] == '{' || code_[place] == '(') { ++depth; }
                if ((code_[place] == '}' || code_[place] == ')') && --depth < 0) { break; }
            }
            balanced = balanced && depth == 0;
        }
        for (std::size_t at = 1; !balanced && at < group.starts.size(); ++at) { blank(group.starts[at], group.ends[at]); }
    }

    void blank(std::size_t from, std::size_t to) {
        for (auto at = from; at < std::min(to, code_.size()); ++at) {
            if (code_[at] != '\n') { code_[at] = ' '; }
        }
    }

    std::string code_;
    std::vector<Group> groups_;
};

}  // namespace

std::string without_c_directives(std::string code) { return Directives(std::move(code)).blanked(); }

std::vector<CToken> c_tokens_of(std::string_view code) {
    std::vector<CToken> tokens;
    bool fresh = true;
    for (std::size_t at = 0; at < code.size();) {
        if (c_text::is_blank(code[at])) {
            fresh = fresh || code[at] == '\n';
            ++at;
            continue;
        }
        auto end = at + 1;
        if (is_word(code[at])) {
            while (end < code.size() && is_word(code[end])) { ++end; }
        } else if (code.compare(at, 2, "::") == 0 || code.compare(at, 2, "->") == 0) {
            ++end;
        } else if (code.compare(at, 3, "...") == 0) {
            end = at + 3;
        }
        tokens.push_back({at, end, fresh});
        fresh = false;
        at = end;
    }
    return tokens;
}

CTokens::CTokens(std::string_view text)
    : text_(text), code_(without_c_directives(c_text::code_only(text, '0'))), tokens_(c_tokens_of(code_)) {
    match_brackets();
}

std::string_view CTokens::at(std::size_t token) const {
    return token < size() ? code({tokens_[token].begin, tokens_[token].end}) : std::string_view();
}

bool CTokens::is_word_at(std::size_t token) const { return token < size() && is_word(code_[tokens_[token].begin]); }

CRange CTokens::range(std::size_t first, std::size_t last) const {
    const std::size_t begin = first < size() ? tokens_[first].begin : text_.size();
    return first >= last ? CRange{begin, begin} : CRange{begin, end_of(last - 1)};
}

std::string CTokens::written(std::size_t first, std::size_t last) const {
    const auto where = range(first, last);
    return c_text::squeezed(text_.substr(where.begin, where.end - where.begin));
}

std::string_view CTokens::code(CRange range) const {
    return std::string_view(code_).substr(range.begin, range.end - range.begin);
}

std::size_t CTokens::after_bracket(std::size_t token) const {
    return closing_[token] == std::string_view::npos ? size() : closing_[token] + 1;
}

std::size_t CTokens::after_angle(std::size_t token) const {
    int depth = 0;
    while (token < size()) {
        if (is(token, "(") || is(token, "[") || is(token, "{")) {
            token = after_bracket(token);
            continue;
        }
        if (is(token, ";")) { return token; }
        if (is(token, "<")) { ++depth; }
        if (is(token, ">") && --depth == 0) { return token + 1; }
        ++token;
    }
    return token;
}

void CTokens::match_brackets() {
    static constexpr std::string_view opening = "([{";
    static constexpr std::string_view closing = ")]}";
    closing_.assign(size(), std::string_view::npos);
    std::vector<std::size_t> open;
    for (std::size_t token = 0; token < size(); ++token) {
        const char mark = at(token).front();
        if (opening.find(mark) != std::string_view::npos) { open.push_back(token); }
        const auto kind = closing.find(mark);
        if (kind == std::string_view::npos || open.empty() || at(open.back()).front() != opening[kind]) { continue; }
        closing_[open.back()] = token;
        open.pop_back();
    }
}

}  // namespace agentforge::kernel
