// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/removal_review.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <re2/re2.h>

namespace agentforge::kernel {
namespace {

constexpr std::size_t no_line = static_cast<std::size_t>(-1);

re2::StringPiece text_piece(std::string_view text) { return {text.data(), text.size()}; }

std::string_view trimmed_end(std::string_view line) {
    const auto last = line.find_last_not_of(" \t\r\n");
    return last == std::string_view::npos ? std::string_view() : line.substr(0, last + 1);
}

std::string_view bare_line(std::string_view line) {
    const auto first = line.find_first_not_of(" \t\r\n");
    return first == std::string_view::npos ? std::string_view() : trimmed_end(line.substr(first));
}

std::size_t margin_of(std::string_view line) { return line.find_first_not_of(" \t"); }

bool is_text(const CodeLiteral& literal) { return literal.value.find_first_of("\"'`") != std::string::npos; }

/// Returns the names of a code without texts.
std::vector<std::string> names_in(std::string_view code) {
    static const RE2 name(R"((?:^|[^\w])([A-Za-z_]\w*|\d\d+))");
    std::vector<std::string> names;
    auto rest = text_piece(code);
    std::string found;
    while (RE2::FindAndConsume(&rest, name, &found)) { names.push_back(found); }
    return names;
}

/// What a text consists of. Names stand in code; `parts` also has the words of texts.
struct Vocabulary {
    std::set<std::string> names;
    std::set<std::string> parts;
};

Vocabulary vocabulary_of(std::string_view code, const CodeRules& rules) {
    Vocabulary all;
    const auto read = read_code(code, rules);
    const auto add = [&](const std::string& name) {
        for (auto& part : parts_of_name(name)) { all.parts.insert(std::move(part)); }
    };
    // `read_code` blanks directives: `#define` names things, too.
    for (const auto line : lines_of(code)) {
        if (!rules.preprocessor || !bare_line(line).starts_with('#')) { continue; }
        for (const auto& name : names_in(line)) { all.names.insert(name), add(name); }
    }
    for (const auto& name : names_in(read.code)) { all.names.insert(name), add(name); }
    for (const auto& literal : read.literals) {
        if (!is_text(literal)) { continue; }
        if (literal.informative) { all.names.insert(literal.value); }
        const bool has_code = literal.value.find('{') != std::string::npos;  // `f"{total}"`.
        for (const auto& word : names_in(literal.value)) {
            add(word);
            if (has_code) { all.names.insert(word); }
        }
    }
    return all;
}

/// A text by its lines: as written, and without comments.
struct Text {
    Text(std::string_view text, const CodeRules& rules) : bare(without_comments(text, rules)) {
        for (const auto line : lines_of(text)) { written.emplace_back(line); }
        for (const auto line : lines_of(bare)) { code.emplace_back(trimmed_end(line)); }
        const auto without_texts = read_code(bare, rules);
        for (const auto line : lines_of(without_texts.code)) { blanked.emplace_back(trimmed_end(line)); }
        code.resize(written.size());
        blanked.resize(written.size());
        functions = function_lines(text, rules);
    }

