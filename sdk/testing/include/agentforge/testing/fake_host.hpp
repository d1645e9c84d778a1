// SPDX-License-Identifier: Apache-2.0
// A host with scripted answers, for tests of plugins. It needs no kernel, model, process, file or clock.
//
//   agentforge::testing::FakeStageContext host;
//   host.stage_input.request = "Build it";
//   host.agent.then(agentforge::testing::completes_with({{"title", "It"}}));
//   auto stage = agentforge::testing::make<MyStage>().value();
//   const auto result = host.run(*stage);
//   EXPECT_TRUE(result.success());
//   EXPECT_EQ(host.functions(), (std::vector<std::string>{"run_agent"}));
//
// Records every call into the host in order. Calls with outside effects are answered from a script. A call without a scripted
// answer fails with AF-FAKE-001, which names the script to fill. What the kernel refuses (a path that leaves the workspace, an
// effect that the tool does not declare) is refused here with the kernel's own code.
//
// Threads: the fake checks the rules of <agentforge/host.hpp>. A call from another thread than the one that runs the plugin, an
// overlapping call, or a call after the plugin's call returned is a *misuse*: it is answered and recorded. A test reads
// `misuses()`. If a context is destroyed with misuses that were not read, it prints them to standard error and aborts.
#pragma once

#include <agentforge/edits.hpp>
#include <agentforge/plugin.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <type_traits>

namespace agentforge::testing {

/// One call into the host.
struct HostCall {
    std::string function;  ///< `run_agent`, `workspace.create`, `parse_yaml`, …
    json::object details;  ///< The request in short: a path, a gate's name, argv.
};

struct LogLine {
    LogLevel level = LogLevel::info;
    std::string message;
    json::object fields;
};

/// Records each call and checks whether it is allowed. Thread-safe.
class CallRecord {
public:
    CallRecord();
    CallRecord(const CallRecord&) = delete;
    CallRecord& operator=(const CallRecord&) = delete;
    ~CallRecord();

    [[nodiscard]] std::vector<HostCall> calls() const;
    [[nodiscard]] std::vector<std::string> functions() const;
    /// Each is a sentence with the function's name. After reading them, the test is responsible for them.
    [[nodiscard]] std::vector<std::string> misuses() const;

    /// The calling thread runs the plugin from now on. The context may be used again.
    void open();
    /// The plugin's call returned. Any further call is a misuse.
    void close();

    /// One call into the host: created at its beginning, destroyed at its end.
    class Entry {
    public:
        Entry(CallRecord& record, const char* function);
        Entry(CallRecord& record, const char* function, json::object details);
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        ~Entry();

    private:
        CallRecord& record_;
    };

private:
    void enter(const char* function);
    void leave();

    mutable std::mutex mutex_;
    std::vector<HostCall> calls_;
    std::vector<std::string> misuses_;
    mutable bool read_ = true;
    std::thread::id owner_;
    std::map<std::thread::id, unsigned> inside_;
    bool closed_ = false;
};

/// Returns the error AF-FAKE-001.
[[nodiscard]] Error unscripted(std::string_view function, std::string_view member, std::size_t number, std::string_view request);

/// Scripted answers in the order given, one for each request; then `otherwise`, if set. Thread-safe.
template <class Request, class Answer>
class Script {
public:
    using Step = std::function<Result<Answer>(const Request&)>;

    Script(const char* function, const char* member) : function_(function), member_(member) {}

    Script& then(Answer answer) {
        return then_do([answer = std::move(answer)](const Request&) -> Result<Answer> { return answer; });
    }
    Script& then_fails(Error error) {
        return then_do([error = std::move(error)](const Request&) -> Result<Answer> { return error; });
    }
    /// Computes the answer, or has the side effects that it would have (an agent that writes files).
    Script& then_do(Step step) {
        const std::lock_guard lock(mutex_);
        steps_.push_back(std::move(step));
        return *this;
    }
    /// Answers every request beyond the scripted ones.
    Script& otherwise(Answer answer) {
        return otherwise_do([answer = std::move(answer)](const Request&) -> Result<Answer> { return answer; });
    }
    Script& otherwise_do(Step step) {
        const std::lock_guard lock(mutex_);
        rest_ = std::move(step);
        return *this;
    }

    [[nodiscard]] std::vector<Request> requests() const {
        const std::lock_guard lock(mutex_);
        return requests_;
    }
    /// Returns how many scripted answers were not used.
    [[nodiscard]] std::size_t left() const {
        const std::lock_guard lock(mutex_);
        return steps_.size();
    }

