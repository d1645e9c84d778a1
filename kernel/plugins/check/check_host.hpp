// SPDX-License-Identifier: Apache-2.0
// The host that `plugins check` gives to a plugin's calls. It answers every request at once and the same way, or fails every
// request. It reports calls that break the rules of <agentforge/host.hpp>. Files are real ones in a folder of their own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <agentforge/edits.hpp>
#include <agentforge/plugin.hpp>

#include "base/files.hpp"
#include "plugins/check/check.hpp"

namespace agentforge::kernel {

/// Watches that a plugin uses its context only on the thread of its call, one request at a time, and not after the call.
/// Thread-safe: a faulty plugin makes requests from any thread.
class ContextRules {
public:
    ContextRules() : owner_(std::this_thread::get_id()) {}

    /// The calling thread runs the plugin's call from now on.
    void open();
    /// The plugin's call has returned.
    void close();
    /// Each is a sentence with the name of a function.
    [[nodiscard]] std::vector<std::string> misuses() const;

    /// One request: created at its beginning, destroyed at its end.
    class Request {
    public:
        Request(ContextRules& rules, const char* function) : rules_(rules) { rules_.enter(function); }
        Request(const Request&) = delete;
        Request& operator=(const Request&) = delete;
        ~Request() { rules_.leave(); }

    private:
        ContextRules& rules_;
    };

private:
    void enter(const char* function);
    void leave();

    mutable std::mutex mutex_;
    std::vector<std::string> misuses_;
    std::thread::id owner_;
    std::map<std::thread::id, unsigned> inside_;
    bool closed_ = false;
};

/// The common part of every context of the check. Set it up before the plugin's call and read it afterwards.
class CheckHost {
public:
    CheckHost() = default;
    CheckHost(const CheckHost&) = delete;
    CheckHost& operator=(const CheckHost&) = delete;

    void set_deadline(std::chrono::steady_clock::time_point deadline) { deadline_ = deadline; }
    void cancel() noexcept { cancelled_ = true; }
    /// Makes every request that can fail end in this error.
    void fail_every_request(Error error) { failure_ = std::move(error); }

    void open() { rules_.open(); }
    void close() { rules_.close(); }
    [[nodiscard]] std::vector<std::string> misuses() const { return rules_.misuses(); }
    /// For a sink of the same call.
    [[nodiscard]] ContextRules& rules() noexcept { return rules_; }

protected:
    ~CheckHost() = default;

    /// Ends a request with `answer`, or with the error of `fail_every_request`.
    template <class Answer>
    [[nodiscard]] Result<Answer> answered(Answer answer) const {
        if (failure_) { return *failure_; }
        return answer;
    }

    mutable ContextRules rules_;
    std::optional<Error> failure_;
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    bool cancelled_ = false;
};

/// The part of a context that plugins of every kind see. Drops log lines and progress; the time is always 2026-01-01T00:00:00Z.
template <class Context>
class CheckContext : public Context, public CheckHost {
public:
    [[nodiscard]] bool cancelled() const noexcept override {
        const ContextRules::Request request(rules_, "cancelled");
        return cancelled_;
    }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        const ContextRules::Request request(rules_, "deadline");
        return deadline_;
    }
    void log(LogLevel, std::string_view, const json::object&) override { const ContextRules::Request request(rules_, "log"); }
    void progress(std::string_view) override { const ContextRules::Request request(rules_, "progress"); }
    [[nodiscard]] std::chrono::system_clock::time_point now() override {
        const ContextRules::Request request(rules_, "now");
        return std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
    }

protected:
    ~CheckContext() = default;
};

/// For model backends and escalation handlers.
class CheckCallContext final : public CheckContext<CallContext> {};

/// Takes a streamed answer and drops it. It belongs to the same call as its context, and has the same rules.
class CheckSink final : public StreamSink {
public:
    explicit CheckSink(CheckHost& host) : rules_(host.rules()) {}
    void text(std::string_view) override { const ContextRules::Request request(rules_, "text"); }

private:
    ContextRules& rules_;
};

/// A folder with a few files, opened as a workspace. Deleted with the object.
class CheckFolder {
public:
    /// Errors: those of the folder, of its files and of `open`.
    [[nodiscard]] static Result<CheckFolder> make(const OpenWorkspace& open);
    [[nodiscard]] Workspace& workspace() noexcept { return *workspace_; }

private:
    std::unique_ptr<TemporaryDirectory> folder_;
    std::shared_ptr<Workspace> workspace_;
};

