// SPDX-License-Identifier: Apache-2.0
// Reads a line from a person at a terminal, within a deadline.
#pragma once

#include <agentforge/host.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace agentforge::escalation_console {

/// Makes foreign text safe to show: control characters (C0, DEL, C1), bidirectional overrides and invalid UTF-8 become `\x1b`,
/// `\u202e`. Line ends stay.
[[nodiscard]] std::string shown(std::string_view text);

/// Returns VISUAL, EDITOR, or vi.
[[nodiscard]] std::string editor_of_environment();

/// Two descriptors owned by the caller, or the process's own terminal.
class Terminal {
public:
    Terminal(int in, int out) : in_(in), out_(out) {}
    /// Opens /dev/tty; see `usable`.
    Terminal();
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    /// True if both ends are terminals and this process is in their foreground (otherwise reading would stop it).
    [[nodiscard]] bool usable() const;
    /// Discards what was typed before the question was shown.
    void discard_typed_ahead();
    void write(std::string_view text);
    /// Reads one line without its end and without control characters. Returns nothing at the end of input, the deadline, a
    /// cancel, or for a line of more than 64 KiB.
    [[nodiscard]] std::optional<std::string> read_line(CallContext& context);
    /// Lets the person edit a text with `editor` (a command line; see editor_of_environment) on this terminal. Returns nothing if
    /// the editor fails, and at the deadline or a cancel, which end it. Restores the terminal.
    [[nodiscard]] std::optional<std::string> edit(const std::string& text, const std::string& name, const std::string& editor,
                                                  CallContext& context);

private:
    int in_ = -1;
    int out_ = -1;
    bool owned_ = false;
    std::string pending_;
};

}  // namespace agentforge::escalation_console
