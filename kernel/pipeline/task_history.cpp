// SPDX-License-Identifier: Apache-2.0
#include "pipeline/task_history.hpp"

#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_reason_bytes = 600;
constexpr std::size_t most_change_bytes = 12'000;  // About 3,000 of the 4,000 tokens for the state of a run.

json::object stage_json(const StageState& stage) {
    json::object object{{"stage", stage.name}, {"status", to_string(stage.status)}, {"visits", stage.visits}};
    if (stage.retries > 0) { object["retries"] = stage.retries; }
    if (stage.cycles > 0) { object["sent_back_to"] = stage.cycles; }
    if (!stage.skip_reason.empty()) { object["skipped"] = stage.skip_reason; }
    if (!stage.error.empty()) { object["last_error"] = ellipsis(stage.error, most_reason_bytes); }
    return object;
}

}  // namespace

json::object task_history(const TaskState& state) {
    json::array stages;
    for (const StageState& stage : state.stages) {
        if (stage.visits > 0 || !stage.skip_reason.empty()) { stages.push_back(stage_json(stage)); }
    }
    json::array sent_back;
    for (const Resumption::PastCycle& cycle : state.resumption.cycles) {
        sent_back.push_back(
            json::object{{"from", cycle.from}, {"to", cycle.to}, {"reason", ellipsis(cycle.reason, most_reason_bytes)}});
    }
    json::array gates;
    for (const auto& [name, gate] : state.gates) {
        gates.push_back(json::object{{"gate", name},
                                     {"passed", gate.passed},
                                     {"of_this_tree", gate.tree == state.tree},
                                     {"summary", ellipsis(gate.summary, most_reason_bytes)}});
    }
    json::object history{{"stages", std::move(stages)}};
    if (!sent_back.empty()) { history["sent_back"] = std::move(sent_back); }
    if (!gates.empty()) { history["gates"] = std::move(gates); }
    return history;
}

Result<json::array> conversation(const TaskSession& session) {
    json::array words{json::object{{"kind", "request"}, {"text", session.state().request}}};
    for (const Resumption::Said& said : session.state().resumption.said) {
        json::object object{{"kind", said.kind}};
        if (!said.about.empty()) { object["about"] = said.about; }
        if (!said.text.empty()) { object["text"] = said.text; }
        if (!said.blob.empty()) { AF_TRY(object["answer"], session.get(said.blob)); }
        words.push_back(std::move(object));
    }
    return words;
}

Result<void> add_context(json::object& run_state, const TaskSession& session, TaskTrees& trees) {
    const TaskState& state = session.state();
    const std::string& strategy = state.stage_template().context_strategy;
    if (strategy == "minimal") { run_state.erase("input_artifact"); }
    if (strategy == "full") { AF_TRY(run_state["conversation"], conversation(session)); }
    if (strategy == "full" || strategy == "summary") { run_state["task_history"] = task_history(state); }
    if (strategy == "summary") {
        AF_TRY(const std::string patch, trees.patch(state.base_tree, state.tree));
        run_state["change"] = head_and_tail(sanitize_utf8(session.redactor().redact(patch)), most_change_bytes);
    }
    return {};
}

}  // namespace agentforge::kernel
