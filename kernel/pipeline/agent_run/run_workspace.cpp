// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/run_workspace.hpp"

#include "pipeline/agent_run/accept_writes.hpp"
#include "pipeline/agent_run/role_process.hpp"
#include "pipeline/agent_run/role_rights.hpp"

namespace agentforge::kernel {

Result<void> RunWorkspace::open(bool writes) {
    AF_TRY(RolePaths rules, writes ? role_paths(run_.session, run_.task_workspace, run_.agent) : no_paths(run_.agent, "review"));
    AF_CHECK(open_with(std::move(rules)));
    tree_ = run_.state().tree;
    return {};
}

Result<void> RunWorkspace::forbid_writes() {
    AF_TRY(RolePaths rules, no_paths(run_.agent, "reading"));
    return open_with(std::move(rules));
}

Result<void> RunWorkspace::open_with(RolePaths rules) {
    AF_TRY(files_, RoleWorkspace::open(run_.task_workspace.root(), std::move(rules), run_.services.redactor));
    files_->pin(run_.task_workspace.submodules());
    return {};
}

Result<ProcessResult> RunWorkspace::run_process(const ProcessSpec& spec) {
    AF_TRY(auto done, run_confined(run_.session, run_.task_workspace, run_.services, *files_, run_.who, tree_, spec));
    process_changes_.insert(process_changes_.end(), done.second.begin(), done.second.end());
    return std::move(done.first);
}

Result<std::string> RunWorkspace::record_writes() {
    std::string now;
    AF_TRY(const auto kept, accept_writes(run_.session, run_.task_workspace, *files_, run_.who, tree_, &now));
    process_changes_.insert(process_changes_.end(), kept.begin(), kept.end());
    return now;
}

Result<void> RunWorkspace::adopt(const std::string& tree) {
    AF_CHECK(run_.task_workspace.restore(tree));
    AF_TRY(const auto changes, run_.task_workspace.diff(run_.state().tree, tree));
    for (const TreeChange& change : changes) {
        process_changes_.push_back(Change{change.path, "", "", change.lines_added, change.lines_removed, change.status == 'A'});
    }
    tree_ = tree;
    return {};
}

std::vector<Change> RunWorkspace::take_changes() {
    std::vector<Change> changes = files_->take_changes();
    changes.insert(changes.end(), process_changes_.begin(), process_changes_.end());
    process_changes_.clear();
    return changes;
}

ServerPlace RunWorkspace::server_place() {
    ServerPlace place = stage_process_place(run_.task_workspace, run_.services);
    place.writable = writable_entries(*files_, run_.task_workspace.root());
    return place;
}

}  // namespace agentforge::kernel
