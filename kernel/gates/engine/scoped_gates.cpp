// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/scoped_gates.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/hash.hpp"
#include "config/gate_names.hpp"
#include "gates/engine/readiness.hpp"
#include "gates/language/inline_tests.hpp"

namespace agentforge::kernel {
namespace {

/// Facts that are lists of test ids or paths.
constexpr std::array<std::string_view, 21> id_lists{"passed_already", "failing_tests",     "new_tests",        "guard_tests",
                                                    "removed_tests",  "passing_tests",     "failed_before",    "flaky_tests",
                                                    "flaky",          "skeleton_files",    "test_files",       "flaky_since",
                                                    "special_casing", "mutants_survived",  "held_out_failing", "repeated_values",
                                                    "waiting_tests",  "removed_functions", "lost_tests",       "changed_tests",
                                                    "tests_at_fault"};

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

GateReport put_together(std::vector<std::pair<const Scope*, GateReport>> parts, const GateBaseline* whole) {
    // A scope without tests means nothing beside one that has some.
    const bool some_tests =
        std::any_of(parts.begin(), parts.end(), [](const auto& part) { return fact_is(part.second, "tests_found", true); });
    if (some_tests) {
        std::erase_if(parts, [](const auto& part) { return part.second.passed && fact_is(part.second, "tests_found", false); });
    }
    GateReport report;
    report.passed = true;
    std::string good;
    std::int64_t requirements = 0;
    std::int64_t covered = 0;
    json::array scopes;
    for (auto& [scope, part] : parts) {
        report.passed = report.passed && part.passed;
        report.duration += part.duration;
        const auto in = parts.size() == 1 && scope->directory.empty() ? std::string{} : "In " + named(*scope) + ": ";
        good += (good.empty() ? "" : "; ") + (in.empty() ? "" : named(*scope) + ": ") + part.summary;
        for (const auto& issue : part.blocking_issues) { report.blocking_issues.push_back(in + issue); }
        if (!part.passed && report.summary.empty()) { report.summary = in + part.summary; }
        for (auto& test : part.tests) {
            if (!scope->directory.empty()) {
                test.id = Scopes::outside(*scope, test.id);
                if (!test.file.empty()) { test.file = Scopes::outside(*scope, test.file); }
            }
            report.tests.push_back(std::move(test));
        }
        for (auto& violation : part.violations) {
            if (!violation.file.empty()) { violation.file = Scopes::outside(*scope, violation.file); }
            report.violations.push_back(std::move(violation));
        }
        std::int64_t percent = 0;
        if (const auto* found = part.facts.if_contains("requirement_coverage_percent"); found != nullptr && found->is_int64()) {
            percent = found->get_int64();
        }
        if (const auto* mine = part.facts.if_contains("requirements_testable"); mine != nullptr && mine->is_int64()) {
            requirements += mine->get_int64();
            covered += (percent * mine->get_int64() + 99) / 100;
        }
        part.facts.erase("requirements_testable");
        for (const auto& fact : part.facts) {
            const auto value = whole_value(fact.key(), fact.value(), *scope);
            if (auto* known = report.facts.if_contains(fact.key())) {
                add(*known, value, fact.key());
            } else {
                report.facts[fact.key()] = value;
            }
        }
        scopes.push_back(json::object{{"directory", named(*scope)}, {"language", scope->language}, {"passed", part.passed}});
    }
    if (report.passed) { report.summary = good; }
    if (report.facts.contains("requirement_coverage_percent")) {
        report.facts["requirement_coverage_percent"] = requirements == 0 ? 100 : covered * 100 / requirements;
    }
    if (auto* others = report.facts.if_contains("requirements_not_tested_by_contract");
        others != nullptr && others->is_array() && whole != nullptr) {
        const auto testable = testable_requirements(whole->specification);
        json::array left;
        for (const auto& item : others->get_array()) {
            if (!item.is_string() ||
                std::find(testable.begin(), testable.end(), std::string_view(item.get_string())) == testable.end()) {
                left.push_back(item);
            }
        }
        *others = std::move(left);
    }
    report.facts["scopes"] = std::move(scopes);
    return report;
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
        if (before.error().code != "AF-GATE-002") { return std::move(before).error(); }
        return scopes("", tree);  // The user's commit has no language yet: an empty repository.
    }
    auto found = **before;
    if (settings_.directories.empty() && settings_.language.empty()) {
        // Checking all files costs time at every step; only a new project file can make a new scope.
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

/// RED in a scope in which it named no test: only fixtures and the skeleton may have changed there.
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
        if (!generated.ok() && generated.error().code != "AF-GATE-030") { return std::move(generated).error(); }
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
                    " was changed, but this stage may change only tests and the skeleton of the specified interfaces; take the change back.");
            }
        }
    }
    report.passed = report.blocking_issues.empty();
    report.summary = report.passed ? "no tests of its own" : report.blocking_issues.front();
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

