// SPDX-License-Identifier: Apache-2.0
// A program that is talked to while it runs: its standard input and output are pipes.
//
// What `process::run` promises about the program's start, its environment and its end holds here, too.
// Nothing runs between two calls: bytes wait in the pipes until `exchange` is called, and a program that
// writes more than a pipe holds waits with them. Linux 5.4 or newer.
//
// Threads: one at a time. A supervisor (agentforge-exec) dies with the thread that began the conversation.
#pragma once

#include <agentforge/process.hpp>

#include <memory>

namespace agentforge::process {

class Conversation {
public:
    /// Starts the program; `input`, `timeout` and `max_output_bytes` of the command are not used. Errors: as of `run`.
    [[nodiscard]] static Result<Conversation> begin(const Command& command);
    Conversation(Conversation&&) noexcept;
    Conversation& operator=(Conversation&&) noexcept;
    ~Conversation();  ///< Kills what still runs, without grace.

    struct Heard {
        bool in_open = true;   ///< False once the program closed its input.
        bool out_open = true;  ///< False once every process that holds its output closed it.
        bool ended = false;    ///< The program itself is gone; what it wrote before has been read.
    };
    /// Writes what fits of `to_write` (and takes it off there), appends what came to `out` and `err`, at most 1 MiB each,
    /// and returns as soon as anything happened, after `wait` at the latest.
    [[nodiscard]] Heard exchange(std::string& to_write, std::string& out, std::string& err, std::chrono::milliseconds wait);
    /// What came back over descriptor 4 so far.
    [[nodiscard]] const std::string& report() const noexcept;
    /// Closes the program's input, gives it `patience` to end by itself, TERM, `grace`, KILL of the whole tree; reaps it.
    /// `err` of the outcome is what came since the last exchange; a second call answers the same.
    Outcome end(std::chrono::milliseconds patience, std::chrono::milliseconds grace);

private:
    struct State;
    explicit Conversation(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::process
