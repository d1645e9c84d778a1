// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/removal_review.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <re2/re2.h>

#include "gates/test_quality/changed_line.hpp"

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

/// True if the line chooses what to do next.
bool decides_between(std::string_view blanked) {
    static const RE2 condition(R"(\b(?:if|elif|unless|while|until|for|switch|case|match|when|assert\w*)\b|&&|\|\||\?[^.:])");
    return RE2::PartialMatch(text_piece(blanked), condition);
}

/// True if the code is a single name or number.
bool is_one_word(std::string_view code) {
    static const RE2 word(R"(\s*\w+(?:\.\d+)?\s*)");
    return RE2::FullMatch(text_piece(code), word);
}

/// True if the code raises an error or ends the program.
bool raises(std::string_view blanked) {
    static const RE2 raising(R"(\b(?:raise|throw|panic|assert\w*|exit|abort|reject|Err|errors?|Errorf|[eE]rr[A-Z]\w*)\b)");
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

/// Returns the removed lines that stay in another form, each with that form, in order.
std::vector<std::pair<std::size_t, std::size_t>> alike_lines(const Text& before, const Text& now,
                                                             const std::vector<std::size_t>& removed,
                                                             const std::vector<std::size_t>& added) {
    constexpr double alike = 0.6;
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    auto from = removed.begin();
    for (const auto number : added) {
        const auto same = std::find_if(
            from, removed.end(), [&](std::size_t line) { return line_similarity(before.code[line], now.code[number]) >= alike; });
        if (same == removed.end()) { continue; }
        pairs.emplace_back(*same, number);
        from = same + 1;
    }
    return pairs;
}

/// True if some removed lines stay in another form, and none was only moved to the left.
bool stay_in_place(const Text& before, const Text& now, const Hunk& hunk) {
    const auto pairs = alike_lines(before, now, hunk.removed, hunk.added);
    return !pairs.empty() && std::ranges::none_of(pairs, [&](const auto& pair) {
        return bare_line(before.code[pair.first]) == bare_line(now.code[pair.second]);
    });
}

/// Divides removed lines so that each call of one of these functions that is a line of its own stands alone.
std::vector<std::vector<std::size_t>> apart_from_calls(const Text& before, const Hunk& hunk,
                                                       const std::set<std::string>& functions) {
    std::vector<std::vector<std::size_t>> parts;
    if (!hunk.added.empty() || functions.empty()) { return {hunk.removed}; }
    std::size_t margin = std::string::npos;
    for (const auto number : hunk.removed) { margin = std::min(margin, margin_of(before.code[number])); }
    bool alone = true;
    for (const auto number : hunk.removed) {
        const auto& line = before.blanked[number];
        const auto names = names_in(line);
        const bool calls = margin_of(before.code[number]) == margin && bracket_balance(line) == 0 && !decides(line) &&
                           std::ranges::any_of(names, [&](const auto& name) { return functions.contains(name); });
        if (calls || alone) { parts.emplace_back(); }
        parts.back().push_back(number);
        alone = calls;
    }
    return parts;
}

/// Returns the removed lines of a hunk that no new line is like.
Hunk unpaired_lines(const Text& before, const Text& now, const Hunk& hunk) {
    Hunk result = hunk;
    result.added.clear();
    for (const auto& [one, other] : alike_lines(before, now, hunk.removed, hunk.added)) {
        std::erase(result.removed, one);
        if (result.removed.empty() || one < result.removed.front()) { result.after = other; }
    }
    if (result.after == no_line && !hunk.added.empty()) { result.until = hunk.added.front(); }
    return result;
}

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

    /// Splits what was only removed at statements that decide something.
    [[nodiscard]] std::vector<Hunk> statements(const Hunk& hunk) const {
        std::vector<Hunk> parts;
        if (!hunk.removed.empty()) { add_statements(hunk, parts); }
        return parts;
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
        std::vector<Hunk> parts;
        for (auto begin = hunk.removed.begin(); begin != hunk.removed.end();) {
            const auto* function = function_around(before_, *begin);
            const auto end = std::find_if(begin, hunk.removed.end(),
                                          [&](std::size_t line) { return function_around(before_, line) != function; });
            add_statements_of(function, {begin, end}, hunk, parts);
            begin = end;
        }
        std::ranges::move(parts, std::back_inserter(hunks));
    }

    void add_statements_of(const FunctionLines* function, const std::vector<std::size_t>& numbers, const Hunk& hunk,
                           std::vector<Hunk>& parts) const {
        std::size_t margin = std::string::npos;
        for (const auto number : numbers) { margin = std::min(margin, margin_of(before_.code[number])); }
        int open = 0;
        bool decided = false;
        bool first = true;
        for (const auto number : numbers) {
            const auto& line = before_.blanked[number];
            const bool begins = open <= 0 && margin_of(before_.code[number]) == margin && !closes_a_block(before_.code[number]);
            const bool apart = first || separated(parts.back().removed.back(), number);
            if (apart || (begins && (decided || decides(line) || function == nullptr))) {
                parts.push_back({{}, {}, hunk.after, hunk.until});
                decided = begins && decides(line);
            }
            first = false;
            parts.back().removed.push_back(number);
            open += bracket_balance(line);
        }
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

struct RemovalReview::Versions {
    Versions(const ChangedText& changed, const CodeRules& code_rules)
        : file(changed), rules(code_rules), before(changed.before, code_rules), now(changed.now, code_rules) {}

    const ChangedText& file;
    const CodeRules& rules;
    const Text before;
    const Text now;
};

bool makes_nothing_of(const Making& making, const std::vector<ChangedText>& files, const std::vector<std::string>& others,
                      const CodeRules& rules) {
    Vocabulary before;
    Vocabulary now;
    std::multiset<std::string> definitions;
    std::map<std::string, int> texts;
    int branches = 0;
    for (const auto& file : files) {
        const Text old(file.before, rules);
        const Text text(file.now, rules);
        auto words = vocabulary_of(old.bare, rules);
        before.parts.merge(words.parts);
        words = vocabulary_of(text.bare, rules);
        now.names.merge(words.names);
        now.parts.merge(words.parts);
        if (!file.is_source) { continue; }
        const auto count = [](const std::vector<std::string>& lines) {
            return static_cast<int>(std::ranges::count_if(lines, decides_between));
        };
        branches += count(text.blanked) - count(old.blanked);
        for (const auto& literal : read_code(text.bare, rules).literals) { texts[literal.value] += is_text(literal) ? 1 : 0; }
        for (const auto& literal : read_code(old.bare, rules).literals) { texts[literal.value] -= is_text(literal) ? 1 : 0; }
        for (const auto& each : definitions_of(text, rules)) { definitions.insert(each.name); }
    }
    for (const auto& file : files) {
        if (!file.is_source) { continue; }
        for (const auto& each : definitions_of(Text(file.before, rules), rules)) {
            if (const auto same = definitions.find(each.name); same != definitions.end()) { definitions.erase(same); }
        }
    }
    for (const auto& text : others) {
        auto words = vocabulary_of(without_comments(text, rules), rules);
        before.parts.merge(words.parts);
        now.names.merge(words.names);
    }
    if (std::ranges::any_of(making.calls, [&](const std::string& name) { return !now.names.contains(name); })) { return true; }
    if (!definitions.empty() || branches > 0) { return false; }
    if (std::ranges::any_of(texts, [](const auto& each) { return each.second > 0; })) { return false; }
    return std::ranges::none_of(
        making.words, [&](const std::string& word) { return now.parts.contains(word) && !before.parts.contains(word); });
}

std::string function_left_out(const RemovalRequest& request, const std::vector<ChangedText>& files,
                              const std::vector<std::string>& others, const CodeRules& rules) {
    std::map<std::string, std::string> before;
    std::map<std::string, std::string> now;
    const auto add = [&](const std::string& text, std::map<std::string, std::string>& codes) {
        const Text read(text, rules);
        for (const auto& function : read.functions) {
            if (!request.names(function.name) || request.is_kept(function.name)) { continue; }
            const std::string code = code_of_functions(read, function.name);
            // Without a semicolon, the lines before a function seem to belong to it.
            codes[function.name] = code.substr(std::min(code.find(function.name), code.size()));
        }
    };
    for (const auto& file : files) {
        if (!file.is_source) { continue; }
        add(file.before, before);
        add(file.now, now);
    }
    for (const auto& text : others) {
        add(text, before);
        add(text, now);
    }
    std::set<std::string> lost;  // Parts of what is to go that another named function no longer has.
    for (const auto& [name, code] : before) {
        const auto left = vocabulary_of(now[name], rules).parts;
        for (const auto& part : vocabulary_of(code, rules).parts) {
            if (request.is_object(part) && !left.contains(part)) { lost.insert(part); }
        }
    }
    for (const auto& [name, code] : now) {
        if (code.empty() || before[name] != code) { continue; }
        const auto parts = vocabulary_of(code, rules).parts;
        if (std::ranges::any_of(lost, [&](const std::string& part) { return parts.contains(part); })) { return name; }
    }
    return {};
}

RemovalReview::RemovalReview(const RemovalRequest& request, const CodeRules& rules, const std::vector<ChangedText>& files,
                             const std::vector<std::string>& others) {
    std::string before;
    std::set<std::string> parts_before;
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
            parts_before.merge(vocabulary_of(without_comments(file.before, rules), rules).parts);
            continue;
        }
        const auto path = parts_of_name(file.path);
        const auto words = file.now.empty() ? path : names_in(file.before);
        other_file_asked_ = other_file_asked_ ||
                            std::ranges::any_of(path, [&](const auto& word) { return request.mentions(word); }) ||
                            std::ranges::any_of(words, [&](const auto& word) { return request.mentions(word); });
    }
    const auto is_object = [&](const std::string& part) { return request.is_object(part); };
    had_object_ = std::ranges::any_of(parts_before, is_object) || std::ranges::any_of(parts_now_, is_object);
    for (const auto& file : files) {
        if (file.is_source && !file.before.empty()) { add_file(request, rules, file); }
    }
    forget_foreign_names(before);
    for (auto& piece : pieces_) {
        asked_found_ = asked_found_ || piece.is_asked;
        std::erase_if(piece.vanished, [&](const std::string& name) {
            return std::ranges::any_of(parts_of_name(name), [&](const auto& part) { return request.is_kept(part); });
        });
    }
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

RemovalReview::Piece& RemovalReview::add_piece(Piece::Kind kind, const Versions& versions,
                                               const std::vector<std::size_t>& numbers, std::optional<std::string> part) {
    const auto& before = versions.before;
    Piece piece;
    piece.kind = kind;
    piece.lines = {versions.file.path, numbers.front() + 1, std::string(bare_line(before.written[numbers.front()]))};
    piece.written = joined_lines(before.written, numbers);
    const auto blanked = part ? read_code(*part, versions.rules).code : joined_lines(before.blanked, numbers);
    piece.code = part ? std::move(*part) : joined_lines(before.code, numbers);
    piece.parts = vocabulary_of(piece.code, versions.rules).parts;
    piece.decides = kind == Piece::Kind::definition ? raises(blanked) : decides(blanked);
    auto kept = vocabulary_of(kind == Piece::Kind::lines ? without_errors(piece.code) : piece.code, versions.rules);
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
}

void RemovalReview::add_file(const RemovalRequest& request, const CodeRules& rules, const ChangedText& file) {
    const Versions versions(file, rules);
    const auto& before = versions.before;
    const auto& now = versions.now;
    whole_[file.path] = file.whole;
    restores_includes_ = rules.preprocessor;
    const auto begun = pieces_.size();
    std::vector<bool> skipped(before.code.size());
    if (file.now.empty()) {  // A file is a definition.
        std::vector<std::size_t> numbers;
        for (std::size_t at = 0; at < before.code.size(); ++at) {
            if (!before.code[at].empty()) { numbers.push_back(at); }
        }
        if (numbers.empty()) { return; }
        add_piece(Piece::Kind::definition, versions, numbers).is_asked =
            is_about(request, names_in(file.path + "\n" + file.before)) || request.calls_it_unused();
        return;
    }
    const auto unrelated = add_definitions(request, versions, skipped);
    add_imports(request, versions, skipped);
    const auto imports = lines_of_imports(before);
    const auto marked_now = lines_of_imports(now);
    HunkFinder finder(before, now, skipped, marked_now);
    auto places = finder.kept_places();
    for (std::size_t at = 0; at < before.code.size(); ++at) {
        if (!imports[at]) { continue; }
        for (std::size_t in_new = 0; in_new < now.code.size(); ++in_new) {
            if (!marked_now[in_new] || now.code[in_new] != before.code[at]) { continue; }
            places[at] = in_new;
            break;
        }
    }
    for (auto index = begun; index < pieces_.size(); ++index) {  // Definitions and imports.
        for (auto at = static_cast<std::size_t>(pieces_[index].lines.line - 1); at-- > 0;) {
            if (places[at] == no_line) { continue; }
            pieces_[index].place = places[at] + 1;
            break;
        }
    }
    for (const auto& hunk : finder.find()) {
        const bool adds =
            !adds_no_words(without_idle_lines(joined_lines(now.code, hunk.added)), joined_lines(before.code, hunk.removed));
        const bool mixed = hunk.removed.size() > 1 && stay_in_place(before, now, hunk);
        if (adds || mixed) {
            add_changed_lines(request, versions, hunk.removed, hunk.added);
            for (const auto& part : finder.statements(unpaired_lines(versions.before, versions.now, hunk))) {
                const auto before_count = pieces_.size();
                add_lines(request, versions, part.removed, {}, place_of(part));
                const bool has_effect = !adds || raises(joined_lines(before.blanked, part.removed));
                if (pieces_.size() > before_count && !has_effect && !pieces_.back().is_kept) { pieces_.pop_back(); }
            }
        } else if (hunk.removed.size() == 1 && hunk.added.size() == 1) {
            add_differences(request, versions, hunk.removed.front(), hunk.added.front(), false);
        } else {
            for (const auto& part : apart_from_calls(before, hunk, unrelated)) {
                add_lines(request, versions, part, hunk.added, place_of(hunk));
            }
        }
    }
}

std::set<std::string> RemovalReview::add_definitions(const RemovalRequest& request, const Versions& versions,
                                                     std::vector<bool>& skipped) {
    std::set<std::string> unrelated;
    const auto& before = versions.before;
    auto extents = removed_definitions(before, versions.now, versions.rules);
    const auto holds = [](const Extent& outer, const Extent& inner) {
        return outer.first <= inner.first && inner.last <= outer.last && outer.last - outer.first > inner.last - inner.first;
    };
    const auto all = extents;
    std::erase_if(extents, [&](const Extent& inner) {
        return std::ranges::any_of(all, [&](const Extent& outer) { return holds(outer, inner); });
    });
    for (const auto& extent : extents) {
        std::vector<std::size_t> numbers;
        for (auto at = extent.first; at <= extent.last && at < before.code.size(); ++at) {
            if (!before.code[at].empty()) { numbers.push_back(at); }
        }
        if (numbers.empty()) { continue; }
        auto& piece = add_piece(Piece::Kind::definition, versions, numbers);
        // Its comments say what it is for.
        std::vector<std::string> about;
        auto first = extent.first;
        while (first > 0 && before.code[first - 1].empty() && !bare_line(before.written[first - 1]).empty()) { --first; }
        for (auto at = first; at <= extent.last && at < before.written.size(); ++at) {
            std::ranges::move(names_in(before.written[at]), std::back_inserter(about));
            skipped[at] = true;
        }
        piece.is_body = true;
        piece.is_kept = std::ranges::any_of(parts_of_name(extent.name), [&](const auto& part) { return request.is_kept(part); });
        piece.is_asked = !piece.is_kept && (is_about(request, about) || request.calls_it_unused());
        if (!piece.is_asked) { unrelated.insert(extent.name); }
    }
    return unrelated;
}

void RemovalReview::add_imports(const RemovalRequest& request, const Versions& versions, std::vector<bool>& skipped) {
    const auto& before = versions.before;
    const auto imports = lines_of_imports(before);
    const auto marked_now = lines_of_imports(versions.now);
    std::set<std::string> imports_now;
    for (std::size_t at = 0; at < versions.now.code.size(); ++at) {
        if (marked_now[at]) { imports_now.insert(versions.now.code[at]); }
    }
    for (std::size_t at = 0; at < before.code.size(); ++at) {
        if (!imports[at] || skipped[at] || before.code[at].empty()) { continue; }
        skipped[at] = true;
        if (imports_now.contains(before.code[at])) { continue; }
        auto& piece = add_piece(Piece::Kind::import, versions, {at});
        piece.is_asked = is_about(request, names_in(before.code[at])) || request.calls_it_unused();
    }
}

std::set<std::string> RemovalReview::parts_left_around(const Versions& versions, std::size_t line) const {
    const auto* function = function_around(versions.before, line);
    if (function == nullptr) { return parts_now_; }
    return vocabulary_of(code_of_functions(versions.now, function->name), versions.rules).parts;
}

void RemovalReview::judge(const RemovalRequest& request, const Versions& versions, Piece& piece) {
    const auto line = static_cast<std::size_t>(piece.lines.line - 1);
    const auto* function = function_around(versions.before, line);
    const bool named = (function != nullptr && request.names(function->name)) || request.names(file_stem(versions.file.path));
    const auto left = parts_left_around(versions, line);
    for (const auto& part : piece.parts) {
        const bool vanished = request.mentions(part) && !parts_now_.contains(part);
        const bool left_it = request.is_object(part) && (named || !left.contains(part));
        piece.is_asked = piece.is_asked || vanished || left_it;
        piece.is_kept = piece.is_kept || (request.is_kept(part) && !left.contains(part));
    }
    piece.is_kept = piece.is_kept || (function != nullptr && request.is_kept(function->name));
    piece.is_asked = !piece.is_kept && (piece.is_asked || (request.calls_it_unused() && named));
}

void RemovalReview::add_lines(const RemovalRequest& request, const Versions& versions, const std::vector<std::size_t>& removed,
                              const std::vector<std::size_t>& added, std::size_t place) {
    const auto* function = function_around(versions.before, removed.front());
    auto& piece = add_piece(Piece::Kind::lines, versions, removed);
    piece.place = place;
    piece.replaced.insert(added.begin(), added.end());
    if (function == nullptr && declares_one_of(versions.before.blanked[removed.front()], piece.vanished)) {
        piece.kind = Piece::Kind::definition;
        piece.decides = false;
    }
    judge(request, versions, piece);
}

void RemovalReview::add_differences(const RemovalRequest& request, const Versions& versions, std::size_t before, std::size_t now,
                                    bool adds) {
    const auto differences = line_differences(versions.before.code[before], versions.now.code[now]);
    if (!adds && differences.size() == 1) { return add_lines(request, versions, {before}, {now}, now); }
    const bool is_condition = decides_between(versions.before.blanked[before]) || decides_between(versions.now.blanked[now]);
    for (const auto& difference : differences) {
        const bool has_text = difference.before.find_first_of("\"'`") != std::string::npos;
        const bool lost = !bare_line(difference.before).empty() && adds_no_words(difference.now, difference.before);
        if (!lost && !is_condition && (!difference.values || has_text)) { continue; }
        if (!lost && request.also_makes().empty() == false) { continue; }
        auto& piece = add_piece(Piece::Kind::lines, versions, {before}, difference.before);
        piece.lines.now = bare_line(versions.now.code[now]);
        piece.whole_line = piece.written;
        piece.written = difference.reverted + "\n";
        piece.place = now;
        piece.replaced.insert(now);
        piece.decides = true;
        for (const auto& part : vocabulary_of(difference.now, versions.rules).parts) { piece.parts.erase(part); }
        judge(request, versions, piece);
    }
}

void RemovalReview::add_changed_lines(const RemovalRequest& request, const Versions& versions,
                                      const std::vector<std::size_t>& removed, const std::vector<std::size_t>& added) {
    auto lost = vocabulary_of(joined_lines(versions.before.code, removed), versions.rules).parts;
    for (const auto& part : vocabulary_of(joined_lines(versions.now.code, added), versions.rules).parts) { lost.erase(part); }
    const auto pairs = alike_lines(versions.before, versions.now, removed, added);
    for (const auto& [one, other] : pairs) { add_differences(request, versions, one, other, true); }
    // Another number, or another name, is no removal.
    const auto renames = [&](const auto& pair) {
        return std::ranges::all_of(line_differences(versions.before.code[pair.first], versions.now.code[pair.second]),
                                   [](const LineDifference& each) { return is_one_word(each.before) && is_one_word(each.now); });
    };
    if (pairs.size() == removed.size() && pairs.size() == added.size() && std::ranges::all_of(pairs, renames)) { return; }
    const auto left = parts_left_around(versions, removed.front());
    const bool asked = std::ranges::any_of(lost, [&](const std::string& part) {
        return (request.is_object(part) && !left.contains(part)) || (request.mentions(part) && !parts_now_.contains(part));
    });
    (asked ? replaced_asked_ : replaced_other_) = true;
}

void RemovalReview::forget_foreign_names(const std::string& before) {
    std::set<std::string> known;
    for (auto& piece : pieces_) {
        known.insert(piece.vanished.begin(), piece.vanished.end());
        known.insert(piece.lacking.begin(), piece.lacking.end());
    }
    static const std::set<std::string> words_of_languages{
        "undefined", "null", "nil",  "None",  "True",   "False",  "true", "false",  "NULL",   "nullptr",
        "if",        "elif", "else", "while", "for",    "switch", "case", "match",  "return", "throw",
        "raise",     "new",  "try",  "catch", "except", "in",     "not",  "and",    "or",     "is",
        "const",     "let",  "var",  "await", "async",  "static", "void", "public", "private"};
    // The head of a branch declares nothing.
    static const RE2 branch(R"(\b(if|while|switch|elif)\s*\()");
    auto declaring = before;
    RE2::GlobalReplace(&declaring, branch, "\\1@(");
    std::set<std::string> own;
    for (const auto& name : known) {
        const bool is_text = name.find_first_of("\"'`") != std::string::npos;
        if (words_of_languages.contains(name)) { continue; }
        if (is_text || (name.size() > 1 && is_own_name(name, declaring))) { own.insert(name); }
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
            if (!noticed && (piece.is_kept || (!piece.is_asked && !shares(piece, names)))) { continue; }
            piece.is_linked = grown = true;
            names.insert(piece.vanished.begin(), piece.vanished.end());
        }
    }
    // Calls of a removed definition that raises no error, if that seems to be what the request is about.
    if (asked_found_) { return; }
    std::set<std::string> harmless;
    for (const auto& piece : pieces_) {
        if (piece.kind == Piece::Kind::definition && !piece.decides) {
            harmless.insert(piece.vanished.begin(), piece.vanished.end());
        }
    }
    for (auto& piece : pieces_) {
        piece.is_excused = piece.kind == Piece::Kind::lines && !piece.decides && !piece.is_kept && shares(piece, harmless);
    }
}