Result<GateReport> ScopedGates::gate(const GateCall& call, const Stop& stop) {
    const auto base_tree = call.baseline == nullptr ? std::string{} : call.baseline->base_tree;
    AF_TRY(const auto* found, scopes(base_tree, call.tree));
    const auto& all = found->all();
    if (all.size() == 1) {
        AF_TRY(auto* only, engine_for(*found, all.front()));
        return only->gate(call, stop);
    }
    const auto& gate = call.request.gate;
    std::set<std::string> touched;
    if (!base_tree.empty()) {
        AF_TRY(const auto changes, whole_->changes(base_tree, call.tree));
        for (const auto& change : changes) {
            touched.insert(found->of(change.path).directory);
            if (!change.old_path.empty()) { touched.insert(found->of(change.old_path).directory); }
        }
    }
    const bool everything = base_tree.empty() || gate == gate_name::tests || gate == gate_name::deliver;
    std::vector<std::pair<const Scope*, GateReport>> parts;
    std::vector<std::pair<const Scope*, Error>> left_out;
    for (const auto& scope : all) {
        GateCall part = call;
        part.request.paths = part_of_paths(call.request.paths, *found, scope);
        part.request.parameters = part_of_parameters(call.request, *found, scope);
        if (!call.request.paths.empty() && part.request.paths.empty()) { continue; }
        const bool changed = touched.contains(scope.directory);
        const bool named = call.baseline != nullptr && (names_tests(call.baseline->test_suite, *found, scope) ||
                                                        holds_violation(call.request, *found, scope));
        if (call.request.paths.empty() && !everything && !changed && !named) { continue; }
        GateBaseline baseline;
        if (call.baseline != nullptr) {
            baseline = part_of_baseline(*call.baseline, *found, scope);
            part.baseline = &baseline;
        }
        AF_TRY(auto* one, engine_for(*found, scope));
        auto report =
            gate_facts(gate).judges_tests && !named ? red_without_tests(part, *one, scope, stop) : one->gate(part, stop);
        if (!report.ok()) {
            if (report.error().code != "AF-GATE-003" || changed || named || !call.request.paths.empty()) {
                return std::move(report).error();
            }
            left_out.emplace_back(&scope, std::move(report).error());
            continue;
        }
        if (call.baseline != nullptr && report->facts.contains("requirement_coverage_percent")) {
            report->facts["requirements_testable"] =
                static_cast<std::int64_t>(testable_requirements(baseline.specification).size());
        }
        parts.emplace_back(&scope, std::move(report).value());
    }
    if (parts.empty()) {
        if (!left_out.empty()) { return std::move(left_out.front().second); }
        AF_TRY(auto* first,
               engine_for(*found, all.front()));  // Nothing changed anywhere: the first scope reports what that means.
        GateBaseline baseline;
        GateCall part = call;
        if (call.baseline != nullptr) {
            baseline = part_of_baseline(*call.baseline, *found, all.front());
            part.baseline = &baseline;
        }
        return first->gate(part, stop);
    }
    auto report = put_together(std::move(parts), call.baseline);
    for (const auto& [scope, error] : left_out) {
        report.facts["scopes"].as_array().push_back(
            json::object{{"directory", named(*scope)}, {"language", scope->language}, {"not_run", error.message}});
        report.summary += "; " + named(*scope) + " not run: " + error.message;
    }
    return report;
}

Result<void> ScopedGates::for_interfaces(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                         const DeclaringScope& each) {
    auto known = scopes("", tree);
    if (!known.ok() && known.error().code == "AF-GATE-002" && !interfaces.empty()) {
        // Nothing exists yet: the file names of the interfaces tell the language.
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
        if (found.error().code == "AF-GATE-002") { return none; }  // The tree has no language yet.
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
        if (!outcome.ok() && outcome.error().code == "AF-EXEC-004") { return {}; }  // Reported wherever a program is started.
        if (!outcome.ok()) { return outcome.error(); }
        tool.found = outcome->exit_code == 0;
    }
    return {};
}

