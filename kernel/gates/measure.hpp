// SPDX-License-Identifier: Apache-2.0
// Measurements on recorded trees; what they mean for a phase is decided by rules.hpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gates/commands.hpp"
#include "gates/conformance.hpp"
#include "gates/gates.hpp"
#include "gates/rules.hpp"

namespace agentforge::kernel {

/// Names one measurement: gate, tree, paths, parameters and baseline.
[[nodiscard]] Result<std::string> cache_key(const GateCall& call);

/// The interfaces of a specification that can be declared: those with a file and a signature.
[[nodiscard]] std::vector<SkeletonInterface> declarable_interfaces(const json::object& specification);

class Measure {
public:
    Measure(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, GateRunner::Options options);

    [[nodiscard]] Result<GateReport> gate(const GateCall& call, const Stop& stop);
    [[nodiscard]] TreeCheckout& checkout() noexcept { return *checkout_; }
    /// Detected once a tree, or the configured one. Errors: AF-GATE-002.
    [[nodiscard]] Result<const Language*> language(const std::string& tree);
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> skeleton(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop);

private:
    [[nodiscard]] Result<GateReport> tests(const GateCall& call, const Stop& stop);
    [[nodiscard]] Result<GateReport> syntax(const GateCall& call, const Stop& stop);
    [[nodiscard]] Result<GateReport> types(const GateCall& call, const Stop& stop);
    [[nodiscard]] Result<GateReport> conformance(const GateCall& call, Enforcement upto, const Stop& stop);
    [[nodiscard]] Result<GateReport> red(const GateCall& call, const Stop& stop);
    [[nodiscard]] Result<GateReport> after_red(const GateCall& call, const Stop& stop);

    [[nodiscard]] Result<void> prepare();
    /// Remembered by tree and files when it was believed. While a phase is judged, only what was built apart counts.
    [[nodiscard]] Result<TestRun> run_tests(const std::string& tree, const std::vector<std::string>& files, const Stop& stop);
    [[nodiscard]] Result<std::vector<std::string>> test_files(const std::string& tree);
    /// Files that the call is about: its paths, or what changed since the user's commit, or all; deleted ones left out.
    [[nodiscard]] Result<std::vector<TreeChange>> scope(const GateCall& call);
    [[nodiscard]] Result<std::vector<Violation>> type_errors(const Language& language, const TypeChecker& checker,
                                                             const std::string& tree, const Stop& stop, bool& installed);
    [[nodiscard]] Result<std::vector<Violation>> build_errors(const Language& language, const TypeChecker& checker, const std::string& tree,
                                                              const Stop& stop);
    /// What the language's syntax command says of these files, by its `error` pattern.
    [[nodiscard]] Result<std::vector<Violation>> syntax_errors(const Language& language, const LanguageCommand& command,
                                                               const std::string& tree, const std::vector<std::string>& files, const Stop& stop);
    [[nodiscard]] Result<std::vector<std::string>> changed_runner_configuration(const Language& language,
                                                                                const std::string& old_tree,
                                                                                const std::vector<TreeChange>& changes,
                                                                                const std::string& tree);

    std::unique_ptr<TreeCheckout> checkout_;
    GateRunner::Options options_;
    std::unique_ptr<LanguageCommands> commands_;
    ProcessRunner& processes_;
    std::map<std::string, Language> languages_;             ///< By tree.
    std::map<std::string, TestRun, std::less<>> runs_;      ///< By tree and files.
    std::map<std::string, std::vector<std::string>> files_; ///< By tree.
    std::optional<std::vector<ConformanceCheck>> checks_;
    bool judging_ = false;                                  ///< The gate that is running is a phase's.
};

}  // namespace agentforge::kernel
