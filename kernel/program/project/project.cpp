// SPDX-License-Identifier: Apache-2.0
#include "program/project/project.hpp"

#include <algorithm>
#include <ctime>
#include <random>

#include "backends/redacting_client.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/settings_schema.hpp"
#include "git/detected_repository.hpp"
#include "git/repository.hpp"
#include "pipeline/garbage.hpp"
#include "pipeline/guarded_call.hpp"
#include "pipeline/task_workspace_factory.hpp"
#include "program/commands/iteration.hpp"
#include "program/project/known_repositories.hpp"
#include "program/project/preflight.hpp"
#include "program/project/task_preflight.hpp"
#include "program/project/task_seal.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

void wait_interruptibly(const CancelToken& cancel, std::chrono::milliseconds time) {
    constexpr std::chrono::milliseconds slice{50};
    for (; time.count() > 0 && !cancel.requested(); time -= slice) {
        const auto part = std::min(time, slice);
        timespec request{0, static_cast<long>(part.count()) * 1'000'000L};
        nanosleep(&request, nullptr);
    }
}

class CheckContext final : public CallContext {
public:
    explicit CheckContext(bool cancelled = false) : cancelled_(cancelled) {}
    [[nodiscard]] bool cancelled() const noexcept override { return cancelled_; }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        return start_ + std::chrono::seconds(10);
    }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return std::chrono::system_clock::now(); }

private:
    bool cancelled_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Runs Python's checks in the project's virtual environment, unless a setting names an interpreter.
void use_python_environment(json::object& gates, const ProjectPlace& place) {
    gates.emplace("programs", json::object());
    gates.emplace("readable", json::array());
    json::value& programs = gates.at("programs");
    json::value& readable = gates.at("readable");
    if (!programs.is_object() || !readable.is_array() || programs.get_object().contains("python3")) { return; }
    const auto python = python_environment(place.root);
    if (!python) { return; }
    programs.get_object()["python3"] = python->interpreter;
    for (const std::string& folder : python->folders) { readable.get_array().emplace_back(folder); }
}

/// Lets the checks of JavaScript read the packages that are installed in the checkout but not committed.
void use_node_packages(json::object& gates, const ProjectPlace& place) {
    json::value& readable = gates.at("readable");
    const auto folder = node_packages(place.root);
    if (folder && readable.is_array()) { readable.get_array().emplace_back(*folder); }
}

/// Returns the section `gates:`. Programs with a `/` and folders are relative to the project's root.
json::object gate_settings(const Settings& settings, const ProjectPlace& place) {
    json::object gates = settings.section("gates");
    const auto absolute = [&](json::value& path) {
        if (!path.is_string() || path.get_string().empty() || path.get_string().starts_with('/')) { return; }
        std::string whole = (place.root / std::string(path.get_string())).lexically_normal().string();
        while (whole.size() > 1 && whole.ends_with('/')) { whole.pop_back(); }
        path = whole;
    };
    if (json::value* folders = gates.if_contains("readable"); folders != nullptr && folders->is_array()) {
        for (json::value& folder : folders->get_array()) { absolute(folder); }
    }
    if (json::value* programs = gates.if_contains("programs"); programs != nullptr && programs->is_object()) {
        for (auto& program : programs->get_object()) {
            if (program.value().is_string() && program.value().get_string().find('/') != json::string::npos) {
                absolute(program.value());
            }
        }
    }
    use_python_environment(gates, place);
    use_node_packages(gates, place);
    return gates;
}

