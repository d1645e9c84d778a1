// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ostream>
#include <set>

#include "base/files.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "config/goals.hpp"
#include "config/orchestration.hpp"
#include "config/template_checks.hpp"
#include "git/repository.hpp"
#include "pipeline/agent_run/agent_tools.hpp"
#include "pipeline/agent_run/run_spec.hpp"
#include "program/command_line.hpp"
#include "program/commands/compare.hpp"
#include "program/commands/detach.hpp"
#include "program/commands/iteration.hpp"
#include "program/commands/sets.hpp"
#include "program/commands/start.hpp"
#include "program/log/event_stream.hpp"
#include "program/project/chosen_task.hpp"
#include "program/project/preflight.hpp"
#include "program/project/task_preflight.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"
#include "task/exit_gate.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_counted_bytes = 16UL << 20;  // Per pipe, for the error about a request that is too long.

/// Returns the size of a request after `size` bytes were read. A file's size is known. A pipe is read up to a limit, because it
/// may never end.
std::string counted_bytes(std::size_t size) {
    struct stat file {};
    const off_t at = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (::fstat(STDIN_FILENO, &file) == 0 && S_ISREG(file.st_mode) && at >= 0) {
        return std::to_string(size + static_cast<std::size_t>(std::max<off_t>(0, file.st_size - at)));
    }
    std::string dropped(64UL << 10, '\0');
    while (size <= most_counted_bytes) {
        const ssize_t got = ::read(STDIN_FILENO, dropped.data(), dropped.size());
        if (got == 0) { return std::to_string(size); }
        if (got < 0) { break; }
        size += static_cast<std::size_t>(got);
    }
    return "more than " + std::to_string(std::min(size, most_counted_bytes));
}

/// Returns the request; `-` reads it from standard input, because a request may be longer than an argument can be.
Result<std::string> request_of(const Program& program, const StartArguments& arguments) {
    if (arguments.request != "-") { return arguments.request; }
    if (program.in_is_terminal && !program.quiet) { program.err << "agentforge: write the request, then Ctrl-D" << std::endl; }
    std::string text(max_request_bytes + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t got = ::read(STDIN_FILENO, text.data() + size, text.size() - size);
        if (got == 0) { break; }
        if (got < 0) {
            if (errno == EINTR && !program.cancel->requested() && !program.cancel->finishing()) { continue; }
            if (errno == EINTR) {
                return Error{"AF-CLI-136", "the request was not read: cancelled", "standard input", "run the command again",
                             ErrorKind::cancelled};
            }
            return Error{"AF-CLI-136", "cannot read the request: " + errno_text(errno), "standard input",
                         "give it a file or a pipe: agentforge start - < FILE", ErrorKind::io};
        }
        size += static_cast<std::size_t>(got);
    }
    if (size > max_request_bytes) { return request_too_long(counted_bytes(size)); }
    text.resize(size);
    while (text.ends_with('\n')) { text.pop_back(); }
    return text;
}

Result<void> check_named_stages(const PipelineTemplate& pipeline, std::vector<std::string> named) {
    for (const std::string& name : named) {
        if (!pipeline.index_of(name)) { return unknown_stage(pipeline, name); }
    }
    return {};
}

/// Refuses an approval at a stage that does not run.
Result<void> check_approvals_reached(const PipelineTemplate& pipeline, const Entry& entry, const StartArguments& arguments) {
    const std::string exit = arguments.exit_after.empty() ? pipeline.exit_stage : arguments.exit_after;
    for (const std::string& name : arguments.approve) {
        const std::string why = why_not_run(pipeline, entry, exit, *pipeline.index_of(name));
        if (!why.empty()) {
            return Error{"AF-CLI-201", "cannot ask for approval at stage `" + printable(name, 80) + "`: " + why, "--approve",
                         "Name a stage that runs; `--dry-run` lists them", ErrorKind::invalid};
        }
    }
    return {};
}

