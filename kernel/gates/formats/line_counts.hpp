// SPDX-License-Identifier: Apache-2.0
// How often lines were run, as coverage tools report it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// By path in the tree: the number of each executable line, and how often it ran.
using LineCounts = std::map<std::string, std::map<std::uint64_t, std::uint64_t>>;

/// The files of a coverage command, and what maps their names to paths of the tree.
struct CoverageReportInput {
    std::vector<std::pair<std::string, std::string>> reports;  ///< Name and content of each file.
    std::vector<std::string> roots;                            ///< Folders that represent the tree: its checkout, a copy of it.
    std::vector<std::string> sources;  ///< Files of the tree. A name that is not a path of the tree means the file whose path
                                       ///< ends with it (Go's packages, Java's).
};

/// lcov, gcov-json, go-coverprofile.
[[nodiscard]] bool is_coverage_format(std::string_view format) noexcept;
[[nodiscard]] std::string coverage_format_names();

/// Adds up the counts of a file from several reports, or from several objects of a program. Skips names that match no file of the
/// tree. Errors: `invalid` AF-GATE-160 a report has another format (which, and where); AF-GATE-161 there is none.
[[nodiscard]] Result<LineCounts> read_line_counts(std::string_view format, const CoverageReportInput& input);

}  // namespace agentforge::kernel
