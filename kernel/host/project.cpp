// SPDX-License-Identifier: Apache-2.0
#include "host/project.hpp"

#include <algorithm>
#include <ctime>

#include "base/files.hpp"
#include "git/repository.hpp"
#include "plugins/bounded.hpp"
#include "host/display.hpp"

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
    [[nodiscard]] bool cancelled() const noexcept override { return false; }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return start_ + std::chrono::seconds(10); }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return std::chrono::system_clock::now(); }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Tool servers of the settings and of `.mcp.json`.
ServerSet declared_servers(const Settings& settings, const ProjectPlace& place, const ProjectTrust& trust, const std::map<std::string, std::string>& environment) {
    ServerSources sources;
    sources.settings = settings.section("mcp_servers");
    sources.where = [&settings](const std::string& name) {
        for (const char* field : {"command", "timeout_seconds", "enabled"}) {
            std::string segment;
            for (const char c : name) { segment += c == '.' ? "%2E" : c == '%' ? "%25" : std::string(1, c); }
            if (const auto origin = settings.origin("mcp_servers." + segment + "." + field)) { return origin->where; }
        }
        return "mcp_servers." + name;
    };
    sources.mcp_json = (place.root / ".mcp.json").string();
    sources.environment = environment;
    sources.trusted = trust.allowed();
    // The network is the user's to give, not the repository's.
    const auto origin = settings.origin("servers.allow_network");
    sources.network_allowed = settings.boolean("servers.allow_network") && origin && origin->layer != "project";
    ServerSet set = read_servers(sources);
    if (trust.allowed()) { return set; }
    // What the project's settings say of servers was left out: whoever asks for one of these reads why.
    for (const GuardedSetting& setting : trust.settings) {
        if (!setting.key.starts_with("mcp_servers.")) { continue; }
        const std::string name = setting.key.substr(12, setting.key.find('.', 12) - 12);
        set.refused.emplace(tool_prefix(name), not_trusted(name, setting.where));
    }
    return set;
}

constexpr std::string_view private_ignore = "# Made by `agentforge start`. Run `agentforge init` to share settings, agents and contracts through git.\n*\n";
constexpr std::string_view shared_ignore =
    "# Made by `agentforge init`. Configuration is committed; what tasks leave behind is not.\n"
    "/tasks/\n/escalations/\n/violations/\n/audit/\n/logs/\n";

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

