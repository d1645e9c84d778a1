// SPDX-License-Identifier: Apache-2.0
// The `cli` backend (Story 1.3): a model behind a command, driven as a plain model.
//
// One call is one process: it runs in an empty folder of its own, with the usual variables and those
// that such programs need (see `backend.cpp`), its own tools switched off by the preset, and its
// answer is text that the host reads as an action. It is not confined, because such a program needs
// the user's own log-in and network; what it answers is bound like any other answer.
//
// In agentic mode the host runs it (agentforge/agentic.hpp): in the task's workspace, with its own tools on, confined to the
// role's paths, with a home of its own (unless `environment` names HOME), so that keys come from the environment.
//
// Errors: AF-LLM-301 program missing (says what to install), AF-LLM-302 non-zero exit (with the end
// of standard error), AF-LLM-303 timeout (the whole tree is killed), AF-LLM-304 the program says
// that it failed, AF-LLM-305 no answer in the output or more output than the bound, AF-LLM-306
// the settings do not fit the request, AF-LLM-307 cancelled, AF-LLM-308 it could not be started, AF-LLM-309
// agentic mode without a workspace.
//
// Threads: `complete` may run concurrently; a call must not outlive its thread.
#pragma once

#include "settings.hpp"

#include <agentforge/agentic.hpp>
#include <agentforge/llm_backend.hpp>

namespace agentforge::cli {

class CliBackend final : public LLMBackend {
public:
    /// Throws std::invalid_argument naming the setting that is wrong.
    explicit CliBackend(json::object settings);

    [[nodiscard]] BackendInfo info() const override;
    [[nodiscard]] Result<Completion> complete(const CompletionRequest& request, StreamSink* sink, CallContext& context) override;
    /// The program's path and what it answers to `--version`.
    [[nodiscard]] Result<std::string> check(CallContext& context) override;

private:
    [[nodiscard]] Result<Completion> work(const CompletionRequest& request, AgenticContext& place) const;

    Settings settings_;
};

}  // namespace agentforge::cli
