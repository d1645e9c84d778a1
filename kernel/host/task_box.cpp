// SPDX-License-Identifier: Apache-2.0
#include "host/task_box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "host/display.hpp"
#include "host/event_fields.hpp"
#include "host/terminal.hpp"
#include "plugins/call_mark.hpp"

namespace agentforge::kernel {

namespace {

constexpr const char* good_colour = "32";
constexpr const char* bad_colour = "31";
constexpr const char* person_colour = "33";
constexpr const char* dim_colour = "2";

std::string upper_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return text;
}

bool is_over(std::string_view status) { return status == "completed" || status == "failed" || status == "aborted"; }

/// Its sign and the sign's colour.
std::pair<std::string, std::string> sign_of(const TaskGlance& task) {
    if (!task.summary.waiting_for.empty()) { return {"⚠", person_colour}; }
    if (task.summary.status == "completed") { return {"✓", good_colour}; }
    if (task.summary.status == "failed" || task.summary.status == "aborted") { return {"✗", bad_colour}; }
    if (is_interrupted(task)) { return {"✗", person_colour}; }
    return {task.summary.status == "running" ? "●" : "·", task.summary.status == "running" ? good_colour : dim_colour};
}

/// One word for how it is.
std::string condition_of(const TaskGlance& task) {
    if (task.summary.waiting_for == "escalation") { return "ESCALATED"; }
    if (!task.summary.waiting_for.empty()) { return "WAITS: " + upper_case(task.summary.waiting_for); }
    if (is_interrupted(task)) { return "INTERRUPTED"; }
    return upper_case(task.summary.status == "running" ? task.summary.current_stage : task.summary.status);
}

/// `● 9266d27b GREEN ██████░░░░ 62%`, as much of it as fits.
BoxLine head_of(const TaskGlance& task, const BoxLook& look, std::chrono::system_clock::time_point now) {
    const auto [sign, colour] = sign_of(task);
    BoxLine line{.text = sign + " " + short_id(task.summary.task_id) + " " + condition_of(task), .colours = colour};
    const bool waits = !task.summary.waiting_for.empty();
    line.right = time_since(waits || task.summary.status == "paused" || is_over(task.summary.status) ? task.summary.updated_at : task.summary.created_at, now);
    if (is_over(task.summary.status) && !line.right.empty()) { line.right += " ago"; }
    if (task.stages == 0 || is_over(task.summary.status)) { return line; }
    const std::string share = fmt::format("{}%", task.stages_done * 100 / task.stages);
    constexpr std::size_t bar_cells = 10;
    const std::size_t used = cells_of(line.text) + cells_of(line.right) + share.size() + 3;
    const std::size_t room = box_room(look);
    if (!waits && used + bar_cells <= room) { line.text += " " + bar_of(task.stages_done, task.stages, bar_cells); }
    if (used <= room) { line.text += " " + share; }
    return line;
}

/// Without a time: nothing that passes by itself.
std::string acts_text(const LastActs& acts, bool ended, std::optional<std::chrono::system_clock::time_point> now) {
    std::string text;
    const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "  ") + part; };
    if (acts.tests > 0) { add(fmt::format("Tests: {}/{}", acts.tests_passed, acts.tests)); }
    if (acts.conformance) { add(*acts.conformance ? "Conformance: ✓" : "Conformance: ✗"); }
    if (!acts.action.empty() && !ended) { add("Last: " + printable(acts.action, 60) + (acts.at.empty() || !now ? "" : " (" + time_since(acts.at, *now) + " ago)")); }
    return text;
}

std::string question_of(const TaskGlance& task, std::size_t most) { return (task.summary.waiting_for.empty() ? "Paused: " : "Waiting: ") + printable(task.question, most); }

void add_task(BoxPart& part, const TaskGlance& task, const BoxLook& look, std::chrono::system_clock::time_point now) {
    if (is_over(task.summary.status)) {
        const auto [sign, colour] = sign_of(task);
        part.push_back({.text = sign + " " + short_id(task.summary.task_id) + " " + (task.summary.status == "completed" ? "" : upper_case(task.summary.status) + " ") + "\"" + printable(task.summary.request, 300) + "\"",
                        .right = time_since(task.summary.updated_at, now) + " ago", .colours = colour});
        return;
    }
    part.push_back(head_of(task, look, now));
    part.push_back({.text = "  \"" + printable(task.summary.request, 300) + "\""});
    if (const std::string acts = acts_text(task.acts, false, now); !acts.empty() && task.summary.waiting_for.empty()) { part.push_back({.text = "  " + acts}); }
    if (!task.question.empty()) { part.push_back({.text = "  " + question_of(task, 300)}); }
    if (const auto ways = ways_on(task); !ways.empty()) { part.push_back({.text = "  " + ways.front(), .whole = true, .colours = dim_colour, .dim = true}); }
}

