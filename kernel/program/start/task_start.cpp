// SPDX-License-Identifier: Apache-2.0
#include "program/start/task_start.hpp"

#include <ostream>
#include <set>

#include "base/text.hpp"
#include "git/repository.hpp"
#include "program/commands/compare.hpp"
#include "program/project/chosen_task.hpp"
#include "program/project/preflight.hpp"
#include "program/project/project.hpp"
#include "program/project/project_folder.hpp"
#include "program/start/iteration.hpp"
#include "program/start/pipeline_choice.hpp"
#include "program/start/request_input.hpp"
#include "program/start/start_checks.hpp"
#include "program/start/start_plan.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

Result<std::vector<std::string>> uncommitted_changes(const Project& project) {
    AF_TRY(const Repository repository, Repository::open(project.place().root));
    return repository.uncommitted();
}

void report_uncommitted_changes(Program& program, const Result<std::vector<std::string>>& changed, bool included) {
    if (!changed.ok()) {
        if (!included) {
            program.err
                << "agentforge: cannot check for uncommitted changes; they are not part of this task, which starts from the last commit: "
                << printable_lines(changed.error().message) << "\n";
        }
        return;
    }
    if (changed->empty()) { return; }
    program.err
        << (included
                ? "agentforge: your uncommitted changes are part of this task, as a commit before its own: "
                : "agentforge: your uncommitted changes are not part of this task (it starts from the last commit; --include-uncommitted includes them): ");
    std::size_t shown = 0;
    for (const std::string& path : *changed) {
        if (shown == 5) { break; }
        program.err << (shown++ == 0 ? "" : ", ") << printable(path);
    }
    program.err << (changed->size() > shown ? " and " + std::to_string(changed->size() - shown) + " more" : "") << "\n";
}

/// Prints the task's result, then how it differs from another task.
int print_compared(Program& program, Project& project, const PipelineResult& result, const std::string& other) {
    const auto compared = [&]() -> Result<TaskComparison> {
        AF_TRY(const Repository repository, Repository::open(project.place().root));
        return compare_tasks(project.tasks(), repository, other, result.task_id);
    }();
    const int code = print_outcome(program, project, result,
                                   compared.ok() ? json::object{{"comparison", to_json(*compared)}} : json::object());
    if (!compared.ok()) {
        program.err << "agentforge: " << printable_lines(compared.error().to_string()) << "\n";
    } else if (!program.json_output && !program.stream_output) {
        print_comparison(program.out, *compared);
    }
    return code;
}

/// Starts a task from a command's arguments, step by step.
class TaskStart {
public:
    TaskStart(Program& program, Project& project, StartArguments arguments, std::string request)
        : program_(program), project_(project), arguments_(std::move(arguments)), request_(std::move(request)) {}

    int run();

private:
    Result<void> check();
    Result<void> turn_path_into_request();
    Result<void> choose();
    Result<void> read_entry();
    Result<void> check_task_prerequisites();
    Result<void> find_compared_task();
    StartOptions options();
    int execute();
    [[nodiscard]] std::string exit_stage() const {
        return arguments_.exit_after.empty() ? pipeline_.exit_stage : arguments_.exit_after;
    }

    Program& program_;
    Project& project_;
    StartArguments arguments_;
    std::string request_;
    PipelineChoice choice_;
    PipelineTemplate pipeline_;
    Entry entry_;
    GateReadiness gates_;
    std::set<std::string> iterated_;
};

int TaskStart::run() {
    if (const auto checked = check(); !checked.ok()) { return program_.fail(checked.error()); }
    const auto changed_files = uncommitted_changes(project_);
    report_uncommitted_changes(program_, changed_files, arguments_.include_uncommitted);
    if (!arguments_.dry_run) { return execute(); }
    if (!changed_files.ok()) { return program_.fail(changed_files.error()); }
    return print_start_plan(program_, project_,
                            {pipeline_, arguments_, choice_, request_, gates_, *changed_files, entry_, iterated_, exit_stage()});
}

