// SPDX-License-Identifier: Apache-2.0
// Finds the test files that a change may affect, by names alone. For languages whose runner does not report dependencies.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Returns the words by which other files refer to a file: its name up to the first dot (`slug` of src/slug.py, foo.test.ts and
/// slug_test.go), or the folder's name for a file that represents its folder (`__init__`, `index`, `mod`, `lib`, `main`, any Go
/// file).
[[nodiscard]] std::vector<std::string> words_for(std::string_view path);

/// Records which files of a tree mention which others, by whole words. A file that mentions a changed file's word may be
/// affected, and so may files that mention that one, and so on. Reports too many, because a word may mean something else. Misses
/// references built at run time, so the end of a phase always runs the whole suite.
class MentionIndex {
public:
    using Read = std::function<Result<std::optional<std::string>>(const std::string& path)>;
    static constexpr std::size_t max_files = 5'000;  ///< For more files the index would cost more than it saves.
    static constexpr std::size_t max_file_bytes = 1UL << 20U;

    /// Updates the index to these files (sources and tests, sorted). Reads only `changed` and new files, unless
    /// files were added or removed whose words other files may mention.
    [[nodiscard]] Result<void> update(const std::vector<std::string>& files, const std::vector<std::string>& changed,
                                      const Read& read);
    /// Returns the files that a change of these files may affect, and the changed files. Deleted files are allowed.
    [[nodiscard]] std::set<std::string> affected(const std::vector<std::string>& changed) const;

private:
    std::map<std::string, unsigned, std::less<>> words_;                  ///< Every word of every file, numbered.
    std::map<std::string, std::vector<unsigned>, std::less<>> mentions_;  ///< By file, sorted.
};

}  // namespace agentforge::kernel