bool RemovalReview::is_accounted_for(const Piece& piece) const {
    if (piece.is_linked || piece.kind == Piece::Kind::import) { return true; }
    if (piece.is_kept) { return false; }
    return piece.kind == Piece::Kind::lines ? piece.is_excused : !piece.is_body || !asked_found_;
}

std::size_t RemovalReview::next_piece() const {
    const auto needs_test = [&](const Piece& piece) { return !piece.is_tried && !is_accounted_for(piece); };
    // Calls come first: they are put back together with what they call.
    auto found =
        std::ranges::find_if(pieces_, [&](const Piece& piece) { return piece.kind == Piece::Kind::lines && needs_test(piece); });
    if (found == pieces_.end()) { found = std::ranges::find_if(pieces_, needs_test); }
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
        auto& here = lines[piece.lines.file][piece.place][piece.lines.line];
        here = here.empty() || piece.whole_line.empty() ? piece.written : piece.whole_line;
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
        if (piece.kind == Piece::Kind::import || piece.is_tried) { continue; }
        piece.is_tried = true;
        // A definition that others need is not what they were put back for.
        piece.reaction = index == chosen || piece.kind == Piece::Kind::lines ? reaction : Reaction::unknown;
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

bool RemovalReview::leaves_what_was_asked() const {
    if (shows_what_was_asked() || replaced_asked_) { return false; }
    return had_object_ || (pieces_.empty() && !replaced_other_);
}

bool RemovalReview::removed_by_name(const RemovalRequest& request) const {
    std::set<std::string> names;
    std::set<const Piece*> found;
    // What a definition defines, not its parameters: two functions may both have a `text`.
    const auto shares = [&](const Piece& piece) { return declares_one_of(piece.lines.text, names); };
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
