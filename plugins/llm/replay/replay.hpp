// SPDX-License-Identifier: Apache-2.0
// The backend `replay`: answers from a transcript, so that a run needs no model and gives the same words every time.
//
// An answer belongs to a place: stage, role, visit, run, step. A place that was never recorded is AF-LLM-201. Where the
// entry carries a frame hash (what was asked, by whom, with which tools) another one is AF-LLM-202: the answer was given to
// another question. The context hash may differ where the repository does; `match: strict` makes that AF-LLM-203, otherwise
// the answer's diagnostics name it (`context_mismatch`). An entry with an error gives that error, as the recorded backend did.
// Its failed attempts come first, one a call, once in the life of this object. An entry with `workspace` was a command's work
// (`llm.mode: agentic`): it is done again before the answer is given. In the other mode than it was recorded in, an answer is
// AF-LLM-207.
//
// Backends for several roles share one reading of a transcript, for as long as one of them lives.
#pragma once

#include <agentforge/llm_backend.hpp>

#include <memory>
#include <mutex>

#include "transcript.hpp"

namespace replay {

class ReplayBackend final : public agentforge::LLMBackend {
public:
    /// Settings: transcript (file), match (frame | strict), role (whom it answers), native_tool_calls (where unset: as the
    /// transcript says of the role, else true). Throws std::runtime_error on others.
    explicit ReplayBackend(const agentforge::json::object& settings);

    [[nodiscard]] agentforge::BackendInfo info() const override;
    /// Reads the transcript at the first call. Errors: AF-LLM-201…207, cancelled.
    [[nodiscard]] agentforge::Result<agentforge::Completion> complete(const agentforge::CompletionRequest& request,
                                                                      agentforge::StreamSink* sink,
                                                                      agentforge::CallContext& context) override;
    [[nodiscard]] agentforge::Result<std::string> check(agentforge::CallContext& context) override;

private:
    agentforge::Result<const Transcript*> transcript();

    std::string file_;
    bool strict_ = false;
    bool native_tool_calls_ = true;
    std::mutex mutex_;
    std::map<const Entry*, std::size_t> failed_;  ///< How many failed attempts of an entry were given.
    std::shared_ptr<const Transcript> transcript_;
};

}  // namespace replay
