// SPDX-License-Identifier: Apache-2.0
// The Test Anything Protocol, versions 12 to 14 (testanything.org), with subtests indented by four and node's diagnostics.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "base/text.hpp"
#include "gates/formats/format.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t max_tap_depth = 32;
constexpr std::size_t max_tap_message = 64UL << 10U;

std::string_view trimmed_tap(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    return first == std::string_view::npos ? std::string_view{} : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::optional<std::uint64_t> leading_number(std::string_view& text) {
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{}) { return std::nullopt; }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool starts_ignoring_case(std::string_view text, std::string_view word) {
    return text.size() >= word.size() && std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
               return a == (b >= 'a' && b <= 'z' ? static_cast<char>(b - 'a' + 'A') : b);
           });
}

/// Description and directive: `name # SKIP why`. A `\#` is not a directive.
struct TapPoint {
    bool ok = false;
    std::uint64_t number = 0;
    std::string name;
    std::string directive;
};

std::optional<TapPoint> test_point(std::string_view line) {
    TapPoint point;
    point.ok = line.starts_with("ok");
    if (!point.ok && !line.starts_with("not ok")) { return std::nullopt; }
    line.remove_prefix(point.ok ? 2 : 6);
    if (!line.empty() && line.front() != ' ' && line.front() != '\t') { return std::nullopt; }
    line = trimmed_tap(line);
    if (const auto number = leading_number(line)) { point.number = *number; }
    line = trimmed_tap(line);
    if (line.starts_with("- ")) { line = trimmed_tap(line.substr(2)); }
    if (line == "-") { line = {}; }
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (line[at] == '\\' && at + 1 < line.size()) {
            point.name.push_back(line[++at]);
        } else if (line[at] == '#' && (at == 0 || line[at - 1] == ' ')) {
            const auto rest = trimmed_tap(line.substr(at + 1));
            if (starts_ignoring_case(rest, "SKIP") || starts_ignoring_case(rest, "TODO") || starts_ignoring_case(rest, "TIME")) {
                point.directive = std::string(rest);
                break;
            }
            point.name.push_back('#');
        } else {
            point.name.push_back(line[at]);
        }
    }
    point.name = std::string(trimmed_tap(point.name));
    return point;
}

/// The YAML block below a test: node's keys, and those that TAP defines.
struct TapDetails {
    std::map<std::string, std::string, std::less<>> keys;

    /// Empty if the block does not have the key.
    const std::string& operator[](std::string_view key) const {
        static const std::string none;
        const auto found = keys.find(key);
        return found == keys.end() ? none : found->second;
    }
};

TapDetails tap_details(std::string_view text) {
    TapDetails details;
    std::string block;
    const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());  // tape indents the contents of the block.
    while (!text.empty()) {
        const auto end = text.find('\n');
        auto whole = text.substr(0, end);
        whole.remove_prefix(std::min({indent, whole.find_first_not_of(' '), whole.size()}));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (!block.empty() && (whole.empty() || whole.front() == ' ')) {
            auto& lines = details.keys[block];
            lines += (lines.empty() ? "" : "\n") + std::string(trimmed_tap(whole));
            continue;
        }
        block.clear();
        const auto colon = whole.find(':');
        if (colon == std::string_view::npos || whole.front() == ' ') { continue; }
        const std::string key(whole.substr(0, colon));
        auto value = trimmed_tap(whole.substr(colon + 1));
        if (value.starts_with("|") || value.starts_with(">")) {
            block = key;
            continue;
        }
        if (value.size() >= 2 && (value.front() == '\'' || value.front() == '"') && value.back() == value.front()) {
            value = value.substr(1, value.size() - 2);
        }
        details.keys[key] = std::string(value);
    }
    return details;
}

/// One level of indentation: the tests of one (sub)test.
struct TapLevel {
    std::optional<std::uint64_t> plan;
    std::uint64_t count = 0;
    std::size_t first = 0;  ///< Index in the result of the first test on this level or below.
};

