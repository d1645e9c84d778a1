// SPDX-License-Identifier: Apache-2.0
#include "task/state.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::array<std::pair<TaskStatus, std::string_view>, 7> task_status_names{{
    {TaskStatus::pending, "pending"},
    {TaskStatus::running, "running"},
    {TaskStatus::paused, "paused"},
    {TaskStatus::awaiting_approval, "awaiting_approval"},
    {TaskStatus::completed, "completed"},
    {TaskStatus::failed, "failed"},
    {TaskStatus::aborted, "aborted"},
}};
constexpr std::array<std::pair<StageStatus, std::string_view>, 5> stage_status_names{{
    {StageStatus::pending, "pending"},
    {StageStatus::running, "running"},
    {StageStatus::completed, "completed"},
    {StageStatus::failed, "failed"},
    {StageStatus::skipped, "skipped"},
}};
constexpr std::array<std::pair<StageProgress, std::string_view>, 8> progress_names{{
    {StageProgress::not_started, "not_started"},
    {StageProgress::executing, "executing"},
    {StageProgress::accepted, "accepted"},
    {StageProgress::asking, "asking"},
    {StageProgress::escalated, "escalated"},
    {StageProgress::approving, "approving"},
    {StageProgress::cycling, "cycling"},
    {StageProgress::failed, "failed"},
}};
constexpr std::array<std::pair<EscalationCause, std::string_view>, 6> cause_names{{
    {EscalationCause::stage, "stage"},
    {EscalationCause::healing, "healing"},
    {EscalationCause::review, "review"},
    {EscalationCause::cycle_limit, "cycle_limit"},
    {EscalationCause::iteration_limit, "iteration_limit"},
    {EscalationCause::attempts, "attempts"},
}};

template <class Names, class Value>
std::string_view name_in(const Names& names, Value value) noexcept {
    for (const auto& [candidate, name] : names) {
        if (candidate == value) { return name; }
    }
    return "unknown";
}

template <class Names>
auto value_in(const Names& names, std::string_view text) -> std::optional<typename Names::value_type::first_type> {
    for (const auto& [value, name] : names) {
        if (name == text) { return value; }
    }
    return std::nullopt;
}

/// Reads the fields of one record; the first that is missing or of another type is the error.
class Fields {
public:
    explicit Fields(const json::object& object) : object_(object) {}

    std::string text(std::string_view key) {
        const json::value* value = object_.if_contains(key);
        if (value == nullptr || !value->is_string()) {
            miss(key, "a text");
            return {};
        }
        return std::string(value->get_string());
    }
    std::string text_or(std::string_view key, std::string_view fallback) {
        const json::value* value = object_.if_contains(key);
        if (value == nullptr || value->is_null()) { return std::string(fallback); }
        return text(key);
    }
    std::uint64_t number(std::string_view key) {
        const json::value* value = object_.if_contains(key);
        if (value != nullptr && value->is_uint64()) { return value->get_uint64(); }
        if (value != nullptr && value->is_int64() && value->get_int64() >= 0) {
            return static_cast<std::uint64_t>(value->get_int64());
        }
        miss(key, "a whole number that is not negative");
        return 0;
    }
    std::uint64_t number_or(std::string_view key, std::uint64_t fallback) {
        return object_.contains(key) ? number(key) : fallback;
    }
    [[nodiscard]] bool has(std::string_view key) const { return object_.contains(key); }
    template <class Names>
    auto one_of(std::string_view key, const Names& names, typename Names::value_type::first_type otherwise) {
        const auto found = value_in(names, text(key));
        if (!found) { miss(key, "one of the known words"); }
        return found.value_or(otherwise);
    }
    bool boolean(std::string_view key) {
        const json::value* value = object_.if_contains(key);
        if (value == nullptr || !value->is_bool()) {
            miss(key, "true or false");
            return false;
        }
        return value->get_bool();
    }
    std::vector<std::string> texts(std::string_view key) {
        std::vector<std::string> result;
        const json::value* value = object_.if_contains(key);
        if (value == nullptr || !value->is_array()) {
            miss(key, "a list of texts");
            return result;
        }
        for (const json::value& item : value->get_array()) {
            if (!item.is_string()) {
                miss(key, "a list of texts");
                return result;
            }
            result.emplace_back(item.get_string());
        }
        return result;
    }
    const json::object& object(std::string_view key) {
        static const json::object empty;
        const json::value* value = object_.if_contains(key);
        if (value == nullptr || !value->is_object()) {
            miss(key, "a map");
            return empty;
        }
        return value->get_object();
    }

    /// What is wrong with a map inside of this one.
    void take_over(const Fields& inner) {
        if (problem_.empty()) { problem_ = inner.problem_; }
    }
    [[nodiscard]] bool complete() const noexcept { return problem_.empty(); }
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    void miss(std::string_view key, std::string_view wanted) {
        if (problem_.empty()) { problem_ = "field `" + std::string(key) + "` must be " + std::string(wanted); }
    }

    const json::object& object_;
    std::string problem_;
};

json::array to_array(const auto& texts) {
    json::array array;
    for (const auto& text : texts) { array.emplace_back(text); }
    return array;
}

void set_optional(json::object& object, std::string_view key, const std::optional<std::string>& value) {
    if (value) {
        object[key] = *value;
    } else {
        object[key] = nullptr;
    }
}

/// One record being applied: checks first, then changes, so that a refused record changes nothing.
class Application {
public:
    Application(TaskState& state, const json::object& record) : state_(state), record_(record), fields_(record) {}

    Result<void> apply() {
        const std::string type = fields_.text("type");
        const Sequence seq = fields_.number_or("seq", state_.seq + 1);
        const std::string time = fields_.text_or("timestamp", state_.updated_at);
        const std::string hash = fields_.text_or("hash", "");
        if (!fields_.complete()) { return incomplete(); }
        if (state_.seq != 0 && seq != state_.seq + 1) {
            return refuse("record " + std::to_string(seq) + " follows record " + std::to_string(state_.seq));
        }
        if (state_.task_id.empty() && type != "task_created") { return refuse("`" + type + "` comes before `task_created`"); }
        time_ = time;
        const std::uint64_t ran = type == "task_resumed" || type == "recovered" || type == "costing" ? 0 : time_since_last();
        const std::size_t stage = state_.stage_index;
        AF_CHECK(dispatch(type));
        if (ran != 0 && stage < state_.stages.size()) { state_.stages[stage].wall_ms += ran; }
        state_.seq = seq;
        state_.hash = hash;
        state_.updated_at = time;
        return {};
    }

private:
    Result<void> dispatch(const std::string& type) {
        using Handler = Result<void> (Application::*)();
        static const std::map<std::string_view, Handler> handlers{
            {"task_created", &Application::task_created},
            {"task_started", &Application::task_started},
            {"task_resumed", &Application::task_resumed},
            {"task_paused", &Application::task_paused},
            {"task_aborted", &Application::task_aborted},
            {"task_failed", &Application::task_failed},
            {"task_completed", &Application::task_completed},
            {"stage_started", &Application::stage_started},
            {"stage_failed", &Application::stage_failed},
            {"stage_skipped", &Application::stage_skipped},
            {"stage_escalated", &Application::stage_escalated},
            {"stage_completed", &Application::stage_completed},
            {"artifact_accepted", &Application::artifact_accepted},
            {"artifact_rejected", &Application::artifact_rejected},
            {"review_finished", &Application::review_finished},
            {"approval_requested", &Application::approval_requested},
            {"approval_decided", &Application::approval_decided},
            {"action_proposed", &Application::action_proposed},
            {"action_asked", &Application::action_asked},
            {"action_decided", &Application::action_decided},
            {"escalation_raised", &Application::escalation_raised},
            {"escalation_resolved", &Application::escalation_resolved},
            {"cycle_requested", &Application::cycle_requested},
            {"cycle_started", &Application::cycle_started},
            {"step", &Application::step},
            {"gate", &Application::gate},
            {"snapshot", &Application::snapshot},
            {"held_out", &Application::held_out},
            {"delivered", &Application::delivered},
            {"published", &Application::published},
            {"rebased", &Application::rebased},
            {"answer", &Application::answer},
            {"call_lost", &Application::call_lost},
            {"costing", &Application::costing},
            {"attempt_failed", &Application::attempt_failed},
            {"call_started", &Application::recorded},
            {"call_finished", &Application::call_finished},
            {"recovered", &Application::recorded},
            {"violation", &Application::recorded},
            {"server_tool", &Application::recorded},
            {"note", &Application::recorded},
            {"plugins", &Application::recorded},
        };
        const auto handler = handlers.find(type);
        if (handler == handlers.end()) {
            return Error{"AF-TASK-011", "the journal holds a record of the unknown type `" + type + "`", place(),
                         "it was probably written by a newer version of agentforge; use that version", ErrorKind::corrupt};
        }
        return (this->*handler->second)();
    }

