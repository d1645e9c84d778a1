// SPDX-License-Identifier: Apache-2.0
#include "gates/conformance/conformance_reader.hpp"

#include "gates/engine/scoped_gates.hpp"
#include "gates/run/language_commands.hpp"

namespace agentforge::kernel {

struct ConformanceReader::State {
    State(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, GateRunner::Options given)
        : options(std::move(given)), gates(std::move(checkout), processes, options) {}
    GateRunner::Options options;
    ScopedGates gates;
};

ConformanceReader::ConformanceReader(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes,
                                     GateRunner::Options options) {
    if (!options.log) { options.log = std::make_shared<std::vector<GateCommand>>(); }
    state_ = std::make_unique<State>(std::move(checkout), processes, std::move(options));
}

ConformanceReader::~ConformanceReader() = default;

Result<std::vector<Finding>> ConformanceReader::findings(const std::string& tree, const std::vector<std::string>& paths,
                                                         const Stop& stop, std::vector<UnmeasuredFile>* not_measured) {
    return state_->gates.findings(tree, paths, stop, not_measured);
}

Result<std::vector<ConformanceCheck>> ConformanceReader::checks() {
    AF_TRY(const auto settings, GateSettings::read(state_->options.settings));
    return load_checks(state_->options.conformance_directories, settings.thresholds);
}

Result<bool> ConformanceReader::belongs_to_tests(const std::string& tree, const std::string& path) {
    AF_TRY(const auto meaning, state_->gates.path_meaning(tree));
    return meaning.only_tests(path);
}

}  // namespace agentforge::kernel
