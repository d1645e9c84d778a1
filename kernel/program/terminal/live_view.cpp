// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/live_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cost/price_table.hpp"
#include "program/log/event_stream.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/terminal.hpp"

namespace agentforge::kernel {

namespace {

std::string coloured(std::string_view text, std::string_view codes, bool colour) {
    return colour && !codes.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", codes, text) : std::string(text);
}

/// Shows whole seconds, so the line changes at most once a second.
std::string clock_of(std::chrono::steady_clock::duration time) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
    if (seconds < 3600) { return fmt::format("{}:{:02}", seconds / 60, seconds % 60); }
    return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace

void LiveView::mark(std::string_view stage, Mark mark) {
    const auto found = std::ranges::find(stages_, stage, &Stage::name);
    if (found != stages_.end()) { found->mark = mark; }
}

/// Applies a record or an event to the view.
class LiveView::Fold {
public:
    Fold(LiveView& view, Time now) : view_(view), now_(now) {}

    void on(const TaskState& state, const records::TaskStarted&) { begin(state); }
    void on(const TaskState& state, const records::TaskResumed&) {
        begin(state);
        if (resumes_inside_visit(state)) { enter(state); }
    }
    void on(const TaskState& state, const records::StageStarted&) { enter(state); }
    void on(const TaskState&, const records::StageSkipped& skipped) { view_.mark(skipped.stage, Mark::skipped); }
    void on(const TaskState&, const records::StageCompleted& completed) { view_.mark(completed.stage, Mark::done); }
    void on(const TaskState&, const records::StageFailed& failed) { view_.mark(failed.stage, Mark::failed); }
    void on(const TaskState&, const records::CycleStarted& cycle) { view_.mark(*cycle.stage, Mark::todo); }
    void on(const TaskState& state, const records::Step&) { count(state); }
    void on(const TaskState&, const records::Gate& gate) {
        if (gate.tests.value_or(0) > 0) {
            view_.tests_ = *gate.tests;
            view_.tests_passed_ = gate.tests_passed.value_or(0);
        }
        if (gate.conformance) { view_.conformance_ = *gate.conformance; }
        act("measured: " + gate.gate);
    }
    void on(const TaskState& state, const records::EscalationRaised&) {
        wait("waits for an answer: " + (state.escalation ? state.escalation->question : std::string()));
    }
    void on(const TaskState&, const records::ApprovalRequested& requested) { wait("waits for approval of " + requested.stage); }
    void on(const TaskState&, const records::ActionAsked& asked) { wait("waits for a decision: " + *asked.action); }
    void on(const TaskState&, const records::EscalationResolved&) { act("was answered"); }
    void on(const TaskState&, const records::ApprovalDecided&) { act("was answered"); }
    void on(const TaskState&, const records::ActionDecided&) { act("was answered"); }
    template <class Other>
    void on(const TaskState&, const Other&) {}

    void on(const event::Answering& answering) {
        view_.agent_ = answering.role;
        act(answering.bytes == 0 ? std::string("asking the model") : fmt::format("the model answers, {} bytes", answering.bytes),
            answering.bytes == 0);
    }
    void on(const event::ToolCalled& called) { act(called.tool + ": " + called.summary); }
    void on(const event::GateStarted& started) { act("measuring: " + started.gate, true); }
    void on(const event::GateTried& tried) { act("measured: " + tried.gate); }
    void on(const event::RunEnded&) { view_.begun_.reset(); }
    template <class Other>
    void on(const Other&) {}

private:
    void act(std::string text, bool timed = false) {
        if (text != view_.action_) { view_.action_since_ = now_; }
        view_.action_ = std::move(text);
        view_.timed_ = timed;
        view_.waits_ = false;
    }
    void wait(std::string text) {
        act(std::move(text), true);
        view_.waits_ = true;
    }
    void begin(const TaskState& state) {
        view_.begun_ = now_;
        view_.stages_.clear();
        for (const StageState& stage : state.stages) { view_.stages_.push_back({stage.name, mark_of_begun(stage.status)}); }
        count(state);
    }
    void enter(const TaskState& state) {
        view_.stage_ = state.stage().name;
        view_.agent_ = state.stage_template().agent;
        view_.mark(view_.stage_, Mark::now);
        act("begins");
    }
    /// Returns the mark of a stage when the task begins or is resumed.
    static Mark mark_of_begun(StageStatus status) {
        if (status == StageStatus::completed) { return Mark::done; }
        return status == StageStatus::skipped ? Mark::skipped : Mark::todo;
    }
    void count(const TaskState& state) {
        const Spend spend = state.ledger.total();
        view_.step_ = state.steps;
        view_.tokens_ = spend.tokens();
        view_.cost_ = spend.cost_known() && spend.tokens() > 0 ? money(spend.cost_microusd) : std::string();
    }

