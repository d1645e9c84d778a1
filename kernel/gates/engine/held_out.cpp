// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/held_out.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/json_fields.hpp"

namespace agentforge::kernel {
namespace {

bool fails_as_new(TestStatus status) { return status == TestStatus::failed_assertion || status == TestStatus::failed_skeleton; }

bool contains(const std::vector<std::string>& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

/// True if a text is one of these paths, or the id of a test in one of these files.
bool is_of(std::string_view text, const std::vector<std::string>& files) {
    return contains(files, text.substr(0, text.find("::")));
}

json::value without(const json::value& value, const std::vector<std::string>& files);

bool refers_to(const json::value& value, const std::vector<std::string>& files) {
    if (value.is_string()) { return is_of(value.get_string(), files); }
    if (!value.is_object()) { return false; }
    return is_of(text_of(value.get_object(), "path"), files) || is_of(text_of(value.get_object(), "file"), files);
}

json::object without(const json::object& object, const std::vector<std::string>& files) {
    json::object result;
    for (const auto& [key, value] : object) {
        if (!is_of(key, files) && !refers_to(value, files)) { result[key] = without(value, files); }
    }
    return result;
}

json::value without(const json::value& value, const std::vector<std::string>& files) {
    if (value.is_object()) { return without(value.get_object(), files); }
    if (!value.is_array()) { return value; }
    json::array result;
    for (const auto& each : value.get_array()) {
        if (!refers_to(each, files)) { result.push_back(without(each, files)); }
    }
    return result;
}

/// The files with a new test, by requirement, and the number of tests in each file.
struct Spread {
    std::map<std::string, std::set<std::string>> files_of;
    std::map<std::string, std::size_t> tests_in;
};

Spread spread_of(const json::object& test_suite, const std::vector<TestOutcome>& red_tests) {
    Spread spread;
    std::vector<std::string> problems;
    for (const auto& test : declared_tests(test_suite, problems)) {
        for (const auto* outcome : outcomes_of(test, red_tests)) {
            ++spread.tests_in[test.file];
            if (!test.requirement.empty() && fails_as_new(outcome->status)) {
                spread.files_of[test.requirement].insert(test.file);
            }
        }
    }
    return spread;
}

/// Returns the specification's words for a requirement. Of its criteria, returns only the one that the test is named for, if
/// there is one.
std::string words_of(const json::object& specification, const std::string& id, const std::string& criterion) {
    for (const auto& item : list_of(specification, "requirements")) {
        const auto* requirement = item.if_object();
        if (requirement == nullptr || text_of(*requirement, "id") != id) { continue; }
        const auto& criteria = list_of(*requirement, "acceptance_criteria");
        const bool known =
            std::any_of(criteria.begin(), criteria.end(), [&](const auto& each) { return each == json::value(criterion); });
        return id + ": " + (known ? criterion : text_of(*requirement, "description"));
    }
    return id;
}

/// Returns, by id, the requirement of each held-out test in the specification's words.
std::map<std::string, std::string> requirements_by_test(const HeldOut& held, const json::object& specification) {
    std::map<std::string, std::string> descriptions;
    for (const auto& item : list_of(held.test_suite, "test_files")) {
        const auto* file = item.if_object();
        if (file == nullptr || !contains(held.files, text_of(*file, "path"))) { continue; }
        for (const auto& entry : list_of(*file, "tests")) {
            const auto* test = entry.if_object();
            if (test == nullptr) { continue; }
            const DeclaredTest declared{text_of(*file, "path"), text_of(*test, "name"), text_of(*test, "requirement_ref"),
                                        TestKind::fresh};
            for (const auto* outcome : outcomes_of(declared, held.red_tests)) {
                descriptions[outcome->id] = words_of(specification, declared.requirement, text_of(*test, "acceptance_criterion"));
            }
        }
    }
    return descriptions;
}

}  // namespace

std::vector<std::string> choose_held_out(const json::object& test_suite, const std::vector<TestOutcome>& red_tests,
                                         const std::vector<std::string>& added) {
    const auto spread = spread_of(test_suite, red_tests);
    std::vector<std::string> candidates;
    for (const auto& [file, tests] : spread.tests_in) {
        if (contains(added, file)) { candidates.push_back(file); }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](const auto& one, const auto& other) { return spread.tests_in.at(one) < spread.tests_in.at(other); });
    std::vector<std::string> chosen;
    for (const auto& candidate : candidates) {
        bool needed = false;
        bool possible = true;
        for (const auto& [requirement, files] : spread.files_of) {
            if (!files.contains(candidate)) { continue; }
            const auto hidden = static_cast<std::size_t>(
                std::count_if(files.begin(), files.end(), [&](const auto& file) { return contains(chosen, file); }));
            needed = needed || hidden == 0;
            possible = possible && files.size() > hidden + 1;
        }
        if (needed && possible) { chosen.push_back(candidate); }
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

json::object without_files(const json::object& artifact, const std::vector<std::string>& files) {
    return files.empty() ? artifact : without(artifact, files);
}

Verdict judge_held_out(const HeldOut& held, const json::object& specification, const TestRun& run) {
    Verdict verdict;
    const auto descriptions = requirements_by_test(held, specification);
    std::set<std::string> failing_files;
    std::vector<std::string> issues;
    json::array passing;
    std::int64_t tests = 0;
    for (const auto& before : held.red_tests) {
        if (!contains(held.files, before.file) || (before.status != TestStatus::passed && !fails_as_new(before.status))) {
            continue;
        }
        ++tests;
        const auto now = std::find_if(run.tests.begin(), run.tests.end(), [&](const auto& test) { return test.id == before.id; });
        if (run.trusted && now != run.tests.end() && now->status == TestStatus::passed) {
            passing.emplace_back(before.id);
            continue;
        }
        failing_files.insert(before.file);
        const auto words = descriptions.find(before.id);
        const std::string tested = words == descriptions.end() ? "existing behaviour" : words->second;
        const std::string issue =
            run.trusted && !run.not_built
                ? "A test that you cannot see fails. It tests " + tested +
                      ". Implement what the specification says for all values, not only those in the tests that you see."
                : "A test that you cannot see cannot run with this code. It tests " + tested +
                      ". Declare every interface exactly as the specification does.";
        if (std::find(issues.begin(), issues.end(), issue) == issues.end()) { issues.push_back(issue); }
    }
    verdict.blocking = std::move(issues);
    verdict.facts = {{"held_out_tests", tests},
                     {"held_out_pass", failing_files.empty()},
                     {"held_out_failing", json::array(failing_files.begin(), failing_files.end())},
                     {"passing_tests", std::move(passing)}};
    return verdict;
}

}  // namespace agentforge::kernel