Result<std::unique_ptr<Project>> Project::open(Program& program, EventSink& events) {
    std::unique_ptr<Project> project(new Project(program));
    AF_TRY(project->place_, ProjectPlace::find(program));
    AF_TRY(project->product_, ProductPaths::find());
    const std::string config = project->product_.config;
    const std::filesystem::path own = project->place_.agentforge;

    AF_TRY(TrustedSettings trusted, load_settings(program, project->place_, project->product_));
    project->settings_ = std::move(trusted.settings);
    project->trust_ = std::move(trusted.trust);
    if (!project->trust_.allowed()) { program.err << "agentforge: " << project->trust_.refusal().to_string() << "\n"; }
    for (const std::string& name : project->settings_->unknown_environment()) {
        program.err << "agentforge: the environment variable " << name << " sets nothing (unknown name)\n";
    }

    Log::Options log;
    log.level = project->settings_->text("log.level");
    log.file = project->settings_->text("log.file");
    if (log.file.empty()) {
        log.file = (own / "logs" / "agentforge.log").string();
    } else if (!std::filesystem::path(log.file).is_absolute()) {
        log.file = (project->place_.root / log.file).string();
    }
    AF_TRY(project->log_, Log::open(log, events));

    AF_TRY(project->contracts_, ContractSet::load({config + "/contracts", (own / "contracts").string()}));
    AF_TRY(project->agents_, AgentSet::load(config + "/agents", (own / "agents").string(), project->contracts_));
    AF_TRY(project->pipelines_, PipelineSet::load(config + "/pipelines", (own / "pipelines").string(),
                                                  (own / "orchestration" / "pipeline.yaml").string(), project->contracts_));

    project->plugins_ = PluginRegistry::discover(plugin_search(program, project->place_, project->product_, *project->settings_, project->trust_));
    for (const Error& problem : project->plugins_.problems()) { program.err << "agentforge: " << printable_lines(problem.to_string()) << "\n"; }
    AF_CHECK(check_plugin_settings(project->plugins_, *project->settings_));

    project->servers_ = declared_servers(*project->settings_, project->place_, project->trust_, program.environment);
    for (const Error& problem : project->servers_.problems) { program.err << "agentforge: " << printable_lines(problem.to_string()) << "\n"; }

    project->processes_ = make_process_runner(project->product_.exec_helper);
    AF_TRY(const std::string state, state_directory(program.environment));
    GitWorkshopOptions workshops;
    workshops.repository = project->place_.root.string();
    workshops.state_directory = state;
    workshops.gates.languages_directory = config + "/languages";
    workshops.gates.conformance_directories = {config + "/conformance", (own / "conformance").string()};
    workshops.gates.environment = program.environment;
    workshops.gates.settings = project->settings_->section("gates");
    workshops.gates.settings.erase("language");
    workshops.gates.language = project->settings_->text("gates.language");
    project->workshops_ = make_git_workshops(std::move(workshops), *project->processes_);

    project->tasks_ = std::make_unique<TaskStore>(own);
    project->escalations_ = std::make_unique<EscalationStore>(own);
    Project* const self = project.get();
    project->services_ = std::make_unique<TaskServices>(TaskServices{
        .plugins = project->plugins_,
        .contracts = project->contracts_,
        .agents = project->agents_,
        .events = *project->log_,
        .cancel = *program.cancel,
        .clock = project->clock_,
        .model = [self](const AgentDefinition& agent) { return self->model(agent); },
        .budget = {},
        .max_output_tokens = static_cast<std::uint64_t>(project->settings_->integer("llm.max_output_tokens")),
        .environment = program.environment,
        .servers = &project->servers_,
        .exec_helper = project->product_.exec_helper,
        .model_limit = std::chrono::seconds(project->settings_->integer("llm.timeout_seconds")),
        .agentic = [self](const AgentDefinition& agent) { return self->agentic(agent.role); }});

    std::shared_ptr<EscalationHandler> handler;
    AF_TRY(handler, project->plugins_.escalation(project->settings_->text("escalation.handler")));
    project->controller_ = std::make_unique<PipelineController>(
        ControllerSetup{.store = *project->tasks_,
                        .workshops = *project->workshops_,
                        .escalations = *project->escalations_,
                        .services = *project->services_,
                        .ids = project->ids_,
                        .handler = std::move(handler),
                        .wait = std::chrono::seconds(project->settings_->integer("escalation.wait_seconds")),
                        .command = "agentforge"});
    return project;
}

Result<std::unique_ptr<Project>> Project::open_for_task(Program& program, EventSink& events, std::string_view task) {
    AF_TRY(std::unique_ptr<Project> project, open(program, events));
    if (!project->settings().text("llm.backend").empty()) { return project; }
    const auto id = project->tasks().resolve(task);
    if (!id.ok()) { return project; }       // The command says so.
    AF_TRY(const json::object started, project->tasks().load(*id));
    const json::value* configuration = started.if_contains("configuration");
    const json::value* llm = configuration != nullptr && configuration->is_object() ? configuration->get_object().if_contains("llm") : nullptr;
    if (llm == nullptr || !llm->is_object()) { return project; }
    bool found = false;
    for (const char* key : {"backend", "model", "preset", "mode", "transcript", "base_url", "api_key_env"}) {
        const json::value* value = llm->get_object().if_contains(key);
        if (value == nullptr || !value->is_string() || value->get_string().empty()) { continue; }
        program.settings.emplace_back(std::string("llm.") + key, std::string(value->get_string()));
        found = true;
    }
    return found ? open(program, events) : std::move(project);
}

Result<std::string> check_backend(const std::shared_ptr<LLMBackend>& backend, Program& program) {
    const auto answer = std::make_shared<std::optional<Result<std::string>>>();
    const auto watch = std::make_shared<CallWatch>();
    const auto context = std::make_shared<CheckContext>();
    const bool returned = run_bounded([answer, backend, context] { *answer = backend->check(*context); }, watch,
                                      [&] { return std::chrono::steady_clock::now() >= *context->deadline() + std::chrono::seconds(5); });
    if (returned) { return std::move(**answer); }
    program.leave_at_once = true;
    return Error{"AF-LLM-107", "the model backend did not return by its deadline of 10 s and was given up" + watch->culprit(), backend->info().name,
                 "choose another backend, or mend the plugin: it must watch deadline()", ErrorKind::timeout};
}

