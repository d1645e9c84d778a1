// SPDX-License-Identifier: Apache-2.0
// How often lines were run, as coverage tools write it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// By path in the tree: number of each line that can be run, and how often it was.
using LineCounts = std::map<std::string, std::map<std::uint64_t, std::uint64_t>>;

/// What a coverage command wrote, and how its names become paths of the tree.
struct CoverageReportInput {
    std::vector<std::pair<std::string, std::string>> reports;  ///< Name and content of each file that it wrote.
    std::vector<std::string> roots;                            ///< Folders that stand for the tree: its checkout, a copy of it.
    std::vector<std::string>
        sources;  ///< Files of the tree: a name that is no path of it is the one whose path ends so (Go's packages, Java's).
};

/// lcov, gcov-json, go-coverprofile.
[[nodiscard]] bool is_coverage_format(std::string_view format) noexcept;
[[nodiscard]] std::string coverage_format_names();

/// Counts of one file from several reports, or several objects of a program, are added. Names that mean no file of the tree are
/// left out. Errors: `invalid` AF-GATE-160 a report is not its format (which, and where); AF-GATE-161 there is none.
[[nodiscard]] Result<LineCounts> read_line_counts(std::string_view format, const CoverageReportInput& input);

}  // namespace agentforge::kernel
