// SPDX-License-Identifier: Apache-2.0
#include "agent/loop.hpp"

#include <algorithm>

#include "agent/context.hpp"
#include "agent/memory.hpp"
#include "agent/protocol.hpp"
#include "agent/shorten.hpp"
#include "base/disk_failure.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_output_bytes = 32UL * 1024;
constexpr std::size_t max_error_bytes = 500;  // Maximum length of an error in the context.
constexpr std::size_t max_summary_bytes = 300;
constexpr unsigned most_identical_refusals = 4;

/// The context of one model call. Forwards to the run's context, records failed attempts and shows the answer's progress; has an
/// earlier deadline if time is limited.
class StepContext final : public ModelCallContext {
public:
    StepContext(CallContext& inner, StepHost& host, EventSink& events, const RequestPlace& place,
                std::optional<std::chrono::steady_clock::time_point> end)
        : inner_(inner), host_(host), events_(events), place_(place), end_(end) {}

    [[nodiscard]] bool cancelled() const noexcept override { return inner_.cancelled(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        const auto own = inner_.deadline();
        if (own && end_) { return std::min(*own, *end_); }
        return own ? own : end_;
    }
    void log(LogLevel level, std::string_view message, const json::object& fields) override {
        inner_.log(level, message, fields);
    }
    void progress(std::string_view text) override { inner_.progress(text); }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return inner_.now(); }

    [[nodiscard]] SpentAttempts spent() override { return host_.spent_attempts(place_.step); }
    [[nodiscard]] Result<void> attempt_failed(unsigned attempt, const Error& error) override {
        bytes_ = 0;
        return host_.attempt_failed(place_.step, attempt, error);
    }
    void answering(std::string_view part) override {
        bytes_ += part.size();
        const auto now = std::chrono::steady_clock::now();
        if (now < shown_ + between_shows) { return; }
        shown_ = now;
        show();
    }
    /// Shows that nothing has arrived yet, then how much has.
    void show() { events_.event(event::Answering{place_.stage, place_.role, place_.step, bytes_}); }

private:
    static constexpr std::chrono::milliseconds between_shows{200};

    CallContext& inner_;
    StepHost& host_;
    EventSink& events_;
    const RequestPlace& place_;
    const std::optional<std::chrono::steady_clock::time_point> end_;
    std::uint64_t bytes_ = 0;
    std::chrono::steady_clock::time_point shown_{};
};

class Loop {
public:
    Loop(const RunSpec& spec, ActionExecutor& actions, ModelClient& model, StepHost& host, CallContext& context,
         EventSink& events)
        : spec_(spec),
          actions_(actions),
          model_(model),
          host_(host),
          context_(context),
          events_(events),
          most_steps_(spec.run.text_answer ? spec.max_malformed : (spec.run.max_steps > 0 ? spec.run.max_steps : spec.max_steps)),
          memory_(spec.calibration_permille) {}

    Result<AgentOutcome> run() {
        static const std::vector<ToolSpec> none;
        AF_TRY(fixed_, fix_parts(spec_, spec_.run.text_answer ? none : actions_.offered(), model_.info().native_tool_calls));
        for (const StepRecord& record : host_.finished_steps()) {
            if (record.step != memory_.steps() + 1) {
                return Error{"AF-AGENT-016",
                             "the journal has step " + std::to_string(record.step) + " of this run in place of step " +
                                 std::to_string(memory_.steps() + 1),
                             spec_.stage + ", run " + std::to_string(spec_.place.run),
                             "`agentforge inspect` verifies the journal.", ErrorKind::corrupt};
            }
            memory_.add(record);
        }
        for (;;) {
            if (ended()) { return memory_.outcome(); }
            AF_CHECK(check_limits());
            host_.step_ended();
            AF_CHECK(check_not_stopped());
            AF_CHECK(step(memory_.steps() + 1));
        }
    }

private:
    [[nodiscard]] bool ended() const {
        if (!memory_.last()) { return false; }
        const StepRecord& last = *memory_.last();
        return last.completed || last.escalation.has_value() || (spec_.run.text_answer && last.success);
    }

