// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/rules.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <re2/re2.h>

#include "base/json_fields.hpp"
#include "base/requirement_text.hpp"
#include "base/text.hpp"
#include "gates/gate_runner.hpp"
#include "gates/stubs/stubs.hpp"
#include "gates/test_quality/test_quality.hpp"

namespace agentforge::kernel {
namespace {

/// Converts GoogleTest's own names of parametrised tests to those of the gates: `Sizes/Suffix::IsKnown/0` to
/// `Suffix::IsKnown[Sizes/0]`, and the typed `Handle/0::Moves` to `Handle::Moves[0]`. Returns other names unchanged.
std::string with_parameters_in_brackets(const std::string& name) {
    static const RE2 by_value(R"((\w+)/(\w+)::(\w+)/(\w+))");
    static const RE2 by_type(R"((?:(\w+)/)?(\w+)/(\d+)::(\w+))");
    std::string instance;
    std::string suite;
    std::string test;
    std::string parameter;
    if (RE2::FullMatch(name, by_value, &instance, &suite, &test, &parameter)) {
        return suite + "::" + test + "[" + instance + "/" + parameter + "]";
    }
    if (RE2::FullMatch(name, by_type, &instance, &suite, &parameter, &test)) {
        return suite + "::" + test + "[" + (instance.empty() ? "" : instance + "/") + parameter + "]";
    }
    return name;
}

std::string whole_id(const DeclaredTest& test) {
    auto name = test.name;
    if (const auto prefix = test.file + "::"; name.compare(0, prefix.size(), prefix) == 0) { name.erase(0, prefix.size()); }
    if (name.find("::") == std::string::npos) {
        const auto bracket = name.find('[');
        const auto dot = name.find('.');
        if (dot != std::string::npos && dot < bracket) { name.replace(dot, 1, "::"); }
    }
    return test.file + "::" + with_parameters_in_brackets(name);
}

/// Returns the id that a test will have that no run has shown yet. `suite > test` names suites; a name with spaces is a text, in
/// which a dot means nothing.
std::string expected_id(const DeclaredTest& test) {
    auto name = test.name;
    if (const auto prefix = test.file + "::"; name.starts_with(prefix)) { name.erase(0, prefix.size()); }
    const bool is_text = name.find(' ') != std::string::npos;
    for (const std::string_view separator : {" > ", " \u203a "}) {
        for (auto at = name.find(separator); at != std::string::npos; at = name.find(separator, at + 2)) {
            name.replace(at, separator.size(), "::");
        }
    }
    return is_text ? test.file + "::" + name : whole_id(test);
}

/// Converts `pkg.FooTest$Inner.adds()` and `FooTest#adds` to `FooTest::Inner::adds`, in a file FooTest.java. Returns nothing if
/// the name is not such a path.
std::string as_path_of_classes(const DeclaredTest& test, const std::string& name) {
    static const RE2 dotted(R"(([\pL\pN_]+(?:[.$#:]+[\pL\pN_]+)+)(?:\(\))?(\[.*\])?)");
    static const RE2 separator(R"([.$#:]+)");
    std::string path;
    std::string parameters;
    if (!RE2::FullMatch(name, dotted, &path, &parameters)) { return {}; }
    RE2::GlobalReplace(&path, separator, "::");
    const auto slash = test.file.rfind('/');
    const auto stem = test.file.substr(slash == std::string::npos ? 0 : slash + 1,
                                       test.file.rfind('.') - (slash == std::string::npos ? 0 : slash + 1));
    if (const auto package = path.find("::" + stem + "::"); package != std::string::npos) { path.erase(0, package + 2); }
    return path + parameters;
}

/// Returns the ids that a declared name may refer to: as written, `Class.test` as `Class::test`, and `suite > test` as
/// `suite::test`.
std::vector<std::string> spellings(const DeclaredTest& test) {
    auto name = test.name;
    if (const auto prefix = test.file + "::"; name.compare(0, prefix.size(), prefix) == 0) { name.erase(0, prefix.size()); }
    std::vector<std::string> result{test.file + "::" + name, whole_id(test)};
    for (const std::string_view separator : {" > ", " \u203a "}) {
        auto split = name;
        for (auto at = split.find(separator); at != std::string::npos; at = split.find(separator, at + 2)) {
            split.replace(at, separator.size(), "::");
        }
        if (split != name) { result.push_back(test.file + "::" + split); }
    }
    if (const auto path = as_path_of_classes(test, name); !path.empty()) { result.push_back(test.file + "::" + path); }
    // Go's sub-tests count as part of their test.
    if (test.file.ends_with("_test.go")) { result.push_back(test.file + "::" + name.substr(0, name.find('/'))); }
    return result;
}

bool means(const std::string& declared, const std::string& id) {
    return id == declared ||
           (id.size() > declared.size() && id.compare(0, declared.size(), declared) == 0 && id[declared.size()] == '[');
}

/// Matches `file::Outer::Inner::name[parameters]` with some outer classes omitted: `file::Inner::name`, `file::name`.
template <typename Means>
bool means_within_classes(const std::string& declared, const std::string& id, Means&& is_it) {
    const auto first = id.find("::");
    const auto last = id.rfind("::", id.find('['));
    if (first == std::string::npos) { return false; }
    for (auto next = first; next < last;) {
        next = id.find("::", next + 2);
        if (is_it(declared, id.substr(0, first) + id.substr(next))) { return true; }
    }
    return false;
}

/// Matches the cases that a framework names after a test and a type, a value or a number: `name<int>` of doctest and Boost.Test,
/// `name - int` of Catch2, `name::_0` of Boost.Test's data tests, and `name::case_1` of Rust's rstest.
bool means_case(const std::string& declared, const std::string& id) {
    static const RE2 in_cpp(R"([^:]*\.(?:c|cc|cpp|cxx)::.*)");
    static const RE2 cpp_case(R"((?s)<.+>| - .+|::_\d+)");
    static const RE2 rust_case(R"(::case_\d+(?:_\w+)?)");
    if (!id.starts_with(declared)) { return false; }
    const re2::StringPiece rest(id.data() + declared.size(), id.size() - declared.size());
    return RE2::FullMatch(rest, RE2::FullMatch(id, in_cpp) ? cpp_case : rust_case);
}

/// Matches a title that JavaScript's `test.each` or a template literal filled in: `adds %i`, `adds $a` and `adds ${a}` mean `adds
/// 1`.
bool means_filled_title(const std::string& declared, const std::string& id) {
    static const RE2 in_javascript(R"([^:]*\.[cm]?[jt]sx?::.*)");
    static const RE2 placeholder(R"((%[sdifjoOp#$]|\$[A-Za-z_][\w.]*|\$\{[^}]*\}))");
    if (!RE2::FullMatch(declared, in_javascript) || !RE2::PartialMatch(declared, placeholder)) { return false; }
    std::string pattern;
    re2::StringPiece rest(declared);
    for (re2::StringPiece found; placeholder.Match(rest, 0, rest.size(), RE2::UNANCHORED, &found, 1);) {
        const auto before = static_cast<std::size_t>(found.data() - rest.data());
        pattern += RE2::QuoteMeta(rest.substr(0, before)) + "(?s:.+)";
        rest.remove_prefix(before + found.size());
    }
    return RE2::FullMatch(id, pattern + RE2::QuoteMeta(rest));
}

/// Returns the id with the types at its end in one spelling: compilers call a `long` a `long int`, and `std::string` by its
/// template.
std::string with_plain_types(const std::string& id) {
    static const RE2 types(R"((?s)(.*?)(<.+>| - [^-]+))");
    static const RE2 qualifier(R"((?:\b\w+|\(anonymous namespace\)|\{anonymous\})::)");
    static const RE2 of_characters(R"(\bbasic_string(_view)?<char(?:, char_traits<char>)?(?:, allocator<char> ?)?>)");
    static const RE2 allocator(R"(, allocator<[^<>]*(?:<[^<>]*>)?[^<>]*>)");
    static const RE2 integer(R"(\b(long|short|unsigned)\s+int\b)");
    static const RE2 spaces(R"(\s+([<>,*&])|([<>,*&])\s+)");
    std::string name;
    std::string of;
    const auto begin = id.find("::");
    if (begin == std::string::npos || !RE2::FullMatch(id.substr(begin), types, &name, &of)) { return id; }
    for (const auto& [pattern, replacement] : {std::pair<const RE2*, std::string_view>{&qualifier, ""},
                                               {&of_characters, R"(string\1)"},
                                               {&allocator, ""},
                                               {&integer, R"(\1)"},
                                               {&spaces, R"(\1\2)"}}) {
        RE2::GlobalReplace(&of, *pattern, {replacement.data(), replacement.size()});
    }
    return id.substr(0, begin) + name + of;
}

/// Matches a case that is declared with the same types in other words.
bool means_same_types(const std::string& declared, const std::string& id) {
    return (declared.ends_with(">") || declared.find(" - ") != std::string::npos) &&
           with_plain_types(declared) == with_plain_types(id);
}

std::set<std::string> ids_with(const std::vector<TestOutcome>& tests, TestStatus status) {
    std::set<std::string> ids;
    for (const auto& test : tests) {
        if (test.status == status) { ids.insert(test.id); }
    }
    return ids;
}

const TestOutcome* find_test(const std::vector<TestOutcome>& tests, const std::string& id) {
    const auto found = std::find_if(tests.begin(), tests.end(), [&](const TestOutcome& test) { return test.id == id; });
    return found == tests.end() ? nullptr : &*found;
}

bool fails_as_red_must(const TestOutcome& test) {
    return test.status == TestStatus::failed_assertion || test.status == TestStatus::failed_skeleton;
}

json::array list(const std::vector<std::string>& values) { return json::array(values.begin(), values.end()); }

std::string place(const TestOutcome& test) {
    return test.line == 0 ? std::string{} : " (line " + std::to_string(test.line) + ")";
}

/// Describes a file that lacks a named test: the tests that it has, and files that did not load.
std::string collected_instead(const std::vector<TestOutcome>& tests, const std::string& file) {
    constexpr std::size_t most = 8;
    std::vector<std::string> here;
    std::vector<std::string> elsewhere;
    std::string broken;
    for (const auto& test : tests) {
        if (test.status == TestStatus::not_collected) { continue; }
        if (test.id == test.file) {
            if (broken.empty() && test.status == TestStatus::error) {
                broken = test.file + place(test) + ": " + first_line(test.message);
            }
        } else {
            (test.file == file ? here : elsewhere)
                .push_back(test.file == file && test.id.starts_with(file + "::") ? test.id.substr(file.size() + 2) : test.id);
        }
    }
    const auto listed = [&](const std::vector<std::string>& names) {
        std::string text;
        for (std::size_t at = 0; at < std::min(most, names.size()); ++at) { text += (at == 0 ? "" : ", ") + names[at]; }
        return text + (names.size() > most ? " and " + std::to_string(names.size() - most) + " more" : "");
    };
    auto said = here.empty() ? "No test was collected in " + file : "Collected in " + file + ": " + listed(here);
    if (here.empty() && !elsewhere.empty()) { said += "; elsewhere: " + listed(elsewhere); }
    return said + "." + (broken.empty() ? "" : " This did not load: " + broken + ".");
}

/// Returns why a file's tests were not collected, if the run says so.
const TestOutcome* broken_file(const std::vector<TestOutcome>& tests, const std::string& file) {
    const auto* found = find_test(tests, file);
    return found != nullptr && found->status == TestStatus::error ? found : nullptr;
}

class RedJudge {
public:
    explicit RedJudge(const RedEvidence& evidence) : evidence_(evidence) {
        verdict_.tests = evidence.run.tests;
        std::erase_if(verdict_.tests, [&](const TestOutcome& test) {
            return test.id == test.file && evidence.waiting_files.contains(test.file);
        });
    }

