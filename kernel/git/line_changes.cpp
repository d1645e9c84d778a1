// SPDX-License-Identifier: Apache-2.0
#include "git/line_changes.hpp"

#include <git2.h>

#include "git/library.hpp"

namespace agentforge::kernel {

Result<std::vector<LineChange>> line_changes(std::string_view before, std::string_view after) {
    git::start_library();
    git_diff_options options = GIT_DIFF_OPTIONS_INIT;
    options.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_MINIMAL;
    options.context_lines = 0;
    git_patch* raw = nullptr;
    if (const int code =
            git_patch_from_buffers(&raw, before.data(), before.size(), nullptr, after.data(), after.size(), nullptr, &options);
        code < 0) {
        return git::failure(code, "compare two texts");
    }
    const git::PatchHandle patch(raw);
    std::vector<LineChange> changes;
    for (std::size_t at = 0; at < git_patch_num_hunks(raw); ++at) {
        const git_diff_hunk* hunk = nullptr;
        std::size_t lines = 0;
        if (const int code = git_patch_get_hunk(&hunk, &lines, raw, at); code < 0) {
            return git::failure(code, "compare two texts");
        }
        changes.push_back({static_cast<std::uint64_t>(hunk->old_start), static_cast<std::uint64_t>(hunk->old_lines),
                           static_cast<std::uint64_t>(hunk->new_start), static_cast<std::uint64_t>(hunk->new_lines)});
    }
    return changes;
}

}  // namespace agentforge::kernel