/// Refuses a pipeline with the gate `fix` if no violation is given: the gate checks that one violation is gone.
Result<void> check_names_violation(const PipelineTemplate& pipeline) {
    for (const StageTemplate& stage : pipeline.stages) {
        if (exit_gate(stage) != gate_name::fix || stage.config.contains("violation")) { continue; }
        return Error{"AF-CLI-205",
                     "pipeline `" + pipeline.name + "` fixes one violation, but none is given: stage `" + stage.name +
                         "` ends at the gate `fix`",
                     pipeline.source, "Use `agentforge fix VIOLATION`; `agentforge check` lists the violations",
                     ErrorKind::invalid};
    }
    return {};
}

/// Checks before a task exists that each stage has its plugin, agents, tools and models.
Result<void> check_ready(Project& project, const PipelineTemplate& pipeline, const std::string& request,
                         const Beginning* beginning = nullptr) {
    AF_CHECK(check_names_violation(pipeline));
    AF_CHECK(check_sandbox(project.exec_helper(), project.place().root.string()));
    AF_CHECK(check_plugins(project, pipeline, beginning));
    for (const StageTemplate& stage : pipeline.stages) { AF_CHECK(check_prompts_fit(project.services(), stage, request)); }
    return {};
}

/// Returns the delivered branch's name, with its placeholders. Empty if the delivery makes no branch.
std::string branch_pattern(const DeliverySettings& delivery) {
    if (delivery.type == DeliveryType::commit) { return "agentforge/{task}"; }
    return delivery.type == DeliveryType::files ? "" : delivery.branch;
}

/// Checks that the branch to deliver can be created. Git stores `a` as a file and `a/b` below a folder `a`, so both cannot exist.
Result<void> check_branch_can_be_made(const Project& project) {
    AF_TRY(const Repository repository, Repository::open(project.place().root));
    const std::string branch = branch_pattern(project.services().delivery);
    for (auto slash = branch.find('/'); slash != std::string::npos && slash < branch.find('{');
         slash = branch.find('/', slash + 1)) {
        const std::string above = branch.substr(0, slash);
        AF_TRY(const auto taken, repository.branch_commit(above));
        if (!taken) { continue; }
        return Error{"AF-CLI-137", "branch `" + printable(above, 120) + "` exists, so " + branch + " cannot be created",
                     project.place().root.string(),
                     "Rename that branch (git branch -m " + printable(above, 120) +
                         " NEW), or deliver under another name (delivery.type: branch, delivery.branch)",
                     ErrorKind::conflict};
    }
    return {};
}

/// Checks what gates, setup and delivery would refuse later, after model calls that cost money.
Result<GateReadiness> check_end(const Program& program, Project& project, const PipelineTemplate& pipeline,
                                const StartArguments& arguments) {
    auto gates = check_gates(project);
    // The folder may be uncommitted.
    if (!gates.ok() && gates.error().code == "AF-GATE-080" && arguments.include_uncommitted) { gates = GateReadiness{}; }
    if (!gates.ok()) { return gates; }
    if (measures_anything(pipeline, arguments.exit_after)) {
        AF_CHECK(
            check_can_measure(*gates, arguments.include_uncommitted ? "uncommitted" : project.settings().text("gates.setup")));
    }
    const std::string exit = arguments.exit_after.empty() ? pipeline.exit_stage : arguments.exit_after;
    const auto last = pipeline.index_of(exit);
    const bool delivers = last && makes_delivery(pipeline.stages[*last]);
    if (delivers) {
        AF_CHECK(check_branch_can_be_made(project));
        AF_CHECK(check_delivery(project, program.environment));
    }
    return gates;
}

Result<void> check_environment_of(const Program& program, const Project& project) {
    AF_TRY(const std::string state, state_directory(program.environment));
    AF_TRY(const Repository repository, Repository::open(project.place().root));
    return check_environment(project.place().root, project.place().agentforge, repository.git_directory(), state);
}

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

bool wants_interactive(const Project& project, const StartArguments& arguments) {
    return arguments.interactive || project.settings().boolean("pipeline.interactive");
}

