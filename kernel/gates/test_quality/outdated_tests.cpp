// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/outdated_tests.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "gates/engine/rules.hpp"
#include "gates/language/source_text.hpp"
#include "gates/test_quality/leaving_tests.hpp"
#include "gates/test_quality/test_quality.hpp"
#include "git/line_changes.hpp"

namespace agentforge::kernel {

namespace {

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool has_word(std::string_view line, std::string_view word) {
    for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
        const auto end = at + word.size();
        if ((at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end]))) { return true; }
    }
    return false;
}

/// Returns the parts of a test's name, outermost first: class or suite, function, parameter (`TestSize/given`).
std::vector<std::string> parts_of_name(std::string_view name) {
    std::vector<std::string> parts;
    while (!name.empty()) {
        std::size_t end = name.size();
        std::size_t next = name.size();
        for (const std::string_view separator : {"::", " > ", ".", "/"}) {
            if (const auto at = name.find(separator); at < end) {
                end = at;
                next = at + separator.size();
            }
        }
        if (end > 0) { parts.emplace_back(name.substr(0, end)); }
        name.remove_prefix(next);
    }
    return parts;
}

/// True for an annotation or a comment.
bool belongs_to_the_next(std::string_view line) {
    line = without_margins(line);
    return line.starts_with('@') || line.starts_with('#') || line.starts_with("//") || line.starts_with("/*") ||
           line.starts_with('*');
}

/// Returns the line of a test: the first with its whole name, else the first with its innermost part after its outer parts.
std::optional<std::size_t> line_of_test(const std::vector<std::string_view>& lines, const TestOutcome& test) {
    const auto line_with = [&](const std::string& word, std::size_t from) -> std::optional<std::size_t> {
        for (std::size_t at = from; at < lines.size(); ++at) {
            if (!belongs_to_the_next(lines[at]) && has_word(lines[at], word)) { return at; }
        }
        return std::nullopt;
    };
    const std::string id = without_parameters(test.id);
    const std::string name = id.starts_with(test.file + "::") ? id.substr(test.file.size() + 2) : without_parameters(test.name);
    if (const auto whole = line_with(name, 0)) { return whole; }
    std::optional<std::size_t> found;
    for (const std::string& part : parts_of_name(name)) {
        if (const auto at = line_with(part, found.value_or(0))) { found = at; }
    }
    return found;
}

/// Returns where each test begins, by line number (from 1).
std::map<std::uint64_t, std::string> beginnings(const std::vector<std::string_view>& lines,
                                                const std::vector<TestOutcome>& tests) {
    std::map<std::uint64_t, std::string> begin;
    for (const TestOutcome& test : tests) {
        if (test.id == test.file) { continue; }
        auto first = line_of_test(lines, test);
        if (!first) { continue; }
        while (*first > 0 && belongs_to_the_next(lines[*first - 1])) { --*first; }
        begin.try_emplace(*first + 1, without_parameters(test.id));
    }
    return begin;
}

/// Consecutive lines that a diff gives as removed (or added).
struct Run {
    std::uint64_t first = 0;  ///< From 1.
    std::uint64_t count = 0;
    bool alone = false;  ///< Nothing takes their place.
};

/// A file of tests. Each of its lines belongs to the last test that begins above it.
class TestFile {
public:
    TestFile(std::string_view text, const std::vector<TestOutcome>& tests)
        : lines_(lines_of(text)), begin_(beginnings(lines_, tests)) {}

    [[nodiscard]] std::string_view line(std::uint64_t number) const { return lines_[number - 1]; }

    [[nodiscard]] std::string owner(std::uint64_t line) const {
        const auto after = begin_.upper_bound(line);
        return after == begin_.begin() ? std::string() : std::prev(after)->second;
    }

