// SPDX-License-Identifier: Apache-2.0
// Progress for people: one live line on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <string>

#include "base/events.hpp"

namespace agentforge::kernel {

class Display final : public EventSink {
public:
    struct Options {
        bool terminal = false;      ///< Keep one line alive at the bottom.
        bool colour = false;
        bool quiet = false;         ///< Only warnings.
        std::function<std::size_t()> columns;       ///< Of the terminal, asked anew each time; 80 where unset.
    };
    Display(std::ostream& out, Options options) : out_(out), options_(options) {}
    ~Display() override;
    void event(std::string_view name, const json::object& fields) override;

private:
    void line(const std::string& text);
    void live(const std::string& text);
    void clear_live();
    [[nodiscard]] std::size_t columns() const;
    [[nodiscard]] std::string mark(bool good) const;
    [[nodiscard]] std::string without_repetition(std::string summary) const;
    [[nodiscard]] std::string paint(std::string_view text, int colour) const;

    std::ostream& out_;
    Options options_;
    bool live_shown_ = false;
    std::string stage_;
    std::string failed_gate_;       ///< What the last gate said, where it failed.
};

/// A text that came from a model or a file, safe on a terminal: control and bidirectional characters are shown escaped.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 200);
/// The same for a text of many lines, whole: lines and tabs stay.
[[nodiscard]] std::string printable_lines(std::string_view text);
/// `12 ms`, `3.4 s`, `2 m 05 s`, `1 h 02 m`.
[[nodiscard]] std::string human_duration(std::chrono::milliseconds time);

}  // namespace agentforge::kernel
