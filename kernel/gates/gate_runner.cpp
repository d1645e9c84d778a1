// SPDX-License-Identifier: Apache-2.0
// The entry point of the gates: caches measurements of a tree and delegates everything else to ScopedGates.
#include "gates/gate_runner.hpp"

#include <filesystem>
#include <utility>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "gates/engine/readiness.hpp"
#include "gates/engine/scoped_gates.hpp"
#include "gates/stubs/declarable_interfaces.hpp"

namespace agentforge::kernel {
namespace {

json::array texts(const std::vector<std::string>& values) { return json::array(values.begin(), values.end()); }

json::array outcomes(const std::vector<TestOutcome>& tests) {
    json::array list;
    for (const auto& test : tests) { list.push_back(json::array{test.id, to_string(test.status)}); }
    return list;
}

/// Returns the identity of one measurement: gate, tree, paths, parameters and baseline.
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

}  // namespace

struct GateRunner::State {
    State(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, const Options& given)
        : options(with_log(given)), engine(std::move(checkout), processes, options) {}
    static Options with_log(Options given) {
        if (!given.log) { given.log = std::make_shared<std::vector<GateCommand>>(); }
        return given;
    }
    Options options;
    ScopedGates engine;
    std::string inputs;  ///< Empty: not computed yet.
    std::map<std::string, GateReport, std::less<>> reports;
};

GateRunner::GateRunner(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, Options options)
    : state_(std::make_unique<State>(std::move(checkout), processes, std::move(options))) {}

GateRunner::~GateRunner() = default;

Result<GateReport> GateRunner::run(const GateCall& call, const Stop& stop) {
    AF_TRY(const auto key, cache_key(call));
    if (const auto known = state_->reports.find(key); known != state_->reports.end()) { return known->second; }
    const auto begin = std::chrono::steady_clock::now();
    AF_TRY(auto report, state_->engine.gate(call, stop));
    report.gate = call.request.gate;
    report.tree = call.tree;
    report.duration = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    // A run that is not trusted may be due to a full disk or a slow machine: it is measured again.
    const auto* trusted = report.facts.if_contains("believed");
    if (trusted == nullptr || *trusted == json::value(true)) { state_->reports.emplace(key, report); }
    return report;
}

Result<std::vector<std::pair<std::string, std::string>>> GateRunner::skeleton(const std::string& tree,
                                                                              const std::vector<SkeletonInterface>& interfaces,
                                                                              const Stop& stop) {
    return state_->engine.skeleton(tree, interfaces, stop);
}

Result<void> GateRunner::try_specification(const std::string& tree, const json::object& specification, const Stop& stop) {
    const auto interfaces = declarable_interfaces(specification);
    if (interfaces.empty()) { return {}; }
    return state_->engine.try_skeleton(tree, interfaces, stop);
}

std::vector<GateCommand> GateRunner::take_commands() { return std::exchange(*state_->options.log, {}); }

Result<std::string> GateRunner::inputs() {
    if (!state_->inputs.empty()) { return state_->inputs; }
    const auto& options = state_->options;
    json::object named{{"settings", options.settings}, {"language", options.language}, {"setup", options.setup}};
    if (const auto path = options.environment.find("PATH"); path != options.environment.end()) { named["path"] = path->second; }
    std::vector<std::string> folders{options.languages_directory};
    folders.insert(folders.end(), options.more_languages.begin(), options.more_languages.end());
    folders.insert(folders.end(), options.conformance_directories.begin(), options.conformance_directories.end());
    for (std::size_t number = 0; number < folders.size(); ++number) {
        namespace fs = std::filesystem;
        const auto unreadable = [&](const std::string& file, const std::string& why) {
            return Error{"AF-GATE-102", "Cannot read a file that decides how gates measure: " + why + ".", file,
                         "Check the installation with `agentforge doctor`.", ErrorKind::io};
        };
        std::error_code failure;
        if (!fs::exists(folders[number], failure)) { continue; }
        json::object files;
        for (auto entry = fs::recursive_directory_iterator(folders[number], failure);
             !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
            if (!entry->is_regular_file(failure)) { continue; }
            const auto content = read_file(entry->path());
            if (!content.ok()) { return unreadable(entry->path().string(), content.error().message); }
            files[entry->path().lexically_relative(folders[number]).generic_string()] = sha256(*content);
        }
        if (failure) { return unreadable(folders[number], failure.message()); }
        // Independent of the order of the file system.
        std::map<std::string, json::value> sorted;
        for (auto& [name, hash] : files) { sorted[std::string(name)] = hash; }
        json::array list;
        for (auto& [name, hash] : sorted) { list.push_back(json::array{name, hash}); }
        named[std::to_string(number)] = std::move(list);
    }
    state_->inputs = hash_of(named).substr(0, 16);
    return state_->inputs;
}

Result<std::vector<std::pair<std::string, std::string>>> GateRunner::scaffold(const std::string& tree) {
    return state_->engine.scaffold(tree);
}

Result<std::vector<SetupStep>> GateRunner::setup_steps(const std::string& tree) { return state_->engine.setup_steps(tree); }

Result<void> GateRunner::set_up(const std::string& tree, const Stop& stop) { return state_->engine.set_up(tree, stop); }

Result<GateReadiness> GateRunner::readiness(const std::string& tree) { return state_->engine.readiness(tree); }

Result<bool> GateRunner::is_test_file(const std::string& tree, std::string_view path) {
    return state_->engine.is_test_file(tree, path);
}

Result<GateRunner::PathMeaning> GateRunner::path_meaning(const std::string& tree) { return state_->engine.path_meaning(tree); }

}  // namespace agentforge::kernel
