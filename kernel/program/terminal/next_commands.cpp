// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/next_commands.hpp"

#include <algorithm>

#include "aggregate/figures.hpp"
#include "base/advice.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "pipeline/people/iteration.hpp"
#include "pipeline/task_session.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/terminal.hpp"
#include "replay/recorded_model.hpp"

namespace agentforge::kernel {

namespace {

/// Returns the commands that the reason of a pause names, such as `resume` with a higher limit.
std::vector<NextCommand> named_in(const std::string& reason) {
    constexpr std::string_view command = "agentforge resume ";
    constexpr std::string_view alternative = "   or   ";
    std::vector<NextCommand> named;
    for (std::size_t at = reason.find(command); at != std::string::npos;) {
        const std::size_t end = std::min({reason.find(alternative, at), reason.find('\n', at), reason.size()});
        named.push_back({reason.substr(at, end - at), ""});
        at = reason.compare(end, alternative.size(), alternative) == 0 ? end + alternative.size() : std::string::npos;
    }
    return named;
}

std::vector<NextCommand> to_resume(const TaskOverview& task) {
    if (!task.can_resume) { return {}; }
    if (task.summary.status == "paused" && !task.answered) {
        auto named = named_in(task.question);
        for (NextCommand& each : named) {  // A backend does not know which task it works for.
            constexpr std::string_view placeholder = " TASK ";
            const auto at = each.command.find(placeholder);
            if (at != std::string::npos) {
                each.command.replace(at, placeholder.size(), " " + short_id(task.summary.task_id) + " ");
            }
        }
        const bool is_more_than_resume = !named.empty() && named.front().command.find(" --") != std::string::npos;
        if (is_more_than_resume) { return named; }
        if (task.question.starts_with(does_not_fit_code)) {
            const std::string id = short_id(task.summary.task_id);
            return {{"agentforge replay " + id + " --continue", "continues after the action that does not fit"},
                    {"agentforge resume " + id, "continues with a model"}};
        }
    }
    // A part waits for the others of its set.
    const std::string id = task.set.empty() ? short_id(task.summary.task_id) : task.set;
    return {{"agentforge resume " + id, task.answered ? "continues with your answer" : "continues where it stopped"}};
}

std::vector<NextCommand> after_end(const TaskState& state) {
    const std::string id = short_id(state.task_id);
    if (state.status != TaskStatus::completed) { return {}; }
    if (has_delivered(state)) {
        return {{"agentforge diff " + id, "shows the change"}, {"agentforge apply " + id, "puts it into your checkout"}};
    }
    std::vector<NextCommand> commands;
    const std::string& next = state.pipeline.continuation.next_pipeline;
    const bool stages_follow = state.stage_index + 1 < state.stages.size();
    if (state.stage().status == StageStatus::completed && state.stage_template().iterate) {
        commands.push_back({"agentforge continue " + id + " --revise",
                            "revises " + state.stage().artifact.substr(state.stage().artifact.rfind('/') + 1)});
    }
    if (stages_follow) {
        commands.push_back({"agentforge continue " + id, "continues with stage " + state.stages[state.stage_index + 1].name});
    } else if (!next.empty()) {
        commands.push_back({"agentforge continue " + id, "continues with pipeline " + next});
    }
    return commands;
}

std::vector<NextCommand> to_decide(const TaskState& state) {
    const std::string id = short_id(state.task_id);
    const bool last = is_last(state);
    const auto before = stage_before_rejected(state);
    std::vector<NextCommand> commands{
        {"agentforge approve " + id, last ? "" : "continues with the next stage"},
        {"agentforge feedback " + id + " \"what to change\"", "the stage runs again with it"},
        {"agentforge reject " + id, before ? "goes back to stage " + state.stages[*before].name : "ends the task"}};
    if (!iterates(state)) { return commands; }
    if (!last) { commands.push_back({"agentforge approve " + id + " --exit", "ends the task with this version"}); }
    const bool more = state.stage_index + 1 < state.stages.size() || !state.pipeline.continuation.next_pipeline.empty();
    if (last && more) { commands.push_back({"agentforge continue " + id + " --extend-to STAGE", "approves it and continues"}); }
    return commands;
}

/// Returns `completed` or `waits for your approval`, to follow "the task".
std::string standing_in_words(const TaskOverview& task) {
    if (task.running) { return "is running"; }
    if (task.answered) { return "has your answer and has not continued yet"; }
    const std::string& waits = task.summary.waiting_for;
    if (waits == "escalation") { return "waits for your answer"; }
    if (!waits.empty()) { return waits == "action" ? "waits for your decision on an action" : "waits for your approval"; }
    return "is " + state_name(task);
}

}  // namespace

std::vector<NextCommand> next_commands(const TaskOverview& task) {
    if (task.problem) { return {}; }  // The problem says what to do.
    const std::string id = short_id(task.summary.task_id);
    const std::string waits = waits_for_person(task) ? task.summary.waiting_for : std::string();
    const std::string what = task.waiting_id.empty() ? std::string("ID") : task.waiting_id;
    if (waits == "escalation") { return {{"agentforge resolve " + what + " \"your answer\"", ""}}; }
    if (waits == "action") {
        return {{"agentforge approve " + what, "--edit changes it first"},
                {"agentforge reject " + what + " --feedback \"what to do instead\"", ""}};
    }
    if (waits == "approval") {
        return {{"agentforge approve " + id, ""},
                {"agentforge feedback " + id + " \"what to change\"", ""},
                {"agentforge reject " + id, ""}};
    }
    if (!waits.empty()) { return {{"agentforge status " + id + " --detail", ""}}; }
    if (task.running) { return {}; }
    if (!task.began) { return {{"agentforge abort " + id, "removes it; then start the request again"}}; }
    const bool rests =
        task.answered || task.summary.status == "paused" || task.summary.status == "failed" || is_interrupted(task);
    return rests ? to_resume(task) : std::vector<NextCommand>();
}

std::vector<NextCommand> next_commands(const TaskState& state, const TaskOverview& task) {
    if (state.approval && waits_for_person(task) && !task.problem) { return to_decide(state); }
    auto commands = next_commands(task);
    return commands.empty() && !task.problem ? after_end(state) : commands;
}

std::string status_and_command(const TaskState& state, const TaskOverview& task) {
    const auto commands = next_commands(state, task);
    return "the task " + standing_in_words(task) + (commands.empty() ? "" : ": " + commands.front().command);
}

Error with_status_and_command(Error error, const TaskStore& store, const std::string& task_id) {
    if (error.remedy != see_status) { return error; }
    if (const auto state = read_task_state(store, task_id); state.ok()) {
        error.remedy = status_and_command(*state, overview_of(*state, {}, store.paths(task_id)));
    }
    return error;
}

std::vector<std::string> lines_of(const Program& program, const std::vector<NextCommand>& commands, std::size_t columns) {
    constexpr std::string_view comment = "    # ";
    std::vector<std::string> lines;
    std::size_t width = 0;
    std::size_t longest_remark = 0;
    for (const NextCommand& next : commands) {
        lines.push_back(program.with_place(next.command));
        width = std::max(width, cells_of(lines.back()));
        longest_remark = std::max(longest_remark, cells_of(next.remark));
    }
    if (width + comment.size() + longest_remark > columns) { return lines; }
    for (std::size_t index = 0; index < lines.size(); ++index) {
        const std::string& remark = commands[index].remark;
        if (remark.empty()) { continue; }
        lines[index] += std::string(width - cells_of(lines[index]), ' ') + std::string(comment) + remark;
    }
    return lines;
}

}  // namespace agentforge::kernel
