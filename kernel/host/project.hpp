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
#include "escalation/store.hpp"
#include "host/log.hpp"
#include "host/program.hpp"
#include "host/project_trust.hpp"
#include "pipeline/controller.hpp"
#include "plugins/host.hpp"
#include "sandbox/process.hpp"
#include "servers/definition.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

/// Everything a command that runs tasks needs. Not movable: its parts point at each other.
class Project {
public:
    /// Reads settings, contracts, agents and pipelines and discovers plugins. Errors: AF-CONF-…, AF-CONT-…, AF-AGENT-…, AF-PIPE-….
    [[nodiscard]] static Result<std::unique_ptr<Project>> open(Program& program, EventSink& events);

    /// As `open`; where no model is configured now, with the one that the task was started with (`--transcript`, `--set llm.…`).
    /// A command line is not taken over from a task: it is the user's to give.
    [[nodiscard]] static Result<std::unique_ptr<Project>> open_for_task(Program& program, EventSink& events, std::string_view task);

    [[nodiscard]] const ProjectPlace& place() const noexcept { return place_; }
    [[nodiscard]] const Settings& settings() const noexcept { return *settings_; }
    [[nodiscard]] const PipelineSet& pipelines() const noexcept { return pipelines_; }
    [[nodiscard]] const AgentSet& agents() const noexcept { return agents_; }
    [[nodiscard]] PluginRegistry& plugins() noexcept { return plugins_; }
    [[nodiscard]] const PluginRegistry& plugins() const noexcept { return plugins_; }
    [[nodiscard]] const ServerSet& servers() const noexcept { return servers_; }
    [[nodiscard]] const TaskServices& services() const noexcept { return *services_; }
    [[nodiscard]] const ProductPaths& product() const noexcept { return product_; }
    [[nodiscard]] TaskStore& tasks() noexcept { return *tasks_; }
    [[nodiscard]] EscalationStore& escalations() noexcept { return *escalations_; }
    [[nodiscard]] PipelineController& controller() noexcept { return *controller_; }

    /// Whether what the project's own files want to run may run: plugins, servers, commands. What else asks (`.mcp.json`) asks here.
    [[nodiscard]] const ProjectTrust& trust() const noexcept { return trust_; }

    /// The model that a role talks to; one that works offline (a transcript) is checked first.
    /// Errors (`unavailable`): AF-LLM-001 none is configured (says how), AF-LLM-2xx of the transcript; AF-PLUG-….
    [[nodiscard]] Result<ModelClient*> model(const AgentDefinition& agent);
    /// A backend plugin with its settings from `llm:`; `agentic` as `llm.mode` says. Errors as above, and AF-LLM-313.
    [[nodiscard]] Result<std::shared_ptr<LLMBackend>> backend(const std::string& name, const std::string& model_name, bool agentic = false);
    /// Whether the role's backend works in the workspace itself (`llm.mode`).
    [[nodiscard]] bool agentic(const std::string& role) const;

private:
    explicit Project(Program& program) : program_(program) {}

    Program& program_;
    ProjectPlace place_;
    ProductPaths product_;
    std::unique_ptr<Settings> settings_;
    ProjectTrust trust_;
    std::unique_ptr<Log> log_;
    ContractSet contracts_;
    AgentSet agents_;
    PipelineSet pipelines_;
    PluginRegistry plugins_;
    ServerSet servers_;
    SystemClock clock_;
    SystemIdSource ids_;
    std::unique_ptr<ProcessRunner> processes_;
    std::unique_ptr<WorkshopFactory> workshops_;
    std::unique_ptr<TaskStore> tasks_;
    std::unique_ptr<EscalationStore> escalations_;
    std::unique_ptr<TaskServices> services_;
    std::unique_ptr<PipelineController> controller_;
    std::map<std::string, std::unique_ptr<ModelClient>> models_;        ///< By backend and model name.
};

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