    /// Returns the numbers of the lines that the other file lacks. A repeated line counts as often as it occurs, so moved lines
    /// are not missing. Of equal lines, takes those in `runs`; if these are more, because some were moved, takes all, except for
    /// lines without a word.
    [[nodiscard]] std::set<std::uint64_t> lines_missing_in(const TestFile& other, std::vector<Run> runs) const {
        const std::set<std::uint64_t> in_runs = numbers_in(std::move(runs));
        std::map<std::string_view, std::vector<std::uint64_t>> copies;
        for (std::size_t at = 0; at < lines_.size(); ++at) { copies[text_of_line(lines_[at])].push_back(at + 1); }
        std::map<std::string_view, std::size_t> kept;
        for (const std::string_view each : other.lines_) { ++kept[text_of_line(each)]; }
        std::set<std::uint64_t> missing;
        for (const auto& [text, numbers] : copies) {
            std::size_t left = numbers.size() - std::min(kept[text], numbers.size());
            if (left == 0) { continue; }
            std::vector<std::uint64_t> likely;
            std::vector<std::uint64_t> others;
            for (const std::uint64_t number : numbers) { (in_runs.contains(number) ? likely : others).push_back(number); }
            if (likely.size() > left && std::ranges::any_of(text, is_word)) { left = likely.size(); }
            likely.insert(likely.begin(), others.begin(), others.end());  // Takes the last ones.
            missing.insert(likely.end() - static_cast<std::ptrdiff_t>(left), likely.end());
        }
        return missing;
    }

private:
    static std::string_view text_of_line(std::string_view line) {
        return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
    }

    /// A run of removed lines can often be moved up or down without another result. Moves it where it touches the fewest tests.
    [[nodiscard]] std::set<std::uint64_t> numbers_in(std::vector<Run> runs) const {
        std::set<std::uint64_t> numbers;
        for (std::size_t at = 0; at < runs.size(); ++at) {
            Run& run = runs[at];
            const std::uint64_t lowest = at == 0 ? 1 : runs[at - 1].first + runs[at - 1].count;
            const std::uint64_t end = at + 1 < runs.size() ? runs[at + 1].first : lines_.size() + 1;
            if (run.alone) { run.first = best_place(run, lowest, end); }
            for (std::uint64_t number = run.first; number < run.first + run.count; ++number) { numbers.insert(number); }
        }
        return numbers;
    }

    [[nodiscard]] std::uint64_t best_place(const Run& run, std::uint64_t lowest, std::uint64_t end) const {
        std::uint64_t best = run.first;
        std::size_t fewest = owners(run.first, run.count);
        const auto consider = [&](std::uint64_t first) {
            if (const std::size_t touched = owners(first, run.count); touched < fewest) {
                best = first;
                fewest = touched;
            }
        };
        for (std::uint64_t first = run.first; first > lowest && line(first - 1) == line(first - 1 + run.count); --first) {
            consider(first - 1);
        }
        for (std::uint64_t first = run.first; first + run.count < end && line(first) == line(first + run.count); ++first) {
            consider(first + 1);
        }
        return best;
    }

    [[nodiscard]] std::size_t owners(std::uint64_t first, std::uint64_t count) const {
        std::set<std::string> touched;
        for (std::uint64_t number = first; number < first + count; ++number) { touched.insert(owner(number)); }
        return touched.size();
    }

    std::vector<std::string_view> lines_;
    std::map<std::uint64_t, std::string> begin_;
};

std::string quoted(const std::vector<std::string>& lines) {
    constexpr std::size_t most_lines = 60;
    constexpr std::size_t most_bytes = 200;
    std::string text;
    for (std::size_t at = 0; at < std::min(most_lines, lines.size()); ++at) {
        text += (at == 0 ? "`" : ", `") + ellipsis(lines[at], most_bytes) + "`";
    }
    return text + (lines.size() > most_lines ? " and " + std::to_string(lines.size() - most_lines) + " more" : "");
}

std::string hash_of(const ChangedTest& test) {
    std::string text;
    for (const auto* lines : {&test.before, &test.after}) {
        for (const std::string& line : *lines) { text += line + "\n"; }
        text += '\0';
    }
    return sha256(text);
}

