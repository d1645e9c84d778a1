// SPDX-License-Identifier: Apache-2.0
// Differences between two trees. They ignore the user's diff settings: the same trees give the same text.
#include "git/repository_state.hpp"

namespace agentforge::kernel {

using namespace git;

namespace {

Result<DiffHandle> diff_trees(git_repository* repository, std::string_view old_tree, std::string_view new_tree) {
    AF_TRY(const git_oid old_id, parse_id(old_tree));
    AF_TRY(const git_oid new_id, parse_id(new_tree));
    AF_TRY(const TreeHandle before, find_tree(repository, old_id));
    AF_TRY(const TreeHandle after, find_tree(repository, new_id));
    git_diff_options options = GIT_DIFF_OPTIONS_INIT;
    options.flags = GIT_DIFF_INCLUDE_TYPECHANGE;
    options.context_lines = 3;
    options.id_abbrev = 7;  // Whatever the user's core.abbrev is.
    options.old_prefix = "a";
    options.new_prefix = "b";
    git_diff* raw = nullptr;
    if (const int code = git_diff_tree_to_tree(&raw, repository, before.get(), after.get(), &options); code < 0) {
        return failure(code, "compare two trees");
    }
    DiffHandle diff(raw);
    git_diff_find_options find = GIT_DIFF_FIND_OPTIONS_INIT;
    find.flags = GIT_DIFF_FIND_RENAMES;
    find.rename_threshold = 50;
    find.rename_limit = 200;
    if (const int code = git_diff_find_similar(raw, &find); code < 0) { return failure(code, "find renamed files"); }
    return diff;
}

char status_letter(git_delta_t status) {
    switch (status) {
        case GIT_DELTA_ADDED:
            return 'A';
        case GIT_DELTA_DELETED:
            return 'D';
        case GIT_DELTA_RENAMED:
            return 'R';
        case GIT_DELTA_TYPECHANGE:
            return 'T';
        default:
            return 'M';
    }
}

}  // namespace

Result<std::vector<TreeChange>> Repository::diff(std::string_view old_tree, std::string_view new_tree) const {
    AF_TRY(const DiffHandle diff, diff_trees(state_->handle.get(), old_tree, new_tree));
    std::vector<TreeChange> changes;
    for (std::size_t i = 0; i < git_diff_num_deltas(diff.get()); ++i) {
        const git_diff_delta* delta = git_diff_get_delta(diff.get(), i);
        TreeChange change;
        change.status = status_letter(delta->status);
        change.path = change.status == 'D' ? delta->old_file.path : delta->new_file.path;
        if (change.status == 'R') { change.old_path = delta->old_file.path; }
        git_patch* raw = nullptr;
        if (const int code = git_patch_from_diff(&raw, diff.get(), i); code < 0) { return failure(code, "compare two files"); }
        const PatchHandle patch(raw);
        std::size_t added = 0;
        std::size_t removed = 0;
        if (raw != nullptr && git_patch_line_stats(nullptr, &added, &removed, raw) < 0) {
            return failure(-1, "count changed lines");
        }
        change.lines_added = added;
        change.lines_removed = removed;
        changes.push_back(std::move(change));
    }
    std::sort(changes.begin(), changes.end(), [](const TreeChange& a, const TreeChange& b) { return a.path < b.path; });
    return changes;
}

Result<std::string> Repository::patch(std::string_view old_tree, std::string_view new_tree, std::size_t max_bytes) const {
    AF_TRY(const DiffHandle diff, diff_trees(state_->handle.get(), old_tree, new_tree));
    struct Text {
        std::string text;
        std::size_t limit;
        bool cut = false;
    } out{{}, max_bytes};
    const auto line = [](const git_diff_delta*, const git_diff_hunk*, const git_diff_line* part, void* data) {
        auto& sink = *static_cast<Text*>(data);
        const bool marked = part->origin == GIT_DIFF_LINE_CONTEXT || part->origin == GIT_DIFF_LINE_ADDITION ||
                            part->origin == GIT_DIFF_LINE_DELETION;
        if (sink.text.size() + part->content_len + (marked ? 1U : 0U) > sink.limit) {
            sink.cut = true;
            return static_cast<int>(GIT_EUSER);
        }
        if (marked) { sink.text.push_back(part->origin); }
        sink.text.append(part->content, part->content_len);
        return 0;
    };
    const int code = git_diff_print(diff.get(), GIT_DIFF_FORMAT_PATCH, line, &out);
    if (code < 0 && !out.cut) { return failure(code, "print a patch"); }
    if (out.cut) {
        if (!out.text.empty() && out.text.back() != '\n') { out.text.push_back('\n'); }
        out.text += "[the rest of the patch is left out: more than " + std::to_string(max_bytes) + " bytes]\n";
    }
    return std::move(out.text);
}

}  // namespace agentforge::kernel
