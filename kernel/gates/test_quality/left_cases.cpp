// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/left_cases.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <re2/re2.h>

#include "gates/removal/code_vocabulary.hpp"
#include "gates/removal/kept_lines.hpp"
#include "gates/removal/removal_request.hpp"
#include "gates/removal/source_lines.hpp"
#include "gates/test_quality/test_quality.hpp"

namespace agentforge::kernel {
namespace {

/// Returns the elements of a row of a table. Empty: the line is none.
std::vector<std::string> elements_of_row(const std::string& code, const std::string& blanked) {
    static const RE2 row(R"(^\s*[({\[].*,.*[)}\]],?\s*$)");
    std::vector<std::string> elements;
    if (code.size() != blanked.size() || bracket_balance(blanked) != 0 || !RE2::FullMatch(blanked, row)) { return elements; }
    auto begin = blanked.find_first_of("({[") + 1;
    int open = 0;
    const auto take = [&](std::size_t end) {
        if (const auto element = bare_line(std::string_view(code).substr(begin, end - begin)); !element.empty()) {
            elements.emplace_back(element);
        }
        begin = end + 1;
    };
    for (auto at = begin; at < blanked.size(); ++at) {
        const char c = blanked[at];
        if (c == ',' && open == 0) { take(at); }
        if (c == '(' || c == '[' || c == '{') { ++open; }
        if ((c == ')' || c == ']' || c == '}') && open-- == 0) {
            take(at);
            break;
        }
    }
    return elements;
}

/// True if the row is the same case: most of its elements before the last, the expected result, are the same.
bool is_same_case(const std::vector<std::string>& one, const std::vector<std::string>& other) {
    if (one.size() != other.size() || one.size() < 2) { return false; }
    std::size_t same = 0;
    for (std::size_t at = 0; at + 1 < one.size(); ++at) { same += one[at] == other[at] ? 1 : 0; }
    return same >= std::max<std::size_t>(1, one.size() - 2);
}

/// Finds the rows that left one file.
class LeftRows {
public:
    LeftRows(std::string_view before, std::string_view now, const CodeRules& rules) : before_(before, rules), now_(now, rules) {
        kept_ = kept_lines(before_.code, now_.code, kept_now_);
    }

    std::vector<LeftCase> find() {
        std::vector<std::vector<std::string>> rows;  // Those that are new.
        for (std::size_t at = 0; at < now_.code.size(); ++at) {
            if (!kept_now_[at]) { rows.push_back(elements_of_row(now_.code[at], now_.blanked[at])); }
        }
        std::vector<LeftCase> left;
        std::size_t place = 0;
        std::size_t in_now = 0;
        for (std::size_t at = 0; at < before_.code.size(); ++at) {
            if (kept_[at]) {
                while (in_now < kept_now_.size() && !kept_now_[in_now]) { ++in_now; }
                place = ++in_now;
                continue;
            }
            const auto row = elements_of_row(before_.code[at], before_.blanked[at]);
            if (row.empty()) { continue; }
            const auto same = std::ranges::find_if(rows, [&](const auto& each) { return is_same_case(row, each); });
            if (same != rows.end()) {
                rows.erase(same);
            } else {
                left.push_back({std::string(bare_line(before_.written[at])), with_row(place, before_.written[at])});
            }
        }
        return left;
    }

private:
    [[nodiscard]] std::string with_row(std::size_t place, const std::string& row) const {
        std::string text;
        for (std::size_t at = 0; at <= now_.written.size(); ++at) {
            if (at == place) { text += row + "\n"; }
            if (at < now_.written.size()) { text += now_.written[at] + "\n"; }
        }
        return text;
    }