BoxPart stages_part(const TaskState& state, std::size_t room) {
    constexpr std::size_t room_for_all = 56;
    BoxPart part;
    for (const StageState& stage : state.stages) {
        const bool now = !is_terminal(state.status) && &stage == &state.stages.at(state.stage_index);
        const auto [sign, colour] = stage.status == StageStatus::completed ? std::pair{"✓", good_colour} : stage.status == StageStatus::skipped ? std::pair{"–", dim_colour}
                                    : !stage.error.empty() && stage.status == StageStatus::failed ? std::pair{"✗", bad_colour} : now ? std::pair{"●", "1"} : std::pair{"·", dim_colour};
        BoxLine line{.text = fmt::format("{} {:<10}", sign, printable(stage.name, 40)), .colours = colour};
        if (stage.steps > 0) {
            line.text += fmt::format(" {:>4} step{}", stage.steps, stage.steps == 1 ? " " : "s");
            if (room >= room_for_all) { line.text += fmt::format(" {:>9} tokens", stage.input_tokens + stage.output_tokens); }
            if (stage.duration_ms > 0) { line.right = human_duration(std::chrono::milliseconds(stage.duration_ms)); }      // Known once a visit has ended.
        } else if (stage.status != StageStatus::pending) {
            line.text += " " + std::string(to_string(stage.status));
        }
        part.push_back(std::move(line));
        if (!stage.error.empty()) { part.push_back({.text = "    " + printable(stage.error, 400), .whole = true}); }
    }
    return part;
}

/// What a task's folder says beside its state.
TaskGlance glance_into(const TaskPaths& paths) {
    TaskGlance glance;
    glance.running = TaskLock::holder(paths).has_value();
    if (!glance.running) { glance.ended_in = last_marked_call(paths.plugin_call()).value_or(""); }
    glance.acts = last_acts(paths.journal());
    return glance;
}

}  // namespace

bool is_interrupted(const TaskGlance& task) {
    return !task.running && (task.summary.status == "running" || (task.summary.status == "pending" && task.began));
}

std::vector<std::string> ways_on(const TaskGlance& task) {
    const std::string id = short_id(task.summary.task_id);
    if (task.summary.waiting_for == "escalation") { return {"agentforge resolve " + (task.waiting_id.empty() ? "ID" : task.waiting_id) + " \"your answer\""}; }
    if (task.summary.waiting_for == "action") {
        const std::string what = task.waiting_id.empty() ? std::string("ID") : task.waiting_id;
        return {"agentforge approve " + what + " (--edit changes it first)", "agentforge reject " + what + " --feedback \"what to do instead\""};
    }
    if (task.summary.waiting_for == "approval") { return {"agentforge approve " + id, "agentforge feedback " + id + " \"what to change\"", "agentforge reject " + id}; }
    if (!task.summary.waiting_for.empty()) { return {"agentforge status " + id + " --detail"}; }
    if (task.summary.status == "paused" || task.summary.status == "failed" || is_interrupted(task)) { return {"agentforge resume " + id}; }
    return {};
}

std::vector<std::string> plain_lines(const TaskGlance& task) {
    std::vector<std::string> lines;
    if (is_over(task.summary.status)) { return lines; }
    const std::string acts = acts_text(task.acts, false, std::nullopt);
    const std::string share = task.stages == 0 ? "" : fmt::format("{}%", task.stages_done * 100 / task.stages);
    if (!share.empty() || !acts.empty()) { lines.push_back(share + (share.empty() || acts.empty() ? "" : "  ") + acts); }
    if (!task.summary.waiting_for.empty()) { lines.push_back("waits for: " + task.summary.waiting_for); }
    if (!task.question.empty()) { lines.push_back(question_of(task, 300)); }
    if (!task.ended_in.empty()) { lines.push_back("its process ended without a word in " + printable(task.ended_in, 200)); }
    if (const auto ways = ways_on(task); !ways.empty()) { lines.push_back(ways.front()); }
    return lines;
}

