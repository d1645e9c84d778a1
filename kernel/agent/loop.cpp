// SPDX-License-Identifier: Apache-2.0
#include "agent/loop.hpp"

#include "agent/context.hpp"
#include "agent/memory.hpp"
#include "agent/protocol.hpp"
#include "agent/shorten.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_output_bytes = 32UL * 1024;
constexpr std::size_t most_error_bytes = 500;           // North Star 3.5.
constexpr std::size_t most_summary_bytes = 300;

class Loop {
public:
    Loop(const RunSpec& spec, ActionTaker& actions, ModelClient& model, StepHost& host, CallContext& context, EventSink& events)
        : spec_(spec), actions_(actions), model_(model), host_(host), context_(context), events_(events),
          most_steps_(spec.run.text_answer ? spec.max_malformed : (spec.run.max_steps > 0 ? spec.run.max_steps : spec.max_steps)) {}

    Result<AgentOutcome> run() {
        static const std::vector<ToolSpec> none;
        AF_TRY(fixed_, fix_parts(spec_, spec_.run.text_answer ? none : actions_.offered(), model_.info().native_tool_calls));
        for (const StepRecord& record : host_.finished_steps()) {
            if (record.step != memory_.steps() + 1) {
                return Error{"AF-AGENT-016", "the journal holds step " + std::to_string(record.step) + " of this run where step " +
                             std::to_string(memory_.steps() + 1) + " belongs", spec_.stage + ", run " + std::to_string(spec_.place.run),
                             "`agentforge inspect` verifies the journal.", ErrorKind::corrupt};
            }
            memory_.add(record);
        }
        for (;;) {
            if (ended()) { return memory_.outcome(); }
            AF_CHECK(limits());
            AF_CHECK(wanted());
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

    Result<void> limits() const {
        if (memory_.malformed() >= spec_.max_malformed) {
            return Error{"AF-AGENT-012", who() + " gave " + std::to_string(memory_.malformed()) + " answers in a row that cannot be read; the last: " +
                         memory_.last()->error, "", "Use a model that follows the protocol, or one with native tool calls.", ErrorKind::invalid};
        }
        if (memory_.identical_failures() >= spec_.max_identical_failures) {
            return Error{"AF-AGENT-011", who() + " took the same failing action " + std::to_string(memory_.identical_failures()) + " times in a row: " +
                         memory_.last()->tool + ": " + memory_.last()->error, "", "Look at the step with `agentforge inspect`, then resume with guidance.",
                         ErrorKind::invalid};
        }
        if (memory_.steps() >= most_steps_) {
            return Error{"AF-AGENT-010", who() + " used up its " + std::to_string(most_steps_) + " steps without completing", "",
                         "Raise max_steps of the stage, or make the request smaller.", ErrorKind::invalid};
        }
        return {};
    }

    Result<void> wanted() const {
        if (context_.cancelled()) {
            return Error{"AF-AGENT-014", who() + " was cancelled after step " + std::to_string(memory_.steps()), "", "Resume the task to go on.",
                         ErrorKind::cancelled};
        }
        if (const auto deadline = context_.deadline(); deadline && std::chrono::steady_clock::now() >= *deadline) {
            return Error{"AF-AGENT-015", who() + " reached its deadline after step " + std::to_string(memory_.steps()), "",
                         "Raise the stage's timeout, or resume the task.", ErrorKind::timeout};
        }
        return {};
    }

    json::object verification() {
        if (memory_.last() && !memory_.last()->verification.empty()) { return memory_.last()->verification; }
        return host_.verification_status();
    }

    Result<void> step(unsigned number) {
        AF_TRY(BuiltContext built, build_context(spec_, fixed_, memory_, verification()));
        StepRecord record;
        record.step = number;
        record.system = fixed_.system;
        record.context = built.text;
        record.section_tokens = built.section_tokens;
        AF_CHECK(ask(number, built, record));
        AF_CHECK(wanted());
        if (record.error.empty()) { act(record); }
        settle(record);         // What an agentic command changed counts even where its answer does not.
        record.verification = host_.verification_status();
        AF_CHECK(host_.step_finished(record));
        memory_.add(record);
        return {};
    }

    /// Fills completion; an answer that cannot be used fills error instead of failing.
    Result<void> ask(unsigned number, const BuiltContext& built, StepRecord& record) {
        CompletionRequest request;
        request.system = fixed_.system;
        request.user = built.text;
        request.tools = fixed_.tools;
        request.model = spec_.model;
        request.max_output_tokens = spec_.max_output_tokens;
        request.place = spec_.place;
        request.place.stage = spec_.stage;
        request.place.role = spec_.agent.role;
        request.place.step = number;
        request.frame_hash = frame_hash(request);
        request.context_hash = context_hash(request);
        if (auto pending = host_.pending_answer(number)) {
            record.completion = *std::move(pending);
            return {};
        }
        auto answer = model_.complete(request, context_);
        if (!answer.ok()) {
            // Too long, empty, arguments that are no JSON: the model can do better, so it is told.
            const std::string& code = answer.error().code;
            // So is an agentic command that wrote where the role may not, or left no proper artifact.
            const bool wrote = spec_.agentic && code == "AF-ORCH-026";
            if (wrote) { record.tool = "agentic_command"; }
            if (!wrote && code != "AF-LLM-101" && code != "AF-LLM-102" && code != "AF-LLM-105" && code != "AF-LLM-311") { return std::move(answer).error(); }
            refuse(record, answer.error());
            return {};
        }
        record.completion = std::move(answer).value();
        return host_.answer_received(number, request, record.completion);
    }

    /// Takes over what was written, and has it verified.
    void settle(StepRecord& record) {
        const std::vector<Change> written = host_.take_changes();
        if (written.empty()) { return; }
        record.changes.insert(record.changes.end(), written.begin(), written.end());
        std::vector<std::string> paths;
        for (const Change& change : written) { paths.push_back(change.path); }
        host_.after_edit(paths);
    }

    static void refuse(StepRecord& record, const Error& error) {
        record.error = ellipsis(error.to_string(), most_error_bytes);
        record.summary = ellipsis(error.message, most_summary_bytes);
    }

    void act(StepRecord& record) {
        if (spec_.run.text_answer) {
            record.success = record.completion.text.find_first_not_of(" \t\r\n") != std::string::npos;
            if (!record.success) {
                refuse(record, {"AF-AGENT-020", "the answer holds no text", "", "Answer with one plain text.", ErrorKind::invalid});
            } else {
                record.summary = ellipsis(first_line(record.completion.text), most_summary_bytes);
            }
            return;
        }
        auto call = read_action(record.completion, actions_.offered());
        if (!call.ok()) {
            refuse(record, call.error());
            return;
        }
        record.tool = call.value().name;
        record.arguments = std::move(call.value().arguments);
        ToolResult result = actions_.call(record.tool, record.arguments, {spec_.place.task_id, spec_.stage, spec_.agent.role, record.step});
        bool cut = false;
        record.success = result.success;
        record.output = shorten_lines(sanitize_utf8(result.output), most_output_bytes, 1, cut);
        record.summary = ellipsis(sanitize_utf8(result.summary), most_summary_bytes);
        record.data = std::move(result.data);
        if (result.error) {
            record.error = ellipsis(sanitize_utf8(result.error->to_string()), most_error_bytes);
            if (record.summary.empty()) { record.summary = ellipsis(sanitize_utf8(result.error->message), most_summary_bytes); }
        } else if (!result.success) {
            record.error = record.summary.empty() ? "the tool failed and did not say why" : record.summary;
        }
        if (record.summary.empty()) { record.summary = ellipsis(first_line(record.output), most_summary_bytes); }
        events_.event("tool", {{"stage", spec_.stage}, {"role", spec_.agent.role}, {"step", record.step}, {"tool", record.tool},
                               {"success", record.success}, {"summary", record.summary}});
        settle(record);
        if (record.success) {
            if (auto artifact = host_.accepted_artifact()) {
                record.completed = true;
                record.artifact = *std::move(artifact);
            }
            record.escalation = host_.requested_escalation();
        }
    }

    const RunSpec& spec_;
    ActionTaker& actions_;
    ModelClient& model_;
    StepHost& host_;
    CallContext& context_;
    EventSink& events_;
    unsigned most_steps_;
    FixedParts fixed_;
    Memory memory_;
};

}  // namespace

Result<AgentOutcome> run_steps(const RunSpec& spec, ActionTaker& actions, ModelClient& model, StepHost& host, CallContext& context,
                               EventSink& events) {
    return Loop(spec, actions, model, host, context, events).run();
}

}  // namespace agentforge::kernel
