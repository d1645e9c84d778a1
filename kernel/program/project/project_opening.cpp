// SPDX-License-Identifier: Apache-2.0
// Opens a project: reads its settings and definitions, finds its plugins, and assembles the services of its tasks.
#include "program/project/project.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "git/detected_repository.hpp"
#include "pipeline/garbage.hpp"
#include "pipeline/task_workspace_factory.hpp"
#include "program/project/known_repositories.hpp"
#include "program/project/preflight.hpp"
#include "program/project/service_settings.hpp"
#include "program/project/task_settings.hpp"
#include "program/start/iteration.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

/// Assembles a project, in the order of `open`: each step uses what those before it made.
class Project::Opening {
public:
    Opening(Program& program, Progress& progress) : program_(program), progress_(progress), project_(new Project(program)) {}

    Result<std::unique_ptr<Project>> open(std::string_view task);

private:
    Result<void> load_trusted_settings(std::string_view task);
    void warn_of_unused_settings();
    Result<void> open_log();
    Result<void> load_definitions();
    Result<void> find_plugins();
    void declare_servers();
    Result<void> load_prices_and_limits();
    void make_task_workspaces();
    void set_gate_options(GateRunner::Options& gates);
    void open_stores();
    std::chrono::seconds longest_model_timeout();
    void make_services();
    Result<void> make_people_handlers();
    Result<void> make_controller();
    void archive_ended();

    [[nodiscard]] const std::string& shipped() const { return project_->product_.config; }
    [[nodiscard]] const std::filesystem::path& own() const { return project_->place_.agentforge; }
    [[nodiscard]] const Settings& settings() const { return *project_->settings_; }
    void report(const Error& problem) { program_.err << "agentforge: " << printable_lines(problem.to_string()) << "\n"; }

    Program& program_;
    Progress& progress_;
    std::unique_ptr<Project> project_;
    std::string state_directory_;
    TaskLimits limits_;
    DeliverySettings delivery_;
};

Result<std::unique_ptr<Project>> Project::open(Program& program, Progress& progress, std::string_view task) {
    return Opening(program, progress).open(task);
}

Result<void> archive_ended_tasks(Program& program, const ProjectPlace& place) {
    const auto left = find_unarchived(TaskStore(place.agentforge), place.root);
    if (!left.ok() || left->empty()) { return {}; }  // The command reports entries that cannot be read.
    const auto progress = make_progress(program);
    const auto project = Project::open(program, *progress);
    return project.ok() ? Result<void>() : Result<void>(project.error());
}

Result<std::unique_ptr<Project>> Project::Opening::open(std::string_view task) {
    AF_TRY(project_->place_, ProjectPlace::find(program_));
    AF_TRY(project_->product_, ProductPaths::find());
    AF_CHECK(load_trusted_settings(task));
    warn_of_unused_settings();
    AF_CHECK(open_log());
    AF_CHECK(load_definitions());
    AF_CHECK(find_plugins());
    declare_servers();
    AF_CHECK(load_prices_and_limits());
    make_task_workspaces();
    open_stores();
    make_services();
    AF_CHECK(make_people_handlers());
    AF_CHECK(make_controller());
    archive_ended();
    return std::move(project_);
}

Result<void> Project::Opening::load_trusted_settings(std::string_view task) {
    AF_TRY(TrustedSettings loaded, load_settings(program_, project_->place_, project_->product_));
    AF_TRY(TrustedSettings trusted, resolve_trust(program_, project_->place_, project_->product_, std::move(loaded)));
    if (!task.empty()) {
        AF_TRY(const json::object started, settings_of_task(TaskStore(own()), task));
        warn_of_ended_recording(program_, *trusted.settings, started);
        if (const auto missing = settings_missing_now(*trusted.settings, started); !missing.empty()) {
            AF_CHECK(check_settings_of_task(program_, project_->place_, trusted, project_->ids_, started, missing));
            AF_TRY(trusted, load_settings(program_, project_->place_, project_->product_, missing));
        }
    }
    project_->settings_ = std::move(trusted.settings);
    project_->trust_ = std::move(trusted.trust);
    return {};
}

void Project::Opening::warn_of_unused_settings() {
    warn_about_unknown_variables(program_, settings());
    for (const auto& lines : {variables_not_followed(program_.environment, project_->place_.root), misnamed(own())}) {
        for (const std::string& line : lines) { program_.err << "agentforge: " << line << "\n"; }
    }
}

