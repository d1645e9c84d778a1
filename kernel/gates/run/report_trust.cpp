// SPDX-License-Identifier: Apache-2.0
#include "gates/run/report_trust.hpp"

#include <algorithm>
#include <set>

#include <re2/re2.h>

#include "base/text.hpp"
#include "gates/gate_runner.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t max_message = 500;
const std::string unknown_folder = "?";  // Folder of a test whose file is unknown: any canary may have to vouch for it.

std::string folder_of(std::string_view file) {
    const auto slash = file.rfind('/');
    return slash == std::string_view::npos ? std::string{} : std::string(file.substr(0, slash));
}

/// Ranks outcomes, for a test that was reported twice.
int badness(TestStatus status) {
    switch (status) {
        case TestStatus::passed:
            return 0;
        case TestStatus::skipped:
            return 1;
        case TestStatus::failed_skeleton:
            return 2;
        case TestStatus::failed_assertion:
            return 3;
        case TestStatus::error:
        case TestStatus::not_collected:
            return 4;
    }
    return 4;
}

bool some_match(const std::vector<std::string>& patterns, const std::string& text) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const auto& pattern) { return RE2::PartialMatch(text, RE2(pattern, RE2::Quiet)); });
}

/// Returns 500 characters of the message. If the marker comes later, they begin with its line.
std::string shown(const std::string& message, const std::string& marker) {
    auto from = std::size_t{0};
    if (const auto at = marker.empty() ? std::string::npos : message.find(marker);
        at != std::string::npos && at > max_message / 2) {
        const auto line = message.rfind('\n', at);
        from = line == std::string::npos ? at : line + 1;
    }
    return ellipsis(std::string_view(message).substr(from), max_message);
}

std::string test_in_file(const std::string& file, const std::string& test) { return file.empty() ? test : file + "::" + test; }

/// Converts a report to the kernel's terms.
class ReportReader {
public:
    explicit ReportReader(const ReportContext& context)
        : context_(context), wanted_(context.files.begin(), context.files.end()) {}

    void read(const FormatResult& report, TestRun& run) {
        for (const auto& test : report.tests) {
            if (is_canary(test)) {
                canary(test);
                continue;
            }
            auto outcome = outcome_of(test);
            reported_.insert(outcome.id);
            if (test.invocation) { run.invocations[outcome.id].insert(invocation_of(test)); }
            if (outcome.status == TestStatus::passed) {
                passed_in_.insert(outcome.file.empty() ? unknown_folder : folder_of(outcome.file));
            }
            failures_ = failures_ || is_failure(outcome.status);
            if (not_asked_for(outcome)) { continue; }
            const auto [place, fresh] = index_.emplace(outcome.id, run.tests.size());
            if (fresh) {
                run.tests.push_back(std::move(outcome));
            } else if (badness(outcome.status) > badness(run.tests[place->second].status)) {
                run.tests[place->second] = std::move(outcome);
            }
        }
        for (auto file : report.reads) {
            fill_out(file);
            run.reads.insert(std::move(file));
        }
    }

    /// Tests that were collected but not reported; they are added as errors.
    std::vector<std::string> add_unreported(const FormatResult& collected, TestRun& run) {
        std::vector<std::string> missing;
        for (const auto& test : collected.tests) {
            if (is_canary(test)) { continue; }
            auto outcome = outcome_of(test);
            if (reported_.contains(outcome.id) || not_asked_for(outcome)) { continue; }
            missing.push_back(outcome.id);
            outcome.status = TestStatus::error;
            outcome.message = "not run: it was collected, and the runner did not tell how it ended";
            run.tests.push_back(std::move(outcome));
        }
        return missing;
    }

    [[nodiscard]] std::string canary_problem() const {
        if (!canary_passed_.empty()) {
            return "the kernel's own canary test " + canary_passed_ + ": something in the project changes what tests report";
        }
        std::size_t expected = 0;
        std::map<std::string, std::size_t> left = canaries_failed_;
        std::size_t failed = 0;
        for (const auto& [folder, count] : left) { failed += count; }
        for (const auto& placed : context_.canaries) {
            const bool needed = placed.everywhere ? !passed_in_.empty()
                                                  : passed_in_.contains(placed.directory) || passed_in_.contains(unknown_folder);
            if (!needed) { continue; }
            expected += placed.tests;
            if (placed.everywhere || left[placed.directory] >= placed.tests) { continue; }
            if (folders_known_) {
                return "the kernel's own canary tests in " +
                       (placed.directory.empty() ? std::string("the top folder") : placed.directory) +
                       ", which must fail, were not all run: something in the project changes which tests are run";
            }
        }
        if (failed >= expected) { return {}; }
        return "the kernel's own canary tests, which must fail, were not all run (" + std::to_string(failed) + " of " +
               std::to_string(expected) + "): something in the project changes which tests are run";
    }