std::string short_id(const std::string& task_id) {
    const std::size_t dash = task_id.rfind('-');
    return dash == std::string::npos || dash + 1 == task_id.size() ? task_id : task_id.substr(dash + 1);
}

std::string time_since(const std::string& then, std::chrono::system_clock::time_point now) {
    const auto time = parse_time(then);
    if (!time.ok()) { return {}; }
    const auto seconds = std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(now - *time).count());      // A clock may have been put back.
    constexpr std::int64_t minute = 60;
    constexpr std::int64_t hour = 60 * minute;
    constexpr std::int64_t day = 24 * hour;
    if (seconds < minute) { return fmt::format("{} s", seconds); }
    if (seconds < hour) { return fmt::format("{} m", seconds / minute); }
    if (seconds < day) { return fmt::format("{} h {:02} m", seconds / hour, seconds / minute % 60); }
    return fmt::format("{} d {} h", seconds / day, seconds / hour % 24);
}

LastActs last_acts(const std::filesystem::path& journal) {
    constexpr std::streamoff most = 256 << 10;
    LastActs acts;
    std::ifstream in(journal, std::ios::binary | std::ios::ate);
    if (!in) { return acts; }
    const std::streamoff size = in.tellg();
    std::string text(static_cast<std::size_t>(std::min(size, most)), '\0');
    in.seekg(size - static_cast<std::streamoff>(text.size()));
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    // From the end; a line that is not whole is none.
    std::size_t end = text.rfind('\n');
    while (end != std::string::npos && end > 0 && (acts.action.empty() || acts.tests == 0 || !acts.conformance)) {
        const std::size_t before = text.rfind('\n', end - 1);
        if (before == std::string::npos) { break; }
        const std::string_view line = std::string_view(text).substr(before + 1, end - before - 1);
        end = before;
        const std::string_view head = line.substr(0, 120);
        const bool step = acts.action.empty() && head.find("\"type\": \"step\"") != std::string_view::npos;
        const bool gate = head.find("\"type\": \"gate\"") != std::string_view::npos;
        if (!line.starts_with("- {") || (!step && !gate)) { continue; }
        const auto record = parse_json(line.substr(2), journal.string());
        if (!record.ok() || !record->is_object()) { continue; }
        const json::object& body = record->get_object();
        if (step) {
            const json::value* action = body.if_contains("action");
            if (action != nullptr && action->is_object()) { acts.action = event_text(action->get_object(), "type"); }
            acts.at = event_text(body, "timestamp");
        } else {
            if (acts.tests == 0 && event_number(body, "tests") > 0) {
                acts.tests = event_number(body, "tests");
                acts.tests_passed = event_number(body, "tests_passed");
            }
            if (!acts.conformance && body.contains("conformance")) { acts.conformance = event_flag(body, "conformance"); }
        }
    }
    return acts;
}

TaskGlance glance_of(const TaskState& state, const TaskPaths& paths) {
    TaskGlance glance = glance_into(paths);
    glance.summary = summary_of(state);
    if (is_terminal(state.status)) { return glance; }
    for (const StageState& stage : state.stages) {
        ++glance.stages;
        glance.stages_done += stage.status == StageStatus::completed || stage.status == StageStatus::skipped ? 1 : 0;
        if (state.exit_after && stage.name == *state.exit_after) { break; }
    }
    if (state.escalation) {
        glance.waiting_id = state.escalation->id;
        glance.question = state.escalation->question;
    } else if (state.approval) {
        glance.waiting_id = state.approval->id;
        glance.question = "approval of " + state.stage().name;
    } else if (state.action && !state.action->id.empty()) {
        glance.waiting_id = state.action->id;
        glance.question = "the action " + state.action->tool;
    } else if (!state.pause_reason.empty() && state.status == TaskStatus::paused) {
        glance.question = state.pause_reason;
    }
    return glance;
}

TaskGlance glance_at(const TaskStore& store, TaskSummary summary) {
    TaskGlance glance;
    if (!is_over(summary.status)) {
        const TaskPaths paths = store.paths(summary.task_id);
        const auto projection = store.load_state(summary.task_id);
        const auto state = projection.ok() ? task_state_from_json(*projection) : Result<TaskState>(projection.error());
        glance = state.ok() ? glance_of(*state, paths) : glance_into(paths);
        glance.began = !store.never_began(summary.task_id);
    }
    glance.summary = std::move(summary);
    return glance;
}

