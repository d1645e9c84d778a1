// SPDX-License-Identifier: Apache-2.0
// `cargo test`: one section for each test program on standard output (libtest's own format, stable since Rust 1.0). Standard
// error names the programs in the same order. Stable Rust has no machine-readable report, so this counts everything and
// cross-checks all counts.
#include "gates/formats/format.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::string_view cargo_canary = "agentforge_canary";

struct CargoSection {
    std::int64_t announced = 0;
    std::vector<std::pair<std::string, std::string>> results;  ///< Name, `ok`, `FAILED`, `ignored`.
    std::map<std::string, std::string> outputs;                ///< By name: the output of a failed test.
    bool ended = false;
    std::map<std::string, std::int64_t> counts;  ///< passed, failed, ignored, …
};

std::int64_t cargo_number(std::string_view text) {
    std::int64_t number = 0;
    for (const char digit : text.substr(0, 9)) {
        if (digit < '0' || digit > '9') { break; }
        number = number * 10 + (digit - '0');
    }
    return number;
}

/// `test result: FAILED. 3 passed; 7 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.02s`
std::map<std::string, std::int64_t> cargo_counts(std::string_view line) {
    std::map<std::string, std::int64_t> counts;
    for (auto at = line.find(". "); at != std::string_view::npos; at = line.find("; ", at + 2)) {
        const auto rest = line.substr(at + 2);
        const auto space = rest.find(' ');
        if (space == std::string_view::npos) { break; }
        const auto name = rest.substr(space + 1, rest.find_first_of(";", space) - space - 1);
        counts[std::string(name)] = cargo_number(rest);
    }
    return counts;
}

class CargoReader {
public:
    std::vector<CargoSection> sections;

    void line(std::string_view text) {
        if (const auto announced = begins(text)) {
            sections.push_back({*announced, {}, {}, false, {}});
            output_.clear();
        } else if (sections.empty() || sections.back().ended) {
            return;
        } else if (text.starts_with("---- ") && text.ends_with(" stdout ----")) {
            output_ = text.substr(5, text.size() - 17);
        } else if (text.starts_with("test result: ")) {
            sections.back().ended = true;
            sections.back().counts = cargo_counts(text);
        } else if (text == "failures:") {
            output_.clear();
        } else if (!output_.empty()) {
            auto& kept = sections.back().outputs[output_];
            if (kept.size() < (64UL << 10U)) { kept += std::string(text) + "\n"; }
        } else if (text.starts_with("test ")) {
            result(text.substr(5));
        }
    }

private:
    static std::optional<std::int64_t> begins(std::string_view text) {
        if (!text.starts_with("running ") || !(text.ends_with(" tests") || text.ends_with(" test"))) { return std::nullopt; }
        const auto digits = text.substr(8, text.rfind(' ') - 8);
        if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) { return std::nullopt; }
        return cargo_number(digits);
    }

    void result(std::string_view text) {
        const auto split = text.rfind(" ... ");
        if (split == std::string_view::npos) { return; }
        auto how = std::string(text.substr(split + 5));
        if (how.starts_with("ignored")) { how = "ignored"; }
        if (how != "ok" && how != "FAILED" && how != "ignored") { return; }
        auto name = text.substr(0, split);
        if (name.ends_with(" - should panic")) { name.remove_suffix(15); }
        sections.back().results.emplace_back(std::string(name), std::move(how));
    }

    std::string output_;  ///< Its output follows.
};

/// Without the backtrace and the framework's additions.
std::string cargo_message(std::string_view output) {
    std::string message;
    bool stack = false;
    for_each_line(output, [&](std::string_view line) {
        if (line.starts_with("stack backtrace:")) { stack = true; }
        if (line.starts_with("note: test did not") || line.starts_with("note: panic did not")) { stack = false; }
        if (stack || line.empty() || line.starts_with("note: run with")) { return; }
        message += (message.empty() ? "" : "\n") + std::string(line);
    });
    return failure_text(message);
}