    [[nodiscard]] bool failures() const { return failures_ || canary_seen_; }

private:
    /// True for a test in a file that was not requested. A test outside all test files always counts.
    [[nodiscard]] bool not_asked_for(const TestOutcome& outcome) const {
        return !outcome.file.empty() && !wanted_.contains(outcome.file) && is_test_file(outcome.file);
    }
    [[nodiscard]] bool is_test_file(const std::string& file) const {
        return std::binary_search(context_.test_files.begin(), context_.test_files.end(), file);
    }
    [[nodiscard]] bool is_canary(const ReportedTest& test) const {
        const auto has = [&](const std::string& text) {
            return !context_.unique.empty() && text.find(context_.unique) != std::string::npos;
        };
        return test.canary || has(test.name) || has(test.suite) || has(test.file);
    }

    void canary(const ReportedTest& test) {
        canary_seen_ = true;
        auto status = test.status;
        if (status == TestStatus::error && some_match(context_.runner->assertion_messages, test.message)) {
            status = TestStatus::failed_assertion;
        }
        if (status != TestStatus::failed_assertion) {
            if (canary_passed_.empty()) {
                canary_passed_ = test.name + ", which must fail, was reported as " + std::string(to_string(status));
            }
            return;
        }
        const auto path = path_in_tree(test.file, context_.root);
        // If a format names no files, the copies are indistinguishable and only their number counts.
        folders_known_ = folders_known_ && !path.empty();
        ++canaries_failed_[folder_of(path)];
    }

    /// Returns the candidate place that the tree's test files confirm, or nullopt.
    std::optional<ReportedTest::Place> confirmed(const ReportedTest& test) const {
        for (const auto& place : test.places) {
            const auto path = path_in_tree(place.file, context_.root);
            if (place.file.ends_with('/')) {
                const auto plain = test.name.substr(0, test.name.find('['));
                if (const auto found = context_.declared_beside.find({path, plain}); found != context_.declared_beside.end()) {
                    return ReportedTest::Place{found->second, place.suite};
                }
            } else if (std::binary_search(context_.test_files.begin(), context_.test_files.end(), path)) {
                return ReportedTest::Place{path, place.suite};
            }
        }
        return std::nullopt;
    }

    /// Returns the file of the tree that a test belongs to. Empty: unknown.
    std::string file_of(const ReportedTest& test) const {
        const auto path = path_in_tree(test.file, context_.root);
        for (const auto& source : test.sources) {
            const auto built_from = path_in_tree(source, context_.root);
            if (path.empty() && is_test_file(built_from)) { return built_from; }
        }
        if (!path.empty()) {
            if (is_test_file(path)) { return path; }
            const auto by_end = only_one([&](const std::string& file) { return file.ends_with("/" + path); });
            return by_end.empty() && path.front() != '/' ? path : by_end;
        }
        auto suite = test.suite.substr(0, test.suite.find("::"));
        std::replace(suite.begin(), suite.end(), '.', '/');
        if (auto file = suite.empty() ? std::string{} : file_of_class(suite); !file.empty()) { return file; }
        const auto plain = test.name.substr(0, test.name.find('['));
        const auto found = context_.declared.find(plain);
        return found == context_.declared.end() ? std::string{} : found->second;
    }
    /// Returns the file of a class or module, given with its packages: `com/example/FooTest` is …/com/example/FooTest.java, or in
    /// another file of such a folder.
    std::string file_of_class(const std::string& path) const {
        const auto own = only_one([&](const std::string& file) {
            const auto stem = file.substr(0, file.rfind('.'));
            return stem == path || stem.ends_with("/" + path);
        });
        if (!own.empty()) { return own; }
        const auto package = folder_of(path);
        const auto name = path.substr(package.empty() ? 0 : package.size() + 1);
        return only_one([&](const std::string& file) {
            const auto folder = folder_of(file);
            const auto found = context_.declared_beside.find({folder.empty() ? folder : folder + "/", name});
            return found != context_.declared_beside.end() && found->second == file && ("/" + folder).ends_with("/" + package);
        });
    }
    template <typename Condition>
    std::string only_one(Condition condition) const {
        std::string found;
        for (const auto& file : context_.test_files) {
            if (!condition(file)) { continue; }
            if (!found.empty()) { return {}; }
            found = file;
        }
        return found;
    }

