// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/outcome.hpp"

#include <unistd.h>

#include <algorithm>
#include <ostream>
#include <thread>

#include "base/text.hpp"
#include "pipeline/people/iteration.hpp"
#include "program/commands/detach.hpp"
#include "program/commands/iteration.hpp"
#include "program/log/event_stream.hpp"
#include "program/project/preflight.hpp"
#include "program/project/ready.hpp"
#include "program/terminal/closing.hpp"
#include "program/terminal/terminal.hpp"

namespace agentforge::kernel {

namespace {

json::object result_json(const PipelineResult& result, const json::object& more) {
    json::array completed;
    for (const std::string& stage : result.stages_completed) { completed.emplace_back(stage); }
    json::object object{{"task_id", result.task_id},
                        {"success", result.success},
                        {"status", to_string(result.status)},
                        {"current_stage", result.current_stage},
                        {"stages_completed", std::move(completed)},
                        {"waiting_for", result.waiting_for},
                        {"waiting_id", result.waiting_id},
                        {"duration_ms", result.duration.count()},
                        {"exit_code", static_cast<int>(result.exit_code)},
                        {"cost", spend_json(result.spend)}};
    object["deliverable"] = nullptr;
    if (result.deliverable) { object["deliverable"] = *result.deliverable; }
    object["error"] = nullptr;
    if (result.error) {
        object["error"] = {{"code", result.error->code},
                           {"message", result.error->message},
                           {"where", result.error->where},
                           {"remedy", result.error->remedy}};
    }
    for (const auto& [key, value] : more) { object[key] = value; }
    return object;
}

std::string field(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

/// Hooks, the pull request, and a base that has moved.
void tell_delivery(Program& program, const std::string& task_id, const json::object& deliverable) {
    const std::string hooks = field(deliverable, "commit_hooks");
    if (!hooks.empty() && hooks != "none" && field(deliverable, "deliverable_type") != "files") {
        program.out << "  hooks:   " << printable(hooks, 300) << "\n";
    }
    const std::string type = field(deliverable, "deliverable_type");
    const std::string url = field(deliverable, "pr_url");
    if (type == "pr") {
        program.out << (url.empty() ? "  pushed; open the pull request where your server has them"
                                    : "  request: " + printable(url, 500))
                    << "\n";
    }
    const json::value* drift = deliverable.if_contains("drift");
    if (drift == nullptr || !drift->is_object()) { return; }
    program.out << "  " << printable(describe(drift_from_json(drift->get_object())), 400) << "\n"
                << (type == "files" ? "" : "           agentforge rebase " + task_id + "\n");
}

void tell_success(Program& program, Project& project, const PipelineResult& result) {
    program.out << "Done: " << result.task_id << "  (" << human_duration(result.duration) << ")\n";
    if (!result.deliverable) { return; }
    const std::string commit = field(*result.deliverable, "commit_sha");
    const std::string patch = field(*result.deliverable, "patch_file");
    if (!commit.empty()) {
        const json::value* is_signed = result.deliverable->if_contains("signed");
        program.out << "  commit " << commit << " on branch " << field(*result.deliverable, "branch")
                    << (is_signed != nullptr && *is_signed == json::value(true) ? ", signed" : "") << "\n"
                    << "  look:    git log -p " << field(*result.deliverable, "branch") << "\n";
        tell_delivery(program, result.task_id, *result.deliverable);
    } else if (!patch.empty()) {
        program.out << "  patch    .agentforge/tasks/" << result.task_id << "/" << patch << "\n"
                    << "  look:    agentforge diff " << result.task_id << "\n"
                    << "  take it: agentforge apply " << result.task_id << "\n";
        tell_delivery(program, result.task_id, *result.deliverable);
    } else {
        program.out << "  ended after stage " << result.current_stage << "; its artifact is in .agentforge/tasks/"
                    << result.task_id << "/artifacts\n";
        const auto state = read_task_state(project.tasks(), result.task_id);
        for (const std::string& way : state.ok() ? ways_after_end(*state, result.task_id) : std::vector<std::string>()) {
            program.out << "  " << way << "\n";
        }
    }
    program.out << "  journal: agentforge inspect " << result.task_id << "\n";
}

void tell_cost(Program& program, Project& project, const PipelineResult& result) {
    const std::uint64_t calls = result.spend.calls + result.spend.lost;
    if (calls == 0) { return; }
    program.out << "  cost:    " << cost_of_task(project.tasks(), result.task_id, result.spend, result.unpriced_models) << "  ("
                << calls << (calls == 1 ? " call, " : " calls, ") << result.spend.tokens() << " tokens; agentforge cost "
                << result.task_id << ")\n";
}

/// The action in full: what is approved is what was seen.
void tell_action(Program& program, Project& project, const PipelineResult& result) {
    const auto asked = project.escalations().approval(result.waiting_id);
    if (!asked.ok()) {
        program.err << "agentforge: " << asked.error().to_string() << "\n";
        return;
    }
    program.out << "An action waits for you: " << result.task_id << ", stage " << result.current_stage << "\n";
    tell_lines(program.out, action_text(asked->artifact));
    program.out << "  agentforge approve " << result.waiting_id << "\n"
                << "  agentforge approve " << result.waiting_id << " --edit     (in your editor; or --edited FILE)\n"
                << "  agentforge reject " << result.waiting_id << " --feedback \"what to do instead\"\n";
}

void tell_waiting(Program& program, Project& project, const PipelineResult& result) {
    if (result.waiting_for == "action") { return tell_action(program, project, result); }
    program.out << "Waiting for a person: " << result.task_id << ", stage " << result.current_stage << ", " << result.waiting_id
                << "\n";
    const auto state = read_task_state(project.tasks(), result.task_id);
    if (result.waiting_for == "approval" && state.ok()) {
        for (const std::string& line : iterates(*state) ? words_before_decision(*state) : std::vector<std::string>()) {
            program.out << "  " << printable(line, 1000) << "\n";
        }
        for (const std::string& way : ways_to_decide(*state, result.task_id)) { program.out << "  " << way << "\n"; }
    } else {
        program.out << "  agentforge resolve " << result.waiting_id << " \"your answer\"     (or --abort)\n";
    }
}

Result<PipelineResult> go_on(Project& project, const std::string& task_id, std::string_view guidance = {}) {
    AF_CHECK(check_open_files());
    // What the stages that are left need is said before the first of them costs anything. A task that cannot be read says so
    // itself.
    const auto state = read_task_state(project.tasks(), task_id);
    if (!state.ok() && project.tasks().never_began(task_id)) { return state.error(); }
    if (state.ok() && !is_terminal(state->status) && !TaskLock::holder(project.tasks().paths(task_id))) {
        if (const auto problems = plugin_problems(project, state->pipeline, state->stage_index); !problems.empty()) {
            return problems.front();
        }
    }
    return project.controller().resume(task_id, guidance);
}

}  // namespace

std::unique_ptr<Progress> make_progress(Program& program) {
    static SystemClock clock;
    std::unique_ptr<Progress> progress;
    if (program.stream_output) {
        progress = std::make_unique<EventStream>(program.out, clock);
    } else {
        const bool terminal = program.err_is_terminal;
        progress = std::make_unique<Display>(
            program.err,
            Display::Options{.terminal = terminal && moves_cursor(program.environment),
                             .colour = terminal && wants_colour(program.environment),
                             .unicode = !terminal || shows_unicode(program.environment),
                             .quiet = program.quiet || program.json_output,
                             .columns = [] { return terminal_columns(STDERR_FILENO); },
                             .stopping = [cancel = program.cancel] { return cancel != nullptr && cancel->finishing(); },
                             .continued = program.continued});
    }
    return program.detached < 0 ? std::move(progress) : make_detached_progress(program, std::move(progress));
}

int tell(Program& program, Project& project, const PipelineResult& result, const json::object& more) {
    program.leave_at_once = program.leave_at_once || result.abandoned_thread;
    const Closing closing = closing_of(project, result);
    if (program.stream_output || program.json_output) {
        json::object whole = closing_json(closing);
        for (const auto& [key, value] : more) { whole[key] = value; }
        if (program.stream_output) {
            end_event_stream(program.out, result_json(result, whole));
        } else {
            program.print_json(result_json(result, whole));
        }
        return static_cast<int>(result.exit_code);
    }
    if (result.success) {
        tell_success(program, project, result);
        tell_closing(program, closing);
        tell_cost(program, project, result);
        if (project.settings().text("llm.backend") == "replay") {
            program.out << "  The model's words came from a recorded transcript (the replay backend); everything else was real.\n"
                        << "  With a model of your own:\n"
                        << model_help();
        }
    } else if (!result.waiting_for.empty()) {
        tell_waiting(program, project, result);
        tell_cost(program, project, result);
    } else {
        program.out << (result.status == TaskStatus::paused && !result.error ? "Paused: " : "Not done: ") << result.task_id
                    << ", "
                    << (result.status == TaskStatus::paused && !result.error ? "" : std::string(to_string(result.status)) + " ")
                    << "at stage " << result.current_stage << "\n";
        if (result.error) { program.err << "agentforge: " << printable_lines(result.error->to_string()) << "\n"; }
        const bool told = result.error && result.error->remedy.find("agentforge resume") != std::string::npos;
        const bool begins_anew =
            result.error && (result.error->code.starts_with("AF-EXT-") ||
                             result.error->code == "AF-ORCH-032");  // What it was given, and its template, stay as they are.
        if (!told && !begins_anew && (result.status == TaskStatus::paused || result.status == TaskStatus::failed)) {
            program.out << "  go on with: agentforge resume " << result.task_id << "\n";
        }
        if (!result.error || result.error->remedy.find("agentforge inspect") == std::string::npos) {
            program.out << "  look at it: agentforge inspect " << result.task_id << "\n";
        }
        tell_cost(program, project, result);
    }
    return static_cast<int>(result.exit_code);
}

int with_task(Program& program, const std::string& task, const std::function<int(Project&, const std::string&)>& action) {
    const auto progress = make_progress(program);
    auto project = Project::open(program, *progress, task);
    if (!project.ok()) { return program.fail(project.error()); }
    const auto id = (*project)->tasks().resolve(task);
    if (!id.ok()) { return program.fail(id.error()); }
    return action(**project, *id);
}

void tell_lines(std::ostream& out, const std::string& text) {
    const std::string safe = printable_lines(text);
    for (std::size_t begin = 0; begin < safe.size();) {
        const std::size_t end = std::min(safe.find('\n', begin), safe.size());
        out << "  | " << safe.substr(begin, end - begin) << "\n";
        begin = end + 1;
    }
}

int go_on_with_answer(Program& program, Project& project, const std::string& task_id, const std::string& id, bool only_answer) {
    constexpr std::chrono::milliseconds between_looks{50};
    constexpr unsigned most_looks = 100;
    const TaskPaths paths = project.tasks().paths(task_id);
    bool running = false;
    bool taken = false;
    std::uintmax_t seen = 0;
    for (unsigned look = 0; look < most_looks; ++look) {
        running = TaskLock::holder(paths).has_value();
        std::error_code error;
        if (const auto size = std::filesystem::file_size(paths.journal(), error); size != seen) {
            seen = size;
            const auto state = read_task_state(project.tasks(), task_id);
            taken = state.ok() && (!state->escalation || state->escalation->id != id) &&
                    (!state->approval || state->approval->id != id) && (!state->action || state->action->id != id);
        }
        // Another process has the task: it takes the answer up, or it is about to end and did not see it any more.
        if (taken || only_answer) { break; }
        if (running) {
            std::this_thread::sleep_for(between_looks);
            continue;
        }
        const auto result = go_on(project, task_id);
        if (result.ok()) { return tell(program, project, *result); }
        if (result.error().code != "AF-TASK-003") { return program.fail(result.error()); }
    }
    if (program.json_output) {
        program.print_json({{"id", id}, {"task_id", task_id}, {"answered", true}});
    } else {
        program.out << "Answered " << id
                    << (running ? ". The process that runs the task goes on."
                        : taken ? ". The process that ran the task went on with it: agentforge status " + task_id
                                : ". Go on with: agentforge resume " + task_id)
                    << "\n";
    }
    return 0;
}

int resume_and_tell(Program& program, const std::string& task, const std::string& guidance) {
    return with_task(program, task, [&program, &guidance](Project& project, const std::string& id) {
        const auto result = go_on(project, id, guidance);
        if (!result.ok()) { return program.fail(result.error()); }
        return tell(program, project, *result);
    });
}

}  // namespace agentforge::kernel
