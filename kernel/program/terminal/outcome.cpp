// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/outcome.hpp"
#include "program/project/chosen_task.hpp"

#include <unistd.h>

#include <algorithm>
#include <ostream>
#include <thread>

#include "base/ids.hpp"
#include "base/text.hpp"
#include "program/commands/detach.hpp"
#include "program/log/event_stream.hpp"
#include "program/project/preflight.hpp"
#include "program/project/task_preflight.hpp"
#include "program/terminal/closing.hpp"
#include "program/terminal/closing_card.hpp"
#include "program/terminal/terminal.hpp"
#include "task/failures.hpp"

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

Result<PipelineResult> resume(Project& project, const std::string& task_id, std::string_view guidance = {}) {
    AF_CHECK(check_open_files());
    // Reports missing needs of the remaining stages before the first of them costs anything. An unreadable task reports its own
    // error.
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

int print_outcome(Program& program, Project& project, const PipelineResult& result, const json::object& more) {
    program.skip_destructors = program.skip_destructors || result.abandoned_thread;
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
    print_card(program, project, result, closing);
    return static_cast<int>(result.exit_code);
}

int with_task(Program& program, const std::string& task, const std::function<int(Project&, const std::string&)>& action) {
    const auto progress = make_progress(program);
    auto project = Project::open(program, *progress, task);
    if (!project.ok()) { return program.fail(project.error()); }
    const auto id = resolve_task((*project)->tasks(), task);
    if (!id.ok()) { return program.fail(id.error()); }
    say_which(program, task, *id);
    return action(**project, *id);
}

int with_fitting_task(Program& program, const std::string& task, const std::string& what,
                      const std::function<bool(const TaskOverview&)>& fits,
                      const std::function<int(Project&, const std::string&)>& action,
                      const std::function<bool(const TaskOverview&)>& otherwise) {
    if (!task.empty()) { return with_task(program, task, action); }
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const auto id = task_or_only(program, TaskStore(place->agentforge), task, what, fits, otherwise);
    return id.ok() ? with_task(program, *id, action) : program.fail(id.error());
}

void print_quoted(std::ostream& out, const std::string& text) {
    const std::string safe = printable_lines(text);
    for (std::size_t begin = 0; begin < safe.size();) {
        const std::size_t end = std::min(safe.find('\n', begin), safe.size());
        out << "  | " << safe.substr(begin, end - begin) << "\n";
        begin = end + 1;
    }
}

namespace {

/// Returns what happens to an answered task that this process does not resume.
std::string what_follows_answer(const std::string& task_id, bool running, bool ends, bool taken) {
    if (running) { return ". The process that runs the task continues."; }
    if (ends) { return ". The task ends with: agentforge resume " + short_id(task_id); }
    if (taken) { return ". The task's process read it: agentforge status " + short_id(task_id); }
    return ". Continue with: agentforge resume " + short_id(task_id);
}

}  // namespace

int resume_with_answer(Program& program, Project& project, const std::string& task_id, const std::string& id, bool only_answer) {
    constexpr std::chrono::milliseconds poll_interval{50};
    constexpr unsigned most_polls = 100;
    const TaskPaths paths = project.tasks().paths(task_id);
    bool running = false;
    bool taken = false;
    std::uintmax_t seen = 0;
    for (unsigned poll = 0; poll < most_polls; ++poll) {
        running = TaskLock::holder(paths).has_value();
        std::error_code error;
        if (const auto size = std::filesystem::file_size(paths.journal(), error); size != seen) {
            seen = size;
            const auto state = read_task_state(project.tasks(), task_id);
            const auto open = state.ok() ? open_question(*state) : std::nullopt;
            taken = state.ok() && (!open || open->id != id);
        }
        // Another process holds the task. It will use the answer, or it is about to end and no longer saw it.
        if (taken || only_answer) { break; }
        if (running) {
            std::this_thread::sleep_for(poll_interval);
            continue;
        }
        const auto result = resume(project, task_id);
        if (result.ok()) { return print_outcome(program, project, *result); }
        if (!is_in_use(result.error())) { return program.fail(result.error()); }
    }
    if (program.json_output) {
        program.print_json({{"id", id}, {"task_id", task_id}, {"answered", true}});
    } else {
        const auto answer = kind_of(id) == QuestionKind::escalation ? project.escalations().resolution(id)
                                                                    : Result<std::optional<Resolution>>(std::nullopt);
        const bool ends = answer.ok() && *answer && (*answer)->abort;
        program.out << "Answered " << id << program.with_place(what_follows_answer(task_id, running, ends, taken)) << "\n";
    }
    return 0;
}

int resume_open_task(Program& program, Project& project, const std::string& task_id, const std::string& guidance) {
    const auto before = read_task_state(project.tasks(), task_id);
    const bool ended = before.ok() && (before->status == TaskStatus::completed || before->status == TaskStatus::aborted);
    if (ended && guidance.empty() && !program.json_output && !program.stream_output) {
        program.err << "agentforge: nothing to resume: task " << short_id(task_id) << " is " << to_string(before->status)
                    << ". This is how it ended:\n";
    }
    const auto result = resume(project, task_id, guidance);
    if (!result.ok()) { return program.fail(result.error()); }
    return print_outcome(program, project, *result);
}

int resume_and_report(Program& program, const std::string& task, const std::string& guidance) {
    return with_task(program, task, [&program, &guidance](Project& project, const std::string& id) {
        return resume_open_task(program, project, id, guidance);
    });
}

}  // namespace agentforge::kernel
