// SPDX-License-Identifier: Apache-2.0
// The services that a running task needs. Owned by the caller; must outlive every run.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agent/run_spec.hpp"
#include "backends/model_client.hpp"
#include "base/cancel_token.hpp"
#include "base/clock.hpp"
#include "base/event_sink.hpp"
#include "config/agent_set.hpp"
#include "contracts/contract.hpp"
#include "cost/limits.hpp"
#include "cost/price_table.hpp"
#include "pipeline/delivery/delivery_settings.hpp"
#include "plugins/plugin_registry.hpp"
#include "sandbox/process_runner.hpp"
#include "secrets/redactor.hpp"
#include "servers/definition.hpp"

namespace agentforge::kernel {

struct PipelineTemplate;

/// A repository that the user has named.
struct OtherRepository {
    std::filesystem::path path;
    std::string default_branch;  ///< Empty: the branch of its HEAD.
    std::string contracts_path;  ///< The folder of the contracts that it offers to others. Empty: anywhere.
};
/// Errors: `not_found` AF-CONF-073 no repository has that name.
using FindRepository = std::function<Result<OtherRepository>(const std::string& name)>;

struct TaskServices {
    PluginRegistry& plugins;
    const ContractSet& contracts;
    const AgentSet& agents;
    EventSink& events;
    CancelToken& cancel;
    Clock& clock;
    /// Returns the model of a role. Created once per role and owned by the provider.
    std::function<Result<ModelClient*>(const AgentDefinition&)> model;
    TokenBudget budget;
    std::uint64_t max_output_tokens = 4096;
    bool agents_md = true;                           ///< Show the repository's AGENTS.md to agents.
    std::map<std::string, std::string> environment;  ///< The complete environment. Child processes get the allow-listed part.
    const ServerSet* servers = nullptr;              ///< Declared tool servers. Null: none.
    ExecHelper exec_helper = {};                     ///< agentforge-exec, for servers and plugin processes.
    const Redactor& redactor = nothing_hidden();     ///< Hides secrets in everything that is journaled, shown and sent.
    std::chrono::milliseconds hang_grace{5'000};     ///< How long a plugin's call may take to return after its deadline.
    /// Limit of one model call (`llm.timeout_seconds`). 0: as long as its stage.
    std::chrono::milliseconds model_limit{0};
    std::function<std::uint64_t(const std::string& role)> output_limit = {};  ///< Replaces max_output_tokens, by role.
    TaskLimits limits = {};                                                   ///< The current settings.
    const PriceTable* prices = nullptr;                                       ///< Null: nothing has a price.
    /// Returns the model configured for a role. May be empty.
    std::function<std::string(const AgentDefinition&)> model_name = {};
    /// True if the role's model works in the workspace itself (`llm.mode`). Empty: none does.
    std::function<bool(const AgentDefinition&)> agentic = {};
    /// Returns id, version and hash of each plugin that a pipeline uses, for the journal. Empty: not recorded.
    std::function<json::array(const PipelineTemplate&)> plugins_of = {};
    DeliverySettings delivery = {};  ///< How the verified tree is delivered.
    /// `gates.outdated_tests`: existing tests, or their files, that may change without a person's approval.
    std::vector<std::string> outdated_tests = {};
    FindRepository other_repository = {};  ///< Empty: no other repository is known.
    bool ask_about_suspicions = false;     ///< `gates.unattended: strict`: a person must approve suspicious work.
};

/// True for an error that neither a stage nor an agent can handle: the call is repeated when the task resumes. Any other error is
/// an answer, and the stage gets the same one again.
[[nodiscard]] bool ends_the_visit(const Error& error);

}  // namespace agentforge::kernel