    std::string bare;
    std::vector<std::string> written;
    std::vector<std::string> code;     ///< Without comments.
    std::vector<std::string> blanked;  ///< Without comments and texts.
    std::vector<FunctionLines> functions;
};

/// Lines of a definition, by index.
struct Extent {
    std::string name;
    std::size_t first = 0;
    std::size_t last = 0;
};

/// Returns the index of the last line of a block whose header is at `first`.
std::size_t end_of_block(const Text& text, std::size_t first, bool by_indentation) {
    if (by_indentation) {
        auto last = first;
        for (auto at = first + 1; at < text.blanked.size(); ++at) {
            const auto margin = margin_of(text.code[at]);
            if (margin == std::string::npos) { continue; }
            if (margin <= margin_of(text.code[first])) { break; }
            last = at;
        }
        return last;
    }
    int open = 0;
    bool opened = false;
    for (auto at = first; at < text.blanked.size(); ++at) {
        open += bracket_balance(text.blanked[at]);
        opened = opened || text.blanked[at].find('{') != std::string::npos;
        if (open <= 0 && (opened || text.blanked[at].ends_with(';') || (at > first && text.blanked[at].empty()))) { return at; }
    }
    return text.blanked.empty() ? 0 : text.blanked.size() - 1;
}

/// Returns functions, and types with all their members.
std::vector<Extent> definitions_of(const Text& text, const CodeRules& rules) {
    static const RE2 type(
        R"(^\s*(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|internal|abstract|final|sealed|static|data|unsafe|declare|typedef|const)\s+)*(class|struct|interface|enum|union|trait|impl|record|type|mod|namespace)\b\s*([^{:;(=]*))");
    std::vector<Extent> found;
    const bool by_indentation = rules.comment_begins.empty();
    for (std::size_t at = 0; at < text.blanked.size(); ++at) {
        std::string kind;
        std::string name;
        if (!RE2::PartialMatch(text.blanked[at], type, &kind, &name) || bare_line(name).empty()) { continue; }
        if (by_indentation && kind != "class") { continue; }
        found.push_back({kind + " " + std::string(bare_line(name)), at, end_of_block(text, at, by_indentation)});
    }
    for (const auto& function : text.functions) {
        if (function.first == 0 || function.last > text.code.size()) { continue; }
        found.push_back({function.name, function.first - 1, function.last - 1});
    }
    return found;
}

std::string code_of(const Text& text, const Extent& extent) {
    std::string code;
    for (auto at = extent.first; at <= extent.last && at < text.code.size(); ++at) {
        if (!text.code[at].empty()) { code += text.code[at] + "\n"; }
    }
    return code;
}

/// Returns the definitions that `now` lacks, with their decorators. Of several with one name, those that differ from all of
/// them in `now`, if `now` has no other.
std::vector<Extent> removed_definitions(const Text& before, const Text& now, const CodeRules& rules) {
    std::map<std::string, std::vector<Extent>> were;
    std::map<std::string, std::multiset<std::string>> are;
    for (auto& each : definitions_of(before, rules)) { were[each.name].push_back(std::move(each)); }
    for (const auto& each : definitions_of(now, rules)) { are[each.name].insert(code_of(now, each)); }
    std::vector<Extent> removed;
    for (auto& [name, extents] : were) {
        auto& left = are[name];
        std::vector<Extent> changed;
        for (auto& extent : extents) {
            const auto same = left.find(code_of(before, extent));
            if (same == left.end()) {
                changed.push_back(std::move(extent));
            } else {
                left.erase(same);
            }
        }
        if (left.empty()) { std::ranges::move(changed, std::back_inserter(removed)); }
    }
    static const RE2 decorator(R"(^\s*(?:@\w|#\[|template\s*<))");
    for (auto& extent : removed) {
        for (auto at = extent.first; at-- > 0;) {
            if (before.code[at].empty()) { continue; }
            if (!RE2::PartialMatch(before.code[at], decorator)) { break; }
            extent.first = at;
        }
    }
    return removed;
}

/// Marks the lines of imports and of lists of exported names.
std::vector<bool> lines_of_imports(const Text& text) {
    static const RE2 begins(
        R"(^\s*(?:import\b|from\s+\S+\s+import\b|#\s*(?:include|import)\b|(?:pub(?:\([^)]*\))?\s+)?(?:use|mod|extern crate)\s+[\w:]|using\s|package\s|(?:const|let|var)\s+[^=]*=\s*(?:await\s+)?(?:require|import)\s*\(|export\s*(?:type\s*)?[{*]|export\s+default\s*\{|__all__\s*\+?=|(?:module\.)?exports\b(?:\.\w+)?\s*=\s*(?:\{|\w+;?$)))");
    std::vector<bool> marked(text.blanked.size());
    for (std::size_t at = 0; at < text.blanked.size(); ++at) {
        if (!RE2::PartialMatch(text.code[at], begins)) { continue; }
        marked[at] = true;
        int open = bracket_balance(text.blanked[at]);
        while (open > 0 && at + 1 < text.blanked.size()) {
            open += bracket_balance(text.blanked[++at]);
            marked[at] = true;
        }
    }
    return marked;
}

/// Pairs equal lines of two sequences: for each of `old`, whether it is kept. The longest common subsequence, unless both are
/// very long.
std::vector<bool> kept_lines(const std::vector<std::string>& old, const std::vector<std::string>& now,
                             std::vector<bool>& kept_now) {
    constexpr std::size_t largest = 16UL << 20U;
    std::vector<bool> kept(old.size());
    kept_now.assign(now.size(), false);
    std::size_t begin = 0;
    while (begin < old.size() && begin < now.size() && old[begin] == now[begin]) {
        kept[begin] = kept_now[begin] = true, ++begin;
    }
    std::size_t end_old = old.size();
    std::size_t end_now = now.size();
    while (end_old > begin && end_now > begin && old[end_old - 1] == now[end_now - 1]) {
        kept[--end_old] = kept_now[--end_now] = true;
    }
    const auto rows = end_old - begin;
    const auto columns = end_now - begin;
    if (rows == 0 || columns == 0 || rows > largest / columns) { return kept; }
    std::vector<std::uint32_t> length((rows + 1) * (columns + 1));
    const auto at = [&](std::size_t row, std::size_t column) -> std::uint32_t& { return length[row * (columns + 1) + column]; };
    for (auto row = rows; row-- > 0;) {
        for (auto column = columns; column-- > 0;) {
            at(row, column) = old[begin + row] == now[begin + column] ? at(row + 1, column + 1) + 1
                                                                      : std::max(at(row + 1, column), at(row, column + 1));
        }
    }
    for (std::size_t row = 0, column = 0; row < rows && column < columns;) {
        if (old[begin + row] == now[begin + column]) {
            kept[begin + row++] = kept_now[begin + column++] = true;
        } else if (at(row + 1, column) >= at(row, column + 1)) {
            ++row;
        } else {
            ++column;
        }
    }
    return kept;
}

bool closes_a_block(std::string_view line) {
    static const RE2 closer(R"(^\s*(?:[)\]}]|(?:else|elif|except|finally|catch|rescue|ensure|end)\b))");
    return RE2::PartialMatch(text_piece(line), closer);
}

/// True if the code branches, ends its function or raises an error.
bool decides(std::string_view blanked) {
    static const RE2 deciding(
        R"(\b(?:if|elif|else|unless|while|for|switch|case|match|try|except|catch|return|raise|throw|panic|assert\w*|break|continue|goto|exit|abort|reject|Err)\b|\?[^.:])");
    return RE2::PartialMatch(text_piece(blanked), deciding);
}

/// True if the code raises an error or ends the program.
bool raises(std::string_view blanked) {
    static const RE2 raising(R"(\b(?:raise|throw|panic|assert\w*|exit|abort|reject|Err|errors?|Errorf)\b)");
    return RE2::PartialMatch(text_piece(blanked), raising);
}

/// Returns the name that a line outside functions declares, if it is one of these.
bool declares_one_of(std::string_view blanked, const std::set<std::string>& names) {
    const auto line = bare_line(blanked);
    const auto head = line.substr(0, line.find_first_of("(={"));
    const auto found = names_in(head);
    if (std::ranges::any_of(found, [&](const std::string& name) { return names.contains(name); })) { return true; }
    static const RE2 prototype(R"(^[\w:<>,*&\s\[\]]+[\s*&](\w+)\s*\([^{}]*;?$)");
    std::string name;
    return RE2::PartialMatch(text_piece(line), prototype, &name) && names.contains(name);
}

/// True if the project gives this name to something: a variable, a parameter, a function, a type. Names of libraries link
/// nothing: two checks that both raise `ValueError` have nothing to do with each other.
bool is_own_name(const std::string& name, const std::string& code) {
    const std::string word = RE2::QuoteMeta(name);
    const RE2 bound(
        "(?m)\\b(?:def|func|fn|function|class|struct|type|enum|trait|interface|const|let|var|val|static|define|for|as|mut|import)\\s+(?:mut\\s+)?" +
        word + "\\b|(?:^|[^\\w.])" + word + "\\s*(?:=[^=]|:=|[-+*/|&]=)|^\\s*[\\w:<>,*&\\s]+[\\s*&]" + word +
        "\\s*[;,\\[]|\\b(?:def|func|fn|function)\\b[^(\\n]*\\([^)\\n]*\\b" + word + "\\b|^\\s*[\\w:<>,*&\\s]+\\([^;\\n]*\\b" +
        word + "\\b[^;\\n]*\\)\\s*\\{|\\(?[^()\\n]*\\b" + word + "\\b[^()\\n]*\\)?\\s*=>|^\\s*" + word + "\\s*:|#\\s*define\\s+" +
        word + "\\b|(?:self|this)\\." + word + "\\s*=[^=]");
    return RE2::PartialMatch(code, bound);
}

/// Returns the code without what stands after a word that raises an error.
std::string without_errors(std::string_view code) {
    static const RE2 error(R"(\b(?:raise|throw|panic|Err|errors|fmt\.Errorf|exit|abort)\b.*)");
    std::string text(code);
    RE2::GlobalReplace(&text, error, "");
    return text;
}

std::string joined_lines(const std::vector<std::string>& lines, const std::vector<std::size_t>& numbers) {
    std::string text;
    for (const auto number : numbers) { text += lines[number] + "\n"; }
    return text;
}

/// Returns the code without statements that do nothing: a block that lost its last line needs one.
std::string without_idle_lines(std::string_view code) {
    static const RE2 idle(R"(^\s*(?:pass|\.\.\.|;|\(void\)\s*\w+;)\s*$)");
    std::string text;
    for (const auto line : lines_of(code)) {
        if (!RE2::PartialMatch(text_piece(line), idle)) { text += std::string(line) + "\n"; }
    }
    return text;
}

/// Returns the function that contains a line, by its index.
const FunctionLines* function_around(const Text& text, std::size_t line) {
    const FunctionLines* found = nullptr;
    for (const auto& function : text.functions) {
        if (function.first <= line + 1 && line + 1 <= function.last) { found = &function; }
    }
    return found;
}

/// Removed lines that are put back together, with the lines that replaced them.
struct Hunk {
    std::vector<std::size_t> removed;  ///< Indexes of lines before.
    std::vector<std::size_t> added;    ///< Indexes of lines now.
    std::size_t after = no_line;       ///< The kept line of `now` before them.
    std::size_t until = no_line;       ///< The kept line of `now` behind them.
};

/// Finds the hunks of one file, without definitions and imports.
class HunkFinder {
public:
    HunkFinder(const Text& before, const Text& now, const std::vector<bool>& skipped_before, const std::vector<bool>& skipped_now)
        : before_(before), now_(now), skipped_(skipped_before) {
        const auto add = [](const Text& text, const std::vector<bool>& skipped, std::vector<std::size_t>& numbers,
                            std::vector<std::string>& lines) {
            for (std::size_t at = 0; at < text.code.size(); ++at) {
                if (skipped[at] || text.code[at].empty()) { continue; }
                numbers.push_back(at);
                lines.push_back(text.code[at]);
            }
        };
        add(before, skipped_before, old_numbers_, old_);
        add(now, skipped_now, new_numbers_, new_);
        kept_ = kept_lines(old_, new_, kept_now_);
        slide();
    }