    // ------------------------------------------------------------------------------------ task --

    Result<void> task_created() {
        if (!state_.task_id.empty()) { return refuse("the task is created twice"); }
        TaskState fresh;
        fresh.task_id = fields_.text("task_id");
        fresh.request = fields_.text("request");
        fresh.goal_type = fields_.text("goal_type");
        fresh.base_commit = fields_.text("base_commit");
        fresh.base_tree = fields_.text("base_tree");
        fresh.base_branch = fields_.text_or("base_branch", "");
        fresh.supervised = fields_.boolean("supervised");
        fresh.interactive = record_.contains("interactive") && fields_.boolean("interactive");
        const auto approve = fields_.texts("approve_stages");
        const std::string exit_after = fields_.text_or("exit_after", "");
        const json::object& pipeline = fields_.object("pipeline");
        if (!fields_.complete()) { return incomplete(); }
        AF_TRY(fresh.pipeline, PipelineTemplate::from_json(pipeline));
        if (fresh.pipeline.stages.empty()) { return refuse("its pipeline has no stage"); }
        if (!exit_after.empty()) {
            if (!fresh.pipeline.index_of(exit_after)) { return refuse("its pipeline has no stage `" + exit_after + "` to exit after"); }
            fresh.exit_after = exit_after;
        }
        fresh.approve_stages = {approve.begin(), approve.end()};
        fresh.created_at = time_;
        fresh.tree = fresh.base_tree;
        for (const StageTemplate& stage : fresh.pipeline.stages) {
            StageState entry;
            entry.name = stage.name;
            fresh.stages.push_back(std::move(entry));
        }
        state_ = std::move(fresh);
        return {};
    }

    Result<void> task_started() {
        if (state_.status != TaskStatus::pending) { return refuse("the task was started before"); }
        state_.status = TaskStatus::running;
        return {};
    }

    Result<void> task_resumed() {
        if (state_.status == TaskStatus::completed || state_.status == TaskStatus::aborted) { return refuse_ended(); }
        if (state_.status == TaskStatus::failed && state_.progress != StageProgress::not_started) {
            // The person has looked at it: whatever the stage stood at, it gets a new round.
            start_new_round();
            state_.stage().heals = 0;
            state_.stage().reviews = 0;
        }
        if (state_.status == TaskStatus::running) { state_.died_running = true; }
        const bool waits = state_.progress == StageProgress::escalated || state_.progress == StageProgress::approving || (state_.action && !state_.action->id.empty());
        if (!waits) { state_.status = TaskStatus::running; }
        state_.pause_reason.clear();
        state_.error.clear();
        state_.error_code.clear();
        state_.completed_at.clear();
        return {};
    }

    Result<void> task_paused() {
        AF_CHECK(require_alive());
        const std::string reason = fields_.text("reason");
        if (!fields_.complete()) { return incomplete(); }
        // A call that was given up may still be under way, as with a process that died.
        const bool given_up = record_.contains("given_up") && fields_.boolean("given_up");
        if (!fields_.complete()) { return incomplete(); }
        if (state_.status == TaskStatus::running || state_.status == TaskStatus::pending) { state_.status = TaskStatus::paused; }
        if (given_up) { state_.died_running = true; }
        state_.pause_reason = reason;
        return {};
    }

    Result<void> task_aborted() {
        if (state_.status == TaskStatus::completed || state_.status == TaskStatus::aborted) { return refuse_ended(); }
        const std::string reason = fields_.text("reason");
        if (!fields_.complete()) { return incomplete(); }
        end(TaskStatus::aborted);
        state_.error = reason;
        return {};
    }

    Result<void> task_failed() {
        AF_CHECK(require_alive());
        const std::string code = fields_.text("code");
        const std::string message = fields_.text("message");
        if (!fields_.complete()) { return incomplete(); }
        end(TaskStatus::failed);
        state_.error_code = code;
        state_.error = message;
        return {};
    }

    Result<void> task_completed() {
        AF_CHECK(require_running());
        const std::string stage = fields_.text("exit_stage");
        if (!fields_.complete()) { return incomplete(); }
        if (stage != state_.stage().name || !is_last(state_)) { return refuse("the pipeline does not end with stage `" + stage + "` now"); }
        if (!stage_is_done()) { return refuse("stage `" + stage + "` is not completed, so the task cannot be"); }
        end(TaskStatus::completed);
        state_.exit_stage = stage;
        return {};
    }

    void end(TaskStatus status) {
        state_.status = status;
        state_.completed_at = time_;
        state_.escalation.reset();
        state_.approval.reset();
        state_.action.reset();
        state_.cycle_to.clear();
        state_.cycle_reason.clear();
        if (state_.stage().status == StageStatus::running) { state_.stage().status = StageStatus::failed; }
        if (state_.progress != StageProgress::not_started) { state_.progress = StageProgress::failed; }
    }

    // ----------------------------------------------------------------------------------- stage --

    Result<void> stage_started() {
        AF_CHECK(require_running());
        AF_CHECK(require_current_stage());
        if (state_.progress != StageProgress::not_started && state_.progress != StageProgress::failed) {
            return refuse("stage `" + state_.stage().name + "` is at work already");
        }
        if (stage_is_done()) { return refuse("stage `" + state_.stage().name + "` is done already"); }
        for (const StageState& other : state_.stages) {
            if (other.status == StageStatus::running) { return refuse("stage `" + other.name + "` still runs"); }
        }
        StageState& stage = state_.stage();
        stage.status = StageStatus::running;
        stage.visits += 1;
        stage.attempts += 1;
        stage.started_at = time_;
        stage.error.clear();
        if (stage.name == "red" && state_.before_red.empty()) { state_.before_red = state_.tree; }
        state_.progress = StageProgress::executing;
        state_.reviewed_by.clear();
        return {};
    }

    Result<void> stage_failed() {
        AF_CHECK(require_executing());
        const json::object& error = fields_.object("error");
        const std::uint64_t duration = fields_.number_or("duration_ms", 0);
        Fields error_fields(error);
        const std::string code = error_fields.text("code");
        const std::string message = error_fields.text("message");
        if (!fields_.complete()) { return incomplete(); }
        if (!error_fields.complete()) { return incomplete(error_fields); }
        StageState& stage = state_.stage();
        stage.status = StageStatus::failed;
        stage.error = message;
        stage.duration_ms += duration;
        state_.error_code = code;
        state_.previous_errors = {message};
        state_.progress = StageProgress::failed;
        return {};
    }

    Result<void> stage_skipped() {
        AF_CHECK(require_running());
        AF_CHECK(require_current_stage());
        const std::string reason = fields_.text("reason");
        if (!fields_.complete()) { return incomplete(); }
        if (state_.progress != StageProgress::not_started || stage_is_done()) { return refuse("a stage that was started cannot be skipped"); }
        if (reason.empty() || reason != skip_reason(state_)) { return refuse("nothing says that the stage may be skipped for `" + reason + "`"); }
        state_.stage().status = StageStatus::skipped;
        state_.stage().skip_reason = reason;
        state_.stage().completed_at = time_;
        advance();
        return {};
    }