    /// For fakes: returns the next answer. `shown` describes the request in a message.
    [[nodiscard]] Result<Answer> next(const Request& request, std::string_view shown) {
        Step step;
        {
            const std::lock_guard lock(mutex_);
            requests_.push_back(request);
            if (!steps_.empty()) {
                step = std::move(steps_.front());
                steps_.pop_front();
            } else if (rest_) {
                step = rest_;
            } else {
                return unscripted(function_, member_, requests_.size(), shown);
            }
        }
        return step(request);
    }

private:
    const char* function_;
    const char* member_;
    mutable std::mutex mutex_;
    std::deque<Step> steps_;
    Step rest_;
    std::vector<Request> requests_;
};

/// The answer of calls that only succeed or fail.
struct Accepted {};

/// Files in memory with the kernel's path rules: refuses `..`, absolute and protected paths with the kernel's codes. Globs,
/// replacements and line counts are the kernel's. `search` takes ECMAScript expressions instead of RE2's.
class FakeWorkspace final : public Workspace, public AtomicEdits {
public:
    explicit FakeWorkspace(CallRecord& record);
    ~FakeWorkspace();

    // For the test: adds files and inspects them.
    FakeWorkspace& put(std::string path, std::string content);
    [[nodiscard]] std::optional<std::string> content(std::string_view path) const;
    [[nodiscard]] std::map<std::string, std::string, std::less<>> files() const;
    /// The plugin's changes, oldest first. A move counts as two: the old path goes, the new one comes.
    [[nodiscard]] std::vector<Change> writes() const;
    /// Adds a rule of the role, as in an agent's `path_constraints`: comma-separated globs. Other paths are refused with
    /// AF-TOOL-013. Throws std::invalid_argument if the rule cannot be parsed.
    FakeWorkspace& allow_writes(std::string rule);
    /// Refuses this path with AF-TOOL-015, as for a test that RED wrote.
    FakeWorkspace& lock(std::string path);
    /// Makes the next call of this function fail with `error` (`read`, `list`, `search`, `create`, `edit`, `move`, `remove`,
    /// `apply`).
    FakeWorkspace& fail_next(std::string function, Error error);

    // The interface that the plugin uses.
    [[nodiscard]] Result<FileView> read(std::string_view path, const ReadOptions& options = {}) override;
    [[nodiscard]] Result<Listing> list(std::string_view directory, const ListOptions& options = {}) override;
    [[nodiscard]] Result<SearchHits> search(const SearchQuery& query) override;
    [[nodiscard]] bool exists(std::string_view path) override;
    [[nodiscard]] Result<Change> create(std::string_view path, std::string_view content, bool overwrite = false) override;
    [[nodiscard]] Result<Change> edit(std::string_view path, std::string_view search, std::string_view replace) override;
    [[nodiscard]] Result<Change> move(std::string_view from, std::string_view to) override;
    [[nodiscard]] Result<Change> remove(std::string_view path) override;
    [[nodiscard]] Result<std::vector<FileEdited>> apply(const std::vector<FileEdit>& edits) override;

    /// For contexts: sets the running tool's name and declared effects. Default: all effects.
    void limit_effects(ToolEffect effects, std::string tool);
    [[nodiscard]] Result<void> need(ToolEffect effect, const char* what) const;
    /// The first use of an undeclared effect since `limit_effects`.
    [[nodiscard]] std::optional<Error> undeclared() const;

private:
    struct State;
    [[nodiscard]] Result<std::vector<FileEdited>> apply_each(const std::vector<FileEdit>& edits);
    std::unique_ptr<State> state_;
};

/// What every fake context has. Set it up before the plugin runs and read it afterwards.
class FakeHost {
public:
    FakeHost();
    FakeHost(const FakeHost&) = delete;
    FakeHost& operator=(const FakeHost&) = delete;

    [[nodiscard]] std::vector<HostCall> calls() const { return record_.calls(); }
    /// The names of the calls, for one comparison. Omits `cancelled`, `deadline`, `log`, `progress` and `now`.
    [[nodiscard]] std::vector<std::string> functions() const { return record_.functions(); }
    [[nodiscard]] std::vector<std::string> misuses() const { return record_.misuses(); }
    [[nodiscard]] std::vector<LogLine> logs() const;
    [[nodiscard]] std::vector<std::string> progress_lines() const;

