// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/removal_check.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include <re2/re2.h>

#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "gates/language/inline_tests.hpp"
#include "gates/removal/asked_changes.hpp"
#include "gates/removal/changed_text.hpp"
#include "gates/removal/dropped_errors.hpp"
#include "gates/removal/left_behind.hpp"
#include "gates/removal/removal_review.hpp"
#include "gates/test_quality/same_code.hpp"
#include "gates/test_quality/test_quality.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t largest_file = 1UL << 20U;
constexpr std::size_t most_text = 32UL << 20U;  ///< Of unchanged sources. Beyond it, names in the rest count as vanished.

std::string without_tests(const Language& language, const std::string& path, const std::string& text) {
    return language.may_hold_tests(path) ? split_inline_tests(text, language.inline_begins).lines : text;
}

/// A change by its texts.
struct ChangedTree {
    std::vector<ChangedText> files;  ///< Sources, and what is neither test nor documentation.
    std::vector<std::string> paths;  ///< All.
    bool code_changed = false;
};

Result<ChangedTree> changed_tree(TreeCheckout& checkout, const Language& language, const GateCall& call) {
    ChangedTree result;
    AF_TRY(const auto changes, checkout.changes(call.baseline->base_tree, call.tree));
    for (const auto& change : changes) {
        result.paths.push_back(change.path);
        if (language.belongs_to_tests(change.path) || is_documentation(language, change.path)) { continue; }
        const auto& old = change.old_path.empty() ? change.path : change.old_path;
        AF_TRY(const auto before, checkout.file(call.baseline->base_tree, old));
        AF_TRY(const auto now, checkout.file(call.tree, change.path));
        const bool is_source = language.sources.matches(change.path) && before.value_or("").size() <= largest_file &&
                               now.value_or("").size() <= largest_file && is_valid_utf8(before.value_or("")) &&
                               is_valid_utf8(now.value_or(""));
        ChangedText text{change.path, before.value_or(""), now.value_or(""), now.value_or(""), is_source};
        if (is_source) {
            text.before = without_tests(language, old, text.before);
            text.now = without_tests(language, change.path, text.now);
        }
        const bool same = is_source && change.status == 'M' && same_code(text.before, text.now, language.code);
        result.code_changed = result.code_changed || !same;
        result.files.push_back(std::move(text));
    }
    return result;
}

/// Returns the sources that the change does not touch.
Result<std::vector<std::string>> other_sources(TreeCheckout& checkout, const Language& language, const GateCall& call,
                                               const std::vector<std::string>& changed) {
    std::vector<std::string> texts;
    std::size_t size = 0;
    const std::set<std::string> known(changed.begin(), changed.end());
    AF_TRY(const auto files, checkout.files(call.tree));
    for (const auto& file : files) {
        if (known.contains(file) || !language.sources.matches(file) || language.belongs_to_tests(file)) { continue; }
        AF_TRY(const auto text, checkout.file(call.tree, file));
        if (!text || text->size() > largest_file || !is_valid_utf8(*text)) { continue; }
        size += text->size();
        if (size > most_text) { break; }
        texts.push_back(without_tests(language, file, *text));
    }
    return texts;
}

RemovalReview::Reaction reaction_of(const TestRun& run, const RemovalTests& tests, const std::vector<std::string>& held_out) {
    using Reaction = RemovalReview::Reaction;
    if (run.crashed) { return Reaction::noticed; }
    if (run.not_built) { return Reaction::unknown; }  // No test has seen it.
    if (!run.trusted) { return Reaction::unknown; }
    const std::set<std::string> files(tests.files.begin(), tests.files.end());
    const auto now = [&](const std::string& id) {
        return std::ranges::find_if(run.tests, [&](const TestOutcome& test) { return test.id == id; });
    };
    const bool passes = std::ranges::all_of(tests.passing, [&](const std::string& id) {
        const auto test = now(id);
        return test == run.tests.end() ? !files.contains(id.substr(0, id.find("::"))) : test->status == TestStatus::passed;
    });
    const bool held_out_pass = std::ranges::none_of(run.tests, [&](const TestOutcome& test) {
        return is_failure(test.status) && std::ranges::find(held_out, test.file) != held_out.end();
    });
    return passes && held_out_pass ? Reaction::unnoticed : Reaction::noticed;
}