    const SourceLines before_;
    const SourceLines now_;
    std::vector<bool> kept_;
    std::vector<bool> kept_now_;
};

/// Returns the texts, brackets, commas and words of a line.
std::vector<std::string> tokens_of(std::string_view line) {
    const auto is_mark = [](char c) { return std::string_view("()[]{},").find(c) != std::string_view::npos; };
    const auto is_quote = [](char c) { return std::string_view("\"'`").find(c) != std::string_view::npos; };
    std::vector<std::string> tokens;
    for (std::size_t at = 0; at < line.size();) {
        const char c = line[at];
        std::size_t end = at + 1;
        if (c == ' ' || c == '\t' || c == '\r') {
            at = end;
            continue;
        }
        if (is_quote(c)) {
            while (end < line.size() && line[end] != c) { end += line[end] == '\\' ? 2 : 1; }
            end = std::min(end + 1, line.size());
        } else if (!is_mark(c)) {
            while (end < line.size() && !is_mark(line[end]) && !is_quote(line[end]) && line[end] != ' ') { ++end; }
        }
        tokens.emplace_back(line.substr(at, end - at));
        at = end;
    }
    return tokens;
}

int depth_of(const std::string& token) {
    if (token == "(" || token == "[" || token == "{") { return 1; }
    return token == ")" || token == "]" || token == "}" ? -1 : 0;
}

/// Divides what a list lost into its elements. Empty: these are no whole elements.
std::vector<std::string> lost_elements(const std::vector<std::string>& tokens) {
    std::vector<std::string> elements(1);
    int open = 0;
    bool closed = false;  // A bracket that the element began with.
    for (const auto& token : tokens) {
        if (open == 0 && token == ",") {
            elements.emplace_back();
            closed = false;
            continue;
        }
        if (closed) { return {}; }
        const bool begins = elements.back().empty();
        open += depth_of(token);
        if (open < 0) { return {}; }
        closed = open == 0 && !begins && elements.back().find_first_of("([{") == 0;
        elements.back() += (begins ? "" : " ") + token;
    }
    std::erase_if(elements, [](const std::string& each) { return each.empty(); });
    return open == 0 ? elements : std::vector<std::string>();
}

/// Returns the elements that a line lost to become another. Empty: it became that by something else.
std::vector<std::string> elements_lost_by(const std::string& before, const std::string& after) {
    const auto old = tokens_of(before);
    const auto now = tokens_of(after);
    if (now.empty() || now.size() >= old.size()) { return {}; }
    const auto lost = old.size() - now.size();
    for (std::size_t first = 1; first + lost < old.size(); ++first) {
        const auto begin = old.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = begin + static_cast<std::ptrdiff_t>(lost);
        const bool same = std::equal(old.begin(), begin, now.begin()) &&
                          std::equal(end, old.end(), now.begin() + static_cast<std::ptrdiff_t>(first));
        const bool in_list = (*begin == ",") != (*std::prev(end) == ",");
        if (!same || !in_list) { continue; }
        if (auto elements = lost_elements({begin, end}); !elements.empty()) { return elements; }
    }
    return {};
}

bool is_literal(const std::string& token) {
    static const RE2 literal(
        R"re([bfr]?"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|[-+]?\d[\w.]*|[Tt]rue|[Ff]alse|None|null|nil|undefined)re");
    return RE2::FullMatch(token, literal);
}

/// True if the innermost bracket that is open after these tokens is a list: none of a call, except for the functions that make
/// lists in Java.
bool are_in_list(const std::vector<std::string>& tokens) {
    static const RE2 before_list(R"(in|of|(?:\w+\.)*(?:of|asList)|[(\[{,:=])");
    int open = 0;
    for (auto at = tokens.size(); at-- > 0;) {
        open += depth_of(tokens[at]);
        if (open != 1) { continue; }
        return tokens[at] != "(" || (at > 0 && RE2::FullMatch(tokens[at - 1], before_list));
    }
    return false;
}

/// True if a line of a loop over a list became the other one by more literals in that list.
bool gained_cases(const std::string& before, const std::string& after) {
    static const RE2 loop(R"(^(?:for|foreach)\b|\.forEach\b|\.each\b|\.for_each\b|\bparametrize\b|@\w*Source\b)");
    const auto old = tokens_of(before);
    const auto now = tokens_of(after);
    if (!RE2::PartialMatch(before, loop) || now.size() <= old.size()) { return false; }
    std::size_t first = 0;
    while (first < old.size() && old[first] == now[first]) { ++first; }
    const auto gained = now.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = gained + static_cast<std::ptrdiff_t>(now.size() - old.size());
    // Without a comma between them, two texts may be one.
    const bool divided = std::adjacent_find(gained, end, [](const std::string& one, const std::string& other) {
                             return (one == ",") == (other == ",");
                         }) == end;
    return first > 0 && std::equal(end, now.end(), old.begin() + static_cast<std::ptrdiff_t>(first), old.end()) &&
           std::all_of(gained, end, [](const std::string& token) { return token == "," || is_literal(token); }) && divided &&
           (*gained == "," || *std::prev(end) == ",") && are_in_list({now.begin(), gained});
}

/// Returns the function whose call is open after the first `end` tokens, without what qualifies it. Empty: a list, or no call.
std::string called_function(const std::vector<std::string>& tokens, std::size_t end) {
    static const RE2 call(R"(.*?(\w+))");
    int open = 0;
    for (auto at = end; at-- > 0;) {
        open += depth_of(tokens[at]);
        if (open != 1) { continue; }
        std::string name;
        return tokens[at] == "(" && at > 0 && RE2::FullMatch(tokens[at - 1], call, &name) ? name : std::string();
    }
    return {};
}

/// Returns the end of the values that begin at token `first`, which `)` must follow. 0: there are none, or something else is
/// there.
std::size_t end_of_values(const std::vector<std::string>& tokens, std::size_t first) {
    static const RE2 operation(R"(and|or|not|if|else|in|is|for|lambda|.*(?:[!<>|?;]|==|&&|=>|->).*)");
    int open = 0;
    for (auto at = first; at < tokens.size(); ++at) {
        if (open == 0 && tokens[at] == ")") { return at > first ? at : 0; }
        open += depth_of(tokens[at]);
        if (open < 0 || (!is_literal(tokens[at]) && RE2::FullMatch(tokens[at], operation))) { return 0; }
    }
    return 0;
}

/// True if a line became the other one by more arguments at the end of its calls of these functions.
bool gained_arguments(const std::string& before, const std::string& after, const std::set<std::string>& functions) {
    if (before.find_first_not_of(" \t") != after.find_first_not_of(" \t")) { return false; }
    const auto old = tokens_of(before);
    const auto now = tokens_of(after);
    std::size_t next = 0;
    bool any = false;
    for (std::size_t at = 0; at < old.size(); ++at, ++next) {
        if (next < now.size() && now[next] == old[at]) { continue; }
        const bool is_first = next > 0 && now[next - 1] == "(";
        if (old[at] != ")" || next >= now.size() || (now[next] == ",") == is_first) { return false; }
        if (!functions.contains(called_function(now, next))) { return false; }
        next = end_of_values(now, next + (is_first ? 0 : 1));
        if (next == 0) { return false; }
        any = true;
    }
    return any && next == now.size();
}

/// True if the row has a word of what the request asks to remove: then it may leave with that.
bool goes_with_request(const RemovalRequest& request, const std::string& row) {
    const auto words = names_of_code(row);
    return std::ranges::any_of(words, [&](const std::string& word) {
        const auto parts = parts_of_name(word);
        return std::ranges::any_of(parts, [&](const std::string& part) { return request.is_object(part); });
    });
}

}  // namespace

std::vector<LeftCase> left_cases(std::string_view before, std::string_view now, const CodeRules& rules) {
    return LeftRows(before, now, rules).find();
}

bool lost_only_removed_cases(const std::vector<std::string>& before, const std::vector<std::string>& after,
                             std::string_view request) {
    const RemovalRequest asked{request};
    if (before.empty() || !asked.removes()) { return false; }
    const auto may_leave = [&](const std::vector<std::string>& elements) {
        return !elements.empty() && std::ranges::all_of(elements, [&](const std::string& element) {
            const auto words = names_of_code(element);
            const bool keeps = std::ranges::any_of(words, [&](const std::string& word) {
                const auto parts = parts_of_name(word);
                return std::ranges::any_of(parts, [&](const std::string& part) { return asked.is_kept(part); });
            });
            return !keeps && goes_with_request(asked, element);
        });
    };
    std::vector<std::string> rows;  // Tokens of whole lines that left.
    const auto take_rows = [&] {
        const auto tokens = std::exchange(rows, {});
        return tokens.empty() || may_leave(lost_elements(tokens));
    };
    std::size_t next = 0;
    for (const auto& line : before) {
        if (next < after.size() && may_leave(elements_lost_by(line, after[next]))) {
            ++next;
            if (!take_rows()) { return false; }
            continue;
        }
        // A line that is no element ends in another way: `assert f("xml") == 1`.
        auto tokens = tokens_of(line);
        if (tokens.empty()) { continue; }
        rows.insert(rows.end(), tokens.begin(), tokens.end());
        const bool bracketed = depth_of(tokens.front()) != 0 && depth_of(tokens.back()) != 0;
        const bool text = tokens.size() == 1 && (line.starts_with('"') || line.starts_with('\''));
        const bool opens = depth_of(tokens.back()) > 0;
        if (tokens.back() != "," && !bracketed && !text && !opens) { return false; }
        if (tokens.back() == "," || opens) { continue; }
        int open = 0;
        for (const auto& token : rows) { open += depth_of(token); }
        if (open != 0) { continue; }
        // Without a comma, a call may be a statement.
        const auto elements = lost_elements(rows);
        if (elements.empty() || elements.back().find_first_of("([{\"'") != 0) { return false; }
        rows.emplace_back(",");
    }
    return next == after.size() && take_rows();
}

bool only_gained_cases(const std::vector<std::string>& before, const std::vector<std::string>& after) {
    std::size_t next = 0;
    for (const auto& line : before) {
        while (next < after.size() && !gained_cases(line, after[next])) { ++next; }
        if (next++ >= after.size()) { return false; }
    }
    return !before.empty();
}

bool only_gained_arguments(const std::vector<std::string>& before, const std::vector<std::string>& after,
                           const std::set<std::string>& functions) {
    std::size_t next = 0;
    bool any = false;
    for (const auto& line : before) {
        while (next < after.size() && line != after[next] && !gained_arguments(line, after[next], functions)) { ++next; }
        if (next >= after.size()) { return false; }
        any = any || line != after[next++];
    }
    return any;
}

Result<std::vector<LeftCase>> failing_left_cases(LanguageCommands& commands, const Language& language, const GateCall& call,
                                                 const GreenEvidence& green, const Stop& stop) {
    constexpr std::size_t most = 6;
    std::vector<LeftCase> failing;
    std::set<std::string> files;
    for (const auto& test : call.baseline->base_tests) {
        const bool outdated = std::ranges::find(call.baseline->outdated, test.id) != call.baseline->outdated.end();
        if (outdated && !language.may_hold_tests(test.file)) { files.insert(test.file); }
    }
    const RemovalRequest request(call.baseline->request);
    const bool removes = also_removes(call.baseline->request);
    auto& checkout = commands.checkout();
    std::size_t tried = 0;
    for (const auto& file : files) {
        AF_TRY(const auto before, checkout.file(call.baseline->base_tree, file));
        AF_TRY(const auto now, checkout.file(call.tree, file));
        if (!before || !now || is_link(checkout, file)) { continue; }
        for (auto& each : left_cases(*before, *now, language.code)) {
            if (removes && goes_with_request(request, each.text)) { continue; }
            if (++tried > most) { return failing; }
            TestSelection selection;
            selection.files = {file};
            selection.instead = {{file, each.with}};
            selection.purpose = "removed-tests";
            AF_TRY(const auto run, commands.run_tests(language, call.tree, selection, stop));
            if (!run.trusted || !is_built(run)) { continue; }
            const auto failed = std::ranges::find_if(run.tests, [&](const TestOutcome& test) {
                const auto* without = outcome_with(green.run.tests, test.id);
                return test.status == TestStatus::failed_assertion &&
                       (without == nullptr || without->status == TestStatus::passed);
            });
            if (failed == run.tests.end()) { continue; }
            each.file = file;
            each.failing = failed->id;
            failing.push_back(std::move(each));
        }
    }
    return failing;
}

}  // namespace agentforge::kernel