    /// Sets what `now()` returns. The time stands still until the test moves it. Default: 2026-01-01T00:00:00Z.
    void set_time(std::chrono::system_clock::time_point time);
    void advance(std::chrono::milliseconds by);
    /// Default: no deadline.
    void set_deadline(std::optional<std::chrono::steady_clock::time_point> deadline);
    /// Makes `cancelled()` true from now on. Thread-safe.
    void cancel();
    /// `cancelled()` is false this many times, then true: cancels in the middle of the work.
    void cancel_after(unsigned looks);
    /// Returns how often the plugin called `cancelled()`.
    [[nodiscard]] unsigned cancel_looks() const;

    /// The calling thread runs the plugin from now on. `run` and `call` of the contexts call it.
    void open() { record_.open(); }
    /// The plugin's call has returned.
    void close() { record_.close(); }

protected:
    ~FakeHost() = default;

    bool look_cancelled() const noexcept;
    std::optional<std::chrono::steady_clock::time_point> look_deadline() const noexcept;
    void write_log(LogLevel level, std::string_view message, const json::object& fields);
    void write_progress(std::string_view text);
    std::chrono::system_clock::time_point look_clock();

    mutable CallRecord record_;

private:
    mutable std::mutex mutex_;
    std::vector<LogLine> logs_;
    std::vector<std::string> progress_;
    std::chrono::system_clock::time_point time_;
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    mutable unsigned looks_ = 0;
    std::optional<unsigned> cancelled_from_;  ///< Number of the first call of `cancelled()` that returns true.
};

/// For model backends and escalation handlers.
class FakeCallContext final : public CallContext, public FakeHost {
public:
    [[nodiscard]] bool cancelled() const noexcept override { return look_cancelled(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        return look_deadline();
    }
    void log(LogLevel level, std::string_view message, const json::object& fields) override { write_log(level, message, fields); }
    void progress(std::string_view text) override { write_progress(text); }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return look_clock(); }
};

/// A contract run of a stage.
struct ContractRun {
    std::string contract;
    json::object inputs;
};

class FakeStageContext final : public StageContext, public FakeHost {
public:
    FakeStageContext();

    StageInput stage_input;
    FakeWorkspace files{record_};
    Script<AgentRun, AgentOutcome> agent{"run_agent", "agent"};
    Script<ProcessSpec, ProcessResult> processes{"run_process", "processes"};
    Script<GateRequest, GateReport> gates{"run_gate", "gates"};
    Script<std::vector<SkeletonInterface>, std::vector<Change>> skeletons{"write_skeleton", "skeletons"};
    Script<DeliveryRequest, Delivery> deliveries{"deliver", "deliveries"};
    Script<ContractRun, json::object> contracts{"run_contract", "contracts"};
    /// If nothing is scripted, JSON text (which is YAML) is parsed.
    Script<std::string, json::value> yaml{"parse_yaml", "yaml"};
    /// People's answers for `run_to_end`: `resolution` of the next attempt.
    Script<EscalationRequest, json::object> people{"escalate", "people"};

    /// Runs the whole life cycle on this thread, as the kernel does.
    StageResult run(Stage& stage);
    /// Repeats `run` until the stage no longer escalates or `people` has no answer left, at most `most` times. Each further run
    /// gets the next answer in `resolution` and the partial artifact in `previous_attempt`.
    StageResult run_to_end(Stage& stage, unsigned most = 10);

    [[nodiscard]] bool cancelled() const noexcept override { return look_cancelled(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        return look_deadline();
    }
    void log(LogLevel level, std::string_view message, const json::object& fields) override { write_log(level, message, fields); }
    void progress(std::string_view text) override { write_progress(text); }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return look_clock(); }
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

class FakeToolContext final : public ToolContext, public FakeHost {
public:
    FakeToolContext();

    ToolCallInfo call_info;
    FakeWorkspace files{record_};
    Script<ProcessSpec, ProcessResult> processes{"run_process", "processes"};
    Script<GateRequest, GateReport> gates{"run_gate", "gates"};
    /// Both accept everything unless a test scripts a refusal.
    Script<json::object, Accepted> completions{"complete", "completions"};
    Script<EscalationRequest, Accepted> escalations{"escalate", "escalations"};

