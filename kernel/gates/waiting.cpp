// SPDX-License-Identifier: Apache-2.0
// Tests that do not load before what they test exists: nobody declared it, or a language has no way to. They wait for GREEN, where the bodies of what
// was written are taken out again to see them fail.
#include <algorithm>

#include <re2/re2.h>

#include "gates/measure.hpp"
#include "gates/stubs.hpp"

namespace agentforge::kernel {
namespace {

/// The name that a message misses, as far as it says one: what stands behind `named`, `undefined:` or javac's `symbol:`, else the first in quotes.
std::string missing_name(std::string_view message) {
    static const RE2 said(R"((?:\bnamed |\bname |undefined: |undefined reference to |symbol:\s+\w+\s+)(?:‘|'|"|`)?([\w.:$]+))");
    static const RE2 called(R"(([\w$]+)\)? is not a (?:function|constructor)$)");
    static const RE2 quoted(R"((?:‘|'|"|`)(?:(?:class|struct|const) )*([\w.:$/-]+))");
    const re2::StringPiece text(message.data(), message.size());
    std::string name;
    if (!RE2::PartialMatch(text, said, &name) && !RE2::PartialMatch(text, called, &name)) { RE2::PartialMatch(text, quoted, &name); }
    while (!name.empty() && (name.back() == ':' || name.back() == '.')) { name.pop_back(); }
    return name.substr(name.find_last_of(".:/") + 1);
}

/// The parts of a specification that name code. Its prose may have any word.
std::string what_is_to_be_written(const json::object& specification) {
    std::string text;
    for (const char* part : {"interfaces", "components", "files_to_create", "files_to_modify"}) {
        if (const auto* found = specification.if_contains(part)) { text += json::serialize(*found) + "\n"; }
    }
    return text;
}

/// A name that stands nowhere in them is the test's own mistake: a helper or an import that it forgot.
bool is_specified(const std::string& name, const std::string& specification) {
    return name.empty() || RE2::PartialMatch(specification, R"(\b)" + RE2::QuoteMeta(name) + R"(\b)");
}

/// Each line of what a compiler said misses a name that the specification has.
bool only_misses_what_is_specified(std::string_view message, const RE2& undeclared, const std::string& specification) {
    while (!message.empty()) {
        const auto end = std::min(message.find('\n'), message.size());
        const auto line = message.substr(0, end);
        const bool says_something = line.find_first_not_of(" \t\r") != std::string_view::npos;
        if (says_something && (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), undeclared) || !is_specified(missing_name(line), specification))) { return false; }
        message.remove_prefix(std::min(message.size(), end + 1));
    }
    return true;
}

bool is_broken_file(const TestOutcome& test) { return test.id == test.file && test.status == TestStatus::error; }

/// A file that came to a function without its body while it was loaded fails with all of its tests.
void fail_at_loading(TestRun& run, const TestRun& whole, const std::string& marker) {
    std::set<std::string> files;
    for (const auto& test : run.tests) {
        if (is_broken_file(test) && test.message.find(marker) != std::string::npos) { files.insert(test.file); }
    }
    std::erase_if(run.tests, [&](const TestOutcome& test) { return files.contains(test.file); });
    for (auto test : whole.tests) {
        if (!files.contains(test.file)) { continue; }
        test.status = TestStatus::failed_skeleton;
        test.message = "its file does not load without the bodies of the change";
        run.tests.push_back(std::move(test));
    }
}

}  // namespace

bool misses_what_is_specified(const Language& language, const json::object& specification, std::string_view message) {
    const RE2 undeclared(language.undeclared, RE2::Quiet);
    if (language.undeclared.empty() || message.empty()) { return false; }
    return only_misses_what_is_specified(message, undeclared, what_is_to_be_written(specification));
}

std::set<std::string> waiting_files(const Language& language, const json::object& specification, const TestRun& run) {
    std::set<std::string> files;
    if (!run.believed) { return files; }
    for (const auto& test : run.tests) {
        if (!is_broken_file(test)) { continue; }
        if (!misses_what_is_specified(language, specification, test.message)) { return {}; }
        files.insert(test.file);
    }
    return files;
}

Result<std::map<std::string, std::string>> Measure::without_bodies(const Language& language, const std::string& red_tree, const std::string& tree, const Stop& stop) {
    std::map<std::string, std::string> marked;
    json::object contents;
    json::object numbers;
    AF_TRY(const auto changes, checkout_->changes(red_tree, tree));
    for (const auto& change : changes) {
        if (change.status == 'D' || !language.sources.matches(change.path) || language.belongs_to_tests(change.path)) { continue; }
        AF_TRY(const auto now, checkout_->file(tree, change.path));
        AF_TRY(const auto before, checkout_->file(red_tree, change.old_path.empty() ? change.path : change.old_path));
        if (!now) { continue; }
        const auto lines = changed_line_numbers(*now, before.value_or(""));
        if (language.commands.contains("stubs")) {
            contents[change.path] = *now;
            numbers[change.path] = json::array(lines.begin(), lines.end());
            continue;
        }
        auto text = mark_functions_at(*now, language.code, language.stubs, lines, language.skeleton_marker);
        if (text != *now) { marked.emplace(change.path, std::move(text)); }
    }
    return contents.empty() ? marked : marked_by_command(language, {{"contents", std::move(contents)}, {"lines", std::move(numbers)}}, stop);
}

Result<TestRun> Measure::run_without_bodies(const Language& language, const std::string& red_tree, const std::string& tree, const GreenEvidence& evidence, const Stop& stop) {
    TestRun nothing;
    nothing.believed = true;
    const auto& files = evidence.red_files;
    const bool loads = evidence.run.believed && std::none_of(evidence.run.tests.begin(), evidence.run.tests.end(), [&](const TestOutcome& test) {
        return is_broken_file(test) && std::find(files.begin(), files.end(), test.file) != files.end();
    });
    if (!loads) { return nothing; }
    AF_TRY(auto marked, without_bodies(language, red_tree, tree, stop));
    const TestSelection selection{.files = files, .names = {}, .judged = true, .timeout = {}, .purpose = "without-bodies"};
    commands_->stand_in(std::move(marked));
    auto run = commands_->run_tests(language, tree, selection, stop);
    commands_->stand_in({});
    if (run.ok()) { fail_at_loading(*run, evidence.run, language.skeleton_marker); }
    return run;
}

}  // namespace agentforge::kernel