    Verdict judge() {
        verdict_.blocking = evidence_.problems;
        files();
        if (evidence_.declared.empty()) {
            block("The test suite names no tests; write tests for the specification and list them in test_files.");
        }
        if (!evidence_.run.trusted && !(evidence_.run.tests.empty() && evidence_.run.distrust.empty())) {
            block("The test run is not trusted: " + evidence_.run.distrust + ".");
            valid_ = false;
        }
        for (const auto& test : evidence_.declared) { declared(test); }
        undeclared();
        removed();
        changed();
        coverage();
        facts();
        return std::move(verdict_);
    }

private:
    void block(std::string issue) { verdict_.blocking.push_back(std::move(issue)); }

    void files() {
        for (const auto& path : evidence_.foreign_paths) {
            block(path +
                  " was changed, but this stage may change only tests and the skeleton of the specified interfaces; revert it.");
        }
        for (const auto& path : evidence_.deleted_paths) {
            const auto in_it = [&](const TestOutcome& test) { return test.file == path; };
            if (std::ranges::none_of(evidence_.base_tests, in_it) &&
                std::ranges::find(evidence_.foreign_paths, path) == evidence_.foreign_paths.end()) {
                block(path + " was deleted, but no test ran from it; this stage may delete only test files. Restore it.");
            }
        }
    }