/// A line that one of two texts lacks, by its number and the test that it belongs to.
struct LackingLine {
    std::uint64_t number = 0;
    std::string id;
    std::string text;  ///< Trimmed.
};

struct LackingLines {
    std::vector<LackingLine> removed;
    std::vector<LackingLine> added;
};

LackingLines lacking_lines(std::string_view before, std::string_view now, const std::vector<TestOutcome>& tests) {
    const auto changes = line_changes(before, now).value_or({});
    std::vector<Run> removed;
    std::vector<Run> added;
    for (const LineChange& change : changes) {
        if (change.old_count > 0) { removed.push_back({change.old_first, change.old_count, change.new_count == 0}); }
        if (change.new_count > 0) { added.push_back({change.new_first, change.new_count, change.old_count == 0}); }
    }
    const TestFile old_file(before, tests);
    const TestFile new_file(now, tests);
    LackingLines lines;
    for (const std::uint64_t number : old_file.lines_missing_in(new_file, removed)) {
        lines.removed.push_back({number, old_file.owner(number), std::string(without_margins(old_file.line(number)))});
    }
    for (const std::uint64_t number : new_file.lines_missing_in(old_file, added)) {
        lines.added.push_back({number, new_file.owner(number), std::string(without_margins(new_file.line(number)))});
    }
    return lines;
}

std::vector<ChangedTest> tests_with(const LackingLines& lines) {
    std::vector<ChangedTest> changed;
    const auto of = [&](const std::string& id) { return std::ranges::find(changed, id, &ChangedTest::id); };
    for (const auto& each : lines.removed) {
        if (of(each.id) == changed.end()) { changed.push_back({.id = each.id, .line = each.number}); }
        of(each.id)->before.push_back(each.text);
    }
    for (const auto& each : lines.added) {
        if (const auto test = of(each.id); test != changed.end()) { test->after.push_back(each.text); }
    }
    return changed;
}

/// Returns the lines of an outdated test that differ. The rows of an annotation may count as lines of the test above.
ChangedTest changed_part(const LeavingPart& part, const LackingLines& lines) {
    ChangedTest test{.id = part.id, .line = 0};
    std::set<std::string> owners{part.id};
    for (const auto& each : lines.removed) {
        const bool within = each.number >= part.first && each.number <= part.last;
        if (each.id != part.id && !within) { continue; }
        if (test.line == 0) { test.line = each.number; }
        test.before.push_back(each.text);
        owners.insert(each.id);
    }
    if (test.line == 0) { test.line = part.first; }
    for (const auto& each : lines.added) {
        if (owners.contains(each.id)) { test.after.push_back(each.text); }
    }
    return test;
}

/// True if the text contains the test's own name: the part of its id after the last separator.
bool has_name_of(std::string_view text, std::string_view id) {
    for (const std::string_view separator : {"::", " > "}) {
        if (const auto at = id.rfind(separator); at != std::string_view::npos) { id = id.substr(at + separator.size()); }
    }
    return text.find(id) != std::string_view::npos;
}

/// The lines that differ although they do not leave with outdated tests. `whole`: all that differ.
LackingLines lacking_besides(const LeavingTests& leaving, const LackingLines& whole, std::string_view now,
                             const std::vector<TestOutcome>& tests) {
    std::set<std::string> gone;
    for (const auto& part : leaving.parts()) {
        if (part.kind == LeavingPart::Kind::test) { gone.insert(part.id); }
    }
    std::vector<TestOutcome> staying;
    std::ranges::copy_if(tests, std::back_inserter(staying),
                         [&](const TestOutcome& test) { return !gone.contains(without_parameters(test.id)); });
    const auto numbers = leaving.numbers_of_rest();
    LackingLines lines = lacking_lines(leaving.rest(), now, staying);
    std::erase_if(lines.removed, [&](LackingLine& each) {
        each.number = numbers[each.number - 1];
        return each.number == 0 || leaving.leaves(each.number);
    });
    // A line outside tests may belong to the outdated test above it. Its former version runs on the changed code.
    std::map<std::uint64_t, std::string> owners;
    for (const auto& each : whole.removed) { owners.emplace(each.number, each.id); }
    for (auto& each : lines.removed) {
        const auto owner = owners.find(each.number);
        const bool of_outdated = owner != owners.end() && gone.contains(owner->second);
        if (of_outdated && !leaving.is_in_staying_test(each.number)) { each.id = owner->second; }
    }
    return lines;
}

}  // namespace