    LiveView& view_;
    Time now_;
};

void LiveView::recorded(const TaskState& state, const records::AnyRecord& record, Time now) {
    Fold fold(*this, now);
    std::visit([&](const auto& body) { fold.on(state, body); }, record.body);
}

void LiveView::event(const Event& event, Time now) {
    Fold fold(*this, now);
    std::visit([&fold](const auto& one) { fold.on(one); }, event);
}

/// Returns all stages by name if they fit, else the number of completed stages and the running one.
std::string LiveView::pipeline_line(const Style& style) const {
    const auto sign = [](Mark mark) {
        switch (mark) {
            case Mark::done:
                return "✓";
            case Mark::now:
                return "●";
            case Mark::failed:
                return "✗";
            case Mark::skipped:
                return "–";
            case Mark::todo:
                break;
        }
        return "·";
    };
    const auto colours = [](Mark mark) -> std::string_view {
        switch (mark) {
            case Mark::done:
                return "32";
            case Mark::now:
                return "1";
            case Mark::failed:
                return "31";
            case Mark::skipped:
            case Mark::todo:
                break;
        }
        return "2";
    };
    std::string all;
    std::string shown;
    std::size_t done = 0;
    for (const Stage& stage : stages_) {
        const std::string text = std::string(sign(stage.mark)) + " " + stage.name;
        all += (all.empty() ? "" : "  ") + text;
        shown += (shown.empty() ? "" : "  ") + coloured(text, colours(stage.mark), style.colour);
        done += stage.mark == Mark::done || stage.mark == Mark::skipped ? 1 : 0;
    }
    if (cells_of(all) < style.columns) { return shown; }
    return coloured(fitting(fmt::format("● {}  {}/{}", stage_, done, stages_.size()), style.columns - 1), "1", style.colour);
}

std::string LiveView::figures(const Style& style, Time now, bool stopping) const {
    std::vector<std::string> parts{clock_of(now - *begun_)};
    if (stopping) { parts.emplace_back("stopping at the end of this step (Ctrl-C again: at once)"); }
    if (tests_ > 0) { parts.push_back(fmt::format("tests {}/{}", tests_passed_, tests_)); }
    if (conformance_) { parts.emplace_back(*conformance_ ? "conformance ✓" : "conformance ✗"); }
    if (tokens_ > 0) { parts.push_back(fmt::format("{} tokens", tokens_)); }
    if (!cost_.empty()) { parts.push_back(cost_); }
    std::string text;
    for (const std::string& part : parts) { text += (text.empty() ? "" : "  ") + part; }
    return coloured(fitting(text, style.columns - 1), "2", style.colour);
}

std::vector<std::string> LiveView::lines(const Style& style, Time now, bool stopping) const {
    if (!begun_) { return {}; }
    std::vector<std::string> lines;
    if (!stages_.empty()) { lines.push_back(pipeline_line(style)); }
    if (!stage_.empty()) {
        std::string doing = stage_ + (agent_.empty() ? "" : "  " + agent_) +
                            (step_ > 0 ? fmt::format("  step {}", step_ + 1) : "") + "  " + printable(action_);
        const std::string taken =
            timed_ && now - action_since_ >= std::chrono::seconds(1) ? "  " + clock_of(now - action_since_) : "";
        lines.push_back(coloured(fitting(doing, style.columns - 1 - taken.size()) + taken, waits_ ? "33" : "2", style.colour));
    }
    lines.push_back(figures(style, now, stopping));
    return lines;
}

}  // namespace agentforge::kernel
