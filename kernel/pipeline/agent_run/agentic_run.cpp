// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/agentic_run.hpp"

#include <filesystem>
#include <set>

#include "base/files.hpp"
#include "pipeline/agent_run/agentic_recording.hpp"
#include "pipeline/agent_run/role_process.hpp"

namespace agentforge::kernel {

Result<void> AgenticRun::begin() {
    AF_CHECK(run_.task_workspace.restore(workspace_.tree()));
    std::error_code left;
    std::filesystem::remove_all(scratch_, left);
    if (left) {
        return Error{"AF-LLM-310", "cannot empty the scratch folder of the call: " + left.message(), scratch_,
                     "Remove it, then resume.", ErrorKind::unavailable};
    }
    AF_CHECK(make_directories(scratch_ + "/home"));
    return {};
}

Result<ProcessResult> AgenticRun::run(const AgenticCommand& command) {
    ProcessRequest request;
    request.argv = command.argv;
    request.directory = run_.task_workspace.root();
    request.environment = command.environment;
    request.environment.emplace("HOME", scratch_ + "/home");
    request.environment["TMPDIR"] = scratch_;
    request.environment["AGENTFORGE_ARTIFACT"] = artifact_file(scratch_);
    request.input = command.input;
    request.timeout = command.timeout;
    request.max_output_bytes = command.max_output_bytes;
    Confinement& confinement = request.confinement;
    confinement.network = Network::full;  // To reach its model's server.
    confinement.readable = program_folders(run_.services.environment);
    confinement.readable.push_back(run_.task_workspace.root());
    confinement.readable.push_back(inputs());
    confinement.readable.insert(confinement.readable.end(), command.readable.begin(), command.readable.end());
    confinement.writable = writable_entries(workspace_.files(), run_.task_workspace.root());
    confinement.writable.push_back(scratch_);
    confinement.writable.insert(confinement.writable.end(), command.writable.begin(), command.writable.end());
    AF_TRY(const ProcessOutcome outcome, run_.task_workspace.run(std::move(request), run_.stop()));
    if (outcome.cancelled) {
        return Error{"AF-LLM-104", "the command was cancelled", "", "Resume the task to continue.", ErrorKind::cancelled};
    }
    return process_result_of(outcome, run_.services.redactor);
}

Result<json::object> AgenticRun::work() {
    AF_TRY(const std::string after, run_.task_workspace.snapshot({}));
    AF_TRY(const auto changes, run_.task_workspace.diff(workspace_.tree(), after));
    std::set<std::string> paths;
    for (const TreeChange& change : changes) {
        paths.insert(change.path);
        if (!change.old_path.empty()) { paths.insert(change.old_path); }
    }
    for (std::string& path : run_.task_workspace.unrecordable()) { paths.insert(std::move(path)); }
    return recorded_work(run_.task_workspace.root(), paths, artifact_file(scratch_), run_.services.redactor);
}

Result<std::string> AgenticRun::record_writes() {
    AF_TRY(std::string now, workspace_.record_writes());
    if (now != workspace_.tree()) { AF_CHECK(run_.task_workspace.keep("answer-" + std::to_string(run_.state().steps + 1), now)); }
    workspace_.set_tree(now);
    return now;
}

}  // namespace agentforge::kernel
