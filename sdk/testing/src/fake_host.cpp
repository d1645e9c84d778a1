// SPDX-License-Identifier: Apache-2.0
#include <agentforge/testing/fake_host.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "base/text.hpp"
#include "tools/path_rules.hpp"

namespace agentforge::testing {

// ------------------------------------------------------------------------------------- CallRecord --

CallRecord::CallRecord() : owner_(std::this_thread::get_id()) {}

CallRecord::~CallRecord() {
    if (read_) { return; }
    std::fputs("agentforge: the plugin broke the rules of its context, and the test did not read misuses():\n", stderr);
    for (const std::string& misuse : misuses_) { std::fprintf(stderr, "  %s\n", misuse.c_str()); }
    std::abort();
}

std::vector<HostCall> CallRecord::calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
}

std::vector<std::string> CallRecord::functions() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const HostCall& call : calls_) { names.push_back(call.function); }
    return names;
}

std::vector<std::string> CallRecord::misuses() const {
    const std::lock_guard lock(mutex_);
    read_ = true;
    return misuses_;
}

void CallRecord::open() {
    const std::lock_guard lock(mutex_);
    owner_ = std::this_thread::get_id();
    closed_ = false;
}

void CallRecord::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
}

void CallRecord::enter(const char* function) {
    const std::lock_guard lock(mutex_);
    const auto misuse = [&](const char* what) {
        misuses_.push_back(std::string(function) + what);
        read_ = false;
    };
    const auto here = std::this_thread::get_id();
    if (closed_) {
        misuse(" was called after the plugin's call had returned; a context ends with the call that received it");
    } else if (here != owner_) {
        misuse(" was called from a thread that does not run the plugin's call; a context belongs to the one that does");
    }
    const bool others =
        std::any_of(inside_.begin(), inside_.end(), [&](const auto& one) { return one.first != here && one.second != 0; });
    if (others) { misuse(" was called while another call into the same context had not returned"); }
    ++inside_[here];
}

void CallRecord::leave() {
    const std::lock_guard lock(mutex_);
    --inside_[std::this_thread::get_id()];
}

CallRecord::Entry::Entry(CallRecord& record, const char* function) : record_(record) { record_.enter(function); }

CallRecord::Entry::Entry(CallRecord& record, const char* function, json::object details) : record_(record) {
    record_.enter(function);
    const std::lock_guard lock(record_.mutex_);
    record_.calls_.push_back({function, std::move(details)});
}

CallRecord::Entry::~Entry() { record_.leave(); }

Error unscripted(std::string_view function, std::string_view member, std::size_t number, std::string_view request) {
    return {"AF-FAKE-001",
            "Call " + std::to_string(number) + " of " + std::string(function) +
                " has no scripted answer: " + kernel::ellipsis(kernel::sanitize_utf8(request), 300),
            "",
            "Script it in the test: `." + std::string(member) + ".then(…)`, or `." + std::string(member) +
                ".otherwise(…)` for every further call.",
            ErrorKind::unavailable};
}

// --------------------------------------------------------------------------------------- FakeHost --

FakeHost::FakeHost() : time_(std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)) {}

std::vector<LogLine> FakeHost::logs() const {
    const std::lock_guard lock(mutex_);
    return logs_;
}

std::vector<std::string> FakeHost::progress_lines() const {
    const std::lock_guard lock(mutex_);
    return progress_;
}

void FakeHost::set_time(std::chrono::system_clock::time_point time) {
    const std::lock_guard lock(mutex_);
    time_ = time;
}

void FakeHost::advance(std::chrono::milliseconds by) {
    const std::lock_guard lock(mutex_);
    time_ += by;
}

void FakeHost::set_deadline(std::optional<std::chrono::steady_clock::time_point> deadline) {
    const std::lock_guard lock(mutex_);
    deadline_ = deadline;
}

void FakeHost::cancel() {
    const std::lock_guard lock(mutex_);
    cancelled_from_ = 0;
}

void FakeHost::cancel_after(unsigned looks) {
    const std::lock_guard lock(mutex_);
    cancelled_from_ = looks_ + looks;
}

unsigned FakeHost::cancel_looks() const {
    const std::lock_guard lock(mutex_);
    return looks_;
}

