// SPDX-License-Identifier: Apache-2.0
// Whether a report of a native runner is believed, and its tests as the kernel names them. Pure: values in, a TestRun out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gates/engine/results.hpp"
#include "gates/formats/format.hpp"
#include "gates/language/language.hpp"

namespace agentforge::kernel {

/// One copy of a canary that was put somewhere before the run.
struct PlacedCanary {
    std::string directory;   ///< Of the tests beside it, relative to the tree; empty with `everywhere`.
    bool everywhere = true;  ///< It speaks for the whole run.
    std::size_t tests = 1;
};

struct ReportContext {
    const TestRunner* runner = nullptr;
    std::string unique;  ///< Names the canaries.
    std::vector<PlacedCanary> canaries;
    std::string marker;  ///< Of skeletons.
    std::string root;
    std::string build;                            ///< The build folder, as it stands in reports.
    std::vector<std::string> test_files;          ///< All of the tree's, sorted.
    std::vector<std::string> files;               ///< Those that were asked for; a test of another one is left out.
    std::map<std::string, std::string> declared;  ///< Test name → file, where one file only declares it.
    std::map<std::pair<std::string, std::string>, std::string>
        declared_beside;  ///< Folder (ending in `/`, or empty) and name → file.
    std::optional<FormatResult> collected;
    std::chrono::seconds timeout{0};
};

/// Believed only if the format calls the report complete, the process ended by itself with an exit code that agrees with the
/// outcomes, each test that was collected has an outcome, and every canary failed at an assertion. A canary may be missing where
/// nothing passed: its folder, or the whole run, did not build. Otherwise no test counts as passed.
/// A test told twice counts once, with the worse outcome. Ids are `file::suite::name`, or `file::name`; a file that could not be
/// loaded is an error whose id is the file. A test of no known file has the id `suite::name` and is kept.
[[nodiscard]] TestRun judge_report(const FormatResult& report, const ReportContext& context, const ProcessOutcome& outcome);

/// Test names that exactly one of the files declares, by the runner's `declaration`.
[[nodiscard]] std::map<std::string, std::string> declared_in(const std::string& declaration,
                                                             const std::vector<std::pair<std::string, std::string>>& contents);

/// One error in a tool's output, found by an RE2 with the groups file, line and message.
struct ToolMessage {
    std::string file;
    std::uint64_t line = 0;
    std::string message;
};
/// Line by line; a message that ends with a colon goes on in the next line that says something. Paths below `root` are made
/// relative to it.
[[nodiscard]] std::vector<ToolMessage> find_messages(const std::string& pattern, std::string_view text, const std::string& root);

}  // namespace agentforge::kernel
