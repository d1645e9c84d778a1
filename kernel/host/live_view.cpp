// SPDX-License-Identifier: Apache-2.0
#include "host/live_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cost/prices.hpp"
#include "host/display.hpp"
#include "host/event_fields.hpp"
#include "host/terminal.hpp"

namespace agentforge::kernel {

namespace {

std::string coloured(std::string_view text, std::string_view codes, bool colour) {
    return colour && !codes.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", codes, text) : std::string(text);
}

/// Whole seconds: the line changes once a second at most.
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

void LiveView::event(std::string_view name, const json::object& fields, Time now) {
    const auto act = [&](std::string text, bool timed = false) {
        if (text != action_) { action_since_ = now; }
        action_ = std::move(text);
        timed_ = timed;
        waits_ = false;
    };
    if (name == "task_started") {
        begun_ = now;
        stages_.clear();
        if (const json::value* stages = fields.if_contains("stages"); stages != nullptr && stages->is_array()) {
            for (const json::value& each : stages->get_array()) {
                const json::object* stage = each.if_object();
                if (stage == nullptr) { continue; }
                const std::string status = event_text(*stage, "status");
                stages_.push_back({event_text(*stage, "name"), status == "completed" ? Mark::done : status == "skipped" ? Mark::skipped : Mark::todo});
            }
        }
    } else if (name == "stage_started" || name == "stage_resumed") {
        if (name == "stage_resumed") {
            step_ = event_number(fields, "step");
            tokens_ = event_number(fields, "task_tokens");
        }
        stage_ = event_text(fields, "stage");
        agent_ = event_text(fields, "agent");
        mark(stage_, Mark::now);
        act("begins");
    } else if (name == "stage_skipped") {
        mark(event_text(fields, "stage"), Mark::skipped);
    } else if (name == "stage_completed") {
        mark(event_text(fields, "stage"), Mark::done);
    } else if (name == "stage_failed") {
        mark(event_text(fields, "stage"), Mark::failed);
    } else if (name == "cycle") {
        mark(event_text(fields, "from"), Mark::todo);
    } else if (name == "answering") {
        const std::uint64_t bytes = event_number(fields, "bytes");
        agent_ = event_text(fields, "role");
        act(bytes == 0 ? std::string("the model is asked") : fmt::format("the model answers, {} bytes", bytes), bytes == 0);
    } else if (name == "tool") {
        act(event_text(fields, "tool") + ": " + event_text(fields, "summary"));
    } else if (name == "step") {
        step_ = event_number(fields, "step");
        tokens_ = event_number(fields, "task_tokens");
        cost_ = fields.contains("task_cost_microusd") ? money(event_number(fields, "task_cost_microusd")) : std::string();
    } else if (name == "gate_started") {
        act("measuring: " + event_text(fields, "gate"), true);
    } else if (name == "gate") {
        if (const std::uint64_t tests = event_number(fields, "tests"); tests > 0) {
            tests_ = tests;
            tests_passed_ = event_number(fields, "tests_passed");
        }
        if (fields.contains("conformance")) { conformance_ = event_flag(fields, "conformance"); }
        act("measured: " + event_text(fields, "gate"));
    } else if (name == "escalation") {
        act("waits for an answer: " + event_text(fields, "question"), true);
        waits_ = true;
    } else if (name == "approval_requested") {
        act(fields.contains("action") ? "waits for a decision: " + event_text(fields, "action") : "waits for approval of " + event_text(fields, "stage"), true);
        waits_ = true;
    } else if (name == "resolved" || name == "decided") {
        act("was answered");
    } else if (name == "task_finished") {
        begun_.reset();
    }
}

/// All stages by name where they fit, else how many are done and the one that runs.
std::string LiveView::pipeline_line(const Look& look) const {
    const auto sign = [](Mark mark) {
        switch (mark) {
        case Mark::done: return "✓";
        case Mark::now: return "●";
        case Mark::failed: return "✗";
        case Mark::skipped: return "–";
        case Mark::todo: break;
        }
        return "·";
    };
    const auto colours = [](Mark mark) -> std::string_view {
        switch (mark) {
        case Mark::done: return "32";
        case Mark::now: return "1";
        case Mark::failed: return "31";
        case Mark::skipped:
        case Mark::todo: break;
        }
        return "2";
    };
    std::string all;
    std::string shown;
    std::size_t done = 0;
    for (const Stage& stage : stages_) {
        const std::string text = std::string(sign(stage.mark)) + " " + stage.name;
        all += (all.empty() ? "" : "  ") + text;
        shown += (shown.empty() ? "" : "  ") + coloured(text, colours(stage.mark), look.colour);
        done += stage.mark == Mark::done || stage.mark == Mark::skipped ? 1 : 0;
    }
    if (cells_of(all) < look.columns) { return shown; }
    return coloured(fitting(fmt::format("● {}  {}/{}", stage_, done, stages_.size()), look.columns - 1), "1", look.colour);
}

std::string LiveView::figures(const Look& look, Time now, bool stopping) const {
    std::vector<std::string> parts{clock_of(now - *begun_)};
    if (stopping) { parts.emplace_back("stopping at the end of this step (Ctrl-C again: at once)"); }
    if (tests_ > 0) { parts.push_back(fmt::format("tests {}/{}", tests_passed_, tests_)); }
    if (conformance_) { parts.emplace_back(*conformance_ ? "conformance ✓" : "conformance ✗"); }
    if (tokens_ > 0) { parts.push_back(fmt::format("{} tokens", tokens_)); }
    if (!cost_.empty()) { parts.push_back(cost_); }
    std::string text;
    for (const std::string& part : parts) { text += (text.empty() ? "" : "  ") + part; }
    return coloured(fitting(text, look.columns - 1), "2", look.colour);
}

std::vector<std::string> LiveView::lines(const Look& look, Time now, bool stopping) const {
    if (!begun_) { return {}; }
    std::vector<std::string> lines;
    if (!stages_.empty()) { lines.push_back(pipeline_line(look)); }
    if (!stage_.empty()) {
        std::string doing = stage_ + (agent_.empty() ? "" : "  " + agent_) + (step_ > 0 ? fmt::format("  step {}", step_ + 1) : "") + "  " + printable(action_);
        const std::string taken = timed_ && now - action_since_ >= std::chrono::seconds(1) ? "  " + clock_of(now - action_since_) : "";
        lines.push_back(coloured(fitting(doing, look.columns - 1 - taken.size()) + taken, waits_ ? "33" : "2", look.colour));
    }
    lines.push_back(figures(look, now, stopping));
    return lines;
}

}  // namespace agentforge::kernel