/// Returns the tool servers of the settings and of `.mcp.json`.
ServerSet declared_servers(const Settings& settings, const ProjectPlace& place, const ProjectTrust& trust,
                           const NetworkRule& network, const std::map<std::string, std::string>& environment) {
    ServerSources sources;
    sources.settings = settings.section("mcp_servers");
    sources.where = [&settings](const std::string& name) {
        for (const char* field : {"command", "timeout_seconds", "enabled"}) {
            if (const auto origin = settings.origin(join_key({"mcp_servers", name, field}))) { return origin->where; }
        }
        return "mcp_servers." + name;
    };
    sources.mcp_json = (place.root / ".mcp.json").string();
    sources.environment = environment;
    sources.trusted = trust.allowed();
    sources.network_allowed = network.network == ModelNetwork::any && settings.boolean("servers.allow_network");
    ServerSet set = read_servers(sources);
    if (trust.allowed()) { return set; }
    // If the project's server settings are left out, asking for one of these servers gives the reason.
    for (const GuardedSetting& setting : trust.settings) {
        if (!setting.key.starts_with("mcp_servers.")) { continue; }
        const std::string name = setting.key.substr(12, setting.key.find('.', 12) - 12);
        set.refused.emplace(tool_prefix(name), not_trusted(name, setting.where));
    }
    return set;
}

Log::Options log_options(const Program& program, const ProjectPlace& place, const Settings& settings) {
    Log::Options log;
    log.level = settings.text("log.level");
    const json::object section = settings.section("log");
    if (const json::value* levels = section.if_contains("levels"); levels != nullptr && levels->is_object()) {
        for (const auto& [component, level] : levels->get_object()) {
            if (level.is_string()) { log.levels[std::string(component)] = std::string(level.get_string()); }
        }
    }
    log.format = settings.text("log.format");
    log.max_file_bytes = static_cast<std::uint64_t>(settings.integer("log.max_file_bytes"));
    log.kept_files = static_cast<unsigned>(settings.integer("log.kept_files"));
    log.command = program.command_name;
    log.version = AGENTFORGE_VERSION;
    log.file = settings.text("log.file");
    if (log.file.empty()) {
        log.file = (place.agentforge / "logs" / "agentforge.log").string();
        log.follow_links = false;  // Links in a repository must not decide where the log is written.
    } else if (!std::filesystem::path(log.file).is_absolute()) {
        log.file = (place.root / log.file).string();
    }
    return log;
}

json::object inside(const json::object& of, std::string_view name) {
    const json::value* value = of.if_contains(name);
    return value != nullptr && value->is_object() ? value->get_object() : json::object();
}

/// Returns the settings that a task was started with. Empty if there is no such task or no task.yaml; the command reports that.
/// Errors: those of its task.yaml.
Result<json::object> settings_of_task(const TaskStore& tasks, std::string_view task) {
    const auto id = tasks.resolve(task);
    std::error_code error;
    if (!id.ok() || !std::filesystem::exists(tasks.paths(*id).task(), error)) { return json::object(); }
    AF_TRY(const json::object started, tasks.load(*id));
    return inside(started, "configuration");
}

/// Returns the task's original settings that the current settings lack: its model, its prices, its delivery.
std::vector<std::pair<std::string, std::string>> brought_by_task(const Settings& settings, const json::object& started) {
    std::vector<std::pair<std::string, std::string>> brought;
    // A flag or a variable of this command is newer than the task.
    const auto take = [&](const json::object& of, const std::string& prefix, const char* key) {
        const std::string value = text_of(of, key);
        const auto given = settings.origin(prefix + key);
        if (given && (given->layer == "flag" || given->layer == "environment")) { return; }
        if (!value.empty() && value != settings.text(prefix + key)) { brought.emplace_back(prefix + key, value); }
    };
    const auto take_model = [&](const json::object& of, const std::string& prefix) {
        for (const char* key : {"backend", "model", "preset", "mode", "transcript", "base_url", "api_key_env"}) {
            take(inside(of, "llm"), prefix + "llm.", key);
        }
    };
    if (settings.text("llm.backend").empty()) {
        take_model(started, "");
        const json::object roles = inside(started, "agents");
        for (const auto& [role, own] : roles) {
            take_model(inside(roles, role), "agents." + join_key({std::string(role)}) + ".");
        }
    }
    if (settings.text("cost.prices").empty()) { take(inside(started, "cost"), "cost.", "prices"); }
    const auto type = settings.origin("delivery.type");
    if (!type || type->layer == "built-in") {
        for (const char* key : {"type", "remote"}) { take(inside(started, "delivery"), "delivery.", key); }
    }
    return brought;
}