std::vector<ChangedTest> changed_tests(std::string_view before, std::string_view now, const std::vector<TestOutcome>& tests,
                                       const std::set<std::string>& outdated, const CodeRules& rules,
                                       const UsesElsewhere* elsewhere) {
    const LackingLines whole = lacking_lines(before, now, tests);
    const LeavingTests leaving(before, now, tests, outdated, rules, elsewhere);
    if (leaving.empty()) { return tests_with(whole); }
    // Shows each outdated test with its lines, and the first one with what leaves with the tests.
    std::vector<ChangedTest> changed;
    const auto old_lines = lines_of(before);
    for (const auto& part : leaving.parts()) {
        if (part.kind == LeavingPart::Kind::test) {
            changed.push_back(changed_part(part, whole));
            continue;
        }
        const bool leaves_alone = elsewhere != nullptr && part.kind == LeavingPart::Kind::definition;
        if (changed.empty() && leaves_alone) { changed.push_back({.id = elsewhere->test, .line = part.first}); }
        if (changed.empty()) { continue; }  // Names were added to an import.
        auto& test = changed.front();
        for (auto line = part.first; line <= part.last; ++line) {
            const std::string text(without_margins(old_lines[line - 1]));
            const bool shown = std::ranges::find(test.before, text) != test.before.end();
            if (!text.empty() && !shown) { test.before.push_back(text); }
        }
        for (const auto line : lines_of(part.replacement)) { test.after.emplace_back(without_margins(line)); }
    }
    for (auto& other : tests_with(lacking_besides(leaving, whole, now, tests))) {
        if (std::ranges::find(changed, other.id, &ChangedTest::id) == changed.end()) {
            changed.push_back(std::move(other));
        } else if (!has_name_of(now, other.id)) {  // Removed, so a line after it that stays belongs to no test.
            other.id.clear();
            changed.push_back(std::move(other));
        }  // Else GREEN measures the changed test with these lines.
    }
    std::ranges::stable_sort(changed, {}, &ChangedTest::line);
    return changed;
}

std::string without_added_sources(std::string_view before, std::string_view now) {
    // The words of a line, and those without source files.
    const auto words_of = [](std::string_view line, bool sources) {
        std::string words;
        std::string word;
        const auto take = [&] {
            static constexpr std::string_view endings[] = {".c", ".cc", ".cpp", ".cxx"};
            const bool is_source =
                word.find("..") == std::string::npos && std::ranges::any_of(endings, [&](std::string_view end) {
                    return word.size() > end.size() && word.ends_with(end);
                });
            if (!word.empty() && (sources || !is_source)) { words += word + "\n"; }
            word.clear();
        };
        for (const char each : line) {
            const bool is_bracket = each == '(' || each == ')';
            if (is_bracket || each == ' ' || each == '\t' || each == '\r') {
                take();
                if (is_bracket) { words += std::string(1, each) + "\n"; }
            } else {
                word += each;
            }
        }
        take();
        return words;
    };
    const auto old_lines = lines_of(before);
    const auto extends = [&](std::string_view line, std::string_view old) {
        if (words_of(line, false) != words_of(old, false)) { return false; }
        const std::string has = words_of(line, true);
        const auto all = lines_of(has);
        const std::string wanted = words_of(old, true);
        std::size_t at = 0;
        const auto parts = lines_of(wanted);
        for (const auto word : all) { at += at < parts.size() && parts[at] == word ? 1 : 0; }
        return at == parts.size() && words_of(old, true) != words_of(old, false);
    };
    std::string result;
    for (const auto line : lines_of(now)) {
        const auto same = std::ranges::find(old_lines, line);
        const auto old = same != old_lines.end()
                             ? same
                             : std::ranges::find_if(old_lines, [&](std::string_view each) { return extends(line, each); });
        result += std::string(old != old_lines.end() ? *old : line) + "\n";
    }
    return result;
}

