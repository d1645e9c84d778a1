// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/task_box.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "aggregate/figures.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "pipeline/people/iteration.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/next_commands.hpp"
#include "program/terminal/terminal.hpp"

namespace agentforge::kernel {

namespace {

constexpr const char* good_colour = "32";
constexpr const char* bad_colour = "31";
constexpr const char* person_colour = "33";
constexpr const char* dim_colour = "2";

/// Returns the task's sign and the sign's colour.
std::pair<std::string, std::string> sign_of(const TaskOverview& task) {
    if (waits_for_person(task)) { return {"⚠", person_colour}; }
    if (task.summary.status == "completed") { return {"✓", good_colour}; }
    if (task.summary.status == "failed" || task.summary.status == "aborted") { return {"✗", bad_colour}; }
    if (is_interrupted(task)) { return {"✗", person_colour}; }
    return {task.summary.status == "running" ? "●" : "·", task.summary.status == "running" ? good_colour : dim_colour};
}

/// Returns one word for the task's status.
std::string condition_word(const TaskOverview& task) {
    const std::string condition = state_name(task);
    if (condition == "awaiting_approval") { return "WAITS: " + upper_case(task.summary.waiting_for); }
    return upper_case(condition == "in_progress" ? task.summary.current_stage : condition);
}

std::string percent_of(const TaskOverview& task) { return fmt::format("{}%", static_cast<unsigned>(task.progress * 100)); }

/// Returns `● 9266d27b GREEN ██████░░░░ 62%`, as much of it as fits.
BoxLine head_of(const TaskOverview& task, const BoxStyle& style, std::chrono::system_clock::time_point now) {
    const auto [sign, colour] = sign_of(task);
    BoxLine line{.text = sign + " " + short_id(task.summary.task_id) + " " + condition_word(task), .colours = colour};
    const bool waits = waits_for_person(task);
    line.right = time_since(
        waits || task.summary.status == "paused" || has_ended(task.summary) ? task.summary.updated_at : task.summary.created_at,
        now);
    if (has_ended(task.summary) && !line.right.empty()) { line.right += " ago"; }
    if (task.stages == 0 || has_ended(task.summary)) { return line; }
    const std::string share = percent_of(task);
    constexpr std::size_t bar_cells = 10;
    const std::size_t used = cells_of(line.text) + cells_of(line.right) + share.size() + 3;
    const std::size_t room = box_room(style);
    if (!waits && used + bar_cells <= room) {
        line.text += " " + bar_of(static_cast<std::size_t>(task.progress * 100), 100, bar_cells);
    }
    if (used <= room) { line.text += " " + share; }
    return line;
}

/// Without `now`, leaves out text that changes as time passes.
std::string activity_text(const LastActivity& activity, bool ended, std::optional<std::chrono::system_clock::time_point> now) {
    std::string text;
    const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "  ") + part; };
    if (activity.tests > 0) { add(fmt::format("Tests: {}/{}", activity.tests_passed, activity.tests)); }
    if (activity.conformance) { add(*activity.conformance ? "Conformance: ✓" : "Conformance: ✗"); }
    if (!activity.action.empty() && !ended) {
        add("Last: " + printable(activity.action, 60) +
            (activity.at.empty() || !now ? "" : " (" + time_since(activity.at, *now) + " ago)"));
    }
    return text;
}

std::string question_of(const TaskOverview& task, std::size_t most) {
    if (task.answered) { return "Answered: " + printable(task.question, most); }
    return (task.summary.waiting_for.empty() ? "Paused: " : "Waiting: ") + printable(first_line(task.question), most);
}

std::string unusable_answer(const TaskOverview& task) {
    return "The answer cannot be used: " + printable(first_line(task.answer_problem), 300);
}

constexpr std::string_view never_began_text = "It never began: its process ended before it could start.";

