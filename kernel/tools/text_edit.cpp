// SPDX-License-Identifier: Apache-2.0
#include "tools/text_edit.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "tools/hunks.hpp"

namespace agentforge::kernel {

Result<TextEdit> replace_once(std::string_view content, std::string_view search, std::string_view replace,
                              std::string_view name) {
    Hunk hunk;
    hunk.search = search;
    hunk.replace = replace;
    if (search.empty()) {
        return Error{"AF-TOOL-042", "The text to replace is empty; it would match everywhere in " + std::string(name) + ".",
                     std::string(name), "Give the text that is to be replaced. Use create_file for a new file.",
                     ErrorKind::invalid};
    }
    AF_TRY(auto edit, apply_hunks(content, {std::move(hunk)}, name));
    return TextEdit{std::move(edit.content), edit.line, edit.tolerant};
}

std::uint64_t count_lines(std::string_view text) {
    const auto newlines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    return newlines + (text.empty() || text.back() == '\n' ? 0U : 1U);
}

LineCounts count_changes(std::string_view before, std::string_view after) {
    const auto old_lines = split_lines(before);
    const auto new_lines = split_lines(after);
    std::size_t begin = 0;
    const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
    while (begin < shorter && old_lines[begin] == new_lines[begin]) { ++begin; }
    std::size_t tail = 0;
    while (tail < shorter - begin && old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail]) { ++tail; }
    const std::size_t n = old_lines.size() - begin - tail;
    const std::size_t m = new_lines.size() - begin - tail;
    std::uint64_t common = 0;
    if (n > 0 && m > 0 && n <= 4'000'000 / m) {
        // Longest common subsequence, one row at a time, over line numbers instead of texts.
        std::map<std::string_view, std::uint32_t> numbers;
        const auto number = [&](std::string_view line) {
            return numbers.emplace(line, static_cast<std::uint32_t>(numbers.size())).first->second;
        };
        std::vector<std::uint32_t> a(n);
        std::vector<std::uint32_t> b(m);
        for (std::size_t i = 0; i < n; ++i) { a[i] = number(old_lines[begin + i]); }
        for (std::size_t j = 0; j < m; ++j) { b[j] = number(new_lines[begin + j]); }
        std::vector<std::uint32_t> row(m + 1);
        for (std::size_t i = 0; i < n; ++i) {
            std::uint32_t diagonal = 0;
            for (std::size_t j = 0; j < m; ++j) {
                const std::uint32_t above = row[j + 1];
                row[j + 1] = a[i] == b[j] ? diagonal + 1 : std::max(above, row[j]);
                diagonal = above;
            }
        }
        common = row[m];
    }
    return {m - common, n - common};
}

}  // namespace agentforge::kernel
