// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/accept_writes.hpp"

#include <set>

#include "secrets/restore.hpp"

namespace agentforge::kernel {

namespace {

/// Returns the first file that contains a secret's placeholder that it did not contain at `tree`, or empty. A program that was
/// shown the placeholder wrote it, and the file would hold it in place of the secret.
Result<std::string> file_with_new_placeholder(TaskTrees& trees, const std::string& tree, const std::string& after) {
    AF_TRY(const std::string patch, trees.patch(tree, after));
    if (!may_hold_placeholder(patch)) { return std::string(); }
    std::string file;
    std::set<std::string, std::less<>> had;
    std::vector<std::pair<std::string, std::string>> got;  // Pairs of file and placeholder.
    for (std::size_t begin = 0; begin < patch.size();) {
        const std::size_t end = std::min(patch.find('\n', begin), patch.size());
        const std::string_view line = std::string_view(patch).substr(begin, end - begin);
        begin = end + 1;
        if (line.starts_with("+++ ")) { file = line.starts_with("+++ b/") ? line.substr(6) : line.substr(4); }
        for (PlaceholderAt at = find_placeholder(line); at.size > 0; at = find_placeholder(line, at.begin + at.size)) {
            std::string found(line.substr(at.begin, at.size));
            if (line.starts_with('+')) {
                got.emplace_back(file, std::move(found));
            } else {
                had.insert(std::move(found));
            }
        }
    }
    for (const auto& [where, placeholder] : got) {
        if (!had.contains(placeholder)) { return where; }
    }
    return std::string();
}

}  // namespace

Result<std::vector<Change>> accept_writes(TaskSession& session, TaskTrees& trees, RoleWorkspace& workspace,
                                          const RecordAgent& who, const std::string& tree, std::string* now) {
    AF_TRY(const std::string after, trees.snapshot({}));
    AF_TRY(const auto changes, trees.diff(tree, after));
    if (now != nullptr) { *now = after; }
    std::vector<std::string> forbidden;
    for (std::string& path : trees.unrecordable()) { forbidden.emplace_back(std::move(path)); }
    std::vector<Change> kept;
    for (const TreeChange& change : changes) {
        // A rename removes the file from its old path, which the role must be allowed to write too.
        if (!change.old_path.empty() && !workspace.check_write(change.old_path).ok()) {
            forbidden.emplace_back(change.old_path);
        } else if (workspace.check_write(change.path).ok()) {
            kept.push_back(Change{change.path, "", "", change.lines_added, change.lines_removed, change.status == 'A'});
        } else {
            forbidden.emplace_back(change.path);
        }
    }
    if (forbidden.empty() && !kept.empty()) {
        AF_TRY(const std::string file, file_with_new_placeholder(trees, tree, after));
        if (!file.empty()) {
            AF_CHECK(trees.restore(tree));
            AF_CHECK(session.record(records::Violation{session.state().stage().name, std::vector<std::string>{file}}, &who));
            return Error{
                "AF-SEC-007",
                "the program wrote the placeholder of a secret into '" + file + "'; it does not know the secret behind it", file,
                "all its writes were undone; edit such lines with AgentForge's own tools, which restore secrets",
                ErrorKind::denied};
        }
    }
    if (!forbidden.empty()) {
        AF_CHECK(trees.restore(tree));
        AF_CHECK(session.record(records::Violation{session.state().stage().name, forbidden}, &who));
        return Error{"AF-ORCH-026",
                     "the program wrote where role `" + who.role +
                         "` may not: " + json::serialize(json::array(forbidden.begin(), forbidden.end())),
                     "", "all its writes were undone; let it write only where the role may", ErrorKind::denied};
    }
    return kept;
}

}  // namespace agentforge::kernel