Result<std::shared_ptr<LLMBackend>> Project::backend(const std::string& name, const std::string& model_name, bool agentic) {
    if (name.empty()) {
        return Error{"AF-LLM-001", "no model is configured", "llm.backend", "choose one:\n" + model_help(), ErrorKind::unavailable};
    }
    json::object config = settings_->section("llm.settings");
    const auto path_setting = [&](const std::string& key) {
        const std::string path = settings_->text(key);
        return path.empty() || std::filesystem::path(path).is_absolute() ? path : (program_.directory / path).string();
    };
    if (name == "replay") {
        config["transcript"] = path_setting("llm.transcript");
        config["match"] = settings_->text("llm.replay.match");
    } else if (name == "cli") {
        const auto withheld = [&](const GuardedSetting& setting) { return setting.key.starts_with("llm.command") || setting.key.starts_with("llm.settings"); };
        if (!trust_.allowed() && settings_->text("llm.command").empty() && settings_->text("llm.preset").empty() &&
            std::ranges::any_of(trust_.settings, withheld)) {
            return trust_.refusal();
        }
        if (const std::string preset = settings_->text("llm.preset"); !preset.empty()) { config["preset"] = preset; }
        json::array command;
        for (const std::string& word : settings_->list("llm.command")) { command.emplace_back(word); }
        if (!command.empty()) { config["command"] = std::move(command); }
        config["timeout_seconds"] = settings_->integer("llm.timeout_seconds");
    } else if (name == "anthropic" || name == "openai") {
        if (const std::string base_url = settings_->text("llm.base_url"); !base_url.empty()) { config["base_url"] = base_url; }
        if (const std::string variable = settings_->text("llm.api_key_env"); !variable.empty()) { config["api_key_env"] = variable; }
        if (!config.contains("timeout_seconds")) { config["timeout_seconds"] = settings_->integer("llm.timeout_seconds"); }
    }
    if (name != "replay" && !model_name.empty()) { config["model"] = model_name; }
    if (agentic) {
        if (name == "replay" || name == "anthropic" || name == "openai") {
            return Error{"AF-LLM-313", "the backend `" + name + "` has no agentic mode: it answers, and works in no folder", "llm.mode",
                         "Set `llm.mode: plain`, or `llm.backend: cli`.", ErrorKind::unavailable};
        }
        config["mode"] = "agentic";
    }
    return plugins_.backend(name, config);
}

bool Project::agentic(const std::string& role) const {
    const auto setting = [&](const std::string& key) {
        const std::string own = settings_->text("agents." + role + ".llm." + key);
        return own.empty() ? settings_->text("llm." + key) : own;
    };
    return setting("mode") == "agentic";
}

Result<ModelClient*> Project::model(const AgentDefinition& agent) {
    const auto setting = [&](const std::string& key) {
        const std::string own = settings_->text("agents." + agent.role + ".llm." + key);
        return own.empty() ? settings_->text("llm." + key) : own;
    };
    const std::string name = setting("backend");
    const std::string model_name = setting("model");
    const bool works = agentic(agent.role);
    if (works && !settings_->text("llm.record").empty()) {
        return Error{"AF-LLM-313", "role `" + agent.role + "` works agentically, and that cannot be recorded: what a command does to the files is not in its answer", "llm.record",
                     "Leave llm.record unset, or set `llm.mode: plain`.", ErrorKind::unavailable};
    }
    const std::string key = name + "\n" + model_name + (works ? "\nagentic" : "");
    if (const auto known = models_.find(key); known != models_.end()) { return known->second.get(); }
    AF_TRY(std::shared_ptr<LLMBackend> plugin, backend(name, model_name, works));
    if (plugin->info().offline) {
        if (const auto answer = check_backend(plugin, program_); !answer.ok()) {
            Error error = answer.error();
            error.kind = ErrorKind::unavailable;    // No stage can do anything about it: the task waits for the user.
            return error;
        }
    }
    CancelToken* const cancel = program_.cancel;
    auto client = make_model_client(std::move(plugin), RetryPolicy{}, [cancel](std::chrono::milliseconds time) { wait_interruptibly(*cancel, time); });
    if (const std::string record = settings_->text("llm.record"); !record.empty()) {
        const std::filesystem::path file = std::filesystem::path(record).is_absolute() ? std::filesystem::path(record) : program_.directory / record;
        client = make_recorder(std::move(client), file.string());
    }
    ModelClient* const made = client.get();
    models_.emplace(key, std::move(client));
    return made;
}

}  // namespace agentforge::kernel
