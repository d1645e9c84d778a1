// SPDX-License-Identifier: Apache-2.0
// Which test files a change may affect, found by names alone, for languages whose runner cannot tell.
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

/// The words by which other files call a file: its name without endings (`slug` of src/slug.py, foo.test.ts and slug_test.go:
/// what stands before the first dot), the folder's for a file that stands for its folder (`__init__`, `index`, `mod`, `lib`,
/// `main`, any of Go's).
[[nodiscard]] std::vector<std::string> words_for(std::string_view path);

/// Which files of a tree mention which others, by whole words. What mentions a changed file by its word may be affected, and so
/// may what mentions that, and so on. It errs by too many: a word may mean something else. It misses what is put together at run
/// time, which is why a phase's end always runs the whole suite.
class MentionIndex {
public:
    using Read = std::function<Result<std::optional<std::string>>(const std::string& path)>;
    static constexpr std::size_t max_files = 5'000;  ///< Above it the index would cost more than it saves.
    static constexpr std::size_t max_file_bytes = 1UL << 20U;

    /// Makes the index be that of these files (sources and tests, sorted). Only `changed` ones, new ones and those it does not
    /// know are read, unless files came or went whose words others may have mentioned before.
    [[nodiscard]] Result<void> update(const std::vector<std::string>& files, const std::vector<std::string>& changed,
                                      const Read& read);
    /// Files that a change of these may affect, themselves included; also of files that are gone.
    [[nodiscard]] std::set<std::string> affected(const std::vector<std::string>& changed) const;

private:
    std::map<std::string, unsigned, std::less<>> words_;                  ///< Every word of every file, numbered.
    std::map<std::string, std::vector<unsigned>, std::less<>> mentions_;  ///< By file, sorted.
};

}  // namespace agentforge::kernel
