// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/scoped_gates.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/hash.hpp"
#include "config/gate_names.hpp"
#include "gates/engine/readiness.hpp"
#include "gates/engine/rules.hpp"
#include "gates/failures.hpp"
#include "gates/language/inline_tests.hpp"
#include "gates/removal/removal_check.hpp"
#include "gates/stubs/declarable_interfaces.hpp"
#include "sandbox/failures.hpp"

namespace agentforge::kernel {
namespace {

/// Facts that are lists of test ids or paths.
constexpr std::array<std::string_view, 22> id_lists{"passed_already", "failing_tests",     "new_tests",        "guard_tests",
                                                    "removed_tests",  "passing_tests",     "failed_before",    "flaky_tests",
                                                    "flaky",          "skeleton_files",    "test_files",       "flaky_since",
                                                    "special_casing", "mutants_survived",  "held_out_failing", "repeated_values",
                                                    "waiting_tests",  "removed_functions", "lost_tests",       "changed_tests",
                                                    "tests_at_fault", "unnamed_files"};

std::string text_in(const json::object& value, const char* key) {
    const auto* found = value.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string{};
}

const json::array* list_in(const json::object& value, const char* key) {
    const auto* found = value.if_contains(key);
    return found == nullptr ? nullptr : found->if_array();
}

bool belongs(const Scopes& scopes, const Scope& scope, std::string_view path) {
    return scopes.of(path).directory == scope.directory;
}

/// Folder → whether one of its tests is new.
std::map<std::string, std::map<std::string, bool>> scopes_of_requirements(const json::object& test_suite, const Scopes& scopes) {
    std::map<std::string, std::map<std::string, bool>> result;
    const auto* files = list_in(test_suite, "test_files");
    if (files == nullptr) { return result; }
    for (const auto& item : *files) {
        const auto* file = item.if_object();
        const auto* tests = file == nullptr ? nullptr : list_in(*file, "tests");
        if (tests == nullptr) { continue; }
        const auto& directory = scopes.of(text_in(*file, "path")).directory;
        for (const auto& entry : *tests) {
            if (const auto* test = entry.if_object()) {
                auto& fresh = result[text_in(*test, "requirement_ref")][directory];
                fresh = fresh || text_in(*test, "kind") != "guard";
            }
        }
    }
    return result;
}

/// Returns the first folder in which RED named a test, or the whole tree's if it named none.
std::string main_directory(const json::object& test_suite, const Scopes& scopes) {
    const auto* files = list_in(test_suite, "test_files");
    if (files == nullptr) { return {}; }
    for (const auto& item : *files) {
        if (const auto* file = item.if_object(); file != nullptr && !text_in(*file, "path").empty()) {
            return scopes.of(text_in(*file, "path")).directory;
        }
    }
    return {};
}

std::string responsible(const std::map<std::string, bool>& directories, const std::string& otherwise) {
    for (const auto& [directory, fresh] : directories) {
        if (fresh) { return directory; }
    }
    return directories.empty() ? otherwise : directories.begin()->first;
}

bool names_tests(const json::object& test_suite, const Scopes& scopes, const Scope& scope) {
    const auto* files = list_in(test_suite, "test_files");
    if (files == nullptr) { return false; }
    return std::any_of(files->begin(), files->end(), [&](const json::value& item) {
        const auto* file = item.if_object();
        return file != nullptr && belongs(scopes, scope, text_in(*file, "path"));
    });
}

std::vector<TestOutcome> part_of_tests(const std::vector<TestOutcome>& tests, const Scopes& scopes, const Scope& scope) {
    std::vector<TestOutcome> result;
    for (const auto& test : tests) {
        if (!belongs(scopes, scope, test.file.empty() ? test.id : test.file)) { continue; }
        auto part = test;
        if (!scope.directory.empty()) {
            part.id = Scopes::inside(scope, test.id);
            if (!test.file.empty()) { part.file = Scopes::inside(scope, test.file); }
        }
        result.push_back(std::move(part));
    }
    return result;
}

std::vector<std::string> part_of_texts(const std::vector<std::string>& paths, const Scopes& scopes, const Scope& scope) {
    std::vector<std::string> result;
    for (const auto& path : paths) {
        if (belongs(scopes, scope, path)) { result.emplace_back(Scopes::inside(scope, path)); }
    }
    return result;
}

json::array part_of_list(const json::array& items, const char* key, const Scopes& scopes, const Scope& scope) {
    json::array result;
    for (const auto& item : items) {
        const auto* object = item.if_object();
        const auto path = object == nullptr ? std::string{} : text_in(*object, key);
        if (path.empty() ? scope.directory.empty() : belongs(scopes, scope, path)) {
            result.push_back(item);
            if (!path.empty()) { result.back().as_object()[key] = std::string(Scopes::inside(scope, path)); }
        }
    }
    return result;
}

json::value whole_value(std::string_view name, const json::value& value, const Scope& scope) {
    if (std::find(id_lists.begin(), id_lists.end(), name) != id_lists.end() && value.is_array()) {
        json::array list;
        for (const auto& item : value.get_array()) {
            list.push_back(item.is_string() ? json::value(Scopes::outside(scope, std::string_view(item.get_string()))) : item);
        }
        return list;
    }
    if (name == "coverage_mapping" && value.is_object()) {
        json::object mapping;
        for (const auto& field : value.get_object()) { mapping[field.key()] = whole_value("new_tests", field.value(), scope); }
        return mapping;
    }
    if (name == "notes" && value.is_array()) {
        json::array list;
        for (const auto& item : value.get_array()) {
            list.push_back(item.is_string() && !scope.directory.empty()
                               ? json::value("In " + scope.directory + ": " + std::string(item.get_string()))
                               : item);
        }
        return list;
    }
    return value;
}

void add(json::value& sum, const json::value& value, std::string_view name) {
    if (sum.is_bool() && value.is_bool()) {
        sum = name == "tests_found" ? sum.get_bool() || value.get_bool() : sum.get_bool() && value.get_bool();
    } else if (sum.is_int64() && value.is_int64() && name == "coverage_percent") {
        sum = std::min(sum.get_int64(), value.get_int64());  // Each project must meet it.
    } else if (sum.is_int64() && value.is_int64()) {
        sum = sum.get_int64() + value.get_int64();
    } else if (sum.is_array() && value.is_array()) {
        for (const auto& item : value.get_array()) { sum.get_array().push_back(item); }
    } else if (sum.is_object() && value.is_object() && name != "confinement") {
        for (const auto& field : value.get_object()) {
            if (auto* known = sum.get_object().if_contains(field.key())) {
                add(*known, field.value(), field.key());
            } else {
                sum.get_object()[field.key()] = field.value();
            }
        }
    } else if (sum.is_string() && value.is_string() && sum != value) {
        sum = std::string(sum.get_string()) + ", " + std::string(value.get_string());
    }
}

bool text_is_long(const std::string& text) { return text.size() > 300; }

/// Appends `GLOB, GLOB in FOLDER`. `in`: the text ` in FOLDER`; empty for the whole tree.
void append_globs(std::string& text, const std::vector<std::string>& globs, const std::string& in) {
    text += (text.empty() ? "" : "; ");
    for (std::size_t i = 0; i < globs.size(); ++i) { text += (i == 0 ? "" : ", ") + globs[i]; }
    text += in;
}

std::string named(const Scope& scope) { return scope.directory.empty() ? "." : scope.directory; }

bool fact_is(const GateReport& report, const char* name, bool wanted) {
    const auto* found = report.facts.if_contains(name);
    return found != nullptr && found->is_bool() && found->get_bool() == wanted;
}

/// Returns the file of the violation to fix.
std::string violated_file(const GateRequest& request) {
    const auto* violation = request.parameters.if_contains("violation");
    return violation != nullptr && violation->is_object() ? text_in(violation->get_object(), "file") : std::string{};
}

bool holds_violation(const GateRequest& request, const Scopes& scopes, const Scope& scope) {
    const auto file = violated_file(request);
    return !file.empty() && belongs(scopes, scope, file);
}

json::object part_of_parameters(const GateRequest& request, const Scopes& scopes, const Scope& scope) {
    auto parameters = request.parameters;
    if (violated_file(request).empty()) { return parameters; }
    if (holds_violation(request, scopes, scope)) {
        parameters["violation"].as_object()["file"] = std::string(Scopes::inside(scope, violated_file(request)));
    } else {
        parameters.erase("violation");
    }
    return parameters;
}

}  // namespace

GateBaseline part_of_baseline(const GateBaseline& whole, const Scopes& scopes, const Scope& scope) {
    auto part = whole;
    part.base_tests = part_of_tests(whole.base_tests, scopes, scope);
    part.flaky = part_of_texts(whole.flaky, scopes, scope);
    part.outdated = part_of_texts(whole.outdated, scopes, scope);
    part.red_tests = part_of_tests(whole.red_tests, scopes, scope);
    part.test_files = part_of_texts(whole.test_files, scopes, scope);
    part.held_out.files = part_of_texts(whole.held_out.files, scopes, scope);
    part.held_out.red_tests = part_of_tests(whole.held_out.red_tests, scopes, scope);
    if (const auto* files = list_in(whole.held_out.test_suite, "test_files")) {
        part.held_out.test_suite["test_files"] = part_of_list(*files, "path", scopes, scope);
    }
    if (const auto* files = list_in(whole.test_suite, "test_files")) {
        part.test_suite["test_files"] = part_of_list(*files, "path", scopes, scope);
    }
    if (const auto* interfaces = list_in(whole.specification, "interfaces")) {
        part.specification["interfaces"] = part_of_list(*interfaces, "file", scopes, scope);
    }
    if (const auto* requirements = list_in(whole.specification, "requirements")) {
        auto named_for = scopes_of_requirements(whole.test_suite, scopes);
        const auto main = main_directory(whole.test_suite, scopes);
        json::array mine;
        for (const auto& item : *requirements) {
            const auto* requirement = item.if_object();
            const auto directory = requirement == nullptr ? main : responsible(named_for[text_in(*requirement, "id")], main);
            if (directory == scope.directory) { mine.push_back(item); }
        }
        part.specification["requirements"] = std::move(mine);
    }
    return part;
}

std::vector<std::string> part_of_paths(const std::vector<std::string>& paths, const Scopes& scopes, const Scope& scope) {
    std::vector<std::string> result;
    for (const auto& path : paths) {
        auto folder = path.substr(0, path.find("::"));
        while (folder.ends_with('/')) { folder.pop_back(); }
        const bool holds =
            folder == "." || folder.empty() || folder == scope.directory || scope.directory.starts_with(folder + "/");
        if (holds) {
            result.emplace_back(".");
        } else if (belongs(scopes, scope, folder)) {
            result.emplace_back(Scopes::inside(scope, path));
        }
    }
    return result;
}

namespace {

std::optional<std::int64_t> number_in(const json::object& facts, const char* key) {
    const auto* found = facts.if_contains(key);
    return found != nullptr && found->is_int64() ? std::optional(found->get_int64()) : std::nullopt;
}

/// Merges the reports of scopes, one after the other.
class MergedReport {
public:
    explicit MergedReport(std::size_t parts) : only_(parts == 1) { report_.passed = true; }