/// A command in agentic mode acts before AgentForge can ask anyone.
Result<void> check_interactive(const Project& project, const PipelineTemplate& pipeline) {
    for (const StageTemplate& stage : pipeline.stages) {
        std::vector<std::string> roles = stage.reviewers;
        if (!stage.agent.empty()) { roles.push_back(stage.agent); }
        for (const std::string& role : roles) {
            AF_TRY(const AgentDefinition agent, project.agents().get(role));
            if (!project.services().agentic || !project.services().agentic(agent)) { continue; }
            return Error{"AF-ESC-041",
                         "an interactive task cannot use the model of role `" + role +
                             "`, which works agentically: its command acts before AgentForge can ask anyone",
                         "llm.mode", "set llm.mode: plain for the role, or start without --interactive", ErrorKind::invalid};
        }
    }
    return {};
}

/// The chosen pipeline, and the source of the choice: the command, --pipeline, the setting `pipeline.default`, or the request's
/// words.
struct Choice {
    std::string goal;  ///< Empty if the pipeline was named.
    std::string pipeline;
    std::string word;  ///< The deciding word of the request; empty if none.
    bool from_request = false;
};

Result<Choice> choose_pipeline(const Project& project, const StartArguments& arguments, const std::string& request) {
    if (!arguments.pipeline.empty()) { return Choice{"", arguments.pipeline, "", false}; }
    const auto set = project.settings().origin("pipeline.default");
    if (arguments.goal.empty() && set && set->layer != "built-in") {
        return Choice{"", project.settings().text("pipeline.default"), "", false};
    }
    AF_TRY(const Goals goals, Goals::load(project.product().config + "/goals.yaml"));
    if (arguments.goal.empty() && arguments.entry.gives_artifacts()) {
        const Goal& given = goals.with_artifacts();
        return Choice{given.name, given.pipeline, "", true};
    }
    if (arguments.goal.empty()) {
        ChosenGoal chosen = goals.of_request(request);
        return Choice{std::move(chosen.goal), std::move(chosen.pipeline), std::move(chosen.word), true};
    }
    const Goal* goal = goals.named(arguments.goal);
    if (goal == nullptr) {
        return Error{"AF-CLI-141", "there is no goal `" + arguments.goal + "`", project.product().config + "/goals.yaml",
                     "Reinstall AgentForge, or name a pipeline: agentforge start --pipeline NAME", ErrorKind::not_found};
    }
    return Choice{goal->name, goal->pipeline, "", false};
}

Result<PipelineTemplate> pipeline_chosen(const Project& project, const Choice& choice) {
    AF_TRY(PipelineTemplate pipeline, project.pipelines().get(choice.pipeline));
    return with_orchestration(std::move(pipeline), project.settings());
}

std::string why_chosen(const Choice& choice, bool by_artifacts) {
    if (by_artifacts) { return "by the given artifacts"; }
    if (choice.word.empty()) { return "because no word of the request suggests another"; }
    return "because of the word \"" + printable(choice.word, 80) + "\" in the request";
}

void report_choice(Program& program, const Choice& choice, bool by_artifacts) {
    if (!choice.from_request || program.quiet || program.json_output || program.stream_output) { return; }
    program.err << "agentforge: goal " << choice.goal << ", pipeline " << choice.pipeline << ", "
                << why_chosen(choice, by_artifacts) << " (--pipeline selects another)\n";
}

