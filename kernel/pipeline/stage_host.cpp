// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stage_host.hpp"

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "pipeline/codec.hpp"
#include "pipeline/delivery/delivery.hpp"
#include "pipeline/people/acting_changes.hpp"
#include "pipeline/tests/hand_back.hpp"
#include "pipeline/tests/held_out.hpp"

namespace agentforge::kernel {

namespace {

json::array texts(const std::vector<std::string>& list) {
    json::array array;
    for (const std::string& item : list) { array.emplace_back(item); }
    return array;
}

Error not_here(std::string_view what) {
    return Error{"AF-ORCH-028", "this stage has no role whose rights " + std::string(what) + " could have", "",
                 "name an agent for the stage in the pipeline template", ErrorKind::denied};
}

/// Returns the plan's current step, which the stage puts into the state of its agent run: `plan_step: {number, of, title,
/// attempt}`.
std::optional<records::PlanStep> plan_step_of(const json::object& run_state) {
    const json::value* said = run_state.if_contains("plan_step");
    if (said == nullptr || !said->is_object()) { return std::nullopt; }
    const json::object& step = said->get_object();
    const auto number = [&step](std::string_view key) -> unsigned {
        const json::value* value = step.if_contains(key);
        const std::int64_t count = value != nullptr && value->is_int64() ? value->get_int64()
                                   : value != nullptr && value->is_uint64()
                                       ? static_cast<std::int64_t>(std::min<std::uint64_t>(value->get_uint64(), 1'000'000))
                                       : 0;
        return count > 0 && count <= 1'000'000 ? static_cast<unsigned>(count) : 0;
    };
    const json::value* title = step.if_contains("title");
    if (number("number") == 0 || number("of") < number("number") || title == nullptr || !title->is_string()) {
        return std::nullopt;
    }
    return records::PlanStep{number("number"), number("of"), ellipsis(sanitize_utf8(title->get_string()), 200),
                             std::max(1U, number("attempt"))};
}

}  // namespace

// ------------------------------------------------------------------------------------ durable calls --

class StageHost::Calls {
public:
    Calls(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services)
        : session_(session),
          task_workspace_(task_workspace),
          services_(services),
          stage_(session.state().stage().name),
          visit_(session.state().stage().visits),
          clock_(services.clock, session.state().stage_template().timeout) {}

    Result<void> open() {
        AF_TRY(const auto recorded, parse_time(session_.state().stage().started_at));
        context_ = std::make_unique<KernelCallContext>(services_, clock_, stage_, recorded);
        known_ = session_.state().resumption.calls;  // The calls before the interruption. This visit adds its own.
        AF_CHECK(read_input());
        const StageTemplate& stage = session_.state().stage_template();
        if (!stage.agent.empty()) {
            AF_TRY(const AgentDefinition agent, services_.agents.get(stage.agent));
            AF_TRY(const auto locked, locked_tests(session_));
            AF_TRY(auto symbols, task_workspace_.path_symbols(session_.state().base_tree));
            AF_TRY(auto specified, specified_files(session_));
            AF_TRY(RolePaths rules,
                   RolePaths::make(agent.role, agent.path_constraints, locked, std::move(symbols), std::move(specified)));
            AF_TRY(files_, RoleWorkspace::open(task_workspace_.root(), std::move(rules), services_.redactor));
            files_->pin(task_workspace_.submodules());
        }
        return {};
    }

    /// Answers from the journal, or runs the call and journals the answer.
    Result<json::value> durable(std::string_view name, const json::object& input, const std::function<Result<json::value>()>& run,
                                const std::optional<records::PlanStep>& plan_step = {}) {
        if (fatal_) { return *fatal_; }
        if (abandoned_ || services_.cancel.step_ended()) { return remember(cancelled_error(name)); }
        if (clock_.expired()) { return remember(expired_error()); }
        const unsigned call = ++count_;
        const std::string hash = hash_of(input);
        if (const auto known = known_.find(call); known != known_.end()) {
            if (known->second.name != name || known->second.input_hash != hash) {
                return remember(mismatch(call, name, hash, known->second));
            }
            if (known->second.finished) { return answer(known->second); }
        } else {
            records::CallStarted started{stage_, visit_, call, std::string(name), hash};
            if (plan_step) {
                started.plan_step = plan_step;
                started.plan_step->title = session_.redactor().redact(plan_step->title);
            }
            AF_CHECK(keep(session_.record(started)));
        }
        written_.reset();
        Result<json::value> result = run();
        // The stage gets exactly what the journal holds, so it does the same after a crash.
        if (result.ok()) {
            services_.redactor.redact(*result);
        } else {
            result = services_.redactor.redact(std::move(result).error());
        }
        if (abandoned_) { return cancelled_error(name); }
        if (!result.ok() && result.error().kind == ErrorKind::timeout && clock_.expired()) { return remember(expired_error()); }
        if (!result.ok() && ends_the_visit(result.error())) { return remember(result.error()); }
        AF_TRY(const records::Kept kept, keep(session_.keep(result.ok() ? *result : json::value(to_json(result.error())))));
        records::CallFinished finished{.stage = stage_,
                                       .visit = visit_,
                                       .call = call,
                                       .name = std::string(name),
                                       .input_hash = hash,
                                       .outcome = result.ok() ? "ok" : "error",
                                       .result = kept};
        if (written_) {
            finished.tree = written_->first;
            finished.changes = std::move(written_->second);
        }
        AF_CHECK(keep(session_.record(finished)));
        if (!result.ok()) { return remember(result.error()); }
        return result;
    }

