// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pipeline_controller.hpp"

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/template_checks.hpp"
#include "pipeline/gate_runs.hpp"
#include "pipeline/process_requests.hpp"
#include "pipeline/task_run.hpp"
#include "task/artifact_files.hpp"
#include "task/failures.hpp"

namespace agentforge::kernel {

json::object plugin_settings(json::object config) {
    for (const std::string_view key : {"exit_gate", "exit_criteria", "verify_edits", "hand_back_gate", "violation"}) {
        config.erase(key);
    }
    return config;
}

namespace {

constexpr std::size_t max_guidance_bytes = 4000;  // Leaves room in a context beside the errors of the previous attempt.

Error broken_rule(std::string code, std::string message, std::string remedy, ErrorKind kind = ErrorKind::invalid) {
    return Error{std::move(code), std::move(message), "", std::move(remedy), kind};
}

}  // namespace

Result<void> check_guidance(std::string_view guidance) {
    const auto refused = [](std::string why, std::string remedy) {
        return broken_rule("AF-ORCH-048", "the message to the model " + std::move(why), std::move(remedy));
    };
    if (guidance.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return refused("is empty", "say what the model should do, or resume without a message");
    }
    if (guidance.size() > max_guidance_bytes) {
        return refused(
            "has " + std::to_string(guidance.size()) + " bytes; at most " + std::to_string(max_guidance_bytes) + " are allowed",
            "shorten it: the model's context has little room besides the work itself");
    }
    if (guidance.find('\0') != std::string_view::npos || !is_valid_utf8(guidance)) {
        return refused("is not text in UTF-8", "give it in UTF-8");
    }
    return {};
}

PipelineController::PipelineController(ControllerSetup setup) : setup_(std::move(setup)) {}

Error request_too_long(const std::string& size) {
    return broken_rule("AF-ORCH-040",
                       "the request has " + size + " bytes; at most " + std::to_string(max_request_bytes) + " are allowed",
                       "shorten it and put the details into a file of the repository");
}

Result<void> check_request(std::string_view request) {
    if (request.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return broken_rule("AF-ORCH-040", "the request is empty",
                           "say what to do, e.g. agentforge start \"Add a --version flag\"");
    }
    if (request.size() > max_request_bytes) { return request_too_long(std::to_string(request.size())); }
    if (request.find('\0') != std::string_view::npos) {
        return broken_rule("AF-ORCH-040", "the request contains a zero byte: it is not text", "give it as text in UTF-8");
    }
    if (!is_valid_utf8(request)) { return broken_rule("AF-ORCH-040", "the request is not valid UTF-8", "give it in UTF-8"); }
    return {};
}

Result<TaskBase> PipelineController::base_for(const StartOptions& options) {
    if (options.base) { return *options.base; }
    AF_TRY(auto base, options.include_uncommitted ? setup_.task_workspaces.base_with_uncommitted(setup_.services.clock.now())
                                                  : setup_.task_workspaces.base());
    return TaskBase{std::move(base.first), std::move(base.second), setup_.task_workspaces.base_branch()};
}

namespace {

Result<void> check_stages(const StartOptions& options) {
    for (const std::string& stage : options.approve_stages) {
        if (!options.pipeline.index_of(stage)) { return unknown_stage(options.pipeline, stage, "to approve"); }
    }
    for (const std::string& stage : options.iterate_stages) {
        if (!options.pipeline.index_of(stage)) { return unknown_stage(options.pipeline, stage, "to iterate at"); }
    }
    if (options.exit_after && !options.pipeline.index_of(*options.exit_after)) {
        return unknown_stage(options.pipeline, *options.exit_after);
    }
    return {};
}

/// A task before its first record.
class NewTask {
public:
    NewTask(const ControllerSetup& setup, std::string_view request, const StartOptions& options, TaskBase base)
        : setup_(setup), request_(request), options_(options), base_(std::move(base)), entry_(options.entry) {}