    [[nodiscard]] std::string how_it_loads(const std::string& message) const {
        if (const std::string name = unimported_name(message, evidence_.declared_names); !name.empty()) {
            return "`" + name +
                   "` is declared, but this file looks for it elsewhere: import it, or put the file into the package of the code.";
        }
        return "A test file must load before the implementation exists; declare what it imports in specification.interfaces "
               "or correct the import.";
    }

    void declared(const DeclaredTest& test) {
        const auto found = outcomes_of(test, evidence_.run.tests);
        if (found.empty() && evidence_.waiting_files.contains(test.file)) { return waiting(test); }
        if (found.empty()) {
            valid_ = false;
            const auto* broken = broken_file(evidence_.run.tests, test.file);
            const auto id = whole_id(test);
            if (broken != nullptr) {
                if (reported_.insert(test.file).second) {
                    block(test.file + place(*broken) + " could not be loaded, so none of its tests ran: " +
                          first_line(broken->message) + ". " + how_it_loads(first_line(broken->message)));
                }
            } else {
                block(id + " was named but not collected; write it, or correct its name. " +
                      collected_instead(evidence_.run.tests, test.file));
            }
            verdict_.tests.push_back(
                {id, test.name, test.file, 0, TestStatus::not_collected, broken != nullptr ? broken->message : "not collected"});
            return;
        }
        for (const auto* outcome : found) {
            named_.insert(outcome->id);
            test.kind == TestKind::guard ? guard(*outcome) : fresh(*outcome);
            if (!test.requirement.empty()) {
                mapping_[test.requirement].push_back(outcome->id);
                const bool failed =
                    outcome->status != TestStatus::passed || evidence_.failed_before_signature.contains(outcome->id);
                if (test.kind == TestKind::fresh && failed) { with_fresh_.insert(test.requirement); }
            }
        }
    }

