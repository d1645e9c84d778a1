// SPDX-License-Identifier: Apache-2.0
// Agent definitions: who an agent is and what it may do.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "contracts/contract.hpp"

namespace agentforge::kernel {

struct AgentDefinition {
    std::string role;
    std::string version;
    std::string display_name;
    std::string description;
    std::vector<std::string> expertise;
    std::string thinking_style;
    std::vector<std::string> allowed_tools;
    std::vector<std::string> forbidden_tools;
    /// Tool name → gitignore-style globs, comma-separated; `!` negates. All of them apply to every write of the role.
    std::map<std::string, std::string, std::less<>> path_constraints;
    std::map<std::string, std::string, std::less<>> path_constraint_places;  ///< Tool name → file, line and column of its rule.
    std::map<std::string, std::string, std::less<>> output_contracts;        ///< Stage → contract; key "" is the default.
    json::object must_verify;                                                ///< In map form, whatever form the file uses.
    std::vector<std::string> constraints;
    std::string stage;  ///< Empty for a reviewer.
    std::vector<std::string> receives_from;
    std::vector<std::string> hands_off_to;
    std::vector<std::string> reviewed_by;
    std::vector<std::string> reviews;
    std::string source;

    [[nodiscard]] const std::string& output_contract(std::string_view stage_name) const;
};

class AgentSet {
public:
    /// Loads the product's folder and the project's over it. `extends: "agentforge:<role>"` takes the product's definition as
    /// base (maps merge, lists and scalars replace). Validates against contract `agent_definition`. An inherited rule applies
    /// whether or not its tool is allowed. Errors: AF-AGENT-001… with file, line and field; a cycle of `extends`; an allowed tool
    /// that is also forbidden; a path rule in the file itself for a tool that the role may not use.
    [[nodiscard]] static Result<AgentSet> load(const std::string& product_directory, const std::string& project_directory,
                                               const ContractSet& contracts);
    /// Errors: `not_found` AF-AGENT-002, with the nearest name.
    [[nodiscard]] Result<AgentDefinition> get(std::string_view role) const;
    [[nodiscard]] std::vector<std::string> roles() const;

private:
    std::map<std::string, AgentDefinition, std::less<>> agents_;
};

}  // namespace agentforge::kernel