/// Returns the first of these settings that a project may not set without trust, if the task was not written by the user's own
/// `agentforge`.
std::optional<std::string> guarded_key(const Settings& settings,
                                       const std::vector<std::pair<std::string, std::string>>& brought) {
    for (const auto& [key, value] : brought) {
        std::vector<std::string> segments = split_key(key);
        if (segments.front() == "agents") { segments[1] = "*"; }
        const std::string name = join_key(segments);
        const bool is_free = std::ranges::any_of(settings.known(), [&](const json::value& known) {
            return known.at("key").as_string() == name && known.at("project").as_string() == "free";
        });
        if (!is_free) { return key; }
    }
    return std::nullopt;
}

/// Errors: AF-PLUG-044.
Result<void> check_brought(const Program& program, const ProjectPlace& place, const TrustedSettings& trusted, IdSource& ids,
                           const json::object& started, const std::vector<std::pair<std::string, std::string>>& brought) {
    const auto key = guarded_key(*trusted.settings, brought);
    if (!key || trusted.trust.for_this_run) { return {}; }
    AF_TRY(const std::string state, state_directory(program.environment));
    AF_TRY(const bool own, are_sealed(state, ids, place.root.string(), started));
    if (own) { return {}; }
    const std::string name = printable(*key, 120);
    return Error{
        "AF-PLUG-044",
        "the task's file says " + name +
            ", but your own agentforge did not write it in this checkout; so AgentForge ignores it, and without it the task would do something else",
        "task.yaml", "Set it yourself with --set " + name + "=…; or check the file and allow all of it for this run with --trust",
        ErrorKind::denied};
}

/// A file in the project must not decide which of the user's files are written. So a recording continues only if it is requested
/// again.
void warn_of_ended_recording(Program& program, const Settings& settings, const json::object& started) {
    const std::string file = printable(text_of(inside(started, "llm"), "record"), 300);
    if (file.empty() || !settings.text("llm.record").empty()) { return; }
    program.err << "agentforge: earlier answers of the model were recorded to " << file
                << ", but this run's are not; --set llm.record=" << file << " records them, too\n";
}

constexpr std::string_view private_ignore =
    "# Made by `agentforge start`. Run `agentforge init` to share settings, agents and contracts through git.\n*\n";
constexpr std::string_view shared_ignore =
    "# Made by `agentforge init`. Configuration is committed; what tasks leave behind is not.\n"
    "/tasks/\n/escalations/\n/violations/\n/audit/\n/logs/\n/cache/\n";

}  // namespace

std::string model_help() {
    return "  Claude Code:       agentforge start --set llm.backend=cli --set llm.preset=claude \"…\"   (the `claude` command, logged in)\n"
           "  Anthropic key:     agentforge start --backend anthropic --model MODEL \"…\"   (with ANTHROPIC_API_KEY set)\n"
           "  OpenAI key:        agentforge start --backend openai --model MODEL \"…\"   (with OPENAI_API_KEY set)\n"
           "  OpenAI-compatible: the same with --set llm.base_url=http://HOST:PORT/v1, and --set llm.api_key_env=NAME if it wants a key\n"
           "  Ollama:            agentforge start --backend openai --set llm.base_url=http://localhost:11434/v1 --model MODEL \"…\"\n"
           "  For good:          put the same keys under `llm:` in .agentforge/config/settings.yaml\n";
}

Result<void> prepare_project_folder(const ProjectPlace& place, bool shared) {
    AF_CHECK(make_directories(place.agentforge));
    const std::filesystem::path ignore = place.agentforge / ".gitignore";
    if (!shared) {
        auto made = create_file_exclusive(ignore, private_ignore, Durability::cached);
        if (!made.ok() && made.error().kind != ErrorKind::conflict) { return made; }
        return {};
    }
    const auto present = read_file(ignore);
    if (present.ok() && *present != private_ignore) { return {}; }
    return write_file_atomic(ignore, shared_ignore, Durability::synced);
}

