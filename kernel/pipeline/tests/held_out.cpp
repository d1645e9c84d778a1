// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tests/held_out.hpp"

#include <algorithm>

#include "config/gate_names.hpp"
#include "contracts/names.hpp"
#include "gates/engine/held_out.hpp"
#include "pipeline/gate_runs.hpp"

namespace agentforge::kernel {

namespace {

using FileEdits = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// True if the current stage works without the held-out tests: all stages after RED up to the delivery.
bool works_without(const TaskState& state) {
    const auto& stages = state.pipeline.stages;
    const auto red = std::ranges::find_if(stages, writes_tests);
    return red != stages.end() && !state.red_tree.empty() && state.stage_index > static_cast<std::size_t>(red - stages.begin()) &&
           !makes_delivery(state.stage_template());
}

/// True if the stage has made a call to its host in this visit. Its inputs must then stay the same.
bool visit_has_begun(const TaskSession& session) { return !session.state().resumption.calls.empty(); }

Result<std::string> tree_with(const TaskState& state, TaskTrees& trees, const std::string& tree,
                              const std::vector<std::string>& files) {
    FileEdits edits;
    for (const std::string& file : files) {
        AF_TRY(auto content, trees.file_in_tree(state.red_tree, file));
        edits.emplace_back(file, std::move(content));
    }
    return trees.edit(tree, edits);
}

Result<std::string> tree_without(TaskTrees& trees, const std::string& tree, const std::vector<std::string>& files) {
    FileEdits edits;
    for (const std::string& file : files) { edits.emplace_back(file, std::nullopt); }
    return trees.edit(tree, edits);
}

/// Journals the new state of the held-out tests and updates the workspace.
Result<void> put(TaskSession& session, TaskTrees& trees, const HeldOutTests& held, const std::string& tree) {
    const TaskState& state = session.state();
    const bool moves = tree != state.tree;
    if (moves) { AF_CHECK(trees.keep("seq-" + std::to_string(state.seq + 1), tree)); }
    AF_CHECK(session.record(records::HeldOut{.stage = state.stage().name,
                                             .red_tree = held.red_tree,
                                             .files = held.files,
                                             .shown = held.shown,
                                             .hidden = held.hidden,
                                             .reason = held.reason,
                                             .tree = tree}));
    return moves ? trees.restore(tree) : Result<void>();
}

struct Choice {
    std::vector<std::string> files;
    std::string reason;
};

Result<Choice> choose(const TaskSession& session, TaskWorkspace& task_workspace, const Stop& stop) {
    const TaskState& state = session.state();
    AF_TRY(const auto report, newest_report(session, gate_name::red));
    AF_TRY(const auto suite, session.test_suite());
    if (!report || !suite) { return Choice{{}, "nothing is held out: no new tests were measured"}; }
    AF_TRY(const auto changes, task_workspace.diff(state.base_tree, state.red_tree));
    std::vector<std::string> added;
    for (const TreeChange& change : changes) {
        if (change.status == 'A') { added.push_back(change.path); }
    }
    auto files = choose_held_out(*suite, report->tests, added);
    if (files.empty()) { return Choice{{}, "nothing is held out: the new tests of each requirement are in one file"}; }
    AF_TRY(GateBaseline baseline, gate_baseline(session, gate_name::red, nullptr));
    baseline.red_tree.clear();
    baseline.test_suite = without_files(*suite, files);
    std::erase_if(baseline.test_files,
                  [&](const std::string& file) { return std::find(files.begin(), files.end(), file) != files.end(); });
    GateCall call;
    call.request.gate = gate_name::red;
    AF_TRY(call.tree, tree_without(task_workspace, state.red_tree, files));
    call.baseline = &baseline;
    AF_TRY(const GateReport without, task_workspace.gate(call, stop));
    if (!without.passed) {
        return Choice{{}, "nothing is held out: the new tests do not pass their gate without " + files.front()};
    }
    std::string reason = "held out:";
    for (const std::string& file : files) { reason += " " + file; }
    return Choice{std::move(files), std::move(reason)};
}

}  // namespace

Result<void> update_held_out(TaskSession& session, TaskWorkspace& task_workspace, const Stop& stop) {
    const TaskState& state = session.state();
    if (visit_has_begun(session)) { return {}; }
    const bool without = works_without(state) && task_workspace.holds_out_tests();
    if (!without) { return return_held_out(session, task_workspace); }
    HeldOutTests held = state.held_out;
    if (held.red_tree != state.red_tree) {
        AF_TRY(Choice choice, choose(session, task_workspace, stop));
        held = HeldOutTests{state.red_tree, std::move(choice.files), {}, {}, std::move(choice.reason), false};
    }
    const bool hides = !held.files.empty() && !held.hidden;
    if (!hides && held == state.held_out) { return {}; }
    std::string tree = state.tree;
    if (hides) {
        AF_TRY(tree, tree_without(task_workspace, tree, held.files));
        // Leftovers of RED's programs and gates beside the workspace may contain them.
        AF_CHECK(task_workspace.clear_scratch());
        held.hidden = true;
    }
    return put(session, task_workspace, held, tree);
}

Result<void> return_held_out(TaskSession& session, TaskTrees& trees) {
    HeldOutTests held = session.state().held_out;
    if (!held.hidden) { return {}; }
    held.hidden = false;
    AF_TRY(const std::string tree, tree_with(session.state(), trees, session.state().tree, held.files));
    return put(session, trees, held, tree);
}

std::vector<std::string> failed_too_often(const TaskState& state) {
    std::vector<std::string> files;
    if (!state.held_out.hidden) { return files; }
    for (const std::string& file : state.held_out.files) {
        const auto failures = state.held_out.failures.find(file);
        if (failures != state.held_out.failures.end() && failures->second >= held_out_attempts) { files.push_back(file); }
    }
    return files;
}

Result<bool> show_failed(TaskSession& session, TaskTrees& trees) {
    const auto files = failed_too_often(session.state());
    if (files.empty()) { return false; }
    HeldOutTests held = session.state().held_out;
    for (const std::string& file : files) {
        std::erase(held.files, file);
        held.shown.push_back(file);
        held.reason += "; " + file + " failed " + std::to_string(held_out_attempts) + " times and is shown";
    }
    held.hidden = !held.files.empty();
    AF_TRY(const std::string tree, tree_with(session.state(), trees, session.state().tree, files));
    AF_CHECK(put(session, trees, held, tree));
    return true;
}

Result<void> hold_out(const TaskState& state, TaskTrees& trees, const std::string& tree, GateBaseline& baseline) {
    if (!state.held_out.hidden) { return {}; }
    const auto& files = state.held_out.files;
    HeldOut held;
    held.files = files;
    AF_TRY(held.tree, tree_with(state, trees, tree, files));
    held.red_tests = baseline.red_tests;
    held.test_suite = baseline.test_suite;
    baseline.held_out = std::move(held);
    if (!baseline.red_tree.empty()) { AF_TRY(baseline.red_tree, tree_without(trees, baseline.red_tree, files)); }
    baseline.test_suite = without_files(baseline.test_suite, files);
    const auto hidden = [&](const std::string& file) { return std::find(files.begin(), files.end(), file) != files.end(); };
    std::erase_if(baseline.red_tests, [&](const TestOutcome& test) { return hidden(test.file); });
    std::erase_if(baseline.test_files, hidden);
    return {};
}

json::object as_shown(const TaskState& state, const json::object& artifact) {
    const HeldOutTests& held = state.held_out;
    if (!works_without(state) || held.red_tree != state.red_tree) { return artifact; }
    auto files = held.files;
    files.insert(files.end(), held.shown.begin(), held.shown.end());
    return without_files(artifact, files);
}

std::map<std::string, json::object, std::less<>> as_shown(const TaskState& state,
                                                          std::map<std::string, json::object, std::less<>> artifacts) {
    for (auto& [stage, artifact] : artifacts) { artifact = as_shown(state, artifact); }
    return artifacts;
}

}  // namespace agentforge::kernel
