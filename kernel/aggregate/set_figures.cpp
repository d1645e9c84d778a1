// SPDX-License-Identifier: Apache-2.0
#include "aggregate/set_figures.hpp"

#include <algorithm>

#include "base/json_fields.hpp"

namespace agentforge::kernel {

json::object figures_of(const TaskSet& set, const StateOfPart& state_of) {
    json::array parts;
    for (const SetPart& part : set.parts) {
        parts.push_back({{"repo", part.repo},
                         {"path", part.path.string()},
                         {"depends_on", json::array(part.depends_on.begin(), part.depends_on.end())},
                         {"task_id", text_or_null(part.task)},
                         {"state", part.task.empty() ? json::value(nullptr) : json::value(state_of(part))},
                         {"branch", text_or_null(part.branch)},
                         {"commit", text_or_null(part.commit)}});
    }
    const auto was_aborted = [](const json::value& part) { return part.at("state") == json::value("aborted"); };
    const bool can_be_finished =
        set.phase == SetPhase::delivering || set.phase == SetPhase::undoing || std::ranges::none_of(parts, was_aborted);
    json::array actions;
    if (!set.has_ended() && !set.running) {
        if (can_be_finished) { actions.emplace_back("resume"); }
        if (set.phase != SetPhase::delivering) { actions.emplace_back("abort"); }  // Some branches may be published.
    }
    return {{"set_id", set.id},
            {"request", set.request},
            {"phase", to_string(set.phase)},
            {"running", set.running},
            {"pipeline", text_or_null(set.pipeline)},
            {"created_at", set.created_at},
            {"specification_task", text_or_null(set.specification_task)},
            {"test_result", text_or_null(set.test_result)},
            {"reason", text_or_null(set.reason)},
            {"parts", std::move(parts)},
            {"available_actions", std::move(actions)}};
}

}  // namespace agentforge::kernel
