// SPDX-License-Identifier: Apache-2.0
// The agents, contracts and pipelines in use, and the command groups for them.
#pragma once

#include "config/agent_set.hpp"
#include "config/pipeline_set.hpp"
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

    /// True if the file that a definition came from is the project's own.
    [[nodiscard]] bool of_project(const std::string& source) const;
};

/// `shown`: the only group to show (`agents`, `contracts` or `pipelines`); reads only what it needs. Empty: reads all. Errors:
/// AF-GIT-001 no repository; AF-CONT-…, AF-AGENT-…, AF-PIPE-…, AF-CONF-… of the definitions in use.
[[nodiscard]] Result<Definitions> load_definitions(const Program& program, std::string_view shown = {});

/// Arguments of these commands. `validate` checks a FILE as if it were in the project's folder.
struct DefinitionArguments {
    std::string name;
    std::vector<std::string> files;
    bool origin = false;  ///< Show the origin of each part.
};

/// `list`, `show NAME` and `validate [FILE…]` of `group`. `metavar`: the name's placeholder in the usage. `word`: the word for
/// one definition.
struct DefinitionCommands {
    std::function<int(const Definitions&)> list;
    std::function<int(const Definitions&, const std::string& name)> show;
    /// Checks one file, or all definitions in use if `file` is empty. Returns the problems.
    std::function<std::vector<Error>(const Definitions&, const std::string& file)> validate;
    /// `show NAME --origin`. Empty: there is no such flag.
    std::function<int(const Definitions&, const std::string& name)> origin = {};
};
/// Returns the group, to add further commands.
Command add_definition_commands(CLI::App& app, Program& program, const std::string& group, const std::string& word,
                                const std::string& metavar, const std::string& description, const std::string& example,
                                DefinitionCommands commands);

}  // namespace agentforge::kernel
