// SPDX-License-Identifier: Apache-2.0
// CTest. Reads its list of tests (tests.json, --show-only=json-v1), its results (ctest.xml, --output-junit), the programs with a
// recorder (programs.txt), test files without a program (unlisted.txt), and the recorders' files, one for each process
// (config/languages/cpp/recorder.h). CTest's result (the exit code) and the recorder's must agree.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <re2/re2.h>

#include "base/text.hpp"
#include "gates/formats/format.hpp"
#include "gates/formats/xml.hpp"
#include "gates/gate_runner.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::string_view canary_prefix = "agentforge-canary-";
constexpr std::int64_t canary_failures = 3;  // Number of failed checks in the canary of a framework's recorder.

std::string ctest_text(const json::object& value, std::string_view key) {
    const auto* found = value.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string{};
}

std::int64_t ctest_number(const json::object& value, std::string_view key) {
    const auto* found = value.if_contains(key);
    return found != nullptr && found->is_int64() ? found->get_int64() : -1;
}

std::vector<std::string> ctest_texts(const json::object& value, std::string_view key) {
    std::vector<std::string> texts;
    const auto* found = value.if_contains(key);
    const auto* list = found == nullptr ? nullptr : found->if_array();
    if (list == nullptr) { return texts; }
    for (const auto& item : *list) {
        if (item.is_string()) { texts.emplace_back(item.get_string()); }
    }
    return texts;
}

/// One process, as its recorder saw it.
struct Recorded {
    std::string kind;  ///< plain, googletest, catch2, doctest, boost
    std::vector<std::string> argv;
    std::vector<std::string> sources;
    bool canary = false;
    std::vector<ReportedTest> planned;
    std::set<std::string> reported;  ///< suite::name
    std::string running;
    bool tests_done = false;
    std::optional<std::int64_t> main_code;
    bool failed = false;  ///< Some test, or the canary, failed.
};

std::string key_of(const ReportedTest& test) { return test.suite + "::" + test.name; }

TestStatus ctest_status(std::string_view status) {
    if (status == "passed") { return TestStatus::passed; }
    if (status == "skipped") { return TestStatus::skipped; }
    return status == "failed_assertion" ? TestStatus::failed_assertion : TestStatus::error;
}

bool is_the_canary(const std::string& suite, const std::string& name) {
    return suite == "AgentForgeCanary" || (suite.empty() && name == "AgentForgeCanary");
}

class RecordReader {
public:
    /// Returns what is wrong with the record. Empty: nothing.
    std::string read(std::string_view text, std::string_view secret) {
        std::int64_t number = 0;
        while (!text.empty()) {
            const auto end = text.find('\n');
            if (end == std::string_view::npos) { break; }  // The process ended while writing.
            const auto value = parse_json(sanitize_utf8(text.substr(0, end)), "record");
            const auto* line = value.ok() ? value->if_object() : nullptr;
            if (line == nullptr || ctest_text(*line, "s") != secret || ctest_number(*line, "i") != number++) {
                return "a record of a test program was not written by the kernel's recorder";
            }
            event(*line);
            text.remove_prefix(end + 1);
        }
        return {};
    }
    Recorded process;

private:
    void event(const json::object& line) {
        const auto type = ctest_text(line, "type");
        if (type == "process") {
            process.kind = ctest_text(line, "kind");
            process.argv = ctest_texts(line, "argv");
            process.sources = ctest_texts(line, "sources");
            process.canary = line.contains("canary") && line.at("canary") == json::value(true);
        } else if (type == "plan") {
            const auto test = test_of(line);
            if (find(key_of(test)) == nullptr) { process.planned.push_back(test); }
        } else if (type == "start") {
            process.running = key_of(test_of(line));
        } else if (type == "result") {
            result(line);
        } else if (type == "tests") {
            process.tests_done = true;
            process.running.clear();
        } else if (type == "main") {
            process.main_code = ctest_number(line, "code");
        }
    }
    ReportedTest test_of(const json::object& line) const {
        ReportedTest test;
        const auto suite = ctest_text(line, "suite");
        const auto name = ctest_text(line, "name");
        if (process.kind == "googletest") {
            gtest_names(suite, name, test);
        } else {
            test.suite = suite;
            test.name = name;
        }
        test.canary = is_the_canary(suite, name);
        test.file = ctest_text(line, "file");
        test.line = static_cast<std::uint64_t>(std::max<std::int64_t>(0, ctest_number(line, "line")));
        return test;
    }
    ReportedTest* find(const std::string& key) {
        const auto found =
            std::find_if(process.planned.begin(), process.planned.end(), [&](const auto& test) { return key_of(test) == key; });
        return found == process.planned.end() ? nullptr : &*found;
    }
    void result(const json::object& line) {
        auto test = test_of(line);
        const auto key = key_of(test);
        test.status = ctest_status(ctest_text(line, "status"));
        test.message = failure_text(ctest_text(line, "message"));
        if (test.canary && ctest_number(line, "failures") != canary_failures) { test.status = TestStatus::passed; }
        process.failed =
            process.failed || (test.status != TestStatus::passed && test.status != TestStatus::skipped) || test.canary;
        process.reported.insert(key);
        if (process.running == key) { process.running.clear(); }
        if (auto* planned = find(key)) {
            *planned = std::move(test);
        } else {
            process.planned.push_back(std::move(test));
        }
    }
};