/// Rust has one way to fail, the panic. `assert_eq!` identifies itself; `assert!` with its own text shows only that text, as
/// `panic!` does. That counts as an assertion if it is in one of the test's own files and is not a message of the language
/// itself.
bool cargo_is_assertion(std::string_view message, const ReportedTest& test) {
    if (message.find("the test returned a termination value") != std::string_view::npos) { return false; }
    for (const std::string_view sign :
         {"assertion failed", "assertion `", "note: test did not panic", "note: panic did not contain"}) {
        if (message.find(sign) != std::string_view::npos) { return true; }
    }
    const auto panicked = message.find(" panicked at ");
    if (panicked == std::string_view::npos) { return false; }
    for (const std::string_view sign : {"called `", "index out of bounds", "attempt to ", "not implemented",
                                        "not yet implemented", "internal error: ", "already borrowed", "already mutably borrowed",
                                        "out of range", "byte index ", "capacity overflow", "divide by zero", "stack overflow"}) {
        if (message.find(sign, panicked) != std::string_view::npos) { return false; }
    }
    return std::any_of(test.places.begin(), test.places.end(), [&](const auto& place) {
        const auto at = message.find(place.file + ":", panicked);
        return at != std::string_view::npos && (message[at - 1] == ' ' || message[at - 1] == '/');
    });
}

/// Returns the place in `file` that a message names first: `src/lib.rs:14:20`, or ` src/lib.rs:14:20:` in newer versions.
std::uint64_t cargo_line(std::string_view message, std::string_view file) {
    const auto at = message.find(std::string(file) + ":");
    return at == std::string_view::npos ? 0 : static_cast<std::uint64_t>(cargo_number(message.substr(at + file.size() + 1)));
}

/// `a::b::tests::name` of the program `src/lib.rs` is in src/a/b.rs, src/a/b/mod.rs, src/a.rs, … or src/lib.rs itself.
void cargo_places(const std::string& root_file, const std::string& path, ReportedTest& test) {
    const auto last = path.rfind("::");
    test.name = last == std::string::npos ? path : path.substr(last + 2);
    test.suite = last == std::string::npos ? std::string{} : path.substr(0, last);
    test.file = root_file;
    const auto slash = root_file.rfind('/');
    const auto folder = slash == std::string::npos ? std::string{} : root_file.substr(0, slash + 1);
    for (auto end = test.suite.size(); end != std::string::npos && end > 0; end = test.suite.rfind("::", end - 1)) {
        auto module = test.suite.substr(0, end);
        const auto rest = end >= test.suite.size() ? std::string{} : test.suite.substr(end + 2);
        for (auto at = module.find("::"); at != std::string::npos; at = module.find("::", at)) { module.replace(at, 2, "/"); }
        test.places.push_back({folder + module + ".rs", rest});
        test.places.push_back({folder + module + "/mod.rs", rest});
        if (end < 2) { break; }
    }
    test.places.push_back({root_file, test.suite});
}

/// `src/lib.rs - one (line 2)`. The line is not part of the name, because every edit above it changes it.
void cargo_doc_test(const std::string& path, ReportedTest& test) {
    const auto dash = path.find(" - ");
    test.file = path.substr(0, dash);
    const auto rest = dash == std::string::npos ? std::string{} : path.substr(dash + 3);
    const auto bracket = rest.rfind("(line ");
    test.suite = "doc";
    test.name = rest.substr(0, bracket);
    while (test.name.ends_with(' ')) { test.name.pop_back(); }
    if (test.name.empty()) { test.name = "(file)"; }
    test.line =
        bracket == std::string::npos ? 0 : static_cast<std::uint64_t>(cargo_number(std::string_view(rest).substr(bracket + 6)));
}

/// cargo names a source file relative to its package; cargo_test.sh has printed each target's path in the tree before. `program`
/// is `…/deps/<target>-<hash>`.
std::string cargo_whole_path(std::string_view program, const std::string& file, std::string_view err) {
    auto target = program.substr(program.rfind('/') == std::string_view::npos ? 0 : program.rfind('/') + 1);
    target = target.substr(0, target.rfind('-'));
    std::string found = file;
    for_each_line(err, [&](std::string_view line) {
        constexpr std::string_view mark = "agentforge: program ";
        const auto space = line.find(' ', mark.size());
        if (!line.starts_with(mark) || space == std::string_view::npos) { return; }
        std::string name(line.substr(mark.size(), space - mark.size()));
        std::replace(name.begin(), name.end(), '-', '_');
        const auto path = line.substr(space + 1);
        if (name == target && path.ends_with("/" + file)) { found = path; }
    });
    return found;
}

