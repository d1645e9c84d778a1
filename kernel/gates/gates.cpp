// SPDX-License-Identifier: Apache-2.0
// Which measurements a gate is made of, in which order, and what is remembered of them.
#include "gates/gates.hpp"

#include "gates/scoped_gates.hpp"

namespace agentforge::kernel {

struct GateRunner::State {
    State(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, Options options)
        : measure(std::move(checkout), processes, std::move(options)) {}
    ScopedGates measure;
    std::map<std::string, GateReport, std::less<>> reports;
};

GateRunner::GateRunner(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, Options options)
    : state_(std::make_unique<State>(std::move(checkout), processes, std::move(options))) {}

GateRunner::~GateRunner() = default;

Result<GateReport> GateRunner::run(const GateCall& call, const Stop& stop) {
    AF_TRY(const auto key, cache_key(call));
    if (const auto known = state_->reports.find(key); known != state_->reports.end()) { return known->second; }
    const auto begin = std::chrono::steady_clock::now();
    AF_TRY(auto report, state_->measure.gate(call, stop));
    report.gate = call.request.gate;
    report.tree = call.tree;
    report.duration = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    // A run that is not believed may be a full disk or a slow machine: it is measured again.
    const auto* believed = report.facts.if_contains("believed");
    if (believed == nullptr || *believed == json::value(true)) { state_->reports.emplace(key, report); }
    return report;
}

Result<std::vector<std::pair<std::string, std::string>>> GateRunner::skeleton(const std::string& tree,
                                                                              const std::vector<SkeletonInterface>& interfaces,
                                                                              const Stop& stop) {
    return state_->measure.skeleton(tree, interfaces, stop);
}

Result<bool> GateRunner::is_test_file(const std::string& tree, std::string_view path) { return state_->measure.is_test_file(tree, path); }

Result<GateRunner::PathMeaning> GateRunner::path_meaning(const std::string& tree) { return state_->measure.path_meaning(tree); }

}  // namespace agentforge::kernel