Result<void> TaskStart::check() {
    AF_CHECK(turn_path_into_request());
    AF_CHECK(check_request_is_no_path(request_, {program_.directory, project_.place().root}));
    AF_CHECK(choose());
    AF_CHECK(read_entry());
    if (request_.empty()) { request_ = "Write tests for the specification: " + title_of(entry_); }
    AF_CHECK(check_stages(project_, pipeline_, request_));
    AF_CHECK(check_task_prerequisites());
    AF_CHECK(find_compared_task());
    AF_TRY(iterated_, iterated_stages(program_, project_, pipeline_, entry_, arguments_));
    return {};
}

Result<void> TaskStart::turn_path_into_request() {
    if (!arguments_.takes_path) { return {}; }
    AF_TRY(request_, request_about_path(program_, project_, request_, arguments_.verb));
    return {};
}

/// Chooses the pipeline. For a command that makes its own request, also sets the request.
Result<void> TaskStart::choose() {
    AF_TRY(choice_, choose_pipeline(project_, arguments_, request_));
    AF_TRY(pipeline_, chosen_pipeline(project_, choice_));
    report_choice(program_, choice_, arguments_.goal.empty() && arguments_.entry.gives_artifacts());
    if (arguments_.prepare) { AF_TRY(request_, arguments_.prepare(project_, pipeline_)); }
    return {};
}

/// Decides where the task begins. Checks that the stages in the arguments exist and run.
Result<void> TaskStart::read_entry() {
    std::vector<std::string> named = arguments_.approve;
    if (!arguments_.exit_after.empty()) { named.push_back(arguments_.exit_after); }
    AF_CHECK(check_named_stages(pipeline_, named));
    AF_CHECK(check_exit_point(pipeline_, arguments_.exit_after));
    AF_TRY(entry_, entry_of_arguments(program_, project_, pipeline_, arguments_));
    AF_CHECK(check_some_stage_runs(pipeline_, entry_, exit_stage()));
    return check_approvals_reached(pipeline_, entry_, arguments_);
}

/// Checks the folders, the gates, the delivery and the ways to ask a person.
Result<void> TaskStart::check_task_prerequisites() {
    AF_CHECK(check_environment_of(program_, project_));
    AF_TRY(gates_, check_gates_and_delivery(program_, project_, pipeline_, arguments_));
    if (wants_interactive(project_, arguments_)) { AF_CHECK(check_interactive(project_, pipeline_)); }
    return check_handlers(project_.settings(), project_.plugins(), project_.network(), project_.trust().left_out(),
                          program_.environment);
}

Result<void> TaskStart::find_compared_task() {
    if (arguments_.compare_to.empty()) { return {}; }
    AF_TRY(arguments_.compare_to, resolve_task(project_.tasks(), arguments_.compare_to));
    return {};
}

StartOptions TaskStart::options() {
    StartOptions options;
    options.pipeline = pipeline_;
    options.entry = std::move(entry_);
    if (!arguments_.exit_after.empty()) { options.exit_after = arguments_.exit_after; }
    options.supervised = arguments_.supervised;
    options.interactive = wants_interactive(project_, arguments_);
    options.include_uncommitted = arguments_.include_uncommitted;
    options.base = *arguments_.base;
    options.approve_stages = {arguments_.approve.begin(), arguments_.approve.end()};
    options.iterate_stages = iterated_;
    options.configuration = project_.settings_for_task();
    options.set_file = arguments_.set_file;
    options.named = arguments_.named;
    options.seal = [&project = project_](json::object& configuration) { return project.seal(configuration); };
    return options;
}

int TaskStart::execute() {
    std::error_code error;
    const bool first = !std::filesystem::exists(project_.place().agentforge, error);
    if (const auto made = prepare_project_folder(project_.place(), false); !made.ok()) { return program_.fail(made.error()); }
    const auto result = project_.controller().execute(request_, options());
    if (!result.ok()) {
        if (first) { remove_empty_project_folder(project_.place()); }
        return program_.fail(result.error());
    }
    return arguments_.compare_to.empty() ? print_outcome(program_, project_, *result)
                                         : print_compared(program_, project_, *result, arguments_.compare_to);
}

}  // namespace

int start_task(Program& program, StartArguments arguments, std::string request) {
    const auto progress = make_progress(program);
    auto opened = Project::open(program, *progress);
    if (!opened.ok()) { return program.fail(opened.error()); }
    return TaskStart(program, **opened, std::move(arguments), std::move(request)).run();
}

}  // namespace agentforge::kernel