struct Verdict {
    std::string status;
    std::string output;
    std::string message;
};

/// Returns the end of a test's output, for a message.
std::string tail_of(const std::string& output) {
    constexpr std::size_t wanted = 1500;
    auto text = failure_text(output);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) { text.pop_back(); }
    if (text.size() > wanted) { text = sanitize_utf8(std::string_view(text).substr(text.size() - wanted)); }
    return text;
}

/// Returns the first lines of a compiler's log that report an error, as many as fit into a message. Empty if there is none. The
/// lines between them show code.
std::string lines_of_errors(const std::string& log) {
    constexpr std::size_t most_bytes = 460;
    std::string errors;
    for (std::size_t at = 0; at < log.size();) {
        const std::size_t end = std::min(log.find('\n', at), log.size());
        const std::string line = log.substr(at, end - at);
        at = end + 1;
        if (line.find(" error: ") == std::string::npos) { continue; }
        const std::string shown = ellipsis(failure_text(line), most_bytes);
        if (!errors.empty() && errors.size() + shown.size() > most_bytes) { break; }
        errors += (errors.empty() ? "" : "\n") + shown;
    }
    return errors;
}

class CTestReport {
public:
    explicit CTestReport(const RunOutput& output) : output_(output) {}

    FormatResult read() {
        std::optional<json::object> list;
        for (const auto& [name, content] : output_.files) {
            if (name == "tests.json") {
                auto value = parse_json(sanitize_utf8(content), name);
                if (value.ok() && value->is_object()) { list = std::move(value->get_object()); }
            } else if (name == "ctest.xml") {
                verdicts(content);
            } else if (name == "programs.txt") {
                programs(content);
            } else if (name == "unlisted.txt") {
                unlisted(content);
            } else if (name == "scripts.txt") {
                scripts(content);
            } else if (name == "inputs.json") {
                inputs(content);
            } else if (name.ends_with(".log")) {
                logs_[name.substr(0, name.size() - 4)] = content;
            } else if (name.ends_with(".record")) {
                RecordReader reader;
                if (auto wrong = reader.read(content, output_.secret); !wrong.empty()) { problem(std::move(wrong)); }
                processes_.push_back(std::move(reader.process));
            }
        }
        const auto* tests = list ? list->if_contains("tests") : nullptr;
        if (tests == nullptr || !tests->is_array()) {
            problem("ctest's list of tests is missing");
            return std::move(result_);
        }
        if (!has_inputs_) { problem("the list of files that CMake read is missing"); }
        for (const auto& item : tests->get_array()) {
            if (item.is_object()) { test(item.get_object()); }
        }
        for (const auto& program : with_passes_) {
            if (!with_canary_.contains(program)) { problem("none of the kernel's canaries ran in " + program); }
        }
        return std::move(result_);
    }

private:
    void problem(std::string text) {
        if (result_.problem.empty()) { result_.problem = std::move(text); }
    }
    void programs(std::string_view text) {
        while (!text.empty()) {
            const auto end = text.find('\n');
            programs_.emplace(text.substr(0, end));
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        }
    }
    /// Lines of `target file`.
    void unlisted(std::string_view text) {
        std::string files;
        while (!text.empty()) {
            const auto end = text.find('\n');
            const auto line = text.substr(0, end);
            if (const auto space = line.find(' '); space != std::string_view::npos) {
                unlisted_[std::string(line.substr(0, space))] = std::string(line.substr(space + 1));
                files += (files.empty() ? "" : ", ") + std::string(line.substr(space + 1));
            }
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        }
        if (!files.empty()) {
            result_.notes.push_back("no list of the project names " + failure_text(files) +
                                    ": built as a separate program; add it to a CMakeLists.txt");
        }
    }
    /// Files that ctest reads besides its lists of tests. What a framework's own module adds there only lists tests.
    void scripts(std::string_view text) {
        for_each_line(text, [&](std::string_view line) {
            const auto begin = line.find_first_not_of(" \t");
            if (begin == std::string_view::npos || !line.substr(begin).starts_with("include(")) { return; }
            if (!line.ends_with("_include.cmake\")")) { result_.reads.emplace_back(line.substr(begin)); }
        });
    }
    /// Files that CMake read to make the build (its file API, cmakeFiles): from the tree those not known by name, and all that
    /// the build itself wrote.
    void inputs(const std::string& text) {
        has_inputs_ = true;
        const auto value = parse_json(sanitize_utf8(text), "inputs.json");
        const auto* object = value.ok() ? value->if_object() : nullptr;
        const auto* list = object == nullptr ? nullptr : object->if_contains("inputs");
        if (list == nullptr || !list->is_array()) { return problem("the list of files that CMake read is not readable"); }
        for (const auto& item : list->get_array()) {
            const auto* input = item.if_object();
            if (input == nullptr || input->contains("isCMake")) { continue; }
            const auto path = ctest_text(*input, "path");
            if (is_known(*input, path)) { continue; }
            result_.reads.push_back(path_in_tree(path, output_.root));
        }
    }
    /// True for an input that may be read without being reported.
    [[nodiscard]] bool is_known(const json::object& input, const std::string& path) const {
        const auto name = std::string_view(path).substr(path.rfind('/') + 1);
        if (input.contains("isGenerated")) {
            return name == "VerifyGlobs.cmake" || name == "cmake.verify_globs" || name == "CMakeSystem.cmake" ||
                   (name.starts_with("CMake") && name.ends_with("Compiler.cmake"));
        }
        if (input.contains("isExternal")) { return !is_writable(path); }
        return name == "CMakeLists.txt" || name.ends_with(".cmake") || name.ends_with(".in");
    }
    /// True if a build could have written a file there, outside the tree and its own folder.
    [[nodiscard]] bool is_writable(const std::string& path) const {
        constexpr std::string_view shared[]{"/tmp/", "/var/tmp/", "/dev/"};
        return (!output_.scratch.empty() && path.starts_with(output_.scratch)) ||
               std::any_of(std::begin(shared), std::end(shared), [&](const auto folder) { return path.starts_with(folder); });
    }
    /// A test file that no list contains and that does not compile.
    void not_compiled(const std::string& file, const std::string& log) {
        ReportedTest test;
        test.name = file;
        test.file = file;
        const std::string errors = lines_of_errors(log);
        test.message = "does not build: " + (errors.empty() ? tail_of(log) : errors);
        result_.tests.push_back(std::move(test));
    }
    void verdicts(const std::string& content) {
        const auto root = parse_xml(content);
        if (!root.ok()) { return problem("ctest's report cannot be read"); }
        for (const auto& each : root->children) {
            if (each.name != "testcase") { continue; }
            Verdict verdict{each.attribute("status"), "", ""};
            if (const auto* out = each.child("system-out")) { verdict.output = out->text; }
            for (const auto* kind : {"failure", "skipped", "error"}) {
                if (const auto* why = each.child(kind)) { verdict.message = why->attribute("message"); }
            }
            verdicts_[each.attribute("name")] = std::move(verdict);
        }
    }

