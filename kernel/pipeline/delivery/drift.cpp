// SPDX-License-Identifier: Apache-2.0
#include "pipeline/delivery/drift.hpp"

#include <set>

#include "base/text.hpp"
#include "git/merges.hpp"
#include "git/objects.hpp"

namespace agentforge::kernel {

namespace {

json::array drift_paths(const std::vector<std::string>& paths) { return json::array(paths.begin(), paths.end()); }

std::string few_paths(const std::vector<std::string>& paths) {
    constexpr std::size_t most = 4;
    std::string text;
    for (std::size_t index = 0; index < paths.size() && index < most; ++index) {
        text += (index == 0 ? "" : ", ") + sanitize_utf8(paths[index]);
    }
    return text + (paths.size() > most ? " and " + std::to_string(paths.size() - most) + " more" : "");
}

}  // namespace

const std::vector<std::string>& files_of_both_sides() {
    static const std::vector<std::string> files{"CHANGELOG.md"};
    return files;
}

std::string ref_of_uncommitted_base(const std::string& task_id) { return task_id + "/uncommitted-base"; }

Result<void> keep_uncommitted_base(const Repository& repository, const std::string& task_id, const std::string& base_commit) {
    const std::filesystem::path place = repository.work_directory();
    AF_TRY(const WrittenCommit base, written_commit(place, base_commit));
    return base.message.starts_with(uncommitted_title) ? keep_commit(place, ref_of_uncommitted_base(task_id), base_commit)
                                                       : Result<void>();
}

Result<BaseDrift> measure_drift(const Repository& repository, const std::string& base_branch, const std::string& base_commit,
                                const std::string& base_tree, const std::string& tree) {
    BaseDrift drift;
    if (!base_branch.empty()) {
        AF_TRY(const auto there, repository.branch_commit(base_branch));
        if (there) {
            drift.branch = base_branch;
            drift.head = *there;
        }
    }
    if (drift.head.empty()) { AF_TRY(drift.head, repository.head_commit()); }
    if (drift.head == base_commit) { return drift; }
    const std::filesystem::path place = repository.work_directory();
    AF_TRY(const BranchDistance distance, branch_distance(place, base_commit, drift.head));
    drift.commits = distance.ahead;
    // A base commit with the user's uncommitted changes was never on the branch, so its absence does not mean a rewrite.
    std::uint64_t own = 0;
    if (distance.behind > 0) {
        AF_TRY(const WrittenCommit base, written_commit(place, base_commit));
        own = base.message.starts_with(uncommitted_title) ? 1 : 0;
    }
    drift.rewritten = distance.behind > own && distance.ahead > 0;
    AF_TRY(const std::string head_tree, repository.tree_of(drift.head));
    AF_TRY(const auto theirs, repository.diff(base_tree, head_tree));
    AF_TRY(const auto ours, repository.diff(base_tree, tree));
    std::set<std::string> changed;
    for (const TreeChange& change : theirs) {
        changed.insert(change.path);
        if (!change.old_path.empty()) { changed.insert(change.old_path); }
    }
    for (const TreeChange& change : ours) {
        if (changed.contains(change.path)) { drift.both.push_back(change.path); }
    }
    if (!drift.both.empty()) {
        AF_TRY(const TreeMerge merge, merge_trees(place, base_tree, head_tree, tree, files_of_both_sides()));
        drift.conflicts = merge.conflicts;
    }
    return drift;
}

records::BaseDrift recorded(const BaseDrift& drift) {
    return {drift.branch, drift.head, drift.commits, drift.rewritten, drift.both, drift.conflicts};
}

json::object to_json(const BaseDrift& drift) {
    return {{"branch", drift.branch},
            {"head", drift.head},
            {"commits", drift.commits},
            {"rewritten", drift.rewritten},
            {"changed_by_both", drift_paths(drift.both)},
            {"conflicts", drift_paths(drift.conflicts)}};
}

BaseDrift drift_from_json(const json::object& value) {
    const auto text = [&](std::string_view key) {
        const json::value* found = value.if_contains(key);
        return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
    };
    const auto paths = [&](std::string_view key) {
        std::vector<std::string> list;
        const json::value* found = value.if_contains(key);
        if (found == nullptr || !found->is_array()) { return list; }
        for (const json::value& path : found->get_array()) {
            if (path.is_string()) { list.emplace_back(path.get_string()); }
        }
        return list;
    };
    BaseDrift drift;
    drift.branch = text("branch");
    drift.head = text("head");
    if (const json::value* commits = value.if_contains("commits"); commits != nullptr && commits->is_number()) {
        drift.commits = commits->to_number<std::uint64_t>();
    }
    if (const json::value* rewritten = value.if_contains("rewritten"); rewritten != nullptr && rewritten->is_bool()) {
        drift.rewritten = rewritten->get_bool();
    }
    drift.both = paths("changed_by_both");
    drift.conflicts = paths("conflicts");
    return drift;
}

std::string describe(const BaseDrift& drift, bool since_rebase) {
    const std::string name = drift.branch.empty() ? "your checkout" : drift.branch;
    const std::string since = since_rebase ? " since the last rebase" : " since the task began";
    if (!drift.moved()) { return name + " has not moved" + since; }
    std::string text = drift.rewritten ? name + " was rewritten" + since + " (" + std::to_string(drift.commits) + " new" +
                                             (drift.commits == 1 ? " commit)" : " commits)")
                                       : name + " has " + std::to_string(drift.commits) + " new" +
                                             (drift.commits == 1 ? " commit" : " commits") + since;
    if (!drift.conflicts.empty()) {
        return text + "; both sides changed " + few_paths(drift.conflicts) + ", and those changes conflict";
    }
    return drift.both.empty() ? text + "; no file was changed on both sides"
                              : text + "; both sides changed " + few_paths(drift.both) + ", and those changes merge cleanly";
}

}  // namespace agentforge::kernel