    void add(const Scope& scope, GateReport part);
    GateReport finish(const GateBaseline* whole);

private:
    void add_outcome(const Scope& scope, const GateReport& part);
    void add_tests(const Scope& scope, std::vector<TestOutcome>& tests);
    void add_violations(const Scope& scope, std::vector<Violation>& violations);
    void count_requirements(const json::object& facts);
    void add_facts(const Scope& scope, const json::object& facts);
    void leave_out_testable(const GateBaseline& whole);

    const bool only_;  ///< There is one part.
    GateReport report_;
    std::string good_;  ///< The summary if all passed.
    std::int64_t requirements_ = 0;
    std::int64_t covered_ = 0;
    json::array scopes_;
};

void MergedReport::add(const Scope& scope, GateReport part) {
    add_outcome(scope, part);
    add_tests(scope, part.tests);
    add_violations(scope, part.violations);
    count_requirements(part.facts);
    part.facts.erase("requirements_testable");
    add_facts(scope, part.facts);
    scopes_.push_back(json::object{{"directory", named(scope)}, {"language", scope.language}, {"passed", part.passed}});
}

void MergedReport::add_outcome(const Scope& scope, const GateReport& part) {
    report_.passed = report_.passed && part.passed;
    report_.duration += part.duration;
    const auto in = only_ && scope.directory.empty() ? std::string{} : "In " + named(scope) + ": ";
    good_ += (good_.empty() ? "" : "; ") + (in.empty() ? "" : named(scope) + ": ") + part.summary;
    for (const auto& issue : part.blocking_issues) { report_.blocking_issues.push_back(in + issue); }
    if (!part.passed && report_.summary.empty()) { report_.summary = in + part.summary; }
}

void MergedReport::add_tests(const Scope& scope, std::vector<TestOutcome>& tests) {
    for (auto& test : tests) {
        if (!scope.directory.empty()) {
            test.id = Scopes::outside(scope, test.id);
            if (!test.file.empty()) { test.file = Scopes::outside(scope, test.file); }
        }
        report_.tests.push_back(std::move(test));
    }
}

void MergedReport::add_violations(const Scope& scope, std::vector<Violation>& violations) {
    for (auto& violation : violations) {
        if (!violation.file.empty()) { violation.file = Scopes::outside(scope, violation.file); }
        report_.violations.push_back(std::move(violation));
    }
}

void MergedReport::count_requirements(const json::object& facts) {
    const auto percent = number_in(facts, "requirement_coverage_percent").value_or(0);
    if (const auto mine = number_in(facts, "requirements_testable")) {
        requirements_ += *mine;
        covered_ += (percent * *mine + 99) / 100;
    }
}

void MergedReport::add_facts(const Scope& scope, const json::object& facts) {
    for (const auto& fact : facts) {
        const auto value = whole_value(fact.key(), fact.value(), scope);
        if (auto* known = report_.facts.if_contains(fact.key())) {
            kernel::add(*known, value, fact.key());
        } else {
            report_.facts[fact.key()] = value;
        }
    }
}

GateReport MergedReport::finish(const GateBaseline* whole) {
    if (report_.passed) { report_.summary = good_; }
    if (report_.facts.contains("requirement_coverage_percent")) {
        report_.facts["requirement_coverage_percent"] = requirements_ == 0 ? 100 : covered_ * 100 / requirements_;
    }
    if (whole != nullptr) { leave_out_testable(*whole); }
    report_.facts["scopes"] = std::move(scopes_);
    return std::move(report_);
}

/// Removes the requirements that the whole specification wants tested: one scope's report lists those of other scopes as
/// untested.
void MergedReport::leave_out_testable(const GateBaseline& whole) {
    auto* others = report_.facts.if_contains("requirements_not_tested_by_contract");
    if (others == nullptr || !others->is_array()) { return; }
    const auto testable = testable_requirements(whole.specification);
    json::array left;
    for (const auto& item : others->get_array()) {
        if (!item.is_string() ||
            std::find(testable.begin(), testable.end(), std::string_view(item.get_string())) == testable.end()) {
            left.push_back(item);
        }
    }
    *others = std::move(left);
}

}  // namespace

GateReport merge_reports(std::vector<std::pair<const Scope*, GateReport>> parts, const GateBaseline* whole) {
    // Ignores scopes without tests if another scope has tests.
    const bool some_tests =
        std::any_of(parts.begin(), parts.end(), [](const auto& part) { return fact_is(part.second, "tests_found", true); });
    if (some_tests) {
        std::erase_if(parts, [](const auto& part) { return part.second.passed && fact_is(part.second, "tests_found", false); });
    }
    MergedReport merged(parts.size());
    for (auto& [scope, part] : parts) { merged.add(*scope, std::move(part)); }
    return merged.finish(whole);
}

ScopedGates::ScopedGates(std::unique_ptr<TreeCheckout> whole, ProcessRunner& processes, GateRunner::Options options)
    : whole_(std::move(whole)), processes_(processes), options_(std::move(options)), languages_([this] {
          std::vector<std::string> directories{options_.languages_directory};
          directories.insert(directories.end(), options_.more_languages.begin(), options_.more_languages.end());
          return directories;
      }()) {
    settings_.language = options_.language;
    const auto* scopes = options_.settings.if_contains("scopes");
    if (scopes == nullptr) { return; }
    const auto* directories = scopes->if_object();
    for (const auto& field : directories == nullptr ? json::object{} : *directories) {
        if (field.value().is_string()) {
            settings_.directories[std::string(field.key())] = std::string(field.value().get_string());
        } else {
            directories = nullptr;
            break;
        }
    }
    if (directories == nullptr) {
        wrong_settings_ =
            Error{"AF-GATE-012", "The setting `gates.scopes` must be a mapping of folders to languages.", "gates.scopes",
                  "Write it like `scopes: {services/api: go, web: typescript}`.", ErrorKind::invalid};
    }
    options_.settings.erase("scopes");
}

Result<const Scopes*> ScopedGates::scopes(const std::string& base_tree, const std::string& tree) {
    if (wrong_settings_) { return *wrong_settings_; }
    const auto key = std::pair(base_tree, tree);
    if (const auto known = scopes_.find(key); known != scopes_.end()) { return &known->second; }
    if (base_tree.empty() || base_tree == tree) {
        AF_TRY(const auto files, whole_->files(tree));
        AF_TRY(auto found, Scopes::find(languages_, files, settings_));
        return &scopes_.emplace(key, std::move(found)).first->second;
    }
    auto before = scopes("", base_tree);
    if (!before.ok()) {
        if (!has_no_language(before.error())) { return std::move(before).error(); }
        return scopes("", tree);  // The user's commit has no language yet: an empty repository.
    }
    auto found = **before;
    if (settings_.directories.empty() && settings_.language.empty()) {
        // Only a new project file can make a new scope, so most steps need not check all files.
        AF_TRY(const auto* known, languages_.all());
        AF_TRY(const auto changes, whole_->changes(base_tree, tree));
        const bool new_project = std::any_of(changes.begin(), changes.end(), [&](const TreeChange& change) {
            return (change.status == 'A' || change.status == 'R') &&
                   std::any_of(known->begin(), known->end(),
                               [&](const auto& language) { return language.second.roots.matches(change.path); });
        });
        if (new_project) {
            AF_TRY(const auto files, whole_->files(tree));
            AF_TRY(const auto earlier, whole_->files(base_tree));
            AF_TRY(const auto now, Scopes::find(languages_, files, settings_));
            found.add_new(now, earlier);
        }
    }
    return &scopes_.emplace(key, std::move(found)).first->second;
}

Result<GateEngine*> ScopedGates::engine_for(const Scopes& scopes, const Scope& scope) {
    std::string key;
    for (const auto& each : scopes.all()) { key += each.directory + "=" + each.language + "\n"; }
    key += "\n" + scope.directory;
    if (const auto known = engines_.find(key); known != engines_.end()) { return known->second.get(); }
    AF_CHECK(languages_.get(scope.language));
    auto options = options_;
    options.language = scope.language;
    options.languages_directory = languages_.directory(scope.language);
    if (!scope.directory.empty()) { options.scratch_directory += "/scope-" + sha256(scope.directory).substr(0, 12); }
    auto made = std::make_unique<GateEngine>(make_scope_checkout(*whole_, scopes, scope), processes_, std::move(options));
    return engines_.emplace(std::move(key), std::move(made)).first->second.get();
}

/// Judges RED in a scope in which it named no test: only fixtures and the skeleton may have changed there.
Result<GateReport> ScopedGates::red_without_tests(const GateCall& part, GateEngine& engine, const Scope& scope,
                                                  const Stop& stop) {
    AF_TRY(const auto* language, languages_.get(scope.language));
    AF_TRY(const auto changes, engine.checkout().changes(part.baseline->base_tree, part.tree));
    const bool tests = std::any_of(changes.begin(), changes.end(), [&](const TreeChange& change) {
        return language->tests.matches(change.path) || language->may_hold_tests(change.path);
    });
    if (tests) { return engine.gate(part, stop); }
    GateReport report;
    std::map<std::string, std::string> skeletons;
    if (std::any_of(changes.begin(), changes.end(),
                    [&](const TreeChange& change) { return !language->belongs_to_tests(change.path); })) {
        auto generated = engine.skeleton(part.baseline->base_tree, declarable_interfaces(part.baseline->specification), stop);
        if (!generated.ok() && !is_undeclarable(generated.error())) { return std::move(generated).error(); }
        if (generated.ok()) { skeletons.insert(generated->begin(), generated->end()); }
    }
    json::array skeleton_files;
    for (const auto& change : changes) {
        for (const auto* path : {&change.old_path, &change.path}) {
            if (path->empty() || language->belongs_to_tests(*path)) { continue; }
            AF_TRY(const auto content, engine.checkout().file(part.tree, *path));
            const auto declared = skeletons.find(*path);
            if (content && declared != skeletons.end() && declared->second == *content) {
                skeleton_files.emplace_back(*path);
            } else {
                report.blocking_issues.push_back(
                    *path +
                    " was changed, but this stage may change only tests and the skeleton of the specified interfaces; revert it.");
            }
        }
    }
    report.passed = report.blocking_issues.empty();
    report.summary = report.passed ? "no new tests in this project" : report.blocking_issues.front();
    report.facts = {{"no_implementation_exists", report.passed}, {"skeleton_files", std::move(skeleton_files)}};
    return report;
}

Result<std::vector<Finding>> ScopedGates::findings(const std::string& tree, const std::vector<std::string>& paths,
                                                   const Stop& stop, std::vector<UnmeasuredFile>* not_measured) {
    AF_TRY(const auto* found, scopes("", tree));
    std::vector<Finding> all;
    for (const auto& scope : found->all()) {
        const auto inside = part_of_paths(paths, *found, scope);
        if (!paths.empty() && inside.empty()) { continue; }
        AF_TRY(auto* one, engine_for(*found, scope));
        std::vector<UnmeasuredFile> unmeasured;
        AF_TRY(auto some, one->findings(tree, inside, stop, not_measured == nullptr ? nullptr : &unmeasured));
        for (auto& finding : some) {
            if (!scope.directory.empty()) { finding.violation.file = Scopes::outside(scope, finding.violation.file); }
            all.push_back(std::move(finding));
        }
        for (auto& each : unmeasured) {
            if (!scope.directory.empty()) { each.file = Scopes::outside(scope, each.file); }
            not_measured->push_back(std::move(each));
        }
    }
    return all;
}

/// One gate in several scopes.
class ScopedGates::GateInScopes {
public:
    GateInScopes(ScopedGates& gates, const GateCall& call, const Scopes& scopes, const Stop& stop)
        : gates_(gates), call_(call), scopes_(scopes), stop_(stop) {}