    void test(const json::object& value) {
        auto name = ctest_text(value, "name");
        const auto command = ctest_texts(value, "command");
        const auto found = verdicts_.find(name);
        if (found == verdicts_.end()) {
            return add_result(name, TestStatus::error, "not run: ctest did not report how it ended", {});
        }
        const auto& verdict = found->second;
        invocation_ = invocation_of(value, command);
        const auto plain_name = name.starts_with(canary_prefix) ? name.substr(canary_prefix.size()) : name;
        if (const auto file = unlisted_.find(plain_name); file != unlisted_.end() && logs_.contains(plain_name)) {
            if (name == plain_name) { not_compiled(file->second, logs_.at(plain_name)); }
            return;
        }
        const bool canary = name.starts_with(canary_prefix);
        invocation_.provisional = unlisted_.contains(plain_name);
        if (invocation_.provisional && !canary) {
            // Named after its file, because the target's name is our own.
            const auto& file = unlisted_.at(plain_name);
            const auto stem = file.substr(file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1);
            name = stem.substr(0, stem.rfind('.'));
        }
        std::vector<const Recorded*> seen;
        for (const auto& process : processes_) {
            if (process.argv == command && (process.kind != "plain" || process.canary == canary)) { seen.push_back(&process); }
        }
        invocation_.recorded = invocation_.recorded || (!seen.empty() && !by_text(value));
        if (canary && !command.empty() && (seen.empty() || seen.front()->kind == "plain")) {
            return plain_canary(name, command.front(), verdict);
        }
        if (verdict.status == "disabled") { return add_result(name, TestStatus::skipped, "disabled", {}); }
        const bool by_itself = verdict.message.starts_with("SKIP_");
        // A framework's program that skipped a test did run, and its recorder has the results.
        if (verdict.status == "notrun" && !(by_itself && !seen.empty() && seen.front()->kind != "plain")) {
            return add_result(name, by_itself ? TestStatus::skipped : TestStatus::error,
                              by_itself ? "skipped" : "not run: " + verdict.message,
                              seen.empty() ? command : seen.front()->sources);
        }
        if (seen.empty()) { return unseen(name, command, verdict); }
        const bool judged_by_text = by_text(value);
        for (const auto* process : seen) {
            if (process->kind == "plain") {
                judged_by_text ? judged_by_ctest(name, verdict, *process) : plain(name, verdict, *process);
            } else if (judged_by_text) {
                add_result(
                    name, TestStatus::error,
                    "a test program of a framework is not measured if CTest expects it to fail (WILL_FAIL) or judges its output",
                    process->sources);
            } else {
                framework(name, verdict, *process);
            }
        }
    }