/// Makes a request from a file or folder: the command says what to do with it.
Result<std::string> request_about_path(const Program& program, Project& project, const std::string& given,
                                       const std::string& verb) {
    namespace fs = std::filesystem;
    std::error_code error;
    const bool one_word = given.find_first_of(" \t\r\n") == std::string::npos;
    const bool like_a_path = one_word && (given.find('/') != std::string::npos || given == "." || given == "..");
    const fs::path named = program.directory / given;
    if (given.size() > 4000 || given.find_first_of("\r\n") != std::string::npos ||
        !fs::exists(fs::symlink_status(named, error))) {
        constexpr std::size_t shortest_id = 8;
        if (one_word && given.size() >= shortest_id && project.tasks().resolve(given).ok()) {
            return Error{"AF-CLI-206", "`" + printable(given, 120) + "` is a task, not a file or a request", "",
                         "`agentforge review " + printable(given, 120) + " --force` reviews its delivered change again",
                         ErrorKind::invalid};
        }
        if (!like_a_path) { return given; }
        return Error{"AF-CLI-140", "there is no file or folder `" + printable(given, 120) + "`", program.directory.string(),
                     "name a file or folder of the repository, or describe what to review", ErrorKind::not_found};
    }
    const fs::path inside =
        fs::weakly_canonical(named, error).lexically_relative(fs::weakly_canonical(project.place().root, error));
    if (inside.empty() || *inside.begin() == "..") {
        return Error{"AF-CLI-140", "`" + printable(given, 120) + "` is outside the repository", project.place().root.string(),
                     "name a file or folder of the repository", ErrorKind::invalid};
    }
    return inside == "."
               ? verb + " the whole repository"
               : verb + " " + inside.generic_string() + (fs::is_directory(named, error) ? "/" : "") + " of this repository";
}

/// Returns the plan's text about who sees the artifact after the stage.
const char* what_happens_after(bool iterates, bool approval) {
    if (iterates) { return ", then is shown to you"; }
    return approval ? ", then asks for approval" : "";
}

/// The plan of `start`: the pipeline as chosen and checked.
struct Plan {
    const PipelineTemplate& pipeline;
    const StartArguments& arguments;
    const Choice& choice;
    const std::string& request;
    const GateReadiness& gates;
    const std::vector<std::string>& changed;
    const Entry& entry;
    const std::set<std::string>& iterated;
    std::string exit;
};

/// The plan for one stage.
struct PlannedStage {
    const StageTemplate& stage;
    std::string model;    ///< Empty without an agent.
    std::string skipped;  ///< Why; empty if the stage runs.
    bool approval = false;
    bool iterates = false;
};

PlannedStage planned(const Plan& plan, Project& project, const StageTemplate& stage) {
    PlannedStage out{stage, "", "", false, plan.iterated.contains(stage.name)};
    if (!stage.agent.empty()) {
        const auto agent = project.agents().get(stage.agent);
        if (agent.ok()) { out.model = project.model_name(*agent); }
    }
    const auto& stages = plan.pipeline.stages;
    const std::set<std::string> named(plan.arguments.approve.begin(), plan.arguments.approve.end());
    const bool last = stage.name == plan.exit || stage.name == plan.pipeline.exit_stage || &stage == &stages.back();
    out.approval = stage.approve || named.contains(stage.name) || out.iterates ||
                   ((plan.arguments.supervised || plan.pipeline.supervised) && !last);
    out.skipped = why_skipped(plan.pipeline, plan.entry, static_cast<std::size_t>(&stage - stages.data()));
    return out;
}

json::object planned_json(const PlannedStage& planned) {
    json::array reviewers;
    for (const std::string& reviewer : planned.stage.reviewers) { reviewers.emplace_back(reviewer); }
    return {{"name", planned.stage.name},
            {"agent", planned.stage.agent},
            {"model", planned.model},
            {"reviewers", std::move(reviewers)},
            {"contract", planned.stage.contract},
            {"skip_if", planned.stage.skip_if},
            {"skipped", planned.skipped},
            {"approval", planned.approval},
            {"iterates", planned.iterates},
            {"timeout_ms", planned.stage.timeout.count()},
            {"max_steps", planned.stage.max_steps}};
}

std::string planned_text(const PlannedStage& planned) {
    const StageTemplate& stage = planned.stage;
    if (!planned.skipped.empty()) { return fmt::format("  {:<10} skipped: {}\n", stage.name, planned.skipped); }
    return fmt::format("  {:<10} {:<22} makes {}{}{}{}\n", stage.name, stage.agent.empty() ? "(no agent)" : stage.agent,
                       stage.contract, planned.model.empty() ? "" : ", model " + printable(planned.model, 60),
                       stage.skip_if.empty() || stage.skip_if == "never" ? "" : ", skipped if " + stage.skip_if,
                       what_happens_after(planned.iterates, planned.approval));
}