Result<void> Project::Opening::open_log() {
    project_->network_ = network_rule(settings(), program_.environment);
    AF_TRY(state_directory_, state_directory(program_.environment));
    AF_TRY(project_->secrets_,
           project_secrets(program_, project_->place_, project_->product_, settings(), state_directory_, project_->ids_));
    project_->open_telemetry();
    Log::Options log = log_options(program_, project_->place_, settings());
    if (project_->telemetry_) {
        log.also = [telemetry = project_->telemetry_.get()](const json::object& line) { telemetry->logged(line); };
    }
    AF_TRY(project_->log_, Log::open(log, progress_, project_->clock_));
    project_->events_ = std::make_unique<RedactingSink>(*project_->secrets_.redactor, *project_->log_);
    project_->log_errors(program_);
    return {};
}

Result<void> Project::Opening::load_definitions() {
    AF_TRY(project_->contracts_, ContractSet::load({shipped() + "/contracts", (own() / "contracts").string()}));
    AF_TRY(project_->agents_, AgentSet::load(shipped() + "/agents", (own() / "agents").string(), project_->contracts_));
    AF_CHECK(check_roles_of_settings(settings(), project_->agents_));
    AF_TRY(project_->pipelines_, PipelineSet::load(shipped() + "/pipelines", (own() / "pipelines").string(),
                                                   (own() / "orchestration" / "pipeline.yaml").string(), project_->contracts_));
    return {};
}

Result<void> Project::Opening::find_plugins() {
    project_->plugins_ =
        PluginRegistry::discover(plugin_search(program_, project_->place_, project_->product_, settings(), project_->trust_));
    for (const Error& problem : project_->plugins_.problems()) { report(problem); }
    return check_plugin_settings(project_->plugins_, settings());
}

/// Archives tasks that killed processes left without an archive. Also the command's own task: the command may refuse it before it
/// opens the task.
void Project::Opening::archive_ended() {
    const auto left = find_unarchived(project_->tasks(), project_->place_.root);
    if (left.ok()) { project_->controller().archive_ended(*left); }  // The command reports an error.
}

void Project::Opening::declare_servers() {
    project_->servers_ =
        declared_servers(settings(), project_->place_, project_->trust_, project_->network_, program_.environment);
    for (const Error& problem : project_->servers_.problems) { report(problem); }
}

Result<void> Project::Opening::load_prices_and_limits() {
    AF_TRY(project_->prices_, load_prices(project_->place_, project_->product_, settings()));
    AF_TRY(limits_, load_limits(settings(), project_->pipelines_));
    AF_TRY(delivery_, load_delivery(settings()));
    return {};
}

void Project::Opening::make_task_workspaces() {
    project_->processes_ = make_process_runner(project_->exec_helper());
    GitTaskWorkspaceOptions options;
    options.repository = project_->place_.root.string();
    options.state_directory = state_directory_;
    set_gate_options(options.gates);
    options.notice = [&program = program_](const std::string& text) {
        program.err << "agentforge: " << printable_lines(text) << "\n";
    };
    project_->task_workspace_options_ = std::move(options);
    project_->task_workspaces_ = make_git_task_workspaces(project_->task_workspace_options_, *project_->processes_);
}

void Project::Opening::set_gate_options(GateRunner::Options& gates) {
    gates.languages_directory = shipped() + "/languages";
    gates.more_languages = {(own() / "languages").string()};
    gates.conformance_directories = {shipped() + "/conformance", (own() / "conformance").string()};
    gates.environment = program_.environment;
    gates.settings = gate_settings(settings(), project_->place_);
    for (const char* key : {"language", "baseline_runs", "held_out", "unattended", "outdated_tests", "setup"}) {
        gates.settings.erase(key);
    }
    gates.baseline_runs = settings().integer("gates.baseline_runs");
    gates.held_out = settings().boolean("gates.held_out");
    gates.setup = settings().text("gates.setup");
    gates.language = settings().text("gates.language");
}

void Project::Opening::open_stores() {
    project_->tasks_ = std::make_unique<TaskStore>(own());
    project_->tasks_->note_own_journals(own_journals(state_directory_));
    project_->tasks_->observe(project_->log_.get());
    if (project_->telemetry_) {
        project_->telemetry_->pass_on(*project_->log_);
        project_->tasks_->observe(project_->telemetry_.get());
    }
    project_->escalations_ = std::make_unique<EscalationStore>(own());
}

