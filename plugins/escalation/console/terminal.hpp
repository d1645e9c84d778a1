// SPDX-License-Identifier: Apache-2.0
// A line from a person at a terminal, within a deadline.
#pragma once

#include <agentforge/host.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace agentforge::escalation_console {

/// Text of others, made safe to show: control characters (C0, DEL, C1), bidirectional overrides and
/// bytes that are no UTF-8 become `\x1b`, `\u202e`; a line end stays one.
[[nodiscard]] std::string shown(std::string_view text);

/// VISUAL, EDITOR, or vi.
[[nodiscard]] std::string editor_of_environment();

/// Two descriptors that somebody else owns, or the process's own terminal.
class Terminal {
public:
    Terminal(int in, int out) : in_(in), out_(out) {}
    /// Opens /dev/tty; see `usable`.
    Terminal();
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    /// Both ends are terminals, and this process is in the foreground there (else reading would stop it).
    [[nodiscard]] bool usable() const;
    /// Forgets what was typed before the question was shown.
    void discard_typed_ahead();
    void write(std::string_view text);
    /// One line without its end and without control characters; nothing at the end of input, the
    /// deadline, a cancel, or a line of more than 64 KiB.
    [[nodiscard]] std::optional<std::string> read_line(CallContext& context);
    /// What the person makes of a text in `editor` (a command line; see editor_of), on this terminal. Nothing where the editor
    /// ends badly, at the deadline or a cancel: then it is ended, and the terminal is as it was before.
    [[nodiscard]] std::optional<std::string> edit(const std::string& text, const std::string& name, const std::string& editor,
                                                  CallContext& context);

private:
    int in_ = -1;
    int out_ = -1;
    bool owned_ = false;
    std::string pending_;
};

}  // namespace agentforge::escalation_console