    Result<GateReport> run();

private:
    Result<void> find_touched();
    [[nodiscard]] bool measures_all() const;
    [[nodiscard]] bool is_named(const Scope& scope) const;
    Result<void> run_in(const Scope& scope);
    Result<GateReport> run_in_untouched(const Scope& scope);
    void report_left_out(GateReport& report) const;

    ScopedGates& gates_;
    const GateCall& call_;
    const Scopes& scopes_;
    const Stop& stop_;
    std::set<std::string> touched_;  ///< Folders of the scopes in which something changed.
    std::vector<std::pair<const Scope*, GateReport>> parts_;
    std::vector<std::pair<const Scope*, Error>> left_out_;  ///< Unchanged, and their toolchain is not installed.
};

Result<GateReport> ScopedGates::gate(const GateCall& call, const Stop& stop) {
    AF_TRY(const auto* found, scopes(call.baseline == nullptr ? std::string{} : call.baseline->base_tree, call.tree));
    GateReport report;
    if (found->all().size() == 1) {
        AF_TRY(auto* only, engine_for(*found, found->all().front()));
        AF_TRY(report, only->gate(call, stop));
    } else {
        AF_TRY(report, GateInScopes(*this, call, *found, stop).run());
    }
    if (call.request.gate != gate_name::deliver || call.baseline == nullptr) { return report; }
    AF_TRY(auto missing, missing_documentation(*whole_, call));
    if (missing) {
        report.blocking_issues.push_back(std::move(*missing));
        report.facts["deployment_ready"] = report.passed = false;
    }
    return report;
}

Result<GateReport> ScopedGates::GateInScopes::run() {
    AF_CHECK(find_touched());
    for (const auto& scope : scopes_.all()) { AF_CHECK(run_in(scope)); }
    if (parts_.empty()) {
        if (!left_out_.empty()) { return std::move(left_out_.front().second); }
        // Nothing changed in any scope: the first one reports it.
        return run_in_untouched(scopes_.all().front());
    }
    auto report = merge_reports(std::move(parts_), call_.baseline);
    report_left_out(report);
    return report;
}

Result<void> ScopedGates::GateInScopes::find_touched() {
    if (call_.baseline == nullptr || call_.baseline->base_tree.empty()) { return {}; }
    AF_TRY(const auto changes, gates_.whole_->changes(call_.baseline->base_tree, call_.tree));
    for (const auto& change : changes) {
        touched_.insert(scopes_.of(change.path).directory);
        if (!change.old_path.empty()) { touched_.insert(scopes_.of(change.old_path).directory); }
    }
    return {};
}

bool ScopedGates::GateInScopes::measures_all() const {
    const auto& gate = call_.request.gate;
    return call_.baseline == nullptr || call_.baseline->base_tree.empty() || gate == gate_name::tests ||
           gate == gate_name::deliver;
}

/// True if the scope has tests that RED named, or the violation to fix.
bool ScopedGates::GateInScopes::is_named(const Scope& scope) const {
    return call_.baseline != nullptr &&
           (names_tests(call_.baseline->test_suite, scopes_, scope) || holds_violation(call_.request, scopes_, scope));
}

Result<void> ScopedGates::GateInScopes::run_in(const Scope& scope) {
    GateCall part = call_;
    part.request.paths = part_of_paths(call_.request.paths, scopes_, scope);
    part.request.parameters = part_of_parameters(call_.request, scopes_, scope);
    const bool by_path = !call_.request.paths.empty();
    if (by_path && part.request.paths.empty()) { return {}; }
    const bool changed = touched_.contains(scope.directory);
    const bool named = is_named(scope);
    if (!by_path && !measures_all() && !changed && !named) { return {}; }
    GateBaseline baseline;
    if (call_.baseline != nullptr) {
        baseline = part_of_baseline(*call_.baseline, scopes_, scope);
        part.baseline = &baseline;
    }
    AF_TRY(auto* one, gates_.engine_for(scopes_, scope));
    const bool without_tests = gate_facts(call_.request.gate).judges_tests && !named;
    auto report = without_tests ? gates_.red_without_tests(part, *one, scope, stop_) : one->gate(part, stop_);
    if (!report.ok()) {
        if (!is_failed_command(report.error()) || changed || named || by_path) { return std::move(report).error(); }
        left_out_.emplace_back(&scope, std::move(report).error());
        return {};
    }
    if (call_.baseline != nullptr && report->facts.contains("requirement_coverage_percent")) {
        report->facts["requirements_testable"] = static_cast<std::int64_t>(testable_requirements(baseline.specification).size());
    }
    parts_.emplace_back(&scope, std::move(report).value());
    return {};
}

Result<GateReport> ScopedGates::GateInScopes::run_in_untouched(const Scope& scope) {
    AF_TRY(auto* one, gates_.engine_for(scopes_, scope));
    GateBaseline baseline;
    GateCall part = call_;
    if (call_.baseline != nullptr) {
        baseline = part_of_baseline(*call_.baseline, scopes_, scope);
        part.baseline = &baseline;
    }
    return one->gate(part, stop_);
}

void ScopedGates::GateInScopes::report_left_out(GateReport& report) const {
    for (const auto& [scope, error] : left_out_) {
        report.facts["scopes"].as_array().push_back(
            json::object{{"directory", named(*scope)}, {"language", scope->language}, {"not_run", error.message}});
        report.summary += "; " + named(*scope) + " not run: " + error.message;
    }
}

Result<void> ScopedGates::for_interfaces(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                         const DeclaringScope& each) {
    auto known = scopes("", tree);
    if (!known.ok() && has_no_language(known.error()) && !interfaces.empty()) {
        // The tree has no sources yet: the interfaces' file names determine the language.
        std::vector<std::string> files;
        for (const auto& interface : interfaces) { files.push_back(interface.file); }
        AF_TRY(auto coming, Scopes::find(languages_, files, settings_));
        known = &scopes_.insert_or_assign({"to come", tree}, std::move(coming)).first->second;
    }
    AF_TRY(const auto* found, std::move(known));
    for (const auto& scope : found->all()) {
        std::vector<SkeletonInterface> mine;
        for (const auto& interface : interfaces) {
            if (!belongs(*found, scope, interface.file)) { continue; }
            mine.push_back(interface);
            mine.back().file = std::string(Scopes::inside(scope, interface.file));
        }
        if (mine.empty()) { continue; }
        AF_TRY(auto* one, engine_for(*found, scope));
        AF_CHECK(each(scope, *one, mine));
    }
    return {};
}

Result<std::vector<std::pair<std::string, std::string>>> ScopedGates::skeleton(const std::string& tree,
                                                                               const std::vector<SkeletonInterface>& interfaces,
                                                                               const Stop& stop) {
    std::vector<std::pair<std::string, std::string>> result;
    AF_CHECK(for_interfaces(tree, interfaces,
                            [&](const Scope& scope, GateEngine& one, const std::vector<SkeletonInterface>& mine) -> Result<void> {
                                AF_TRY(auto files, one.skeleton(tree, mine, stop));
                                for (auto& [path, content] : files) {
                                    result.emplace_back(Scopes::outside(scope, path), std::move(content));
                                }
                                return {};
                            }));
    return result;
}

Result<void> ScopedGates::try_skeleton(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                       const Stop& stop) {
    return for_interfaces(tree, interfaces, [&](const Scope&, GateEngine& one, const std::vector<SkeletonInterface>& mine) {
        return one.try_skeleton(tree, mine, stop);
    });
}

Result<std::vector<std::pair<std::string, std::string>>> ScopedGates::scaffold(const std::string& tree) {
    std::vector<std::pair<std::string, std::string>> none;
    const auto found = scopes("", tree);
    if (!found.ok()) {
        if (has_no_language(found.error())) { return none; }  // The tree has no language yet.
        return found.error();
    }
    if ((*found)->all().size() != 1) { return none; }
    AF_TRY(auto* only, engine_for(**found, (*found)->all().front()));
    AF_TRY(auto files, only->scaffold(tree));
    for (auto& [path, content] : files) { path = Scopes::outside((*found)->all().front(), path); }
    return files;
}

Result<std::vector<SetupStep>> ScopedGates::setup_steps(const std::string& tree) {
    AF_TRY(const auto* found, scopes("", tree));
    std::vector<SetupStep> all;
    for (const auto& scope : found->all()) {
        AF_TRY(auto* one, engine_for(*found, scope));
        AF_TRY(auto steps, one->setup_steps(tree));
        for (auto& step : steps) {
            for (auto& file : step.files) { file = Scopes::outside(scope, file); }
            all.push_back(std::move(step));
        }
    }
    return all;
}

Result<void> ScopedGates::set_up(const std::string& tree, const Stop& stop) {
    AF_TRY(const auto* found, scopes("", tree));
    for (const auto& scope : found->all()) {
        AF_TRY(auto* one, engine_for(*found, scope));
        AF_CHECK(one->set_up(tree, stop));
    }
    return {};
}

Result<void> ScopedGates::probe(const std::vector<std::string>& readable, std::vector<ToolState>& tools) {
    for (ToolState& tool : tools) {
        if (!tool.found || tool.probe.empty()) { continue; }
        ProcessRequest request;
        request.argv = {tool.program};
        request.argv.insert(request.argv.end(), tool.probe.begin(), tool.probe.end());
        request.directory = "/";
        request.environment = base_environment(options_.environment);
        request.environment["HOME"] = "/";  // As for the gates, without the user's own packages.
        request.timeout = std::chrono::seconds(30);
        request.confinement.readable = program_folders(options_.environment);
        request.confinement.readable.insert(request.confinement.readable.end(), readable.begin(), readable.end());
        if (tool.program.starts_with('/')) { request.confinement.readable.push_back(tool.program); }
        const auto outcome = processes_.run(request, Stop{});
        if (!outcome.ok() && is_unconfinable(outcome.error())) { return {}; }  // Each start of a program reports this error.
        if (!outcome.ok()) { return outcome.error(); }
        tool.found = outcome->exit_code == 0;
    }
    return {};
}

namespace {

void count_files(const Language& language, const std::vector<std::string>& files, ScopeReadiness& part) {
    for (const auto& file : files) {
        if (language.tests.matches(file)) {
            ++part.test_files;
        } else if (language.sources.matches(file)) {
            ++part.source_files;
        }
    }
}

/// Inline tests are found only by reading the code. Stops after a few, because only their existence matters.
Result<void> count_files_with_inline_tests(const Language& language, const std::vector<std::string>& files,
                                           const ContentReader& content, ScopeReadiness& part) {
    constexpr std::size_t most_read = 300;
    std::size_t read = 0;
    for (const auto& file : files) {
        if (read == most_read) { break; }
        if (!language.may_hold_tests(file)) { continue; }
        ++read;
        AF_TRY(const auto text, content(file));
        if (text && !split_inline_tests(*text, language.inline_begins).tests.empty()) { ++part.test_files; }
    }
    return {};
}

/// Returns the programs that the steps have fetched.
std::map<std::string, std::string> fetched_programs(const std::vector<SetupStep>& steps) {
    std::map<std::string, std::string> fetched;
    for (const auto& step : steps) {
        if (step.ready) { fetched.insert(step.programs.begin(), step.programs.end()); }
    }
    return fetched;
}

/// Returns the language with only the tools that apply to these files.
Result<Language> with_applying_tools(const Language& language, const std::vector<std::string>& files,
                                     const ContentReader& content) {
    Language here = language;
    here.tools.clear();
    for (const auto& tool : language.tools) {
        AF_TRY(const bool applies, holds(tool.when, files, content));
        if (tool.when.empty() || applies) { here.tools.push_back(tool); }
    }
    return here;
}

}  // namespace

Result<GateReadiness> ScopedGates::readiness(const std::string& tree) {
    AF_TRY(const auto* known, languages_.all());
    AF_TRY(const auto settings, GateSettings::read(options_.settings));
    AF_CHECK(load_checks(options_.conformance_directories, settings.thresholds));
    GateReadiness readiness;
    std::vector<std::pair<const Language*, const TestRunner*>> used;
    const auto found = scopes("", tree);
    if (!found.ok() && (!has_no_language(found.error()) || !found.error().where.empty())) { return found.error(); }
    for (const auto& scope : found.ok() ? (*found)->all() : std::vector<Scope>()) {
        AF_TRY(auto* one, engine_for(**found, scope));
        AF_TRY(const auto* language, languages_.get(scope.language));
        AF_TRY(const auto files, one->checkout().files(tree));
        const auto content = [&](const std::string& path) { return one->checkout().file(tree, path); };
        AF_TRY(const auto* runner, choose_runner(*language, files, content));
        ScopeReadiness part;
        part.directory = scope.directory;
        part.language = scope.language;
        part.runner = runner == nullptr ? "" : runner->name;
        count_files(*language, files, part);
        AF_CHECK(count_files_with_inline_tests(*language, files, content, part));
        AF_TRY(part.setup, one->setup_steps(tree));
        const auto fetched = fetched_programs(part.setup);
        for (auto& step : part.setup) {
            for (auto& file : step.files) { file = Scopes::outside(scope, file); }
        }
        AF_TRY(const Language here, with_applying_tools(*language, files, content));
        part.tools = tools_of(here, runner, settings, fetched, options_.environment);
        // Probes only after setup: until then, dependencies that provide the tool may be missing.
        if (std::all_of(part.setup.begin(), part.setup.end(), [](const auto& step) { return step.ready; })) {
            AF_CHECK(probe(settings.readable, part.tools));
        }
        used.emplace_back(language, runner);
        // Outside all projects, only the language's globs are used.
        if (!scope.has_project && part.source_files + part.test_files == 0) { continue; }
        if (!scope.has_project) { part.tools.clear(); }
        readiness.scopes.push_back(std::move(part));
    }
    AF_CHECK(check_settings_of_gates(settings, *known, used));
    return readiness;
}

Result<bool> ScopedGates::is_test_file(const std::string& tree, std::string_view path) {
    AF_TRY(const auto* found, scopes("", tree));
    const auto& scope = found->of(path);
    AF_TRY(const auto* known, languages_.get(scope.language));
    return known->tests.matches(Scopes::inside(scope, path));
}

/// The scopes of a tree, each with its language. Without known scopes, each language may claim a path anywhere.
struct ScopedGates::LanguageParts {
    struct Part {
        Scope scope;
        const Language* language;
    };
    Scopes scopes;  ///< Empty: no language is known.
    std::vector<Part> parts;