/// A workspace that passes requests on to that of a folder, one at a time, if the tool declares their effect.
class CheckWorkspace final : public Workspace, public AtomicEdits {
public:
    CheckWorkspace(ContextRules& rules, const std::optional<Error>& failure, CheckFolder& folder)
        : rules_(rules), failure_(failure), files_(folder.workspace()) {}

    /// Refuses other effects from now on. Before, all are allowed.
    void limit_effects(ToolEffect effects, std::string tool);
    /// Errors: AF-TOOL-005. `what`: "create a file".
    [[nodiscard]] Result<void> need(ToolEffect effect, const char* what);
    /// Returns the first use of an effect that the tool does not declare.
    [[nodiscard]] std::optional<Error> undeclared() const;

    [[nodiscard]] Result<FileView> read(std::string_view path, const ReadOptions& options) override;
    [[nodiscard]] Result<Listing> list(std::string_view directory, const ListOptions& options) override;
    [[nodiscard]] Result<SearchHits> search(const SearchQuery& query) override;
    [[nodiscard]] bool exists(std::string_view path) override;
    [[nodiscard]] Result<Change> create(std::string_view path, std::string_view content, bool overwrite) override;
    [[nodiscard]] Result<Change> edit(std::string_view path, std::string_view search, std::string_view replace) override;
    [[nodiscard]] Result<Change> move(std::string_view from, std::string_view to) override;
    [[nodiscard]] Result<Change> remove(std::string_view path) override;
    [[nodiscard]] Result<std::vector<FileEdited>> apply(const std::vector<FileEdit>& edits) override;

private:
    template <class Answer>
    [[nodiscard]] Result<Answer> passed_on(const char* function, ToolEffect effect, const char* what,
                                           const std::function<Result<Answer>()>& request);

    ContextRules& rules_;
    const std::optional<Error>& failure_;
    Workspace& files_;
    std::mutex one_at_a_time_;
    mutable std::mutex mutex_;  // Of the members below.
    std::optional<ToolEffect> effects_;
    std::string tool_;
    std::optional<Error> undeclared_;
};

class CheckToolContext final : public CheckContext<ToolContext> {
public:
    explicit CheckToolContext(CheckFolder& folder) : files(rules_, failure_, folder) {}

    CheckWorkspace files;
    ProcessResult process;  ///< The result of every program.

    [[nodiscard]] const ToolCallInfo& info() const noexcept override;
    [[nodiscard]] Workspace& workspace() noexcept override { return files; }
    [[nodiscard]] Result<ProcessResult> run_process(const ProcessSpec& spec) override;
    [[nodiscard]] Result<GateReport> run_gate(const GateRequest& request) override;
    [[nodiscard]] Result<void> complete(const json::object& artifact) override;
    [[nodiscard]] Result<void> escalate(const EscalationRequest& request) override;

private:
    ToolCallInfo info_{"task-check", "stage", "role", 1};
};

class CheckStageContext final : public CheckContext<StageContext> {
public:
    explicit CheckStageContext(CheckFolder& folder);

    CheckWorkspace files;
    StageInput stage_input;
    AgentOutcome agent;            ///< The outcome of every agent.
    ProcessResult process;         ///< The result of every program.
    json::object contract_answer;  ///< The answer to every contract.

    [[nodiscard]] const StageInput& input() const noexcept override;
    [[nodiscard]] Result<AgentOutcome> run_agent(const AgentRun& run) override;
    [[nodiscard]] Workspace& workspace() noexcept override { return files; }
    [[nodiscard]] Result<ProcessResult> run_process(const ProcessSpec& spec) override;
    [[nodiscard]] Result<GateReport> run_gate(const GateRequest& request) override;
    [[nodiscard]] Result<std::vector<Change>> write_skeleton(const std::vector<SkeletonInterface>& interfaces) override;
    [[nodiscard]] Result<Delivery> deliver(const DeliveryRequest& request) override;
    [[nodiscard]] Result<json::object> run_contract(std::string_view contract, const json::object& inputs) override;
    [[nodiscard]] Result<json::value> parse_yaml(std::string_view text) override;
};

}  // namespace agentforge::kernel
