// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/step_record.hpp"

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "pipeline/budget.hpp"
#include "pipeline/codec.hpp"

namespace agentforge::kernel {

namespace {

std::vector<std::string> paths_of(const std::vector<Change>& changes) {
    std::vector<std::string> paths;
    for (const Change& change : changes) {
        if (std::find(paths.begin(), paths.end(), change.path) == paths.end()) { paths.push_back(change.path); }
    }
    return paths;
}

Result<std::string> save_patch(OpenRun& run, std::uint64_t step, const std::string& before, const std::string& after) {
    AF_TRY(const std::string raw, run.task_workspace.patch(before, after));
    const std::string patch = run.services.redactor.redact(raw);
    std::string number = std::to_string(step);
    number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
    const std::filesystem::path file = run.session.paths().snapshots() / ("step_" + number + ".patch");
    AF_CHECK(make_directories(file.parent_path()));
    AF_CHECK(write_file_atomic(file, patch, Durability::synced));  // Before the record that names it.
    return "artifacts/snapshots/" + file.filename().string();
}

/// Records the workspace after the step and sets the step's tree. Returns the file of its patch. Empty: no file differs.
Result<std::string> record_tree(OpenRun& run, StepRecord& step) {
    const std::string before = run.state().tree;
    const std::uint64_t number = run.state().steps + 1;
    if (step.changes.empty()) {
        step.tree = before;
        return std::string();
    }
    AF_TRY(step.tree, run.task_workspace.snapshot(paths_of(step.changes)));
    if (step.tree == before) { return std::string(); }
    AF_CHECK(run.task_workspace.keep("step-" + std::to_string(number), step.tree));
    return save_patch(run, number, before, step.tree);
}

records::ModelCall call_of(const OpenRun& run, const Completion& completion) {
    records::ModelCall call{.model = completion.model,
                            .prompt_tokens = completion.usage.input_tokens,
                            .completion_tokens = completion.usage.output_tokens};
    if (const records::CallUsage usage = usage_of(completion, run.model, run.services.prices);
        usage.input_tokens + usage.output_tokens > 0) {
        call.cost_microusd = usage.cost_microusd;
    }
    return call;
}

}  // namespace

Result<std::vector<StepRecord>> recorded_steps(const OpenRun& run) {
    std::vector<StepRecord> steps;
    const RunState* const journaled = run.journaled();
    for (const std::string& blob : journaled == nullptr ? std::vector<std::string>() : journaled->steps) {
        AF_TRY(const json::value body, run.session.get(blob));
        AF_TRY(StepRecord step, recorded_step(body));
        steps.push_back(std::move(step));
    }
    return steps;
}

Result<void> record_step(OpenRun& run, StepRecord& step) {
    AF_TRY(const std::string patch_file, record_tree(run, step));
    AF_TRY(const std::string context_blob, run.session.put_text(step.context));
    AF_TRY(const std::string system_blob, run.session.put_text(step.system));
    AF_TRY(const std::string record_blob, run.session.put(to_json(step)));
    AF_TRY(const std::string arguments_blob, run.session.put(step.arguments));
    records::ActionTaken action{step.tool, arguments_blob};
    if (const std::string target = records::target_in(step.arguments); !target.empty()) { action.target = target; }
    records::ActionResult result{step.success ? "success" : "failure", step.summary};
    if (!step.error.empty()) { result.error = step.error; }
    records::Step taken{.phase = run.stage_name(),
                        .visit = run.visit,
                        .run = run.number,
                        .run_step = step.step,
                        .action = action,
                        .result = result,
                        .llm_call = call_of(run, step.completion),
                        .input_tokens = step.completion.usage.input_tokens,
                        .output_tokens = step.completion.usage.output_tokens,
                        .section_tokens = step.section_tokens,
                        .context_blob = context_blob,
                        .system_blob = system_blob,
                        .record_blob = record_blob,
                        .tree = step.tree};
    if (!step.changes.empty()) { taken.changes = recorded(step.changes); }
    if (!patch_file.empty()) { taken.patch = patch_file; }
    // The action of an agentic command does not name the files that it changed.
    const bool agentic = run.services.agentic && run.services.agentic(run.agent);
    if (agentic && !step.changes.empty()) { taken.files = paths_of(step.changes); }
    return run.session.record(taken, &run.who);
}

}  // namespace agentforge::kernel
