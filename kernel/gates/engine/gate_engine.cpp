// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/gate_engine.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

#include <re2/re2.h>

#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "config/gate_words.hpp"
#include "gates/engine/baseline.hpp"
#include "gates/failures.hpp"
#include "gates/language/inline_tests.hpp"
#include "gates/language/source_text.hpp"
#include "gates/stubs/scaffold.hpp"
#include "gates/stubs/stubs.hpp"

namespace agentforge::kernel {

namespace {

Violation make_violation(std::string check, std::string contract, const std::string& file, std::uint64_t line,
                         std::string message) {
    return {std::move(check), std::move(contract), "critical", file, line, std::move(message), ""};
}

std::string counted(std::size_t count, const std::string& one, const std::string& many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

json::array texts(const std::vector<std::string>& values) { return json::array(values.begin(), values.end()); }

json::array outcomes(const std::vector<TestOutcome>& tests) {
    json::array list;
    for (const auto& test : tests) { list.push_back(json::array{test.id, to_string(test.status)}); }
    return list;
}

std::int64_t number_of(const json::object& line, const char* key) {
    const auto* found = line.if_contains(key);
    return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

}  // namespace

Result<std::string> cache_key(const GateCall& call) {
    json::object key{{"gate", call.request.gate},
                     {"tree", call.tree},
                     {"paths", texts(call.request.paths)},
                     {"parameters", call.request.parameters}};
    if (call.baseline != nullptr) {
        const auto& baseline = *call.baseline;
        key["baseline"] = json::object{{"base_tree", baseline.base_tree},
                                       {"base_tests", outcomes(baseline.base_tests)},
                                       {"flaky", texts(baseline.flaky)},
                                       {"red_tree", baseline.red_tree},
                                       {"verified_tree", baseline.verified_tree},
                                       {"red_tests", outcomes(baseline.red_tests)},
                                       {"test_files", texts(baseline.test_files)},
                                       {"specification", baseline.specification},
                                       {"test_suite", baseline.test_suite},
                                       {"intent", baseline.intent},
                                       {"request", baseline.request},
                                       {"held_out", json::array{texts(baseline.held_out.files), baseline.held_out.tree}}};
    }
    return hash_of(key);
}

GateEngine::GateEngine(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, GateRunner::Options options)
    : checkout_(std::move(checkout)),
      options_(std::move(options)),
      processes_(processes),
      languages_(*checkout_, options_.languages_directory, options_.language) {}

Result<void> GateEngine::prepare() {
    if (commands_ != nullptr) { return {}; }
    AF_TRY(auto settings, GateSettings::read(options_.settings));
    integration_ = Globs(settings.integration_tests);
    commands_ = std::make_unique<LanguageCommands>(
        *checkout_, processes_, options_.scratch_directory, options_.environment, std::move(settings),
        DependencySettings{options_.dependencies_directory, options_.setup}, options_.log);
    parts_ = std::unique_ptr<Parts>(new Parts{FunctionMarks(*checkout_, *commands_, current_)});
    return {};
}

Result<GateReport> GateEngine::gate(const GateCall& call, const Stop& stop) {
    AF_CHECK(prepare());
    commands_->trust(call.baseline == nullptr ? call.tree : call.baseline->base_tree);
    const auto& name = call.request.gate;
    const GateFacts facts = gate_facts(name);
    current_.begin(call);
    auto enforcement = Enforcement::every_edit;
    for (const auto& parameter : call.request.parameters) {
        if (name == gate_name::tests && parameter.key() == "scope" && parameter.value() == json::value("affected")) { continue; }
        if (name == gate_name::tests && parameter.key() == "run" && parameter.value().is_int64() &&
            parameter.value().get_int64() > 0) {
            continue;
        }
        if (name == gate_name::fix && parameter.key() == "violation" && parameter.value().is_object()) { continue; }
        const bool known = name == gate_name::conformance && parameter.key() == "enforcement" && parameter.value().is_string() &&
                           (parameter.value().get_string() == "every_edit" || parameter.value().get_string() == "all");
        if (!known) {
            return Error{
                "AF-GATE-006",
                "The gate `" + name + "` does not accept the parameter `" + std::string(parameter.key()) +
                    "`, or not with this value.",
                "",
                "`conformance` takes enforcement: every_edit or all; `tests` takes run, a number, and scope: affected; `fix` takes violation; the others take none.",
                ErrorKind::invalid};
        }
        if (parameter.value().get_string() == "all") { enforcement = Enforcement::phase_end; }
    }
    if (name == gate_name::tests) { return tests(call, stop); }
    if (name == gate_name::syntax) { return syntax(call, stop); }
    if (name == gate_name::types) { return types(call, stop); }
    if (name == gate_name::conformance) { return conformance(call, enforcement, stop); }
    if (!facts.judges_a_stage) {
        return Error{"AF-GATE-001", "There is no gate `" + name + "`.", "",
                     "Known gates: syntax, types, conformance, tests, red, green, refactor, fix, deliver.", ErrorKind::invalid};
    }
    if (call.baseline == nullptr || call.baseline->base_tree.empty()) {
        return Error{"AF-GATE-004", "The gate `" + name + "` was called without a baseline to measure against.", "",
                     "This is a defect of the caller: a phase gate needs a baseline.", ErrorKind::internal};
    }
    return facts.judges_tests ? red(call, stop) : after_red(call, stop);
}

Result<TestRun> GateEngine::run_tests(const std::string& tree, const std::vector<std::string>& files, const Stop& stop,
                                      std::int64_t number, const std::string& timeout) {
    AF_TRY(const auto* found, languages_.of(tree));
    const auto key = tree + hash_of(texts(files)) + "/" + std::to_string(number);
    if (const auto known = runs_.find(key); known != runs_.end()) { return known->second; }
    if (const auto known = current_.judges_a_stage() ? runs_.end() : runs_.find("kept " + key); known != runs_.end()) {
        return known->second;
    }
    AF_TRY(auto run,
           commands_->run_tests(*found, tree,
                                {.files = files, .names = {}, .judged = current_.judges_a_stage(), .timeout = timeout}, stop));
    if (run.trusted) { runs_.emplace(run.kept_build ? "kept " + key : key, run); }
    if (run.trusted && !run.not_built) { built_.add(tree); }
    return run;
}

Result<TestRun> GateEngine::run_red_tests(const std::string& tree, const std::vector<std::string>& files, bool again,
                                          const Stop& stop) {
    AF_TRY(const auto* found, languages_.of(tree));
    const TestSelection selection{.files = files, .names = {}, .judged = true, .timeout = {}};
    TestRun run;
    if (again) {
        AF_TRY(run, commands_->run_tests(*found, tree, selection, stop));
    } else {
        AF_TRY(run, run_tests(tree, files, stop));
    }
    AF_CHECK(mark_stub_failures(*found, tree, files, run, stop));
    return run;
}

Result<void> GateEngine::mark_stub_failures(const Language& language, const std::string& tree,
                                            const std::vector<std::string>& files, TestRun& run, const Stop& stop) {
    const auto broken = [](const TestOutcome& test) { return test.status == TestStatus::error && test.id != test.file; };
    for (auto& test : run.tests) {
        if (!run.trusted || !broken(test)) { continue; }
        const bool by_result = !language.result_errors.empty() && RE2::PartialMatch(test.message, language.result_errors);
        if (!by_result && !lacks_specified_name(language, current_.specification(), test.message)) { continue; }
        test.status = TestStatus::failed_skeleton;
        test.message = ellipsis("hits an error in the code's result: " + test.message, 500);
    }
    if (!run.trusted || std::none_of(run.tests.begin(), run.tests.end(), broken)) { return {}; }
    auto key = tree + hash_of(texts(files));
    for (const auto& [file, names] : current_.to_be_changed()) { key += file + hash_of(texts({names.begin(), names.end()})); }
    if (!at_stubs_.contains(key)) {
        std::set<std::string> ids;
        AF_TRY(auto marked, parts_->marks.marked_stubs(language, tree, stop));
        if (!marked.empty()) {
            commands_->overlay_files(std::move(marked));
            const TestSelection selection{.files = files, .names = {}, .judged = true, .timeout = {}, .purpose = "stubs"};
            const auto second = commands_->run_tests(language, tree, selection, stop);
            commands_->overlay_files({});
            if (!second.ok()) { return second.error(); }
            for (const auto& test : second->tests) {
                if (second->trusted && test.status == TestStatus::failed_skeleton) { ids.insert(test.id); }
            }
        }
        at_stubs_.emplace(key, std::move(ids));
    }
    for (auto& test : run.tests) {
        if (!broken(test) || !at_stubs_.at(key).contains(test.id)) { continue; }
        test.status = TestStatus::failed_skeleton;
        test.message = ellipsis("reaches a function that has yet to be written or changed: " + test.message, 500);
    }
    return {};
}

bool GateEngine::is_integration_test(const std::string& path) const {
    return !integration_.empty() && integration_.matches(path);
}

Result<TestRun> GateEngine::run_suite(const std::string& tree, const std::vector<std::string>& files, bool integration,
                                      const std::vector<std::string>& always, const Stop& stop, std::int64_t number) {
    std::vector<std::string> first;
    std::vector<std::string> last;
    for (const auto& file : files) {
        if (!is_integration_test(file) || std::find(always.begin(), always.end(), file) != always.end()) {
            first.push_back(file);
        } else if (integration) {
            last.push_back(file);
        }
    }
    TestRun run;
    run.tree = tree;
    run.trusted = true;
    if (!first.empty()) { AF_TRY(run, run_tests(tree, first, stop, number)); }
    if (last.empty()) { return run; }
    AF_TRY(auto more, run_tests(tree, last, stop, number, "integration"));
    if (first.empty()) { return more; }
    // Neither run counts unless both are trusted: a tree gets one verdict.
    if (run.trusted && !more.trusted) { run.distrust = "integration tests: " + more.distrust; }
    run.trusted = run.trusted && more.trusted;
    std::move(more.tests.begin(), more.tests.end(), std::back_inserter(run.tests));
    std::move(more.notes.begin(), more.notes.end(), std::back_inserter(run.notes));
    run.assertions.merge(more.assertions);
    run.invocations.merge(more.invocations);
    run.reads.merge(more.reads);
    run.duration += more.duration;
    return run;
}

Result<std::vector<std::string>> GateEngine::flaky_tests(const GateBaseline& baseline, const std::string& tree,
                                                         const std::vector<std::string>& files, const TestRun& run,
                                                         const Stop& stop) {
    constexpr std::size_t most_doubted = 20;
    if (!run.trusted || run.not_built) { return std::vector<std::string>{}; }
    std::set<std::string> passed(baseline.flaky.begin(), baseline.flaky.end());  // Flaky tests cannot regress.
    std::vector<std::string> problems;
    for (const auto& test : declared_tests(baseline.test_suite, problems)) {
        for (const auto* outcome : outcomes_of(test, run.tests)) { passed.insert(outcome->id); }
    }
    const auto left_out = std::move(passed);
    passed.clear();
    for (const auto& test : baseline.base_tests) {
        if (test.status == TestStatus::passed && !left_out.contains(test.id)) { passed.insert(test.id); }
    }
    std::set<std::string> doubted;
    std::set<std::string> own;
    for (const auto& test : run.tests) {
        if (!is_failure(test.status) || !passed.contains(test.id)) { continue; }
        doubted.insert(test.id);
        if (std::find(files.begin(), files.end(), test.file) == files.end()) {
            own.insert(files.begin(), files.end());  // The report names no files.
        } else {
            own.insert(test.file);
        }
    }
    if (doubted.size() > most_doubted) { return std::vector<std::string>{}; }
    // Runs their own files first, which is fast if they just fail. Then runs everything that ran with them, because a test may
    // fail only beside others.
    const std::vector<std::string> alone(own.begin(), own.end());
    for (const auto* selection : {&alone, &files}) {
        if (doubted.empty()) { break; }
        AF_TRY(const auto again,
               run_suite(tree, *selection, true, {}, stop, selection == &alone ? -1 : -2));  // Run numbers that no caller uses.
        std::set<std::string> passing;
        for (const auto& test : again.tests) {
            if (again.trusted && test.status == TestStatus::passed) { passing.insert(test.id); }
        }
        std::erase_if(doubted, [&](const std::string& id) { return !passing.contains(id); });
    }
    return std::vector<std::string>(doubted.begin(), doubted.end());
}

Result<std::vector<std::string>> GateEngine::affected_files(const GateCall& call, const std::vector<std::string>& suite,
                                                            const Stop& stop) {
    std::vector<std::string> unit = suite;
    std::erase_if(unit, [&](const std::string& file) { return is_integration_test(file); });
    if (call.baseline == nullptr || call.baseline->base_tree.empty()) { return unit; }
    AF_TRY(const auto* found, languages_.of(call.tree));
    AF_TRY(const auto changes, checkout_->changes(call.baseline->base_tree, call.tree));
    std::set<std::string> chosen(call.baseline->test_files.begin(), call.baseline->test_files.end());
    std::vector<std::string> sources;
    for (const auto& change : changes) {
        for (const auto* path : {&change.path, &change.old_path}) {
            if (path->empty() || path->ends_with(".md") || path->ends_with(".rst")) { continue; }
            if (found->tests.matches(*path)) {
                chosen.insert(*path);
            } else if (found->sources.matches(*path) && !found->test_support.matches(*path)) {
                sources.push_back(*path);
            } else {
                return unit;  // Data, configuration or test support: the tests that read it are unknown.
            }
        }
    }
    std::vector<std::string> there = sources;
    AF_TRY(const auto everything, checkout_->files(call.tree));
    std::erase_if(there,
                  [&](const std::string& file) { return !std::binary_search(everything.begin(), everything.end(), file); });
    std::optional<std::vector<std::string>> affected_tests;
    if (there.size() == sources.size()) { AF_TRY(affected_tests, commands_->affected(*found, call.tree, sources, stop)); }
    if (affected_tests) {
        chosen.insert(affected_tests->begin(), affected_tests->end());
    } else if (!sources.empty()) {
        std::vector<std::string> known = everything;
        std::erase_if(known,
                      [&](const std::string& file) { return !found->sources.matches(file) && !found->tests.matches(file); });
        if (known.size() > MentionIndex::max_files) { return unit; }
        std::vector<std::string> changed;
        if (!mentions_tree_.empty()) {
            AF_TRY(const auto since, checkout_->changes(mentions_tree_, call.tree));
            for (const auto& change : since) { changed.push_back(change.path); }
        }
        mentions_tree_.clear();
        AF_CHECK(mentions_.update(known, changed, [&](const std::string& path) { return checkout_->file(call.tree, path); }));
        mentions_tree_ = call.tree;
        chosen.merge(mentions_.affected(sources));
    }
    std::erase_if(unit, [&](const std::string& file) { return !chosen.contains(file); });
    return unit;
}

Result<std::string> GateEngine::why_no_test_could_run(const std::string& tree, const Stop& stop) {
    AF_TRY(const auto* found, languages_.of(tree));
    AF_TRY(const bool runs_as_it_is, commands_->needs_no_build(*found, tree));
    if (!runs_as_it_is) { return std::string(); }
    AF_TRY(const auto run, run_tests(tree, {}, stop));
    return run.trusted || run.crashed ? std::string() : run.distrust;
}

namespace {

/// Returns the names of single tests, without their parameters, if only such are requested and a runner can be given each.
std::set<std::string> requested_test_names(const std::vector<std::string>& paths) {
    static const RE2 word(R"([\w$]+)");
    std::set<std::string> names;
    for (const auto& path : paths) {
        const auto colon = path.rfind("::");
        if (colon == std::string::npos) { return {}; }
        const auto name = path.substr(colon + 2);
        names.insert(name.substr(0, name.find_first_of("[/(")));
    }
    const bool plain = std::all_of(names.begin(), names.end(), [](const auto& name) { return RE2::FullMatch(name, word); });
    return plain ? names : std::set<std::string>();
}

}  // namespace

/// One call of the gate `tests`.
class GateEngine::TestsGate {
public:
    TestsGate(GateEngine& engine, const GateCall& call, const Stop& stop)
        : engine_(engine), call_(call), stop_(stop), affected_(call.request.parameters.contains("scope")) {}

    Result<GateReport> measure();

private:
    Result<void> choose_files();
    Result<void> choose_requested_files();
    bool add_files_under(const std::string& place, std::vector<std::string>& chosen) const;
    Result<void> choose_single_tests();
    Result<GateReport> report_no_tests();
    Result<TestRun> run_chosen();
    void check_named_tests_ran();
    void report_run();
    void report_part_of_files();
    Result<void> judge_failures();
    void describe_uncounted_failures(std::size_t excused);
    [[nodiscard]] std::string summary() const;

    GateEngine& engine_;
    const GateCall& call_;
    const Stop& stop_;
    const bool affected_;             ///< Only the tests that the task's changes may affect are wanted.
    std::vector<std::string> files_;  ///< Test files to run.
    std::size_t total_ = 0;           ///< Number of all test files.
    std::set<std::string> names_;     ///< Single tests that were requested. Empty if a whole file or folder was requested too.
    TestRun run_;
    std::vector<std::string> flaky_since_;  ///< Tests that became flaky during the task.
    std::string not_counted_;               ///< For the summary: what was not run, and which failures do not count.
    GateReport report_;
};

Result<GateReport> GateEngine::tests(const GateCall& call, const Stop& stop) { return TestsGate(*this, call, stop).measure(); }

Result<GateReport> GateEngine::TestsGate::measure() {
    AF_TRY(files_, engine_.languages_.test_files(call_.tree));
    total_ = files_.size();
    AF_CHECK(choose_files());
    if (files_.empty()) { return report_no_tests(); }
    AF_TRY(run_, run_chosen());
    check_named_tests_ran();
    report_run();
    AF_CHECK(judge_failures());
    report_.passed = report_.blocking_issues.empty();
    report_.summary = summary();
    report_.tests = std::move(run_.tests);
    return std::move(report_);
}

Result<void> GateEngine::TestsGate::choose_files() {
    if (affected_) {
        AF_TRY(files_, engine_.affected_files(call_, files_, stop_));
        return {};
    }
    return call_.request.paths.empty() ? Result<void>() : choose_requested_files();
}

Result<void> GateEngine::TestsGate::choose_requested_files() {
    AF_TRY(const auto everything, engine_.checkout_->files(call_.tree));
    std::vector<std::string> chosen;
    bool all = false;
    for (const auto& path : call_.request.paths) {
        const auto place = path.substr(0, path.find("::"));
        if (add_files_under(place, chosen)) { continue; }
        if (std::find(everything.begin(), everything.end(), place) != everything.end()) {
            all = true;  // A source file: which tests it affects is unknown, so all run.
        } else {
            report_.blocking_issues.push_back("The workspace has no test file or folder with tests at " + place + ".");
        }
    }
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    if (!all) { files_ = std::move(chosen); }
    AF_CHECK(choose_single_tests());
    if (all) { names_.clear(); }
    return {};
}

/// Adds the test file with this path, or those in the folder with it. Returns whether there are any.
bool GateEngine::TestsGate::add_files_under(const std::string& place, std::vector<std::string>& chosen) const {
    const auto folder = place.empty() || place.back() == '/' ? place : place + "/";
    const auto before = chosen.size();
    std::copy_if(files_.begin(), files_.end(), std::back_inserter(chosen), [&](const auto& candidate) {
        return candidate == place || candidate.compare(0, folder.size(), folder) == 0 || place == ".";
    });
    return chosen.size() != before;
}

Result<void> GateEngine::TestsGate::choose_single_tests() {
    AF_TRY(const auto* found, engine_.languages_.of(call_.tree));
    AF_TRY(const auto* runner, engine_.commands_->runner(*found, call_.tree));
    if (runner != nullptr && runner->single) { names_ = requested_test_names(call_.request.paths); }
    return {};
}

Result<GateReport> GateEngine::TestsGate::report_no_tests() {
    const bool unaffected = affected_ && total_ > 0;
    report_.passed = report_.blocking_issues.empty();
    if (!report_.passed) {
        report_.summary = report_.blocking_issues.front();
    } else if (unaffected) {
        report_.summary = "none of " + counted(total_, "test file", "test files") + " is affected by the change";
    } else {
        report_.summary = "no tests were found";
    }
    report_.facts = {{"tests_found", unaffected}, {"test_results", count_tests({})}};
    if (total_ == 0 && call_.request.parameters.contains("run")) {
        AF_TRY(const auto reason, engine_.why_no_test_could_run(call_.tree, stop_));
        if (!reason.empty()) { report_.facts["unmeasurable"] = texts({reason}); }
    }
    return std::move(report_);
}

Result<TestRun> GateEngine::TestsGate::run_chosen() {
    if (affected_) { return engine_.run_tests(call_.tree, files_, stop_, 1, "tests_after_edit"); }
    if (names_.empty()) {
        // The caller named an integration test, so integration tests run.
        const auto wanted = call_.request.paths.empty() ? std::vector<std::string>{} : files_;
        const auto number = number_of(call_.request.parameters, "run");
        return engine_.run_suite(call_.tree, files_, true, wanted, stop_, number == 0 ? 1 : number);
    }
    AF_TRY(const auto* found, engine_.languages_.of(call_.tree));
    return engine_.commands_->run_tests(*found, call_.tree,
                                        {files_, {names_.begin(), names_.end()}, engine_.current_.judges_a_stage(), {}}, stop_);
}

/// A runner may run more than requested, but not less.
void GateEngine::TestsGate::check_named_tests_ran() {
    if (!run_.trusted || run_.not_built) { return; }
    for (const auto& name : names_) {
        const bool there = std::any_of(run_.tests.begin(), run_.tests.end(), [&](const auto& test) {
            return test.id == test.file || test.id.find(name) != std::string::npos;
        });
        if (there) { continue; }
        report_.blocking_issues.push_back("There is no test " + name + " in " + files_.front() +
                                          (files_.size() > 1 ? " and the other files." : "."));
    }
}

void GateEngine::TestsGate::report_run() {
    report_.facts = {{"tests_found", true},        {"believed", run_.trusted},        {"test_results", count_tests(run_.tests)},
                     {"notes", texts(run_.notes)}, {"confinement", run_.confinement}, {"duration_ms", run_.duration.count()},
                     {"runner", run_.runner},      {"not_built", run_.not_built}};
    // The runner itself does not work. A crash by the code, or an unknown runner, does not count: the task can fix these.
    if (!run_.trusted && !run_.runner.empty() && !run_.crashed) { report_.facts["unmeasurable"] = texts({run_.distrust}); }
    if (affected_) { report_part_of_files(); }
}

void GateEngine::TestsGate::report_part_of_files() {
    report_.facts["test_files_run"] = static_cast<std::int64_t>(files_.size());
    report_.facts["test_files_total"] = static_cast<std::int64_t>(total_);
    if (files_.size() < total_) {
        not_counted_ = " (" + std::to_string(files_.size()) + " of " + counted(total_, "test file", "test files") +
                       ", those that the change may affect)";
    }
}

Result<void> GateEngine::TestsGate::judge_failures() {
    if (!run_.trusted) {
        report_.blocking_issues.push_back("The test run is not trusted: " + run_.distrust + ".");
        return {};
    }
    Excused excused;
    if (call_.baseline != nullptr) {
        // Reruns flaky tests only at the end of a phase. After an edit the answer must be fast.
        if (!affected_) { AF_TRY(flaky_since_, engine_.flaky_tests(*call_.baseline, call_.tree, files_, run_, stop_)); }
        report_.facts["flaky_since"] = texts(flaky_since_);
        excused = excused_failures(call_.baseline->base_tests, call_.baseline->flaky, call_.baseline->test_suite, run_.tests);
        report_.facts["failed_before"] = json::array(excused.failed_before.begin(), excused.failed_before.end());
        report_.facts["flaky"] = json::array(excused.flaky.begin(), excused.flaky.end());
    }
    for (const auto& test : run_.tests) {
        if (!is_failure(test.status) || excused.failed_before.contains(test.id) || excused.flaky.contains(test.id)) { continue; }
        if (std::find(flaky_since_.begin(), flaky_since_.end(), test.id) != flaky_since_.end()) { continue; }
        report_.blocking_issues.push_back(test.id + " failed: " + first_line(test.message));
    }
    describe_uncounted_failures(excused.failed_before.size() + excused.flaky.size());
    return {};
}

void GateEngine::TestsGate::describe_uncounted_failures(std::size_t excused) {
    if (!flaky_since_.empty()) {
        not_counted_ += "; " + counted(flaky_since_.size(), "test", "tests") +
                        " failed and then passed twice (flaky): " + flaky_since_.front();
    }
    if (excused > 0) {
        not_counted_ += "; " + counted(excused, "failure", "failures") + " not counted (failed before the task, or flaky)";
    }
}

std::string GateEngine::TestsGate::summary() const {
    if (!run_.trusted) { return report_.blocking_issues.back(); }
    if (run_.not_built) { return run_.tests.front().message; }
    const auto tests = counted(run_.tests.size(), "test", "tests");
    if (report_.passed) { return tests + ", none failed" + not_counted_; }
    return std::to_string(report_.blocking_issues.size()) + " of " + tests + " failed" + not_counted_;
}

Result<std::vector<TreeChange>> GateEngine::scope(const GateCall& call) {
    std::vector<TreeChange> changes;
    if (call.baseline != nullptr && !call.baseline->base_tree.empty()) {
        AF_TRY(changes, checkout_->changes(call.baseline->base_tree, call.tree));
    } else {
        AF_TRY(const auto files, checkout_->files(call.tree));
        for (const auto& file : files) { changes.push_back({file, "", 'A', 0, 0}); }
    }
    std::erase_if(changes, [&](const TreeChange& change) {
        if (change.status == 'D') { return true; }
        if (call.request.paths.empty()) { return false; }
        return std::none_of(call.request.paths.begin(), call.request.paths.end(), [&](const std::string& path) {
            const auto folder = path.empty() || path.back() == '/' ? path : path + "/";
            return path == "." || change.path == path || change.path.compare(0, folder.size(), folder) == 0;
        });
    });
    return changes;
}

Result<GateReport> GateEngine::syntax(const GateCall& call, const Stop& stop) {
    GateReport report;
    AF_TRY(const auto* found, languages_.of(call.tree));
    AF_TRY(const auto changes, scope(call));
    json::array files;
    for (const auto& change : changes) {
        if (found->sources.matches(change.path)) { files.emplace_back(change.path); }
    }
    const auto command = found->commands.find("syntax");
    const bool as_text = command != found->commands.end() && !command->second.error.empty();
    if (command == found->commands.end()) {
        // In a compiled language the build checks the syntax.
        report.passed = true;
        report.facts = {{"files_checked", 0}, {"syntax_passing", true}, {"syntax_check", "by the build"}};
        report.summary = found->name + " syntax is checked by its build";
        return report;
    }
    const auto count = files.size();
    report.facts = {{"files_checked", static_cast<std::int64_t>(count)}};
    if (count > 0 && as_text) {
        std::vector<std::string> names;
        for (const auto& file : files) { names.emplace_back(file.get_string()); }
        AF_TRY(report.violations, syntax_errors(*found, command->second, call.tree, names, stop));
        report.facts["confinement"] = commands_->last_confinement();
        for (const auto& each : report.violations) {
            report.blocking_issues.push_back(each.file + ":" + std::to_string(each.line) + ": " + each.message);
        }
    } else if (count > 0) {
        const json::object input{{"root", checkout_->path().string()}, {"files", std::move(files)}};
        AF_TRY(const auto lines, commands_->run_for_lines(*found, "syntax", call.tree, input, stop));
        report.facts["confinement"] = commands_->last_confinement();
        for (const auto& line : lines) {
            if (line.if_contains("end") != nullptr) { break; }
            const auto number = static_cast<std::uint64_t>(std::max<std::int64_t>(0, number_of(line, "line")));
            report.violations.push_back(
                make_violation("syntax", "syntax", text_of(line, "file"), number, text_of(line, "message")));
            report.blocking_issues.push_back(text_of(line, "file") + ":" + std::to_string(number) + ": " +
                                             text_of(line, "message"));
        }
    }
    report.passed = report.violations.empty();
    report.facts["syntax_passing"] = report.passed;
    report.summary = report.passed ? counted(count, "file", "files") + " without syntax errors"
                                   : counted(report.violations.size(), "syntax error", "syntax errors");
    return report;
}

Result<std::vector<Violation>> GateEngine::type_errors(const Language& language, const TypeChecker& checker,
                                                       const std::string& tree, const Stop& stop, bool& installed) {
    auto command = checker.command;
    command.name = "types";
    AF_TRY(const auto outcome, commands_->run(language, command, tree, "", stop, false));
    installed = outcome.has_value();
    std::vector<Violation> found;
    if (!installed) { return found; }
    for (auto& error : find_messages(checker.command.error, outcome->out + "\n" + outcome->err, checkout_->path().string())) {
        found.push_back(make_violation(checker.name, "types", error.file, error.line, ellipsis(error.message, 500)));
    }
    if (found.empty() && (outcome->exit_code != 0 || outcome->timed_out)) {
        found.push_back(make_violation(checker.name, "types", "", 0,
                                       outcome->timed_out
                                           ? checker.name + " did not finish in time"
                                           : checker.name + " ended with exit code " + std::to_string(outcome->exit_code) + ": " +
                                                 ellipsis(sanitize_utf8(outcome->out + outcome->err), 300)));
    }
    return found;
}

Result<std::vector<Violation>> GateEngine::build_errors(const Language& language, const TypeChecker& checker,
                                                        const std::string& tree, const Stop& stop) {
    // Gates of later phases measure the same tree again.
    if (commands_->has_no_overlay() && built_.contains(tree)) { return std::vector<Violation>{}; }
    AF_TRY(const auto built, commands_->build(language, tree, current_.judges_a_stage(), stop));
    std::vector<Violation> found;
    if (built.built) {
        if (commands_->has_no_overlay()) { built_.add(tree); }
        return found;
    }
    const auto messages = checker.command.error.empty()
                              ? built.errors
                              : find_messages(checker.command.error, built.output, checkout_->path().string());
    for (const auto& error : messages) {
        found.push_back(make_violation(checker.name, "types", error.file, error.line, ellipsis(error.message, 500)));
    }
    if (found.empty()) { found.push_back(make_violation(checker.name, "types", "", 0, built.problem)); }
    return found;
}

Result<std::vector<Violation>> GateEngine::syntax_errors(const Language& language, const LanguageCommand& command,
                                                         const std::string& tree, const std::vector<std::string>& files,
                                                         const Stop& stop) {
    std::vector<Violation> found;
    // `{file}`: the program reads one file per call.
    const bool one_by_one = std::any_of(command.argv.begin(), command.argv.end(),
                                        [](const auto& argument) { return argument.find("{file}") != std::string::npos; });
    for (std::size_t at = 0; at < files.size(); at += one_by_one ? 1 : files.size()) {
        const auto some = one_by_one ? std::vector<std::string>{files[at]} : files;
        AF_TRY(const auto outcome, commands_->run(language, command, tree, "", stop, true, some));
        const auto text = outcome->out + outcome->err;
        const auto before = found.size();
        for (auto& error : find_messages(command.error, text, checkout_->path().string())) {
            found.push_back(make_violation("syntax", "syntax", error.file, error.line, ellipsis(error.message, 500)));
        }
        if (found.size() == before && (outcome->exit_code != 0 || outcome->timed_out)) {
            found.push_back(make_violation(
                "syntax", "syntax", some.front(), 0,
                outcome->timed_out
                    ? "the check did not finish in time"
                    : "the check ended with exit code " + std::to_string(outcome->exit_code) + ": " + last_output_line(text)));
        }
    }
    return found;
}

Result<GateReport> GateEngine::types(const GateCall& call, const Stop& stop) {
    GateReport report;
    report.passed = true;
    AF_TRY(const auto* found, languages_.of(call.tree));
    AF_TRY(const auto* declared, languages_.type_checker(call.tree));
    // True because no required checker complained; the fact `type_check` tells that none ran.
    report.facts = {{"type_check_passing", true}, {"type_check", "not configured"}};
    report.summary = no_type_checker;
    if (declared == nullptr) { return report; }
    report.facts["type_checker"] = declared->name;
    bool installed = false;
    const bool by_build = declared->command.argv.empty();
    const auto check = [&](const std::string& tree) {
        return by_build ? build_errors(*found, *declared, tree, stop) : type_errors(*found, *declared, tree, stop, installed);
    };
    installed = by_build;
    AF_TRY(auto errors, check(call.tree));
    if (!installed) {
        report.facts["type_check"] = "not installed";
        report.summary = declared->name + " is configured but not installed: " + std::string(types_not_checked);
        return report;
    }
    report.facts["type_check"] = "checked";
    report.facts["confinement"] = commands_->last_confinement();
    std::int64_t known = 0;
    if (!errors.empty() && call.baseline != nullptr && !call.baseline->base_tree.empty()) {
        AF_TRY(const auto before, check(call.baseline->base_tree));
        std::map<std::string, std::size_t> counts;
        for (const auto& error : before) { ++counts[error.file + "\n" + error.message]; }
        std::erase_if(errors, [&](const Violation& error) {
            auto& left = counts[error.file + "\n" + error.message];
            if (left == 0) { return false; }
            --left;
            ++known;
            return true;
        });
    }
    for (const auto& error : errors) {
        report.blocking_issues.push_back(error.file + ":" + std::to_string(error.line) + ": " + error.message);
    }
    report.passed = errors.empty();
    report.facts["type_check_passing"] = report.passed;
    report.facts["type_errors"] = static_cast<std::int64_t>(errors.size());
    report.facts["type_errors_before"] = known;
    report.summary = report.passed ? declared->name + " found no new errors"
                                   : declared->name + " found " + counted(errors.size(), "new error", "new errors");
    report.violations = std::move(errors);
    return report;
}

namespace {

/// True if a line belongs to the tests: the file is a test file, or the line is in the tests it contains beside other code.
bool stands_in_tests(const Language& language, const std::vector<std::string>& named, const std::string& path,
                     const std::string& content, std::uint64_t line) {
    if (!language.may_hold_tests(path)) {
        return language.belongs_to_tests(path) || std::find(named.begin(), named.end(), path) != named.end();
    }
    const auto text_at = [line](std::string_view text) {
        for (std::uint64_t number = 1; number < line && !text.empty(); ++number) {
            const auto end = text.find('\n');
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        }
        return text.substr(0, text.find('\n'));
    };
    return text_at(split_inline_tests(content, language.inline_begins).lines) != text_at(content);
}

constexpr std::size_t most_measured_bytes = 2UL << 20U;  // Per file. Larger files are not searched either.

/// Returns why violations of a source file may be missing, or empty. `command`: the reason that the language's command gave.
std::string why_not_measured(const std::string& content, const std::string& command) {
    if (content.size() > most_measured_bytes) { return "larger than " + std::to_string(most_measured_bytes >> 20U) + " MiB"; }
    return content.find('\0') == std::string::npos ? command : "binary: it has a zero byte";
}

/// Lists the first five lines that no test runs.
std::string first_missing_lines(const Coverage& measured) {
    std::string lines;
    for (std::size_t index = 0; index < std::min<std::size_t>(measured.missing.size(), 5); ++index) {
        lines += (index == 0 ? "" : ", ") + measured.missing[index].file + ":" + std::to_string(measured.missing[index].line);
    }
    if (measured.missing.size() > 5) { lines += " and " + std::to_string(measured.missing.size() - 5) + " more"; }
    return lines;
}

}  // namespace

Result<std::vector<ConformanceCheck>> GateEngine::checks(Enforcement enforcement) {
    if (!checks_) {
        AF_TRY(auto loaded, load_checks(options_.conformance_directories, commands_->settings().thresholds));
        checks_ = std::move(loaded);
    }
    auto checks = *checks_;
    std::erase_if(checks, [&](const auto& check) { return check.enforcement > enforcement; });
    return checks;
}

/// A file in one tree.
struct GateEngine::FileVersion {
    std::string path;
    std::string content;
    std::vector<Metric> metrics;
    std::string not_measured = {};  ///< Why the language's command did not measure it, or only in part. Empty: it did.
};

namespace {

/// The complexity and length of each function in a file's text.
std::vector<Metric> metrics_of_text(const std::string& path, const std::string& content, const CodeRules& code) {
    std::vector<Metric> metrics;
    for (const auto& function : functions_of(read_code(content, code), code)) {
        metrics.push_back({"complexity", path, function.first_line, function.name, function.complexity});
        metrics.push_back({"function-length", path, function.first_line, function.name,
                           static_cast<std::int64_t>(function.last_line - function.first_line + 1)});
    }
    return metrics;
}

Error not_a_line_of_metrics(const Language& language, const json::object& line) {
    return {"AF-GATE-003", "The command `metrics` of " + language.name + " wrote output in the wrong format.",
            ellipsis(to_json_line(line), 500),
            "A line with `not_measured` needs a `file` of the command's input, and the reason as a string.",
            ErrorKind::unavailable};
}

Metric metric_of(const json::object& line, const std::string& path) {
    return {text_of(line, "metric"), path, static_cast<std::uint64_t>(std::max<std::int64_t>(0, number_of(line, "line"))),
            text_of(line, "name"), number_of(line, "value")};
}

}  // namespace

Result<void> GateEngine::measure_by_command(const Language& language, const std::vector<FileVersion*>& files, const Stop& stop) {
    constexpr std::size_t most_bytes = 4UL << 20U;  // Per call of the command, which has a timeout.
    for (std::size_t begin = 0; begin < files.size();) {
        json::array inputs;
        std::size_t bytes = 0;
        const auto first = begin;
        for (; begin < files.size() && (begin == first || bytes + files[begin]->content.size() <= most_bytes); ++begin) {
            bytes += files[begin]->content.size();
            inputs.push_back(json::object{{"path", std::to_string(begin) + "/" + files[begin]->path},
                                          {"content", sanitize_utf8(files[begin]->content)}});
        }
        AF_TRY(const auto lines,
               commands_->run_for_lines(language, "metrics", "", json::object{{"files", std::move(inputs)}}, stop));
        for (const auto& line : lines) {
            const auto file = text_of(line, "file");
            const auto slash = file.find('/');
            const auto index = std::strtoull(file.c_str(), nullptr, 10);
            const bool is_sent =
                slash != std::string::npos && index >= first && index < begin && files[index]->path == file.substr(slash + 1);
            if (line.if_contains("not_measured") != nullptr) {
                auto reason = text_of(line, "not_measured");
                if (!is_sent || reason.empty()) { return not_a_line_of_metrics(language, line); }
                files[index]->not_measured = std::move(reason);
            } else if (is_sent) {
                files[index]->metrics.push_back(metric_of(line, files[index]->path));
            }
        }
    }
    return {};
}

Result<void> GateEngine::measure_files(const Language& language, const std::vector<ConformanceCheck>& checks,
                                       const std::vector<std::vector<FileVersion>*>& files, const Stop& stop) {
    std::vector<FileVersion*> all;
    for (auto* versions : files) {
        for (auto& version : *versions) {
            const bool is_measured = language.sources.matches(version.path) && version.content.size() <= most_measured_bytes;
            if (is_measured) { all.push_back(&version); }
        }
    }
    if (language.commands.contains("metrics")) { return measure_by_command(language, all, stop); }
    const bool by_function = std::any_of(checks.begin(), checks.end(), [](const auto& check) {
        return check.metric == "complexity" || check.metric == "function-length";
    });
    if (!by_function || language.code.empty()) { return {}; }
    for (auto* version : all) {
        auto metrics = metrics_of_text(version->path, version->content, language.code);
        std::move(metrics.begin(), metrics.end(), std::back_inserter(version->metrics));
    }
    return {};
}

Result<std::vector<Finding>> GateEngine::findings(const std::string& tree, const std::vector<std::string>& paths,
                                                  const Stop& stop, std::vector<UnmeasuredFile>* not_measured) {
    AF_CHECK(prepare());
    AF_TRY(const auto* found, languages_.of(tree));
    AF_TRY(const auto checks, this->checks(Enforcement::phase_end));
    AF_TRY(const auto files, checkout_->files(tree));
    const bool measures = found->commands.contains("metrics") || !found->code.empty();
    const auto miss = [&](const std::string& file, std::string reason) {
        if (not_measured == nullptr || !measures || reason.empty() || !found->sources.matches(file)) { return; }
        not_measured->push_back({file, std::move(reason)});
    };
    std::set<std::string> wanted;
    for (auto path : paths) {
        while (path.ends_with('/')) { path.pop_back(); }
        wanted.insert(path);
    }
    const auto is_wanted = [&](const std::string& file) {
        if (wanted.empty() || wanted.contains(".") || wanted.contains("") || wanted.contains(file)) { return true; }
        for (auto slash = file.find('/'); slash != std::string::npos; slash = file.find('/', slash + 1)) {
            if (wanted.contains(file.substr(0, slash))) { return true; }
        }
        return false;
    };
    std::vector<FileVersion> versions;
    for (const auto& file : files) {
        if (!is_wanted(file)) { continue; }
        AF_TRY(auto content, checkout_->file(tree, file));
        if (content) {
            versions.push_back({file, std::move(*content), {}});
        } else {
            miss(file, "too large, unreadable, or with hard links");
        }
    }
    AF_CHECK(measure_files(*found, checks, {&versions}, stop));
    const ConformanceSearch search(checks, *found);
    std::vector<Finding> all;
    for (const auto& version : versions) {
        auto some = search.find(version.path, version.content, version.metrics);
        std::move(some.begin(), some.end(), std::back_inserter(all));
        miss(version.path, why_not_measured(version.content, version.not_measured));
        // The user named a file of another language: reports that most checks skip it.
        if (not_measured != nullptr && wanted.contains(version.path) && !found->sources.matches(version.path)) {
            not_measured->push_back({version.path, "not a " + found->name + " source: only the checks for all files apply"});
        }
    }
    return all;
}

/// One call of the gate `conformance`.
class GateEngine::ConformanceGate {
public:
    ConformanceGate(GateEngine& engine, const GateCall& call, Enforcement enforcement, const Stop& stop)
        : engine_(engine), call_(call), enforcement_(enforcement), stop_(stop) {}

    Result<GateReport> measure();

private:
    Result<void> read_versions();
    Result<void> measure_coverage();
    void report_coverage(const Coverage& measured);
    void add_untested_percent(const Coverage& measured);
    void judge_findings();
    [[nodiscard]] std::vector<Finding> found_in(const ConformanceSearch& search, const std::vector<FileVersion>& versions) const;
    void excuse_locked_test(Finding& finding) const;
    void block(const Violation& violation);
    void sum_up(std::size_t total, std::size_t fresh);

    GateEngine& engine_;
    const GateCall& call_;
    const Enforcement enforcement_;
    const Stop& stop_;
    const Language* language_ = nullptr;
    std::vector<ConformanceCheck> checks_;
    std::vector<FileVersion> now_;     ///< Each file as it is,
    std::vector<FileVersion> before_;  ///< and as in the user's commit.
    std::set<std::string> broken_;     ///< Checks with a violation that blocks.
    std::int64_t blocking_ = 0;
    GateReport report_;
};

Result<GateReport> GateEngine::conformance(const GateCall& call, Enforcement enforcement, const Stop& stop) {
    return ConformanceGate(*this, call, enforcement, stop).measure();
}

Result<GateReport> GateEngine::ConformanceGate::measure() {
    AF_TRY(language_, engine_.languages_.of(call_.tree));
    AF_TRY(checks_, engine_.checks(enforcement_));
    AF_CHECK(read_versions());
    AF_CHECK(engine_.measure_files(*language_, checks_, {&before_, &now_}, stop_));  // One command measures both.
    if (language_->commands.contains("metrics") && !now_.empty()) {
        report_.facts["confinement"] = engine_.commands_->last_confinement();
    }
    AF_CHECK(measure_coverage());
    judge_findings();
    return std::move(report_);
}

Result<void> GateEngine::ConformanceGate::read_versions() {
    auto& checkout = *engine_.checkout_;
    AF_TRY(const auto changes, engine_.scope(call_));
    for (const auto& change : changes) {
        AF_TRY(auto content, checkout.file(call_.tree, change.path));
        if (!content) { continue; }
        now_.push_back({change.path, std::move(*content), {}});
        if (call_.baseline == nullptr || call_.baseline->base_tree.empty()) { continue; }
        AF_TRY(auto old, checkout.file(call_.baseline->base_tree, change.old_path.empty() ? change.path : change.old_path));
        if (old) { before_.push_back({change.path, std::move(*old), {}}); }
    }
    return {};
}

Result<void> GateEngine::ConformanceGate::measure_coverage() {
    const bool covered =
        std::any_of(checks_.begin(), checks_.end(), [](const auto& check) { return check.metric == "untested-percent"; });
    if (!covered || !call_.request.paths.empty() || call_.baseline == nullptr || now_.empty()) { return {}; }
    AF_TRY(const auto tests, engine_.languages_.test_files(call_.tree));
    AF_TRY(auto measured, engine_.coverage(call_.baseline->base_tree, call_.tree, tests, false, stop_));
    // The message may quote a held-out test.
    if (!measured.problem.empty() && !call_.baseline->held_out.files.empty()) { measured.problem = "its command failed"; }
    report_coverage(measured);
    if (!measured.problem.empty() || !measured.missing.empty()) { add_untested_percent(measured); }
    return {};
}

void GateEngine::ConformanceGate::report_coverage(const Coverage& measured) {
    report_.facts["coverage"] = measured.summary();
    if (!measured.measured) { return; }
    report_.facts["coverage_percent"] = 100 - measured.percent_missing();
    report_.facts["coverage_lines"] = static_cast<std::int64_t>(measured.lines);
}

/// Measures the whole change as one number, so that a tiny file with one uncovered error path does not fail it.
void GateEngine::ConformanceGate::add_untested_percent(const Coverage& measured) {
    const auto version = std::find_if(now_.begin(), now_.end(), [&](const auto& each) {
        return measured.missing.empty() ? language_->sources.matches(each.path) && !language_->belongs_to_tests(each.path)
                                        : each.path == measured.missing.front().file;
    });
    if (version == now_.end()) { return; }
    version->metrics.push_back(
        {"untested-percent", version->path, measured.missing.empty() ? 0 : measured.missing.front().line,
         measured.problem.empty() ? first_missing_lines(measured) : "coverage could not be measured: " + measured.problem,
         measured.problem.empty() ? measured.percent_missing() : 100});
}

void GateEngine::ConformanceGate::judge_findings() {
    const ConformanceSearch search(checks_, *language_);
    auto current = found_in(search, now_);
    const auto total = current.size();
    auto fresh = only_new(std::move(current), found_in(search, before_));
    for (auto& finding : fresh) {
        excuse_locked_test(finding);
        if (finding.blocks) { block(finding.violation); }
        report_.violations.push_back(std::move(finding.violation));
    }
    sum_up(total, fresh.size());
}

std::vector<Finding> GateEngine::ConformanceGate::found_in(const ConformanceSearch& search,
                                                           const std::vector<FileVersion>& versions) const {
    std::vector<Finding> findings;
    for (const auto& version : versions) {
        auto some = search.find(version.path, version.content, version.metrics);
        std::move(some.begin(), some.end(), std::back_inserter(findings));
    }
    return findings;
}

/// Violations in locked tests do not block: RED's gate judged them, and later stages cannot change them.
void GateEngine::ConformanceGate::excuse_locked_test(Finding& finding) const {
    const bool locked =
        call_.baseline != nullptr && !call_.baseline->red_tree.empty() && !gate_facts(call_.request.gate).judges_tests;
    if (!locked) { return; }
    auto& violation = finding.violation;
    const auto version = std::find_if(now_.begin(), now_.end(), [&](const auto& each) { return each.path == violation.file; });
    if (version == now_.end() ||
        !stands_in_tests(*language_, call_.baseline->test_files, version->path, version->content, violation.line)) {
        return;
    }
    finding.blocks = false;
    violation.severity = "minor";
    violation.message += " It is in a locked test, so it is reported and does not block.";
}

void GateEngine::ConformanceGate::block(const Violation& violation) {
    ++blocking_;
    broken_.insert(violation.check_id);
    report_.blocking_issues.push_back(violation.file + ":" + std::to_string(violation.line) + ": " + violation.message + " (" +
                                      violation.check_id + ")" + (violation.fix_hint.empty() ? "" : ". " + violation.fix_hint));
}

void GateEngine::ConformanceGate::sum_up(std::size_t total, std::size_t fresh) {
    report_.passed = blocking_ == 0;
    report_.facts["conformance_passing"] = report_.passed;
    report_.facts["checks_total"] = static_cast<std::int64_t>(checks_.size());
    report_.facts["checks_passing"] = static_cast<std::int64_t>(checks_.size() - broken_.size());
    report_.facts["violations_new"] = static_cast<std::int64_t>(fresh);
    report_.facts["violations_blocking"] = blocking_;
    report_.facts["violations_before"] = static_cast<std::int64_t>(total - fresh);
    report_.summary = report_.passed ? counted(checks_.size(), "check", "checks") + " on " +
                                           counted(now_.size(), "file", "files") + ", nothing new that blocks"
                                     : counted(static_cast<std::size_t>(blocking_), "new violation", "new violations");
}

Result<std::vector<std::pair<std::string, std::string>>> GateEngine::scaffold(const std::string& tree) {
    return scaffold_of(*checkout_, languages_, tree);
}

Result<std::vector<SetupStep>> GateEngine::setup_steps(const std::string& tree) {
    AF_CHECK(prepare());
    AF_TRY(const auto* found, languages_.of(tree));
    return commands_->setup_steps(*found, tree);
}

Result<void> GateEngine::set_up(const std::string& tree, const Stop& stop) {
    AF_CHECK(prepare());
    AF_TRY(const auto* found, languages_.of(tree));
    return commands_->set_up(*found, tree, stop);
}

}  // namespace agentforge::kernel