    [[nodiscard]] std::string who() const { return "agent '" + spec_.agent.role + "' in stage '" + spec_.stage + "'"; }

    Result<void> check_limits() {
        if (memory_.malformed() >= spec_.max_malformed) {
            return Error{"AF-AGENT-012",
                         who() + " gave " + std::to_string(memory_.malformed()) +
                             " unreadable answers in a row; the last: " + memory_.last()->error,
                         "",
                         model_.info().native_tool_calls
                             ? "Use a model that calls tools reliably."
                             : "Use a model that follows the protocol, or one with native tool calls.",
                         ErrorKind::invalid};
        }
        if (memory_.identical_failures() >= spec_.max_identical_failures) {
            return Error{"AF-AGENT-011",
                         who() + " took the same failing action " + std::to_string(memory_.identical_failures()) +
                             " times in a row: " + memory_.last()->tool + ": " + memory_.last()->error,
                         "",
                         "Look at the step with `agentforge inspect`, then tell the model what to do: agentforge resume " +
                             spec_.place.task_id + " --say \"…\"",
                         ErrorKind::invalid};
        }
        if (memory_.identical_refusals() >= most_identical_refusals) {
            return Error{"AF-AGENT-011",
                         who() + " makes no progress: its artifact was refused for the same reason " +
                             std::to_string(memory_.identical_refusals()) + " times: " + memory_.last()->error,
                         "", "Say what the agent should do differently.", ErrorKind::invalid};
        }
        if (memory_.steps() >= most_steps_) {
            return Error{"AF-AGENT-010", who() + " used up its " + std::to_string(most_steps_) + " steps without completing", "",
                         "Raise max_steps of the stage, or make the request smaller.", ErrorKind::invalid};
        }
        return host_.require_progress();
    }

    Result<void> check_not_stopped() const {
        if (context_.cancelled()) {
            return Error{"AF-AGENT-014", who() + " was cancelled after step " + std::to_string(memory_.steps()), "",
                         "Resume the task to continue.", ErrorKind::cancelled};
        }
        if (const auto deadline = context_.deadline(); deadline && std::chrono::steady_clock::now() >= *deadline) {
            return Error{"AF-AGENT-015", who() + " reached its deadline after step " + std::to_string(memory_.steps()), "",
                         "Raise the stage's timeout, or resume the task.", ErrorKind::timeout};
        }
        return {};
    }

    Result<void> step(unsigned number) {
        AF_TRY(BuiltContext built, build_context(spec_, fixed_, memory_, host_.verification_status(), memo_));
        StepRecord record;
        record.step = number;
        record.system = fixed_.system;
        record.context = built.text;
        record.section_tokens = built.section_tokens;
        // Logged when it changes: the schemas of a role's tools may be shortened at every step.
        const json::array& cut = built.section_tokens.at("truncated").get_array();
        if (cut != cut_before_) {
            cut_before_ = cut;
            host_.log(LogLevel::info, "parts of the context were cut to fit their share of the budget",
                      {{"step", number}, {"role", spec_.agent.role}, {"section_tokens", built.section_tokens}});
        }
        AF_CHECK(ask(number, built, record));
        judge_usage(record);
        AF_CHECK(check_not_stopped());
        if (record.error.empty()) { AF_CHECK(act(record)); }
        record_changes(record);  // Changes by an agentic command count even if its answer does not.
        AF_CHECK(host_.step_finished(record));
        memory_.add(record);
        return {};
    }

