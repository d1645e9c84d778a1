// SPDX-License-Identifier: Apache-2.0
#include "host/display.hpp"

#include <fmt/format.h>

#include <ostream>

#include "base/text.hpp"
#include "base/thread.hpp"
#include "host/event_fields.hpp"
#include "host/terminal.hpp"

namespace agentforge::kernel {

namespace {

constexpr int green = 32;
constexpr int red = 31;
constexpr int yellow = 33;
constexpr int dim = 2;

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) { return shown_text(ellipsis(sanitize_utf8(text), max_bytes), true); }
std::string printable_lines(std::string_view text) { return shown_text(text, false); }

std::string human_duration(std::chrono::milliseconds time) {
    const auto ms = time.count();
    if (ms < 1000) { return fmt::format("{} ms", ms); }
    if (ms < 60'000) { return fmt::format("{}.{} s", ms / 1000, (ms % 1000) / 100); }
    if (ms < 3'600'000) { return fmt::format("{} m {:02} s", ms / 60'000, (ms / 1000) % 60); }
    return fmt::format("{} h {:02} m", ms / 3'600'000, (ms / 60'000) % 60);
}

Display::Display(std::ostream& out, Options options) : out_(out), options_(std::move(options)) {
    if (options_.terminal && !options_.quiet) { ticker_ = try_thread([this] { tick(); }); }      // Without one, lines are drawn with events alone.
}

Display::~Display() {
    {
        const std::lock_guard lock(mutex_);
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

/// Writes what is to stay above the live lines, and those anew, at once: nothing flickers.
void Display::draw(std::string_view above) {
    std::string live;
    std::size_t lines = 0;
    const std::size_t width = columns();
    if (options_.terminal && !options_.quiet && !asked_here_) {
        for (const std::string& text : live_.lines({width, options_.colour}, std::chrono::steady_clock::now(), options_.stopping && options_.stopping())) {
            live += (lines++ == 0 ? "" : "\n") + text;
        }
    }
    // After Ctrl-Z the shell has written below, and in a terminal that became narrower nobody knows where the lines are: they are left where they stand.
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
    live_lines_stand().store(lines > 0, std::memory_order_relaxed);
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

/// What the gate's own line has just said is not said again by the step that it refused.
std::string Display::without_repetition(std::string summary) const {
    if (failed_gate_.empty() || !summary.ends_with(": " + failed_gate_)) { return summary; }
    return summary.substr(0, summary.size() - failed_gate_.size() - 2);
}

void Display::event(std::string_view name, const json::object& fields) {
    const std::lock_guard lock(mutex_);
    live_.event(name, fields, std::chrono::steady_clock::now());
    // The console writes where the live lines stand: they go as long as somebody is asked there.
    if (name == "asking") { asked_here_ = event_text(fields, "handler").find("console") != std::string::npos; }
    if (name == "asking_ended") { asked_here_ = false; }
    show(name, fields);
    draw("");
}

void Display::show(std::string_view name, const json::object& fields) {
    const auto text = [&](std::string_view key) { return printable(event_text(fields, key)); };
    if (name == "task_started") {
        line("task " + text("task_id") + "  (pipeline " + text("pipeline") + ")");
    } else if (name == "stage_started" || name == "stage_resumed") {
        const std::uint64_t attempt = event_number(fields, "attempt");
        line(fmt::format("{}/{} {:<9} {}{}", event_number(fields, "index") + 1, event_number(fields, "of"), text("stage"), text("agent"),
                         name == "stage_resumed" ? "  (goes on)" : attempt > 1 ? fmt::format("  (attempt {})", attempt) : ""));
    } else if (name == "step") {
        const bool good = event_flag(fields, "success");
        const std::string told = fmt::format(" step {:<3} {:<22} {}", event_number(fields, "step"), text("tool"), printable(without_repetition(event_text(fields, "summary"))));
        line("    " + mark(good) + (good && options_.terminal ? fitting(told, columns() - 9) : told));     // A failure is shown whole.
        if (const std::string files = text_of_files(fields, "changed: "); !files.empty()) { line("         " + printable(files, 1000)); }
    } else if (name == "gate") {
        failed_gate_ = event_flag(fields, "passed") ? std::string() : event_text(fields, "summary");
        line(fmt::format("    {} gate {:<12} {}", mark(event_flag(fields, "passed")), text("gate"), text("summary")));
    } else if (name == "stage_completed") {
        const std::string artifact = text("artifact");
        line(fmt::format("    {} {} verified: {}  ({}, {} steps, {} tokens)", mark(true), text("stage"), artifact.substr(artifact.rfind('/') + 1),
                         human_duration(std::chrono::milliseconds(event_number(fields, "duration_ms"))), event_number(fields, "steps"),
                         event_number(fields, "tokens")));
    } else if (name == "stage_skipped") {
        line(fmt::format("{}/{} {:<9} skipped: {}", event_number(fields, "index") + 1, event_number(fields, "of"), text("stage"), text("reason")));
    } else if (name == "stage_failed") {
        line(fmt::format("    {} {}: {}", mark(false), text("code"), text("error")));
    } else if (name == "artifact_rejected") {
        line("    " + mark(false) + " the artifact was sent back to the stage:");
        if (const json::value* errors = fields.if_contains("errors"); errors != nullptr && errors->is_array()) {
            for (const json::value& error : errors->get_array()) { line("         " + printable(error.is_string() ? std::string_view(error.get_string()) : "", 300)); }
        }
    } else if (name == "review") {
        const std::uint64_t blocking = event_number(fields, "blocking");
        line(fmt::format("    {} review by {}: {} blocking, {} advisory", mark(blocking == 0), text("reviewer"), blocking, event_number(fields, "advisory")));
    } else if (name == "cycle") {
        line(fmt::format("    back from {} to {}: {}", text("from"), text("to"), text("reason")));
    } else if (name == "escalation") {
        line(paint("    a person is needed: ", yellow) + printable(event_text(fields, "question"), 1000) + "  (" + text("id") + ")");
    } else if (name == "approval_requested") {
        if (fields.contains("action")) {
            line(paint("    an action waits for you: ", yellow) + printable(event_text(fields, "action"), 300) + "  (" + text("id") + ")");
        } else {
            line(paint("    approval wanted for ", yellow) + text("stage") + ": " + text("artifact") + "  (" + text("id") + ")");
        }
    } else if (name == "decided" || name == "resolved") {
        if (const std::string by = text("by"); !by.empty()) { line("    answered by " + by + "  (" + text("id") + ")"); }
    } else if (name == "message") {
        line("    " + printable(event_text(fields, "text"), 500));
    } else if (name == "log") {
        if (event_number(fields, "level") >= 3) {
            draw("    " + printable(event_text(fields, "message"), 2000) + "\n");
        }
    }
}

}  // namespace agentforge::kernel