    Result<void> stage_escalated() {
        AF_CHECK(require_running());
        AF_CHECK(require_current_stage());
        OpenEscalation open;
        const auto cause = value_in(cause_names, fields_.text("cause"));
        open.reason = fields_.text("reason");
        open.question = fields_.text("question");
        open.options = fields_.texts("options");
        open.context_blob = fields_.text_or("context_blob", "");
        const std::string partial = fields_.text_or("partial_blob", "");
        const std::uint64_t duration = fields_.number_or("duration_ms", 0);
        if (!fields_.complete()) { return incomplete(); }
        if (!cause) { return refuse("its cause is unknown"); }
        if (state_.progress == StageProgress::asking || state_.progress == StageProgress::escalated ||
            state_.progress == StageProgress::approving) {
            return refuse("a question is open already");
        }
        if (stage_is_done()) { return refuse("stage `" + state_.stage().name + "` is done already"); }
        open.cause = *cause;
        state_.escalation = std::move(open);
        if (state_.progress == StageProgress::cycling) { state_.hand_back.reset(); }
        state_.cycle_to.clear();
        state_.cycle_reason.clear();
        state_.progress = StageProgress::asking;
        state_.stage().duration_ms += duration;
        state_.stage().status = StageStatus::pending;
        if (!partial.empty()) { state_.previous_artifact_blob = partial; }
        return {};
    }

    Result<void> escalation_raised() {
        const std::string id = fields_.text("escalation_id");
        if (!fields_.complete()) { return incomplete(); }
        AF_CHECK(require_running());
        AF_CHECK(require_current_stage());
        if (state_.progress != StageProgress::asking || !state_.escalation) { return refuse("there is no question to raise"); }
        state_.escalation->id = id;
        state_.stage().escalations += 1;
        state_.progress = StageProgress::escalated;
        state_.status = TaskStatus::paused;
        return {};
    }

    Result<void> escalation_resolved() {
        AF_CHECK(require_alive());
        const std::string id = fields_.text("escalation_id");
        const bool abort = fields_.boolean("abort");
        const std::string blob = fields_.text("resolution_blob");
        if (!fields_.complete()) { return incomplete(); }
        if (state_.progress != StageProgress::escalated || !state_.escalation || state_.escalation->id != id) {
            return refuse("escalation `" + id + "` is not open");
        }
        if (abort) {
            end(TaskStatus::aborted);
            state_.error = "aborted after escalation " + id;
            return {};
        }
        state_.resolution_blob = blob;
        state_.escalation.reset();
        state_.status = TaskStatus::running;
        start_new_round();
        state_.stage().heals = 0;
        state_.stage().reviews = 0;
        state_.stage().iterations = 0;
        return {};
    }

    Result<void> artifact_accepted() {
        AF_CHECK(require_executing());
        const std::string path = fields_.text("artifact");
        const std::string hash = fields_.text("artifact_hash");
        const auto conditions = fields_.texts("conditions");
        const std::uint64_t duration = fields_.number_or("duration_ms", 0);
        const bool asks = record_.contains("asks") && fields_.boolean("asks");
        if (!fields_.complete()) { return incomplete(); }
        AF_CHECK(require_exit_gate());
        StageState& stage = state_.stage();
        stage.artifact = path;
        stage.artifact_hash = hash;
        stage.duration_ms += duration;
        stage.heals = 0;
        made_progress();
        stage.conditions = {conditions.begin(), conditions.end()};
        stage.asks = asks;
        state_.progress = StageProgress::accepted;
        state_.reviewed_by.clear();
        if (stage.name == "red") { state_.red_tree = state_.tree; }
        return {};
    }

    Result<void> artifact_rejected() {
        AF_CHECK(require_executing());
        auto errors = fields_.texts("errors");
        const std::string blob = fields_.text_or("artifact_blob", "");
        const std::uint64_t duration = fields_.number_or("duration_ms", 0);
        if (!fields_.complete()) { return incomplete(); }
        StageState& stage = state_.stage();
        stage.heals += 1;
        stage.attempts = 0;
        stage.status = StageStatus::failed;
        stage.duration_ms += duration;
        stage.error = errors.empty() ? "the artifact was refused" : errors.front();
        state_.previous_errors = std::move(errors);
        state_.previous_artifact_blob = blob;
        state_.progress = StageProgress::failed;
        return {};
    }

    Result<void> stage_completed() {
        AF_CHECK(require_running());
        AF_CHECK(require_current_stage());
        if (state_.progress != StageProgress::accepted) { return refuse("its artifact was not accepted"); }
        AF_CHECK(require_reviews());
        AF_CHECK(require_exit_gate());
        if (wants_approval(state_)) { return refuse("nobody has approved its artifact"); }
        state_.stage().status = StageStatus::completed;
        state_.stage().completed_at = time_;
        if (state_.hand_back && state_.hand_back->from == state_.stage().name) { state_.hand_back.reset(); }
        advance();
        return {};
    }

    // ------------------------------------------------------------------- review and approval --

    Result<void> review_finished() {
        AF_CHECK(require_running());
        AF_CHECK(require_current_stage());
        const std::string reviewer = fields_.text("reviewer");
        const std::uint64_t blocking = fields_.number("blocking");
        const auto issues = fields_.texts("issues");
        const std::string blob = fields_.text_or("artifact_blob", "");
        if (!fields_.complete()) { return incomplete(); }
        if (state_.progress != StageProgress::accepted) { return refuse("there is no accepted artifact to review"); }
        const auto& reviewers = state_.stage_template().reviewers;
        if (std::find(reviewers.begin(), reviewers.end(), reviewer) == reviewers.end()) { return refuse("`" + reviewer + "` does not review this stage"); }
        if (blocking == 0 || !state_.stage_template().review_blocking) {
            state_.reviewed_by.insert(reviewer);
            return {};
        }
        StageState& stage = state_.stage();
        stage.reviews += 1;
        stage.attempts = 0;
        stage.status = StageStatus::failed;
        stage.error = "reviewer `" + reviewer + "` found " + std::to_string(blocking) + " blocking issue(s)";
        state_.previous_errors = issues;
        state_.previous_artifact_blob = blob;
        state_.progress = StageProgress::failed;
        return {};
    }

    Result<void> approval_requested() {
        AF_CHECK(require_running());
        AF_CHECK(require_current_stage());
        OpenApproval open{fields_.text("approval_id"), fields_.text("artifact_hash")};
        if (!fields_.complete()) { return incomplete(); }
        if (state_.progress != StageProgress::accepted) { return refuse("there is no accepted artifact to approve"); }
        AF_CHECK(require_reviews());
        if (open.artifact_hash != state_.stage().artifact_hash) { return refuse("approval is asked for another artifact"); }
        state_.approval = std::move(open);
        state_.progress = StageProgress::approving;
        state_.status = TaskStatus::awaiting_approval;
        return {};
    }

    Result<void> approval_decided() {
        const std::string id = fields_.text("approval_id");
        const bool approved = fields_.boolean("approved");
        const std::string hash = fields_.text("artifact_hash");
        const std::string feedback = fields_.text_or("feedback", "");
        const std::string blob = fields_.text_or("artifact_blob", "");
        if (!fields_.complete()) { return incomplete(); }
        if (state_.progress != StageProgress::approving || !state_.approval || state_.approval->id != id) {
            return refuse("approval `" + id + "` is not open");
        }
        if (hash != state_.approval->artifact_hash) { return refuse("the decision is about another artifact than the one shown"); }
        state_.approval.reset();
        state_.status = TaskStatus::running;
        if (approved) {
            state_.progress = StageProgress::accepted;
            state_.stage().approved_hash = hash;
            return {};
        }
        if (feedback.empty()) {
            end(TaskStatus::aborted);
            state_.error = "the output of stage " + state_.stage().name + " was rejected";
            return {};
        }
        state_.stage().iterations += 1;
        state_.stage().versions += 1;
        state_.feedback = feedback;
        state_.previous_artifact_blob = blob;
        start_new_round();
        return {};
    }