    /// For each line before, the same line now, if it was kept.
    [[nodiscard]] std::vector<std::size_t> kept_places() const {
        std::vector<std::size_t> places(before_.code.size(), no_line);
        std::size_t in_new = 0;
        for (std::size_t in_old = 0; in_old < old_.size(); ++in_old) {
            if (!kept_[in_old]) { continue; }
            while (in_new < new_.size() && !kept_now_[in_new]) { ++in_new; }
            if (in_new < new_.size()) { places[old_numbers_[in_old]] = new_numbers_[in_new++]; }
        }
        return places;
    }

    std::vector<Hunk> find() {
        std::vector<Hunk> hunks;
        std::size_t in_old = 0;
        std::size_t in_new = 0;
        std::size_t last = no_line;
        while (in_old < old_.size() || in_new < new_.size()) {
            Hunk hunk;
            hunk.after = last;
            while (in_old < old_.size() && !kept_[in_old]) { hunk.removed.push_back(old_numbers_[in_old++]); }
            while (in_new < new_.size() && !kept_now_[in_new]) { hunk.added.push_back(new_numbers_[in_new++]); }
            if (in_new < new_.size()) { hunk.until = new_numbers_[in_new]; }
            if (!hunk.removed.empty()) { add_parts(std::move(hunk), hunks); }
            if (in_old >= old_.size() || in_new >= new_.size()) {
                if (in_old >= old_.size() && in_new >= new_.size()) { break; }
                continue;
            }
            last = new_numbers_[in_new];
            ++in_old;
            ++in_new;
        }
        return hunks;
    }

private:
    /// Where equal lines leave a choice of what was removed, chooses a whole block: not the `}` of the block before it.
    void slide() {
        for (std::size_t begin = 0; begin < kept_.size(); ++begin) {
            if (kept_[begin] || (begin > 0 && !kept_[begin - 1])) { continue; }
            auto first = begin;
            auto end = begin;
            while (end < kept_.size() && !kept_[end]) { ++end; }
            while (closes_a_block(old_[first]) && end < kept_.size() && kept_[end] && old_[first] == old_[end]) {
                kept_[first++] = true;
                kept_[end++] = false;
            }
            while (closes_a_block(old_[first]) && first > 0 && kept_[first - 1] && old_[first - 1] == old_[end - 1]) {
                kept_[--first] = false;
                kept_[--end] = true;
            }
            begin = end;
        }
    }