void remove_empty_project_folder(const ProjectPlace& place) {
    const std::filesystem::path ignore = place.agentforge / ".gitignore";
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(place.agentforge, error)) {
        if (entry.path() != ignore) { return; }
    }
    if (const auto text = read_file(ignore); !text.ok() || *text != private_ignore) { return; }
    std::filesystem::remove(ignore, error);
    std::filesystem::remove(place.agentforge, error);
}

Result<PriceTable> load_prices(const ProjectPlace& place, const ProductPaths& product, const Settings& settings) {
    std::filesystem::path own = settings.text("cost.prices");
    if (own.empty()) { return PriceTable::load(product.config + "/prices.yaml"); }
    const auto origin = settings.origin("cost.prices");
    if (!own.is_absolute()) { own = place.root / own; }
    return PriceTable::load(product.config + "/prices.yaml", own.string(), origin ? origin->where : "cost.prices");
}

Result<DeliverySettings> load_delivery(const Settings& settings) {
    return read_delivery_settings(settings.section("delivery"), [&settings](const std::string& key) {
        const auto origin = settings.origin(key);
        return origin ? origin->where : key;
    });
}

Result<TaskLimits> load_limits(const Settings& settings, const PipelineSet& pipelines) {
    const auto where = [&settings](const std::string& key) {
        const auto origin = settings.origin(key);
        return origin ? origin->where : key;
    };
    AF_TRY(TaskLimits limits, read_limits(settings.section("limits"), where));
    std::vector<std::string> stages;
    for (const std::string& name : pipelines.names()) {
        AF_TRY(const PipelineTemplate pipeline, pipelines.get(name));
        for (const StageTemplate& stage : pipeline.stages) { stages.push_back(stage.name); }
    }
    for (const auto& [name, stage] : limits.stages) {
        if (std::ranges::find(stages, name) != stages.end()) { continue; }
        std::string place;
        for (const char* key : {"max_cost_usd", "max_tokens", "max_steps", "max_wall_time"}) {
            const std::string whole = "limits.stages." + name + "." + key;
            if (place.empty() && settings.origin(whole)) { place = where(whole); }
        }
        const std::string near = nearest(name, stages);
        return Error{"AF-COST-003", "limits.stages names `" + printable(name, 60) + "`, and no pipeline has a stage of that name",
                     place, near.empty() ? "Name a stage of one of the pipelines." : "Did you mean `" + near + "`?",
                     ErrorKind::invalid};
    }
    return limits;
}

/// Returns the origin of the first setting below `key`.
std::optional<SettingOrigin> origin_below(const Settings& settings, const std::string& key, const json::value& value) {
    if (!value.is_object()) { return settings.origin(key); }
    for (const auto& [name, inner] : value.get_object()) {
        if (auto origin = origin_below(settings, key + "." + join_key({std::string(name)}), inner)) { return origin; }
    }
    return settings.origin(key);
}

/// Checks that each `agents.<role>` exists. Skips the user's own file: it is for all projects, and some have further roles.
Result<void> check_roles_of_settings(const Settings& settings, const AgentSet& agents) {
    const std::vector<std::string> roles = agents.roles();
    for (const auto& [name, own] : settings.section("agents")) {
        const std::string role(name);
        if (std::ranges::find(roles, role) != roles.end()) { continue; }
        const auto origin = origin_below(settings, "agents." + join_key({role}), own);
        if (!origin || origin->layer == "user" || origin->layer == "built-in") { continue; }
        const std::string near = nearest(role, roles);
        return Error{"AF-CONF-081", "the settings name the agent `" + printable(role, 60) + "`, which does not exist",
                     origin->where, near.empty() ? "`agentforge agents list` shows them." : "Did you mean `" + near + "`?",
                     ErrorKind::invalid};
    }
    return {};
}

