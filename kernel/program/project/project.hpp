// SPDX-License-Identifier: Apache-2.0
// One repository with everything that is configured for it, put together for a command.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "config/agents.hpp"
#include "config/pipelines.hpp"
#include "config/settings.hpp"
#include "contracts/contract.hpp"
#include "cost/prices.hpp"
#include "escalation/store.hpp"
#include "pipeline/controller.hpp"
#include "plugins/host.hpp"
#include "program/log/log.hpp"
#include "program/program.hpp"
#include "program/project/auto_model.hpp"
#include "program/project/handlers.hpp"
#include "program/project/model_settings.hpp"
#include "program/project/network.hpp"
#include "program/project/project_secrets.hpp"
#include "program/project/project_trust.hpp"
#include "sandbox/process.hpp"
#include "servers/definition.hpp"
#include "task/store.hpp"
#include "telemetry/telemetry.hpp"

namespace agentforge::kernel {

/// Everything a command that runs tasks needs. Not movable: its parts point at each other.
class Project {
public:
    /// Reads settings, contracts, agents and pipelines and discovers plugins. For a task: where no model is configured now, with
    /// the one that it was started with (`--transcript`, `--set llm.…`), and so for `cost.prices` and `delivery.type`. A command
    /// line is not taken over from a task: it is the user's to give. Errors: AF-CONF-…, AF-CONT-…, AF-AGENT-…, AF-PIPE-….
    [[nodiscard]] static Result<std::unique_ptr<Project>> open(Program& program, Progress& progress, std::string_view task = {});

    [[nodiscard]] const ProjectPlace& place() const noexcept { return place_; }
    [[nodiscard]] const Settings& settings() const noexcept { return *settings_; }
    [[nodiscard]] const PipelineSet& pipelines() const noexcept { return pipelines_; }
    [[nodiscard]] const AgentSet& agents() const noexcept { return agents_; }
    [[nodiscard]] PluginRegistry& plugins() noexcept { return plugins_; }
    [[nodiscard]] const PluginRegistry& plugins() const noexcept { return plugins_; }
    [[nodiscard]] const ServerSet& servers() const noexcept { return servers_; }
    [[nodiscard]] const TaskServices& services() const noexcept { return *services_; }
    [[nodiscard]] const PriceTable& prices() const noexcept { return prices_; }
    [[nodiscard]] const ProductPaths& product() const noexcept { return product_; }
    /// The helper that starts confined programs, with the gaps that the user's own settings accept. A project's settings cannot
    /// accept any.
    [[nodiscard]] ExecHelper exec_helper() const;
    [[nodiscard]] TaskStore& tasks() noexcept { return *tasks_; }
    [[nodiscard]] EscalationStore& escalations() noexcept { return *escalations_; }
    /// Who tells people, and looks after deadlines and reminders.
    [[nodiscard]] HandlerGroup& handlers() noexcept { return *handlers_; }
    [[nodiscard]] const NetworkRule& network() const noexcept { return network_; }
    [[nodiscard]] PipelineController& controller() noexcept { return *controller_; }
    [[nodiscard]] const GitTaskWorkspaceOptions& task_workspace_options() const noexcept { return task_workspace_options_; }
    [[nodiscard]] ProcessRunner& processes() noexcept { return *processes_; }
    [[nodiscard]] IdSource& ids() noexcept { return ids_; }
    /// The log and whoever shows the run.
    [[nodiscard]] RecordObserver& shown() noexcept { return *log_; }

    /// Whether what the project's own files want to run may run: plugins, servers, commands. What else asks (`.mcp.json`) asks
    /// here.
    [[nodiscard]] const ProjectTrust& trust() const noexcept { return trust_; }

    /// What is hidden from the model, the journal and the log.
    [[nodiscard]] const ProjectSecrets& secrets() const noexcept { return secrets_; }

    /// The model that a role talks to; one that works offline (a transcript) is checked first.
    /// Errors (`unavailable`): AF-LLM-001 none is configured (says how), AF-LLM-2xx of the transcript; AF-PLUG-….
    [[nodiscard]] Result<ModelClient*> model(const AgentDefinition& agent);
    /// The name of the model that is configured for a role; empty: the backend's own default.
    [[nodiscard]] std::string model_name(const AgentDefinition& agent) const;
    /// Whether a limit on cost can be kept with the model of this role. Errors: AF-COST-014 where its price is unknown and its
    /// backend does not say what a call has cost.
    [[nodiscard]] Result<void> check_price(const AgentDefinition& agent);
    /// A backend plugin with its settings from `llm:`, or those of a role; `auto` is the first that is reachable. Errors as
    /// above; AF-LLM-002 none is, AF-LLM-003 `network`.
    [[nodiscard]] Result<std::shared_ptr<LLMBackendV2>> backend(const std::string& name, const std::string& model_name,
                                                                const std::string& role = "");

