// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gates/conformance/conformance_search.hpp"
#include "gates/engine/current_call.hpp"
#include "gates/gate_runner.hpp"
#include "gates/language/tree_languages.hpp"

namespace agentforge::kernel {

/// Measures the recorded trees of one scope: checks a call, and passes it to the gate that it names. Owns the parts that measure
/// (`Parts`), which keep their own results and depend on each other through their constructors. Not for several threads.
class GateEngine {
public:
    /// `processes` must outlive the object. Settings are read at the first call that needs them.
    GateEngine(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, GateRunner::Options options);
    ~GateEngine();
    GateEngine(const GateEngine&) = delete;
    GateEngine& operator=(const GateEngine&) = delete;

    /// GateRunner::run without its cache. Errors: AF-GATE-012 wrong settings, and those of GateRunner::run.
    [[nodiscard]] Result<GateReport> gate(const GateCall& call, const Stop& stop);
    /// ConformanceReader::findings of one scope.
    [[nodiscard]] Result<std::vector<Finding>> findings(const std::string& tree, const std::vector<std::string>& paths,
                                                        const Stop& stop, std::vector<UnmeasuredFile>* not_measured = nullptr);
    [[nodiscard]] TreeCheckout& checkout() noexcept { return *checkout_; }
    /// GateRunner::skeleton of one scope.
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> skeleton(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop);
    /// Declares the interfaces and compiles or checks the result. Errors: AF-GATE-030, with the compiler's message; those of
    /// `skeleton` and the checks.
    [[nodiscard]] Result<void> try_skeleton(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                            const Stop& stop);
    /// As in GateRunner.
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> scaffold(const std::string& tree);
    [[nodiscard]] Result<std::vector<SetupStep>> setup_steps(const std::string& tree);
    [[nodiscard]] Result<void> set_up(const std::string& tree, const Stop& stop);

private:
    struct Parts;
    /// Makes the parts, once. Errors: AF-GATE-012 wrong settings.
    [[nodiscard]] Result<void> prepare();

    std::unique_ptr<TreeCheckout> checkout_;
    GateRunner::Options options_;
    ProcessRunner& processes_;
    TreeLanguages languages_;
    CurrentCall current_;
    std::unique_ptr<Parts> parts_;  ///< Null until `prepare`.
};

}  // namespace agentforge::kernel
