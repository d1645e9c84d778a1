// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "base/ids.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"
#include "replay/actions.hpp"
#include "replay/recorded_model.hpp"
#include "replay/rejudge.hpp"
#include "replay/replay.hpp"

namespace agentforge::kernel {

namespace {

struct ReplayArguments {
    std::string task;
    std::string onto;
    bool verify = false;
    bool continue_task = false;
    bool all = false;
    bool rejudge = false;
    bool actions_only = false;
};

ReplayPlace place_in(Project& project) {
    return {project.tasks(),     project.escalations(), project.services(),        project.task_workspace_options(),
            project.processes(), project.ids(),         &project.record_observer()};
}

json::array to_json(const std::vector<ReplayDifference>& differences) {
    json::array out;
    for (const ReplayDifference& one : differences) {
        out.push_back(json::object{{"kind", to_string(one.kind)},
                                   {"where", one.where},
                                   {"recorded", one.recorded},
                                   {"now", one.now},
                                   {"fits", one.fits}});
    }
    return out;
}

json::object to_json(const ReplayReport& report) {
    return {{"task_id", report.recorded_task},
            {"replay_id", report.result.task_id},
            {"status", to_string(report.result.status)},
            {"as_recorded", report.as_recorded()},
            {"same_base", report.same_base},
            {"recorded_tree", report.recorded_tree},
            {"tree", report.tree},
            {"compared",
             json::object{
                 {"actions", report.counts.actions}, {"gates", report.counts.gates}, {"artifacts", report.counts.artifacts}}},
            {"differences", to_json(report.differences)}};
}

std::string in_words(const ReplayDifference& difference) {
    if (difference.kind == ReplayDifference::Kind::not_reached) { return "not reached"; }
    // A step that only the replay has counts as one that does not fit.
    if (difference.kind == ReplayDifference::Kind::missing) {
        return difference.fits ? "missing in the replay" : "missing in the recording";
    }
    return std::string(to_string(difference.kind)) + (difference.fits ? " is different" : " does not fit");
}

void print_differences(std::ostream& out, const std::vector<ReplayDifference>& differences) {
    for (const ReplayDifference& one : differences) {
        out << "  " << printable(one.where, 300) << ": " << in_words(one) << "\n    recorded: " << printable(one.recorded, 500)
            << "\n"
            << "    now:      " << printable(one.now, 500) << "\n";
    }
}

std::string counted(const ReplayCounts& counts) {
    const auto words = [](std::uint64_t number, const char* word) {
        return std::to_string(number) + " " + word + (number == 1 ? "" : "s");
    };
    return words(counts.actions, "action") + ", " + words(counts.gates, "gate") + ", " + words(counts.artifacts, "artifact");
}

/// Prints the verdict of --verify. If the replay only waits at the end of the recording, that pause is not a difference.
int print_verified(Program& program, const ReplayReport& report) {
    if (program.cancel->requested()) {
        return program.fail(
            Error{"AF-CLI-208", "the replay was cancelled before its end", "", "run the command again", ErrorKind::cancelled});
    }
    const bool failed =
        report.result.error && report.result.error->code != does_not_fit_code && report.result.error->code != recording_ends_code;
    if (failed && report.as_recorded()) { return program.fail(*report.result.error); }
    if (program.json_output) {
        program.print_json(to_json(report));
        return report.as_recorded() ? 0 : 1;
    }
    if (report.as_recorded()) {
        program.out << "As recorded: " << short_id(report.recorded_task) << "\n"
                    << "  " << counted(report.counts) << " repeated in a scratch worktree\n"
                    << "  tree " << report.tree << "\n";
        return 0;
    }
    program.out << "Not as recorded: " << short_id(report.recorded_task) << "  (" << counted(report.counts)
                << " repeated in a scratch worktree)\n";
    print_differences(program.out, report.differences);
    return 1;
}

int print_replayed(Program& program, Project& project, const ReplayReport& report) {
    if (program.json_output) {
        program.print_json(to_json(report));
        return static_cast<int>(report.result.exit_code);
    }
    if (program.stream_output) { return print_outcome(program, project, report.result); }
    program.out << "Replayed " << short_id(report.recorded_task) << " as a separate task: " << counted(report.counts) << "\n";
    print_differences(program.out, report.differences);
    return print_outcome(program, project, report.result);
}

/// Returns exit code 1 if something did not match.
int run_actions(Program& program, Project& project, const std::string& id, const ReplayArguments& arguments) {
    const auto report = replay_actions(place_in(project), id, {arguments.onto, arguments.continue_task});
    if (!report.ok()) { return program.fail(report.error()); }
    json::array files;
    for (const TreeChange& file : report->files) {
        files.push_back(json::object{{"path", file.path}, {"status", std::string(1, file.status)}});
    }
    if (program.json_output) {
        program.print_json({{"task_id", id},
                            {"same_base", report->same_base},
                            {"base_tree", report->base_tree},
                            {"tree", report->tree},
                            {"done", report->done},
                            {"files", std::move(files)},
                            {"differences", to_json(report->mismatches)}});
    } else {
        program.out << "Changes of " << short_id(id) << " repeated: " << report->done
                    << (report->mismatches.empty() ? "" : ", but not all match") << "\n";
        print_differences(program.out, report->mismatches);
        program.out << "  tree " << report->tree << ", without gates\n"
                    << "  look:    git diff " << report->base_tree.substr(0, 12) << " " << report->tree.substr(0, 12) << "\n";
        if (!report->mismatches.empty() && !arguments.continue_task) {
            program.out << "  It stopped there; --continue skips changes that do not match.\n";
        }
    }
    return report->mismatches.empty() ? 0 : 1;
}

int run_replay(Program& program, Project& project, const std::string& id, const ReplayArguments& arguments) {
    if (arguments.actions_only) { return run_actions(program, project, id, arguments); }
    if (arguments.continue_task) {
        const auto report = continue_replay(place_in(project), id);
        return report.ok() ? print_replayed(program, project, *report) : program.fail(report.error());
    }
    ReplayOptions options{.onto = arguments.onto, .scratch = arguments.verify};
    if (!arguments.verify) {
        options.configuration = project.settings_for_task();
        options.seal = [&project](json::object& configuration) { return project.seal(configuration); };
    }
    const auto report = replay_task(place_in(project), id, options);
    if (!report.ok()) { return program.fail(report.error()); }
    return arguments.verify ? print_verified(program, *report) : print_replayed(program, project, *report);
}

json::object to_json(const RejudgedTask& task) {
    json::array verdicts;
    for (const Rejudged& one : task.verdicts) {
        verdicts.push_back(json::object{{"seq", one.seq},
                                        {"stage", one.stage},
                                        {"gate", one.gate},
                                        {"tree", one.tree},
                                        {"passed", one.passed},
                                        {"passes", one.passes},
                                        {"changed", one.changed()},
                                        {"recorded", one.recorded},
                                        {"now", one.now},
                                        {"other_rules", one.other_rules}});
    }
    return {{"task_id", task.task_id}, {"verdicts", std::move(verdicts)}};
}

void print_rejudged(std::ostream& out, const RejudgedTask& task) {
    const auto changed = std::ranges::count_if(task.verdicts, &Rejudged::changed);
    out << short_id(task.task_id) << ": " << task.verdicts.size() << (task.verdicts.size() == 1 ? " verdict" : " verdicts")
        << " measured again, " << changed << " changed\n";
    for (const Rejudged& one : task.verdicts) {
        if (!one.changed()) { continue; }
        out << "  record " << one.seq << ", gate " << one.gate << " of stage " << printable(one.stage) << ", tree "
            << one.tree.substr(0, 12) << (one.other_rules ? "; its settings or rules have changed since" : "") << "\n"
            << "    recorded: " << (one.passed ? "passed: " : "failed: ") << printable(one.recorded, 500) << "\n"
            << "    now:      " << (one.passes ? "passed: " : "failed: ") << printable(one.now, 500) << "\n";
    }
}

bool not_running(const TaskOverview& task) { return !task.running; }

Result<std::vector<std::string>> tasks_to_judge(Program& program, Project& project, const ReplayArguments& arguments) {
    if (!arguments.all) {
        AF_TRY(std::string id, task_or_newest_that(program, project.tasks(), arguments.task, "can be replayed", not_running));
        return std::vector<std::string>{std::move(id)};
    }
    AF_TRY(const TaskListing listing, project.tasks().list());
    std::vector<std::string> ids;
    for (const TaskSummary& task : listing.tasks) { ids.push_back(task.task_id); }
    return ids;
}

/// Returns exit code 1 if a verdict has changed, or a task could not be judged. With --all, continues with the other tasks.
int run_rejudge(Program& program, const ReplayArguments& arguments) {
    const auto progress = make_progress(program);
    auto project = Project::open(program, *progress);
    if (!project.ok()) { return program.fail(project.error()); }
    const auto ids = tasks_to_judge(program, **project, arguments);
    if (!ids.ok()) { return program.fail(ids.error()); }
    json::array list;
    json::array problems;
    bool changed = false;
    for (const std::string& id : *ids) {
        const auto judged = rejudge_task(place_in(**project), id, Stop{program.cancel, std::nullopt});
        if (!judged.ok() && !arguments.all) { return program.fail(judged.error()); }
        if (!judged.ok() && judged.error().kind == ErrorKind::cancelled) { return program.fail(judged.error()); }
        if (!judged.ok()) {
            const Error& error = judged.error();
            problems.push_back(json::object{{"task_id", id},
                                            {"code", error.code},
                                            {"message", error.message},
                                            {"where", error.where},
                                            {"remedy", error.remedy}});
            program.err << "agentforge: " << short_id(id) << ": " << printable_lines(error.to_string()) << "\n";
            continue;
        }
        changed = changed || judged->changed();
        list.push_back(to_json(*judged));
        if (!program.json_output) { print_rejudged(program.out, *judged); }
    }
    const bool failed = changed || !problems.empty();
    if (program.json_output) {
        program.print_json({{"changed", changed}, {"tasks", std::move(list)}, {"problems", std::move(problems)}});
    }
    return failed ? 1 : 0;
}

int refuse_both(Program& program) {
    program.fail(Error{"AF-CLI-001", "--continue and --onto can be combined only with --actions-only", "", "leave out --onto",
                       ErrorKind::invalid});
    return static_cast<int>(ExitCode::usage);
}

int refuse_task_with_all(Program& program) {
    program.fail(
        Error{"AF-CLI-001", "--all is for all tasks, but a task is named", "", "leave one of them out", ErrorKind::invalid});
    return static_cast<int>(ExitCode::usage);
}

}  // namespace

void add_replay(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<ReplayArguments>();
    const Command command = add_subcommand(app, "replay", "Repeat every recorded action of a task, without a model");
    add_option(*command, "task", arguments->task,
               "The task's id, or a unique part (default: the newest task that no process runs); none with --all")
        ->type_name("TASK");
    const Option onto =
        add_option(*command, "--onto", arguments->onto, "Replay on this branch instead of the commit that the task began on");
    onto->type_name("BRANCH");
    const Option verify = add_flag(*command, "--verify", arguments->verify,
                                   "Replay in a scratch worktree, and compare each step with the journal; nothing is kept");
    verify->excludes(onto);
    const Option continue_task =
        add_flag(*command, "--continue", arguments->continue_task,
                 "Continue after an action whose result differed; with --actions-only, skip such actions");
    continue_task->excludes(verify);
    const Option actions_only =
        add_flag(*command, "--actions-only", arguments->actions_only,
                 "Only repeat the file changes, without gates or a new task, and show the resulting tree");
    actions_only->excludes(verify);
    const Option rejudge = add_flag(*command, "--rejudge", arguments->rejudge,
                                    "Only run today's gates on the recorded trees again, and list the verdicts that changed");
    rejudge->excludes(onto);
    rejudge->excludes(verify);
    rejudge->excludes(continue_task);
    rejudge->excludes(actions_only);
    add_flag(*command, "--all", arguments->all, "With --rejudge: all tasks of the project")->needs("--rejudge");
    add_run_output(command, program);
    command->footer(
        "Examples:\n  agentforge replay 1f2e3d4c --verify\n  agentforge replay 1f2e3d4c --onto release-2\n  agentforge replay --all --rejudge");
    command->callback([&program, arguments] {
        program.command = [&program, arguments] {
            if (arguments->all && !arguments->task.empty()) { return refuse_task_with_all(program); }
            if (arguments->continue_task && !arguments->onto.empty() && !arguments->actions_only) { return refuse_both(program); }
            if (arguments->rejudge) { return run_rejudge(program, *arguments); }
            const auto place = ProjectPlace::find(program);
            if (!place.ok()) { return program.fail(place.error()); }
            const auto task =
                task_or_newest_that(program, TaskStore(place->agentforge), arguments->task, "can be replayed", not_running);
            if (!task.ok()) { return program.fail(task.error()); }
            return with_task(program, *task, [&](Project& project, const std::string& id) {
                return run_replay(program, project, id, *arguments);
            });
        };
    });
}

}  // namespace agentforge::kernel