class TapReader {
public:
    FormatResult read(std::string_view text) {
        while (!text.empty()) {
            const auto end = text.find('\n');
            line(text.substr(0, end));
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        }
        finish_diagnostics();
        if (in_diagnostics_) { problem("the report ends in the middle of a test's details"); }
        close_below(0);
        check(levels_.front());
        if (result_.problem.empty() && result_.tests.empty() && !levels_.front().plan) {
            result_.no_report = true;
            problem("the test command printed no TAP");
        }
        if (!levels_.front().plan) { problem("the report has no plan (`1..N`)"); }
        return std::move(result_);
    }

private:
    void problem(std::string what) {
        if (result_.problem.empty()) { result_.problem = std::move(what); }
    }

    void line(std::string_view whole) {
        if (!whole.empty() && whole.back() == '\r') { whole.remove_suffix(1); }
        const auto indent = whole.find_first_not_of(' ');
        const auto text = indent == std::string_view::npos ? std::string_view{} : whole.substr(indent);
        if (in_diagnostics_) {
            if (text == "..." && indent == diagnostics_indent_) {
                in_diagnostics_ = false;
                finish_diagnostics();
            } else if (diagnostics_.size() < max_tap_message) {
                diagnostics_.append(whole.substr(std::min(whole.size(), diagnostics_indent_))).push_back('\n');
            }
            return;
        }
        if (text.empty()) { return; }
        const auto depth = indent / 4;
        if (depth >= max_tap_depth || indent % 4 != 0) {
            if (text == "---" && pending_ && indent == pending_indent_ + 2) {
                in_diagnostics_ = true;
                diagnostics_indent_ = indent;
                diagnostics_.clear();
            }
            return;
        }
        if (text.starts_with("1..")) { return plan(depth, text.substr(3)); }
        if (text.starts_with("Bail out!")) { return problem("the runner gave up: " + failure_text(trimmed_tap(text.substr(9)))); }
        if (const auto point = test_point(text)) { add_point(depth, indent, *point); }
        // Everything else is a comment, a version, or output of the program.
    }

    void plan(std::size_t depth, std::string_view text) {
        const auto number = leading_number(text);
        if (!number || (!text.empty() && text.front() != ' ' && text.front() != '\t')) { return; }
        auto& level = open(depth);
        if (level.plan) { return problem("the report has two plans"); }
        level.plan = *number;
        if (*number == 0 && depth == 0) { result_.notes.push_back("no tests: " + failure_text(trimmed_tap(text))); }
    }

    TapLevel& open(std::size_t depth) {
        close_below(depth);
        while (levels_.size() <= depth) { levels_.push_back({std::nullopt, 0, result_.tests.size()}); }
        return levels_[depth];
    }

    void check(const TapLevel& level) {
        if (level.plan && *level.plan != level.count) {
            problem("the plan announces " + std::to_string(*level.plan) + " tests, " + std::to_string(level.count) +
                    " were reported");
        }
    }

    void close_below(std::size_t depth) {
        while (levels_.size() > depth + 1) {
            // A level that no test point closed: its tests ran, but their parent was not reported.
            check(levels_.back());
            levels_.pop_back();
        }
    }

    void add_point(std::size_t depth, std::size_t indent, const TapPoint& point) {
        finish_diagnostics();
        // Tests of the level below belong to this one.
        std::size_t first = result_.tests.size();
        if (levels_.size() > depth + 1) { first = levels_[depth + 1].first; }
        auto& level = open(depth);
        ++level.count;
        if (point.number != 0 && point.number != level.count) {
            problem("test " + std::to_string(level.count) + " is numbered " + std::to_string(point.number));
        }
        bool failing_child = false;
        const auto name = point.name.empty() ? "test " + std::to_string(level.count) : point.name;
        for (auto at = first; at < result_.tests.size(); ++at) {
            auto& child = result_.tests[at];
            if (is_file(name)) {
                child.file = name;
            } else {
                child.suite = child.suite.empty() ? name : name + "::" + child.suite;
            }
            failing_child = failing_child || child.status == TestStatus::failed_assertion || child.status == TestStatus::error;
        }
        const bool has_children = first != result_.tests.size();
        if (has_children && (point.ok || failing_child)) { return; }  // A suite: it adds nothing to its tests.
        ReportedTest test;
        test.name = name;
        test.status = point.ok ? TestStatus::passed : TestStatus::failed_assertion;
        if (is_file(name)) {
            test.file = name;  // The file as a whole: it could not be loaded, or it has no tests.
            if (!point.ok) { test.status = TestStatus::error; }
        }
        if (starts_ignoring_case(point.directive, "SKIP") || starts_ignoring_case(point.directive, "TODO")) {
            test.status = TestStatus::skipped;
            test.message = failure_text(point.directive);
        }
        result_.tests.push_back(std::move(test));
        pending_ = true;
        pending_indent_ = indent;
    }

