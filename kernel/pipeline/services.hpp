// SPDX-License-Identifier: Apache-2.0
// What a running task needs besides itself; owned by whoever runs it, outlives every run.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agent/runner.hpp"
#include "backends/client.hpp"
#include "base/cancel.hpp"
#include "base/clock.hpp"
#include "base/events.hpp"
#include "config/agents.hpp"
#include "contracts/contract.hpp"
#include "cost/limits.hpp"
#include "cost/prices.hpp"
#include "pipeline/delivery/delivery_settings.hpp"
#include "plugins/host.hpp"
#include "sandbox/process.hpp"
#include "secrets/redactor.hpp"
#include "servers/definition.hpp"

namespace agentforge::kernel {

struct PipelineTemplate;

/// A repository that the user has given a name.
struct OtherRepository {
    std::filesystem::path path;
    std::string default_branch;  ///< Empty: what its HEAD stands on.
    std::string contracts_path;  ///< The folder of what it offers to others; empty: anywhere.
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
    /// The model a role talks to; made once per role and kept by the provider.
    std::function<Result<ModelClient*>(const AgentDefinition&)> model;
    TokenBudget budget;
    std::uint64_t max_output_tokens = 4096;
    bool agents_md = true;                           ///< Whether agents are shown the repository's AGENTS.md.
    std::map<std::string, std::string> environment;  ///< The whole one; children get the allow-listed part.
    const ServerSet* servers = nullptr;              ///< Tool servers that are declared; null: none.
    ExecHelper exec_helper = {};                     ///< agentforge-exec, for servers and plugins that are processes.
    const Redactor& redactor = nothing_hidden();     ///< Hides secrets in all that is journaled, shown and sent.
    std::chrono::milliseconds hang_grace{5'000};     ///< How long after its deadline a plugin's call may still return.
    std::chrono::milliseconds model_limit{
        0};  ///< How long one model call may take (`llm.timeout_seconds`); 0: as long as its stage.
    std::function<std::uint64_t(const std::string& role)> output_limit = {};  ///< In place of max_output_tokens, by role.
    TaskLimits limits = {};                                                   ///< As the settings have them now.
    const PriceTable* prices = nullptr;                                       ///< Null: nothing has a price.
    std::function<std::string(const AgentDefinition&)> model_name =
        {};  ///< The model that is configured for a role; unset: none is named.
    std::function<bool(const AgentDefinition&)> agentic =
        {};  ///< Whether the role's model works in the workspace itself (`llm.mode`); empty: none does.
    /// Id, version and hash of each plugin that a pipeline uses; for the journal. Unset: nothing is recorded of them.
    std::function<json::array(const PipelineTemplate&)> plugins_of = {};
    DeliverySettings delivery = {};  ///< How the verified tree leaves the task.
    std::vector<std::string> outdated_tests =
        {};  ///< `gates.outdated_tests`: existing tests, or their files, that may change without a person's approval.
    FindRepository other_repository = {};  ///< Empty: no other is known.
    bool ask_about_suspicions = false;     ///< `gates.unattended: strict`: a person must approve suspicious work.
};

/// A stage's clock (FR-063): it counts agent time. While a gate measures it stands still, so that a long test suite does not
/// use up the stage's time, neither afterwards nor while it runs. One thread runs it, another may read `deadline`.
class StageClock {
public:
    StageClock(const Clock& clock, std::chrono::milliseconds limit) : clock_(clock), start_(clock.steady()), limit_(limit) {}
    [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept {
        const std::int64_t since = paused_since_ms_.load();
        const std::int64_t paused = since == running ? 0 : elapsed().count() - since;
        return start_ + limit_ + std::chrono::milliseconds(excluded_ms_.load() + paused);
    }
    [[nodiscard]] bool expired() const { return clock_.steady() >= deadline(); }
    /// Stops a clock for as long as it lives. Not nested.
    class Pause {
    public:
        explicit Pause(StageClock& clock) : clock_(clock) { clock_.paused_since_ms_ = clock_.elapsed().count(); }
        ~Pause() {
            clock_.excluded_ms_ += clock_.elapsed().count() - clock_.paused_since_ms_.load();
            clock_.paused_since_ms_ = running;
        }
        Pause(const Pause&) = delete;
        Pause& operator=(const Pause&) = delete;

    private:
        StageClock& clock_;
    };
    [[nodiscard]] std::chrono::milliseconds elapsed() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.steady() - start_);
    }
    [[nodiscard]] std::chrono::milliseconds limit() const noexcept { return limit_; }

private:
    static constexpr std::int64_t running = -1;
    const Clock& clock_;
    std::chrono::steady_clock::time_point start_;
    std::chrono::milliseconds limit_;
    std::atomic<std::int64_t> excluded_ms_{0};
    std::atomic<std::int64_t> paused_since_ms_{running};
};

/// The part of every context that is the same: cancel, deadline, log, progress, recorded time.
class KernelCallContext final : public CallContext {
public:
    KernelCallContext(TaskServices& services, const StageClock& clock, std::string stage,
                      std::chrono::system_clock::time_point recorded)
        : services_(services), clock_(clock), stage_(std::move(stage)), recorded_(recorded) {}
    [[nodiscard]] bool cancelled() const noexcept override { return services_.cancel.requested(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        return clock_.deadline();
    }
    void log(LogLevel level, std::string_view message, const json::object& fields) override;
    void progress(std::string_view text) override;
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return recorded_; }

private:
    TaskServices& services_;
    const StageClock& clock_;
    std::string stage_;
    std::chrono::system_clock::time_point recorded_;
};

/// Errors that neither a stage nor an agent can do anything about: the call that met one is made again when the task resumes.
/// Every other error is an answer, and the stage gets the same one again.
[[nodiscard]] bool ends_the_visit(const Error& error);

}  // namespace agentforge::kernel