void add_task(const Program& program, BoxPart& part, const TaskOverview& task, const BoxStyle& style,
              std::chrono::system_clock::time_point now) {
    if (has_ended(task.summary)) {
        const auto [sign, colour] = sign_of(task);
        part.push_back({.text = sign + " " + short_id(task.summary.task_id) + " " +
                                (task.summary.status == "completed" ? "" : upper_case(task.summary.status) + " ") + "\"" +
                                printable(task.summary.request, 300) + "\"",
                        .right = time_since(task.summary.updated_at, now) + " ago",
                        .colours = colour});
        return;
    }
    part.push_back(head_of(task, style, now));
    part.push_back({.text = "  \"" + printable(task.summary.request, 300) + "\""});
    if (!task.began) { part.push_back({.text = "  " + std::string(never_began_text)}); }
    if (const std::string activity = activity_text(task.activity, false, now); !activity.empty() && !waits_for_person(task)) {
        part.push_back({.text = "  " + activity});
    }
    if (!task.question.empty()) { part.push_back({.text = "  " + question_of(task, 300)}); }
    if (!task.answer_problem.empty()) { part.push_back({.text = "  " + unusable_answer(task)}); }
    if (const auto next = next_commands(task); !next.empty()) {
        part.push_back(
            {.text = "  " + program.with_place(next.front().command), .whole = true, .colours = dim_colour, .dim = true});
    }
}

/// Returns the sign of a stage and its colour.
std::pair<const char*, const char*> sign_of_stage(const StageState& stage, bool now) {
    if (stage.status == StageStatus::completed) { return {"✓", good_colour}; }
    if (stage.status == StageStatus::skipped) { return {"–", dim_colour}; }
    if (!stage.error.empty() && stage.status == StageStatus::failed) { return {"✗", bad_colour}; }
    if (now) { return {"●", "1"}; }
    return {"·", dim_colour};
}

BoxPart stages_part(const TaskState& state, const TaskOverview& task, std::size_t room) {
    constexpr std::size_t room_for_all = 56;
    BoxPart part;
    for (const StageState& stage : state.stages) {
        const bool now = !is_terminal(state.status) && &stage == &state.stages.at(state.stage_index);
        const auto [sign, colour] = sign_of_stage(stage, now);
        BoxLine line{.text = fmt::format("{} {:<10}", sign, printable(stage.name, 40)), .colours = colour};
        const StageFigures figures = figures_of(state, stage);
        if (figures.steps > 0) {
            line.text += fmt::format(" {:>4} step{}", figures.steps, figures.steps == 1 ? " " : "s");
            if (room >= room_for_all) { line.text += fmt::format(" {:>9} tokens", figures.tokens); }
            // Known once a visit has ended.
            if (stage.duration_ms > 0) { line.right = human_duration(std::chrono::milliseconds(stage.duration_ms)); }
        } else if (stage.status != StageStatus::pending) {
            line.text += " " + std::string(to_string(stage.status));
        }
        part.push_back(std::move(line));
        if (now && stage.plan_step) { part.push_back({.text = "    " + printable(plan_step_text(*stage.plan_step), 300)}); }
        if (!stage.error.empty()) { part.push_back({.text = "    " + printable(stage.error, 400), .whole = true}); }
        for (const std::string& remark : remarks_on(state, stage, task)) {
            part.push_back({.text = "    " + printable(remark, 300), .whole = true});
        }
    }
    return part;
}

}  // namespace

namespace {

/// Returns the fate of a version that a person was shown and that has no decision in the journal.
std::string_view undecided(bool is_shown_now, const TaskOverview& task) {
    if (!is_shown_now) { return "was shown"; }
    return waits_for_person(task) ? "waits for you" : "has your answer";
}

/// Returns where the last rejection of the stage's artifact led, and its reason. Empty: it was not rejected last, or ended the
/// task.
std::string rejection_of(const TaskState& state, const StageState& stage) {
    if (stage.history.empty() || stage.history.back().decision != "reject") { return {}; }
    const auto& cycles = state.resumption.cycles;
    const auto back = std::find_if(cycles.rbegin(), cycles.rend(), [&](const auto& cycle) {
        return cycle.from == stage.name && cycle.time >= stage.history.back().decided_at;
    });
    return back == cycles.rend() ? std::string() : "back to stage " + back->to + ": " + back->reason;
}

}  // namespace