    // --------------------------------------------------------------------------------- actions --

    /// By a stage at work or by a reviewer of what it handed in.
    Result<void> action_proposed() {
        AF_CHECK(require_running());
        const std::string stage_name = fields_.text("phase");
        OpenAction open{"", fields_.text("action_hash"), fields_.text("action_blob"), fields_.text("tool")};
        const std::uint64_t duration = fields_.number_or("duration_ms", 0);
        if (!fields_.complete()) { return incomplete(); }
        if (!state_.interactive) { return refuse("the task is not interactive"); }
        if (stage_name != state_.stage().name) { return refuse("stage `" + stage_name + "` is not the current one"); }
        if (state_.progress != StageProgress::executing && state_.progress != StageProgress::accepted) { return refuse("no agent is at work"); }
        state_.action = std::move(open);
        state_.stage().duration_ms += duration;
        return {};
    }

    Result<void> action_asked() {
        AF_CHECK(require_alive());
        AF_CHECK(require_current_stage());
        const std::string id = fields_.text("approval_id");
        const std::string hash = fields_.text("action_hash");
        if (!fields_.complete()) { return incomplete(); }
        if (state_.status != TaskStatus::running || !state_.action || !state_.action->id.empty()) { return refuse("no action waits to be shown"); }
        if (hash != state_.action->hash) { return refuse("approval is asked for another action"); }
        state_.action->id = id;
        state_.actions_asked += 1;
        state_.status = TaskStatus::awaiting_approval;
        return {};
    }

    /// What was decided is the run's to carry out: it finds the record by the hash.
    Result<void> action_decided() {
        AF_CHECK(require_alive());
        const std::string id = fields_.text("approval_id");
        const std::string hash = fields_.text("action_hash");
        const std::string decision = fields_.text("decision");
        if (!fields_.complete()) { return incomplete(); }
        if (!state_.action || state_.action->id.empty() || state_.action->id != id) { return refuse("action `" + id + "` is not open"); }
        if (hash != state_.action->hash) { return refuse("the decision is about another action than the one shown"); }
        if (decision != "approved" && decision != "edited" && decision != "rejected") { return refuse("an action is approved, edited or rejected, not `" + decision + "`"); }
        if (decision == "edited" && !record_.contains("edited") && !record_.contains("edited_blob")) { return refuse("it does not say what the action was changed to"); }
        state_.action.reset();
        state_.status = TaskStatus::running;
        return {};
    }

    // ---------------------------------------------------------------------------------- cycles --

    Result<void> cycle_requested() {
        AF_CHECK(require_executing());
        const std::string to = fields_.text("to");
        const std::string reason = fields_.text("reason");
        const std::uint64_t duration = fields_.number_or("duration_ms", 0);
        if (!fields_.complete()) { return incomplete(); }
        const auto index = state_.pipeline.index_of(to);
        if (!index || *index >= state_.stage_index) { return refuse("`" + to + "` is not an earlier stage"); }
        std::optional<HandBack> hand_back;
        if (record_.contains("hand_back")) {
            Fields claim(fields_.object("hand_back"));
            hand_back = HandBack{state_.stage().name, to, claim.texts("tests"), claim.text("requirement"), state_.red_tree, state_.tree, ""};
            if (!claim.complete()) { return incomplete(claim); }
        }
        state_.hand_back = std::move(hand_back);
        state_.cycle_to = to;
        state_.cycle_reason = reason;
        state_.stage().duration_ms += duration;
        state_.stage().status = StageStatus::pending;
        state_.progress = StageProgress::cycling;
        return {};
    }

    Result<void> cycle_started() {
        AF_CHECK(require_running());
        if (state_.progress != StageProgress::cycling) { return refuse("no stage asked for a cycle"); }
        const auto target = state_.pipeline.index_of(state_.cycle_to);
        if (state_.stages[*target].cycles >= state_.pipeline.stages[*target].max_cycles) {
            return refuse("stage `" + state_.cycle_to + "` has reached its cycle limit");
        }
        // Any rework invalidates what was made and measured after it.
        const std::string reworked = state_.stages[*target].artifact_hash;
        for (std::size_t index = *target; index <= state_.stage_index; ++index) {
            StageState& stage = state_.stages[index];
            stage.status = StageStatus::pending;
            stage.attempts = 0;
            stage.heals = 0;
            stage.reviews = 0;
            stage.artifact.clear();
            stage.artifact_hash.clear();
            stage.approved_hash.clear();
            stage.conditions.clear();
            stage.skip_reason.clear();
            stage.completed_at.clear();
            if (const std::string gate = exit_gate(state_.pipeline.stages[index]); !gate.empty()) { state_.gates.erase(gate); }
            begin_effort(stage);
            if (stage.name == "red" && !state_.before_red.empty()) {
                // Tests are written before the code: what was written for the old ones goes with them. Tests that were handed back are corrected.
                const bool corrected = state_.hand_back && state_.hand_back->to == stage.name;
                state_.tree = corrected ? state_.red_tree : std::exchange(state_.before_red, {});
                state_.red_tree.clear();
                state_.held_out = {};
            }
        }
        if (state_.hand_back) { state_.hand_back->artifact_blob = reworked; }
        state_.gates.erase("deliver");
        // What the later stage was told is not meant for this one.
        state_.feedback.reset();
        state_.resolution_blob.clear();
        state_.previous_artifact_blob = reworked;
        state_.reviewed_by.clear();
        state_.stages[*target].cycles += 1;
        state_.stage_index = *target;
        state_.previous_errors = {state_.cycle_reason};
        state_.cycle_to.clear();
        state_.cycle_reason.clear();
        state_.progress = StageProgress::not_started;
        return {};
    }

    // ---------------------------------------------------------------------------- measurements --

    Result<void> step() {
        AF_CHECK(require_running());
        const std::string stage_name = fields_.text("phase");
        const std::uint64_t number = fields_.number("step");
        const std::uint64_t input = fields_.number_or("input_tokens", 0);
        const std::uint64_t output = fields_.number_or("output_tokens", 0);
        const std::string tree = fields_.text_or("tree", "");
        if (!fields_.complete()) { return incomplete(); }
        const auto index = state_.pipeline.index_of(stage_name);
        if (!index || *index != state_.stage_index) { return refuse("stage `" + stage_name + "` is not the current one"); }
        if (number != state_.steps + 1) {
            return refuse("step " + std::to_string(number) + " follows step " + std::to_string(state_.steps));
        }
        if (!tree.empty() && tree != state_.tree) { AF_CHECK(require_writer()); }
        StageState& stage = state_.stages[*index];
        stage.steps += 1;
        stage.input_tokens += input;
        stage.output_tokens += output;
        state_.steps = number;
        if (!state_.answer_counted && input + output > 0) {
            // The journal of an older version, whose answers do not say what they used.
            CallUsage call;
            if (const json::value* llm = record_.if_contains("llm_call"); llm != nullptr && llm->is_object()) { call = CallUsage::from_json(llm->get_object()); }
            call.input_tokens = input;
            call.output_tokens = output;
            call.by_backend = call.cost_microusd.has_value();
            state_.ledger.add(stage_name, role(), call);
        }
        state_.answer_counted = false;
        state_.died_running = false;
        if (!tree.empty()) { state_.tree = tree; }
        return {};
    }