/// Runs the tests on altered trees, until the time is over.
class AlteredTreeRuns {
public:
    AlteredTreeRuns(LanguageCommands& commands, const Language& language, const GateCall& call, const RemovalTests& tests)
        : commands_(commands), language_(language), call_(call), tests_(tests), held_out_(call.baseline->held_out) {
        constexpr int patience = 10;  // What was not tried is not judged, so a busy machine must not end this early.
        until_ = std::chrono::steady_clock::now() +
                 patience * std::max<std::chrono::milliseconds>(std::chrono::seconds(30), tests.suite_time);
        // Held-out tests may be the only ones that notice.
        selection_.files = tests.files;
        selection_.files.insert(selection_.files.end(), held_out_.files.begin(), held_out_.files.end());
        selection_.purpose = gate_command::for_mutants;
    }

    [[nodiscard]] bool out_of_time() const { return left() <= std::chrono::seconds(0); }
    /// Runs them with other texts of these files.
    Result<RemovalReview::Reaction> run(const std::map<std::string, std::string>& files, RemovalEvidence& evidence,
                                        const Stop& stop) {
        std::error_code none;
        if (std::ranges::any_of(files, [&](const auto& file) {
                return std::filesystem::is_symlink(commands_.checkout().path() / file.first, none);
            })) {
            return RemovalReview::Reaction::unknown;
        }
        selection_.instead = files;
        selection_.at_most = std::max(std::chrono::seconds(5), left());
        const auto& tree = held_out_.files.empty() ? call_.tree : held_out_.tree;
        AF_TRY(const auto run, commands_.run_tests(language_, tree, selection_, stop));
        ++evidence.tried;
        return reaction_of(run, tests_, held_out_.files);
    }

private:
    [[nodiscard]] std::chrono::seconds left() const {
        return std::chrono::duration_cast<std::chrono::seconds>(until_ - std::chrono::steady_clock::now());
    }

    LanguageCommands& commands_;
    const Language& language_;
    const GateCall& call_;
    const RemovalTests& tests_;
    const HeldOut& held_out_;
    std::chrono::steady_clock::time_point until_;
    TestSelection selection_;
};

Result<void> put_lines_back(AlteredTreeRuns& runs, std::int64_t most, RemovalReview& review, RemovalEvidence& evidence,
                            const Stop& stop) {
    while (evidence.tried < most) {
        const auto next = review.next();
        if (!next || runs.out_of_time()) { break; }
        AF_TRY(const auto reaction, runs.run(next->files, evidence, stop));
        review.record(reaction);
    }
    return {};
}

/// Gives other names to what the change leaves of what the request asks to remove.
Result<void> rename_what_is_left(AlteredTreeRuns& runs, const std::vector<LeftName>& names, RemovalEvidence& evidence,
                                 const Stop& stop) {
    for (const auto& left : names) {
        if (runs.out_of_time()) { break; }
        AF_TRY(const auto reaction, runs.run(left.files, evidence, stop));
        if (reaction != RemovalReview::Reaction::unnoticed) { continue; }
        evidence.left_behind.push_back(left.lines);
        evidence.left_behind.back().now = left.name;
    }
    return {};
}

/// Puts a statement that ends the program into each branch that drops an error, and runs the tests. A branch where all tests
/// still pass is noted as evidence: no test reaches it.
Result<void> end_dropped_errors(AlteredTreeRuns& runs, const std::vector<DroppedError>& branches, RemovalEvidence& evidence,
                                const Stop& stop) {
    constexpr std::size_t most = 3;
    for (std::size_t at = 0; at < std::min(most, branches.size()) && !runs.out_of_time(); ++at) {
        AF_TRY(const auto reaction, runs.run(branches[at].files, evidence, stop));
        if (reaction == RemovalReview::Reaction::unnoticed) { evidence.dropped_errors.push_back(branches[at].lines); }
    }
    return {};
}

/// True if a changed document is named by the request.
bool names_changed_document(const RemovalRequest& request, const Language& language, const std::vector<std::string>& paths) {
    return std::ranges::any_of(paths, [&](const std::string& path) {
        const auto name = path.substr(path.rfind('/') + 1);
        return is_documentation(language, path) && request.names(name.substr(0, name.find('.')));
    });
}

std::string without_white_space(std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; });
    return text;
}

}  // namespace

