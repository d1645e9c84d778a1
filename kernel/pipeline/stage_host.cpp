// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stage_host.hpp"

#include "base/text.hpp"
#include "base/yaml.hpp"
#include "pipeline/agent_run/role_process.hpp"
#include "pipeline/agent_run/run_role.hpp"
#include "pipeline/codec.hpp"
#include "pipeline/delivery/delivery.hpp"
#include "pipeline/gate_runs.hpp"
#include "pipeline/tests/hand_back.hpp"
#include "pipeline/tests/held_out.hpp"

namespace agentforge::kernel {

namespace {

json::array texts(const std::vector<std::string>& list) {
    json::array array;
    for (const std::string& item : list) { array.emplace_back(item); }
    return array;
}

constexpr std::int64_t max_step_count = 1'000'000;

/// Returns 0 if it is not a whole number.
std::int64_t step_count(const json::value* value) {
    if (value == nullptr) { return 0; }
    if (value->is_int64()) { return value->get_int64(); }
    return value->is_uint64() ? static_cast<std::int64_t>(std::min<std::uint64_t>(value->get_uint64(), max_step_count)) : 0;
}

/// Returns the plan's current step, which the stage puts into the state of its agent run: `plan_step: {number, of, title,
/// attempt}`.
std::optional<records::PlanStep> plan_step_of(const json::object& run_state) {
    const json::value* said = run_state.if_contains("plan_step");
    if (said == nullptr || !said->is_object()) { return std::nullopt; }
    const json::object& step = said->get_object();
    const auto number = [&step](std::string_view key) -> unsigned {
        const std::int64_t count = step_count(step.if_contains(key));
        return count > 0 && count <= max_step_count ? static_cast<unsigned>(count) : 0;
    };
    const json::value* title = step.if_contains("title");
    if (number("number") == 0 || number("of") < number("number") || title == nullptr || !title->is_string()) {
        return std::nullopt;
    }
    return records::PlanStep{number("number"), number("of"), ellipsis(sanitize_utf8(title->get_string()), 200),
                             std::max(1U, number("attempt"))};
}

}  // namespace

StageHost::StageHost() = default;
StageHost::~StageHost() = default;

Result<std::unique_ptr<StageHost>> StageHost::enter(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services) {
    std::unique_ptr<StageHost> host(new StageHost());
    host->calls_ = std::make_unique<DurableCalls>(session, task_workspace, services);
    AF_CHECK(host->calls_->open());
    host->workspace_ = std::make_unique<DurableWorkspace>(*host->calls_);
    return host;
}

Result<void> StageHost::measure_before() {
    AF_CHECK(calls_->outside(reapply_work(calls_->session(), calls_->task_workspace())));
    // If the suite cannot be measured, the task must stop before its first model call, not only before the stage that the suite
    // judges.
    const TaskState& state = calls_->session().state();
    if (!will_need_baseline(state)) { return {}; }
    const StageClock::Pause measuring(calls_->clock());
    AF_CHECK(
        calls_->outside(ensure_baseline(calls_->session(), calls_->task_workspace(), calls_->services().events, calls_->stop())));
    if (!needs_baseline(state.stage_template())) { return {}; }
    const auto begun = begin_suite(calls_->session(), calls_->task_workspace(), calls_->services().redactor);
    if (!begun.ok()) { return calls_->outside(begun.error()); }
    if (!begun->empty()) {
        std::string paths;
        for (const std::string& path : *begun) { paths += (paths.empty() ? "" : ", ") + path; }
        log(LogLevel::info, "the repository has no tests: AgentForge created a suite in " + paths, {});
    }
    return {};
}
void StageHost::abandon() noexcept { calls_->abandon(); }
void StageHost::end_servers() {
    if (calls_->servers().end() && !calls_->abandoned()) { calls_->revert_unrecorded(); }
}
ServerPlace StageHost::process_place() { return stage_process_place(calls_->task_workspace(), calls_->services()); }
StageClock& StageHost::stage_clock() noexcept { return calls_->clock(); }
std::optional<Error> StageHost::missing_call() const { return calls_->missing_call(); }
std::optional<Error> StageHost::fatal() const { return calls_->fatal(); }
bool StageHost::cancelled() const noexcept {
    return calls_->abandoned() || calls_->context().cancelled() || calls_->clock().expired();
}
std::optional<std::chrono::steady_clock::time_point> StageHost::deadline() const noexcept { return calls_->context().deadline(); }
void StageHost::log(LogLevel level, std::string_view message, const json::object& fields) {
    calls_->context().log(level, message, fields);
}
void StageHost::progress(std::string_view text) { calls_->context().progress(text); }
std::chrono::system_clock::time_point StageHost::now() { return calls_->context().now(); }
const StageInput& StageHost::input() const noexcept { return calls_->input(); }
Workspace& StageHost::workspace() noexcept { return *workspace_; }

Result<AgentOutcome> StageHost::run_agent(const AgentRun& given) {
    AgentRun run = given;
    // Tells the agents why the stage is in this pipeline.
    if (const std::string& purpose = calls_->session().state().stage_template().purpose; !purpose.empty()) {
        run.state["purpose_of_this_stage"] = purpose;
    }
    const json::object input{{"role", run.role},
                             {"objective", run.objective},
                             {"instructions", run.instructions},
                             {"state", run.state},
                             {"output_contract", run.output_contract},
                             {"exit_gate", run.exit_gate},
                             {"system_prompt", run.system_prompt},
                             {"max_steps", run.max_steps},
                             {"text_answer", run.text_answer}};
    const unsigned number = calls_->next_run();
    AF_TRY(const json::value value, calls_->durable(
                                        "run_agent", input,
                                        [&]() -> Result<json::value> {
                                            AF_TRY(const AgentOutcome outcome,
                                                   run_role(calls_->session(), calls_->task_workspace(), calls_->services(),
                                                            calls_->clock(), run, number, false, calls_->servers()));
                                            return json::value(to_json(outcome));
                                        },
                                        plan_step_of(run.state)));
    return outcome_from_json(value.as_object());
}

Result<ProcessResult> StageHost::run_process(const ProcessSpec& spec) {
    json::object environment;
    for (const auto& [name, text] : spec.environment) { environment[name] = text; }
    const json::object input{{"argv", texts(spec.argv)},           {"directory", spec.directory},
                             {"environment", environment},         {"input", spec.input},
                             {"timeout_ms", spec.timeout.count()}, {"max_output_bytes", spec.max_output_bytes}};
    AF_TRY(const json::value value, calls_->durable("run_process", input, [&]() -> Result<json::value> {
        if (calls_->input().agent.empty()) { return no_role_for("the program"); }
        AF_TRY(const auto done,
               run_process_as_role(calls_->session(), calls_->task_workspace(), calls_->services(), calls_->input().agent, spec));
        AF_CHECK(calls_->snapshot(done.second));
        return json::value(to_json(done.first));
    }));
    return process_from_json(value.as_object());
}

Result<GateReport> StageHost::run_gate(const GateRequest& request) {
    const json::object input{{"gate", request.gate},
                             {"paths", texts(request.paths)},
                             {"parameters", request.parameters},
                             {"tree", calls_->session().state().tree}};
    AF_TRY(const json::value value, calls_->durable("run_gate", input, [&]() -> Result<json::value> {
        const StageClock::Pause measuring(calls_->clock());
        AF_TRY(const GateReport report,
               run_and_record_gate(calls_->session(), calls_->task_workspace(), calls_->services().events, request,
                                   calls_->session().state().tree, nullptr, calls_->stop()));
        return json::value(to_json(report));
    }));
    return gate_report_from_json(value.as_object());
}

Result<std::vector<Change>> StageHost::write_skeleton(const std::vector<SkeletonInterface>& interfaces) {
    json::array list;
    for (const SkeletonInterface& entry : interfaces) {
        list.push_back(json::object{{"name", entry.name}, {"file", entry.file}, {"signature", entry.signature}});
    }
    AF_TRY(const json::value value,
           calls_->durable("write_skeleton", {{"interfaces", std::move(list)}}, [&]() -> Result<json::value> {
               AF_TRY(const auto files,
                      calls_->task_workspace().skeleton(calls_->session().state().base_tree, interfaces, calls_->stop()));
               // The kernel itself writes these, so no role's rules apply, but protected paths are still refused.
               AF_TRY(RolePaths rules, RolePaths::make("kernel", {}));
               AF_TRY(auto workspace,
                      RoleWorkspace::open(calls_->task_workspace().root(), std::move(rules), calls_->services().redactor));
               workspace->pin(calls_->task_workspace().submodules());
               for (const auto& [path, content] : files) { AF_CHECK(workspace->create(path, content, true)); }
               const std::vector<Change> changes = workspace->take_changes();
               AF_CHECK(calls_->snapshot(changes));
               return json::value(json::object{{"changes", to_json(changes)}});
           }));
    return changes_from_json(value.as_object().at("changes").as_array());
}

Result<Delivery> StageHost::deliver(const DeliveryRequest& request) {
    const StageTemplate& stage = calls_->session().state().stage_template();
    if (!makes_delivery(stage)) {
        return Error{"AF-PIPE-016", "stage `" + stage.name + "` may not deliver: its template does not have `delivers: true`",
                     "pipeline " + calls_->session().state().pipeline.name,
                     "Write `delivers: true` in the stage, or give it the contract delivery_report.", ErrorKind::denied};
    }
    json::object trailers;
    for (const auto& [name, text] : request.trailers) { trailers[name] = text; }
    const json::object input{
        {"title", request.title}, {"body", request.body}, {"trailers", trailers}, {"tree", calls_->session().state().tree}};
    AF_TRY(const json::value value, calls_->durable("deliver", input, [&]() -> Result<json::value> {
        AF_TRY(const Delivery delivery,
               deliver_task(calls_->session(), calls_->task_workspace(), calls_->services(), calls_->clock(), request));
        return json::value(to_json(delivery));
    }));
    return delivery_from_json(value.as_object());
}

Result<json::object> StageHost::run_contract(std::string_view contract, const json::object& inputs) {
    AgentRun run;
    run.objective = "Produce what contract " + std::string(contract) + " asks for.";
    run.state = inputs;
    run.output_contract = contract;
    AF_TRY(AgentOutcome outcome, run_agent(run));
    if (outcome.escalation) {
        asked_ = std::move(outcome.escalation);
        return Error{"AF-ORCH-004", "the agent asks for a person: " + asked_->question, "contract " + std::string(contract),
                     "answer the question, then resume", ErrorKind::unavailable};
    }
    return std::move(outcome.artifact);
}

Result<json::value> StageHost::parse_yaml(std::string_view text) {
    AF_TRY(YamlDocument document, agentforge::kernel::parse_yaml(text, "the model's answer"));
    return std::move(document.value);
}

}  // namespace agentforge::kernel