bool FakeHost::look_cancelled() const noexcept {
    const CallRecord::Entry entry(record_, "cancelled");
    const std::lock_guard lock(mutex_);
    return cancelled_from_ && looks_++ >= *cancelled_from_;
}

std::optional<std::chrono::steady_clock::time_point> FakeHost::look_deadline() const noexcept {
    const CallRecord::Entry entry(record_, "deadline");
    const std::lock_guard lock(mutex_);
    return deadline_;
}

void FakeHost::write_log(LogLevel level, std::string_view message, const json::object& fields) {
    const CallRecord::Entry entry(record_, "log");
    const std::lock_guard lock(mutex_);
    logs_.push_back({level, std::string(message), fields});
}

void FakeHost::write_progress(std::string_view text) {
    const CallRecord::Entry entry(record_, "progress");
    const std::lock_guard lock(mutex_);
    progress_.emplace_back(text);
}

std::chrono::system_clock::time_point FakeHost::look_clock() {
    const CallRecord::Entry entry(record_, "now");
    const std::lock_guard lock(mutex_);
    return time_;
}

namespace {

/// The plugin's call, from begin to end on this thread, however it ends.
class Running {
public:
    explicit Running(FakeHost& host) : host_(host) { host_.open(); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { host_.close(); }

private:
    FakeHost& host_;
};

json::array texts(const std::vector<std::string>& list) {
    json::array array;
    for (const std::string& one : list) { array.emplace_back(one); }
    return array;
}

std::string joined(const std::vector<std::string>& list) {
    std::string text;
    for (const std::string& one : list) { text += (text.empty() ? "" : " ") + one; }
    return text;
}

Result<void> succeeded(Result<Accepted> accepted) {
    if (!accepted.ok()) { return std::move(accepted).error(); }
    return {};
}

}  // namespace

// -------------------------------------------------------------------------------- FakeStageContext --

FakeStageContext::FakeStageContext() {
    stage_input.task_id = "task-fake";
    stage_input.pipeline = "fake";
    stage_input.stage = "stage";
    stage_input.agent = "role";
}

StageResult FakeStageContext::run(Stage& stage) {
    stage_input.stage = stage.info().name;
    const Running running(*this);
    return run_stage(stage, *this);
}

StageResult FakeStageContext::run_to_end(Stage& stage, unsigned most) {
    StageResult result = run(stage);
    for (unsigned attempt = 1; attempt < most && result.escalated(); ++attempt) {
        auto answer = people.next(*result.escalation, result.escalation->question);
        if (!answer.ok()) { return StageResult::failed(std::move(answer).error()); }
        stage_input.resolution = std::move(answer).value();
        stage_input.previous_attempt = result.artifact;
        ++stage_input.attempt;
        result = run(stage);
    }
    return result;
}

const StageInput& FakeStageContext::input() const noexcept {
    const CallRecord::Entry entry(record_, "input");
    return stage_input;
}

Result<AgentOutcome> FakeStageContext::run_agent(const AgentRun& run) {
    const CallRecord::Entry entry(record_, "run_agent", {{"role", run.role}, {"objective", run.objective}});
    return agent.next(run, run.objective.empty() ? "a run without an objective" : run.objective);
}

Result<ProcessResult> FakeStageContext::run_process(const ProcessSpec& spec) {
    const CallRecord::Entry entry(record_, "run_process", {{"argv", texts(spec.argv)}, {"directory", spec.directory}});
    return processes.next(spec, joined(spec.argv));
}

Result<GateReport> FakeStageContext::run_gate(const GateRequest& request) {
    const CallRecord::Entry entry(record_, "run_gate", {{"gate", request.gate}});
    return gates.next(request, request.gate);
}

Result<std::vector<Change>> FakeStageContext::write_skeleton(const std::vector<SkeletonInterface>& interfaces) {
    std::vector<std::string> names;
    for (const SkeletonInterface& one : interfaces) { names.push_back(one.file + ":" + one.name); }
    const CallRecord::Entry entry(record_, "write_skeleton", {{"interfaces", texts(names)}});
    return skeletons.next(interfaces, joined(names));
}

Result<Delivery> FakeStageContext::deliver(const DeliveryRequest& request) {
    const CallRecord::Entry entry(record_, "deliver", {{"title", request.title}});
    return deliveries.next(request, request.title);
}

Result<json::object> FakeStageContext::run_contract(std::string_view contract, const json::object& inputs) {
    const CallRecord::Entry entry(record_, "run_contract", {{"contract", contract}, {"inputs", inputs}});
    return contracts.next({std::string(contract), inputs}, contract);
}

Result<json::value> FakeStageContext::parse_yaml(std::string_view text) {
    const CallRecord::Entry entry(record_, "parse_yaml", {});
    auto scripted = yaml.next(std::string(text), text);
    if (scripted.ok() || scripted.error().code != "AF-FAKE-001") { return scripted; }
    auto parsed = kernel::parse_json(text, "the text");
    if (parsed.ok()) { return parsed; }
    return scripted;
}

// --------------------------------------------------------------------------------- FakeToolContext --

FakeToolContext::FakeToolContext() {
    call_info = {"task-fake", "stage", "role", 1};
    completions.otherwise({});
    escalations.otherwise({});
}

ToolResult FakeToolContext::call(Tool& tool, json::object arguments) {
    const ToolSpec spec = tool.spec();
    files.limit_effects(spec.effects, spec.name);
    for (const std::string& parameter : spec.path_parameters) {
        json::value* value = arguments.if_contains(parameter);
        if (value == nullptr) { continue; }
        const auto normalise = [&](json::value& path) -> Result<void> {
            if (!path.is_string()) {
                return Error{"AF-TOOL-004", "'" + parameter + "' of '" + spec.name + "' must be a path.", spec.name,
                             "Give a path as a string.", ErrorKind::invalid};
            }
            auto normal = kernel::normalize_path(path.get_string());
            if (!normal.ok()) {
                Error error = std::move(normal).error();
                error.where = "parameter " + parameter + " of " + spec.name;
                return error;
            }
            path = std::string_view(*normal);
            return {};
        };
        if (value->is_array()) {
            for (json::value& one : value->get_array()) {
                if (auto fits = normalise(one); !fits.ok()) { return ToolResult::failed(std::move(fits).error()); }
            }
        } else if (auto fits = normalise(*value); !fits.ok()) {
            return ToolResult::failed(std::move(fits).error());
        }
    }
    const Running running(*this);
    ToolResult result = tool.call(arguments, *this);
    if (auto undeclared = files.undeclared()) { return ToolResult::failed(std::move(*undeclared)); }
    return result;
}

const ToolCallInfo& FakeToolContext::info() const noexcept {
    const CallRecord::Entry entry(record_, "info");
    return call_info;
}

Result<ProcessResult> FakeToolContext::run_process(const ProcessSpec& spec) {
    const CallRecord::Entry entry(record_, "run_process", {{"argv", texts(spec.argv)}, {"directory", spec.directory}});
    AF_CHECK(files.need(ToolEffect::executes, "run a program"));
    return processes.next(spec, joined(spec.argv));
}

Result<GateReport> FakeToolContext::run_gate(const GateRequest& request) {
    const CallRecord::Entry entry(record_, "run_gate", {{"gate", request.gate}});
    AF_CHECK(files.need(ToolEffect::executes, "run a gate"));
    return gates.next(request, request.gate);
}

Result<void> FakeToolContext::complete(const json::object& artifact) {
    const CallRecord::Entry entry(record_, "complete", {{"artifact", artifact}});
    AF_CHECK(files.need(ToolEffect::completes, "hand in an artifact"));
    return succeeded(completions.next(artifact, json::serialize(artifact)));
}

Result<void> FakeToolContext::escalate(const EscalationRequest& request) {
    const CallRecord::Entry entry(record_, "escalate", {{"question", request.question}});
    AF_CHECK(files.need(ToolEffect::escalates, "ask for a person"));
    return succeeded(escalations.next(request, request.question));
}

// ------------------------------------------------------------------------------------ sink and model --

void FakeSink::text(std::string_view part) {
    const CallRecord::Entry entry(record_, "text");
    parts_.emplace_back(part);
}

std::string FakeSink::whole() const {
    std::string text;
    for (const std::string& part : parts_) { text += part; }
    return text;
}

FakeModel::FakeModel() {
    backend_info.name = "fake";
    backend_info.offline = true;
    backend_info.native_tool_calls = true;
}

FakeModel& FakeModel::says(std::string text) {
    Completion completion;
    completion.text = std::move(text);
    completion.model = backend_info.name;
    answers.then(std::move(completion));
    return *this;
}

FakeModel& FakeModel::calls(std::string tool, json::object arguments) {
    Completion completion;
    completion.tool_calls.push_back({std::move(tool), std::move(arguments)});
    completion.stop_reason = StopReason::tool_call;
    completion.model = backend_info.name;
    answers.then(std::move(completion));
    return *this;
}

Result<Completion> FakeModel::complete(const CompletionRequest& request, StreamSink* sink, CallContext& context) {
    if (context.cancelled()) { return Error{"AF-LLM-104", "The model call was cancelled", "", "", ErrorKind::cancelled}; }
    auto answer = answers.next(request, request.user);
    if (answer.ok() && sink != nullptr && !answer->text.empty()) { sink->text(answer->text); }
    return answer;
}

// ----------------------------------------------------------------------------------- ready answers --

AgentOutcome completes_with(json::object artifact) {
    AgentOutcome outcome;
    outcome.tool_uses.push_back({"complete", artifact, true, "handed in"});
    outcome.artifact = std::move(artifact);
    outcome.steps = 1;
    return outcome;
}

AgentOutcome answers_text(std::string text) {
    AgentOutcome outcome;
    outcome.text = std::move(text);
    outcome.steps = 1;
    return outcome;
}

AgentOutcome asks_a_person(std::string question, std::vector<std::string> options) {
    AgentOutcome outcome;
    outcome.escalation = EscalationRequest{"the agent needs a person", std::move(question), std::move(options), {}};
    outcome.steps = 1;
    return outcome;
}

ProcessResult prints(std::string out, int exit_code) {
    ProcessResult result;
    result.out = std::move(out);
    result.exit_code = exit_code;
    return result;
}

GateReport passes(std::string gate, json::object facts) {
    GateReport report;
    report.gate = std::move(gate);
    report.tree = "0123456789abcdef0123456789abcdef01234567";
    report.passed = true;
    report.summary = "passed";
    report.facts = std::move(facts);
    return report;
}

GateReport fails(std::string gate, std::vector<std::string> blocking_issues) {
    GateReport report;
    report.gate = std::move(gate);
    report.tree = "0123456789abcdef0123456789abcdef01234567";
    report.summary = std::to_string(blocking_issues.size()) + " blocking";
    report.blocking_issues = std::move(blocking_issues);
    return report;
}

Error detail::not_made(std::string_view reason) {
    return {"AF-FAKE-002",
            "Cannot create the object: " + (reason.empty() ? std::string("it gave no reason") : kernel::sanitize_utf8(reason)),
            "", "Give it the settings that its constructor needs.", ErrorKind::invalid};
}

std::vector<ToolResult> call_together(Tool& tool, const std::vector<json::object>& arguments) {
    std::vector<ToolResult> results(arguments.size());
    std::mutex mutex;
    std::condition_variable all_there;
    std::size_t waiting = 0;
    std::vector<std::thread> threads;
    for (std::size_t index = 0; index < arguments.size(); ++index) {
        threads.emplace_back([&, index] {
            FakeToolContext host;
            host.call_info.task_id = "task-fake-" + std::to_string(index + 1);
            {
                std::unique_lock lock(mutex);
                ++waiting;
                all_there.notify_all();
                all_there.wait(lock, [&] { return waiting == arguments.size(); });
            }
            try {
                results[index] = host.call(tool, arguments[index]);
            } catch (const std::exception& failure) {
                results[index] = ToolResult::failed({"AF-FAKE-003", std::string("The tool threw: ") + failure.what(), "",
                                                     "Return a failed ToolResult.", ErrorKind::internal});
            }
        });
    }
    for (std::thread& thread : threads) { thread.join(); }
    return results;
}

}  // namespace agentforge::testing