    /// Splits a hunk into changed lines and removed ones, unless some of its lines are new, or only moved to the left.
    void add_parts(Hunk hunk, std::vector<Hunk>& hunks) const {
        std::vector<std::size_t> partners;  // For each added line, the index of the removed line that it was.
        for (const auto number : hunk.added) {
            auto at = partners.empty() ? 0 : partners.back() + 1;
            while (at < hunk.removed.size() && !adds_no_words(now_.code[number], before_.code[hunk.removed[at]])) { ++at; }
            if (at == hunk.removed.size() || bare_line(now_.code[number]) == bare_line(before_.code[hunk.removed[at]])) {
                return hunks.push_back(std::move(hunk));
            }
            partners.push_back(at);
        }
        std::size_t done = 0;
        auto after = hunk.after;
        for (std::size_t at = 0; at <= hunk.added.size(); ++at) {
            const auto end = at < partners.size() ? partners[at] : hunk.removed.size();
            const auto until = at < hunk.added.size() ? hunk.added[at] : hunk.until;
            Hunk removed{{hunk.removed.begin() + static_cast<std::ptrdiff_t>(done),
                          hunk.removed.begin() + static_cast<std::ptrdiff_t>(end)},
                         {},
                         after,
                         until};
            if (!removed.removed.empty()) { add_statements(removed, hunks); }
            if (at == hunk.added.size()) { break; }
            hunks.push_back({{hunk.removed[end]}, {hunk.added[at]}, after, until});
            after = hunk.added[at];
            done = end + 1;
        }
    }

