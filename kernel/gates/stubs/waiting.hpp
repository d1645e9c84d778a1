// SPDX-License-Identifier: Apache-2.0
// Waiting tests: they cannot load until the code that they test exists, because it was not declared or the language cannot
// declare it. GREEN's gate measures them: it removes the new bodies again and checks that the tests fail.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "gates/engine/test_run.hpp"
#include "gates/language/language.hpp"
#include "gates/run/tree_checkout.hpp"

namespace agentforge::kernel {

/// True if a message is only about missing names that appear in the specification's interfaces, components or files. A name in
/// `declared` is not missing: the test looks for it in the wrong place. `test_file`: the file that does not load, if known.
[[nodiscard]] bool lacks_specified_name(const Language& language, const json::object& specification, std::string_view message,
                                        const std::set<std::string>& declared = {}, const std::string& test_file = {});

/// True if the outcome stands for a whole file that does not load or build.
[[nodiscard]] bool is_broken_file(const TestOutcome& test);

/// Returns the files of a run that do not load or build only because what they test does not exist yet: each message is about a
/// missing name that appears in the specification's interfaces, components or files, or names nothing. Empty if any message says
/// something else.
[[nodiscard]] std::set<std::string> waiting_files(const Language& language, const json::object& specification, const TestRun& run,
                                                  const std::set<std::string>& declared = {});

/// Returns the names of the specification's interfaces whose skeletons are in this tree. Errors: git's own.
[[nodiscard]] Result<std::set<std::string>> declared_names(TreeCheckout& checkout, const Language& language,
                                                           const json::object& specification, const std::string& tree);

}  // namespace agentforge::kernel
