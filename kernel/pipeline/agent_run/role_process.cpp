// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/role_process.hpp"

#include "base/text.hpp"
#include "pipeline/agent_run/accept_writes.hpp"
#include "pipeline/agent_run/role_rights.hpp"

namespace agentforge::kernel {

std::vector<std::string> writable_entries(RoleWorkspace& workspace, const std::string& root) {
    if (workspace.check_write("agentforge-probe").ok()) { return {root}; }
    std::vector<std::string> writable;
    ListOptions top;
    top.recursive = false;
    const auto listing = workspace.list(".", top);
    if (!listing.ok()) { return writable; }
    for (const ListEntry& entry : listing->entries) {
        const std::string probe = entry.directory ? entry.path + "/agentforge-probe" : entry.path;
        if (workspace.check_write(probe).ok()) { writable.push_back(root + "/" + entry.path); }
    }
    return writable;
}

ProcessResult process_result_of(const ProcessOutcome& outcome, const Redactor& redactor) {
    ProcessResult result;
    result.exit_code = outcome.exit_code;
    result.timed_out = outcome.timed_out;
    result.output_truncated = outcome.out_truncated || outcome.err_truncated;
    result.out = redactor.redact_cut(sanitize_utf8(outcome.out));
    result.err = redactor.redact_cut(sanitize_utf8(outcome.err));
    result.duration = outcome.duration;
    result.confinement = outcome.confinement;
    return result;
}

ServerPlace stage_process_place(TaskTrees& trees, const TaskServices& services) {
    ServerPlace place;
    place.exec_helper = services.exec_helper;
    place.workspace = trees.root();
    place.scratch = trees.scratch();
    place.readable = program_folders(services.environment);
    place.readable.push_back(trees.root());
    place.environment = services.environment;
    return place;
}

Result<std::pair<ProcessResult, std::vector<Change>>> run_confined(TaskSession& session, TaskWorkspace& task_workspace,
                                                                   TaskServices& services, RoleWorkspace& workspace,
                                                                   const RecordAgent& who, const std::string& tree,
                                                                   const ProcessSpec& spec) {
    ProcessRequest request;
    request.argv = spec.argv;
    request.directory = spec.directory.empty() ? task_workspace.root() : task_workspace.root() + "/" + spec.directory;
    request.environment = base_environment(services.environment);
    request.environment["TMPDIR"] = task_workspace.scratch();
    for (const auto& [name, value] : spec.environment) { request.environment[name] = value; }
    request.input = spec.input;
    request.timeout = spec.timeout;
    request.max_output_bytes = spec.max_output_bytes;
    request.confinement.readable = program_folders(services.environment);
    request.confinement.readable.push_back(task_workspace.root());
    request.confinement.writable = writable_entries(workspace, task_workspace.root());
    request.confinement.writable.push_back(task_workspace.scratch());
    AF_TRY(const ProcessOutcome outcome, task_workspace.run(std::move(request), Stop{&services.cancel, std::nullopt}));
    AF_TRY(std::vector<Change> kept, accept_writes(session, task_workspace, workspace, who, tree));
    return std::pair{process_result_of(outcome, services.redactor), std::move(kept)};
}

Result<std::pair<ProcessResult, std::vector<Change>>> run_process_as_role(TaskSession& session, TaskWorkspace& task_workspace,
                                                                          TaskServices& services, const std::string& role,
                                                                          const ProcessSpec& spec) {
    AF_TRY(const AgentDefinition agent, services.agents.get(role));
    AF_TRY(RolePaths rules,
           has_writing_tool(services, agent) ? role_paths(session, task_workspace, agent) : no_paths(agent, "reading"));
    AF_TRY(auto workspace, RoleWorkspace::open(task_workspace.root(), std::move(rules), services.redactor));
    const RecordAgent who{agent.role, agent.version, ""};
    return run_confined(session, task_workspace, services, *workspace, who, session.state().tree, spec);
}

}  // namespace agentforge::kernel
