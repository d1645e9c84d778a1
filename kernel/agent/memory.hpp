// SPDX-License-Identifier: Apache-2.0
// Everything that a run remembers, folded from its finished steps. Two runs with the same records remember the same.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/step_host.hpp"

namespace agentforge::kernel {

/// A part of a file as the model last saw it, or as its own edit left it.
struct FileMemory {
    std::string path;
    std::string content;
    std::string sha256;             ///< Hash of the whole file, if a step reported it.
    std::uint64_t first_line = 1;   ///< 0: unknown (a fragment left by an edit).
    std::uint64_t total_lines = 0;  ///< 0: unknown.
    unsigned step = 0;              ///< The step that last used it.
    unsigned changed = 0;           ///< The step that last changed it or its place.
};

/// One line of `recent_actions`.
struct RecentAction {
    unsigned step = 0;
    std::string action;
    std::string result;
    std::string summary;
};

/// Returns reported input tokens per estimated token, in thousandths: 1000…2000. 1000 if one of them is unknown.
[[nodiscard]] unsigned calibration_of(std::uint64_t reported, std::uint64_t estimated) noexcept;

class Memory {
public:
    Memory() = default;
    /// `calibration_permille`: from earlier runs.
    explicit Memory(unsigned calibration_permille) : calibration_permille_(calibration_permille) {}
    /// Adds the next finished step.
    void add(const StepRecord& record);

    [[nodiscard]] const std::optional<StepRecord>& last() const noexcept { return last_; }
    [[nodiscard]] const std::deque<RecentAction>& recent() const noexcept { return recent_; }
    /// Most recently used first.
    [[nodiscard]] const std::vector<FileMemory>& files() const noexcept { return files_; }
    /// Path → hash of the file when the model last saw a part of it.
    [[nodiscard]] std::map<std::string, std::string, std::less<>> seen() const;
    [[nodiscard]] unsigned steps() const noexcept { return steps_; }
    /// How often in a row the same tool failed with the same arguments.
    [[nodiscard]] unsigned identical_failures() const noexcept { return identical_failures_; }
    /// How often `complete` failed with the error of its last failure, whatever was done in between.
    [[nodiscard]] unsigned identical_refusals() const noexcept { return identical_refusals_; }
    /// How many answers in a row could not be read.
    [[nodiscard]] unsigned malformed() const noexcept { return malformed_; }
    /// Reported input tokens per estimated token, in thousandths: the highest of all steps (calibration_of).
    [[nodiscard]] unsigned calibration_permille() const noexcept { return calibration_permille_; }
    /// Totals, tool uses and the last answer's text.
    [[nodiscard]] const AgentOutcome& outcome() const noexcept { return outcome_; }

private:
    void remember_file(const StepRecord& record);
    void remember_piece(const StepRecord& record, const std::string& path, const std::string& search, const std::string& replace,
                        const std::string& hash);
    void remember_views(const StepRecord& record);
    void put_file(FileMemory file);
    void calibrate(const StepRecord& record);

    std::optional<StepRecord> last_;
    std::deque<RecentAction> recent_;
    std::vector<FileMemory> files_;
    unsigned steps_ = 0;
    unsigned identical_failures_ = 0;
    unsigned identical_refusals_ = 0;
    std::map<std::string, unsigned> refusals_;  ///< Error of `complete` → how often it was given.
    unsigned malformed_ = 0;
    unsigned calibration_permille_ = 1000;
    std::string failed_action_;
    AgentOutcome outcome_;
};

/// Removes the prefixes `12\tcode`, `12: code`, `12| code` if every line has one and the numbers are consecutive; sets
/// `first_line`. Lines from the first that begins with `(` on are remarks of the tool, and are removed.
[[nodiscard]] std::string without_line_numbers(std::string_view text, std::uint64_t& first_line);

}  // namespace agentforge::kernel
