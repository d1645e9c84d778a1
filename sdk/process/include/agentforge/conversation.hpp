// SPDX-License-Identifier: Apache-2.0
// Talks to a program while it runs, through pipes to its standard input and output.
//
// The guarantees of `process::run` on the program's start, environment and end hold here too. Nothing happens between two calls:
// bytes wait in the pipes until the next `exchange`, and a program that fills a pipe blocks. Linux 5.4 or newer.
//
// Threads: one at a time. A supervisor (agentforge-exec) dies with the thread that began the conversation.
#pragma once

#include <agentforge/process.hpp>

#include <memory>

namespace agentforge::process {

class Conversation {
public:
    /// Starts the program. Ignores `input`, `timeout` and `max_output_bytes` of the command. Errors: as `run`.
    [[nodiscard]] static Result<Conversation> begin(const Command& command);
    Conversation(Conversation&&) noexcept;
    Conversation& operator=(Conversation&&) noexcept;
    ~Conversation();  ///< Kills what still runs, without grace.

    struct Heard {
        bool in_open = true;   ///< False once the program has closed its input.
        bool out_open = true;  ///< False once every process that held its output has closed it.
        bool ended = false;    ///< The program has ended, and all its output has been read.
    };
    /// Writes as much of `to_write` as fits and removes that part. Appends new output to `out` and `err`, at most 1 MiB each.
    /// Returns as soon as anything happens, and after `wait` at the latest.
    [[nodiscard]] Heard exchange(std::string& to_write, std::string& out, std::string& err, std::chrono::milliseconds wait);
    /// What has arrived on descriptor 4 so far.
    [[nodiscard]] const std::string& report() const noexcept;
    /// Closes the program's input and waits `patience` for it to end. Then sends TERM to the whole tree, waits `grace`, sends
    /// KILL and reaps the program. `err` of the outcome is what arrived since the last exchange. A second call returns the same
    /// outcome.
    Outcome end(std::chrono::milliseconds patience, std::chrono::milliseconds grace);

private:
    struct State;
    explicit Conversation(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::process