    /// A test whose file cannot load before the implementation exists.
    void waiting(const DeclaredTest& test) {
        const auto id = expected_id(test);
        const auto* broken = broken_file(evidence_.run.tests, test.file);
        const auto why = broken != nullptr ? broken->message : std::string("not loaded");
        if (test.kind == TestKind::guard) {
            valid_ = false;
            block(id + " is a guard, and its file does not load yet (" + first_line(why) +
                  "); put it into a file that loads now, or name it as a new test if it needs the change.");
            return;
        }
        named_.insert(id);
        fresh_.push_back(id);
        failing_.push_back(id);
        waiting_.push_back(id);
        if (!test.requirement.empty()) {
            mapping_[test.requirement].push_back(id);
            with_fresh_.insert(test.requirement);
        }
        verdict_.tests.push_back(
            {id, test.name, test.file, broken != nullptr ? broken->line : 0, TestStatus::failed_skeleton, why});
    }

    void fresh(const TestOutcome& test) {
        if (test.status == TestStatus::passed) {
            // The test already passes, perhaps because a stub's result is right for it. So it counts as a guard, whatever its
            // declared kind, and proves nothing about the change.
            guards_.push_back(test.id);
            pass_already_.push_back(test.id);
            return;
        }
        fresh_.push_back(test.id);
        if (fails_as_red_must(test)) {
            failing_.push_back(test.id);
            return;
        }
        all_fail_ = false;
        if (test.status == TestStatus::skipped) {
            valid_ = false;
            block(test.id + " was skipped (" + first_line(test.message) + "); a new test must run and fail.");
        } else {
            valid_ = false;
            block(test.id + place(test) + " did not fail at an assertion but with an error: " + first_line(test.message) +
                  ". Correct the test, or declare in specification.interfaces the code that it needs or that must change.");
        }
    }

    void guard(const TestOutcome& test) {
        guards_.push_back(test.id);
        if (test.status == TestStatus::passed) { return; }
        valid_ = valid_ && is_failure(test.status) && test.status != TestStatus::error;
        block(test.id + place(test) + " is a guard but " +
              (test.status == TestStatus::skipped ? "was skipped" : "failed: " + first_line(test.message)) +
              "; a guard passes before and after the change. Mark it kind: new if it describes new behaviour.");
    }

    /// Tests in RED's files that RED did not name. Known tests are ignored; new ones must fail.
    void undeclared() {
        if (!evidence_.run.trusted) { return; }
        for (const auto& test : evidence_.run.tests) {
            if (named_.contains(test.id) || test.id == test.file) { continue; }
            const auto* before = find_test(evidence_.base_tests, test.id);
            if (before != nullptr && (before->status == test.status || is_failure(before->status))) { continue; }
            if (before != nullptr && before->status == TestStatus::passed && test.status == TestStatus::skipped) {
                block(test.id + " passed before the task and is skipped now; do not change existing tests.");
                continue;
            }
            if (fails_as_red_must(test)) {
                fresh_.push_back(test.id);
                failing_.push_back(test.id);
            } else if (test.status == TestStatus::passed) {
                if (before == nullptr) {
                    guards_.push_back(test.id);
                    pass_already_.push_back(test.id);
                }
            } else {
                valid_ = false;
                block(test.id + place(test) + " is not named in the test suite and ended with: " + first_line(test.message) +
                      ".");
            }
        }
    }

    /// Tests that passed before RED and are no longer in any file of RED's run.
    void removed() {
        if (!evidence_.run.trusted) { return; }
        const std::set<std::string> touched(evidence_.test_paths.begin(), evidence_.test_paths.end());
        for (const auto& before : evidence_.base_tests) {
            if (before.status != TestStatus::passed || !touched.contains(before.file)) { continue; }
            if (find_test(evidence_.run.tests, before.id) != nullptr ||
                broken_file(evidence_.run.tests, before.file) != nullptr) {
                continue;
            }
            removed_.push_back(before.id);
            if (evidence_.outdated.contains(before.id)) { continue; }
            if ((evidence_.intent != "delete" && evidence_.intent != "refactor") || !evidence_.without_new_test) {
                block(
                    before.id +
                    " passed before and was removed; tests may be removed only if the request is to delete, rename or refactor.");
            }
        }
    }