/// Returns the program of each section, in order. Empty: documentation tests.
std::vector<std::string> cargo_programs(std::string_view err, std::string_view root) {
    std::vector<std::string> programs;
    for_each_line(err, [&](std::string_view line) {
        const auto begin = line.find_first_not_of(' ');
        if (begin == std::string_view::npos) { return; }
        auto text = line.substr(begin);
        if (text.starts_with("Doc-tests ")) { programs.emplace_back(); }
        if (!text.starts_with("Running ") || !text.ends_with(')')) { return; }
        text.remove_prefix(8);
        if (text.starts_with("unittests ")) { text.remove_prefix(10); }
        if (const auto bracket = text.rfind(" ("); bracket != std::string_view::npos) {
            const auto file = path_in_tree(text.substr(0, bracket), root);
            programs.push_back(cargo_whole_path(text.substr(bracket + 2, text.size() - bracket - 3), file, err));
        }
    });
    return programs;
}

std::string cargo_section_problem(const CargoSection& section) {
    const auto listed = [&](const char* how) {
        return std::count_if(section.results.begin(), section.results.end(),
                             [&](const auto& each) { return each.second == how; });
    };
    const auto counted = [&](const char* how) {
        const auto found = section.counts.find(how);
        return found == section.counts.end() ? -1 : found->second;
    };
    if (!section.ended) { return "a test program ended before it reported all of its results"; }
    if (section.announced != static_cast<std::int64_t>(section.results.size()) || counted("passed") != listed("ok") ||
        counted("failed") != listed("FAILED") || counted("ignored") != listed("ignored")) {
        return "the counts of a test program do not agree with its results";
    }
    return {};
}

TestStatus cargo_status(std::string_view how) {
    if (how == "ok") { return TestStatus::passed; }
    return how == "ignored" ? TestStatus::skipped : TestStatus::error;
}

}  // namespace

FormatResult parse_cargo_test(const RunOutput& output) {
    FormatResult result;
    CargoReader reader;
    for_each_line(output.out, [&](std::string_view line) { reader.line(line); });
    const auto programs = cargo_programs(output.err, output.root);
    if (programs.size() != reader.sections.size()) {
        result.problem = "cargo started " + std::to_string(programs.size()) + " test programs, and " +
                         std::to_string(reader.sections.size()) + " reported";
    }
    bool some_canary = false;
    std::string without_canary;
    for (std::size_t index = 0; index < reader.sections.size(); ++index) {
        const auto& section = reader.sections[index];
        const auto program = index < programs.size() ? programs[index] : std::string{};
        if (auto problem = cargo_section_problem(section); result.problem.empty()) { result.problem = std::move(problem); }
        bool canary = false;
        bool passed = false;
        std::map<std::string, int> doc_names;
        for (const auto& [path, how] : section.results) {
            ReportedTest test;
            if (program.empty()) {
                cargo_doc_test(path, test);
                if (const auto number = ++doc_names[test.file + test.name]; number > 1) {
                    test.name += "[" + std::to_string(number) + "]";
                }
            } else {
                cargo_places(program, path, test);
            }
            test.canary = path.find(cargo_canary) != std::string::npos;
            canary = canary || test.canary;
            passed = passed || how == "ok";
            test.status = cargo_status(how);
            if (how == "FAILED") {
                const auto said = section.outputs.find(path);
                if (said != section.outputs.end()) { test.message = cargo_message(said->second); }
                if (test.canary || cargo_is_assertion(test.message, test)) { test.status = TestStatus::failed_assertion; }
                if (test.line == 0) { test.line = cargo_line(test.message, program); }
                if (test.message.empty()) { test.message = "failed"; }
            }
            result.tests.push_back(std::move(test));
        }
        some_canary = some_canary || canary;
        if (passed && !canary && !program.empty()) { without_canary = program; }
    }
    if (some_canary && !without_canary.empty() && result.problem.empty()) {
        result.problem = "the kernel's own canary test, which must fail, did not run in the test program of " + without_canary;
    }
    return result;
}

}  // namespace agentforge::kernel
