// SPDX-License-Identifier: Apache-2.0
// Runs gates over the scopes of a tree. Each scope is measured by its language, as if it were a repository. Merged results have
// paths of the whole tree.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gates/engine/gate_engine.hpp"
#include "gates/engine/readiness.hpp"
#include "gates/engine/scopes.hpp"
#include "gates/gate_runner.hpp"

namespace agentforge::kernel {

/// Measures the scopes of a call's paths. Without paths, `tests` and `deliver` measure all scopes; other gates measure those that
/// changed since the user's commit or contain tests that RED named. A scope that did not change and whose toolchain is not
/// installed is skipped and listed in `facts.scopes`; for a changed one this is an error.
class ScopedGates {
public:
    ScopedGates(std::unique_ptr<TreeCheckout> whole, ProcessRunner& processes, GateRunner::Options options);

    /// Errors: of Measure, and of Scopes::find.
    [[nodiscard]] Result<GateReport> gate(const GateCall& call, const Stop& stop);
    /// Returns the findings of all scopes. Adds unmeasured files to `not_measured`, if given. Both have paths of the whole tree.
    /// Errors: of Measure, and of Scopes::find.
    [[nodiscard]] Result<std::vector<Finding>> findings(const std::string& tree, const std::vector<std::string>& paths,
                                                        const Stop& stop, std::vector<UnmeasuredFile>* not_measured = nullptr);
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> skeleton(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop);
    [[nodiscard]] Result<void> try_skeleton(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                            const Stop& stop);
    /// Returns the scopes of a tree. With `base_tree`, those of the user's commit; a project in a new folder is an additional
    /// scope. So the task cannot change which language judges existing
    /// files.
    [[nodiscard]] Result<const Scopes*> scopes(const std::string& base_tree, const std::string& tree);
    [[nodiscard]] Result<const Language*> language(const Scope& scope) { return languages_.get(scope.language); }
    /// Returns the files of a first test suite if the whole tree is one scope without tests. With several scopes, returns
    /// nothing: the right one is unknown.
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> scaffold(const std::string& tree);
    /// Returns the steps of all scopes. Names and files have the scope's folder as prefix.
    [[nodiscard]] Result<std::vector<SetupStep>> setup_steps(const std::string& tree);
    [[nodiscard]] Result<void> set_up(const std::string& tree, const Stop& stop);
    [[nodiscard]] Result<GateReadiness> readiness(const std::string& tree);
    /// True for a test file by its scope's globs.
    [[nodiscard]] Result<bool> is_test_file(const std::string& tree, std::string_view path);
    [[nodiscard]] Result<GateRunner::PathMeaning> path_meaning(const std::string& tree);

private:
    class GateInScopes;
    struct LanguageParts;
    /// Errors: those of `scopes`, except AF-GATE-002 (no language): then each known language is a part.
    [[nodiscard]] Result<LanguageParts> language_parts(const std::string& tree);
    /// Calls `each` for every scope that contains some of the interfaces, with these interfaces and paths relative to the scope.
    using DeclaringScope = std::function<Result<void>(const Scope&, GateEngine&, const std::vector<SkeletonInterface>&)>;
    [[nodiscard]] Result<void> for_interfaces(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                              const DeclaringScope& each);
    [[nodiscard]] Result<GateEngine*> engine_for(const Scopes& scopes, const Scope& scope);
    [[nodiscard]] Result<GateReport> red_without_tests(const GateCall& part, GateEngine& engine, const Scope& scope,
                                                       const Stop& stop);

    std::unique_ptr<TreeCheckout> whole_;
    /// Runs the probe of each tool that has one, and sets `found`.
    [[nodiscard]] Result<void> probe(const std::vector<std::string>& readable, std::vector<ToolState>& tools);

    ProcessRunner& processes_;
    GateRunner::Options options_;
    ScopeSettings settings_;
    std::optional<Error> wrong_settings_;
    LanguageFiles languages_;
    std::map<std::pair<std::string, std::string>, Scopes> scopes_;  ///< By base tree and tree.
    std::map<std::string, std::unique_ptr<GateEngine>> engines_;    ///< By the list of scopes and the scope.
};

}  // namespace agentforge::kernel
