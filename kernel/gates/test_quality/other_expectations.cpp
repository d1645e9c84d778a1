// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/other_expectations.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <re2/re2.h>

#include "gates/test_quality/line_alterations.hpp"

namespace agentforge::kernel {

namespace {

/// Returns how many brackets are open before a place in the line.
int depth_at(const CodeLine& line, std::size_t place) { return bracket_balance(line.code.substr(0, place)); }

/// Returns the literals with the fewest brackets around them: arguments of the assertion itself, not of calls inside it
/// (`assertEquals(4, f(5), 0.1)`).
std::vector<const CodeLiteral*> outermost(const std::vector<const CodeLiteral*>& literals, const CodeLine& line,
                                          std::size_t begin) {
    std::vector<const CodeLiteral*> result;
    int least = 0;
    for (const auto* literal : literals) {
        if (literal->begin < begin) { continue; }
        const int depth = depth_at(line, literal->begin - begin);
        if (result.empty() || depth < least) {
            least = depth;
            result.clear();
        }
        if (depth == least) { result.push_back(literal); }
    }
    return result;
}

/// Returns a row of a table of cases with another value at its end, where such tables have the expected result: `("a", 1,
/// True),`, `{"a", 200},`.
std::optional<std::string> other_row(std::string_view line) {
    static const RE2 row(R"re(^(\s*[({\[].*[,:]\s*)(-?\d{1,9}|True|False|true|false|"[^"\\]*"|'[^'\\]*')(\s*[)}\]]+,?\s*)$)re");
    std::string before;
    std::string value;
    std::string after;
    if (!RE2::FullMatch(re2::StringPiece(line.data(), line.size()), row, &before, &value, &after)) { return std::nullopt; }
    static const std::map<std::string, std::string, std::less<>> words{
        {"True", "False"}, {"False", "True"}, {"true", "false"}, {"false", "true"}};
    if (const auto word = words.find(value); word != words.end()) { return before + word->second + after; }
    const bool quoted = value.front() == '"' || value.front() == '\'';
    if (quoted && value.front() == '\'' && value.size() == 3) { return before + (value[1] == 'x' ? "'y'" : "'x'") + after; }
    if (!quoted) { return before + std::to_string(std::stoll(value) + 1) + after; }
    const bool keeps_length = value.size() > 2 && std::string_view("{}%~").find(value[1]) == std::string_view::npos;
    return before + value.substr(0, 1) + "~" + value.substr(keeps_length ? 2 : 1) + after;
}

/// Returns the literals that are direct operands of a comparison: `f() == 4`.
std::vector<const CodeLiteral*> equated(const std::vector<const CodeLiteral*>& literals, std::string_view code,
                                        std::size_t begin) {
    static const RE2 equal(R"([^=!<>]={2,3}\s*$)");
    std::vector<const CodeLiteral*> result;
    for (const auto* literal : literals) {
        if (literal->begin < begin) { continue; }
        if (RE2::PartialMatch(re2::StringPiece(code.data(), literal->begin - begin), equal)) { result.push_back(literal); }
    }
    return result;
}

/// Returns the start of `text`, up to a comma or the end of the surrounding brackets.
std::string_view first_operand(std::string_view text) {
    int open = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (open == 0 && std::string_view("),;]}").find(c) != std::string_view::npos) { return text.substr(0, at); }
        if (std::string_view("([{").find(c) != std::string_view::npos) { ++open; }
        if (std::string_view(")]}").find(c) != std::string_view::npos) { --open; }
    }
    return text;
}

/// True if the same call is on both sides of a comparison, such as `assertEqual(f(1), f(1))`, so no value is expected.
bool compares_with_itself(const CodeLine& line) {
    static const RE2 separator(R"(={2,3}|,)");
    re2::StringPiece found;
    for (std::size_t from = 0; separator.Match(line.code, from, line.code.size(), RE2::UNANCHORED, &found, 1);
         from = static_cast<std::size_t>(found.end() - line.code.data())) {
        const auto begin = static_cast<std::size_t>(found.data() - line.code.data());
        if (found == "," && depth_at(line, begin) != 1) { continue; }
        const auto left = without_margins(line.text.substr(0, begin));
        const auto right = without_margins(first_operand(line.text.substr(begin + found.size())));
        if (right.find('(') != std::string::npos && left.ends_with(right)) { return true; }
    }
    return false;
}

/// True if a call has exactly these literals as arguments, `Equal("a", "b")`: they are the code's input, not expected values.
bool are_all_arguments(std::string_view text, const std::vector<const CodeLiteral*>& literals) {
    static const RE2 parted(R"(\s*,\s*)");
    for (std::size_t at = 1; at < literals.size(); ++at) {
        if (!RE2::FullMatch(text.substr(literals[at - 1]->end, literals[at]->begin - literals[at - 1]->end), parted)) {
            return false;
        }
    }
    return text.substr(0, literals.front()->begin).ends_with('(') && text.substr(literals.back()->end).starts_with(')');
}

/// Returns the largest decimal number, if any. The tolerance is smaller than the expected value.
const CodeLiteral* largest_decimal(const std::vector<const CodeLiteral*>& literals) {
    static const RE2 decimal(R"(\d{1,9}\.\d+)");
    const CodeLiteral* largest = nullptr;
    for (const auto* literal : literals) {
        if (!RE2::FullMatch(literal->value, decimal)) { continue; }
        if (largest == nullptr || std::stod(literal->value) > std::stod(largest->value)) { largest = literal; }
    }
    return largest;
}

/// True if the value at this position is compared for equality: after `==` or `!=` outside every call, or an argument (or an
/// element of one) of an equality assertion.
bool must_be_equal(const CodeLine& line, std::size_t place) {
    static const RE2 compared(R"([^=!<>][=!]={1,2}[^=])");
    static const RE2 equality(R"((?i)(?:(?:_|^|str)eq|equals?|tobe|same|^is)!?$)");
    static const RE2 other(R"((?i)not|almost|near|approx|close)");
    int open = 0;
    for (auto at = place; at-- > 0;) {
        const char c = line.code[at];
        if (c == ')' || c == ']' || c == '}') { ++open; }
        if (c != '(' && c != '[' && c != '{') { continue; }
        if (open > 0) {
            --open;
            continue;
        }
        auto begin = at;
        while (begin > 0 && (std::isalnum(static_cast<unsigned char>(line.code[begin - 1])) != 0 || line.code[begin - 1] == '_' ||
                             line.code[begin - 1] == '!')) {
            --begin;
        }
        if (c != '(' || begin == at) { continue; }  // A list, or brackets around a part.
        const re2::StringPiece called(line.code.data() + begin, at - begin);
        return RE2::PartialMatch(called, equality) && !RE2::PartialMatch(called, other);
    }
    return RE2::PartialMatch(re2::StringPiece(line.code.data(), place), compared);
}

struct OtherLine {
    std::string text;
    bool changed = false;
    bool decisive = false;  ///< As OtherExpectations::decisive.
};

/// The literals of one line that its assertion expects.
class ExpectedLiterals {
public:
    ExpectedLiterals(std::string_view text, const CodeLine& line, std::vector<const CodeLiteral*> all)
        : text_(text),
          line_(line),
          begin_(static_cast<std::size_t>(line.text.data() - text.data())),
          all_(std::move(all)),
          direct_(equated(all_, line.code, begin_)),
          tolerant_(has_tolerance(line)) {
        choose();
        choose_decimal();
    }

