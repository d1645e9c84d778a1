// SPDX-License-Identifier: Apache-2.0
// The agents, contracts and pipelines in force, and the three groups of commands that look at them.
#pragma once

#include "config/agents.hpp"
#include "config/pipelines.hpp"
#include "contracts/contract.hpp"
#include "program/command_line.hpp"
#include "program/project/project.hpp"

namespace agentforge::kernel {

struct Definitions {
    ProjectPlace place;
    ProductPaths product;
    ContractSet contracts;
    AgentSet agents;
    PipelineSet pipelines;

    /// Whether a definition is the project's own, by the file that it came from.
    [[nodiscard]] bool of_project(const std::string& source) const;
};

/// `shown`: the group that is only looked at (`agents`, `contracts` or `pipelines`); what it does not need is not read. Empty:
/// all are read. Errors: AF-GIT-001 no repository; AF-CONT-…, AF-AGENT-…, AF-PIPE-…, AF-CONF-… of what is in force.
[[nodiscard]] Result<Definitions> load_definitions(const Program& program, std::string_view shown = {});

/// What a command of these groups was given. A FILE of `validate` is looked at as if it lay in the project's folder.
struct DefinitionArguments {
    std::string name;
    std::vector<std::string> files;
    bool origin = false;  ///< Say where each part comes from.
};

/// `list`, `show NAME` and `validate [FILE…]` below `group`. `metavar` is the name's place holder in the usage, `word` what one
/// is called.
struct DefinitionCommands {
    std::function<int(const Definitions&)> list;
    std::function<int(const Definitions&, const std::string& name)> show;
    /// Looks at one file; an empty one: at all in force. What is wrong with it; none: nothing.
    std::function<std::vector<Error>(const Definitions&, const std::string& file)> validate;
    /// `show NAME --origin`; empty: there is no such flag.
    std::function<int(const Definitions&, const std::string& name)> origin = {};
};
/// The group, for commands of its own.
Command add_definition_commands(CLI::App& app, Program& program, const std::string& group, const std::string& word,
                                const std::string& metavar, const std::string& description, const std::string& example,
                                DefinitionCommands commands);

}  // namespace agentforge::kernel