std::vector<std::string> tests_named(const std::vector<std::string>& names, const std::vector<TestOutcome>& tests) {
    std::set<std::string> named;
    for (const std::string_view name : names) {
        bool found = false;
        for (const TestOutcome& test : tests) {
            const std::string id = without_parameters(test.id);
            const bool is_end = !name.empty() && id.ends_with(name);
            const bool fits = is_end ? name.size() == id.size() || !is_word(id[id.size() - name.size() - 1]) : name == test.id;
            if (!fits || test.id == test.file) { continue; }
            named.insert(test.id);
            found = true;
        }
        // As RED may name them: `Class.test`, `suite > test`, a title with placeholders.
        const auto end = name.find("::");
        if (found || end == std::string_view::npos) { continue; }
        const DeclaredTest declared{std::string(name.substr(0, end)), std::string(name.substr(end + 2)), ""};
        for (const auto* test : outcomes_of(declared, tests)) { named.insert(test->id); }
    }
    std::vector<std::string> ids;
    for (const TestOutcome& test : tests) {
        if (named.contains(test.id)) { ids.push_back(test.id); }
    }
    return ids;
}

std::vector<UnknownTest> unknown_tests(const std::vector<std::string>& names, const std::vector<TestOutcome>& tests) {
    constexpr std::size_t most = 3;
    std::vector<UnknownTest> unknown;
    for (const auto& name : names) {
        if (tests.empty() || !tests_named({name}, tests).empty()) { continue; }
        const auto file = name.substr(0, name.find("::"));
        const auto in_file = [&](const TestOutcome& test) { return test.file == file && test.id != test.file; };
        const bool broken = std::ranges::any_of(
            tests, [&](const TestOutcome& test) { return test.id == file && test.status != TestStatus::passed; });
        if (broken) { continue; }
        std::vector<std::string> candidates;
        const bool known_file = std::ranges::any_of(tests, in_file);
        for (const auto& test : tests) {
            const auto id = without_parameters(test.id);
            const bool fits = known_file ? in_file(test) : test.id != test.file;
            if (fits && std::ranges::find(candidates, id) == candidates.end()) { candidates.push_back(id); }
        }
        UnknownTest found{name, known_file ? file : std::string(), {}};
        while (found.nearest.size() < most && !candidates.empty()) {
            const auto near = nearest(name, candidates);
            const auto at = near.empty() ? candidates.begin() : std::ranges::find(candidates, near);
            if (near.empty() && !known_file && !found.nearest.empty()) { break; }
            found.nearest.push_back(*at);
            candidates.erase(at);
        }
        unknown.push_back(std::move(found));
    }
    return unknown;
}

std::string changed_test_line(const ChangedTest& test, std::string_view why) {
    std::string line = test.id + " existed before the task and is ";
    line += test.after.empty() ? "removed" : "changed";
    line += " (line " + std::to_string(test.line) + "): " + quoted(test.before);
    if (!test.after.empty()) { line += " is now " + quoted(test.after); }
    if (!why.empty()) { line += "; the specification calls it outdated: " + ellipsis(why, 300); }
    return line + "; sha256 " + hash_of(test);
}

json::array changed_tests_fact(const std::vector<ChangedTestNote>& notes) {
    json::array fact;
    for (const ChangedTestNote& note : notes) {
        fact.push_back(json::object{{"test", note.test}, {"description", note.description}});
    }
    return fact;
}

std::vector<ChangedTestNote> changed_tests_in(const json::object& facts) {
    std::vector<ChangedTestNote> notes;
    for (const json::object& each : objects_of(facts, "changed_tests")) {
        notes.push_back({.test = text_of(each, "test"), .description = text_of(each, "description")});
    }
    return notes;
}

}  // namespace agentforge::kernel