    /// Existing tests with changed or removed lines: allowed only for those that the request contradicts, and the change must be
    /// the reason.
    void changed() {
        for (const ChangedTest& test : evidence_.changed) {
            const auto cases = [&](const TestOutcome& outcome) { return without_parameters(outcome.id) == test.id; };
            const bool may =
                std::ranges::any_of(evidence_.outdated, [&](const std::string& id) { return without_parameters(id) == test.id; });
            if (!may && !test.gained_cases) {
                const std::string place = test.place();
                block(
                    place +
                    " existed before and was changed or removed; keep existing lines; add new ones or write another file." +
                    (test.id.empty()
                         ? ""
                         : " Only tests that the specification names in outdated_tests, or that were handed back, may change."));
            } else if (may && !test.lost_cases && !test.follows_signature && evidence_.run.trusted &&
                       std::ranges::any_of(evidence_.run.tests, cases) &&
                       std::ranges::none_of(evidence_.run.tests, [&](const TestOutcome& outcome) {
                           return cases(outcome) && outcome.status != TestStatus::passed;
                       })) {
                block(test.id +
                      " was changed and still passes without the requested change, so it was not outdated; restore its lines.");
            }
        }
    }

    void coverage() {
        const bool guards_suffice = evidence_.intent == "refactor" || evidence_.intent == "delete";
        std::size_t covered = 0;
        for (const auto& requirement : evidence_.requirements) {
            const bool stays =
                !with_fresh_.empty() && std::ranges::find(evidence_.staying, requirement) != evidence_.staying.end();
            if (with_fresh_.contains(requirement) || ((guards_suffice || stays) && mapping_.contains(requirement))) {
                ++covered;
            } else if (mapping_.contains(requirement)) {
                std::string passing;
                for (const auto& id : mapping_.at(requirement)) {
                    if (std::find(pass_already_.begin(), pass_already_.end(), id) != pass_already_.end()) {
                        passing += (passing.empty() ? "" : ", ") + id;
                    }
                }
                block(requirement + " is covered by guards only" +
                      (passing.empty() ? "" : " (" + passing + " passed before anything was implemented)") +
                      "; write at least one new test that fails without the implementation.");
            } else {
                block(requirement + " has no test; write at least one and give it requirement_ref: " + requirement + ".");
            }
        }
        covered_ = covered;
        for (const auto& [requirement, ids] : mapping_) {
            const auto& known = evidence_.requirements;
            if (std::find(known.begin(), known.end(), requirement) == known.end()) { other_requirements_.push_back(requirement); }
        }
    }

    void facts() {
        json::object mapping;
        for (const auto& [requirement, ids] : mapping_) { mapping[requirement] = list(ids); }
        const auto total = evidence_.requirements.size();
        const auto percent = total == 0 ? 100 : covered_ * 100 / total;
        const bool measured = valid_ && evidence_.run.trusted;
        const bool all_fail = measured && all_fail_;
        verdict_.facts = {{"all_tests_fail", all_fail},
                          {"no_implementation_exists", all_fail && evidence_.foreign_paths.empty()},
                          {"tests_exist", !named_.empty() && covered_ == total},
                          {"tests_are_valid", measured && !named_.empty()},
                          {"requirement_coverage_percent", static_cast<std::int64_t>(percent)},
                          {"coverage_mapping", std::move(mapping)},
                          {"test_results", count_tests(verdict_.tests)},
                          {"failing_tests", list(failing_)},
                          {"new_tests", list(fresh_)},
                          {"guard_tests", list(guards_)},
                          {"passed_already", list(pass_already_)},
                          {"waiting_tests", list(waiting_)},
                          {"removed_tests", list(removed_)},
                          {"requirements_not_tested_by_contract", list(other_requirements_)},
                          {"skeleton_files", list(evidence_.skeleton_paths)}};
    }

    const RedEvidence& evidence_;
    Verdict verdict_;
    bool all_fail_ = true;
    bool valid_ = true;
    std::size_t covered_ = 0;
    std::set<std::string> named_;
    std::set<std::string> reported_;
    std::set<std::string> with_fresh_;
    std::map<std::string, std::vector<std::string>> mapping_;
    std::vector<std::string> fresh_;
    std::vector<std::string> guards_;
    std::vector<std::string> pass_already_;  ///< Declared as new, but they are guards.
    std::vector<std::string> failing_;
    std::vector<std::string> waiting_;
    std::vector<std::string> removed_;
    std::vector<std::string> other_requirements_;
};

/// The checks that GREEN and DELIVER share: the lock, RED's tests, and the tests that passed before.
class SuiteJudge {
public:
    explicit SuiteJudge(const GreenEvidence& evidence)
        : evidence_(evidence), ids_(red_ids(evidence.declared, evidence.red_run.tests, evidence.base_tests)) {
        verdict_.tests = evidence.run.tests;
        // A flaky test that RED did not declare failed by chance, so it is not a new test.
        std::vector<std::string> declared;
        for (const auto& test : evidence.declared) {
            for (const auto* outcome : outcomes_of(test, evidence.red_run.tests)) { declared.push_back(outcome->id); }
        }
        std::erase_if(ids_.fresh, [&](const std::string& id) { return contains(evidence.flaky, id) && !contains(declared, id); });
    }