    void add_result(const std::string& name, TestStatus status, std::string message, const std::vector<std::string>& sources) {
        ReportedTest test;
        test.name = name;
        test.status = status;
        test.message = std::move(message);
        test.sources = sources;
        test.invocation = invocation_;
        result_.tests.push_back(std::move(test));
    }

    void plain_canary(const std::string& name, const std::string& program, const Verdict& verdict) {
        ReportedTest test;
        test.name = name;
        test.canary = true;
        test.status = verdict.status == "fail" ? TestStatus::failed_assertion : TestStatus::passed;
        with_canary_.insert(program);
        result_.tests.push_back(std::move(test));
    }

    /// A test that no recorder saw: another program (a script), or one of ours that ended before it began.
    void unseen(const std::string& name, const std::vector<std::string>& command, const Verdict& verdict) {
        const bool ours = !command.empty() && programs_.contains(command.front());
        if (ours) {
            return add_result(name, TestStatus::error, "the program ended before its main began\n" + tail_of(verdict.output), {});
        }
        const bool passed = verdict.status == "run";
        add_result(name, passed ? TestStatus::passed : TestStatus::failed_assertion, passed ? "" : tail_of(verdict.output),
                   command);
    }

    void judged_by_ctest(const std::string& name, const Verdict& verdict, const Recorded& process) {
        const bool passed = verdict.status == "run";
        if (passed) { with_passes_.insert(process.argv.front()); }
        add_result(name, passed ? TestStatus::passed : TestStatus::failed_assertion, passed ? "" : tail_of(verdict.output),
                   process.sources);
    }