    Result<void> gate() {
        AF_CHECK(require_running());
        const std::string name = fields_.text("gate");
        GateState measured;
        measured.tree = fields_.text("tree");
        measured.passed = fields_.boolean("passed");
        measured.partial = record_.contains("partial") && fields_.boolean("partial");
        measured.summary = fields_.text("summary");
        measured.seq = fields_.number_or("seq", state_.seq + 1);
        const auto held_out = record_.contains("held_out_failing") ? fields_.texts("held_out_failing") : std::vector<std::string>();
        if (!fields_.complete()) { return incomplete(); }
        const auto before = state_.gates.find(name);
        const bool again = before != state_.gates.end() && before->second.tree == measured.tree;
        for (const std::string& file : held_out) { state_.held_out.failures[file] += again ? 0 : 1; }
        const bool undoes = state_.progress == StageProgress::accepted && name == exit_gate(state_.stage_template()) &&
                            (!measured.passed || measured.partial || measured.tree != state_.tree);
        const std::uint64_t failures = fields_.number_or("failures", 0);
        const std::string failing = fields_.text_or("failing", "");
        if (!fields_.complete()) { return incomplete(); }
        if (measured.passed || record_.contains("failures")) { count_effort(name, measured, failing, failures); }
        const std::string summary = measured.summary;
        state_.gates[name] = std::move(measured);
        if (undoes) {
            // What the acceptance rested on holds no more: the stage is sent back, as if the artifact had been refused.
            send_back("the " + name + " gate was measured again and does not hold: " + summary);
        }
        return {};
    }

    void count_effort(const std::string& gate, const GateState& measured, const std::string& failing, std::uint64_t failures) {
        Effort& effort = state_.stage().effort;
        const bool judges = gate == exit_gate(state_.stage_template());
        if (judges && !measured.passed) { effort.same_refusals[failing] += 1; }
        const auto before = effort.fewest.find(gate);
        if (before == effort.fewest.end() || failures < before->second) {
            effort.fewest[gate] = failures;
            made_progress();
        } else if (!measured.passed && judges) {
            effort.refusals += 1;
        } else if (!measured.passed && measured.tree != effort.last_tree) {
            effort.edits += 1;
            effort.last_tree = measured.tree;
        }
    }

    void made_progress() {
        Effort& effort = state_.stage().effort;
        effort.refusals = 0;
        effort.edits = 0;
        effort.steps_before = state_.stage().steps;
    }

    void begin_effort(StageState& stage) {
        stage.effort = {};
        stage.effort.steps_before = stage.steps;
    }

    Result<void> snapshot() {
        AF_CHECK(require_running());
        AF_CHECK(require_writer());
        const std::string tree = fields_.text("tree");
        const bool answers_hand_back = record_.contains("put_back");
        if (!fields_.complete()) { return incomplete(); }
        if (answers_hand_back && state_.hand_back) { state_.hand_back->work_tree.clear(); }
        state_.tree = tree;
        return {};
    }

    Result<void> held_out() {
        AF_CHECK(require_running());
        HeldOutTests now = state_.held_out;
        now.red_tree = fields_.text("red_tree");
        now.files = fields_.texts("files");
        now.shown = fields_.texts("shown");
        now.hidden = fields_.boolean("hidden");
        now.reason = fields_.text("reason");
        const std::string tree = fields_.text("tree");
        if (!fields_.complete()) { return incomplete(); }
        if (now.red_tree != state_.red_tree) { return refuse("the tests that are held out are not of this task's red_tree"); }
        if (now.red_tree != state_.held_out.red_tree) { now.failures.clear(); }
        state_.held_out = std::move(now);
        state_.tree = tree;
        return {};
    }

    Result<void> delivered() {
        AF_CHECK(require_executing());
        const std::string commit = fields_.text("commit");
        const std::string branch = fields_.text("branch");
        const std::string tree = fields_.text("tree");
        if (!fields_.complete()) { return incomplete(); }
        const auto measured = state_.gates.find("deliver");
        if (measured == state_.gates.end() || !measured->second.passed || measured->second.tree != tree) {
            return refuse("the deliver gate did not pass on the delivered tree");
        }
        state_.commit = commit;
        state_.branch = branch;
        state_.delivery.clear();
        take_delivery();
        return {};
    }

    /// What a record says of the delivery, without what every record says.
    void take_delivery() {
        for (const auto& [key, value] : record_) {
            const std::string_view name = key;
            const bool of_every_record = name == "seq" || name == "step" || name == "type" || name == "timestamp" || name == "prev" || name == "hash" || name == "stage";
            if (!of_every_record) { state_.delivery[key] = value; }
        }
    }

    /// The delivered branch is where others see it.
    Result<void> published() {
        AF_CHECK(require_executing());
        const std::string url = fields_.text("pr_url");
        const std::string remote = fields_.text("remote");
        if (!fields_.complete()) { return incomplete(); }
        if (state_.commit.empty()) { return refuse("nothing was delivered"); }
        take_delivery();
        return {};
    }

    /// The delivered change was put on a newer base, after the task's end.
    Result<void> rebased() {
        const std::string commit = fields_.text("commit");
        const std::string tree = fields_.text("tree");
        const std::string base = fields_.text("base_commit");
        const std::string replaced = fields_.text("replaces");
        const bool passed = fields_.boolean("gate_passed");
        if (!fields_.complete()) { return incomplete(); }
        if (state_.status != TaskStatus::completed || state_.commit.empty()) { return refuse("only a commit that was delivered can be rebased"); }
        if (replaced != state_.commit) { return refuse("it replaces " + replaced + ", and the task's commit is " + state_.commit); }
        if (!passed) { return refuse("the deliver gate did not pass on the rebased tree"); }
        state_.commit = commit;
        take_delivery();
        return {};
    }

    /// A stage's own writes are recorded with the call that made them: both, or neither.
    Result<void> call_finished() {
        const std::string tree = fields_.text_or("tree", "");
        if (!fields_.complete()) { return incomplete(); }
        if (tree.empty()) { return {}; }
        AF_CHECK(require_running());
        AF_CHECK(require_writer());
        state_.tree = tree;
        return {};
    }

    Result<void> recorded() { return {}; }

    // ------------------------------------------------------------------------------------- cost --

    /// What a call used is counted with its answer, not with its step: a crash between the two loses nothing and counts nothing twice.
    Result<void> answer() {
        if (!record_.contains("usage")) { return {}; }
        return count_call(false);
    }

    /// An attempt that was refused before the model began says nothing of usage.
    Result<void> attempt_failed() {
        if (!record_.contains("usage")) { return {}; }
        return count_call(true);
    }

    Result<void> call_lost() { return count_call(true); }

    Result<void> count_call(bool lost) {
        const std::string stage = fields_.text("phase");
        const json::object& usage = fields_.object("usage");
        if (!fields_.complete()) { return incomplete(); }
        state_.ledger.add(stage, role(), CallUsage::from_json(usage), lost);
        state_.answer_counted = state_.answer_counted || !lost;
        state_.died_running = false;
        return {};
    }

    Result<void> costing() {
        const json::object& in_force = fields_.object("in_force");
        if (!fields_.complete()) { return incomplete(); }
        state_.costing = in_force;
        return {};
    }

    [[nodiscard]] std::string role() const {
        const json::value* agent = record_.if_contains("agent");
        const json::value* name = agent != nullptr && agent->is_object() ? agent->get_object().if_contains("role") : nullptr;
        return name != nullptr && name->is_string() ? std::string(name->get_string()) : std::string();
    }