    /// Adds the stage's own writes to the record of the call that made them, so a crash leaves both or neither.
    Result<void> snapshot(const std::vector<Change>& changes) {
        if (changes.empty()) { return {}; }
        std::vector<std::string> paths;
        for (const Change& change : changes) { paths.push_back(change.path); }
        AF_TRY(const std::string tree, task_workspace_.snapshot(paths));
        AF_CHECK(task_workspace_.keep("seq-" + std::to_string(session_.state().seq + 1), tree));
        written_.emplace(tree, recorded(changes));
        return {};
    }

    /// Resets the workspace to the journal's tree.
    void take_back_unrecorded() {
        const std::string tree = session_.state().tree;
        const auto done = [&]() -> Result<void> {
            AF_TRY(const std::string now, task_workspace_.snapshot({}));
            std::vector<std::string> paths;
            for (std::string& path : task_workspace_.unrecordable()) { paths.emplace_back(std::move(path)); }
            if (now == tree && paths.empty()) { return {}; }
            AF_TRY(const auto changes, task_workspace_.diff(tree, now));
            for (const TreeChange& change : changes) { paths.emplace_back(change.path); }
            AF_CHECK(task_workspace_.restore(tree));
            return session_.record(records::Violation{stage_, std::move(paths)});
        }();
        static_cast<void>(keep(done));
    }

    /// Takes the outcome of work that the kernel did for the stage without a call.
    Result<void> outside(Result<void> done) {
        if (done.ok()) { return done; }
        return remember(done.error());
    }
    TaskSession& session() { return session_; }
    TaskWorkspace& task_workspace() { return task_workspace_; }
    TaskServices& services() { return services_; }
    StageClock& clock() { return clock_; }
    ServerPool& servers() { return servers_; }
    KernelCallContext& context() { return *context_; }
    const StageInput& input() const { return input_; }
    RoleWorkspace* files() { return files_.get(); }
    unsigned next_run() { return ++runs_; }
    /// Returns an error for the first call that this visit made before an interruption and has not repeated. Ask once the stage
    /// has returned.
    std::optional<Error> left_out() const {
        const auto known = known_.upper_bound(count_);
        if (known == known_.end()) { return std::nullopt; }
        return not_repeated("its host call " + std::to_string(known->first) + " was `" + known->second.name + "` (input " +
                            known->second.input_hash.substr(0, 12) +
                            ") before the interruption, and it has ended without it now");
    }
    Stop stop() const { return Stop{&services_.cancel, std::nullopt}; }
    void abandon() noexcept { abandoned_ = true; }
    bool abandoned() const noexcept { return abandoned_; }
    std::optional<Error> fatal() const { return fatal_; }

private:
    using Known = Resumption::HostCall;

    Result<void> read_input() {
        const TaskState& state = session_.state();
        const StageTemplate& stage = state.stage_template();
        input_.task_id = state.task_id;
        input_.pipeline = state.pipeline.name;
        input_.stage = stage.name;
        input_.stage_index = state.stage_index;
        input_.attempt = state.stage().attempts;
        input_.iteration = state.stage().iterations;
        input_.cycle = state.stage().cycles;
        input_.request = state.request;
        input_.goal_type = state.goal_type;
        AF_TRY(auto artifacts, session_.artifacts());
        AF_TRY(auto by_contract, session_.artifacts_by_contract());
        artifacts.merge(std::move(by_contract));  // The stage's own names take precedence.
        input_.artifacts = as_shown(state, std::move(artifacts));
        input_.completed_stages = state.completed_stages();
        input_.input_artifact = {{"original_request", state.request}};
        for (std::size_t before = 0; before < state.stage_index; ++before) {
            const auto artifact = input_.artifacts.find(state.stages[before].name);
            if (artifact != input_.artifacts.end()) { input_.input_artifact = artifact->second; }
        }
        input_.feedback = state.feedback;
        AF_TRY(input_.resolution, optional_object(state.resolution_blob));
        AF_TRY(input_.previous_attempt, optional_object(state.previous_artifact_blob));
        input_.previous_errors = state.previous_errors;
        input_.config = stage.config;
        input_.agent = stage.agent;
        input_.output_contract = stage.contract;
        input_.timeout = stage.timeout;
        return {};
    }

