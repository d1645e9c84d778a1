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

}  // namespace agentforge::kernel