    /// Since the record before this one, where the task has been running in between.
    [[nodiscard]] std::uint64_t time_since_last() const {
        if (state_.status != TaskStatus::running || time_ == state_.updated_at) { return 0; }
        const auto before = parse_time(state_.updated_at);
        const auto now = parse_time(time_);
        if (!before.ok() || !now.ok() || *now <= *before) { return 0; }
        return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(*now - *before).count());
    }

    // --------------------------------------------------------------------------------- helpers --

    void advance() {
        state_.feedback.reset();
        state_.resolution_blob.clear();
        state_.previous_artifact_blob.clear();
        state_.previous_errors.clear();
        state_.reviewed_by.clear();
        state_.error_code.clear();
        state_.progress = StageProgress::not_started;
        if (!is_last(state_)) { state_.stage_index += 1; }
    }

    [[nodiscard]] bool stage_is_done() const {
        return state_.stage().status == StageStatus::completed || state_.stage().status == StageStatus::skipped;
    }

    void send_back(std::string why) {
        StageState& stage = state_.stage();
        stage.heals += 1;
        stage.attempts = 0;
        stage.status = StageStatus::failed;
        stage.error = why;
        state_.previous_artifact_blob = stage.artifact_hash;
        state_.previous_errors = {std::move(why)};
        state_.progress = StageProgress::failed;
    }

    void start_new_round() {
        state_.stage().attempts = 0;
        begin_effort(state_.stage());
        state_.stage().status = StageStatus::pending;
        state_.progress = StageProgress::not_started;
        state_.cycle_to.clear();
        state_.cycle_reason.clear();
    }

    Result<void> require_alive() const {
        if (is_terminal(state_.status)) { return refuse_ended(); }
        return {};
    }
    Result<void> require_running() const {
        AF_CHECK(require_alive());
        if (state_.status != TaskStatus::running) {
            return refuse("the task is " + std::string(to_string(state_.status)) + " and not running");
        }
        if (state_.action) { return refuse("a person has not decided on the action of tool `" + state_.action->tool + "` yet"); }
        return {};
    }
    Result<void> require_current_stage() {
        const std::string name = fields_.text("stage");
        if (!fields_.complete()) { return incomplete(); }
        if (name != state_.stage().name) {
            return refuse("it is about stage `" + name + "` while `" + state_.stage().name + "` is the current one");
        }
        return {};
    }
    /// Nothing but a stage at work writes: what was accepted stays what was measured and reviewed.
    Result<void> require_writer() const {
        if (state_.progress != StageProgress::executing) { return refuse("the workspace changes while stage `" + state_.stage().name + "` is not executing"); }
        return {};
    }
    Result<void> require_reviews() const {
        for (const std::string& reviewer : state_.stage_template().reviewers) {
            if (!state_.reviewed_by.contains(reviewer)) { return refuse("reviewer `" + reviewer + "` has not passed it"); }
        }
        return {};
    }
    Result<void> require_exit_gate() const {
        const std::string gate = exit_gate(state_.stage_template());
        if (gate.empty()) { return {}; }
        const auto measured = state_.gates.find(gate);
        if (measured == state_.gates.end()) { return refuse("its gate `" + gate + "` was not measured"); }
        if (!measured->second.passed) { return refuse("its gate `" + gate + "` did not pass"); }
        if (measured->second.partial) { return refuse("its gate `" + gate + "` looked at a part of the tree only"); }
        if (measured->second.tree != state_.tree) { return refuse("its gate `" + gate + "` was measured on another tree"); }
        return {};
    }
    Result<void> require_executing() {
        AF_CHECK(require_running());
        AF_CHECK(require_current_stage());
        if (state_.progress != StageProgress::executing) { return refuse("stage `" + state_.stage().name + "` is not executing"); }
        return {};
    }

    [[nodiscard]] std::string place() const {
        std::string text = "actions.yaml";
        if (const json::value* seq = record_.if_contains("seq"); seq != nullptr && seq->is_number()) {
            text += ", record " + json::serialize(*seq);
        }
        if (const json::value* type = record_.if_contains("type"); type != nullptr && type->is_string()) {
            text += ", type " + std::string(type->get_string());
        }
        return text;
    }
    [[nodiscard]] Error refuse(const std::string& why) const {
        return Error{"AF-TASK-010", "a journal record cannot follow what went before: " + why, place(),
                     "the journal was changed by something else than agentforge, or this is a defect; keep the file and report it",
                     ErrorKind::corrupt};
    }
    [[nodiscard]] Error refuse_ended() const { return refuse("the task has ended (" + std::string(to_string(state_.status)) + ")"); }
    [[nodiscard]] Error incomplete() const { return incomplete(fields_); }
    [[nodiscard]] Error incomplete(const Fields& fields) const {
        return Error{"AF-TASK-012", "a journal record is incomplete: " + fields.problem(), place(),
                     "it was written by another version of agentforge, or changed since; use that version", ErrorKind::corrupt};
    }

    TaskState& state_;
    const json::object& record_;
    Fields fields_;
    std::string time_;
};

}  // namespace

std::string_view to_string(TaskStatus status) noexcept { return name_in(task_status_names, status); }
std::string_view to_string(StageStatus status) noexcept { return name_in(stage_status_names, status); }

bool is_terminal(TaskStatus status) noexcept {
    return status == TaskStatus::completed || status == TaskStatus::failed || status == TaskStatus::aborted;
}

std::vector<std::string> TaskState::completed_stages() const {
    std::vector<std::string> names;
    for (const StageState& entry : stages) {
        if (entry.status == StageStatus::completed) { names.push_back(entry.name); }
    }
    return names;
}

std::string_view TaskState::waiting_for() const noexcept {
    if (is_terminal(status)) { return {}; }
    if (progress == StageProgress::escalated) { return "escalation"; }
    if (progress == StageProgress::approving) { return "approval"; }
    if (action && !action->id.empty()) { return "action"; }
    return {};
}

std::uint64_t TaskState::wall_ms() const noexcept {
    std::uint64_t total = 0;
    for (const StageState& entry : stages) { total += entry.wall_ms; }
    return total;
}

std::string_view name_of(EscalationCause cause) noexcept { return name_in(cause_names, cause); }

std::string exit_gate(const StageTemplate& stage) {
    const json::value* gate = stage.config.if_contains("exit_gate");
    return gate != nullptr && gate->is_string() ? std::string(gate->get_string()) : std::string();
}

bool is_last(const TaskState& state) {
    const std::string& name = state.stage().name;
    return state.stage_index + 1 == state.stages.size() || (state.exit_after && *state.exit_after == name) || state.pipeline.exit_stage == name;
}

bool wants_approval(const TaskState& state) {
    const StageState& stage = state.stage();
    if (!stage.approved_hash.empty() && stage.approved_hash == stage.artifact_hash) { return false; }
    if (stage.asks || state.stage_template().approve || state.approve_stages.contains(stage.name)) { return true; }
    return state.supervised && !is_last(state);
}

std::string skip_reason(const TaskState& state) {
    std::string_view rest = state.stage_template().skip_if;
    constexpr std::string_view separator = " OR ";
    while (!rest.empty()) {
        const std::size_t end = rest.find(separator);
        const std::string word(rest.substr(0, end));
        for (const StageState& stage : state.stages) {
            if (stage.conditions.contains(word)) { return word; }
        }
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + separator.size());
    }
    return {};
}

Result<void> fold(TaskState& state, const json::object& record) { return Application(state, record).apply(); }

Result<TaskState> fold_all(const std::vector<Record>& records) {
    TaskState state;
    for (const Record& record : records) { AF_CHECK(fold(state, record.body)); }
    return state;
}

// ---------------------------------------------------------------------------------- projection --