    /// Splits what was only removed at statements that decide something, and outside functions at each statement: each has to be
    /// accounted for.
    void add_statements(const Hunk& hunk, std::vector<Hunk>& hunks) const {
        std::size_t margin = std::string::npos;
        for (const auto number : hunk.removed) { margin = std::min(margin, margin_of(before_.code[number])); }
        std::vector<Hunk> parts;
        int open = 0;
        bool decided = false;
        for (const auto number : hunk.removed) {
            const auto& line = before_.blanked[number];
            const bool begins = open <= 0 && margin_of(before_.code[number]) == margin && !closes_a_block(before_.code[number]);
            const bool apart = !parts.empty() && separated(parts.back().removed.back(), number);
            if (parts.empty() || apart || (begins && (decided || decides(line) || function_around(before_, number) == nullptr))) {
                parts.push_back({{}, {}, hunk.after, hunk.until});
                decided = begins && decides(line);
            }
            parts.back().removed.push_back(number);
            open += bracket_balance(line);
        }
        std::ranges::move(parts, std::back_inserter(hunks));
    }

    /// True if a removed definition is between these lines.
    [[nodiscard]] bool separated(std::size_t one, std::size_t other) const {
        for (auto at = one + 1; at < other; ++at) {
            if (skipped_[at]) { return true; }
        }
        return false;
    }