    /// One way to a model and what came of trying it: what it says, or why not.
    struct Reached {
        ModelCandidate candidate;
        Result<std::string> answer;
    };
    /// Tries what `llm.backend: auto` chooses from, in its order; until one is reachable where `first_only`. Waits 10 s for each
    /// at most. Errors: AF-LLM-002.
    [[nodiscard]] Result<std::vector<Reached>> reach_models(const ModelSettings& settings, bool first_only);
    /// A path of the settings, from the folder that the command is given in.
    [[nodiscard]] std::string from_here(const std::string& path) const;
    /// The settings in force, with paths that mean the same wherever the task is resumed from, as its file will hold them.
    [[nodiscard]] json::object settings_for_task() const;
    /// Marks a task's settings as written by this program in this checkout (seal_settings). Errors: AF-CLI-003, AF-SEC-006.
    [[nodiscard]] Result<void> seal(json::object& configuration);
    /// Id, version, hash and kind of each plugin that this pipeline uses: its stages, its roles' tools and models, the handlers.
    /// Those that cannot be found out are left out: the stage that needs them says so.
    [[nodiscard]] json::array plugins_of(const PipelineTemplate& pipeline);
    /// Whether the role's backend works in the workspace itself (`llm.mode`).
    [[nodiscard]] bool agentic(const std::string& role) const;

    /// Waits up to two seconds for a collector of telemetry to take what is left.
    ~Project();
    Project(const Project&) = delete;
    Project& operator=(const Project&) = delete;

private:
    explicit Project(Program& program) : program_(program) {}

    /// Telemetry where the environment names a collector; what stands against it is said, and the command goes on.
    void open_telemetry();

    /// From now on errors go to the log, too.
    void log_errors(Program& program);
    /// The settings of a role's model. Errors: AF-PLUG-043 without those that are left out for want of trust its calls would go
    /// elsewhere.
    [[nodiscard]] Result<ModelSettings> asked_model(const std::string& role) const;
    /// The settings that a backend plugin is made with.
    [[nodiscard]] Result<json::object> backend_config(const std::string& name, const std::string& model_name,
                                                      const ModelSettings& chosen, const std::string& role) const;
    /// Decides about the network before any code of the backend runs.
    [[nodiscard]] Result<std::shared_ptr<LLMBackendV2>> make_backend(const std::string& name, const json::object& config);
    /// `auto` replaced by what it stands for; decided once.
    [[nodiscard]] Result<ModelSettings> settled(ModelSettings chosen);

    Program& program_;
    ProjectPlace place_;
    ProductPaths product_;
    std::unique_ptr<Settings> settings_;
    ProjectTrust trust_;
    NetworkRule network_;
    std::vector<std::pair<ModelSettings, ModelSettings>> settled_;  ///< What `auto` became.
    std::unique_ptr<Telemetry> telemetry_;                          ///< Null: no collector is named.
    std::unique_ptr<Log> log_;
    std::shared_ptr<Project*> here_;  ///< Gone with this object: what outlives it looks here.
    ProjectSecrets secrets_;
    std::unique_ptr<EventSink> events_;  ///< To the log, without secrets.
    ContractSet contracts_;
    AgentSet agents_;
    PipelineSet pipelines_;
    PluginRegistry plugins_;
    ServerSet servers_;
    PriceTable prices_;
    SystemClock clock_;
    SystemIdSource ids_;
    std::unique_ptr<ProcessRunner> processes_;
    GitTaskWorkspaceOptions task_workspace_options_;
    std::unique_ptr<TaskWorkspaceFactory> task_workspaces_;
    std::unique_ptr<TaskStore> tasks_;
    std::unique_ptr<EscalationStore> escalations_;
    std::unique_ptr<TaskServices> services_;
    std::shared_ptr<HandlerGroup> handlers_;
    std::unique_ptr<PipelineController> controller_;
    std::map<std::string, std::unique_ptr<ModelClient>> models_;       ///< By backend and all its settings.
    std::map<std::string, std::shared_ptr<CircuitBreaker>> breakers_;  ///< By backend and address.
    std::map<std::string, std::shared_ptr<Recording>> recordings_;     ///< By file.
};

/// The shipped prices with the user's own (`cost.prices`, relative to the project's root) over them. Errors: AF-COST-001.
[[nodiscard]] Result<PriceTable> load_prices(const ProjectPlace& place, const ProductPaths& product, const Settings& settings);
/// How tasks deliver. Errors, with file, line and column: AF-GIT-045, AF-GIT-046.
[[nodiscard]] Result<DeliverySettings> load_delivery(const Settings& settings);
/// The limits of the settings. Errors, with file, line and column: AF-COST-002, AF-COST-003.
[[nodiscard]] Result<TaskLimits> load_limits(const Settings& settings, const PipelineSet& pipelines);

/// Asks a backend whether it would work; waits 10 s at most.
[[nodiscard]] Result<std::string> check_backend(const std::shared_ptr<LLMBackend>& backend, Program& program);

/// One line each: how to use a real model. Shown wherever none is configured or a transcript answers.
[[nodiscard]] std::string model_help();

/// Makes `.agentforge` with a `.gitignore`. `shared`: the one for a project that commits its configuration; otherwise all of it
/// stays out of git's sight. An existing file is left as it is.
[[nodiscard]] Result<void> prepare_project_folder(const ProjectPlace& place, bool shared);
/// Takes back what `prepare_project_folder(place, false)` made, where nothing has come into it since.
void remove_empty_project_folder(const ProjectPlace& place);

}  // namespace agentforge::kernel