namespace {

json::object to_object(const auto& counts) {
    json::object result;
    for (const auto& [name, count] : counts) { result[name] = count; }
    return result;
}

json::object effort_to_json(const Effort& effort) {
    return {{"same_refusals", to_object(effort.same_refusals)},
            {"fewest", to_object(effort.fewest)},
            {"refusals", effort.refusals},
            {"edits", effort.edits},
            {"last_tree", effort.last_tree},
            {"steps_before", effort.steps_before}};
}

Effort effort_from_json(Fields& fields) {
    Effort effort;
    Fields refusals(fields.object("same_refusals"));
    for (const auto& [failing, times] : fields.object("same_refusals")) { effort.same_refusals[std::string(failing)] = static_cast<unsigned>(refusals.number(failing)); }
    Fields fewest(fields.object("fewest"));
    for (const auto& [gate, failures] : fields.object("fewest")) { effort.fewest[std::string(gate)] = fewest.number(gate); }
    effort.refusals = static_cast<unsigned>(fields.number("refusals"));
    effort.edits = static_cast<unsigned>(fields.number("edits"));
    effort.last_tree = fields.text("last_tree");
    effort.steps_before = fields.number("steps_before");
    fields.take_over(refusals);
    fields.take_over(fewest);
    return effort;
}

json::object stage_to_json(const StageState& stage) {
    return {{"status", to_string(stage.status)},
            {"visits", stage.visits},
            {"attempts", stage.attempts},
            {"heals", stage.heals},
            {"reviews", stage.reviews},
            {"iterations", stage.iterations},
            {"versions", stage.versions},
            {"cycles", stage.cycles},
            {"escalations", stage.escalations},
            {"artifact", stage.artifact},
            {"artifact_hash", stage.artifact_hash},
            {"approved_hash", stage.approved_hash},
            {"asks", stage.asks},
            {"effort", effort_to_json(stage.effort)},
            {"conditions", to_array(stage.conditions)},
            {"error", stage.error},
            {"skip_reason", stage.skip_reason},
            {"steps", stage.steps},
            {"input_tokens", stage.input_tokens},
            {"output_tokens", stage.output_tokens},
            {"duration_ms", stage.duration_ms},
            {"wall_ms", stage.wall_ms},
            {"started_at", stage.started_at},
            {"completed_at", stage.completed_at}};
}

StageState stage_from_json(const std::string& name, Fields& fields) {
    StageState stage;
    stage.name = name;
    stage.status = fields.one_of("status", stage_status_names, StageStatus::pending);
    stage.visits = static_cast<unsigned>(fields.number("visits"));
    stage.attempts = static_cast<unsigned>(fields.number("attempts"));
    stage.heals = static_cast<unsigned>(fields.number("heals"));
    stage.reviews = static_cast<unsigned>(fields.number("reviews"));
    stage.iterations = static_cast<unsigned>(fields.number("iterations"));
    stage.versions = static_cast<unsigned>(fields.number("versions"));
    stage.cycles = static_cast<unsigned>(fields.number("cycles"));
    stage.escalations = static_cast<unsigned>(fields.number("escalations"));
    stage.artifact = fields.text("artifact");
    stage.artifact_hash = fields.text("artifact_hash");
    stage.approved_hash = fields.text("approved_hash");
    if (fields.has("effort")) {     // A version before had none.
        Fields effort(fields.object("effort"));
        stage.effort = effort_from_json(effort);
        fields.take_over(effort);
    }
    const auto conditions = fields.texts("conditions");
    stage.conditions = {conditions.begin(), conditions.end()};
    stage.asks = fields.has("asks") && fields.boolean("asks");
    stage.error = fields.text("error");
    stage.skip_reason = fields.text("skip_reason");
    stage.steps = fields.number("steps");
    stage.input_tokens = fields.number("input_tokens");
    stage.output_tokens = fields.number("output_tokens");
    stage.duration_ms = fields.number("duration_ms");
    stage.wall_ms = fields.number_or("wall_ms", 0);
    stage.started_at = fields.text("started_at");
    stage.completed_at = fields.text("completed_at");
    return stage;
}

json::object held_out_to_json(const HeldOutTests& held) {
    json::object failures;
    for (const auto& [file, count] : held.failures) { failures[file] = count; }
    return {{"red_tree", held.red_tree}, {"files", to_array(held.files)}, {"shown", to_array(held.shown)}, {"failures", std::move(failures)}, {"reason", held.reason}, {"hidden", held.hidden}};
}

HeldOutTests held_out_from(Fields& fields) {
    HeldOutTests held;
    held.red_tree = fields.text("red_tree");
    held.files = fields.texts("files");
    held.shown = fields.texts("shown");
    held.reason = fields.text("reason");
    held.hidden = fields.boolean("hidden");
    const json::object& failures = fields.object("failures");
    Fields counts(failures);
    for (const auto& [file, count] : failures) { held.failures[std::string(file)] = static_cast<unsigned>(counts.number(file)); }
    return held;
}

}  // namespace

DeliveryBase delivery_base(const TaskState& state) {
    const auto text = [&](std::string_view key, const std::string& otherwise) {
        const json::value* value = state.delivery.if_contains(key);
        return value != nullptr && value->is_string() && !value->get_string().empty() ? std::string(value->get_string()) : otherwise;
    };
    return {text("base_commit", state.base_commit), text("base_tree", state.base_tree), text("red_tree", state.red_tree)};
}

std::string delivered_tree(const TaskState& state) {
    const json::value* tree = state.delivery.if_contains("tree");
    const json::value* from = state.delivery.if_contains("workspace_tree");
    const bool current = tree != nullptr && tree->is_string() && from != nullptr && from->is_string() && from->get_string() == state.tree;
    return current ? std::string(tree->get_string()) : state.tree;
}

json::object to_json_without_template(const TaskState& state) {
    json::object stages;
    for (const StageState& stage : state.stages) { stages[stage.name] = stage_to_json(stage); }
    json::object gates;
    for (const auto& [name, gate] : state.gates) {
        gates[name] = {{"tree", gate.tree}, {"passed", gate.passed}, {"partial", gate.partial}, {"summary", gate.summary}, {"seq", gate.seq}};
    }
    std::uint64_t tokens = 0;
    for (const StageState& stage : state.stages) { tokens += stage.input_tokens + stage.output_tokens; }
    json::object result{{"format", 1},
                        {"task_id", state.task_id},
                        {"request", state.request},
                        {"goal_type", state.goal_type},
                        {"status", to_string(state.status)},
                        {"pipeline", state.pipeline.name},
                        {"current_stage", state.stages.empty() ? std::string() : state.stage().name},
                        {"waiting_for", state.waiting_for()},
                        {"created_at", state.created_at},
                        {"updated_at", state.updated_at},
                        {"completed_at", state.completed_at},
                        {"error_code", state.error_code},
                        {"error", state.error},
                        {"pause_reason", state.pause_reason},
                        {"exit_stage", state.exit_stage},
                        {"commit", state.commit},
                        {"branch", state.branch},
                        {"steps", state.steps},
                        {"total_tokens", tokens},
                        {"spend", state.ledger.to_json()},
                        {"costing", state.costing},
                        {"answer_counted", state.answer_counted},
                        {"died_running", state.died_running},
                        {"progress", name_in(progress_names, state.progress)},
                        {"stage_index", state.stage_index},
                        {"supervised", state.supervised},
                        {"interactive", state.interactive},
                        {"actions_asked", state.actions_asked},
                        {"approve_stages", to_array(state.approve_stages)},
                        {"base_commit", state.base_commit},
                        {"base_tree", state.base_tree},
                        {"base_branch", state.base_branch},
                        {"delivery", state.delivery},
                        {"tree", state.tree},
                        {"red_tree", state.red_tree},
                        {"before_red", state.before_red},
                        {"held_out", held_out_to_json(state.held_out)},
                        {"reviewed_by", to_array(state.reviewed_by)},
                        {"resolution_blob", state.resolution_blob},
                        {"previous_artifact_blob", state.previous_artifact_blob},
                        {"previous_errors", to_array(state.previous_errors)},
                        {"cycle_to", state.cycle_to},
                        {"cycle_reason", state.cycle_reason},
                        {"stages", std::move(stages)},
                        {"gates", std::move(gates)}};
    set_optional(result, "exit_after", state.exit_after);
    set_optional(result, "feedback", state.feedback);
    result["escalation"] = nullptr;
    if (state.escalation) {
        result["escalation"] = {{"id", state.escalation->id},
                                {"cause", name_in(cause_names, state.escalation->cause)},
                                {"reason", state.escalation->reason},
                                {"question", state.escalation->question},
                                {"options", to_array(state.escalation->options)},
                                {"context_blob", state.escalation->context_blob}};
    }
    result["approval"] = nullptr;
    if (state.approval) { result["approval"] = {{"id", state.approval->id}, {"artifact_hash", state.approval->artifact_hash}}; }
    if (state.hand_back) {
        result["hand_back"] = {{"from", state.hand_back->from},
                               {"to", state.hand_back->to},
                               {"tests", to_array(state.hand_back->tests)},
                               {"requirement", state.hand_back->requirement},
                               {"base_tree", state.hand_back->base_tree},
                               {"work_tree", state.hand_back->work_tree},
                               {"artifact_blob", state.hand_back->artifact_blob}};
    }
    result["action"] = nullptr;
    if (state.action) { result["action"] = {{"id", state.action->id}, {"hash", state.action->hash}, {"blob", state.action->blob}, {"tool", state.action->tool}}; }
    result["seq"] = state.seq;
    result["hash"] = state.hash;
    return result;
}