json::object plan_json(const Plan& plan, const Project& project, json::array stages) {
    json::array left_out;
    if (!plan.arguments.include_uncommitted) {
        for (const std::string& path : plan.changed) { left_out.emplace_back(path); }
    }
    return {{"dry_run", true},
            {"request", plan.request},
            {"goal", plan.pipeline.goal_type},
            {"decided_by", plan.choice.word},
            {"pipeline", plan.pipeline.name},
            {"exit_stage", plan.exit},
            {"backend", project.settings().text("llm.backend")},
            {"interactive", wants_interactive(project, plan.arguments)},
            {"stages", std::move(stages)},
            {"limits", project.settings().section("limits")},
            {"gates", gates_json(plan.gates)},
            {"excluded_changes", std::move(left_out)}};
}

/// Prints what `start` would do. Runs the same checks, but creates no task and no file.
int print_plan(Program& program, Project& project, const Plan& plan) {
    json::array stages;
    std::string text;
    for (const StageTemplate& stage : plan.pipeline.stages) {
        const PlannedStage entry = planned(plan, project, stage);
        stages.push_back(planned_json(entry));
        text += planned_text(entry);
        if (stage.name == plan.exit) { break; }
    }
    if (program.json_output) {
        json::object object = plan_json(plan, project, std::move(stages));
        if (program.stream_output) {
            end_event_stream(program.out, std::move(object));
        } else {
            program.print_json(object);
        }
        return 0;
    }
    program.out << "Would start pipeline " << plan.pipeline.name << ": \"" << printable(plan.request, 400) << "\"\n"
                << text << "  model backend " << project.settings().text("llm.backend") << "\n";
    if (wants_interactive(project, plan.arguments)) { program.out << "  every action of an agent needs your approval\n"; }
    for (const std::string& line : gates_text(plan.gates)) { program.out << "  " << line << "\n"; }
    const json::object limits = project.settings().section("limits");
    if (!limits.empty()) { program.out << "  limits " << printable(to_json_line(limits), 400) << "\n"; }
    program.out << "Nothing was done. All checks before the start passed.\n";
    return 0;
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
    Choice choice_;
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
    return print_plan(program_, project_,
                      {pipeline_, arguments_, choice_, request_, gates_, *changed_files, entry_, iterated_, exit_stage()});
}

