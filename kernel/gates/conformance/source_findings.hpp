// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gates/conformance/conformance_search.hpp"
#include "gates/language/tree_languages.hpp"
#include "gates/run/language_commands.hpp"

namespace agentforge::kernel {

/// A file in one tree.
struct FileVersion {
    std::string path;
    std::string content;
    std::vector<Metric> metrics;
    std::string not_measured = {};  ///< Why the language's command did not measure it, or only in part. Empty: it did.
};

/// Finds violations of the conformance checks in sources, without a verdict. Reads the checks once; keeps no finding.
class SourceFindings {
public:
    /// `directories`: GateRunner::Options::conformance_directories. All must outlive the object.
    SourceFindings(TreeCheckout& checkout, TreeLanguages& languages, LanguageCommands& commands,
                   std::vector<std::string> directories)
        : checkout_(checkout), languages_(languages), commands_(commands), directories_(std::move(directories)) {}

    /// ConformanceReader::findings of one scope.
    [[nodiscard]] Result<std::vector<Finding>> find(const std::string& tree, const std::vector<std::string>& paths,
                                                    const Stop& stop, std::vector<UnmeasuredFile>* not_measured = nullptr);
    /// Returns the checks enforced up to this point. Errors: AF-GATE-020, AF-GATE-021.
    [[nodiscard]] Result<std::vector<ConformanceCheck>> checks(Enforcement enforcement);
    /// Measures the sources among these files, with the language's command or from their text. Errors: AF-GATE-003, AF-GATE-005.
    [[nodiscard]] Result<void> measure(const Language& language, const std::vector<ConformanceCheck>& checks,
                                       const std::vector<std::vector<FileVersion>*>& files, const Stop& stop);

private:
    [[nodiscard]] Result<void> measure_by_command(const Language& language, const std::vector<FileVersion*>& files,
                                                  const Stop& stop);

    TreeCheckout& checkout_;
    TreeLanguages& languages_;
    LanguageCommands& commands_;
    std::vector<std::string> directories_;
    std::optional<std::vector<ConformanceCheck>> checks_;
};

}  // namespace agentforge::kernel
