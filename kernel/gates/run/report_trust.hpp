// SPDX-License-Identifier: Apache-2.0
// Decides whether a native runner's report is trusted, and gives its tests the kernel's ids. Pure: values in, a TestRun out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gates/engine/test_run.hpp"
#include "gates/formats/format.hpp"
#include "gates/language/language.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {

/// One copy of a canary that was placed before the run.
struct PlacedCanary {
    std::string directory;   ///< Folder of the tests beside it, relative to the tree. Empty with `everywhere`.
    bool everywhere = true;  ///< It applies to the whole run.
    std::size_t tests = 1;
};

struct ReportContext {
    const TestRunner* runner = nullptr;
    std::string unique;  ///< Identifies the canaries.
    std::vector<PlacedCanary> canaries;
    std::string marker;  ///< Identifies skeletons.
    std::string root;
    std::string build;                            ///< The build folder, as it appears in reports.
    std::vector<std::string> test_files;          ///< All test files of the tree, sorted.
    std::vector<std::string> files;               ///< The requested ones. Tests of other files are dropped.
    std::map<std::string, std::string> declared;  ///< Test name → file, if only one file declares it.
    /// Folder (ending in `/`, or empty) and name → file.
    std::map<std::pair<std::string, std::string>, std::string> declared_beside;
    std::optional<FormatResult> collected;
    std::chrono::seconds timeout{0};
};

/// A report is trusted only if the format calls it complete, the process ended by itself with an exit code that agrees with the
/// outcomes, each collected test has an outcome, and every canary failed at an assertion. A canary may be missing if nothing
/// passed: its folder, or the whole run, did not build. Without trust no test counts as passed. A test reported twice counts
/// once, with the worse outcome. Ids are `file::suite::name` or `file::name`. A file that could not be loaded is an error whose
/// id is the file. A test of an unknown file has the id `suite::name` and is kept.
[[nodiscard]] TestRun judge_report(const FormatResult& report, const ReportContext& context, const ProcessOutcome& outcome);

/// Returns the test names that exactly one of the files declares, by the runner's `declaration`.
[[nodiscard]] std::map<std::string, std::string> declared_in(const std::string& declaration,
                                                             const std::vector<std::pair<std::string, std::string>>& contents);

/// One error in a tool's output, found by an RE2 with the groups file, line and message.
struct ToolMessage {
    std::string file;
    std::uint64_t line = 0;
    std::string message;
};
/// Searches line by line. A message that ends with a colon continues in the next line with content. Makes paths below `root`
/// relative to it.
[[nodiscard]] std::vector<ToolMessage> find_messages(const std::string& pattern, std::string_view text, const std::string& root);

}  // namespace agentforge::kernel