    void lock() {
        for (const auto& path : evidence_.changed_tests) {
            block(path + ": locked tests were changed; restore the file. Tests stay locked until the commit.");
        }
        for (const auto& path : evidence_.changed_configuration) {
            block(path + " decides how tests run and was changed after the tests were locked; restore it.");
        }
        verdict_.facts["tests_unchanged"] = evidence_.changed_tests.empty();
        verdict_.facts["runner_configuration_unchanged"] = evidence_.changed_configuration.empty();
    }

    void suite() {
        if (!evidence_.run.trusted && !evidence_.run.distrust.empty()) {
            block("The test run is not trusted: " + evidence_.run.distrust + ".");
        }
        for (const auto* group : {&ids_.fresh, &ids_.guards}) {
            for (const auto& id : *group) { must_pass(id); }
        }
        unmeasured();
        extra();
        check_invocations();
        regressions();
        std::vector<std::string> passing;
        for (const auto& test : evidence_.run.tests) {
            if (test.status == TestStatus::passed) { passing.push_back(test.id); }
        }
        verdict_.facts["all_tests_pass"] = all_pass_ && evidence_.run.trusted;
        verdict_.facts["no_regressions"] = no_regressions_ && evidence_.run.trusted;
        verdict_.facts["test_results"] = count_tests(verdict_.tests);
        verdict_.facts["passing_tests"] = list(passing);
        verdict_.facts["new_tests"] = list(ids_.fresh);
        verdict_.facts["failed_before"] = list(failed_before_);
        verdict_.facts["flaky"] = list(flaky_);
    }

    void check_fails_without_change() {
        bool fails = true;
        if (!evidence_.red_run.trusted && !evidence_.red_run.distrust.empty()) {
            block("Without the change, the test run is not trusted: " + evidence_.red_run.distrust + ".");
            fails = false;
        }
        if (!evidence_.change_exists && !ids_.fresh.empty()) {
            block("Nothing was changed since the tests were written; write the implementation.");
            fails = false;
        }
        for (const auto& test : evidence_.declared) {
            if (test.kind == TestKind::guard) { continue; }
            for (const auto* outcome : outcomes_of(test, evidence_.red_run.tests)) {
                if (fails_as_red_must(*outcome) || contains(evidence_.passed_in_red, outcome->id)) { continue; }
                fails = false;
                block(outcome->id + " does not fail without the change (" + std::string(to_string(outcome->status)) +
                      "), so it does not test the change; the tests must be rewritten.");
            }
        }
        verdict_.facts["fails_without_change"] = fails;
    }

    Verdict take() { return std::move(verdict_); }

private:
    void block(std::string issue) { verdict_.blocking.push_back(std::move(issue)); }

    void must_pass(const std::string& id) {
        const auto* test = find_test(evidence_.run.tests, id);
        if (test == nullptr) {
            all_pass_ = false;
            const auto file = id.substr(0, id.find("::"));
            const auto* broken = broken_file(evidence_.run.tests, file);
            verdict_.tests.push_back({id, id.substr(id.rfind(':') + 1), file, 0, TestStatus::not_collected,
                                      broken != nullptr ? broken->message : "not collected"});
            if (broken == nullptr && find_test(evidence_.red_run.tests, id) == nullptr) {
                block(id + " was named but not collected. " + collected_instead(evidence_.run.tests, file));
            } else if (broken == nullptr) {
                block(id + " ran before the change and is no longer collected.");
            } else if (reported_.insert(file).second) {
                block(file + place(*broken) + " could not be loaded: " + first_line(broken->message) + ".");
            }
            return;
        }
        if (test->status == TestStatus::passed) { return; }
        all_pass_ = false;
        if (!evidence_.run.trusted) { return; }  // Reported once, for the whole run.
        block(id + place(*test) + (test->status == TestStatus::skipped ? " was skipped: " : " fails: ") +
              first_line(test->message));
    }

    /// Declared tests that waited for the implementation and still could not be measured.
    void unmeasured() {
        for (const auto& test : evidence_.declared) {
            if (!contains(evidence_.red_files, test.file) || !outcomes_of(test, evidence_.red_run.tests).empty()) { continue; }
            if (outcomes_of(test, evidence_.run.tests).empty()) { must_pass(whole_id(test)); }
        }
    }

    /// Tests in RED's unchanged files that neither RED's run nor the user's commit had.
    void extra() {
        if (!evidence_.run.trusted || evidence_.red_run.tests.empty()) { return; }
        const std::set<std::string> files(evidence_.red_files.begin(), evidence_.red_files.end());
        for (const auto& test : evidence_.run.tests) {
            const bool was_there =
                find_test(evidence_.red_run.tests, test.id) != nullptr || find_test(evidence_.base_tests, test.id) != nullptr;
            if (!files.contains(test.file) || test.id == test.file || was_there) { continue; }
            all_pass_ = false;
            block(
                test.id +
                " did not exist before the change, although its file is unchanged; the set of tests must not depend on the implementation.");
        }
    }

