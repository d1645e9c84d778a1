// SPDX-License-Identifier: Apache-2.0
// A backend that works agentically (Story 1.3): its command changes the task's workspace itself, with tools of its own.
//
// Where a role's `llm.mode` is `agentic`, the context that `LLMBackend::complete` is given is an AgenticContext. The backend
// says what to run; the host runs it in the workspace with the role's rights, takes back what was written beyond them, and
// collects the artifact. A backend starts nothing by itself in this mode.
#pragma once

#include <agentforge/host.hpp>

namespace agentforge {

struct AgenticCommand {
    std::vector<std::string> argv;                   ///< argv[0] absolute.
    std::map<std::string, std::string> environment;  ///< The whole of it but for TMPDIR and AGENTFORGE_ARTIFACT, which the host
                                                     ///< sets; HOME, where it has none, is the scratch folder.
    std::string input;                               ///< Standard input; empty: /dev/null.
    std::chrono::milliseconds timeout{300'000};
    std::size_t max_output_bytes = 8UL << 20U;  ///< Each stream; the middle is left out beyond it.
    std::vector<std::string> readable;          ///< Besides the workspace, the system's folders and those on PATH.
    std::vector<std::string> writable;          ///< Besides what the role may write in the workspace, and the scratch folder.
};

struct AgenticOutcome {
    ProcessResult process;
    bool artifact = false;  ///< It left an artifact where AGENTFORGE_ARTIFACT says.
};

/// Given instead of a plain CallContext; see above. Threads: as CallContext.
class AgenticContext : public CallContext {
public:
    /// Where the work is done, absolute; the command's working directory.
    [[nodiscard]] virtual const std::string& workspace() const noexcept = 0;
    /// A folder for files of the call (a prompt, a configuration), absolute, empty when the call begins. The command may write in
    /// it.
    [[nodiscard]] virtual const std::string& scratch() const noexcept = 0;
    /// Runs the command in the workspace as it was when the call began, confined to the role's paths; nothing it started is
    /// alive afterwards. A program that fails, or a timeout, is an outcome. Errors: AF-EXEC-…, cancelled.
    [[nodiscard]] virtual Result<AgenticOutcome> run_command(const AgenticCommand& command) = 0;

protected:
    ~AgenticContext() = default;
};

/// The same context as what it is where the host offers agentic work; null otherwise.
[[nodiscard]] inline AgenticContext* agentic_context(CallContext& context) { return dynamic_cast<AgenticContext*>(&context); }

}  // namespace agentforge