    Result<std::unique_ptr<TaskSession>> create();

private:
    Result<void> make_id();
    [[nodiscard]] json::object document(json::object configuration) const;
    Result<json::object> inputs();
    [[nodiscard]] records::TaskCreated record() const;

    const ControllerSetup& setup_;
    const std::string_view request_;
    const StartOptions& options_;
    const TaskBase base_;
    Entry entry_;
    std::string now_;
    std::string id_;
};

Result<std::unique_ptr<TaskSession>> NewTask::create() {
    json::object configuration = options_.configuration;
    if (options_.seal) { AF_CHECK(options_.seal(configuration)); }
    AF_CHECK(make_id());
    json::object task = document(std::move(configuration));
    if (!entry_.imports.empty()) { AF_TRY(task["inputs"], inputs()); }
    return TaskSession::create(setup_.store, task, record(), setup_.services.clock, setup_.command, setup_.services.redactor,
                               [&](TaskSession& begun) -> Result<void> {
                                   if (options_.repeats_people) { AF_CHECK(begun.repeats(*options_.replay_of)); }
                                   return record_imports(begun, setup_.services.contracts, entry_);
                               });
}

Result<void> NewTask::make_id() {
    now_ = format_time(setup_.services.clock.now());
    std::string day = now_.substr(0, 10);
    std::erase(day, '-');
    id_ = make_task_id(setup_.services.redactor.redact(std::string(request_)), day, setup_.ids);
    return options_.named ? options_.named(id_) : Result<void>();
}

/// Returns the document of task.yaml.
json::object NewTask::document(json::object configuration) const {
    return {{"format", 1},
            {"task_id", id_},
            {"request", request_},
            {"goal_type", options_.pipeline.goal_type},
            {"success_criteria",
             json::array{"Every stage's artifact satisfies its contract", "Every gate passes on the delivered tree"}},
            {"created_at", now_},
            {"pipeline", options_.pipeline.name},
            {"pipeline_template", options_.pipeline.to_json()},
            {"base_commit", base_.commit},
            {"codebase_hash", base_.tree},
            {"configuration", std::move(configuration)}};
}

Result<json::object> NewTask::inputs() {
    TaskState named;
    named.resumption.named_after = id_;
    named.request = setup_.services.redactor.redact(std::string(request_));
    named.created_at = now_;
    named.base_commit = base_.commit;
    return resolve_inputs(entry_, setup_.services.contracts, task_names(named), setup_.services.redactor, now_);
}

records::TaskCreated NewTask::record() const {
    records::TaskCreated created{
        .task_id = id_,
        .request = std::string(request_),
        .goal_type = options_.pipeline.goal_type,
        .pipeline = options_.pipeline.to_json(),
        .base_commit = base_.commit,
        .base_tree = base_.tree,
        .base_branch = base_.branch,
        .supervised = options_.supervised || options_.pipeline.supervised,
        .approve_stages = {options_.approve_stages.begin(), options_.approve_stages.end()},
        .iterate_stages = std::vector<std::string>(options_.iterate_stages.begin(), options_.iterate_stages.end()),
        .interactive = options_.interactive,
        .exit_after = options_.exit_after,
        .replay_of = options_.replay_of};
    if (!options_.entry.stage.empty()) { created.entry_stage = options_.entry.stage; }
    if (!options_.entry.left_out.empty()) { created.left_out = options_.entry.left_out; }
    if (!options_.set_file.empty()) { created.set = options_.set_file; }
    if (!entry_.imports.empty()) { created.imports = contracts_of(entry_); }
    return created;
}

}  // namespace

Result<PipelineResult> PipelineController::execute(std::string_view request, const StartOptions& options) {
    AF_CHECK(check_request(request));
    AF_CHECK(check_stages(options));
    AF_TRY(TaskBase base, base_for(options));
    AF_TRY(auto session, NewTask(setup_, request, options, std::move(base)).create());
    return TaskRun(setup_, std::move(session)).drive();
}

Result<PipelineResult> PipelineController::resume(std::string_view task_id, std::string_view guidance) {
    if (!guidance.empty()) { AF_CHECK(check_guidance(guidance)); }
    AF_TRY(auto session,
           TaskSession::open(setup_.store, task_id, setup_.services.clock, setup_.command, setup_.services.redactor));
    AF_CHECK(check_files_are_own(session->paths(), session->state()));
    if (!is_terminal(session->state().status)) { AF_CHECK(session->write_missing_artifacts()); }
    return TaskRun(setup_, std::move(session), guidance).drive();
}

namespace {

constexpr std::string_view abort_command = "agentforge abort";  ///< The lock shows this command for a process that aborts the
                                                                ///< task.

/// Asks the process that runs the task. It checks for the request at every host call.
Result<AbortOutcome> ask_to_abort(const TaskStore& store, std::string_view task_id, std::string_view reason) {
    const TaskPaths paths = store.paths(task_id);
    const auto holder = TaskLock::holder(paths);
    const auto state = store.load_state(task_id);
    const bool is_aborting = (holder && holder->command == abort_command) ||
                             (state.ok() && text_of(*state, "status") == to_string(TaskStatus::aborted));
    if (is_aborting) { return AbortOutcome::already_asked; }
    const auto asked = request_abort(paths, reason);
    if (!asked.ok() && asked.error().kind == ErrorKind::conflict) { return AbortOutcome::already_asked; }
    AF_CHECK(asked);
    return AbortOutcome::asked_to_stop;
}

}  // namespace

Result<AbortOutcome> PipelineController::abort(std::string_view task_id, std::string_view reason) {
    const auto open = [&] {
        return TaskSession::open(setup_.store, task_id, setup_.services.clock, abort_command, setup_.services.redactor,
                                 RequestFile::if_there);
    };
    const auto is_held = [](const auto& session) { return !session.ok() && is_in_use(session.error()); };
    auto session = open();
    if (is_held(session) && !TaskLock::holder(setup_.store.paths(task_id))) { session = open(); }  // It has just ended.
    if (is_held(session)) { return ask_to_abort(setup_.store, task_id, reason); }
    if (!session.ok()) { return session.error(); }
    const TaskStatus status = (*session)->state().status;
    if (status == TaskStatus::completed) {
        return broken_rule("AF-ORCH-042",
                           "task " + std::string(task_id) + " has already ended (" + std::string(to_string(status)) + ")",
                           "nothing to do", ErrorKind::conflict);
    }
    // The process may end during the steps after this record. Each of them can be repeated.
    if (status != TaskStatus::aborted) { AF_CHECK((*session)->record(records::TaskAborted{std::string(reason)})); }
    prove_and_archive(setup_, **session);
    TaskRun(setup_, std::move(*session)).close();
    return status == TaskStatus::aborted ? AbortOutcome::finished : AbortOutcome::aborted;
}

void PipelineController::archive_ended(const std::vector<std::string>& tasks) {
    for (const std::string& task : tasks) {
        if (TaskLock::holder(setup_.store.paths(task))) { continue; }
        const auto session = TaskSession::open(setup_.store, task, setup_.services.clock, setup_.command,
                                               setup_.services.redactor, RequestFile::if_there);
        // Does not report a task that cannot be opened; commands on that task do.
        if (session.ok() && is_terminal((*session)->state().status)) { prove_and_archive(setup_, **session); }
    }
}

Result<TaskState> PipelineController::get_status(std::string_view task_id) const {
    auto projection = setup_.store.load_state(task_id);
    const json::value* hash = projection.ok() ? projection->if_contains("hash") : nullptr;
    if (hash != nullptr && hash->is_string() && Journal::ends_with(setup_.store.paths(task_id).journal(), hash->get_string())) {
        if (auto state = task_state_from_json(*projection); state.ok()) { return state; }
    }
    return read_task_state(setup_.store, task_id);
}

Result<TaskListing> PipelineController::list_tasks(const std::optional<TaskStatus>& status, std::size_t limit) const {
    return setup_.store.list(status ? std::optional(std::string(to_string(*status))) : std::nullopt, limit);
}

}  // namespace agentforge::kernel