    Result<std::optional<json::object>> optional_object(const std::string& blob) {
        if (blob.empty()) { return std::optional<json::object>(); }
        AF_TRY(const json::value value, session_.get(blob));
        if (!value.is_object()) { return std::optional<json::object>(); }
        return std::optional<json::object>(as_shown(session_.state(), value.get_object()));
    }

    Result<json::value> answer(const Known& known) {
        AF_TRY(json::value value, keep(session_.kept(known.result)));
        if (known.ok) { return value; }
        return remember(error_from_json(value.as_object()));
    }

    Error cancelled_error(std::string_view name) const {
        return Error{"AF-ORCH-007", "the task was asked to stop before `" + std::string(name) + "`", "stage " + stage_,
                     "resume it with `agentforge resume " + short_id(session_.state().task_id) + "`", ErrorKind::cancelled};
    }

    Error expired_error() const {
        return Error{
            "AF-ORCH-002", "stage `" + stage_ + "` used up its " + std::to_string(clock_.limit().count() / 1000) + " s",
            "stage " + stage_,
            "`agentforge resume` gives it the same time again; for future tasks, raise the stage's timeout_seconds in the pipeline template",
            ErrorKind::timeout};
    }

    Error mismatch(unsigned call, std::string_view name, const std::string& hash, const Known& known) const {
        return not_repeated("its host call " + std::to_string(call) + " was `" + known.name + "` (input " +
                            known.input_hash.substr(0, 12) + ") before the interruption and is `" + std::string(name) +
                            "` (input " + hash.substr(0, 12) + ") now");
    }

    Error not_repeated(const std::string& how) const {
        return Error{
            "AF-ORCH-029", "stage `" + stage_ + "` is not deterministic: " + how,
            "stage " + stage_ + ", visit " + std::to_string(visit_),
            "a stage must be deterministic between host calls; if its plugin was updated meanwhile, abort the task and start it again",
            ErrorKind::corrupt};
    }

    Error remember(Error error) {
        if (ends_the_visit(error) && !fatal_) { fatal_ = error; }
        return error;
    }
    template <class T>
    Result<T> keep(Result<T> result) {
        if (!result.ok() && !fatal_) { fatal_ = result.error(); }
        return result;
    }

    TaskSession& session_;
    TaskWorkspace& task_workspace_;
    TaskServices& services_;
    std::string stage_;
    unsigned visit_;
    StageClock clock_;
    std::unique_ptr<KernelCallContext> context_;
    StageInput input_;
    std::unique_ptr<RoleWorkspace> files_;
    ServerPool servers_{
        [this](LogLevel level, std::string_view message, const json::object& fields) { context_->log(level, message, fields); }};
    std::map<unsigned, Known> known_;
    unsigned count_ = 0;
    unsigned runs_ = 0;
    std::atomic<bool> abandoned_{false};
    std::optional<Error> fatal_;
    std::optional<std::pair<std::string, std::vector<records::FileChange>>> written_;  ///< Tree and changes of the current call.
};

// ---------------------------------------------------------------------------------- durable workspace --

class StageHost::DurableWorkspace final : public Workspace {
public:
    explicit DurableWorkspace(Calls& calls) : calls_(calls) {}

