// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/gate_engine.hpp"

#include "config/gate_names.hpp"
#include "gates/engine/affected_tests.hpp"
#include "gates/engine/after_red_gate.hpp"
#include "gates/engine/red_gate.hpp"
#include "gates/engine/tests_gate.hpp"
#include "gates/stubs/scaffold.hpp"

namespace agentforge::kernel {

/// What measures. In the order of their dependencies.
struct GateEngine::Parts {
    Parts(TreeCheckout& checkout, ProcessRunner& processes, const GateRunner::Options& options, GateSettings settings,
          TreeLanguages& languages, const CurrentCall& current)
        : built(current),
          commands(checkout, processes, options.scratch_directory, options.environment, std::move(settings),
                   DependencySettings{options.dependencies_directory, options.setup}, options.log),
          marks(checkout, commands, current),
          suite(languages, commands, current, built),
          red_runs(languages, commands, suite, marks, current),
          affected(checkout, languages, commands, suite),
          checks(checkout, languages, commands, current, built),
          declarations(checkout, languages, commands, checks),
          coverage(checkout, languages, commands),
          findings(checkout, languages, commands, options.conformance_directories),
          mutants(checkout, languages, commands, current),
          change(checkout, languages, marks, current),
          altered(checkout, languages, commands, marks),
          without_change(checkout, commands, red_runs, marks, mutants),
          locked(checkout),
          fix(checkout, findings),
          tests(checkout, languages, commands, suite, affected),
          conformance(checkout, languages, commands, findings, coverage),
          red(checkout, languages, commands, red_runs, declarations, conformance),
          after_red({checkout, languages, commands, suite, red_runs, checks, conformance, fix, locked, coverage, change,
                     without_change, altered, mutants}) {}

    BuiltTrees built;
    LanguageCommands commands;
    FunctionMarks marks;
    SuiteRuns suite;
    RedRuns red_runs;
    AffectedTests affected;
    SourceChecks checks;
    Declarations declarations;
    CoverageRuns coverage;
    SourceFindings findings;
    MutantRuns mutants;
    ChangeChecks change;
    AlteredRuns altered;
    RunsWithoutChange without_change;
    LockedFiles locked;
    ViolationFix fix;
    TestsGate tests;
    ConformanceGate conformance;
    RedGate red;
    AfterRedGate after_red;
};

GateEngine::GateEngine(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, GateRunner::Options options)
    : checkout_(std::move(checkout)),
      options_(std::move(options)),
      processes_(processes),
      languages_(*checkout_, options_.languages_directory, options_.language) {}

GateEngine::~GateEngine() = default;

Result<void> GateEngine::prepare() {
    if (parts_ != nullptr) { return {}; }
    AF_TRY(auto settings, GateSettings::read(options_.settings));
    parts_ = std::make_unique<Parts>(*checkout_, processes_, options_, std::move(settings), languages_, current_);
    return {};
}

Result<GateReport> GateEngine::gate(const GateCall& call, const Stop& stop) {
    AF_CHECK(prepare());
    parts_->commands.trust(call.baseline == nullptr ? call.tree : call.baseline->base_tree);
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
    if (name == gate_name::tests) { return parts_->tests.measure(call, stop); }
    if (name == gate_name::syntax) { return parts_->checks.syntax(call, stop); }
    if (name == gate_name::types) { return parts_->checks.types(call, stop); }
    if (name == gate_name::conformance) { return parts_->conformance.measure(call, enforcement, stop); }
    if (!facts.judges_a_stage) {
        return Error{"AF-GATE-001", "There is no gate `" + name + "`.", "",
                     "Known gates: syntax, types, conformance, tests, red, green, refactor, fix, deliver.", ErrorKind::invalid};
    }
    if (call.baseline == nullptr || call.baseline->base_tree.empty()) {
        return Error{"AF-GATE-004", "The gate `" + name + "` was called without a baseline to measure against.", "",
                     "This is a defect of the caller: a phase gate needs a baseline.", ErrorKind::internal};
    }
    return facts.judges_tests ? parts_->red.judge(call, stop) : parts_->after_red.judge(call, stop);
}

Result<std::vector<std::pair<std::string, std::string>>> GateEngine::scaffold(const std::string& tree) {
    return scaffold_of(*checkout_, languages_, tree);
}

Result<std::vector<Finding>> GateEngine::findings(const std::string& tree, const std::vector<std::string>& paths,
                                                  const Stop& stop, std::vector<UnmeasuredFile>* not_measured) {
    AF_CHECK(prepare());
    return parts_->findings.find(tree, paths, stop, not_measured);
}

Result<std::vector<std::pair<std::string, std::string>>> GateEngine::skeleton(const std::string& tree,
                                                                              const std::vector<SkeletonInterface>& interfaces,
                                                                              const Stop& stop) {
    AF_CHECK(prepare());
    return parts_->declarations.skeleton(tree, interfaces, stop);
}

Result<void> GateEngine::try_skeleton(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                      const Stop& stop) {
    AF_CHECK(prepare());
    return parts_->declarations.try_skeleton(tree, interfaces, stop);
}

Result<std::vector<SetupStep>> GateEngine::setup_steps(const std::string& tree) {
    AF_CHECK(prepare());
    AF_TRY(const auto* found, languages_.of(tree));
    return parts_->commands.setup_steps(*found, tree);
}

Result<void> GateEngine::set_up(const std::string& tree, const Stop& stop) {
    AF_CHECK(prepare());
    AF_TRY(const auto* found, languages_.of(tree));
    return parts_->commands.set_up(*found, tree, stop);
}

}  // namespace agentforge::kernel
