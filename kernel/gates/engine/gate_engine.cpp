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
#include "gates/engine/measured_files.hpp"
#include "gates/engine/report_parts.hpp"
#include "gates/failures.hpp"
#include "gates/language/inline_tests.hpp"
#include "gates/language/source_text.hpp"
#include "gates/stubs/scaffold.hpp"
#include "gates/stubs/stubs.hpp"

namespace agentforge::kernel {

GateEngine::GateEngine(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, GateRunner::Options options)
    : checkout_(std::move(checkout)),
      options_(std::move(options)),
      processes_(processes),
      languages_(*checkout_, options_.languages_directory, options_.language) {}

GateEngine::Parts::Parts(GateEngine& engine, GateSettings settings)
    : commands(*engine.checkout_, engine.processes_, engine.options_.scratch_directory, engine.options_.environment,
               std::move(settings), DependencySettings{engine.options_.dependencies_directory, engine.options_.setup},
               engine.options_.log),
      marks(*engine.checkout_, commands, engine.current_),
      suite(engine.languages_, commands, engine.current_, engine.built_),
      red_runs(engine.languages_, commands, suite, marks, engine.current_),
      affected(*engine.checkout_, engine.languages_, commands, suite),
      checks(*engine.checkout_, engine.languages_, commands, engine.current_, engine.built_),
      declarations(*engine.checkout_, engine.languages_, commands, checks),
      tests(*engine.checkout_, engine.languages_, commands, suite, affected),
      coverage(*engine.checkout_, engine.languages_, commands),
      findings(*engine.checkout_, engine.languages_, commands, engine.options_.conformance_directories),
      conformance(*engine.checkout_, engine.languages_, commands, findings, coverage),
      locked(*engine.checkout_),
      red(*engine.checkout_, engine.languages_, commands, red_runs, declarations, conformance),
      fix(*engine.checkout_, findings) {}

Result<void> GateEngine::prepare() {
    if (parts_ != nullptr) { return {}; }
    AF_TRY(auto settings, GateSettings::read(options_.settings));
    parts_ = std::make_unique<Parts>(*this, std::move(settings));
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
    return facts.judges_tests ? parts_->red.judge(call, stop) : after_red(call, stop);
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
