// SPDX-License-Identifier: Apache-2.0
#include "host/display.hpp"

#include <fmt/format.h>

#include <ostream>

#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr int green = 32;
constexpr int red = 31;
constexpr int yellow = 33;
constexpr int dim = 2;

std::string text_of(const json::object& fields, std::string_view key) {
    const json::value* value = fields.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}
std::uint64_t number_of(const json::object& fields, std::string_view key) {
    const json::value* value = fields.if_contains(key);
    if (value == nullptr || !value->is_number()) { return 0; }
    return value->to_number<std::uint64_t>();
}
bool flag_of(const json::object& fields, std::string_view key) {
    const json::value* value = fields.if_contains(key);
    return value != nullptr && value->is_bool() && value->get_bool();
}

/// UTF-8 of a code point that a terminal may act on: C1 controls, bidirectional overrides and isolates, line separators.
bool acts_on_terminal(std::string_view text, std::size_t at, std::size_t& length) {
    const auto byte = [&](std::size_t offset) { return static_cast<unsigned char>(text[at + offset]); };
    if (byte(0) == 0xC2 && at + 1 < text.size() && byte(1) < 0xA0) {
        length = 2;
        return true;
    }
    if (byte(0) == 0xE2 && at + 2 < text.size()) {
        const bool controls = byte(1) == 0x80 && ((byte(2) >= 0x8E && byte(2) <= 0x8F) || (byte(2) >= 0xA8 && byte(2) <= 0xAE));
        const bool isolates = byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
        length = 3;
        return controls || isolates;
    }
    return false;
}

}  // namespace

namespace {

std::string escaped(const std::string& clean, bool one_line) {
    std::string shown;
    for (std::size_t at = 0; at < clean.size(); ++at) {
        const auto byte = static_cast<unsigned char>(clean[at]);
        std::size_t length = 0;
        if (byte == '\n' || byte == '\t') {
            shown += one_line ? ' ' : clean[at];
        } else if (byte < 0x20 || byte == 0x7F) {
            shown += fmt::format("\\x{:02x}", byte);
        } else if (byte >= 0x80 && acts_on_terminal(clean, at, length)) {
            for (std::size_t offset = 0; offset < length; ++offset) { shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(clean[at + offset])); }
            at += length - 1;
        } else {
            shown += clean[at];
        }
    }
    return shown;
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) { return escaped(ellipsis(sanitize_utf8(text), max_bytes), true); }
std::string printable_lines(std::string_view text) { return escaped(sanitize_utf8(text), false); }