Result<GateReadiness> ScopedGates::readiness(const std::string& tree) {
    AF_TRY(const auto* known, languages_.all());
    AF_TRY(const auto settings, GateSettings::read(options_.settings));
    AF_CHECK(load_checks(options_.conformance_directories, settings.thresholds));
    GateReadiness readiness;
    std::vector<std::pair<const Language*, const TestRunner*>> used;
    const auto found = scopes("", tree);
    if (!found.ok() && (found.error().code != "AF-GATE-002" || !found.error().where.empty())) { return found.error(); }
    for (const auto& scope : found.ok() ? (*found)->all() : std::vector<Scope>()) {
        AF_TRY(auto* one, engine_for(**found, scope));
        AF_TRY(const auto* language, languages_.get(scope.language));
        AF_TRY(const auto files, one->checkout().files(tree));
        AF_TRY(const auto* runner,
               choose_runner(*language, files, [&](const std::string& path) { return one->checkout().file(tree, path); }));
        ScopeReadiness part;
        part.directory = scope.directory;
        part.language = scope.language;
        part.runner = runner == nullptr ? "" : runner->name;
        for (const auto& file : files) {
            if (language->tests.matches(file)) {
                ++part.test_files;
            } else if (language->sources.matches(file)) {
                ++part.source_files;
            }
        }
        // Tests among other code are only found by reading it. A few are enough to know that there are any.
        constexpr std::size_t most_read = 300;
        std::size_t read = 0;
        for (const auto& file : files) {
            if (read == most_read) { break; }
            if (!language->may_hold_tests(file)) { continue; }
            ++read;
            AF_TRY(const auto content, one->checkout().file(tree, file));
            if (content && !split_inline_tests(*content, language->inline_begins).tests.empty()) { ++part.test_files; }
        }
        AF_TRY(part.setup, one->setup_steps(tree));
        std::map<std::string, std::string> fetched;
        for (auto& step : part.setup) {
            if (step.ready) { fetched.insert(step.programs.begin(), step.programs.end()); }
            for (auto& file : step.files) { file = Scopes::outside(scope, file); }
        }
        Language here = *language;
        here.tools.clear();
        for (const auto& tool : language->tools) {
            AF_TRY(const bool applies,
                   holds(tool.when, files, [&](const std::string& path) { return one->checkout().file(tree, path); }));
            if (tool.when.empty() || applies) { here.tools.push_back(tool); }
        }
        part.tools = tools_of(here, runner, settings, fetched, options_.environment);
        // Dependencies that are fetched later may provide it.
        if (std::all_of(part.setup.begin(), part.setup.end(), [](const auto& step) { return step.ready; })) {
            AF_CHECK(probe(settings.readable, part.tools));
        }
        used.emplace_back(language, runner);
        // Files outside all projects only use the globs.
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

Result<GateRunner::PathMeaning> ScopedGates::path_meaning(const std::string& tree) {
    struct Part {
        Scope scope;
        const Language* language;
    };
    auto parts = std::make_shared<std::vector<Part>>();
    auto shared = std::make_shared<Scopes>();
    auto found = scopes("", tree);
    if (found.ok()) {
        *shared = **found;
        for (const auto& scope : shared->all()) {
            AF_TRY(const auto* known, languages_.get(scope.language));
            parts->push_back({scope, known});
        }
    } else if (found.error().code == "AF-GATE-002") {
        AF_TRY(const auto* known, languages_.all());
        for (const auto& [name, each] : *known) { parts->push_back({Scope{"", name, false}, &each}); }
    } else {
        return std::move(found).error();
    }
    // If languages are known, one scope judges a path. Otherwise each language may claim it.
    const auto any = [parts, shared](std::string_view path, auto claims) {
        return std::any_of(parts->begin(), parts->end(), [&](const Part& part) {
            const bool mine = shared->all().empty() || shared->of(path).directory == part.scope.directory;
            return mine && claims(*part.language, Scopes::inside(part.scope, path));
        });
    };
    GateRunner::PathMeaning meaning;
    meaning.only_tests = [any](std::string_view path) {
        return any(path, [](const Language& each, std::string_view inside) { return each.belongs_to_tests(inside); });
    };
    meaning.tests = [any](std::string_view path) {
        return any(path, [](const Language& each, std::string_view inside) {
            return each.belongs_to_tests(inside) || each.may_hold_tests(inside);
        });
    };
    meaning.sources = [any](std::string_view path) {
        return any(path, [](const Language& each, std::string_view inside) { return each.sources.matches(inside); });
    };
    for (const auto& part : *parts) {
        const auto in = part.scope.directory.empty() ? std::string{} : " in " + part.scope.directory;
        const auto list = [&](std::string& text, const std::vector<std::string>& globs) {
            text += (text.empty() ? "" : "; ");
            for (std::size_t i = 0; i < globs.size(); ++i) { text += (i == 0 ? "" : ", ") + globs[i]; }
            text += in;
        };
        if (text_is_long(meaning.tests_text)) { break; }
        list(meaning.tests_text, part.language->test_patterns);
        list(meaning.sources_text, part.language->source_patterns);
    }
    return meaning;
}

}  // namespace agentforge::kernel