/// Roles may have their own timeouts. A call that takes longer than all of them hangs.
std::chrono::seconds Project::Opening::longest_model_timeout() {
    std::int64_t longest = settings().integer("llm.timeout_seconds");
    for (const std::string& role : project_->agents_.roles()) {
        longest = std::max(longest, read_model_settings(settings(), role).timeout_seconds);
    }
    return std::chrono::seconds(longest);
}

void Project::Opening::make_services() {
    Project* const self = project_.get();
    self->services_ = std::make_unique<TaskServices>(
        TaskServices{.plugins = self->plugins_,
                     .contracts = self->contracts_,
                     .agents = self->agents_,
                     .events = *self->events_,
                     .cancel = *program_.cancel,
                     .clock = self->clock_,
                     .model = [self](const AgentDefinition& agent) { return self->model(agent); },
                     .budget = token_budget(settings()),
                     .max_output_tokens = static_cast<std::uint64_t>(settings().integer("llm.max_output_tokens")),
                     .agents_md = settings().boolean("context.agents_md"),
                     .environment = program_.environment,
                     .servers = &self->servers_,
                     .exec_helper = self->exec_helper(),
                     .redactor = *self->secrets_.redactor,
                     .model_limit = longest_model_timeout(),
                     .output_limit =
                         [self](const std::string& role) {
                             return static_cast<std::uint64_t>(read_model_settings(*self->settings_, role).max_output_tokens);
                         },
                     .limits = std::move(limits_),
                     .prices = &self->prices_,
                     .model_name = [self](const AgentDefinition& agent) { return self->model_name(agent); },
                     .agentic = [self](const AgentDefinition& agent) { return self->agentic(agent.role); },
                     .plugins_of = [self](const PipelineTemplate& pipeline) { return self->plugins_of(pipeline); },
                     .delivery = std::move(delivery_),
                     .outdated_tests = settings().list("gates.outdated_tests"),
                     .other_repository = [&program = program_](const std::string& name) -> Result<OtherRepository> {
                         AF_TRY(const KnownRepository known, find_known_repository(program, name));
                         return OtherRepository{known.path, known.default_branch, known.contracts_path};
                     },
                     .ask_about_suspicions = settings().text("gates.unattended") == "strict"});
}

Result<void> Project::Opening::make_people_handlers() {
    AF_TRY(std::vector<GroupedHandler> handlers,
           make_handlers(settings(), project_->plugins_, project_->network_, project_->trust_.left_out(), program_.environment));
    HandlerGroupOptions people{
        .clock = project_->clock_, .store = *project_->escalations_, .redactor = *project_->secrets_.redactor};
    people.reminders = reminder_policy(settings());
    people.left_behind = [&program = program_] { program.skip_destructors = true; };
    project_->handlers_ = std::make_shared<HandlerGroup>(std::move(handlers), std::move(people));
    return {};
}

Result<void> Project::Opening::make_controller() {
    // Asks the person at the terminal about every action of an interactive task and about each artifact to approve.
    std::shared_ptr<EscalationHandler> present;
    if (is_at_terminal(program_)) { AF_TRY(present, project_->plugins_.escalation("console")); }
    Project* const self = project_.get();
    self->controller_ = std::make_unique<PipelineController>(
        ControllerSetup{.store = *self->tasks_,
                        .task_workspaces = *self->task_workspaces_,
                        .escalations = *self->escalations_,
                        .services = *self->services_,
                        .ids = self->ids_,
                        .handler = self->handlers_,
                        .wait = std::chrono::seconds(settings().integer("escalation.wait_seconds")),
                        .command = "agentforge",
                        .present = std::move(present),
                        .deadline_policy = deadline_policy(settings()),
                        .process_due =
                            [group = self->handlers_](const std::string& id, CallContext& context) {
                                for (const Error& problem : group->process_due(id, context, true).problems) {
                                    context.log(LogLevel::warning, problem.to_string(), {});
                                }
                            },
                        .extend =
                            [self](const TaskState& of, const std::string& extend_to) {
                                return extension_of(
                                    of, [self](std::string_view name) { return self->pipelines().get(name); }, extend_to);
                            }});
    return {};
}

}  // namespace agentforge::kernel