std::vector<std::string> remarks_on(const TaskState& state, const StageState& stage, const TaskOverview& task) {
    const bool shown_now = &stage == &state.stages[state.stage_index] && state.approval.has_value();
    std::vector<std::string> remarks;
    if (!stage.superseded_by.empty()) {
        remarks.push_back("no longer counts, nor do its approvals and gates: stage " + stage.superseded_by +
                          ", which it is based on, runs again");
    }
    if (!stage.history.empty()) {
        std::string said;
        for (const ShownVersion& shown : stage.history) {
            said += (said.empty() ? "" : ", ") + ("v" + std::to_string(shown.version)) + " " +
                    (shown.decision.empty() ? std::string(undecided(shown_now, task)) : shown.decision);
        }
        remarks.push_back("shown to a person: " + said);
    }
    if (std::string rejection = rejection_of(state, stage); !rejection.empty()) { remarks.push_back(std::move(rejection)); }
    if (shown_now) {
        for (std::string& line : remarks_on_answers(state.feedback_answers)) { remarks.push_back(std::move(line)); }
    }
    return remarks;
}

std::vector<std::string> plain_lines(const Program& program, const TaskOverview& task) {
    std::vector<std::string> lines;
    if (has_ended(task.summary)) { return lines; }
    const std::string activity = activity_text(task.activity, false, std::nullopt);
    const std::string share = task.stages == 0 ? "" : percent_of(task);
    if (!share.empty() || !activity.empty()) {
        lines.push_back(share + (share.empty() || activity.empty() ? "" : "  ") + activity);
    }
    if (!task.began) { lines.emplace_back(never_began_text); }
    if (waits_for_person(task)) { lines.push_back("waits for: " + task.summary.waiting_for); }
    if (!task.question.empty()) { lines.push_back(question_of(task, 300)); }
    if (!task.answer_problem.empty()) { lines.push_back(unusable_answer(task)); }
    if (!task.ended_in.empty()) {
        lines.push_back("its process ended without an error message in " + printable(task.ended_in, 200));
    }
    if (const auto next = next_commands(task); !next.empty()) { lines.push_back(program.with_place(next.front().command)); }
    return lines;
}

std::string time_since(const std::string& then, std::chrono::system_clock::time_point now) {
    const auto time = parse_time(then);
    if (!time.ok()) { return {}; }
    const auto seconds = std::max<std::int64_t>(
        0, std::chrono::duration_cast<std::chrono::seconds>(now - *time).count());  // The clock may have been set back.
    constexpr std::int64_t minute = 60;
    constexpr std::int64_t hour = 60 * minute;
    constexpr std::int64_t day = 24 * hour;
    if (seconds < minute) { return fmt::format("{} s", seconds); }
    if (seconds < hour) { return fmt::format("{} m", seconds / minute); }
    if (seconds < day) { return fmt::format("{} h {:02} m", seconds / hour, seconds / minute % 60); }
    return fmt::format("{} d {} h", seconds / day, seconds / hour % 24);
}

std::string counts_in_words(const TaskCounts& counts, bool narrow) {
    const auto said = [narrow](std::string_view name, std::uint64_t count) {
        return narrow ? fmt::format("{} {}", count, name) : fmt::format("{}: {}", name, count);
    };
    const std::string between = narrow ? ", " : "    ";
    std::string text =
        said(narrow ? "active" : "Active", counts.of("in_progress")) + between +
        said(narrow ? "done" : "Completed", counts.of("completed")) + between +
        said(narrow ? (counts.waiting == 1 ? "waits for you" : "wait for you") : "Waiting for you", counts.waiting);
    constexpr std::pair<const char*, const char*> others[] = {{"paused", "Paused"},
                                                              {"interrupted", "Interrupted"},
                                                              {"failed", "Failed"},
                                                              {"pending", "Pending"},
                                                              {"unknown", "Unknown"}};
    for (const auto& [condition, name] : others) {
        if (const std::uint64_t count = counts.of(condition); count > 0) {
            text += between + said(narrow ? condition : name, count);
        }
    }
    return text;
}

