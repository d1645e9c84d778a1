// SPDX-License-Identifier: Apache-2.0
// Differences between two trees. They ignore the user's diff settings and attributes: the same trees give the same text.
#include <algorithm>

#include "base/text.hpp"
#include "git/repository_state.hpp"

namespace agentforge::kernel {

using namespace git;

namespace {

/// Decides as git does without attributes.
bool is_binary(std::string_view content) {
    constexpr std::size_t read_by_git = 8000;
    constexpr std::size_t largest_text = std::size_t{512} << 20U;
    return content.size() > largest_text || content.substr(0, read_by_git).find('\0') != std::string_view::npos;
}

git_diff_options diff_options(std::uint32_t flags) {
    git_diff_options options = GIT_DIFF_OPTIONS_INIT;
    options.flags = GIT_DIFF_INCLUDE_TYPECHANGE | flags;
    options.context_lines = 3;
    options.id_abbrev = 7;  // Whatever the user's core.abbrev is.
    options.old_prefix = "a";
    options.new_prefix = "b";
    return options;
}

/// Returns why a comparison that reads files failed: mostly because one of them is missing here. libgit2 gives no reason for
/// that.
Error cannot_compare(git_repository* repository, git_diff* diff, int code) {
    const Error told = failure(code, "find renamed files");
    git_odb* raw = nullptr;
    if (git_repository_odb(&raw, repository) < 0) { return told; }
    const OdbHandle store(raw);
    for (std::size_t at = 0; at < git_diff_num_deltas(diff); ++at) {
        const git_diff_delta& delta = *git_diff_get_delta(diff, at);
        for (const git_diff_file& file : {delta.old_file, delta.new_file}) {
            if (git_oid_is_zero(&file.id) != 0 || file.mode == GIT_FILEMODE_COMMIT) { continue; }
            git_odb_object* object = nullptr;
            const int read = git_odb_read(&object, raw, &file.id);
            git_odb_object_free(object);
            if (read == 0) { continue; }
            return Error{told.code, "git could not read " + sanitize_utf8(file.path) + ": its contents are missing or damaged",
                         "object " + to_text(file.id),
                         "Run `git fsck` in the repository, and fetch the object from another clone", ErrorKind::corrupt};
        }
    }
    return told;
}

Result<DiffHandle> diff_trees(git_repository* repository, git_tree* before, git_tree* after, std::uint32_t flags) {
    const git_diff_options options = diff_options(flags);
    git_diff* raw = nullptr;
    if (const int code = git_diff_tree_to_tree(&raw, repository, before, after, &options); code < 0) {
        return failure(code, "compare two trees");
    }
    DiffHandle diff(raw);
    git_diff_find_options find = GIT_DIFF_FIND_OPTIONS_INIT;
    find.flags = GIT_DIFF_FIND_RENAMES;
    find.rename_threshold = 50;
    find.rename_limit = 200;
    if (const int code = git_diff_find_similar(raw, &find); code < 0) { return cannot_compare(repository, raw, code); }
    return diff;
}

/// One side of a changed file. Empty for a side without a file, and for a submodule.
Result<BlobHandle> blob_of(git_repository* repository, const git_diff_file& file) {
    if (git_oid_is_zero(&file.id) != 0 || file.mode == GIT_FILEMODE_COMMIT) { return BlobHandle(); }
    git_blob* raw = nullptr;
    if (const int code = git_blob_lookup(&raw, repository, &file.id); code < 0) {
        return failure(code, "read " + sanitize_utf8(file.path));
    }
    return BlobHandle(raw);
}

std::string_view content_of(const BlobHandle& blob) {
    if (!blob) { return {}; }
    return {static_cast<const char*>(git_blob_rawcontent(blob.get())), static_cast<std::size_t>(git_blob_rawsize(blob.get()))};
}

struct FileDifference {
    PatchHandle patch;
    PatchHandle plain;  ///< Its hunks have the headers that git writes without attributes. Empty for binary files and submodules.
};

/// The changed files of two trees. libgit2 lets attributes decide which files are binary and what follows `@@`, so each file is
/// compared as text or as binary by its content, and the headers of its hunks come from a comparison that knows no path.
class Differences {
public:
    static Result<Differences> between(git_repository* repository, std::string_view old_tree, std::string_view new_tree) {
        AF_TRY(const git_oid old_id, parse_id(old_tree));
        AF_TRY(const git_oid new_id, parse_id(new_tree));
        AF_TRY(const TreeHandle before, find_tree(repository, old_id));
        AF_TRY(const TreeHandle after, find_tree(repository, new_id));
        AF_TRY(DiffHandle texts, diff_trees(repository, before.get(), after.get(), GIT_DIFF_FORCE_TEXT));
        AF_TRY(DiffHandle binaries, diff_trees(repository, before.get(), after.get(), GIT_DIFF_FORCE_BINARY));
        return Differences(repository, std::move(texts), std::move(binaries));
    }

