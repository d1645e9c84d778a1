// SPDX-License-Identifier: Apache-2.0
// Gates over the scopes of a tree: each scope is measured by its own language as if it were a repository, and what came of it
// is put together again with the paths of the whole.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gates/engine/measure.hpp"
#include "gates/engine/readiness.hpp"
#include "gates/engine/scopes.hpp"
#include "gates/gates.hpp"

namespace agentforge::kernel {

/// Which scopes a gate measures: those that its paths are in; without paths `tests` and `deliver` all of them, the others those
/// that changed since the user's commit or hold tests that RED named. A scope that did not change and whose toolchain is not
/// installed is left out and named in `facts.scopes`; one that changed is an error.
class ScopedGates {
public:
    ScopedGates(std::unique_ptr<TreeCheckout> whole, ProcessRunner& processes, GateRunner::Options options);

    /// Errors: of Measure, and of Scopes::find.
    [[nodiscard]] Result<GateReport> gate(const GateCall& call, const Stop& stop);
    /// Of all scopes, with paths of the whole. Errors: of Measure, and of Scopes::find.
    [[nodiscard]] Result<std::vector<Finding>> findings(const std::string& tree, const std::vector<std::string>& paths,
                                                        const Stop& stop);
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> skeleton(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop);
    [[nodiscard]] Result<void> try_skeleton(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                            const Stop& stop);
    /// The scopes of a tree. With `base_tree` they are the user's commit's; a project in a folder that it does not have is one
    /// more, so that nothing that is written meanwhile changes who judges what is there.
    [[nodiscard]] Result<const Scopes*> scopes(const std::string& base_tree, const std::string& tree);
    [[nodiscard]] Result<const Language*> language(const Scope& scope) { return languages_.get(scope.language); }
    /// Begins a suite where the whole tree is one scope without tests; of several scopes nobody can say which.
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> scaffold(const std::string& tree);
    /// Of all scopes; names and files with the scope's folder before them.
    [[nodiscard]] Result<std::vector<SetupStep>> setup_steps(const std::string& tree);
    [[nodiscard]] Result<void> set_up(const std::string& tree, const Stop& stop);
    [[nodiscard]] Result<GateReadiness> readiness(const std::string& tree);
    /// A test file by its scope's globs.
    [[nodiscard]] Result<bool> is_test_file(const std::string& tree, std::string_view path);
    [[nodiscard]] Result<GateRunner::PathMeaning> path_meaning(const std::string& tree);

private:
    /// Calls `each` with every scope that has some of the interfaces, and these as it sees them.
    using DeclaringScope = std::function<Result<void>(const Scope&, Measure&, const std::vector<SkeletonInterface>&)>;
    [[nodiscard]] Result<void> for_interfaces(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                              const DeclaringScope& each);
    [[nodiscard]] Result<Measure*> measure(const Scopes& scopes, const Scope& scope);
    [[nodiscard]] Result<GateReport> red_without_tests(const GateCall& part, Measure& measure, const Scope& scope,
                                                       const Stop& stop);

    std::unique_ptr<TreeCheckout> whole_;
    /// Has each tool that says how asked whether it is there.
    [[nodiscard]] Result<void> probe(const std::vector<std::string>& readable, std::vector<ToolState>& tools);

    ProcessRunner& processes_;
    GateRunner::Options options_;
    ScopeSettings settings_;
    std::optional<Error> wrong_settings_;
    LanguageFiles languages_;
    std::map<std::pair<std::string, std::string>, Scopes> scopes_;  ///< By base tree and tree.
    std::map<std::string, std::unique_ptr<Measure>> measures_;      ///< By the list of scopes and the one.
};

/// A call as one scope sees it: its paths, tests, interfaces, and the requirements that its tests are named for.
[[nodiscard]] GateBaseline part_of_baseline(const GateBaseline& whole, const Scopes& scopes, const Scope& scope);
/// The paths of a call that one scope sees; `.` where the path holds the scope.
[[nodiscard]] std::vector<std::string> part_of_paths(const std::vector<std::string>& paths, const Scopes& scopes,
                                                     const Scope& scope);
/// Reports of several scopes as one: passed when all are; ids and paths those of the whole tree.
[[nodiscard]] GateReport put_together(std::vector<std::pair<const Scope*, GateReport>> parts, const GateBaseline* whole);

}  // namespace agentforge::kernel
