// SPDX-License-Identifier: Apache-2.0
// A tool: one action that an agent may take.
//
// Before `call` runs, the host checks the role's lists of allowed and forbidden tools, the parameters against the schema, and
// each path parameter against the role's path rules. A tool reaches files, programs and people only through its context.
//
// Threads: `call` may run concurrently on one instance for different tasks. Keep no mutable state.
#pragma once

#include <agentforge/stage.hpp>

namespace agentforge {

/// Flags for what a tool may do. The context refuses effects that the tool did not declare.
enum class ToolEffect : unsigned {
    none = 0,
    reads = 1U << 0U,
    writes = 1U << 1U,
    executes = 1U << 2U,
    escalates = 1U << 3U,
    completes = 1U << 4U  ///< Ends the agent's run. The schema of its arguments is the output contract.
};
constexpr ToolEffect operator|(ToolEffect a, ToolEffect b) noexcept {
    return static_cast<ToolEffect>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool has(ToolEffect set, ToolEffect effect) noexcept {
    return (static_cast<unsigned>(set) & static_cast<unsigned>(effect)) != 0;
}

struct ToolSpec {
    std::string name;         ///< `^[a-z][a-z0-9_]*$`
    std::string description;  ///< One or two sentences for the model.
    json::object parameters;  ///< JSON Schema of an object; `additionalProperties: false` is implied.
    ToolEffect effects = ToolEffect::reads;
    std::vector<std::string> path_parameters;  ///< Names of the parameters that are workspace paths.
};

/// The result of a call. A refused or failed call also has a result: the model reads it and acts on it.
struct ToolResult {
    bool success = false;
    std::string output;   ///< For the model. The host limits its size.
    std::string summary;  ///< One line for `recent_actions`.
    std::optional<Error> error;
    json::object data;  ///< Recorded in the journal.

    static ToolResult done(std::string output, std::string summary, json::object data = {});
    static ToolResult failed(Error error);
};

struct ToolCallInfo {
    std::string task_id;
    std::string stage;
    std::string role;
    std::uint64_t step = 0;
};

class ToolContext : public CallContext {
public:
    [[nodiscard]] virtual const ToolCallInfo& info() const noexcept = 0;
    [[nodiscard]] virtual Workspace& workspace() noexcept = 0;
    [[nodiscard]] virtual Result<ProcessResult> run_process(const ProcessSpec& spec) = 0;
    [[nodiscard]] virtual Result<GateReport> run_gate(const GateRequest& request) = 0;
    /// Submits the artifact. Errors (contract, exit gate) go to the model to fix; the run goes on.
    [[nodiscard]] virtual Result<void> complete(const json::object& artifact) = 0;
    /// Asks for a person. The run ends and the stage decides.
    [[nodiscard]] virtual Result<void> escalate(const EscalationRequest& request) = 0;

protected:
    ~ToolContext() = default;
};

class Tool {
public:
    virtual ~Tool() = default;
    Tool() = default;
    Tool(const Tool&) = delete;
    Tool& operator=(const Tool&) = delete;

    [[nodiscard]] virtual ToolSpec spec() const = 0;
    [[nodiscard]] virtual ToolResult call(const json::object& arguments, ToolContext& context) = 0;
};

}  // namespace agentforge