    /// Calls the tool on this thread with the rights that its `spec` declares. As in the host, path parameters arrive normalised,
    /// and a path that leaves the workspace is refused before the tool runs. Use of an undeclared effect fails the call with
    /// AF-TOOL-005. The schema is not applied: pass arguments that satisfy it.
    ToolResult call(Tool& tool, json::object arguments = {});

    [[nodiscard]] bool cancelled() const noexcept override { return look_cancelled(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        return look_deadline();
    }
    void log(LogLevel level, std::string_view message, const json::object& fields) override { write_log(level, message, fields); }
    void progress(std::string_view text) override { write_progress(text); }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return look_clock(); }
    [[nodiscard]] const ToolCallInfo& info() const noexcept override;
    [[nodiscard]] Workspace& workspace() noexcept override { return files; }
    [[nodiscard]] Result<ProcessResult> run_process(const ProcessSpec& spec) override;
    [[nodiscard]] Result<GateReport> run_gate(const GateRequest& request) override;
    [[nodiscard]] Result<void> complete(const json::object& artifact) override;
    [[nodiscard]] Result<void> escalate(const EscalationRequest& request) override;
};

/// Collects a streamed answer. Calling `text` from another thread than the one that created the sink is a misuse.
class FakeSink final : public StreamSink {
public:
    void text(std::string_view part) override;
    [[nodiscard]] const std::vector<std::string>& parts() const noexcept { return parts_; }
    [[nodiscard]] std::string whole() const;
    [[nodiscard]] std::vector<std::string> misuses() const { return record_.misuses(); }

private:
    CallRecord record_;
    std::vector<std::string> parts_;
};

/// A model with scripted answers, for code that calls a backend itself. `complete` may be called from several threads.
class FakeModel final : public LLMBackend {
public:
    BackendInfo backend_info;
    Script<CompletionRequest, Completion> answers{"complete", "answers"};

    FakeModel();
    /// Adds an answer: plain text.
    FakeModel& says(std::string text);
    /// Adds an answer: a tool call.
    FakeModel& calls(std::string tool, json::object arguments);

    [[nodiscard]] BackendInfo info() const override { return backend_info; }
    [[nodiscard]] Result<Completion> complete(const CompletionRequest& request, StreamSink* sink, CallContext& context) override;
};

// Answers of agents, ready for `FakeStageContext::agent`.
[[nodiscard]] AgentOutcome completes_with(json::object artifact);
[[nodiscard]] AgentOutcome answers_text(std::string text);
[[nodiscard]] AgentOutcome asks_a_person(std::string question, std::vector<std::string> options = {});

// Answers of programs and gates.
[[nodiscard]] ProcessResult prints(std::string out, int exit_code = 0);
[[nodiscard]] GateReport passes(std::string gate, json::object facts = {});
[[nodiscard]] GateReport fails(std::string gate, std::vector<std::string> blocking_issues);

/// Creates an object of the plugin's class as the host does: settings go to a constructor that takes `json::object`. Error
/// AF-FAKE-002, with the text that `agentforge` would show, if the constructor throws or takes no settings.
template <class T>
[[nodiscard]] Result<std::unique_ptr<T>> make(const json::object& settings = {});

/// Calls the tool once for each of the arguments, all concurrently, each with its own context and thread, because `call` may run
/// concurrently. Finds most in a build with -fsanitize=thread. Returns the results in the order of the arguments.
[[nodiscard]] std::vector<ToolResult> call_together(Tool& tool, const std::vector<json::object>& arguments);

// ------------------------------------------------------------------------------- implementation --

namespace detail {

template <class T>
using interface_of =
    std::conditional_t<std::is_base_of_v<Stage, T>, Stage,
                       std::conditional_t<std::is_base_of_v<Tool, T>, Tool,
                                          std::conditional_t<std::is_base_of_v<LLMBackend, T>, LLMBackend, EscalationHandler>>>;

[[nodiscard]] Error not_made(std::string_view reason);

}  // namespace detail

template <class T>
Result<std::unique_ptr<T>> make(const json::object& settings) {
    using Interface = detail::interface_of<T>;
    static_assert(std::is_base_of_v<Interface, T>, "T must be a Stage, a Tool, an LLMBackend or an EscalationHandler");
    char reason[1024] = {};
    void* object = ::agentforge::detail::create_object<Interface, T>(json::serialize(settings).c_str(), reason, sizeof reason);
    if (object == nullptr) { return detail::not_made(reason); }
    return std::unique_ptr<T>(static_cast<T*>(static_cast<Interface*>(object)));
}

}  // namespace agentforge::testing