std::vector<BoxPart> box_of_tasks(const Program& program, const std::string& project, const TaskCounts& counts,
                                  const std::vector<TaskOverview>& shown, std::size_t left_out, const BoxStyle& style,
                                  std::chrono::system_clock::time_point now) {
    std::vector<BoxPart> parts{{{.text = "AGENTFORGE STATUS", .right = printable(project, 60), .colours = "1", .dim = true}}};
    const std::string figures = counts_in_words(counts, false);
    BoxPart body{{.text = cells_of(figures) <= box_room(style) ? figures : counts_in_words(counts, true)}};
    bool one_line = false;  // Ended tasks are listed together.
    for (const TaskOverview& task : shown) {
        if (!one_line || !has_ended(task.summary)) { body.push_back({}); }
        one_line = has_ended(task.summary);
        add_task(program, body, task, style, now);
    }
    if (left_out > 0) {
        body.push_back({});
        body.push_back({.text = fmt::format("… and {} more: {}", left_out, program.with_place("agentforge status --limit 0")),
                        .whole = true});
    }
    parts.push_back(std::move(body));
    return parts;
}

std::vector<std::pair<std::string, std::string>> delivery_lines(const TaskState& state) {
    std::vector<std::pair<std::string, std::string>> lines;
    const auto add = [&lines](const char* label, const std::optional<std::string>& value) {
        if (!value.value_or("").empty() && value != "none") { lines.emplace_back(label, *value); }
    };
    add("patch", state.delivery.patch_file);
    add("request", state.delivery.pr_url);
    add("hooks", state.delivery.commit_hooks);
    return lines;
}

std::vector<BoxPart> box_of_task(const Program& program, const TaskState& state, const TaskOverview& overview,
                                 const std::string& cost, const BoxStyle& style, std::chrono::system_clock::time_point now) {
    std::vector<BoxPart> parts{{{.text = state.task_id, .whole = true, .colours = "1", .dim = true}}};
    BoxPart head{head_of(overview, style, now)};
    head.push_back({.text = "  \"" + printable(state.request, 400) + "\"", .whole = true});
    if (const std::string activity = activity_text(overview.activity, has_ended(overview.summary), now); !activity.empty()) {
        head.push_back({.text = "  " + activity, .whole = true});
    }
    head.push_back({.text = fmt::format("  {} step{}, {} tokens{}", state.steps, state.steps == 1 ? "" : "s",
                                        cost_figures(state).tokens, cost.empty() ? "" : "; " + printable(cost, 200)),
                    .whole = true});
    parts.push_back(std::move(head));
    parts.push_back(stages_part(state, overview, box_room(style)));

    BoxPart end;
    const auto say = [&end](const std::string& text, const char* colour = "") {
        end.push_back({.text = text, .whole = true, .colours = colour, .dim = true});
    };
    if (!overview.question.empty()) { say(question_of(overview, 1000), person_colour); }
    if (!overview.answer_problem.empty()) { say(unusable_answer(overview), bad_colour); }
    if (state.escalation) {
        for (const std::string& option : state.escalation->options) { say("  - " + printable(option, 400)); }
    }
    if (!state.error.empty()) { say(printable(state.error, 1000), bad_colour); }
    if (!state.commit.empty()) { say("commit " + state.commit.substr(0, 12) + " on " + state.branch); }
    for (const auto& [label, value] : delivery_lines(state)) { say(label + " " + printable(value, 300)); }
    for (const std::string& line : lines_of(program, next_commands(state, overview), box_room(style))) { say(line, dim_colour); }
    parts.push_back(std::move(end));
    return parts;
}

}  // namespace agentforge::kernel