Result<RemovalEvidence> check_removal(LanguageCommands& commands, const Language& language, const GateCall& call,
                                      const RemovalTests& tests, const Stop& stop) {
    RemovalEvidence evidence;
    const RemovalRequest request(call.baseline->request);
    auto& checkout = commands.checkout();
    const bool is_whole = checkout.top() == checkout.path();  // Else the rest may be in another part of the tree.
    AF_TRY(const auto change, changed_tree(checkout, language, call));
    if (!change.code_changed) {
        evidence.changes_no_code = is_whole && !change.paths.empty() && !request.is_about_text() &&
                                   !names_changed_document(request, language, change.paths);
        return evidence;
    }
    AF_TRY(const auto others, other_sources(checkout, language, call, change.paths));
    RemovalReview review(request, language.code, change.files, others);
    const bool adds_nothing = adds_no_code(change.files, language.code);
    bool also_makes = false;
    for (const auto& making : request.also_makes()) {
        if (review.removes_name_with(making.verb)) { continue; }
        also_makes = true;
        if (is_whole && evidence.made_nothing.empty() && makes_nothing_of(making, change.files, others, language.code)) {
            evidence.made_nothing = making.verb;
            if (!making.calls.empty()) { evidence.made_nothing += " " + *making.calls.begin(); }
        }
    }
    evidence.only_removes = adds_nothing && !also_makes;
    if (commands.settings().mutants > 0 && !tests.files.empty()) {
        AF_CHECK(checkout.check_out(call.tree));
        constexpr std::int64_t most = 10;
        AlteredTreeRuns runs(commands, language, call, tests);
        AF_CHECK(put_lines_back(runs, most, review, evidence, stop));
        evidence.unnoticed = review.unaccounted();
        constexpr std::size_t most_names = 3;
        AF_CHECK(rename_what_is_left(runs, names_left_behind(request, change.files, language.code, most_names), evidence, stop));
    }
    const bool about_code = !request.calls_it_unused() && !request.is_about_text();
    if (is_whole && about_code) { evidence.left_out = function_left_out(request, change.files, others, language.code); }
    evidence.removed_by_name = review.removed_by_name(request);
    evidence.removed_nothing = also_makes && is_whole && about_code && review.leaves_what_was_asked();
    evidence.shows_what_was_asked = !adds_nothing || !about_code || review.shows_what_was_asked();
    return evidence;
}

Result<RemovalEvidence> check_lost_checks(LanguageCommands& commands, const Language& language, const GateCall& call,
                                          const RemovalTests& tests, const Stop& stop) {
    constexpr std::int64_t most = 3;
    RemovalEvidence evidence;
    evidence.asked_to_remove = false;
    const RemovalRequest request(call.baseline->request);
    // "Refuse duplicate names" calls nothing unused.
    const bool about_unused = request.calls_it_unused() && also_removes(call.baseline->request);
    if (request.tidies() || about_unused || commands.settings().mutants == 0 || tests.files.empty()) { return evidence; }
    auto& checkout = commands.checkout();
    AF_TRY(auto change, changed_tree(checkout, language, call));
    if (!change.code_changed) { return evidence; }
    const auto dropped = dropped_errors(change.files, language.code);
    for (auto& file : change.files) { file.before = with_new_names(file.before, file.now, call.baseline->request); }
    AF_TRY(const auto others, other_sources(checkout, language, call, change.paths));
    RemovalReview review(request, language.code, change.files, others);
    AF_CHECK(checkout.check_out(call.tree));
    AlteredTreeRuns runs(commands, language, call, tests);
    AF_CHECK(put_lines_back(runs, most, review, evidence, stop));
    evidence.unnoticed = review.unaccounted();
    AF_CHECK(end_dropped_errors(runs, dropped, evidence, stop));
    return evidence;
}

Result<std::optional<std::string>> missing_documentation(TreeCheckout& whole, const GateCall& call) {
    const auto& baseline = *call.baseline;
    static const RE2 changelog(R"((?i)change-?log|release notes)");
    const bool asked = asks_for_documentation(baseline.request) || baseline.test_suite.empty();
    if (!asked || RE2::PartialMatch(baseline.request, changelog)) { return std::optional<std::string>(); }
    AF_TRY(const auto changes, whole.changes(baseline.base_tree, call.tree));
    for (const auto& change : changes) {
        const bool locked = std::ranges::find(baseline.test_files, change.path) != baseline.test_files.end();
        if (change.path == "CHANGELOG.md" || locked) { continue; }
        AF_TRY(const auto before, whole.file(baseline.base_tree, change.old_path.empty() ? change.path : change.old_path));
        AF_TRY(const auto now, whole.file(call.tree, change.path));
        if (change.status != 'M' || without_white_space(before.value_or("")) != without_white_space(now.value_or(""))) {
            return std::optional<std::string>();
        }
    }
    if (changes.empty()) { return std::optional<std::string>(); }
    return std::optional<std::string>(
        "The request asks for documentation, and nothing but the entry in CHANGELOG.md was written; write what the request asks for.");
}

}  // namespace agentforge::kernel
