// SPDX-License-Identifier: Apache-2.0
// The state of the user's repository: its place, its HEAD, its uncommitted changes.
#include "git/repository.hpp"

#include <malloc.h>

#include "base/files.hpp"
#include "git/repository_state.hpp"

namespace agentforge::kernel {

using namespace git;

Repository::Repository(std::unique_ptr<State> state) : state_(std::move(state)) {}
Repository::Repository(Repository&&) noexcept = default;
Repository& Repository::operator=(Repository&&) noexcept = default;
Repository::~Repository() = default;

Result<Repository> Repository::open(const std::filesystem::path& path) {
    AF_TRY(RepositoryHandle handle, open_repository(path));
    return Repository(std::make_unique<State>(State{std::move(handle)}));
}

namespace {
std::filesystem::path without_trailing_slash(const char* text) {
    std::string path = text == nullptr ? "" : text;
    while (path.size() > 1 && path.back() == '/') { path.pop_back(); }
    return path;
}
}  // namespace

std::filesystem::path Repository::work_directory() const {
    return without_trailing_slash(git_repository_workdir(state_->handle.get()));
}
std::filesystem::path Repository::git_directory() const {
    return without_trailing_slash(git_repository_commondir(state_->handle.get()));
}

std::vector<std::filesystem::path> Repository::other_checkouts() const {
    const std::filesystem::path own = work_directory();
    const std::filesystem::path common = git_directory();
    std::vector<std::filesystem::path> all;
    if (common.filename() == ".git") { all.push_back(common.parent_path()); }
    std::error_code error;
    for (const auto& record : std::filesystem::directory_iterator(common / "worktrees", error)) {
        constexpr std::size_t longest_path = 65536;
        const auto link = read_file(record.path() / "gitdir", longest_path);
        if (link.ok()) { all.push_back(std::filesystem::path(link->substr(0, link->find('\n'))).parent_path()); }
    }
    std::erase(all, own);
    return all;
}

Result<std::string> Repository::head_commit() const {
    git_oid id{};
    const int code = git_reference_name_to_id(&id, state_->handle.get(), "HEAD");
    if (const std::optional<std::string> named = current_branch();
        code < 0 && named && git_reference_is_valid_name(("refs/heads/" + *named).c_str()) != 1) {
        return Error{"AF-GIT-008", "HEAD points to `" + *named + "`, which is not a valid branch name", work_directory().string(),
                     "Switch to a branch: git switch BRANCH", ErrorKind::invalid};
    }
    if (code == GIT_ENOTFOUND || git_repository_head_unborn(state_->handle.get()) == 1) {
        const std::optional<std::string> branch = current_branch();
        git_reference_iterator* raw = nullptr;
        git_reference* any = nullptr;
        const bool others = git_reference_iterator_glob_new(&raw, state_->handle.get(), "refs/heads/*") == 0 &&
                            git_reference_next(&any, raw) == 0;
        git_reference_free(any);
        git_reference_iterator_free(raw);
        if (others) {
            return Error{
                "AF-GIT-005",
                branch ? "The branch `" + *branch + "` has no commit yet" : std::string("HEAD does not point to a commit"),
                work_directory().string(), "Switch to a branch that has one (git switch BRANCH), or commit on this one",
                ErrorKind::unavailable};
        }
        return Error{"AF-GIT-005", "The repository has no commit yet", work_directory().string(),
                     "Make a first commit: git add . && git commit -m 'First commit'", ErrorKind::unavailable};
    }
    if (code < 0) { return failure(code, "read HEAD"); }
    return to_text(id);
}

Result<std::string> Repository::tree_of(std::string_view commit) const {
    AF_TRY(const git_oid id, parse_id(commit));
    AF_TRY(const git_oid tree, tree_id_of_commit(state_->handle.get(), id));
    return to_text(tree);
}

std::optional<std::string> Repository::current_branch() const {
    git_reference* raw = nullptr;
    if (git_reference_lookup(&raw, state_->handle.get(), "HEAD") < 0) { return std::nullopt; }
    const ReferenceHandle head(raw);
    const char* target = git_reference_symbolic_target(raw);
    constexpr std::string_view prefix = "refs/heads/";
    if (target == nullptr || !std::string_view(target).starts_with(prefix)) { return std::nullopt; }
    return std::string(target).substr(prefix.size());
}

Result<std::vector<std::string>> Repository::uncommitted() const {
    git_status_options options = GIT_STATUS_OPTIONS_INIT;
    options.show = GIT_STATUS_SHOW_INDEX_AND_WORKDIR;
    options.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS | GIT_STATUS_OPT_EXCLUDE_SUBMODULES |
                    GIT_STATUS_OPT_INCLUDE_UNREADABLE;
    git_status_list* raw = nullptr;
    if (const int code = git_status_list_new(&raw, state_->handle.get(), &options); code < 0) {
        return failure(code, "compare the checkout");
    }
    StatusHandle list(raw);
    std::vector<std::string> paths;
    git_index* raw_index = nullptr;
    if (const int code = git_repository_index(&raw_index, state_->handle.get()); code < 0) {
        return failure(code, "read the index");
    }
    IndexHandle index(raw_index);
    for (std::size_t i = 0; i < git_status_list_entrycount(raw); ++i) {
        const git_status_entry* entry = git_status_byindex(raw, i);
        if (entry->status == GIT_STATUS_CURRENT || (entry->status & GIT_STATUS_IGNORED) != 0) { continue; }
        if (entry->status == GIT_STATUS_WT_DELETED) {
            // Excluded by `git sparse-checkout`, which libgit2 reports as deleted.
            const git_index_entry* known = git_index_get_bypath(raw_index, entry->index_to_workdir->old_file.path, 0);
            if (known != nullptr && (known->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE) != 0) { continue; }
        }
        const git_diff_delta* delta = entry->index_to_workdir != nullptr ? entry->index_to_workdir : entry->head_to_index;
        std::string path = delta->new_file.path != nullptr ? delta->new_file.path : delta->old_file.path;
        if (path == ".agentforge" || path.starts_with(".agentforge/")) { continue; }
        paths.push_back(std::move(path));
    }
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    list.reset();
    index.reset();
    ::malloc_trim(0);  // libgit2 had each file of the checkout in memory, several times, in small pieces.
    return paths;
}

std::optional<std::pair<std::string, std::string>> Repository::identity() const {
    git_config* raw = nullptr;
    if (git_repository_config_snapshot(&raw, state_->handle.get()) < 0) { return std::nullopt; }
    const ConfigHandle config(raw);
    const char* name = nullptr;
    const char* email = nullptr;
    if (git_config_get_string(&name, raw, "user.name") < 0 || git_config_get_string(&email, raw, "user.email") < 0) {
        return std::nullopt;
    }
    std::pair<std::string, std::string> identity(without_brackets(name), without_brackets(email));
    if (identity.first.empty() || identity.second.empty()) { return std::nullopt; }
    return identity;
}

std::string without_brackets(std::string name) {
    std::erase_if(name, [](char letter) { return letter == '<' || letter == '>' || letter == '\n'; });
    return name;
}

}  // namespace agentforge::kernel
