// SPDX-License-Identifier: Apache-2.0
// One repository with its whole configuration, assembled for a command. project_opening.cpp assembles it, project_models.cpp
// finds its models.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "config/agent_set.hpp"
#include "config/pipeline_set.hpp"
#include "config/settings.hpp"
#include "contracts/contract.hpp"
#include "cost/price_table.hpp"
#include "escalation/escalation_store.hpp"
#include "pipeline/pipeline_controller.hpp"
#include "plugins/plugin_registry.hpp"
#include "program/log/log.hpp"
#include "program/program.hpp"
#include "program/project/auto_model.hpp"
#include "program/project/handlers.hpp"
#include "program/project/model_settings.hpp"
#include "program/project/network.hpp"
#include "program/project/project_secrets.hpp"
#include "program/project/project_trust.hpp"
#include "sandbox/process_runner.hpp"
#include "servers/definition.hpp"
#include "task/task_store.hpp"
#include "telemetry/telemetry.hpp"

namespace agentforge::kernel {

/// Everything that a command needs to run tasks. Not movable, because its members refer to each other.
class Project {
public:
    /// Reads settings, contracts, agents and pipelines and discovers plugins. `task`: if no model is configured now, uses the one
    /// that the task was started with (`--transcript`, `--set llm.…`); likewise for `cost.prices` and `delivery.type`. Never
    /// takes a command line from a task: only the user may give one. Archives the ended tasks whose archive is missing or out of
    /// date because their process was killed (find_unarchived). Errors: AF-CONF-…, AF-CONT-…, AF-AGENT-…, AF-PIPE-….
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
    /// Returns the helper that starts confined programs, with the gaps that the user's own settings accept. A project's settings
    /// cannot accept any.
    [[nodiscard]] ExecHelper exec_helper() const;
    [[nodiscard]] TaskStore& tasks() noexcept { return *tasks_; }
    [[nodiscard]] EscalationStore& escalations() noexcept { return *escalations_; }
    /// Returns the handlers that notify people and process deadlines and reminders.
    [[nodiscard]] HandlerGroup& handlers() noexcept { return *handlers_; }
    [[nodiscard]] const NetworkRule& network() const noexcept { return network_; }
    [[nodiscard]] PipelineController& controller() noexcept { return *controller_; }
    [[nodiscard]] const GitTaskWorkspaceOptions& task_workspace_options() const noexcept { return task_workspace_options_; }
    [[nodiscard]] ProcessRunner& processes() noexcept { return *processes_; }
    [[nodiscard]] IdSource& ids() noexcept { return ids_; }
    /// Returns the log, which passes records on to the display.
    [[nodiscard]] RecordObserver& record_observer() noexcept { return *log_; }

    /// Says whether plugins, servers and commands of the project's own files may run. Used for `.mcp.json` too.
    [[nodiscard]] const ProjectTrust& trust() const noexcept { return trust_; }

    /// Returns the secrets to hide from the model, the journal and the log.
    [[nodiscard]] const ProjectSecrets& secrets() const noexcept { return secrets_; }

    /// Returns the model of a role. Checks it first if it works offline (a transcript). Errors (`unavailable`): AF-LLM-001 none
    /// is configured (says how), AF-LLM-2xx of the transcript; AF-PLUG-….
    [[nodiscard]] Result<ModelClient*> model(const AgentDefinition& agent);
    /// Returns the name of the model configured for a role. Empty: the backend's default.
    [[nodiscard]] std::string model_name(const AgentDefinition& agent) const;
    /// Checks that a limit on cost can be kept with this role's model. Errors: AF-COST-014 its price is unknown and its backend
    /// does not report the cost of a call.
    [[nodiscard]] Result<void> check_price(const AgentDefinition& agent);
    /// Makes a backend plugin with the settings of `llm:`, or of a role. `auto` selects the first that is reachable. Errors:
    /// those of `model`; AF-LLM-002 none is reachable, AF-LLM-003 `network`.
    [[nodiscard]] Result<std::shared_ptr<LLMBackendV2>> backend(const std::string& name, const std::string& model_name,
                                                                const std::string& role = "");