Result<void> TaskStart::check() {
    AF_CHECK(turn_path_into_request());
    AF_CHECK(check_request_is_no_path(request_, {program_.directory, project_.place().root}));
    AF_CHECK(choose());
    AF_CHECK(read_entry());
    if (request_.empty()) { request_ = "Write tests for the specification: " + title_of(entry_); }
    AF_CHECK(check_ready(project_, pipeline_, request_));
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
    AF_TRY(pipeline_, pipeline_chosen(project_, choice_));
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
    AF_TRY(gates_, check_end(program_, project_, pipeline_, arguments_));
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

Result<PipelineTemplate> pipeline_of(const Project& project, const StartArguments& arguments, const std::string& request) {
    AF_TRY(const Choice choice, choose_pipeline(project, arguments, request));
    return pipeline_chosen(project, choice);
}

Result<GateReadiness> check_stages_ready(Program& program, Project& project, const PipelineTemplate& pipeline,
                                         const std::string& exit_stage, const std::string& request, const Beginning* beginning) {
    AF_CHECK(check_ready(project, pipeline, request, beginning));
    StartArguments arguments;
    arguments.exit_after = exit_stage;
    AF_TRY(GateReadiness gates, check_end(program, project, pipeline, arguments));
    AF_CHECK(check_handlers(project.settings(), project.plugins(), project.network(), project.trust().left_out(),
                            program.environment));
    return gates;
}

int start_task(Program& program, StartArguments arguments, std::string request) {
    const auto progress = make_progress(program);
    auto opened = Project::open(program, *progress);
    if (!opened.ok()) { return program.fail(opened.error()); }
    return TaskStart(program, **opened, std::move(arguments), std::move(request)).run();
}

namespace {

/// Prepares another review of a task's delivered commit. The task itself does not change.
void review_again(StartArguments& arguments) {
    arguments.takes_path = false;
    arguments.prepare = [task = arguments.request, base = arguments.base](Project& project,
                                                                          PipelineTemplate&) -> Result<std::string> {
        AF_TRY(const std::string id, resolve_task(project.tasks(), task));
        AF_TRY(const TaskState state, read_task_state(project.tasks(), id));
        if (state.commit.empty()) {
            return Error{
                "AF-CLI-177",
                "task " + id + " has no delivered commit to review again (it is " + std::string(to_string(state.status)) + ")",
                "", "`agentforge resume " + short_id(id) + "` continues it; the pipeline loop reviews before it delivers",
                ErrorKind::conflict};
        }
        *base = TaskBase{state.commit, delivered_tree(state), state.branch};
        AF_TRY(const Repository repository, Repository::open(project.place().root));
        std::string files;
        AF_TRY(const auto changes, repository.diff(delivery_base(state).tree, delivered_tree(state)));
        for (const TreeChange& change : changes) { files += "\n- " + change.path; }
        return "Review again what task " + id + " has delivered as commit " + state.commit +
               ". The request was: " + ellipsis(state.request, 4000) + "\nChanged files:" + ellipsis(files, 8000);
    };
}

int run_start(Program& program, StartArguments arguments) {
    if (arguments.skip_verify) {
        program.fail(Error{"AF-CLI-010", "--skip-verify does not exist: every change is verified", "",
                           "to stop earlier, use --exit-after STAGE", ErrorKind::invalid});
        return static_cast<int>(ExitCode::usage);
    }
    if (arguments.wait) { program.settings.emplace_back("escalation.wait_seconds", "604800"); }
    const auto request = request_of(program, arguments);
    if (!request.ok()) { return program.fail(request.error()); }
    if (arguments.force) { review_again(arguments); }
    // Errors in the request itself come first.
    const bool from_spec = arguments.words_from_spec && request->empty();
    if (const auto words = from_spec ? Result<void>() : check_request(*request); !words.ok()) {
        return program.fail(words.error());
    }
    if (!arguments.repos.empty()) { return start_set(program, arguments, *request); }
    const auto work = [&] { return start_task(program, arguments, *request); };
    return arguments.detach ? detach(program, work) : work();
}

void add_exit_options(const Command& command, const std::shared_ptr<StartArguments>& arguments) {
    const Option exit_after =
        *add_option(*command, "--exit-after", arguments->exit_after, "End after this stage, with its verified artifact")
             ->type_name("STAGE");
    add_option_function(
        *command, "--through",
        [arguments](const std::string& stage) {
            arguments->exit_after = stage;
            arguments->exit_flag = "--through";
        },
        "The same as --exit-after")
        ->type_name("STAGE")
        ->excludes(exit_after);
}

/// Options for asking a person: when, and whether the command waits for the answer.
void add_asking_options(const Command& command, StartArguments& arguments) {
    add_flag(*command, "--supervised", arguments.supervised, "Ask for approval between stages");
    add_flag(*command, "--interactive", arguments.interactive,
             "Ask before every action of an agent: you approve, change or reject it");
    add_option(*command, "--approve", arguments.approve, "Ask for approval after this stage; may be repeated")
        ->type_name("STAGE")
        ->repeatable();
    const Option iterate =
        add_flag(*command, "--iterate", arguments.iterate,
                 "Stop at each artifact that can be revised: you approve it, ask for changes, go back or end there");
    const Option iterate_at =
        *add_option(*command, "--iterate-at", arguments.iterate_at, "The same, but only for this stage; may be repeated")
             ->type_name("STAGE")
             ->repeatable();
    iterate_at->excludes(iterate);
    add_flag(*command, "--no-iterate", arguments.no_iterate,
             "Never stop to show an artifact, even on a terminal; accept each one that satisfies its contract")
        ->excludes(iterate)
        ->excludes(iterate_at);
    add_flag(*command, "--wait", arguments.wait, "If a person is needed, wait for the answer instead of ending with code 22");
}

void add_model_options(const Command& command, Program& program) {
    const Option backend =
        *add_option_function(
             *command, "--backend", [&program](const std::string& name) { program.settings.emplace_back("llm.backend", name); },
             "Model backend for this run: anthropic, openai, cli or replay; auto takes the first that is reachable")
             ->type_name("BACKEND");
    add_option_function(
        *command, "--model", [&program](const std::string& name) { program.settings.emplace_back("llm.model", name); },
        "Model name for this run")
        ->type_name("NAME");
    add_option_function(
        *command, "--transcript",
        [&program](const std::string& file) {
            program.settings.emplace_back("llm.backend", "replay");
            program.settings.emplace_back("llm.transcript", file);
        },
        "Take the model's answers from this recorded transcript (the replay backend)")
        ->type_name("FILE")
        ->excludes(backend);
    add_option_function(
        *command, "--record", [&program](const std::string& file) { program.settings.emplace_back("llm.record", file); },
        "Record the model's answers into this transcript")
        ->type_name("FILE");
}

void add_limit_options(const Command& command, Program& program) {
    struct PartTimeout {
        const char* option;
        const char* setting;
        const char* description;
    };
    static constexpr PartTimeout timeouts[] = {
        {"--planner-timeout", "orchestration.stages.planner.timeout",
         "Time limit for the agents of planning stages (orchestration.planner_timeout)"},
        {"--executor-timeout", "orchestration.stages.executor.timeout",
         "Time limit for the agents of executing stages (orchestration.executor_timeout)"},
        {"--verifier-timeout", "orchestration.stages.verifier.timeout",
         "Time limit for the agents of verifying stages (orchestration.verifier_timeout)"},
        {"--reviewer-timeout", "orchestration.stages.reviewer.timeout",
         "Time limit for the agents of reviewing stages (orchestration.reviewer_timeout)"}};
    for (const PartTimeout& each : timeouts) {
        add_option_function(
            *command, each.option,
            [&program, &each](const std::string& seconds) { program.settings.emplace_back(each.setting, seconds); },
            each.description)
            ->type_name("SECONDS");
    }
    add_option_function(
        *command, "--cycle-limit",
        [&program](const std::string& times) { program.settings.emplace_back("orchestration.cycle_limit", times); },
        "How many times work may go back to a stage before a person decides (orchestration.cycle_limit)")
        ->type_name("N");
}

}  // namespace

void add_task_options(const Command& command, Program& program, const std::shared_ptr<StartArguments>& arguments) {
    add_exit_options(command, arguments);
    add_option(*command, "--compare-to", arguments->compare_to,
               "At the end, compare the new task with this one, as `agentforge compare` does")
        ->type_name("TASK");
    add_flag(*command, "--include-uncommitted", arguments->include_uncommitted,
             "Start from your checkout with its uncommitted changes, not from the last commit");
    add_asking_options(command, *arguments);
    add_model_options(command, program);
    add_option_function(
        *command, "--deliver", [&program](const std::string& type) { program.settings.emplace_back("delivery.type", type); },
        "What to deliver: commit, branch, files or pr (default: delivery.type, `commit`)")
        ->type_name("TYPE")
        ->one_of({"commit", "branch", "files", "pr"});
    add_limit_options(command, program);
    const Option dry_run =
        add_flag(*command, "--dry-run", arguments->dry_run, "Check everything and show what would be done, without doing it");
    add_flag(*command, "--detach", arguments->detach, "Continue in the background; follow it with `agentforge attach`")
        ->excludes(dry_run);
    add_run_output(command, program);
}

namespace {

/// A command that begins a task. `goal`: the command's purpose; empty if the request decides.
struct StartCommand {
    const char* name;
    const char* description;
    const char* goal;
    const char* footer;
    const char* verb = nullptr;    ///< What to do with a path given as the request. Null: a path is not allowed.
    bool words_from_spec = false;  ///< The request may be left out.
};

constexpr StartCommand start_commands[] = {
    {"start", "Turn a request into a verified commit", "",
     "Examples:\n"
     "  agentforge start \"Add OAuth2 authentication\"\n"
     "  agentforge start \"Add a cache\" --supervised --exit-after spec\n"
     "  agentforge start \"Add a cache\" --interactive\n"
     "  agentforge start \"Add a cache\" --dry-run\n"
     "  agentforge start \"Add a cache\" --detach\n"
     "  agentforge start \"Add a field to the user events\" --repos schema,analytics\n"
     "  agentforge start \"Add a cache\" --set llm.backend=cli --set llm.preset=claude"},
    {"design", "Turn a request into a reviewed specification", "design",
     "Examples:\n"
     "  agentforge design \"Add OAuth2 authentication\"\n"
     "  agentforge design \"Add a cache\" --iterate\n"
     "  agentforge design \"Add a cache\" --no-iterate"},
    {"implement", "Turn a request into a verified commit, even if the request's wording suggests another pipeline", "implement",
     "Examples:\n"
     "  agentforge implement \"Plan B for slow disks: a cache\"\n"
     "  agentforge implement --from-spec spec.yaml \"Add a cache\"\n"
     "  agentforge implement --from-spec spec.yaml --from-tests tests/cache \"Add a cache\"\n"
     "  agentforge implement --from-task TASK \"Add the cache that was designed\"\n"
     "  agentforge implement \"Add a cache\" --supervised"},
    {"review", "Review code without changing it", "review",
     "Examples:\n"
     "  agentforge review src/auth\n"
     "  agentforge review 1f2e3d4c --force\n"
     "  agentforge review \"How do we handle expired tokens?\" --model large",
     "Review"},
    {"test", "Write tests for a specification, and no code", "test",
     "Examples:\n"
     "  agentforge contracts template specification > spec.yaml\n"
     "  agentforge test --spec spec.yaml\n"
     "  agentforge test --from-task TASK",
     nullptr, true},
    {"document", "Document code, and change only documents", "document",
     "Examples:\n"
     "  agentforge document src/auth\n"
     "  agentforge document \"Explain the retry rules in the README\"",
     "Document"},
};

const char* description_of_request(const StartArguments& arguments) {
    if (arguments.takes_path) { return "A file or folder, or a request in your own words; `-` reads it from standard input"; }
    if (arguments.words_from_spec) { return "What to test, in your own words (default: the specification's title)"; }
    return "What to do, in your own words; `-` reads it from standard input";
}

void add_start_command(CLI::App& app, Program& program, const StartCommand& kind) {
    auto arguments = std::make_shared<StartArguments>();
    arguments->goal = kind.goal;
    arguments->takes_path = kind.verb != nullptr;
    if (kind.verb != nullptr) { arguments->verb = kind.verb; }
    arguments->words_from_spec = kind.words_from_spec;
    const Command command = add_subcommand(app, kind.name, kind.description);
    const Option request = *add_option(*command, "request", arguments->request, description_of_request(*arguments))
                                ->type_name(arguments->takes_path ? "PATH|REQUEST" : "REQUEST");
    if (!kind.words_from_spec) { request->required()->may_be_empty(); }
    if (arguments->goal.empty()) {
        add_option(*command, "--pipeline", arguments->pipeline,
                   "Use this pipeline (default: pipeline.default if set, else chosen from the words of the request)")
            ->type_name("PIPELINE");
    }
    if (arguments->goal.empty()) {
        add_option(*command, "--repos", arguments->repos,
                   "Work on these known repositories together: a task in each, and branches in all of them or in none")
            ->type_name("NAME,NAME");
    }
    add_entry_options(command, arguments->entry);
    add_task_options(command, program, arguments);
    if (arguments->goal == "review") {
        add_flag(*command, "--force", arguments->force,
                 "Review a task's delivered change again; give the task's id as the request");
    }
    add_flag(*command, "--skip-verify", arguments->skip_verify)->hidden();
    command->footer(kind.footer);
    command->callback(
        [&program, arguments] { program.command = [&program, arguments] { return run_start(program, *arguments); }; });
}

}  // namespace

void add_start(CLI::App& app, Program& program, std::string_view name) {
    for (const StartCommand& kind : start_commands) {
        if (kind.name == name) { add_start_command(app, program, kind); }
    }
}

}  // namespace agentforge::kernel