    /// Includes the test files that its program was built from; the rest of the program is the project's.
    TestInvocation invocation_of(const ReportedTest& test) const {
        auto invocation = *test.invocation;
        std::set<std::string> files;
        for (const auto& source : test.sources) {
            if (auto path = path_in_tree(source, context_.root); is_test_file(path)) { files.insert(std::move(path)); }
        }
        for (const auto& file : files) { invocation.how += "built from: " + file + "\n"; }
        fill_out(invocation.how);
        return invocation;
    }
    /// Each tree is built in its own folder.
    void fill_out(std::string& text) const {
        for (auto at = text.find(context_.build); !context_.build.empty() && at != std::string::npos;
             at = text.find(context_.build, at)) {
            text.replace(at, context_.build.size(), "{build}");
        }
    }

    TestOutcome outcome_of(const ReportedTest& reported) const {
        auto test = reported;
        if (auto place = confirmed(test)) {
            test.file = std::move(place->file);
            test.suite = std::move(place->suite);
        }
        TestOutcome outcome;
        outcome.file = file_of(test);
        // The file's path already contains the folders of `com.example.SlugTest`.
        if (const auto dot = test.suite.substr(0, test.suite.find("::")).rfind('.');
            test.file.empty() && dot != std::string::npos) {
            auto package = folder_of(outcome.file);
            std::replace(package.begin(), package.end(), '/', '.');
            const auto short_name = test.suite.substr(dot + 1);
            const auto stem = "/" + short_name.substr(0, short_name.find("::")) + ".";
            if (("/" + outcome.file).find(stem) != std::string::npos ||
                ("." + package).ends_with("." + test.suite.substr(0, dot))) {
                test.suite = short_name;
            }
        }
        outcome.name = ellipsis(sanitize_utf8(test.name), 300);
        outcome.line = test.line;
        outcome.status = test.status;
        const bool whole_file = !outcome.file.empty() && (test.whole_file || test.name == test.file || test.name == outcome.file);
        const auto rest = (test.suite.empty() ? "" : test.suite + "::") + test.name;
        outcome.id = ellipsis(sanitize_utf8(whole_file ? outcome.file : test_in_file(outcome.file, rest)), 1000);
        if (test.status == TestStatus::failed_assertion || test.status == TestStatus::error) {
            const auto& runner = *context_.runner;
            if (test.status == TestStatus::failed_assertion && some_match(runner.error_messages, test.message)) {
                outcome.status = TestStatus::error;
            } else if (test.status == TestStatus::error && some_match(runner.assertion_messages, test.message)) {
                outcome.status = TestStatus::failed_assertion;
            }
            if (!whole_file && !context_.marker.empty() && test.message.find(context_.marker) != std::string::npos) {
                outcome.status = TestStatus::failed_skeleton;
            }
        }
        auto message = sanitize_utf8(test.message);
        // The checkout's path is meaningless, and differs for every task.
        for (auto at = message.find(context_.root + "/"); !context_.root.empty() && at != std::string::npos;
             at = message.find(context_.root + "/", at)) {
            message.erase(at, context_.root.size() + 1);
        }
        outcome.message = shown(message, context_.marker);
        return outcome;
    }

    const ReportContext& context_;
    std::set<std::string> wanted_;
    std::map<std::string, std::size_t> index_;
    std::set<std::string> reported_;
    std::set<std::string> passed_in_;                     ///< Folders in which a test passed.
    std::map<std::string, std::size_t> canaries_failed_;  ///< By folder.
    bool folders_known_ = true;
    bool canary_seen_ = false;
    bool failures_ = false;
    std::string canary_passed_;
};

std::string exit_problem(const TestRunner& runner, bool failures, const ProcessOutcome& outcome) {
    const auto& agreeing = failures ? runner.exit_failed : runner.exit_passed;
    if (std::find(agreeing.begin(), agreeing.end(), outcome.exit_code) != agreeing.end()) { return {}; }
    if (outcome.signal != 0) { return "the runner was ended by signal " + std::to_string(outcome.signal); }
    const auto words = last_output_line(outcome.err.empty() ? outcome.out : outcome.err);
    return "the runner's exit code " + std::to_string(outcome.exit_code) + " does not agree with its report" +
           (words.empty() ? "" : " (" + words + ")");
}

}  // namespace