    /// True for a path with a folder and an extension: some runners report each file as a test.
    static bool is_file(const std::string& name) {
        const auto dot = name.rfind('.');
        const auto slash = name.rfind('/');
        return slash != std::string::npos && dot != std::string::npos && dot > slash + 1 && dot + 1 < name.size() &&
               name.size() - dot <= 6 && name.find(' ') == std::string::npos;
    }

    /// Gives the last test the details of the block below it.
    void finish_diagnostics() {
        if (!pending_) { return; }
        if (in_diagnostics_) { return; }
        if (diagnostics_.empty()) { return; }
        const TapDetails details = tap_details(diagnostics_);
        diagnostics_.clear();
        pending_ = false;
        auto& test = result_.tests.back();
        add_place(test, details);
        if (test.status == TestStatus::failed_assertion) { add_failure(test, details); }
    }

    static void add_place(ReportedTest& test, const TapDetails& details) {
        if (!is_file(test.name)) { place(test, details["location"].empty() ? details["at"] : details["location"]); }
        if (test.file.empty()) { test.file = details["file"]; }
        std::string_view number = details["line"];
        if (const auto line = leading_number(number); line && test.line == 0) { test.line = *line; }
    }

    static void add_failure(ReportedTest& test, const TapDetails& details) {
        test.message = failure_text(!details["error"].empty() ? details["error"] : details["message"]);
        const std::string& expected = details["expected"];
        const std::string& actual = !details["actual"].empty() ? details["actual"] : details["got"];
        const bool shows_both =
            test.message.find(expected) != std::string::npos && test.message.find(actual) != std::string::npos;
        if (!shows_both) {
            test.message += (test.message.empty() ? "" : "\n") + failure_text("expected: " + expected + "\nactual: " + actual);
        }
        const auto& kind = details["failureType"];
        const bool asserted = details["code"] == "ERR_ASSERTION" || details["name"] == "AssertionError";
        // node reports what was thrown. A runner that does not is trusted.
        if (!kind.empty() && kind != "subtestsFailed" && !(kind == "testCodeFailure" && asserted)) {
            test.status = TestStatus::error;
        }
        if (!details["name"].empty() && !asserted) { test.message = failure_text(details["name"] + ": " + test.message); }
    }

    /// `file:line:column`, `file:line`.
    static void place(ReportedTest& test, const std::string& where) {
        auto rest = where;
        std::uint64_t number = 0;
        for (int part = 0; part < 2; ++part) {
            const auto colon = rest.rfind(':');
            if (colon == std::string::npos) { break; }
            std::string_view digits(rest.data() + colon + 1, rest.size() - colon - 1);
            const auto value = leading_number(digits);
            if (!value || !digits.empty()) { break; }
            number = *value;
            rest.resize(colon);
        }
        if (number == 0) { return; }
        test.file = rest.starts_with("file://") ? rest.substr(7) : rest;
        test.line = number;
    }

    FormatResult result_;
    std::vector<TapLevel> levels_{TapLevel{}};
    bool pending_ = false;  ///< The last test may still get details.
    std::size_t pending_indent_ = 0;
    bool in_diagnostics_ = false;
    std::size_t diagnostics_indent_ = 0;
    std::string diagnostics_;
};

}  // namespace

FormatResult parse_tap(const RunOutput& output) { return TapReader().read(output.out); }

}  // namespace agentforge::kernel