std::string human_duration(std::chrono::milliseconds time) {
    const auto ms = time.count();
    if (ms < 1000) { return fmt::format("{} ms", ms); }
    if (ms < 60'000) { return fmt::format("{}.{} s", ms / 1000, (ms % 1000) / 100); }
    if (ms < 3'600'000) { return fmt::format("{} m {:02} s", ms / 60'000, (ms / 1000) % 60); }
    return fmt::format("{} h {:02} m", ms / 3'600'000, (ms / 60'000) % 60);
}

namespace {

/// At most `columns` characters; "…" marks a cut.
std::string fitting(const std::string& text, std::size_t columns) {
    std::size_t characters = 0;
    std::size_t cut = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if ((static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) { continue; }
        if (++characters == columns) { cut = at; }
    }
    return characters <= columns ? text : text.substr(0, cut) + "…";
}

}  // namespace

Display::~Display() { clear_live(); }

std::string Display::paint(std::string_view text, int colour) const {
    return options_.colour ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : std::string(text);
}

std::string Display::mark(bool good) const { return good ? paint("ok  ", green) : paint("FAIL", red); }

void Display::clear_live() {
    if (!live_shown_) { return; }
    out_ << "\r\x1b[K" << std::flush;
    live_shown_ = false;
}

std::size_t Display::columns() const { return options_.columns ? options_.columns() : 80; }

void Display::line(const std::string& text) {
    if (options_.quiet) { return; }
    clear_live();
    out_ << text << "\n" << std::flush;
}

void Display::live(const std::string& text) {
    if (options_.quiet || !options_.terminal) { return; }
    out_ << "\r\x1b[K" << paint(fitting(text, columns() - 1), dim) << std::flush;    // One column free: a full line would wrap.
    live_shown_ = true;
}

/// What the gate's own line has just said is not said again by the step that it refused.
std::string Display::without_repetition(std::string summary) const {
    if (failed_gate_.empty() || !summary.ends_with(": " + failed_gate_)) { return summary; }
    return summary.substr(0, summary.size() - failed_gate_.size() - 2);
}

void Display::event(std::string_view name, const json::object& fields) {
    const auto text = [&](std::string_view key) { return printable(text_of(fields, key)); };
    if (name == "task_started") {
        line("task " + text("task_id") + "  (pipeline " + text("pipeline") + ")");
    } else if (name == "stage_started") {
        stage_ = text_of(fields, "stage");
        const std::uint64_t attempt = number_of(fields, "attempt");
        line(fmt::format("{}/{} {:<9} {}{}", number_of(fields, "index") + 1, number_of(fields, "of"), text("stage"), text("agent"),
                         attempt > 1 ? fmt::format("  (attempt {})", attempt) : ""));
    } else if (name == "step") {
        const bool good = flag_of(fields, "success");
        const std::string told = fmt::format(" step {:<3} {:<22} {}", number_of(fields, "step"), text("tool"), printable(without_repetition(text_of(fields, "summary"))));
        line("    " + mark(good) + (good && options_.terminal ? fitting(told, columns() - 8) : told));     // A failure is shown whole.
    } else if (name == "gate_started") {
        live("    measuring: " + text("gate"));
    } else if (name == "gate") {
        failed_gate_ = flag_of(fields, "passed") ? std::string() : text_of(fields, "summary");
        line(fmt::format("    {} gate {:<12} {}", mark(flag_of(fields, "passed")), text("gate"), text("summary")));
    } else if (name == "stage_completed") {
        const std::string artifact = text("artifact");
        line(fmt::format("    {} {} verified: {}  ({}, {} steps, {} tokens)", mark(true), text("stage"), artifact.substr(artifact.rfind('/') + 1),
                         human_duration(std::chrono::milliseconds(number_of(fields, "duration_ms"))), number_of(fields, "steps"),
                         number_of(fields, "tokens")));
    } else if (name == "stage_skipped") {
        line(fmt::format("{}/{} {:<9} skipped: {}", number_of(fields, "index") + 1, number_of(fields, "of"), text("stage"), text("reason")));
    } else if (name == "stage_failed") {
        line(fmt::format("    {} {}: {}", mark(false), text("code"), text("error")));
    } else if (name == "artifact_rejected") {
        line("    " + mark(false) + " the artifact was sent back to the stage:");
        if (const json::value* errors = fields.if_contains("errors"); errors != nullptr && errors->is_array()) {
            for (const json::value& error : errors->get_array()) { line("         " + printable(error.is_string() ? std::string_view(error.get_string()) : "", 300)); }
        }
    } else if (name == "review") {
        const std::uint64_t blocking = number_of(fields, "blocking");
        line(fmt::format("    {} review by {}: {} blocking, {} advisory", mark(blocking == 0), text("reviewer"), blocking, number_of(fields, "advisory")));
    } else if (name == "cycle") {
        line(fmt::format("    back from {} to {}: {}", text("from"), text("to"), text("reason")));
    } else if (name == "escalation") {
        line(paint("    a person is needed: ", yellow) + printable(text_of(fields, "question"), 1000) + "  (" + text("id") + ")");
    } else if (name == "approval_requested") {
        line(paint("    approval wanted for ", yellow) + text("stage") + ": " + text("artifact") + "  (" + text("id") + ")");
    } else if (name == "message") {
        line("    " + printable(text_of(fields, "text"), 500));
    } else if (name == "log") {
        if (number_of(fields, "level") >= 3) {
            clear_live();
            out_ << "    " << printable(text_of(fields, "message"), 2000) << "\n" << std::flush;
        }
    } else if (name == "answering") {
        const std::uint64_t bytes = number_of(fields, "bytes");
        live("    " + text("role") + (bytes == 0 ? std::string(": the model is asked") : fmt::format(": the model answers, {} bytes so far", bytes)));
    } else if (name == "tool") {
        live("    " + text("tool") + ": " + text("summary"));
    }
}

}  // namespace agentforge::kernel