TestRun judge_report(const FormatResult& report, const ReportContext& context, const ProcessOutcome& outcome) {
    TestRun run;
    run.runner = context.runner->name;
    run.notes = report.notes;
    run.duration = outcome.duration;
    run.confinement = outcome.confinement;
    run.crashed = outcome.signal != 0 && !outcome.timed_out;
    ReportReader reader(context);
    reader.read(report, run);
    std::vector<std::string> missing;
    if (context.collected) { missing = reader.add_unreported(*context.collected, run); }
    if (outcome.timed_out) {
        run.distrust = "the tests did not finish within " + std::to_string(context.timeout.count()) + " s";
    } else if (!report.problem.empty()) {
        const auto words = last_output_line(outcome.err.empty() ? outcome.out : outcome.err);
        const std::string quoted = report.no_report ? "; it ended with: " + words : " (" + words + ")";
        run.distrust = report.problem + (words.empty() ? "" : quoted);
    } else if (context.collected && !context.collected->problem.empty()) {
        run.distrust = "when the tests were collected, " + context.collected->problem;
    } else if (auto problem = exit_problem(*context.runner, reader.failures(), outcome); !problem.empty()) {
        run.distrust = std::move(problem);
    } else if (problem = reader.canary_problem(); !problem.empty()) {
        run.distrust = std::move(problem);
    } else if (!missing.empty()) {
        run.distrust = "a collected test has no result (" + missing.front() + ")";
    }
    run.trusted = run.distrust.empty();
    if (context.canaries.empty()) {
        run.notes.emplace_back("no canary: only the runner ensures that a failing test is reported as failed");
    }
    if (!run.trusted) {
        for (auto& test : run.tests) {
            test.status = TestStatus::error;
            test.message = ellipsis("not trusted: " + run.distrust, max_message);
        }
    }
    return run;
}

std::map<std::string, std::string> declared_in(const std::string& declaration,
                                               const std::vector<std::pair<std::string, std::string>>& contents) {
    std::map<std::string, std::string> found;
    if (declaration.empty()) { return found; }
    const RE2 expression(declaration, RE2::Quiet);
    const auto group = expression.NamedCapturingGroups().find("name");
    if (!expression.ok() || group == expression.NamedCapturingGroups().end()) { return found; }
    std::set<std::string> twice;
    std::vector<re2::StringPiece> parts(static_cast<std::size_t>(group->second) + 1);
    for (const auto& [file, text] : contents) {
        std::size_t at = 0;
        while (at <= text.size() &&
               expression.Match(text, at, text.size(), RE2::UNANCHORED, parts.data(), static_cast<int>(parts.size()))) {
            const std::string name(parts.back());
            const auto [place, fresh] = found.emplace(name, file);
            if (!fresh && place->second != file) { twice.insert(name); }
            const auto end = static_cast<std::size_t>(parts[0].data() - text.data()) + parts[0].size();
            at = end > at ? end : at + 1;
        }
    }
    for (const auto& name : twice) { found.erase(name); }
    return found;
}

std::vector<ToolMessage> find_messages(const std::string& pattern, std::string_view text, const std::string& root) {
    std::vector<ToolMessage> found;
    const RE2 expression(pattern, RE2::Quiet);
    if (pattern.empty() || !expression.ok()) { return found; }
    const auto& groups = expression.NamedCapturingGroups();
    std::vector<re2::StringPiece> parts(static_cast<std::size_t>(expression.NumberOfCapturingGroups()) + 1);
    const auto part = [&](const char* name) {
        const auto place = groups.find(name);
        return place == groups.end() ? std::string{} : std::string(parts[static_cast<std::size_t>(place->second)]);
    };
    static const RE2 symbol_line(R"((?:\[ERROR\])?\s+(symbol:\s+.*))");  // javac names the missing symbol on a separate line.
    while (!text.empty()) {
        const auto end = text.find('\n');
        const re2::StringPiece line(text.data(), std::min(end, text.size()));
        if (expression.Match(line, 0, line.size(), RE2::UNANCHORED, parts.data(), static_cast<int>(parts.size()))) {
            std::uint64_t number = 0;
            for (const auto digit : part("line").substr(0, 9)) {
                if (digit >= '0' && digit <= '9') { number = number * 10 + static_cast<std::uint64_t>(digit - '0'); }
            }
            found.push_back({path_in_tree(part("file"), root), number, failure_text(part("message"))});
        } else if (std::string symbol; !found.empty() && RE2::FullMatch(line, symbol_line, &symbol)) {
            found.back().message += "; " + failure_text(symbol);
        } else if (!found.empty() && found.back().message.ends_with(":")) {
            const std::string_view more(line.data(), line.size());
            if (const auto begin = more.find_first_not_of(" \t\r"); begin != std::string_view::npos) {
                found.back().message += " " + failure_text(more.substr(begin));
            }
        }
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return found;
}

}  // namespace agentforge::kernel
