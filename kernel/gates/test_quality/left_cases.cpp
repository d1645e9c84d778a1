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
