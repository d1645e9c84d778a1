// SPDX-License-Identifier: Apache-2.0
// The backend `replay`: answers from a transcript, so that a run needs no model and gives the same answers every time.
//
// An answer belongs to a place: stage, role, visit, run, step. A place that was never recorded is AF-LLM-201. If the entry has a
// frame hash (what was asked, by whom, with which tools) and the request's differs, that is AF-LLM-202: the answer was for
// another question. The context hash may differ if the repository does; `match: strict` makes that AF-LLM-203, otherwise the
// answer's diagnostics name it (`context_mismatch`). An entry with an error returns that error, as the recorded backend did. Its
// failed attempts come first, one a call, once in the life of this object. An entry with `workspace` was a command's work
// (`llm.mode: agentic`): it is repeated before the answer is given. An answer in another mode than the recorded one is
// AF-LLM-207.
//
// Backends for several roles share one copy of a transcript while any of them lives.
#pragma once

#include <agentforge/llm_backend.hpp>

#include <memory>
#include <mutex>
#include <optional>

#include "transcript.hpp"

namespace replay {

class ReplayBackend final : public agentforge::LLMBackend {
public:
    /// Settings: transcript (file), match (frame | strict), role (whom it answers), native_tool_calls (default: as the transcript
    /// says of the role, else true). Throws std::runtime_error for any others.
    explicit ReplayBackend(const agentforge::json::object& settings);

    [[nodiscard]] agentforge::BackendInfo info() const override;
    /// Reads the transcript at the first call. Errors: AF-LLM-201…207, cancelled.
    [[nodiscard]] agentforge::Result<agentforge::Completion> complete(const agentforge::CompletionRequest& request,
                                                                      agentforge::StreamSink* sink,
                                                                      agentforge::CallContext& context) override;
    [[nodiscard]] agentforge::Result<std::string> check(agentforge::CallContext& context) override;

private:
    agentforge::Result<const Transcript*> transcript();
    /// Returns the next of the entry's failed attempts. Nothing once all of them were given.
    std::optional<agentforge::Error> next_failed_attempt(const Entry& entry);

    std::string file_;
    bool strict_ = false;
    bool native_tool_calls_ = true;
    std::mutex mutex_;
    std::map<const Entry*, std::size_t> failed_;  ///< Number of failed attempts already given, for each entry.
    std::shared_ptr<const Transcript> transcript_;
};

}  // namespace replay
