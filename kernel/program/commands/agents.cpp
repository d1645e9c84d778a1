// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ostream>

#include "base/text.hpp"
#include "config/one_file.hpp"
#include "pipeline/agent_run/agent_tools.hpp"
#include "program/commands/definitions.hpp"
#include "program/commands/plugins.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/terminal.hpp"
#include "tools/path_rule_problems.hpp"

namespace agentforge::kernel {

namespace {

json::array names_json(const std::vector<std::string>& names) {
    json::array array;
    for (const std::string& name : names) { array.emplace_back(name); }
    return array;
}

std::string with_commas(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) { text += (text.empty() ? "" : ", ") + printable(name, 100); }
    return text;
}

int list_agents(Program& program, const Definitions& all) {
    json::array list;
    for (const std::string& role : all.agents.roles()) {
        const auto agent = all.agents.get(role);
        if (!agent.ok()) { return program.fail(agent.error()); }
        list.push_back(json::object{{"role", agent->role},
                                    {"version", agent->version},
                                    {"display_name", agent->display_name},
                                    {"description", agent->description},
                                    {"stage", agent->stage},
                                    {"source", agent->source},
                                    {"of_project", all.of_project(agent->source)}});
        if (!program.json_output) {
            program.out << fitted_line(program,
                                       fmt::format("{:<22} {:<10} {}", role, agent->stage.empty() ? "(review)" : agent->stage,
                                                   printable(agent->description, 90)),
                                       all.of_project(agent->source) ? "  [project]" : "")
                        << "\n";
        }
    }
    if (program.json_output) { program.print_json({{"agents", std::move(list)}}); }
    return 0;
}

json::object agent_json(const Definitions& all, const AgentDefinition& agent) {
    json::object paths;
    for (const auto& [tool, globs] : agent.path_constraints) { paths[tool] = globs; }
    json::object contracts;
    for (const auto& [stage, contract] : agent.output_contracts) { contracts[stage.empty() ? "*" : stage] = contract; }
    return {{"role", agent.role},
            {"version", agent.version},
            {"display_name", agent.display_name},
            {"description", agent.description},
            {"expertise", names_json(agent.expertise)},
            {"thinking_style", agent.thinking_style},
            {"stage", agent.stage},
            {"allowed_tools", names_json(agent.allowed_tools)},
            {"forbidden_tools", names_json(agent.forbidden_tools)},
            {"path_constraints", std::move(paths)},
            {"output_contracts", std::move(contracts)},
            {"must_verify", agent.must_verify},
            {"constraints", names_json(agent.constraints)},
            {"receives_from", names_json(agent.receives_from)},
            {"hands_off_to", names_json(agent.hands_off_to)},
            {"reviewed_by", names_json(agent.reviewed_by)},
            {"reviews", names_json(agent.reviews)},
            {"source", agent.source},
            {"of_project", all.of_project(agent.source)}};
}

int show_agent(Program& program, const Definitions& all, const std::string& role) {
    const auto agent = all.agents.get(role);
    if (!agent.ok()) { return program.fail(agent.error()); }
    if (program.json_output) {
        program.print_json(agent_json(all, *agent));
        return 0;
    }
    std::ostream& out = program.out;
    const auto line = [&out](const char* name, const std::string& text) {
        if (!text.empty()) { out << fmt::format("  {:<12}{}\n", name, text); }
    };
    out << agent->role << " " << agent->version << "\n  " << printable_lines(agent->description) << "\n";
    line("from", agent->source);
    line("stage", agent->stage.empty() ? "none (a reviewer)" : agent->stage);
    line("tools", with_commas(agent->allowed_tools));
    line("forbidden", with_commas(agent->forbidden_tools));
    for (const auto& [tool, globs] : agent->path_constraints) { line("may write", printable(globs, 300) + "  (" + tool + ")"); }
    for (const auto& [stage, contract] : agent->output_contracts) {
        line("delivers", contract + (stage.empty() ? "" : "  (stage " + stage + ")"));
    }
    for (const auto& [fact, expected] : agent->must_verify) {
        line("must verify", std::string(fact) + " = " + printable(json::serialize(expected), 200));
    }
    for (const std::string& constraint : agent->constraints) { line("constraint", printable(constraint, 300)); }
    line("reviewed by", with_commas(agent->reviewed_by));
    line("reviews", with_commas(agent->reviews));
    return 0;
}

/// Returns the path rules that cannot be read, and the tools that no plugin or server provides. A server's tools are known only
/// while it runs.
std::vector<Error> problems_of_tools(const PluginRegistry& plugins, const AgentDefinition& agent) {
    std::vector<Error> problems = path_rule_problems(agent);
    for (const std::string& tool : agent.allowed_tools) {
        if (plugins.has(PluginKind::tool, tool) || !prefix_of(tool).empty()) { continue; }
        problems.push_back(Error{
            "AF-CLI-013", "the role " + agent.role + " may use the tool `" + printable(tool, 80) + "`, which no plugin provides",
            agent.source, "`agentforge plugins list` shows all plugins; install the plugin or remove the name",
            ErrorKind::not_found});
    }
    return problems;
}

std::vector<Error> problems_of_agents(const Program& program, const Definitions& all, const std::string& file) {
    const auto plugins = open_plugins(program);
    if (!plugins.ok()) { return {plugins.error()}; }
    if (!file.empty()) {
        const auto agent =
            check_agent_file(all.product.config + "/agents", (all.place.agentforge / "agents").string(), file, all.contracts);
        if (!agent.ok()) { return {agent.error()}; }
        return problems_of_tools((*plugins)->registry, *agent);
    }
    std::vector<Error> problems;
    for (const std::string& role : all.agents.roles()) {
        const auto agent = all.agents.get(role);
        if (!agent.ok()) { return {agent.error()}; }
        for (Error& problem : problems_of_tools((*plugins)->registry, *agent)) { problems.push_back(std::move(problem)); }
    }
    return problems;
}

}  // namespace

void add_agents(CLI::App& app, Program& program) {
    add_definition_commands(
        app, program, "agents", "agent", "ROLE", "Show the roles: their prompts, tools and paths", "software_developer",
        {[&program](const Definitions& all) { return list_agents(program, all); },
         [&program](const Definitions& all, const std::string& name) { return show_agent(program, all, name); },
         [&program](const Definitions& all, const std::string& file) { return problems_of_agents(program, all, file); }});
}

}  // namespace agentforge::kernel