    /// One way to reach a model, and the result of trying it: its answer, or an error.
    struct Reached {
        ModelCandidate candidate;
        Result<std::string> answer;
    };
    /// Tries the candidates of `llm.backend: auto` in order. `first_only`: stops at the first that is reachable. Waits at most 10
    /// s for each. Errors: AF-LLM-002.
    [[nodiscard]] Result<std::vector<Reached>> reach_models(const ModelSettings& settings, bool first_only);
    /// Resolves a path of the settings against the folder that the command runs in.
    [[nodiscard]] std::string resolve_path(const std::string& path) const;
    /// Returns the settings in force for the task's file. Paths keep their meaning wherever the task is resumed.
    [[nodiscard]] json::object settings_for_task() const;
    /// Seals a task's settings as written by this program in this checkout (seal_settings). Errors: AF-CLI-003, AF-SEC-006.
    [[nodiscard]] Result<void> seal(json::object& configuration);
    /// Returns id, version, hash and kind of each plugin that this pipeline uses: its stages, its roles' tools and models, the
    /// handlers. Omits plugins that are not found: the stage that needs one reports it.
    [[nodiscard]] json::array plugins_of(const PipelineTemplate& pipeline);
    /// True if the role's backend works in the workspace itself (`llm.mode`).
    [[nodiscard]] bool agentic(const std::string& role) const;

    /// Waits up to two seconds for a telemetry collector to take the remaining data.
    ~Project();
    Project(const Project&) = delete;
    Project& operator=(const Project&) = delete;

private:
    class Opening;

    explicit Project(Program& program) : program_(program) {}

    /// Opens telemetry if the environment names a collector. Reports problems and continues.
    void open_telemetry();

    /// Sends errors to the log too, from now on.
    void log_errors(Program& program);
    /// Returns the settings of a role's model. Errors: AF-PLUG-043 settings are left out for lack of trust, and without them its
    /// calls would go elsewhere.
    [[nodiscard]] Result<ModelSettings> configured_model(const std::string& role) const;
    /// Returns the settings for making a backend plugin.
    [[nodiscard]] Result<json::object> backend_config(const std::string& name, const std::string& model_name,
                                                      const ModelSettings& chosen, const std::string& role) const;
    /// Makes a backend. Checks the network rule before any of its code runs.
    [[nodiscard]] Result<std::shared_ptr<LLMBackendV2>> make_backend(const std::string& name, const json::object& config);
    /// Replaces `auto` by the backend that it selects. Decided once.
    [[nodiscard]] Result<ModelSettings> resolve_auto(ModelSettings chosen);

    Program& program_;
    ProjectPlace place_;
    ProductPaths product_;
    std::unique_ptr<Settings> settings_;
    ProjectTrust trust_;
    NetworkRule network_;
    std::vector<std::pair<ModelSettings, ModelSettings>> resolved_;  ///< Settings with `auto`, and what they became.
    std::unique_ptr<Telemetry> telemetry_;                           ///< Null: no collector is named.
    std::unique_ptr<Log> log_;
    std::shared_ptr<Project*> here_;  ///< Reset when this object is destroyed. Objects that outlive it check this.
    ProjectSecrets secrets_;
    std::unique_ptr<EventSink> events_;  ///< Writes to the log, without secrets.
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

/// Asks a backend whether it works. Waits at most 10 s.
[[nodiscard]] Result<std::string> check_backend(const std::shared_ptr<LLMBackend>& backend, Program& program);

/// Returns lines on how to use a real model. Shown when none is configured or a transcript answers.
[[nodiscard]] std::string model_help();

/// For commands that open no project: archives ended tasks as `Project::open` does, and opens the project only for that. Errors:
/// as `Project::open`.
[[nodiscard]] Result<void> archive_ended_tasks(Program& program, const ProjectPlace& place);

}  // namespace agentforge::kernel