    /// Tests that run, or are judged, differently than on RED's tree, so that a pass does not mean the same.
    void check_invocations() {
        if (!evidence_.run.trusted) { return; }
        for (const auto& [id, before] : evidence_.red_run.invocations) {
            const auto now = evidence_.run.invocations.find(id);
            if (now == evidence_.run.invocations.end()) { continue; }
            for (const auto& invocation : before) {
                // The project's build names the file now, so the program that the kernel built for it is no longer used.
                const bool named =
                    invocation.provisional && std::any_of(now->second.begin(), now->second.end(),
                                                          [](const auto& each) { return each.recorded && !each.provisional; });
                if (named || now->second.contains(invocation)) { continue; }
                all_pass_ = false;
                block(id + " is run or judged differently than before the change (" +
                      difference(invocation, *now->second.begin()) +
                      "); revert that. The change must not alter how a test runs or how its outcome is judged.");
                break;
            }
        }
        if (!evidence_.red_run.trusted || evidence_.red_run.not_built) { return; }
        for (const auto& file : evidence_.run.reads) {
            if (evidence_.red_run.reads.contains(file)) { continue; }
            all_pass_ = false;
            block(
                "The build reads " + file +
                ", which it did not read before the change; put build instructions into files with the usual names (CMakeLists.txt, *.cmake).");
        }
    }

    static std::string difference(const TestInvocation& before, const TestInvocation& now) {
        const auto lines_of = [](const TestInvocation& invocation) {
            std::set<std::string> lines;
            std::string_view text = invocation.how;
            while (!text.empty()) {
                const auto end = text.find('\n');
                lines.emplace(text.substr(0, end));
                text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
            }
            return lines;
        };
        const auto old = lines_of(before);
        const auto fresh = lines_of(now);
        std::string text;
        const auto add = [&](const std::string& prefix, const std::string& line) {
            text += (text.empty() ? "" : "; ") + prefix + ellipsis(line, 150);
        };
        for (const auto& line : fresh) {
            if (!old.contains(line)) { add("now ", line); }
        }
        for (const auto& line : old) {
            if (!fresh.contains(line)) { add("before ", line); }
        }
        return text.empty() ? "no longer judged by its own program" : text;
    }

    void regressions() {
        const std::set<std::string> red_files(evidence_.red_files.begin(), evidence_.red_files.end());
        const std::set<std::string> flaky(evidence_.flaky.begin(), evidence_.flaky.end());
        for (const auto& before : evidence_.base_tests) {
            if (flaky.contains(before.id) && !contains(ids_.fresh, before.id) && !contains(ids_.guards, before.id)) {
                const auto* now = find_test(evidence_.run.tests, before.id);
                if (now == nullptr || now->status != TestStatus::passed) { flaky_.push_back(before.id); }
                continue;
            }
            if (before.status != TestStatus::passed) {
                const auto* now = find_test(evidence_.run.tests, before.id);
                if (is_failure(before.status) && now != nullptr && is_failure(now->status)) {
                    failed_before_.push_back(before.id);
                }
                continue;
            }
            if (contains(ids_.fresh, before.id) || contains(ids_.guards, before.id)) {
                const auto* now = find_test(evidence_.run.tests, before.id);
                no_regressions_ = no_regressions_ && now != nullptr && now->status == TestStatus::passed;
                continue;
            }
            // RED removed the test, and RED's gate has judged that.
            if (red_files.contains(before.file) && find_test(evidence_.red_run.tests, before.id) == nullptr) { continue; }
            const auto* now = find_test(evidence_.run.tests, before.id);
            if (now != nullptr && now->status == TestStatus::passed) { continue; }
            if (now == nullptr && evidence_.outdated.contains(before.id)) { continue; }
            no_regressions_ = false;
            if (!evidence_.run.trusted) { continue; }
            const auto* broken = now == nullptr ? broken_file(evidence_.run.tests, before.file) : nullptr;
            const auto why = now == nullptr
                                 ? (broken == nullptr ? std::string("not collected any more") : first_line(broken->message))
                                 : std::string(to_string(now->status)) + ": " + first_line(now->message);
            block(before.id + " passed before the task and does not pass now (" + why + ").");
        }
    }

    static bool contains(const std::vector<std::string>& values, const std::string& value) {
        return std::find(values.begin(), values.end(), value) != values.end();
    }