    /// Fills `completion`. An unusable answer fills `error` instead of failing.
    Result<void> ask(unsigned number, const BuiltContext& built, StepRecord& record) {
        ModelRequest request;
        request.marks.user_ends = built.stable_ends;
        request.system = fixed_.system;
        request.user = built.text;
        request.tools = fixed_.tools;
        request.model = spec_.model;
        request.max_output_tokens = spec_.max_output_tokens;
        request.place = spec_.place;
        request.place.stage = spec_.stage;
        request.place.role = spec_.agent.role;
        request.place.step = number;
        if (frame_hash_.empty()) { frame_hash_ = frame_hash(request); }  // The same for the whole run.
        request.frame_hash = frame_hash_;
        request.context_hash = context_hash(request);
        if (auto pending = host_.pending_answer(number)) {
            record.completion = *std::move(pending);
            return {};
        }
        AF_CHECK(host_.before_call(number, request));
        StepContext watched(context_, host_, events_, request.place, host_.call_deadline());
        watched.show();
        auto answer = model_.complete(request, watched);
        if (!answer.ok()) {
            Error error = host_.call_failed(number, request, std::move(answer).error());
            // Too long, empty, or arguments that are not JSON: the model sees the error, because it can correct it. The same for
            // an agentic command that wrote where the role may not, or left no valid artifact.
            const bool wrote = spec_.agentic && error.code == "AF-ORCH-026";
            if (wrote) { record.tool = "agentic_command"; }
            if (!wrote && error.code != "AF-LLM-311" && !is_shown_to_model(error)) { return error; }
            refuse(record, error);
            return {};
        }
        record.completion = std::move(answer).value();
        AF_CHECK(host_.answer_received(number, request, record.completion));
        return check_request_count(record.completion);
    }

    /// A command that is used as a model may send many requests to its server in one step. Beyond the limit the task waits for a
    /// person before the next call. The journal has the answer with its cost, and resuming the task continues with it.
    Result<void> check_request_count(const Completion& answer) const {
        const json::value* requests = answer.diagnostics.if_contains("requests");
        const json::value* limit = answer.diagnostics.if_contains("requests_limit");
        if (requests == nullptr || limit == nullptr || !requests->is_number() || !limit->is_number()) { return {}; }
        return Error{
            "AF-LLM-315",
            "the command of " + who() + " sent its model's server at least " +
                std::to_string(requests->to_number<std::uint64_t>()) + " requests in one step; its limit is " +
                std::to_string(limit->to_number<std::uint64_t>()),
            "",
            "Run the command by hand to see what it does. Raise `max_requests` under llm.settings if it needs more, then resume.",
            ErrorKind::unavailable};
    }

    /// A refusal is the whole answer; half an action may come before it.
    static Result<void> not_refused(const Completion& answer) {
        if (answer.stop_reason != StopReason::refused) { return {}; }
        const std::string why = ellipsis(answer.text, max_summary_bytes);
        return Error{"AF-AGENT-025", "the model refused to answer" + (why.empty() ? std::string() : ": " + why), "",
                     "Say what you can do within the request, and do that with one action.", ErrorKind::invalid};
    }

    /// Uses the backend's own count, which is the one that costs money and counts against the limits.
    void judge_usage(const StepRecord& record) {
        const Usage& usage = record.completion.usage;
        if (usage.estimated || usage.input_tokens <= spec_.budget.total) { return; }
        host_.log(LogLevel::warning,
                  "the model's server counts " + std::to_string(usage.input_tokens) + " input tokens for step " +
                      std::to_string(record.step) + " of " + who() + "; the budget is " + std::to_string(spec_.budget.total) +
                      " (context.max_tokens), so later contexts will be smaller",
                  {{"step", record.step}, {"role", spec_.agent.role}});
    }

    /// Records the files that were written, and has them verified.
    void record_changes(StepRecord& record) {
        const std::vector<Change> written = host_.take_changes();
        if (written.empty()) { return; }
        record.changes.insert(record.changes.end(), written.begin(), written.end());
        std::vector<std::string> paths;
        for (const Change& change : written) { paths.push_back(change.path); }
        host_.after_edit(paths);
    }

    static void refuse(StepRecord& record, const Error& error) {
        record.error = ellipsis(error.to_string(), max_error_bytes);
        record.summary = ellipsis(error.message, max_summary_bytes);
    }

