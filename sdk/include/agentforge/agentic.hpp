// SPDX-License-Identifier: Apache-2.0
// Agentic mode: the backend's command changes the task's workspace itself, with its own tools.
//
// If a role's `llm.mode` is `agentic`, `LLMBackend::complete` receives an AgenticContext. The backend says which command to run.
// The host runs it in the workspace with the role's rights, reverts every write that the rights do not allow, and collects the
// artifact. In this mode a backend starts no process itself.
#pragma once

#include <agentforge/host.hpp>

namespace agentforge {

struct AgenticCommand {
    std::vector<std::string> argv;                   ///< argv[0] is an absolute path.
    std::map<std::string, std::string> environment;  ///< The complete environment. The host adds TMPDIR and AGENTFORGE_ARTIFACT,
                                                     ///< and sets HOME to the scratch folder if it is missing.
    std::string input;                               ///< Standard input. Empty: /dev/null.
    std::chrono::milliseconds timeout{300'000};
    std::size_t max_output_bytes = 8UL << 20U;  ///< Limit for each stream. The middle of longer output is dropped.
    std::vector<std::string> readable;  ///< Readable in addition to the workspace, the system's folders and those on PATH.
    /// Writable in addition to the scratch folder and what the role may write in the workspace.
    std::vector<std::string> writable;
};

struct AgenticOutcome {
    ProcessResult process;
    bool artifact = false;  ///< True if the command wrote an artifact to the path in AGENTFORGE_ARTIFACT.
};

/// What a backend receives in agentic mode instead of a plain CallContext. Threads: as CallContext.
class AgenticContext : public CallContext {
public:
    /// Absolute path of the workspace, which is the command's working directory.
    [[nodiscard]] virtual const std::string& workspace() const noexcept = 0;
    /// Absolute path of a folder for files of this call (a prompt, a configuration). It is empty when the call begins. The
    /// command may write to it.
    [[nodiscard]] virtual const std::string& scratch() const noexcept = 0;
    /// Runs the command, confined to the role's paths. The workspace is as it was when the call began. No process that the
    /// command started is alive when this returns. A failing program and a timeout are outcomes, not errors. Errors: AF-EXEC-…,
    /// cancelled.
    [[nodiscard]] virtual Result<AgenticOutcome> run_command(const AgenticCommand& command) = 0;

protected:
    ~AgenticContext() = default;
};

/// Returns the context as an AgenticContext, or null if the host does not offer agentic mode.
[[nodiscard]] inline AgenticContext* agentic_context(CallContext& context) { return dynamic_cast<AgenticContext*>(&context); }

}  // namespace agentforge