    const GreenEvidence& evidence_;
    RedIds ids_;
    Verdict verdict_;
    bool all_pass_ = true;
    bool no_regressions_ = true;
    std::set<std::string> reported_;
    std::vector<std::string> failed_before_;
    std::vector<std::string> flaky_;  ///< Those that do not pass now.
};

}  // namespace

std::vector<DeclaredTest> declared_tests(const json::object& test_suite, std::vector<std::string>& problems) {
    std::vector<DeclaredTest> result;
    const auto* files = test_suite.if_contains("test_files");
    if (files == nullptr || !files->is_array()) { return result; }
    for (const auto& item : files->get_array()) {
        const auto* file = item.if_object();
        const auto path = file == nullptr ? std::string{} : text_of(*file, "path");
        const auto* tests = file == nullptr ? nullptr : file->if_contains("tests");
        if (path.empty() || tests == nullptr || !tests->is_array()) {
            problems.push_back("Each of test_files needs a path and a list of tests.");
            continue;
        }
        for (const auto& entry : tests->get_array()) {
            const auto* test = entry.if_object();
            const auto name = test == nullptr ? std::string{} : text_of(*test, "name");
            const auto kind = test == nullptr ? std::string{} : text_of(*test, "kind");
            if (name.empty()) {
                problems.push_back("Each test of " + path + " needs a name.");
            } else if (!kind.empty() && kind != "new" && kind != "guard") {
                problems.push_back(path + "::" + name + " has the kind `" + kind + "`; a test is new or a guard.");
            } else {
                result.push_back(
                    {path, name, text_of(*test, "requirement_ref"), kind == "guard" ? TestKind::guard : TestKind::fresh});
            }
        }
    }
    return result;
}

namespace {

/// Returns the ids of the requirements that are verified by a test and that `fits` accepts.
template <class Fits>
std::vector<std::string> tested_requirements(const json::object& specification, Fits fits) {
    std::vector<std::string> result;
    const auto* requirements = specification.if_contains("requirements");
    if (requirements == nullptr || !requirements->is_array()) { return result; }
    for (const auto& item : requirements->get_array()) {
        const auto* requirement = item.if_object();
        if (requirement == nullptr || text_of(*requirement, "verification_method") != "test" || !fits(*requirement)) { continue; }
        if (auto id = text_of(*requirement, "id"); !id.empty()) { result.push_back(std::move(id)); }
    }
    return result;
}

}  // namespace

std::vector<std::string> testable_requirements(const json::object& specification) {
    return tested_requirements(specification, [](const json::object&) { return true; });
}

std::vector<std::string> staying_requirements(const json::object& specification) {
    return tested_requirements(specification, [](const json::object& requirement) {
        return says_that_something_stays(text_of(requirement, "description"));
    });
}

std::vector<const TestOutcome*> outcomes_of(const DeclaredTest& test, const std::vector<TestOutcome>& outcomes) {
    const auto declared = spellings(test);
    std::vector<const TestOutcome*> found;
    const auto search = [&](const auto& is_it) {
        for (const auto& spelling : declared) {
            for (const auto& outcome : outcomes) {
                if (is_it(spelling, outcome.id)) { found.push_back(&outcome); }
            }
            if (!found.empty()) { return; }
        }
    };
    // What fits better excludes what fits less well.
    for (const auto is_it : {&means, &means_case, &means_same_types, &means_filled_title}) {
        if (found.empty()) { search(is_it); }
        const auto within = [&](const std::string& name, const std::string& id) { return means_within_classes(name, id, is_it); };
        if (found.empty()) { search(within); }
    }
    return found;
}

RedIds red_ids(const std::vector<DeclaredTest>& declared, const std::vector<TestOutcome>& red_tests,
               const std::vector<TestOutcome>& base_tests) {
    RedIds ids;
    std::set<std::string> named;
    for (const auto& test : declared) {
        const auto found = outcomes_of(test, red_tests);
        for (const auto* outcome : found) {
            if (!named.insert(outcome->id).second) { continue; }
            (test.kind == TestKind::guard ? ids.guards : ids.fresh).push_back(outcome->id);
        }
        if (found.empty()) { (test.kind == TestKind::guard ? ids.guards : ids.fresh).push_back(whole_id(test)); }
    }
    const auto passed_before = ids_with(base_tests, TestStatus::passed);
    for (const auto& test : red_tests) {
        if (named.contains(test.id)) { continue; }
        if (test.status == TestStatus::passed && find_test(base_tests, test.id) == nullptr) { ids.guards.push_back(test.id); }
        if (!fails_as_red_must(test)) { continue; }
        const auto* before = find_test(base_tests, test.id);
        if (before == nullptr || passed_before.contains(test.id)) { ids.fresh.push_back(test.id); }
    }
    return ids;
}

Verdict judge_red(const RedEvidence& evidence) { return RedJudge(evidence).judge(); }

Verdict judge_lock(const GreenEvidence& evidence) {
    SuiteJudge judge(evidence);
    judge.lock();
    return judge.take();
}

Verdict judge_green(const GreenEvidence& evidence) {
    SuiteJudge judge(evidence);
    judge.lock();
    judge.suite();
    judge.check_fails_without_change();
    return judge.take();
}

Verdict judge_deliver(const GreenEvidence& evidence) {
    SuiteJudge judge(evidence);
    judge.lock();
    judge.suite();
    return judge.take();
}

}  // namespace agentforge::kernel