    void plain(const std::string& name, const Verdict& verdict, const Recorded& process) {
        const auto text = tail_of(verdict.output);
        const auto add = [&](TestStatus status, const std::string& message) {
            add_result(name, status, message, process.sources);
        };
        if (verdict.status == "run") {
            if (!process.main_code) {
                return add(TestStatus::error, "the program ended with exit code 0, but not because its main returned");
            }
            if (*process.main_code != 0) {
                return problem("the program of " + name + " ended with exit code 0, though its main returned " +
                               std::to_string(*process.main_code));
            }
            with_passes_.insert(process.argv.front());
            return add(TestStatus::passed, "");
        }
        if (process.main_code && *process.main_code != 0) {
            return add(TestStatus::failed_assertion, text.empty() ? "main returned " + std::to_string(*process.main_code) : text);
        }
        if (process.main_code) { return add(TestStatus::error, "the program failed after its main had returned 0\n" + text); }
        const auto assertion = asserted_in(verdict.output);
        const bool own =
            assertion.empty() ? ends_with_check(verdict.output, process.sources) : is_one_of(assertion, process.sources);
        add(own ? TestStatus::failed_assertion : TestStatus::error, "the program ended before its main returned\n" + text);
    }

    /// Returns the file in glibc's `program: file:line: function: Assertion `…' failed.`. Empty: there is none.
    static std::string asserted_in(const std::string& output) {
        const auto mark = output.rfind(": Assertion `");
        if (mark == std::string::npos || output.find("' failed.", mark) == std::string::npos) { return {}; }
        const auto begin = output.rfind('\n', mark);
        std::string_view line(output);
        line = line.substr(begin == std::string::npos ? 0 : begin + 1, mark - (begin == std::string::npos ? 0 : begin + 1));
        // `program: file:line: function`: the file ends before the first `:digits:`.
        for (auto colon = line.find(':'); colon != std::string_view::npos; colon = line.find(':', colon + 1)) {
            const auto end = line.find_first_not_of("0123456789", colon + 1);
            if (end == std::string_view::npos || end == colon + 1 || line[end] != ':') { continue; }
            const auto file = line.substr(0, colon);
            const auto space = file.find(": ");
            return std::string(space == std::string_view::npos ? file : file.substr(space + 2));
        }
        return {};
    }

    static bool is_one_of(std::string_view file, const std::vector<std::string>& sources) {
        while (file.starts_with("../") || file.starts_with("./")) { file.remove_prefix(file.find('/') + 1); }
        return std::any_of(sources.begin(), sources.end(), [&](std::string_view source) {
            return source == file || source.ends_with("/" + std::string(file)) || file.ends_with("/" + std::string(source));
        });
    }

    /// True if one of the last lines is the message of a check that the project wrote itself: such a macro prints `file:line` of
    /// the test and calls `exit` or `abort`. A sanitizer's report also names lines of the test.
    static bool ends_with_check(std::string_view output, const std::vector<std::string>& sources) {
        constexpr int most_lines = 4;  // After file and line, some print both values.
        static const RE2 place(R"((?:^|[\s"'(\[])([^\s:"'(\[]+\.\w+):[0-9]+)");
        if (output.find("==ERROR: ") != std::string_view::npos || output.find(" runtime error: ") != std::string_view::npos) {
            return false;
        }
        for (int count = 0; count < most_lines && !output.empty();) {
            const auto begin = output.rfind('\n');
            const auto line = output.substr(begin == std::string_view::npos ? 0 : begin + 1);
            output = output.substr(0, begin == std::string_view::npos ? 0 : begin);
            std::string file;
            if (RE2::PartialMatch(line, place, &file) && is_one_of(file, sources)) { return true; }
            count += line.empty() ? 0 : 1;
        }
        return false;
    }