    const Text& before_;
    const Text& now_;
    const std::vector<bool>& skipped_;
    std::vector<std::string> old_;
    std::vector<std::string> new_;
    std::vector<std::size_t> old_numbers_;
    std::vector<std::size_t> new_numbers_;
    std::vector<bool> kept_;
    std::vector<bool> kept_now_;
};

/// Returns the line of `now` before which the hunk stood.
std::size_t place_of(const Hunk& hunk) {
    if (!hunk.added.empty()) { return hunk.added.front(); }
    if (hunk.after != no_line) { return hunk.after + 1; }
    return hunk.until == no_line ? 0 : hunk.until;
}

std::string code_of_functions(const Text& text, const std::string& name) {
    std::string code;
    for (const auto& function : text.functions) {
        if (function.name == name && function.first > 0) { code += code_of(text, {name, function.first - 1, function.last - 1}); }
    }
    return code;
}

std::string file_stem(const std::string& path) {
    const auto name = path.substr(path.rfind('/') + 1);
    return name.substr(0, name.find('.'));
}

}  // namespace

std::string without_comments(std::string_view text, const CodeRules& rules) {
    const auto read = read_code(text, rules);
    std::string result = read.code;
    int open = 0;
    std::size_t counted = 0;
    const auto line_is_blank_around = [&](const CodeLiteral& literal) {
        const auto begin = literal.begin == 0 ? 0 : read.code.rfind('\n', literal.begin - 1) + 1;
        const auto end = std::min(read.code.find('\n', literal.end), read.code.size());
        return bare_line(std::string_view(read.code).substr(begin, literal.begin - begin)).empty() &&
               bare_line(std::string_view(read.code).substr(literal.end, end - literal.end)).empty() &&
               (begin < 2 || read.code[begin - 2] != '\\');
    };
    for (const auto& literal : read.literals) {
        open += bracket_balance(std::string_view(read.code).substr(counted, literal.begin - counted));
        counted = literal.begin;
        const bool docstring = rules.comment_begins.empty() && is_text(literal) && open == 0 && line_is_blank_around(literal);
        for (auto at = literal.begin; at < literal.end; ++at) {
            if (text[at] != '\n') { result[at] = docstring ? ' ' : text[at]; }
        }
    }
    if (!rules.preprocessor) { return result; }
    std::size_t begin = 0;
    for (const auto line : lines_of(text)) {
        if (bare_line(line).starts_with('#')) { result.replace(begin, line.size(), line); }
        begin += line.size() + 1;
    }
    return result;
}

bool adds_no_code(const std::vector<ChangedText>& files, const CodeRules& rules) {
    return std::ranges::all_of(files, [&](const ChangedText& file) {
        if (file.now.empty()) { return true; }
        if (file.before.empty()) { return false; }
        return file.is_source
                   ? adds_no_words(without_idle_lines(without_comments(file.now, rules)), without_comments(file.before, rules))
                   : adds_no_words(file.now, file.before);
    });
}

RemovalReview::RemovalReview(const RemovalRequest& request, const CodeRules& rules, const std::vector<ChangedText>& files,
                             const std::vector<std::string>& others) {
    std::string before;
    const auto remains = [&](const std::string& text) {
        auto words = vocabulary_of(without_comments(text, rules), rules);
        names_now_.merge(words.names);
        parts_now_.merge(words.parts);
    };
    for (const auto& text : others) { remains(text); }
    for (const auto& file : files) {
        if (file.is_source) {
            remains(file.now);
            before += file.before + "\n";
            continue;
        }
        const auto path = parts_of_name(file.path);
        const auto words = file.now.empty() ? path : names_in(file.before);
        other_file_asked_ = other_file_asked_ ||
                            std::ranges::any_of(path, [&](const auto& word) { return request.mentions(word); }) ||
                            std::ranges::any_of(words, [&](const auto& word) { return request.mentions(word); });
    }
    for (const auto& file : files) {
        if (file.is_source && !file.before.empty()) { add_file(request, rules, file); }
    }
    forget_foreign_names(before);
    link();
    // What decides something comes first: it is the most likely to be missed.
    std::ranges::stable_partition(pieces_, [](const Piece& piece) { return piece.decides; });
}

bool RemovalReview::is_about(const RemovalRequest& request, const std::vector<std::string>& names) const {
    for (const auto& name : names) {
        for (const auto& part : parts_of_name(name)) {
            if (request.is_object(part) || (request.mentions(part) && !parts_now_.contains(part))) { return true; }
        }
    }
    return false;
}

void RemovalReview::add_file(const RemovalRequest& request, const CodeRules& rules, const ChangedText& file) {
    const Text before(file.before, rules);
    const Text now(file.now, rules);
    whole_[file.path] = file.whole;
    restores_includes_ = rules.preprocessor;
    const auto begun = pieces_.size();
    const auto add = [&](Piece::Kind kind, const std::vector<std::size_t>& numbers) -> Piece& {
        Piece piece;
        piece.kind = kind;
        piece.lines = {file.path, numbers.front() + 1, std::string(bare_line(before.written[numbers.front()]))};
        piece.written = joined_lines(before.written, numbers);
        piece.code = joined_lines(before.code, numbers);
        piece.parts = vocabulary_of(piece.code, rules).parts;
        const auto blanked = joined_lines(before.blanked, numbers);
        piece.decides = kind == Piece::Kind::definition ? raises(blanked) : decides(blanked);
        auto kept =
            kind == Piece::Kind::lines ? vocabulary_of(without_errors(piece.code), rules) : vocabulary_of(piece.code, rules);
        for (const auto& name : kept.names) {
            if (!names_now_.contains(name)) { piece.vanished.insert(name); }
        }
        // An import may name what it imports in a text.
        static const std::set<std::string> keywords{"import", "from", "as",  "use",     "using",
                                                    "const",  "let",  "var", "require", "include"};
        for (const auto& name : names_in(kind == Piece::Kind::import ? piece.code : blanked)) {
            if (!names_now_.contains(name) && !keywords.contains(name)) { piece.lacking.insert(name); }
        }
        return pieces_.emplace_back(std::move(piece));
    };
    const auto numbers_of = [&](std::size_t first, std::size_t last) {
        std::vector<std::size_t> numbers;
        for (auto at = first; at <= last && at < before.code.size(); ++at) {
            if (!before.code[at].empty()) { numbers.push_back(at); }
        }
        return numbers;
    };
    if (file.now.empty()) {  // A file is a definition.
        const auto numbers = numbers_of(0, before.code.size());
        if (numbers.empty()) { return; }
        add(Piece::Kind::definition, numbers).is_asked =
            is_about(request, names_in(file.path + "\n" + file.before)) || request.calls_it_unused();
        return;
    }
    std::vector<bool> skipped(before.code.size());
    for (const auto& extent : removed_definitions(before, now, rules)) {
        const auto numbers = numbers_of(extent.first, extent.last);
        if (numbers.empty()) { continue; }
        auto& piece = add(Piece::Kind::definition, numbers);
        // Its comments say what it is for.
        std::vector<std::string> about;
        auto first = extent.first;
        while (first > 0 && before.code[first - 1].empty() && !bare_line(before.written[first - 1]).empty()) { --first; }
        for (auto at = first; at <= extent.last && at < before.written.size(); ++at) {
            std::ranges::move(names_in(before.written[at]), std::back_inserter(about));
            skipped[at] = true;
        }
        piece.is_asked = is_about(request, about) || request.calls_it_unused();
    }
    const auto imports = lines_of_imports(before);
    std::set<std::string> imports_now;
    const auto marked_now = lines_of_imports(now);
    for (std::size_t at = 0; at < now.code.size(); ++at) {
        if (marked_now[at]) { imports_now.insert(now.code[at]); }
    }
    for (std::size_t at = 0; at < before.code.size(); ++at) {
        if (!imports[at] || skipped[at] || before.code[at].empty()) { continue; }
        skipped[at] = true;
        if (imports_now.contains(before.code[at])) { continue; }
        auto& piece = add(Piece::Kind::import, {at});
        piece.is_asked = is_about(request, names_in(before.code[at])) || request.calls_it_unused();
    }
    HunkFinder finder(before, now, skipped, marked_now);
    auto places = finder.kept_places();
    for (std::size_t at = 0, in_new = 0; at < before.code.size(); ++at) {
        if (!imports[at] || !imports_now.contains(before.code[at])) { continue; }
        for (in_new = 0; in_new < now.code.size() && (!marked_now[in_new] || now.code[in_new] != before.code[at]);) { ++in_new; }
        places[at] = in_new;
    }
    for (auto index = begun; index < pieces_.size(); ++index) {  // Definitions and imports.
        for (auto at = static_cast<std::size_t>(pieces_[index].lines.line - 1); at-- > 0;) {
            if (places[at] == no_line) { continue; }
            pieces_[index].place = places[at] + 1;
            break;
        }
    }
    for (const auto& hunk : finder.find()) {
        if (!adds_no_words(without_idle_lines(joined_lines(now.code, hunk.added)), joined_lines(before.code, hunk.removed))) {
            continue;
        }
        const auto* function = function_around(before, hunk.removed.front());
        auto& piece = add(Piece::Kind::lines, hunk.removed);
        piece.place = place_of(hunk);
        piece.replaced.insert(hunk.added.begin(), hunk.added.end());
        if (function == nullptr && declares_one_of(before.blanked[hunk.removed.front()], piece.vanished)) {
            piece.kind = Piece::Kind::definition;
            piece.decides = false;
        }
        const bool named = (function != nullptr && request.names(function->name)) || request.names(file_stem(file.path));
        const auto left = function == nullptr ? parts_now_ : vocabulary_of(code_of_functions(now, function->name), rules).parts;
        for (const auto& part : piece.parts) {
            const bool vanished = request.mentions(part) && !parts_now_.contains(part);
            const bool left_it = request.is_object(part) && (named || !left.contains(part));
            piece.is_asked = piece.is_asked || vanished || left_it;
        }
        piece.is_asked = piece.is_asked || (request.calls_it_unused() && named);
    }
}

void RemovalReview::forget_foreign_names(const std::string& before) {
    std::set<std::string> known;
    for (auto& piece : pieces_) {
        known.insert(piece.vanished.begin(), piece.vanished.end());
        known.insert(piece.lacking.begin(), piece.lacking.end());
    }
    std::set<std::string> own;
    for (const auto& name : known) {
        const bool is_text = name.find_first_of("\"'`") != std::string::npos;
        if (is_text || (name.size() > 1 && is_own_name(name, before))) { own.insert(name); }
    }
    for (auto& piece : pieces_) {
        std::erase_if(piece.vanished, [&](const std::string& name) { return !own.contains(name); });
        std::ranges::set_intersection(piece.lacking, own, std::inserter(piece.given, piece.given.end()));
        if (piece.kind == Piece::Kind::import) { piece.given = piece.lacking; }
    }
}

void RemovalReview::link() {
    std::set<std::string> names;
    const auto shares = [](const Piece& piece, const std::set<std::string>& with) {
        return std::ranges::any_of(piece.vanished, [&](const auto& name) { return with.contains(name); });
    };
    for (bool grown = true; grown;) {
        grown = false;
        for (auto& piece : pieces_) {
            if (piece.is_linked) { continue; }
            const bool noticed = piece.is_tried && piece.reaction == Reaction::noticed;
            if (!piece.is_asked && !noticed && !shares(piece, names)) { continue; }
            piece.is_linked = grown = true;
            names.insert(piece.vanished.begin(), piece.vanished.end());
        }
    }
    // Calls of a removed definition that raises no error.
    std::set<std::string> harmless;
    for (const auto& piece : pieces_) {
        if (piece.kind == Piece::Kind::definition && !piece.decides) {
            harmless.insert(piece.vanished.begin(), piece.vanished.end());
        }
    }
    for (auto& piece : pieces_) {
        piece.is_excused = piece.kind == Piece::Kind::lines && !piece.decides && shares(piece, harmless);
    }
}

bool RemovalReview::is_accounted_for(const Piece& piece) const {
    return piece.kind != Piece::Kind::lines || piece.is_linked || piece.is_excused;
}

std::size_t RemovalReview::next_piece() const {
    const auto found =
        std::ranges::find_if(pieces_, [&](const Piece& piece) { return !piece.is_tried && !is_accounted_for(piece); });
    return static_cast<std::size_t>(found - pieces_.begin());
}

std::set<std::size_t> RemovalReview::with_what_it_needs(std::size_t piece) const {
    std::set<std::size_t> needed{piece};
    std::set<std::string> names = pieces_[piece].lacking;
    for (bool grown = true; grown;) {
        grown = false;
        for (std::size_t at = 0; at < pieces_.size(); ++at) {
            const auto& other = pieces_[at];
            if (needed.contains(at) || (other.is_linked && other.kind != Piece::Kind::import)) { continue; }
            const bool frame = other.kind == Piece::Kind::import && (other.lacking.empty() || restores_includes_) &&
                               other.lines.file == pieces_[piece].lines.file && names_in(other.code).size() <= 1;
            const bool shares = std::ranges::any_of(other.given, [&](const auto& name) { return names.contains(name); });
            if (!frame && !shares) { continue; }
            needed.insert(at);
            names.insert(other.lacking.begin(), other.lacking.end());
            grown = true;
        }
    }
    return needed;
}

std::optional<PutBack> RemovalReview::next() const {
    const auto chosen = next_piece();
    if (chosen == pieces_.size()) { return std::nullopt; }
    PutBack result{pieces_[chosen].lines, {}};
    std::map<std::string, std::map<std::size_t, std::map<std::uint64_t, std::string>>> lines;  // By file, place and former line.
    std::map<std::string, std::set<std::size_t>> replaced;
    for (const auto index : with_what_it_needs(chosen)) {
        const auto& piece = pieces_[index];
        lines[piece.lines.file][piece.place][piece.lines.line] = piece.written;
        replaced[piece.lines.file].insert(piece.replaced.begin(), piece.replaced.end());
    }
    for (const auto& [file, places] : lines) {
        std::string text;
        const auto& whole = whole_.at(file);
        const auto now = lines_of(whole);
        for (std::size_t at = 0; at <= now.size(); ++at) {
            if (const auto here = places.find(at); here != places.end()) {
                for (const auto& [line, written] : here->second) { text += written; }
            }
            if (at < now.size() && !replaced[file].contains(at)) { text += std::string(now[at]) + "\n"; }
        }
        result.files[file] = std::move(text);
    }
    return result;
}

void RemovalReview::record(Reaction reaction) {
    const auto chosen = next_piece();
    if (chosen == pieces_.size()) { return; }
    for (const auto index : with_what_it_needs(chosen)) {
        auto& piece = pieces_[index];
        if (piece.kind != Piece::Kind::lines || piece.is_tried) { continue; }
        piece.is_tried = true;
        piece.reaction = reaction;
    }
    link();
}

std::vector<RemovedLines> RemovalReview::unaccounted() const {
    std::vector<RemovedLines> found;
    for (const auto& piece : pieces_) {
        if (piece.is_tried && piece.reaction == Reaction::unnoticed && !is_accounted_for(piece)) { found.push_back(piece.lines); }
    }
    return found;
}

bool RemovalReview::shows_what_was_asked() const {
    return other_file_asked_ || std::ranges::any_of(pieces_, [](const Piece& piece) {
               return piece.is_asked || piece.is_excused || (piece.is_tried && piece.reaction != Reaction::unnoticed);
           });
}

bool RemovalReview::removed_by_name(const RemovalRequest& request) const {
    std::set<std::string> names;
    std::set<const Piece*> found;
    const auto shares = [&](const Piece& piece) {
        return std::ranges::any_of(piece.given, [&](const auto& name) { return names.contains(name); });
    };
    for (bool grown = true; grown;) {
        grown = false;
        for (const auto& piece : pieces_) {
            if (piece.kind == Piece::Kind::import || found.contains(&piece)) { continue; }
            const bool is_file = whole_.at(piece.lines.file).empty();
            const bool named = std::ranges::any_of(piece.given, [&](const auto& name) { return request.names(name); }) ||
                               (is_file && request.names(file_stem(piece.lines.file)));
            if (!named && !shares(piece)) { continue; }
            found.insert(&piece);
            names.insert(piece.given.begin(), piece.given.end());
            grown = true;
        }
    }
    return !found.empty() && std::ranges::all_of(pieces_, [&](const Piece& piece) {
        return piece.kind != Piece::Kind::definition || found.contains(&piece);
    });
}

bool RemovalReview::removes_name_with(const std::string& word) const {
    return std::ranges::any_of(pieces_, [&](const Piece& piece) { return piece.parts.contains(word); });
}

}  // namespace agentforge::kernel
