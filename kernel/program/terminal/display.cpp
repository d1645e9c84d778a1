// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/display.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <utility>

#include <agentforge/host.hpp>

#include "base/ids.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "config/gate_names.hpp"
#include "config/gate_words.hpp"
#include "program/commands/inspect.hpp"
#include "program/log/event_stream.hpp"
#include "program/terminal/terminal.hpp"

namespace agentforge::kernel {

namespace {

constexpr int green = 32;
constexpr int red = 31;
constexpr int yellow = 33;
constexpr int dim = 2;

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
    return shown_text(ellipsis(sanitize_utf8(text), max_bytes), true);
}
std::string quoted_request(std::string_view request, std::size_t max_bytes) {
    return request.empty() ? "(the request is unknown)" : "\"" + printable(request, max_bytes) + "\"";
}
std::string printable_lines(std::string_view text) { return shown_text(text, false); }

std::string human_duration(std::chrono::milliseconds time) {
    const auto ms = time.count();
    if (ms < 1000) { return fmt::format("{} ms", ms); }
    if (ms < 60'000) { return fmt::format("{}.{} s", ms / 1000, (ms % 1000) / 100); }
    if (ms < 3'600'000) { return fmt::format("{} m {:02} s", ms / 60'000, (ms / 1000) % 60); }
    return fmt::format("{} h {:02} m", ms / 3'600'000, (ms / 60'000) % 60);
}

Display::Display(std::ostream& out, Options options) : out_(out), options_(std::move(options)) {
    // Without a thread, only events redraw the lines.
    if (options_.terminal && !options_.quiet) {
        ticker_ = try_thread([this] { tick(); });
    }
}

Display::~Display() {
    {
        const std::lock_guard lock(mutex_);
        release_gates();
        over_ = true;
        live_ = {};
        draw("");
    }
    wake_.notify_all();
    if (ticker_) { ticker_->join(); }
}

std::string Display::paint(std::string_view text, int colour) const {
    return options_.colour ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : std::string(text);
}

std::string Display::mark(bool good) const { return good ? paint("ok  ", green) : paint("FAIL", red); }

std::size_t Display::columns() const { return options_.columns ? options_.columns() : 80; }

void Display::line(const std::string& text) {
    if (!options_.quiet) { draw(text + "\n"); }
}

/// A gate's line comes after the action that caused it.
void Display::gate_line(const std::string& text) {
    if (deciding_) {
        held_.push_back(text);
    } else {
        line(text);
    }
}

void Display::release_gates() {
    deciding_ = false;
    for (const std::string& text : std::exchange(held_, {})) { line(text); }
}

/// Writes the permanent text above the live lines and redraws those in one write, so nothing flickers.
void Display::draw(std::string_view above) {
    std::string live;
    std::size_t lines = 0;
    const std::size_t width = columns();
    if (options_.terminal && !options_.quiet && !asked_here_) {
        for (const std::string& text :
             live_.lines({width, options_.colour}, std::chrono::steady_clock::now(), options_.stopping && options_.stopping())) {
            live += (lines++ == 0 ? "" : "\n") + text;
        }
    }
    // After Ctrl-Z the shell has written below the lines. In a narrower terminal their position is unknown. In both cases they
    // stay in place.
    const bool lost = live_lines_ > 0 && (width < live_columns_ || (options_.continued && options_.continued()));
    if (above.empty() && !lost && live == drawn_ && width == live_columns_) { return; }
    std::string text;
    if (lost) {
        text = "\n";
    } else if (live_lines_ > 0) {
        text = live_lines_ > 1 ? fmt::format("\x1b[{}A\r\x1b[J", live_lines_ - 1) : std::string("\r\x1b[J");
    }
    text += above;
    text += live;
    out_ << (options_.unicode ? text : as_ascii(text)) << std::flush;
    live_lines_ = lines;
    live_lines_shown().store(lines > 0, std::memory_order_relaxed);
    live_columns_ = width;
    drawn_ = std::move(live);
}

void Display::tick() {
    std::unique_lock lock(mutex_);
    while (!over_) {
        wake_.wait_for(lock, std::chrono::milliseconds(250));
        if (!over_) { draw(""); }
    }
}

/// Removes the part of a refused step's summary that the gate's own line has just shown.
std::string Display::without_repetition(std::string summary) const {
    if (failed_gate_.empty() || !summary.ends_with(": " + failed_gate_)) { return summary; }
    return summary.substr(0, summary.size() - failed_gate_.size() - 2);
}

/// Prints a record or an event above the live lines.
class Display::Lines {
public:
    explicit Lines(Display& display) : display_(display) {}

    void on(const TaskState& state, const records::TaskStarted&) { task(state); }
    void on(const TaskState& state, const records::TaskResumed&) {
        task(state);
        if (resumes_inside_visit(state)) { stage(state, "  (continued)"); }
    }
    void on(const TaskState& state, const records::StageStarted&) {
        const unsigned attempt = state.stage().attempts;
        stage(state, attempt > 1 ? fmt::format("  (attempt {})", attempt) : "");
    }
    void on(const TaskState& state, const records::Step& step) {
        const bool good = *step.result->status == "success";
        if (!std::exchange(display_.shown_, false)) {
            const bool refused = !good && is_refusal(step.result->error.value_or(std::string()));
            action(refused ? display_.paint("deny", yellow) : display_.mark(good), state.steps, *step.action->type,
                   *step.result->summary, good);
        }
        display_.steps_ = state.steps;
        if (const std::string files = listed_files(step); !files.empty()) {
            display_.line("         changed: " + printable(files, 1000));
        }
    }
    void on(const TaskState& state, const records::Gate& gate) {
        if (gate.gate == gate_name::baseline && gate.tests) {
            display_.failing_before_ = *gate.tests - gate.tests_passed.value_or(0);
        }
        if (const std::uint64_t failing = expected_to_fail(state, gate); failing > 0) {
            display_.failed_gate_.clear();
            return display_.gate_line(gate_text(display_.paint("ok  ", green), gate.gate, expectation(failing)));
        }
        if (says_nothing_new(gate)) { return; }
        verdict(gate.gate, gate.passed, gate.summary);
    }
    void on(const TaskState& state, const records::StageCompleted& completed) {
        const StageState& done = state.stages.at(state.pipeline.index_of(completed.stage).value_or(0));
        const std::string artifact = printable(done.artifact);
        display_.line(fmt::format("    {} {} verified: {}  ({}, {} {}, {} tokens)", display_.mark(true),
                                  printable(completed.stage), artifact.substr(artifact.rfind('/') + 1),
                                  human_duration(std::chrono::milliseconds(done.duration_ms)), done.steps,
                                  done.steps == 1 ? "step" : "steps", done.input_tokens + done.output_tokens));
    }
    void on(const TaskState& state, const records::StageSkipped& skipped) {
        display_.line(fmt::format("{}/{} {:<9} skipped: {}", state.pipeline.index_of(skipped.stage).value_or(0) + 1,
                                  state.stages.size(), printable(skipped.stage), printable(skipped.reason)));
    }
    void on(const TaskState&, const records::StageFailed& failed) {
        display_.release_gates();
        display_.line(
            fmt::format("    {} {}: {}", display_.mark(false), printable(failed.error.code), printable(failed.error.message)));
    }
    void on(const TaskState&, const records::ArtifactRejected& rejected) {
        display_.line("    " + display_.mark(false) + " the artifact was sent back to the stage:");
        for (const std::string& error : rejected.errors) { display_.line("         " + printable(error, 300)); }
    }
    void on(const TaskState&, const records::ReviewFinished& review) {
        display_.line(fmt::format("    {} review by {}: {} blocking, {} advisory", display_.mark(review.blocking == 0),
                                  printable(review.reviewer), review.blocking, *review.advisory));
    }
    void on(const TaskState&, const records::CallStarted& started) {
        if (started.plan_step) { display_.line("    " + printable(plan_step_text(*started.plan_step), 300)); }
    }
    void on(const TaskState&, const records::CycleStarted& cycle) {
        display_.line(
            fmt::format("    back from {} to {}: {}", printable(*cycle.stage), printable(*cycle.to), printable(*cycle.reason)));
    }
    void on(const TaskState& state, const records::EscalationRaised& raised) {
        person("a person is needed: ", printable(state.escalation ? state.escalation->question : std::string(), 1000),
               raised.escalation_id);
    }
    void on(const TaskState&, const records::ActionAsked& asked) {
        person("an action waits for you: ", printable(*asked.action, 300), asked.approval_id);
    }
    void on(const TaskState& state, const records::ApprovalRequested& requested) {
        person("approval wanted for ", printable(requested.stage) + ": " + printable(state.stage().artifact),
               requested.approval_id);
        for (const std::string& line : state.resumption.shown_by_content) {
            display_.line("      you approve: " + printable(line, 1500));
        }
    }
    void on(const TaskState&, const records::EscalationResolved& resolved) {
        answered(*resolved.resolved_by, resolved.escalation_id);
    }
    void on(const TaskState&, const records::ApprovalDecided& decided) { answered(*decided.decided_by, decided.approval_id); }
    void on(const TaskState&, const records::ActionDecided& decided) { answered(*decided.decided_by, decided.approval_id); }
    template <class Other>
    void on(const TaskState&, const Other&) {}

    // The console handler uses the lines of the live view, so the view is hidden while the handler asks a question.
    void on(const event::Asking& asking) { display_.asked_here_ = asking.handler.find("console") != std::string::npos; }
    void on(const event::AskingEnded&) { display_.asked_here_ = false; }
    void on(const event::Answering&) {
        if (!display_.shown_) { display_.deciding_ = true; }
    }
    /// A failure is shown with its record, which has the reason.
    void on(const event::ToolCalled& called) {
        if (!called.success) { return; }
        action(display_.mark(true), display_.steps_ + 1, called.tool, called.summary, true);
        display_.shown_ = true;
    }
    void on(const event::GateTried& tried) { verdict(tried.gate, tried.passed, tried.summary); }
    void on(const event::Message& message) { display_.line("    " + printable(message.text, 500)); }
    void on(const event::Logged& logged) {
        if (logged.level >= static_cast<std::uint64_t>(LogLevel::warning)) {
            display_.draw("    " + printable(logged.message, 2000) + "\n");
        }
    }
    template <class Other>
    void on(const Other&) {}

private:
    void task(const TaskState& state) {
        display_.steps_ = state.steps;
        display_.line("task " + printable(short_id(state.task_id)) + "  (pipeline " + printable(state.pipeline.name) + ")");
    }
    /// Prints one action, and below it the gates that it caused. Shows a failure in full.
    void action(const std::string& mark, std::uint64_t number, const std::string& tool, const std::string& summary, bool good) {
        const std::string text =
            fmt::format(" step {:<3} {:<22} {}", number, printable(tool), printable(display_.without_repetition(summary)));
        display_.line("    " + mark + (good && display_.options_.terminal ? fitting(text, display_.columns() - 9) : text));
        display_.release_gates();
    }
    /// True if the error's code says that the kernel did not permit the action.
    static bool is_refusal(const std::string& error) {
        return std::ranges::any_of(std::array{"AF-TOOL-013:", "AF-ESC-033:"},
                                   [&error](const char* code) { return error.starts_with(code); });
    }
    /// Returns how many tests should fail in a stage that writes tests before the code; 0 for other gates.
    static std::uint64_t expected_to_fail(const TaskState& state, const records::Gate& gate) {
        const bool writes_first = gate_facts(exit_gate(state.stage_template())).judges_tests;
        if (gate.passed || gate.gate != gate_name::tests || !writes_first) { return 0; }
        return gate.tests.value_or(0) - gate.tests_passed.value_or(0);
    }
    [[nodiscard]] std::string expectation(std::uint64_t failing) const {
        const std::uint64_t before = display_.failing_before_.value_or(0);
        const bool are_new = display_.failing_before_ && before == 0;
        return fmt::format("expected: {} {}test{} fail{}", failing, are_new ? "new " : "", failing == 1 ? "" : "s",
                           failing == 1 ? "s" : "") +
               (before > 0 ? fmt::format(", {} of them did before the task", std::min(before, failing)) : "");
    }
    /// True for a gate that passes after an edit with the same summary as last time. It is not shown again. Test results are
    /// always shown.
    bool says_nothing_new(const records::Gate& gate) {
        if (!*gate.partial || gate.tests) { return false; }
        std::string& last = display_.said_[gate.gate];
        const bool same = gate.passed && last == gate.summary;
        last = gate.passed ? gate.summary : std::string();
        return same;
    }
    void stage(const TaskState& state, const std::string& end) {
        display_.line(fmt::format("{}/{} {:<9} {}{}", state.stage_index + 1, state.stages.size(), printable(state.stage().name),
                                  printable(state.stage_template().agent), end));
    }
    static std::string gate_text(const std::string& mark, const std::string& gate, const std::string& summary) {
        return fmt::format("    {} gate {:<12} {}", mark, printable(gate), printable(summary));
    }
    void verdict(const std::string& gate, bool passed, const std::string& summary) {
        display_.failed_gate_ = passed ? std::string() : summary;
        if (passed && had_no_file(gate, summary)) { return; }
        if (passed && was_skipped(gate, summary)) {
            return display_.gate_line(
                fmt::format("    {} {}: {}", display_.paint("skip", dim), gate, printable(std::string(why_skipped(summary)))));
        }
        display_.gate_line(gate_text(display_.mark(passed), gate, summary));
    }
    void person(std::string_view wanted, const std::string& what, const std::string& id) {
        display_.line(display_.paint("    " + std::string(wanted), yellow) + what + "  (" + printable(id) + ")");
    }
    void answered(const std::string& by, const std::string& id) {
        if (!by.empty()) { display_.line("    answered by " + printable(by) + "  (" + printable(id) + ")"); }
    }

    Display& display_;
};

void Display::event(const Event& event) {
    const std::lock_guard lock(mutex_);
    live_.event(event, std::chrono::steady_clock::now());
    Lines lines(*this);
    std::visit([&lines](const auto& one) { lines.on(one); }, event);
    draw("");
}

void Display::recorded(const TaskState& state, const StageState*, const records::AnyRecord& record) {
    const std::lock_guard lock(mutex_);
    live_.recorded(state, record, std::chrono::steady_clock::now());
    Lines lines(*this);
    std::visit([&](const auto& body) { lines.on(state, body); }, record.body);
    draw("");
}

}  // namespace agentforge::kernel