    /// True if `claims(language, path inside the scope)` holds for a part that may judge this path.
    template <class Claims>
    [[nodiscard]] bool any(std::string_view path, Claims claims) const {
        return std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
            const bool mine = scopes.all().empty() || scopes.of(path).directory == part.scope.directory;
            return mine && claims(*part.language, Scopes::inside(part.scope, path));
        });
    }
};

Result<ScopedGates::LanguageParts> ScopedGates::language_parts(const std::string& tree) {
    LanguageParts out;
    auto found = scopes("", tree);
    if (found.ok()) {
        out.scopes = **found;
        for (const auto& scope : out.scopes.all()) {
            AF_TRY(const auto* known, languages_.get(scope.language));
            out.parts.push_back({scope, known});
        }
        return out;
    }
    if (!has_no_language(found.error())) { return std::move(found).error(); }
    AF_TRY(const auto* known, languages_.all());
    for (const auto& [name, each] : *known) { out.parts.push_back({Scope{"", name, false}, &each}); }
    return out;
}

Result<GateRunner::PathMeaning> ScopedGates::path_meaning(const std::string& tree) {
    AF_TRY(LanguageParts read, language_parts(tree));
    const auto parts = std::make_shared<const LanguageParts>(std::move(read));
    GateRunner::PathMeaning meaning;
    meaning.only_tests = [parts](std::string_view path) {
        return parts->any(path, [](const Language& each, std::string_view inside) { return each.belongs_to_tests(inside); });
    };
    meaning.tests = [parts](std::string_view path) {
        return parts->any(path, [](const Language& each, std::string_view inside) {
            return each.belongs_to_tests(inside) || each.may_hold_tests(inside);
        });
    };
    meaning.sources = [parts](std::string_view path) {
        return parts->any(path, [](const Language& each, std::string_view inside) { return each.sources.matches(inside); });
    };
    for (const auto& part : parts->parts) {
        if (text_is_long(meaning.tests_text)) { break; }
        const auto in = part.scope.directory.empty() ? std::string{} : " in " + part.scope.directory;
        append_globs(meaning.tests_text, part.language->test_patterns, in);
        append_globs(meaning.sources_text, part.language->source_patterns, in);
    }
    return meaning;
}

}  // namespace agentforge::kernel