json::object to_json(const TaskState& state) {
    json::object result = to_json_without_template(state);
    result["pipeline_template"] = state.stages.empty() ? json::object() : state.pipeline.to_json();
    return result;
}

Result<TaskState> task_state_from_json(const json::object& value) {
    Fields fields(value);
    const auto broken = [](const std::string& problem) {
        return Error{"AF-TASK-004", "state.yaml does not hold a task's state: " + problem, "state.yaml",
                     "nothing is lost: it is computed again from actions.yaml by the next command that opens the task", ErrorKind::corrupt};
    };
    if (fields.number("format") != 1) { return broken("its format is not 1"); }
    TaskState state;
    state.task_id = fields.text("task_id");
    state.request = fields.text("request");
    state.goal_type = fields.text("goal_type");
    const auto status = value_in(task_status_names, fields.text("status"));
    const auto progress = value_in(progress_names, fields.text("progress"));
    state.created_at = fields.text("created_at");
    state.updated_at = fields.text("updated_at");
    state.completed_at = fields.text("completed_at");
    state.error_code = fields.text("error_code");
    state.error = fields.text("error");
    state.pause_reason = fields.text("pause_reason");
    state.exit_stage = fields.text("exit_stage");
    state.commit = fields.text("commit");
    state.branch = fields.text("branch");
    state.steps = fields.number("steps");
    state.stage_index = fields.number("stage_index");
    state.supervised = fields.boolean("supervised");
    state.interactive = value.contains("interactive") && fields.boolean("interactive");
    state.actions_asked = fields.number_or("actions_asked", 0);
    const auto approve = fields.texts("approve_stages");
    state.approve_stages = {approve.begin(), approve.end()};
    state.base_commit = fields.text("base_commit");
    state.base_tree = fields.text("base_tree");
    state.base_branch = fields.text_or("base_branch", "");
    if (value.contains("delivery")) { state.delivery = fields.object("delivery"); }
    state.tree = fields.text("tree");
    state.red_tree = fields.text("red_tree");
    state.before_red = fields.text("before_red");
    if (value.contains("held_out")) {
        Fields held(fields.object("held_out"));
        state.held_out = held_out_from(held);
        if (!held.complete()) { return broken(held.problem()); }
    }
    const auto reviewed = fields.texts("reviewed_by");
    state.reviewed_by = {reviewed.begin(), reviewed.end()};
    state.resolution_blob = fields.text("resolution_blob");
    state.previous_artifact_blob = fields.text("previous_artifact_blob");
    state.previous_errors = fields.texts("previous_errors");
    state.cycle_to = fields.text("cycle_to");
    state.cycle_reason = fields.text("cycle_reason");
    state.seq = fields.number("seq");
    state.hash = fields.text("hash");
    if (value.contains("spend")) {
        const json::value& spend = value.at("spend");
        auto ledger = spend.is_array() ? Ledger::from_json(spend.get_array()) : std::nullopt;
        if (!ledger) { return broken("its spending is not a list of maps"); }
        state.ledger = std::move(*ledger);
        state.costing = fields.object("costing");
        state.answer_counted = fields.boolean("answer_counted");
        state.died_running = fields.boolean("died_running");
    }
    const json::object& pipeline = fields.object("pipeline_template");
    const json::object& stages = fields.object("stages");
    const json::object& gates = fields.object("gates");
    const auto optional_text = [&](std::string_view key) -> std::optional<std::string> {
        const json::value* text = value.if_contains(key);
        if (text == nullptr || text->is_null()) { return std::nullopt; }
        return fields.text(key);
    };
    state.exit_after = optional_text("exit_after");
    state.feedback = optional_text("feedback");
    if (!fields.complete()) { return broken(fields.problem()); }
    if (!status || !progress) { return broken("its status or progress is unknown"); }
    state.status = *status;
    state.progress = *progress;

    if (!pipeline.empty()) { AF_TRY(state.pipeline, PipelineTemplate::from_json(pipeline)); }
    for (const auto& [name, entry] : stages) {
        if (!entry.is_object()) { return broken("a stage is not a map"); }
        Fields stage_fields(entry.get_object());
        state.stages.push_back(stage_from_json(std::string(name), stage_fields));
        if (!stage_fields.complete()) { return broken("stage " + std::string(name) + ": " + stage_fields.problem()); }
    }
    if (state.stages.size() != state.pipeline.stages.size() || (!state.stages.empty() && state.stage_index >= state.stages.size())) {
        return broken("its stages are not those of its pipeline");
    }
    for (const auto& [name, entry] : gates) {
        if (!entry.is_object()) { return broken("a gate is not a map"); }
        Fields gate_fields(entry.get_object());
        GateState gate;
        gate.tree = gate_fields.text("tree");
        gate.passed = gate_fields.boolean("passed");
        gate.partial = gate_fields.boolean("partial");
        gate.summary = gate_fields.text("summary");
        gate.seq = gate_fields.number("seq");
        if (!gate_fields.complete()) { return broken("gate " + std::string(name) + ": " + gate_fields.problem()); }
        state.gates.emplace(name, std::move(gate));
    }
    if (const json::value* open = value.if_contains("escalation"); open != nullptr && open->is_object()) {
        Fields open_fields(open->get_object());
        OpenEscalation escalation;
        escalation.id = open_fields.text("id");
        escalation.cause = open_fields.one_of("cause", cause_names, EscalationCause::stage);
        escalation.reason = open_fields.text("reason");
        escalation.question = open_fields.text("question");
        escalation.options = open_fields.texts("options");
        escalation.context_blob = open_fields.text("context_blob");
        if (!open_fields.complete()) { return broken("escalation: " + open_fields.problem()); }
        state.escalation = std::move(escalation);
    }
    if (value.contains("hand_back")) {
        Fields open_fields(fields.object("hand_back"));
        state.hand_back = HandBack{open_fields.text("from"),      open_fields.text("to"),        open_fields.texts("tests"),        open_fields.text("requirement"),
                                   open_fields.text("base_tree"), open_fields.text("work_tree"), open_fields.text("artifact_blob")};
        if (!open_fields.complete()) { return broken("hand_back: " + open_fields.problem()); }
    }
    if (const json::value* open = value.if_contains("approval"); open != nullptr && open->is_object()) {
        Fields open_fields(open->get_object());
        OpenApproval approval{open_fields.text("id"), open_fields.text("artifact_hash")};
        if (!open_fields.complete()) { return broken("approval: " + open_fields.problem()); }
        state.approval = std::move(approval);
    }
    if (const json::value* open = value.if_contains("action"); open != nullptr && open->is_object()) {
        Fields open_fields(open->get_object());
        OpenAction action{open_fields.text("id"), open_fields.text("hash"), open_fields.text("blob"), open_fields.text("tool")};
        if (!open_fields.complete()) { return broken("action: " + open_fields.problem()); }
        state.action = std::move(action);
    }
    return state;
}

}  // namespace agentforge::kernel