    /// Returns the line with another value for each.
    [[nodiscard]] OtherLine altered() const;

private:
    static bool has_tolerance(const CodeLine& line);
    void choose();
    void choose_last_operand();
    [[nodiscard]] bool are_in_one_bracket() const;
    void choose_decimal();
    [[nodiscard]] bool is_decisive(const CodeLiteral& literal) const;

    std::string_view text_;
    const CodeLine line_;
    const std::size_t begin_;  ///< Of the line in the text.
    const std::vector<const CodeLiteral*> all_;
    const std::vector<const CodeLiteral*> direct_;  ///< Those that something is compared with directly.
    const bool tolerant_;                           ///< The line has a tolerance, which accepts more if its value is altered.
    std::vector<const CodeLiteral*> chosen_;
    const CodeLiteral* decimal_ = nullptr;
};

bool ExpectedLiterals::has_tolerance(const CodeLine& line) {
    static const RE2 within(R"((?i)\babs\(|near|approx|close|almost|delta|tolerance|epsilon|places)");
    return RE2::PartialMatch(re2::StringPiece(line.code.data(), line.code.size()), within);
}

void ExpectedLiterals::choose() {
    if (direct_.size() == 1) {
        chosen_ = direct_;
    } else if (!compares_with_itself(line_)) {
        chosen_ = outermost(all_, line_, begin_);
    }
    const bool arguments = chosen_.size() > 1 && depth_at(line_, chosen_.front()->begin - begin_) == 1 && are_in_one_bracket();
    if (arguments && are_all_arguments(text_, chosen_)) { chosen_.clear(); }
    if (chosen_.size() > 1 && !arguments) { choose_last_operand(); }
}

/// False for `f("a") == ["a"]`, where both literals are within brackets, but not within the same ones.
bool ExpectedLiterals::are_in_one_bracket() const {
    for (auto at = chosen_.front()->end - begin_; at < chosen_.back()->begin - begin_; ++at) {
        if (depth_at(line_, at) == 0) { return false; }
    }
    return true;
}

/// Chooses the expected value: the last literal, or an earlier one separated from it only by commas (elements of a list, or a
/// message after the value). Chooses one only, because input and result might still match if both change.
void ExpectedLiterals::choose_last_operand() {
    static const RE2 parted(R"(\s*,\s*)");
    std::size_t expected = chosen_.size() - 1;
    while (
        expected > 0 &&
        RE2::FullMatch(text_.substr(chosen_[expected - 1]->end, chosen_[expected]->begin - chosen_[expected - 1]->end), parted)) {
        --expected;
    }
    chosen_ = {chosen_[expected]};
}

void ExpectedLiterals::choose_decimal() {
    if (direct_.size() == 1 || chosen_.empty()) { return; }
    decimal_ = largest_decimal(tolerant_ ? all_ : chosen_);
    if (decimal_ != nullptr) { chosen_ = {decimal_}; }
}

OtherLine ExpectedLiterals::altered() const {
    OtherLine result{std::string(line_.text)};
    const bool exact = direct_.size() == 1 || decimal_ != nullptr;
    // From right to left, so that positions on the left stay valid.
    for (auto each = chosen_.rbegin(); each != chosen_.rend(); ++each) {
        const CodeLiteral& literal = **each;
        const CodeLine rest{line_.text.substr(0, std::min(line_.text.size(), literal.end - begin_)), line_.code};
        if (const auto other = exact ? other_exact(literal, begin_, rest) : other_expected(literal, begin_, rest)) {
            result.text = other->text + result.text.substr(rest.text.size());
            result.changed = true;
            result.decisive = result.decisive || is_decisive(literal);
        }
    }
    return result;
}

bool ExpectedLiterals::is_decisive(const CodeLiteral& literal) const {
    return direct_.size() == 1 || (tolerant_ && decimal_ != nullptr) || must_be_equal(line_, literal.begin - begin_);
}

OtherLine with_other_values(std::string_view text, const CodeLine& line, std::uint64_t number, const CodeText& read) {
    static const RE2 asserts(R"((?i)==|assert|expect|require|check|\bis\(|\bto(?:be|equal|strictequal)\(|equal|!=)");
    // Imports: with another module name, the file would not load.
    static const RE2 imports(R"(^\s*(?:import|from|export\b.*\bfrom|use|package|#\s*include)\b|=\s*require\()");
    const re2::StringPiece words(line.code.data(), line.code.size());
    if (RE2::PartialMatch(words, imports)) { return {std::string(line.text)}; }
    if (line.text.size() == line.code.size() && RE2::PartialMatch(words, asserts)) {
        std::vector<const CodeLiteral*> literals;
        for (const auto& literal : read.literals) {
            if (literal.line == number) { literals.push_back(&literal); }
        }
        return ExpectedLiterals(text, line, std::move(literals)).altered();
    }
    if (auto row = other_row(line.text)) { return {std::move(*row), true, true}; }
    return {std::string(line.text)};
}

}  // namespace

OtherExpectations with_other_expectations(std::string_view text, const std::set<std::uint64_t>& lines, const CodeRules& rules) {
    if (rules.empty()) { return {}; }
    const auto read = read_code(text, rules);
    const auto blanked = lines_of(read.code);
    const auto written = lines_of(text);
    OtherExpectations result;
    bool changed = false;
    // The next line names the parameters of the rows that follow it: with other names, the file would not load.
    static const RE2 parametrize(R"(\bparametrize\s*\(\s*$)");
    for (std::size_t index = 0; index < written.size(); ++index) {
        const CodeLine line{written[index], blanked[index]};
        const bool names =
            index > 0 && RE2::PartialMatch(re2::StringPiece(blanked[index - 1].data(), blanked[index - 1].size()), parametrize);
        const auto other = lines.contains(index + 1) && !names ? with_other_values(text, line, index + 1, read)
                                                               : OtherLine{std::string(line.text)};
        changed = changed || other.changed;
        result.decisive = result.decisive || other.decisive;
        result.text += other.text + "\n";
    }
    return changed ? result : OtherExpectations{};
}

namespace {

/// True if a line only asserts equality with a literal: `assert f(1) == 2`, `self.assertEqual(f(1), 2)`.
bool is_plain_equality(const CodeLine& line, const std::vector<CodeLiteral>& literals, std::size_t begin) {
    static const RE2 assertion(R"(^\s*assert\s[^=!<>]*[^=!<>\s]\s*==\s*$)");
    static const RE2 words(R"(\b(?:not|and|or|if|for|lambda|is|in)\b)");
    static const RE2 call(R"(^\s*self\.assertEqual\([^=!<>]*[^=!<>\s],\s*$)");
    static const RE2 message(R"(^\s*(?:,.*)?$)");
    static const RE2 closed(R"(^\s*\)\s*$)");
    for (const auto& literal : literals) {
        if (literal.begin < begin || literal.end > begin + line.code.size()) { continue; }
        const re2::StringPiece before(line.code.data(), literal.begin - begin);
        const re2::StringPiece after(line.code.data() + (literal.end - begin), line.code.size() - (literal.end - begin));
        const int depth = depth_at(line, literal.begin - begin);
        if (depth == 0 && RE2::PartialMatch(before, assertion) && !RE2::PartialMatch(before, words) &&
            RE2::PartialMatch(after, message)) {
            return true;
        }
        // With two literals in the assertion's own brackets, `f() + 1, 8`, both are changed and may still match.
        const auto alone = std::ranges::none_of(literals, [&](const CodeLiteral& other) {
            return &other != &literal && other.begin >= begin && other.end <= begin + line.code.size() &&
                   depth_at(line, other.begin - begin) == 1;
        });
        std::size_t commas = 0;
        for (std::size_t at = 0; at < before.size(); ++at) { commas += before[at] == ',' && depth_at(line, at) == 1 ? 1 : 0; }
        if (depth == 1 && alone && commas == 1 && RE2::PartialMatch(before, call) && RE2::PartialMatch(after, closed)) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::set<std::string> asserting_equality(std::string_view text, const std::set<std::uint64_t>& lines, const CodeRules& rules) {
    const auto read = read_code(text, rules);
    const auto written = lines_of(text);
    const auto blanked = lines_of(read.code);
    std::map<std::string, std::pair<std::size_t, bool>>
        functions;  // By name: the number of functions, and whether one of them asserts equality.
    for (const auto& function : function_lines(text, rules)) {
        auto& [count, equating] = functions[function.name];
        ++count;
        // Deeper lines may be inside a condition.
        std::size_t margin = std::string::npos;
        for (auto number = function.first + 1; number <= std::min<std::size_t>(function.last, blanked.size()); ++number) {
            const auto here = blanked[number - 1].find_first_not_of(" \t");
            if (here == std::string_view::npos) { continue; }
            margin = std::min(margin, here);
            if (here != margin || !lines.contains(number)) { continue; }
            const CodeLine line{written[number - 1], blanked[number - 1]};
            equating =
                equating || is_plain_equality(line, read.literals, static_cast<std::size_t>(line.text.data() - text.data()));
        }
    }
    std::set<std::string> names;
    for (const auto& [name, known] : functions) {
        if (known.first == 1 && known.second) { names.insert(name); }
    }
    return names;
}

}  // namespace agentforge::kernel