    void framework(const std::string& name, const Verdict& verdict, const Recorded& process) {
        const auto text = tail_of(verdict.output);
        const bool ended_well = verdict.status == "run";
        std::string after;  // Why nothing that passed in this process counts.
        if (ended_well && process.tests_done && process.failed) {
            return problem("the program of " + name +
                           " ended with exit code 0, though a test in it failed: its main does not return what the "
                           "framework says, or something forces the exit code");
        }
        if (!process.tests_done) {
            after = "the program ended before its tests were finished";
        } else if (!process.main_code) {
            after = "the program ended after its tests, but not because its main returned";
        } else if (!ended_well && !process.failed) {
            after = "the program failed after its tests had passed\n" + text;
        } else if (verdict.output.find("==ERROR: ") != std::string::npos) {
            after = "a sanitizer found an error in the program\n" + text.substr(std::min(text.find("==ERROR: "), text.size()));
        }
        for (auto test : process.planned) {
            const auto key = key_of(test);
            if (!process.reported.contains(key)) {
                test.status = TestStatus::error;
                test.message = process.running == key ? "the program ended in this test\n" + text
                                                      : "not run: the program ended in " + process.running;
                if (test.canary) { continue; }
            } else if (!after.empty() && test.status == TestStatus::passed && !test.canary) {
                test.status = TestStatus::error;
                test.message = after;
            }
            test.invocation = invocation_;
            if (test.canary) { with_canary_.insert(process.argv.front()); }
            if (test.status == TestStatus::passed && !test.canary) { with_passes_.insert(process.argv.front()); }
            result_.tests.push_back(std::move(test));
        }
    }

    /// True if a property makes CTest judge the test by its output, or expect it to fail, instead of using the program's own
    /// result.
    static bool by_text(const json::object& test) {
        return has_property(test, {"WILL_FAIL", "PASS_REGULAR_EXPRESSION", "FAIL_REGULAR_EXPRESSION"});
    }

    TestInvocation invocation_of(const json::object& test, const std::vector<std::string>& command) const {
        TestInvocation invocation;
        invocation.recorded = !command.empty() && programs_.contains(command.front()) && !by_text(test);
        invocation.how = "command: " + json::serialize(json::array(command.begin(), command.end())) + "\n";
        std::set<std::string> lines;
        const auto* properties = test.if_contains("properties");
        for (const auto& each : properties != nullptr && properties->is_array() ? properties->get_array() : json::array{}) {
            const auto* property = each.if_object();
            const auto name = property == nullptr ? std::string{} : ctest_text(*property, "name");
            if (name.empty() || name == "COST") { continue; }  // Duration of earlier runs, which decides the order.
            lines.insert(name + ": " + (property->contains("value") ? json::serialize(property->at("value")) : "") + "\n");
        }
        for (const auto& line : lines) { invocation.how += line; }
        return invocation;
    }

    static bool has_property(const json::object& test, const std::vector<std::string_view>& names) {
        const auto* properties = test.if_contains("properties");
        if (properties == nullptr || !properties->is_array()) { return false; }
        return std::any_of(properties->get_array().begin(), properties->get_array().end(), [&](const json::value& each) {
            if (!each.is_object()) { return false; }
            const auto name = ctest_text(each.get_object(), "name");
            const auto* value = each.get_object().if_contains("value");
            const bool off = value != nullptr && *value == json::value(false);
            return !off && std::find(names.begin(), names.end(), name) != names.end();
        });
    }

    const RunOutput& output_;
    FormatResult result_;
    std::map<std::string, Verdict> verdicts_;
    std::set<std::string, std::less<>> programs_;
    std::map<std::string, std::string> unlisted_;  ///< File by target.
    std::map<std::string, std::string> logs_;      ///< By target: the log of what did not compile.
    std::vector<Recorded> processes_;
    bool has_inputs_ = false;
    TestInvocation invocation_;  ///< Invocation of the test being reported.
    std::set<std::string> with_passes_;
    std::set<std::string> with_canary_;
};

}  // namespace

FormatResult parse_ctest(const RunOutput& output) { return CTestReport(output).read(); }

}  // namespace agentforge::kernel
