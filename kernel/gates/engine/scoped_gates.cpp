// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/scoped_gates.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/hash.hpp"
#include "config/gate_names.hpp"
#include "gates/engine/merged_report.hpp"
#include "gates/engine/readiness.hpp"
#include "gates/engine/rules.hpp"
#include "gates/engine/scope_parts.hpp"
#include "gates/failures.hpp"
#include "gates/language/inline_tests.hpp"
#include "gates/removal/removal_check.hpp"
#include "gates/stubs/declarable_interfaces.hpp"
#include "sandbox/failures.hpp"

namespace agentforge::kernel {
namespace {

bool text_is_long(const std::string& text) { return text.size() > 300; }

/// Appends `GLOB, GLOB in FOLDER`. `in`: the text ` in FOLDER`; empty for the whole tree.
void append_globs(std::string& text, const std::vector<std::string>& globs, const std::string& in) {
    text += (text.empty() ? "" : "; ");
    for (std::size_t i = 0; i < globs.size(); ++i) { text += (i == 0 ? "" : ", ") + globs[i]; }
    text += in;
}

}  // namespace

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
            json::object{{"directory", scope_name(*scope)}, {"language", scope->language}, {"not_run", error.message}});
        report.summary += "; " + scope_name(*scope) + " not run: " + error.message;
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
            if (!is_in_scope(*found, scope, interface.file)) { continue; }
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