    [[nodiscard]] Result<FileView> read(std::string_view path, const ReadOptions& options) override {
        return ask<FileView>(
            "read",
            {{"path", path},
             {"first_line", options.first_line},
             {"last_line", options.last_line},
             {"max_bytes", options.max_bytes}},
            [&](RoleWorkspace& files) -> Result<json::value> {
                AF_TRY(FileView view, files.read(path, options));
                view.content = sanitize_utf8(view.content);
                return json::value(to_json(view));
            },
            view_from_json);
    }
    [[nodiscard]] Result<Listing> list(std::string_view directory, const ListOptions& options) override {
        return ask<Listing>(
            "list",
            {{"directory", directory}, {"recursive", options.recursive}, {"glob", options.glob}, {"limit", options.limit}},
            [&](RoleWorkspace& files) -> Result<json::value> {
                AF_TRY(const Listing listing, files.list(directory, options));
                return json::value(to_json(listing));
            },
            listing_from_json);
    }
    [[nodiscard]] Result<SearchHits> search(const SearchQuery& query) override {
        return ask<SearchHits>(
            "search",
            {{"pattern", query.pattern},
             {"literal", query.literal},
             {"ignore_case", query.ignore_case},
             {"glob", query.glob},
             {"limit", query.limit}},
            [&](RoleWorkspace& files) -> Result<json::value> {
                AF_TRY(const SearchHits hits, files.search(query));
                return json::value(to_json(hits));
            },
            hits_from_json);
    }
    [[nodiscard]] bool exists(std::string_view path) override {
        const auto found = ask<bool>(
            "exists", {{"path", path}},
            [&](RoleWorkspace& files) -> Result<json::value> {
                return json::value(json::object{{"exists", files.exists(path)}});
            },
            [](const json::object& value) { return value.at("exists").as_bool(); });
        return found.ok() && *found;
    }
    [[nodiscard]] Result<Change> create(std::string_view path, std::string_view content, bool overwrite) override {
        return write("create", {{"path", path}, {"content", content}, {"overwrite", overwrite}},
                     [&](RoleWorkspace& files) { return files.create(path, content, overwrite); });
    }
    [[nodiscard]] Result<Change> edit(std::string_view path, std::string_view search, std::string_view replace) override {
        return write("edit", {{"path", path}, {"search", search}, {"replace", replace}},
                     [&](RoleWorkspace& files) { return files.edit(path, search, replace); });
    }
    [[nodiscard]] Result<Change> move(std::string_view from, std::string_view to) override {
        return write("move", {{"from", from}, {"to", to}}, [&](RoleWorkspace& files) { return files.move(from, to); });
    }
    [[nodiscard]] Result<Change> remove(std::string_view path) override {
        return write("remove", {{"path", path}}, [&](RoleWorkspace& files) { return files.remove(path); });
    }

private:
    template <class T, class Run, class Decode>
    Result<T> ask(std::string_view name, const json::object& input, Run run, Decode decode) {
        AF_TRY(const json::value value, calls_.durable("workspace." + std::string(name), input, [&]() -> Result<json::value> {
            if (calls_.files() == nullptr) { return not_here("the workspace"); }
            return run(*calls_.files());
        }));
        return decode(value.as_object());
    }
    template <class Run>
    Result<Change> write(std::string_view name, const json::object& input, Run run) {
        return ask<Change>(
            name, input,
            [&](RoleWorkspace& files) -> Result<json::value> {
                AF_TRY(const Change change, run(files));
                AF_CHECK(calls_.snapshot(files.take_changes()));
                return json::value(to_json(change));
            },
            change_from_json);
    }

    Calls& calls_;
};

// ---------------------------------------------------------------------------------------- stage host --

StageHost::StageHost() = default;
StageHost::~StageHost() = default;

Result<std::unique_ptr<StageHost>> StageHost::enter(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services) {
    std::unique_ptr<StageHost> host(new StageHost());
    host->calls_ = std::make_unique<Calls>(session, task_workspace, services);
    AF_CHECK(host->calls_->open());
    host->workspace_ = std::make_unique<DurableWorkspace>(*host->calls_);
    return host;
}

Result<void> StageHost::measure_before() {
    AF_CHECK(calls_->outside(put_work_back(calls_->session(), calls_->task_workspace())));
    // A suite that cannot be measured stops the task before its first model call, not only before the stage that is judged by it.
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
        log(LogLevel::info, "the repository has no tests: a suite was begun in " + paths, {});
    }
    return {};
}
void StageHost::abandon() noexcept { calls_->abandon(); }
void StageHost::end_servers() {
    if (calls_->servers().end() && !calls_->abandoned()) { calls_->take_back_unrecorded(); }
}
ServerPlace StageHost::process_place() { return stage_process_place(calls_->task_workspace(), calls_->services()); }
StageClock& StageHost::stage_clock() noexcept { return calls_->clock(); }
std::optional<Error> StageHost::left_out() const { return calls_->left_out(); }
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
        if (calls_->input().agent.empty()) { return not_here("the program"); }
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
        AF_TRY(const GateReport report, measure(calls_->session(), calls_->task_workspace(), calls_->services().events, request,
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
               // The kernel itself writes these, so no role's rules apply; protected places stay closed.
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
