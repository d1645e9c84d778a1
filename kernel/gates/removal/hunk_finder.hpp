// SPDX-License-Identifier: Apache-2.0
// Finds the lines that a change removed from a file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gates/removal/hunk.hpp"
#include "gates/removal/source_lines.hpp"

namespace agentforge::kernel {

/// Finds the hunks of one file, without definitions and imports.
class HunkFinder {
public:
    /// The texts and marks must outlive it. Skipped lines are left out.
    HunkFinder(const SourceLines& before, const SourceLines& now, const std::vector<bool>& skipped_before,
               const std::vector<bool>& skipped_now);

    /// For each line before, the same line now, if it was kept.
    [[nodiscard]] std::vector<std::size_t> kept_places() const;
    [[nodiscard]] std::vector<Hunk> find() const;
    /// Splits what was only removed at statements that decide something.
    [[nodiscard]] std::vector<Hunk> statements(const Hunk& hunk) const;

private:
    /// If equal lines make it unclear which were removed, chooses a whole block, without the `}` of the block before it.
    void slide();
    /// Splits a hunk into changed and removed lines, unless some of its lines are new or only lost indentation.
    void add_parts(Hunk hunk, std::vector<Hunk>& hunks) const;
    /// Splits what was only removed at statements that decide something, and outside functions at each statement: each has to be
    /// accounted for.
    void add_statements(const Hunk& hunk, std::vector<Hunk>& hunks) const;
    void add_statements_of(const FunctionLines* function, const std::vector<std::size_t>& numbers, const Hunk& hunk,
                           std::vector<Hunk>& parts) const;
    /// True if a removed definition is between these lines.
    [[nodiscard]] bool separated(std::size_t one, std::size_t other) const;
    const SourceLines& before_;
    const SourceLines& now_;
    const std::vector<bool>& skipped_;
    std::vector<std::string> old_;
    std::vector<std::string> new_;
    std::vector<std::size_t> old_numbers_;
    std::vector<std::size_t> new_numbers_;
    std::vector<bool> kept_;
    std::vector<bool> kept_now_;
};

}  // namespace agentforge::kernel