json::object to_json(const TaskGlance& glance) {
    const TaskSummary& task = glance.summary;
    json::object told{{"task_id", task.task_id},       {"request", task.request},
                      {"status", task.status},         {"pipeline", task.pipeline},
                      {"current_stage", task.current_stage}, {"created_at", task.created_at},
                      {"updated_at", task.updated_at}, {"waiting_for", task.waiting_for}};
    if (is_over(task.status)) { return told; }
    told["running"] = glance.running;
    if (!glance.ended_in.empty()) { told["ended_in"] = glance.ended_in; }
    told["waiting_id"] = glance.waiting_id;
    told["stages_done"] = glance.stages_done;
    told["stages"] = glance.stages;
    told["last_action"] = glance.acts.action;
    told["last_action_at"] = glance.acts.at;
    told["tests"] = glance.acts.tests;
    told["tests_passed"] = glance.acts.tests_passed;
    told["conformance"] = glance.acts.conformance ? json::value(*glance.acts.conformance) : json::value(nullptr);
    return told;
}

std::vector<BoxPart> box_of_tasks(const std::string& project, const TaskCounts& counts, const std::vector<TaskGlance>& shown, std::size_t left_out, const BoxLook& look,
                                  std::chrono::system_clock::time_point now) {
    std::vector<BoxPart> parts{{{.text = "AGENTFORGE STATUS", .right = printable(project, 60), .colours = "1", .dim = true}}};
    const std::string figures = fmt::format("Active: {}    Completed: {}    Waiting for you: {}", counts.active, counts.completed, counts.waiting);
    BoxPart body{{.text = cells_of(figures) <= box_room(look) ? figures : fmt::format("{} active, {} done, {} wait for you", counts.active, counts.completed, counts.waiting)}};
    bool one_line = false;      // Ended ones stand together.
    for (const TaskGlance& task : shown) {
        if (!one_line || !is_over(task.summary.status)) { body.push_back({}); }
        one_line = is_over(task.summary.status);
        add_task(body, task, look, now);
    }
    if (left_out > 0) {
        body.push_back({});
        body.push_back({.text = fmt::format("… and {} more: agentforge status --all", left_out), .whole = true});
    }
    parts.push_back(std::move(body));
    return parts;
}

std::vector<BoxPart> box_of_task(const TaskState& state, const TaskGlance& glance, const std::string& cost, const BoxLook& look, std::chrono::system_clock::time_point now) {
    std::vector<BoxPart> parts{{{.text = state.task_id, .whole = true, .colours = "1", .dim = true}}};
    BoxPart head{head_of(glance, look, now)};
    head.push_back({.text = "  \"" + printable(state.request, 400) + "\"", .whole = true});
    if (const std::string acts = acts_text(glance.acts, is_over(glance.summary.status), now); !acts.empty()) { head.push_back({.text = "  " + acts, .whole = true}); }
    std::uint64_t tokens = 0;
    for (const StageState& stage : state.stages) { tokens += stage.input_tokens + stage.output_tokens; }
    head.push_back({.text = fmt::format("  {} step{}, {} tokens{}", state.steps, state.steps == 1 ? "" : "s", tokens, cost.empty() ? "" : "; " + printable(cost, 200)), .whole = true});
    parts.push_back(std::move(head));
    parts.push_back(stages_part(state, box_room(look)));

    BoxPart end;
    const auto say = [&end](const std::string& text, const char* colour = "") { end.push_back({.text = text, .whole = true, .colours = colour, .dim = true}); };
    if (!glance.question.empty()) { say(question_of(glance, 1000), person_colour); }
    if (state.escalation) { for (const std::string& option : state.escalation->options) { say("  - " + printable(option, 400)); } }
    if (!state.error.empty()) { say(printable(state.error, 1000), bad_colour); }
    if (!state.commit.empty()) { say("commit " + state.commit.substr(0, 12) + " on " + state.branch); }
    for (const auto& [label, key] : {std::pair{"patch", "patch_file"}, {"request", "pr_url"}, {"hooks", "commit_hooks"}}) {
        const std::string value = event_text(state.delivery, key);
        if (!value.empty() && value != "none") { say(std::string(label) + " " + printable(value, 300)); }
    }
    for (const std::string& way : ways_on(glance)) { say(way, dim_colour); }
    if (state.status == TaskStatus::completed && !state.commit.empty()) { say("agentforge diff " + short_id(state.task_id), dim_colour); }
    parts.push_back(std::move(end));
    return parts;
}

}  // namespace agentforge::kernel
