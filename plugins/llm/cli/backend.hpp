// SPDX-License-Identifier: Apache-2.0
// The `cli` backend: a command used as a plain model.
//
// Each call is one process. It runs in its own empty folder, with the usual variables and those that such programs need (see
// `backend.cpp`). The preset switches off its own tools, and its answer is text that the host reads as an action. It is not
// confined, because such a program needs the user's login and the network. Its answer is checked like any other.
//
// In agentic mode the host runs it (agentforge/agentic.hpp): in the task's workspace, with its own tools, confined to the role's
// paths. It has its own home (unless `environment` names HOME), so keys come from the environment.
//
// Errors: AF-LLM-301 program missing (says what to install), AF-LLM-302 non-zero exit (with the end of standard error),
// AF-LLM-303 timeout (the whole tree is killed), AF-LLM-304 the program reports a failure, AF-LLM-305 no answer in the output, or
// too much output, AF-LLM-306 the settings do not fit the request, AF-LLM-307 cancelled, AF-LLM-308 it could not be started,
// AF-LLM-309 agentic mode without a workspace.
//
// Threads: `complete` may run concurrently; a call must not outlive its thread.
#pragma once

#include "settings.hpp"

#include <agentforge/agentic.hpp>
#include <agentforge/llm_backend.hpp>

namespace agentforge::cli {

class CliBackend final : public LLMBackend {
public:
    /// Throws std::invalid_argument naming the wrong setting.
    explicit CliBackend(json::object settings);

    [[nodiscard]] BackendInfo info() const override;
    [[nodiscard]] Result<Completion> complete(const CompletionRequest& request, StreamSink* sink, CallContext& context) override;
    /// Returns the program's path and its output for `--version`.
    [[nodiscard]] Result<std::string> check(CallContext& context) override;

private:
    [[nodiscard]] Result<Completion> ask(const CompletionRequest& request, StreamSink* sink, CallContext& context) const;
    [[nodiscard]] Result<Completion> work_in_workspace(const CompletionRequest& request, StreamSink* sink,
                                                       CallContext& context) const;
    [[nodiscard]] Result<Completion> work(const CompletionRequest& request, AgenticContext& place) const;

    Settings settings_;
};

}  // namespace agentforge::cli