    /// Asks for permission, and replaces the action with the permitted one, which a person may have edited.
    Result<ActionVerdict::Kind> permitted(StepRecord& record, ToolCall action) {
        AF_TRY(ActionVerdict verdict, host_.permit(record.step, action));
        if (verdict.kind == ActionVerdict::Kind::edited) { action = std::move(verdict.edited); }
        record.tool = std::move(action.name);
        record.arguments = std::move(action.arguments);
        if (verdict.kind != ActionVerdict::Kind::rejected) { return verdict.kind; }
        refuse(record, {"AF-ESC-033",
                        "a person rejected this action" + (verdict.feedback.empty() ? std::string() : ": " + verdict.feedback),
                        "", "Nothing was done. Take another action that follows this feedback.", ErrorKind::denied});
        events_.event(event::ToolCalled{spec_.stage, spec_.agent.role, record.step, record.tool, false, record.summary});
        return verdict.kind;
    }

    static void accept_text(StepRecord& record) {
        record.success = record.completion.text.find_first_not_of(" \t\r\n") != std::string::npos;
        if (!record.success) {
            refuse(record, {"AF-AGENT-020", "the answer contains no text", "", "Answer with plain text.", ErrorKind::invalid});
        } else {
            record.summary = ellipsis(first_line(record.completion.text), max_summary_bytes);
        }
    }

    /// `edited`: a person changed the action.
    static void record_result(StepRecord& record, ToolResult result, bool edited) {
        bool cut = false;
        record.success = result.success;
        record.output = shorten_lines(sanitize_utf8(result.output), most_output_bytes, 1, cut);
        record.summary = ellipsis(sanitize_utf8(result.summary), max_summary_bytes);
        record.data = std::move(result.data);
        if (edited) {
            record.data["edited_by_person"] = true;
            record.summary = ellipsis("a person changed this action before it ran; " + record.summary, max_summary_bytes);
        }
        if (result.error) {
            record.error = ellipsis(sanitize_utf8(result.error->to_string()), max_error_bytes);
            if (record.summary.empty()) { record.summary = ellipsis(sanitize_utf8(result.error->message), max_summary_bytes); }
        } else if (!result.success) {
            record.error = record.summary.empty() ? "the tool failed and gave no reason" : record.summary;
        }
        if (record.summary.empty()) { record.summary = ellipsis(first_line(record.output), max_summary_bytes); }
    }

    /// Errors: those of StepHost::permit. A failure of the action itself is part of the record.
    Result<void> act(StepRecord& record) {
        if (const auto refused = not_refused(record.completion); !refused.ok()) {
            refuse(record, refused.error());
            return {};
        }
        if (spec_.run.text_answer) {
            accept_text(record);
            return {};
        }
        auto call = read_action(record.completion, actions_.offered(), model_.info().native_tool_calls);
        if (!call.ok()) {
            refuse(record, call.error());
            return {};
        }
        AF_TRY(const ActionVerdict::Kind verdict, permitted(record, std::move(*call)));
        if (verdict == ActionVerdict::Kind::rejected) { return {}; }
        actions_.expect(memory_.seen());
        ToolResult result =
            actions_.call(record.tool, record.arguments, {spec_.place.task_id, spec_.stage, spec_.agent.role, record.step});
        // A model cannot fix this: the run ends. When the task resumes, the action is repeated from the journaled answer.
        if (result.error && is_machine_failure(*result.error)) { return *result.error; }
        record_result(record, std::move(result), verdict == ActionVerdict::Kind::edited);
        events_.event(event::ToolCalled{spec_.stage, spec_.agent.role, record.step, record.tool, record.success, record.summary});
        record_changes(record);
        if (record.success) {
            if (auto artifact = host_.accepted_artifact()) {
                record.completed = true;
                record.artifact = *std::move(artifact);
            }
            record.escalation = host_.requested_escalation();
        }
        return {};
    }

    const RunSpec& spec_;
    ActionExecutor& actions_;
    ModelClient& model_;
    StepHost& host_;
    CallContext& context_;
    EventSink& events_;
    unsigned most_steps_;
    FixedParts fixed_;
    ContextMemo memo_;
    json::array cut_before_;
    std::string frame_hash_;
    Memory memory_;
};

}  // namespace

Result<AgentOutcome> run_steps(const RunSpec& spec, ActionExecutor& actions, ModelClient& model, StepHost& host,
                               CallContext& context, EventSink& events) {
    return Loop(spec, actions, model, host, context, events).run();
}

}  // namespace agentforge::kernel