TokenBudget token_budget(const Settings& settings) {
    const auto tokens = [&settings](const char* key) { return static_cast<std::size_t>(settings.integer(key)); };
    return {.total = tokens("context.max_tokens"),
            .system_prompt = tokens("context.budget.system_prompt"),
            .task_frame = tokens("context.budget.task_frame"),
            .current_state = tokens("context.budget.current_state"),
            .recent_actions = tokens("context.budget.recent_actions"),
            .verification_status = tokens("context.budget.verification_status"),
            .available_actions = tokens("context.budget.available_actions")};
}

ExecHelper Project::exec_helper() const { return {product_.exec_helper, settings_->list("sandbox.accept")}; }

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
        if (const auto brought = brought_by_task(*trusted.settings, started); !brought.empty()) {
            AF_CHECK(check_brought(program_, project_->place_, trusted, project_->ids_, started, brought));
            AF_TRY(trusted, load_settings(program_, project_->place_, project_->product_, brought));
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

void Project::log_errors(Program& program) {
    here_ = std::make_shared<Project*>(this);
    program.failed = [place = std::weak_ptr<Project*>(here_)](const Error& error) {
        const auto here = place.lock();
        if (!here) { return; }
        const Error redacted = (*here)->secrets_.redactor->redact(error);
        (*here)->log_->note(redacted, (*here)->place_.agentforge.string());
    };
}

Result<std::string> check_backend(const std::shared_ptr<LLMBackend>& backend, Program& program) {
    const auto watch = std::make_shared<CallWatch>();
    const auto context = std::make_shared<CheckContext>();
    auto answer = call_guarded<Result<std::string>>(
        [backend, context] { return backend->check(*context); }, watch,
        [&] { return std::chrono::steady_clock::now() >= *context->deadline() + std::chrono::seconds(5); });
    if (answer) { return std::move(*answer); }
    program.skip_destructors = true;
    return Error{"AF-LLM-107", "the model backend did not return by its deadline of 10 s and was abandoned" + watch->culprit(),
                 backend->info().name, "choose another backend, or fix the plugin: it must watch deadline()", ErrorKind::timeout};
}

std::string Project::from_here(const std::string& path) const {
    if (path.empty() || std::filesystem::path(path).is_absolute()) { return path; }
    std::string whole = (program_.directory / path).lexically_normal().string();
    // Plugins and the journal get JSON, which is UTF-8. If the folder's name is not UTF-8, a path stays relative to it.
    std::error_code error;
    return !is_valid_utf8(whole) && std::filesystem::equivalent(program_.directory, ".", error) ? path : whole;
}

json::object Project::settings_for_task() const {
    json::object all = settings_->all();
    for (const char* key : {"transcript", "record"}) {
        const std::string file = settings_->text(std::string("llm.") + key);
        if (!file.empty()) { all["llm"].as_object()[key] = from_here(file); }
    }
    services_->redactor.redact(all);
    return all;
}

Result<void> Project::seal(json::object& configuration) {
    AF_TRY(const std::string state, state_directory(program_.environment));
    return seal_settings(state, ids_, place_.root.string(), configuration);
}

Result<ModelSettings> Project::asked_model(const std::string& role) const {
    ModelSettings asked = read_model_settings(*settings_, role);
    const GuardedSetting* missed = missed_by_model(*settings_, trust_.left_out(), role);
    const PluginManifest* const plugin = plugins_.owner(PluginKind::llm, asked.backend);
    if (missed == nullptr && plugin != nullptr) {
        missed = missed_by_plugin(*settings_, trust_.left_out(), asked.backend, plugin->id);
    }
    if (missed != nullptr) { return required_setting_error(*missed); }
    return asked;
}

Result<json::object> Project::backend_config(const std::string& name, const std::string& model_name, const ModelSettings& chosen,
                                             const std::string& role) const {
    json::object config = chosen.settings;
    if (name == "replay") {
        const std::string transcript = from_here(chosen.transcript);
        if (!is_valid_utf8(transcript)) {
            return Error{"AF-LLM-004", "the path of the transcript is not UTF-8", "llm.transcript",
                         "Run the command in the folder itself, without -C, or move the transcript.", ErrorKind::unavailable};
        }
        config["transcript"] = transcript;
        config["match"] = chosen.replay_match;
        if (!role.empty()) { config["role"] = role; }
    } else if (name == "cli") {
        if (!chosen.preset.empty()) { config["preset"] = chosen.preset; }
        json::array command;
        for (const std::string& word : chosen.command) { command.emplace_back(word); }
        if (!command.empty()) { config["command"] = std::move(command); }
        config["timeout_seconds"] = chosen.timeout_seconds;
    } else if (name == "anthropic" || name == "openai") {
        if (!chosen.base_url.empty()) { config["base_url"] = chosen.base_url; }
        if (!chosen.api_key_env.empty()) { config["api_key_env"] = chosen.api_key_env; }
        if (!config.contains("timeout_seconds")) { config["timeout_seconds"] = chosen.timeout_seconds; }
    }
    if (name != "replay" && !model_name.empty()) { config["model"] = model_name; }
    if (chosen.mode == "agentic") {
        if (name == "anthropic" || name == "openai") {
            return Error{"AF-LLM-313",
                         "the backend `" + name + "` has no agentic mode: it only answers and cannot work in a folder",
                         "llm.mode", "Set `llm.mode: plain`, or `llm.backend: cli`.", ErrorKind::unavailable};
        }
        if (name != "replay") { config["mode"] = "agentic"; }  // A recording contains its own mode.
    }
    return config;
}

bool Project::agentic(const std::string& role) const { return read_model_settings(*settings_, role).mode == "agentic"; }

json::array Project::plugins_of(const PipelineTemplate& pipeline) {
    std::map<std::string, const PluginManifest*, std::less<>> used;
    const auto take = [&](PluginKind kind, const std::string& name) {
        if (const PluginManifest* const plugin = plugins_.owner(kind, name)) { used.emplace(plugin->id, plugin); }
    };
    for (const StageTemplate& stage : pipeline.stages) {
        take(PluginKind::stage, stage.executor);
        for (const std::string& role : roles_of(stage)) {
            const auto agent = agents_.get(role);
            if (!agent.ok()) { continue; }
            for (const std::string& tool : agent->allowed_tools) { take(PluginKind::tool, tool); }
            auto asked = asked_model(role);
            if (asked.ok()) { asked = resolve_auto(std::move(*asked)); }
            if (asked.ok()) { take(PluginKind::llm, asked->backend); }
        }
    }
    for (const std::string& name : settings_->list("escalation.handlers")) { take(PluginKind::escalation, name); }
    json::array list;
    for (const auto& [id, plugin] : used) {
        const auto library = plugin->library.empty() ? Result<std::string>(plugin->text)
                                                     : read_file(plugin->directory + "/" + plugin->library, 1ULL << 30U);
        list.push_back(json::object{{"id", id},
                                    {"version", plugin->version},
                                    {"sha256", library.ok() ? json::value(sha256(*library)) : json::value(nullptr)},
                                    {"source", to_string(plugin->source)}});
    }
    return list;
}

Result<std::shared_ptr<LLMBackendV2>> Project::backend(const std::string& name, const std::string& model_name,
                                                       const std::string& role) {
    AF_TRY(ModelSettings chosen, asked_model(role));
    chosen.backend = name;
    chosen.model = model_name;
    AF_TRY(chosen, resolve_auto(std::move(chosen)));
    AF_TRY(const json::object config, backend_config(chosen.backend, chosen.model, chosen, role));
    return make_backend(chosen.backend, config);
}

Result<std::shared_ptr<LLMBackendV2>> Project::make_backend(const std::string& name, const json::object& config) {
    AF_CHECK(check_network(network_, name, config));
    return plugins_.backend(name, config);
}

Result<std::vector<Project::Reached>> Project::reach_models(const ModelSettings& settings, bool first_only) {
    AF_TRY(std::vector<ModelCandidate> candidates, model_candidates(settings, program_.environment));
    std::vector<Reached> reached;
    for (ModelCandidate& candidate : candidates) {
        const auto ask = [&]() -> Result<std::string> {
            if (!candidate.missing.empty()) { return Error{"AF-LLM-002", candidate.missing, "", "", ErrorKind::unavailable}; }
            AF_TRY(const json::object config,
                   backend_config(candidate.settings.backend, candidate.settings.model, candidate.settings, ""));
            AF_TRY(const std::shared_ptr<LLMBackendV2> plugin, make_backend(candidate.settings.backend, config));
            AF_TRY(std::string said, check_backend(plugin, program_));
            if (candidate.needs_model) {
                return Error{"AF-LLM-002", std::move(said), "llm.model", "set llm.model", ErrorKind::unavailable};
            }
            return said;
        };
        Result<std::string> answer = ask();
        const bool found = answer.ok();
        reached.push_back({std::move(candidate), std::move(answer)});
        if ((found && first_only) || program_.skip_destructors) { break; }
    }
    return reached;
}

Result<ModelSettings> Project::resolve_auto(ModelSettings chosen) {
    if (chosen.backend != "auto") { return chosen; }
    for (const auto& [asked, resolved] : resolved_) {
        if (asked == chosen) { return resolved; }
    }
    AF_TRY(const std::vector<Reached> reached, reach_models(chosen, true));
    std::string tried;
    for (const Reached& one : reached) {
        if (!one.answer.ok()) {
            tried += "\n  " + one.candidate.name + ": " + secrets_.redactor->redact(one.answer.error()).message;
            continue;
        }
        const ModelSettings& resolved = one.candidate.settings;
        if (!program_.quiet) {
            program_.err << "agentforge: the model is " << printable(one.candidate.name, 60)
                         << (resolved.model.empty() ? "" : " (" + printable(resolved.model, 100) + ")")
                         << ", found by `llm.backend: auto`\n";
        }
        resolved_.emplace_back(std::move(chosen), resolved);
        return resolved;
    }
    const bool chosen_by_nobody = settings_->text("llm.backend").empty();
    return Error{chosen_by_nobody ? "AF-LLM-001" : "AF-LLM-002",
                 (chosen_by_nobody ? "no model is configured, and none is reachable:"
                                   : "`llm.backend: auto` found no model that is reachable:") +
                     tried,
                 "llm.backend", "set one up, or name a backend:\n" + model_help(), ErrorKind::unavailable};
}

void Project::open_telemetry() {
    std::vector<std::string> unused;
    auto settings = telemetry::read_settings(program_.environment, unused);
    for (const telemetry::Signal signal : {telemetry::Signal::traces, telemetry::Signal::metrics, telemetry::Signal::logs}) {
        if (!settings.ok() || !*settings || !(*settings)->of(signal)) { continue; }
        if (const auto allowed = check_telemetry_network(network_, (*settings)->of(signal)->server.text()); !allowed.ok()) {
            settings = allowed.error();
        }
    }
    if (!settings.ok()) { unused.push_back(settings.error().to_string()); }
    for (const std::string& line : unused) { program_.err << "agentforge: " << printable_lines(line) << "\n"; }
    if (!settings.ok() || !*settings) { return; }
    for (auto& [name, value] : (*settings)->resource) {
        if (value.is_string()) { value = secrets_.redactor->redact(std::string(value.get_string())); }
    }
    const auto names_of = [this](const std::string& role) {
        const ModelSettings model = read_model_settings(*settings_, role);
        return telemetry::ModelNames{model.backend.empty() ? "auto" : model.backend, model.model};
    };
    telemetry_ = std::make_unique<Telemetry>(Telemetry::Options{**settings, AGENTFORGE_VERSION, ids_.random_hex(16), names_of},
                                             telemetry::send_by_http(program_.environment), clock_);
}

Project::~Project() {
    if (!telemetry_) { return; }
    constexpr std::chrono::milliseconds at_most{2'000};
    if (const std::string lost = telemetry_->end(at_most); !lost.empty()) {
        program_.err << "agentforge: " << printable_lines(lost) << "\n";
    }
}

std::string Project::model_name(const AgentDefinition& agent) const {
    const ModelSettings asked = read_model_settings(*settings_, agent.role);
    const auto resolved =
        std::ranges::find(resolved_, asked, [](const auto& pair) -> const ModelSettings& { return pair.first; });
    return resolved == resolved_.end() ? asked.model : resolved->second.model;
}

Result<void> Project::check_price(const AgentDefinition& agent) {
    if (!services_->limits.limits_cost()) { return {}; }
    AF_TRY(ModelSettings asked, asked_model(agent.role));
    AF_TRY(const ModelSettings chosen, resolve_auto(std::move(asked)));
    // These two never report the cost of a call. For others, the first answer shows whether they do.
    if ((chosen.backend != "anthropic" && chosen.backend != "openai") || prices_.find(chosen.model) != nullptr) { return {}; }
    return price_is_unknown(chosen.model);
}

Result<ModelClient*> Project::model(const AgentDefinition& agent) {
    AF_TRY(ModelSettings asked, asked_model(agent.role));
    AF_TRY(const ModelSettings chosen, resolve_auto(std::move(asked)));
    AF_TRY(const json::object config, backend_config(chosen.backend, chosen.model, chosen, agent.role));
    const std::string record = from_here(chosen.record);
    const std::string key = chosen.backend + "\n" + json::serialize(config) + "\n" + record;
    if (const auto known = models_.find(key); known != models_.end()) { return known->second.get(); }
    AF_TRY(std::shared_ptr<LLMBackendV2> plugin, make_backend(chosen.backend, config));
    if (plugin->info().offline) {
        if (const auto answer = check_backend(plugin, program_); !answer.ok()) {
            Error error = answer.error();
            error.kind = ErrorKind::unavailable;  // No stage can fix this, so the task waits for the user.
            return error;
        }
    }
    if (chosen.backend == "anthropic" || chosen.backend == "openai") {
        // A cancelled call checks only what needs no server: the key.
        CheckContext known_here(true);
        const auto answer = plugin->check(known_here);
        if (!answer.ok() && answer.error().code == "AF-LLM-401") { return answer.error(); }
        if (chosen.model.empty() && !config.contains("model")) {
            return Error{"AF-CLI-139", "no model is named for the backend `" + chosen.backend + "`", "llm.model",
                         "Set llm.model, or give --model NAME; `agentforge doctor` says which the server has.",
                         ErrorKind::unavailable};
        }
    }
    CancelToken* const cancel = program_.cancel;
    // One for each server, shared by all models and roles that use it.
    std::shared_ptr<CircuitBreaker>& breaker = breakers_[chosen.backend + "\n" + chosen.base_url];
    if (!breaker) { breaker = std::make_shared<CircuitBreaker>(); }
    RetryPolicy retries;
    retries.random = [source = std::make_shared<std::minstd_rand>(std::random_device()())] {
        return std::generate_canonical<double, 32>(*source);
    };
    auto client = make_model_client(
        std::move(plugin), std::move(retries), [cancel](std::chrono::milliseconds time) { wait_interruptibly(*cancel, time); },
        breaker);
    client = make_redacting_client(std::move(client), *secrets_.redactor);
    if (!record.empty()) {
        std::shared_ptr<Recording>& recording = recordings_[record];
        if (!recording) { recording = make_recording(record); }
        AF_CHECK(open_recording(*recording));
        client = make_recorder(std::move(client), recording);
        // Recorded hashes are those of the sent request.
        client = make_redacting_client(std::move(client), *secrets_.redactor);
    }
    ModelClient* const made = client.get();
    models_.emplace(key, std::move(client));
    return made;
}

}  // namespace agentforge::kernel