    [[nodiscard]] std::size_t size() const { return git_diff_num_deltas(texts_.get()); }
    [[nodiscard]] const git_diff_delta& delta(std::size_t index) const { return *git_diff_get_delta(texts_.get(), index); }

    [[nodiscard]] Result<FileDifference> file(std::size_t index) const {
        AF_TRY(const BlobHandle before, blob_of(repository_, delta(index).old_file));
        AF_TRY(const BlobHandle after, blob_of(repository_, delta(index).new_file));
        const std::string_view old_text = content_of(before);
        const std::string_view new_text = content_of(after);
        const bool binary = is_binary(old_text) || is_binary(new_text);
        FileDifference result;
        git_patch* raw = nullptr;
        if (const int code = git_patch_from_diff(&raw, binary ? binaries_.get() : texts_.get(), index); code < 0) {
            return failure(code, "compare two files");
        }
        result.patch.reset(raw);
        if (binary || (!before && !after)) { return result; }
        const git_diff_options options = diff_options(GIT_DIFF_FORCE_TEXT);
        git_patch* plain = nullptr;
        if (const int code = git_patch_from_buffers(&plain, old_text.data(), old_text.size(), nullptr, new_text.data(),
                                                    new_text.size(), nullptr, &options);
            code < 0) {
            return failure(code, "compare two files");
        }
        result.plain.reset(plain);
        return result;
    }

private:
    Differences(git_repository* repository, DiffHandle texts, DiffHandle binaries)
        : repository_(repository), texts_(std::move(texts)), binaries_(std::move(binaries)) {}

    git_repository* repository_;
    DiffHandle texts_;
    DiffHandle binaries_;
};

/// Collects the text of patches, up to a limit.
struct PatchText {
    std::string text;
    std::size_t limit;
    git_patch* plain = nullptr;
    std::size_t hunk = 0;
    bool cut = false;

    static int take(const git_diff_delta*, const git_diff_hunk*, const git_diff_line* line, void* data) {
        auto& out = *static_cast<PatchText*>(data);
        const bool marked = line->origin == GIT_DIFF_LINE_CONTEXT || line->origin == GIT_DIFF_LINE_ADDITION ||
                            line->origin == GIT_DIFF_LINE_DELETION;
        std::string_view content(line->content, line->content_len);
        if (const git_diff_hunk* found = nullptr; line->origin == GIT_DIFF_LINE_HUNK_HDR && out.plain != nullptr) {
            if (const int code = git_patch_get_hunk(&found, nullptr, out.plain, out.hunk++); code < 0) { return code; }
            content = {found->header, found->header_len};
        }
        if (out.text.size() + content.size() + (marked ? 1U : 0U) > out.limit) {
            out.cut = true;
            return GIT_EUSER;
        }
        if (marked) { out.text.push_back(line->origin); }
        out.text.append(content);
        return 0;
    }
};

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
    AF_TRY(const Differences differences, Differences::between(state_->handle.get(), old_tree, new_tree));
    std::vector<TreeChange> changes;
    for (std::size_t i = 0; i < differences.size(); ++i) {
        const git_diff_delta& delta = differences.delta(i);
        TreeChange change;
        change.status = status_letter(delta.status);
        change.path = change.status == 'D' ? delta.old_file.path : delta.new_file.path;
        if (change.status == 'R') { change.old_path = delta.old_file.path; }
        AF_TRY(const FileDifference file, differences.file(i));
        if (file.patch && git_patch_line_stats(nullptr, &change.lines_added, &change.lines_removed, file.patch.get()) < 0) {
            return failure(-1, "count changed lines");
        }
        changes.push_back(std::move(change));
    }
    std::sort(changes.begin(), changes.end(), [](const TreeChange& a, const TreeChange& b) { return a.path < b.path; });
    return changes;
}

Result<std::string> Repository::patch(std::string_view old_tree, std::string_view new_tree, std::size_t max_bytes) const {
    AF_TRY(const Differences differences, Differences::between(state_->handle.get(), old_tree, new_tree));
    PatchText out{{}, max_bytes};
    for (std::size_t i = 0; i < differences.size() && !out.cut; ++i) {
        AF_TRY(const FileDifference file, differences.file(i));
        if (!file.patch) { continue; }
        out.plain = file.plain.get();
        out.hunk = 0;
        if (const int code = git_patch_print(file.patch.get(), &PatchText::take, &out); code < 0 && !out.cut) {
            return failure(code, "print a patch");
        }
    }
    if (out.cut) {
        if (!out.text.empty() && out.text.back() != '\n') { out.text.push_back('\n'); }
        out.text += "[the rest of the patch is left out: more than " + std::to_string(max_bytes) + " bytes]\n";
    }
    return std::move(out.text);
}

}  // namespace agentforge::kernel
